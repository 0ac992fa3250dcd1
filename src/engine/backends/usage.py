"""What each model call cost, and the alarm when a server quietly cut what it was sent.

Characters per token are learned for each model from the server's own counts; until then a token counts as four
characters. No tokenizer is needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deepdelve.core.records import Usage

if TYPE_CHECKING:
    from agent_framework import Message

DEFAULT_CHARS_PER_TOKEN = 4.0
# Fewer evaluated tokens than this share of what was expected is a cut, not a denser text.
TRUNCATED_SHARE = 0.6
# The same once the model's own characters per token are known.
LEARNED_SHARE = 0.75
_ENOUGH_SAMPLES = 2
# Below this a fixed chat template outweighs the text, and caches make counts meaningless.
_MIN_CHARS = 2_000
_NEWEST = 0.3
_PLAUSIBLE = (0.5, 8.0)


@dataclass
class TokenMeter:
    """Learns the characters per token of one model."""

    chars_per_token: float = DEFAULT_CHARS_PER_TOKEN
    samples: int = 0

    def estimate(self, chars: int) -> int:
        """Tokens that so many characters will likely be."""
        return round(chars / self.chars_per_token)

    def judge(self, sent_chars: int, evaluated: int | None, window: int | None = None) -> bool:
        """Whether the server evaluated clearly less than it was sent; what was not cut is learned from.

        Args:
            sent_chars: characters of the whole prompt, tools included.
            evaluated: tokens that the server says it read; None or 0 when it does not say.
            window: its context in tokens, if known.
        """
        if not evaluated or sent_chars < _MIN_CHARS:
            return False
        expected = self.estimate(sent_chars)
        full = window is not None and evaluated >= 0.98 * window and expected > 1.1 * window
        share = LEARNED_SHARE if self.samples >= _ENOUGH_SAMPLES else TRUNCATED_SHARE
        truncated = full or evaluated < share * expected
        ratio = sent_chars / evaluated
        if not truncated and _PLAUSIBLE[0] <= ratio <= _PLAUSIBLE[1]:
            weight = _NEWEST if self.samples else 1.0
            self.chars_per_token += weight * (ratio - self.chars_per_token)
            self.samples += 1
        return truncated


def sent_chars(messages: "Sequence[Message]", options: Mapping[str, Any], tool_chars: int) -> int:
    """Characters of everything that a call sends."""
    total = len(str(options.get("instructions") or "")) + tool_chars
    for message in messages:
        for content in message.contents:
            total += len(content.text or "")
            if content.type == "function_call":
                total += len(content.name or "") + len(str(content.arguments or ""))
            elif content.type == "function_result":
                total += len(str(content.result or ""))
    return total


def usage_of(details: Mapping[str, Any] | None, meter: TokenMeter, *, model: str, sent: int, said: int, seconds: float) -> Usage:
    """The record of one call; ``said`` is the characters of its reply, thinking and calls included."""
    counts = details or {}
    tokens_in, tokens_out = counts.get("input_token_count"), counts.get("output_token_count")
    estimated = not tokens_in and not tokens_out
    return Usage(
        model=model,
        tokens_in=int(tokens_in or 0) if not estimated else meter.estimate(sent),
        tokens_out=int(tokens_out or 0) if not estimated else meter.estimate(said),
        seconds=round(max(0.0, seconds), 4),
        sent_chars=sent,
        estimated=estimated,
    )

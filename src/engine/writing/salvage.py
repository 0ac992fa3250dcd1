"""What is kept of writing that went wrong: which rejected draft to bring back, and whether a reply is the artifact itself."""

from collections.abc import Iterable, Mapping

import regex

from deepdelve.engine.completion.draft import parse_draft
from deepdelve.utils.grounding.drafts import tidy
from deepdelve.utils.words import count_words

# A reply shorter than this tells about a report rather than being one.
NARRATED_WORDS = 60
_NUMBER = regex.compile(r"(\d{1,9})(?!.*\d)")
_FENCE_LINE = regex.compile(r"^\s{0,3}```[\w-]*\s*$")
_PREAMBLE = regex.compile(
    r"^(?:here(?:'s| is| are)|sure|certainly|of course|okay|ok|below is|i have|i've|i will|i'll|let me|the report (?:is|has been))\b",
    regex.IGNORECASE,
)


def numeric_order(names: Iterable[str]) -> list[str]:
    """Snapshot names by the last number in them, any number of digits: ``final_report_2.md`` before ``final_report_10.md``."""
    return sorted(names, key=_number)


def best_snapshot(snapshots: Mapping[str, str]) -> str | None:
    """The rejected draft to bring back: the newest that is not shorter than half of the longest, in words.

    Args:
        snapshots: name to text; the number in a name says how new it is.

    Returns:
        Its name, or None where no snapshot has any words.
    """
    lengths = {name: count_words(text) for name, text in snapshots.items()}
    longest = max(lengths.values(), default=0)
    fit = [name for name in numeric_order(lengths) if longest and 2 * lengths[name] >= longest]
    return fit[-1] if fit else None


def narrated_report(reply: str) -> str | None:
    """The artifact in a reply that gives it instead of writing it, or None where the reply only speaks about one.

    A reply counts when it has at least 60 words, and either cites source ids or has two headings. A fence around the
    whole and a sentence of announcement before the first heading are taken off.
    """
    text = tidy(_unwrapped(reply.strip()))
    draft = parse_draft(text)
    headings = sum(section.level > 0 for section in draft.sections)
    if draft.word_count < NARRATED_WORDS or not (draft.cited or headings >= 2):
        return None
    return text


def _number(name: str) -> tuple[int, str]:
    match = _NUMBER.search(name)
    return (int(match.group(1)) if match else -1, name)


def _unwrapped(text: str) -> str:
    lines = text.splitlines()
    if len(lines) > 2 and _FENCE_LINE.match(lines[0]) and _FENCE_LINE.match(lines[-1]):
        lines = lines[1:-1]
    heading = next((index for index, line in enumerate(lines) if line.startswith("#")), 0)
    announced = [line for line in lines[:heading] if line.strip()]
    if announced and len(announced) <= 2 and _PREAMBLE.match(announced[0].strip()):
        lines = lines[heading:]
    return "\n".join(lines).strip()

"""A conversation as the built-in roles see it: what was asked, which tools were called, and what they answered."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

_FENCE_OPEN = "<<<untrusted "
_FENCE_CLOSE = "<<<end "
_FAILURES = ("Refused:", "Error:")


@dataclass(frozen=True)
class Call:
    """A tool call. ``result`` is None until it is answered."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: str | None = None

    @property
    def refused(self) -> bool:
        """Whether the gate refused it."""
        return (self.result or "").startswith("Refused:")

    @property
    def ok(self) -> bool:
        """Whether it was answered with something to work on."""
        return self.result is not None and not self.result.startswith(_FAILURES)

    @property
    def head(self) -> dict[str, Any]:
        """The JSON object that the answer starts with; empty where there is none."""
        return json_object(self._split()[0])

    @property
    def fenced(self) -> str:
        """What stands inside the answer's fence."""
        return self._split()[1]

    def text(self, name: str) -> str:
        """An argument as text."""
        value = self.args.get(name)
        return value if isinstance(value, str) else ""

    def _split(self) -> tuple[str, str]:
        return split_fence(self.result or "")


@dataclass(frozen=True)
class Turn:
    """What a role does next: tool calls, or text that ends its turn."""

    calls: tuple[Call, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Conversation:
    """One dispatch so far.

    Attributes:
        asked: what the user side said, in order; the first is the task.
        calls: all tool calls, in order.
        since: how many of them stand before the newest message of the user side.
        tools: names of the tools that may be called now.
        instructions: the system prompt.
    """

    asked: tuple[str, ...]
    calls: tuple[Call, ...] = ()
    since: int = 0
    tools: frozenset[str] = frozenset()
    instructions: str = ""

    @property
    def task(self) -> str:
        """The first message."""
        return self.asked[0] if self.asked else ""

    @property
    def latest(self) -> str:
        """The newest message of the user side."""
        return self.asked[-1] if self.asked else ""

    @property
    def recent(self) -> tuple[Call, ...]:
        """Calls made after the newest message of the user side."""
        return self.calls[self.since :]

    @property
    def blocked(self) -> frozenset[str]:
        """Tools that the gate has refused: asking again would only use up its patience."""
        return frozenset(call.tool for call in self.calls if call.refused)

    def may(self, tool: str) -> bool:
        """Whether it makes sense to call this tool now."""
        return tool in self.tools and tool not in self.blocked

    def done(self, tool: str) -> list[Call]:
        """Calls of this tool that were answered with something to work on."""
        return [call for call in self.calls if call.tool == tool and call.ok]

    def tried(self, tool: str) -> list[Call]:
        """All calls of this tool."""
        return [call for call in self.calls if call.tool == tool]


def split_fence(text: str) -> tuple[str, str]:
    """What stands before the first fence, and what stands inside it. Without a fence all of it is before."""
    before: list[str] = []
    inside: list[str] = []
    closing = ""
    for line in text.split("\n"):
        if not closing and line.startswith(_FENCE_OPEN) and line.endswith(">>>"):
            closing = _FENCE_CLOSE + line[len(_FENCE_OPEN) :]
        elif closing and line == closing:
            break
        else:
            (inside if closing else before).append(line)
    return "\n".join(before), "\n".join(inside)


def json_object(text: str) -> dict[str, Any]:
    """A JSON object, or an empty one where the text is none."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, whatever else it holds left out."""
    return [cast("dict[str, Any]", item) for item in _items(value) if isinstance(item, dict)]


def texts(value: Any) -> list[str]:
    """The texts of a list, whatever else it holds left out."""
    return [item for item in _items(value) if isinstance(item, str)]


def _items(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []

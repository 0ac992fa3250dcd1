"""A delivered report as pieces with their places in the text, so that claims can be found on the screen. No screen library in it."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from deepdelve.core.records import Claim

Kind = Literal["heading", "text", "item", "quote", "table", "code", "rule"]
_LINK_TEXT = 500
_LINK_TARGET = 2_000
_MARKS = ("**", "*", "`")
_BRACKET = re.compile(r"[\[\]]")
_PLAIN = re.compile(r"[^\[*`\\\n]+")
# Of a longer paragraph only the beginning is shown; nothing that a person wrote is so long.
PIECE_LIMIT = 20_000


@dataclass(frozen=True)
class Span:
    """A part of a piece's visible text; ``style`` is bold, italic, code, link or cite."""

    start: int
    end: int
    style: str


@dataclass(frozen=True)
class Piece:
    """A block of the report.

    Attributes:
        start: offset of its first character in the Markdown; ``end`` is behind the last.
        text: what is shown of it; tables and code show their Markdown.
        offsets: for each character of ``text``, where it stands in the Markdown.
    """

    kind: Kind
    start: int
    end: int
    text: str
    level: int = 0
    prefix: str = ""
    offsets: Sequence[int] = ()
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where a claim shows: piece number, and first and last character in the piece's visible text."""

    piece: int
    start: int
    end: int


@dataclass(frozen=True)
class Report:
    """A report ready to be shown. ``places`` maps a claim id to where it stands; claims that are not found have no place."""

    markdown: str = ""
    pieces: tuple[Piece, ...] = ()
    claims: tuple[Claim, ...] = ()
    places: dict[str, Place] = field(default_factory=dict[str, Place])

    @property
    def headings(self) -> list[tuple[int, Piece]]:
        """The contents: piece number and heading."""
        return [(number, piece) for number, piece in enumerate(self.pieces) if piece.kind == "heading"]


def build(markdown: str, claims: Iterable[Claim]) -> Report:
    """Splits a report into pieces and finds its claims, in the order in which they stand."""
    pieces = tuple(split(markdown))
    checked = [claim for claim in claims if claim.needs_citation]
    places = {claim.id: place for claim in checked if (place := _place(markdown, pieces, claim)) is not None}
    last = len(pieces)
    checked.sort(key=lambda claim: (places[claim.id].piece, places[claim.id].start) if claim.id in places else (last, 0))
    return Report(markdown, pieces, tuple(checked), places)


def split(markdown: str) -> Iterator[Piece]:
    """The blocks of a Markdown text, in order."""
    lines = _lines(markdown)
    number = 0
    while number < len(lines):
        start, line = lines[number]
        kind = _kind(line)
        if kind == "":
            number += 1
            continue
        last = _last_line(lines, number, kind)
        end = lines[last][0] + len(lines[last][1])
        yield _piece(markdown, kind, start, end)
        number = last + 1


def visible(markdown: str, start: int, end: int) -> tuple[str, list[int], list[Span]]:
    """The visible text of a stretch of inline Markdown, the offset of each of its characters, and its styled spans."""
    inline = _Inline(markdown, end)
    inline.read(start)
    return "".join(inline.chars), inline.offsets, inline.spans


def _lines(markdown: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    place = 0
    for line in markdown.split("\n"):
        found.append((place, line))
        place += len(line) + 1
    return found


def _kind(line: str) -> Kind | Literal[""]:
    bare = line.strip()
    if not bare:
        return ""
    if bare.startswith("```"):
        return "code"
    if bare.startswith("|"):
        return "table"
    if line.startswith("#") and line.lstrip("#").startswith(" ") and _level(line) <= 6:
        return "heading"
    if (len(bare) >= 3 and set(bare) <= {"-"}) or (set(bare) == {"*"} and len(bare) >= 3):
        return "rule"
    if bare.startswith(">"):
        return "quote"
    return "item" if _marker(line) else "text"


def _level(line: str) -> int:
    return len(line) - len(line.lstrip("#"))


def _marker(line: str) -> str:
    """The list marker of a line, with its spaces; empty where there is none."""
    bare = line.lstrip()
    if bare[:2] in {"- ", "* ", "+ "}:
        return bare[:2]
    number, dot, _ = bare[:8].partition(". ")
    return f"{number}. " if dot and number.isdigit() else ""


def _last_line(lines: list[tuple[int, str]], first: int, kind: Kind) -> int:
    """The number of the block's last line."""
    number = first + 1
    if kind == "code":
        while number < len(lines) and not lines[number][1].strip().startswith("```"):
            number += 1
        return min(number, len(lines) - 1)
    if kind in {"heading", "rule", "quote"}:
        return first
    follows = {"table": ("table",), "text": ("text",), "item": ("text",)}[kind]
    while number < len(lines) and _kind(lines[number][1]) in follows:
        number += 1
    return number - 1


def _piece(markdown: str, kind: Kind, start: int, end: int) -> Piece:
    end = min(end, start + PIECE_LIMIT)
    raw = markdown[start:end]
    if kind in {"table", "code"}:
        return Piece(kind, start, end, raw, offsets=range(start, end))
    if kind == "rule":
        return Piece(kind, start, end, "")
    level, prefix, skip = 0, "", 0
    if kind == "heading":
        level = _level(raw)
        skip = level + 1
    elif kind == "item":
        marker = _marker(raw)
        indent = len(raw) - len(raw.lstrip())
        level, skip = min(indent // 2, 6), indent + len(marker)
        prefix = "• " if marker[0] in "-*+" else marker
    elif kind == "quote":
        skip = len(raw) - len(raw.lstrip().removeprefix(">").lstrip())
    text, offsets, spans = visible(markdown, start + skip, end)
    return Piece(kind, start, end, text, level, prefix, offsets, tuple(spans))


def _place(markdown: str, pieces: Sequence[Piece], claim: Claim) -> Place | None:
    span = claim.delivered_span
    if span is None:
        found = markdown.find(claim.text)
        span = (found, found + len(claim.text)) if found >= 0 and claim.text else None
    if span is None:
        return None
    number = bisect_left(pieces, span[0] + 1, key=lambda piece: piece.start) - 1
    if number < 0 or not pieces[number].offsets or span[0] >= pieces[number].end:
        return None
    offsets = pieces[number].offsets
    start, end = bisect_left(offsets, span[0]), bisect_left(offsets, span[1])
    return Place(number, start, max(end, start + 1)) if start < len(offsets) else None


class _Inline:
    """Reads inline Markdown once, from left to right."""

    def __init__(self, markdown: str, end: int) -> None:
        self.markdown = markdown
        self.end = end
        self.chars: list[str] = []
        self.offsets: list[int] = []
        self.spans: list[Span] = []
        self._open: dict[str, int] = {}
        self._start = 0

    def read(self, place: int) -> None:
        self._start = place
        while place < self.end:
            place = self._link(place) or self._mark(place) or self._plain(place)

    def _plain(self, place: int) -> int:
        run = _PLAIN.match(self.markdown, place, self.end)
        if run is not None:
            self.chars.extend(run.group())
            self.offsets.extend(range(place, run.end()))
            return run.end()
        char = self.markdown[place]
        if char == "\\" and place + 1 < self.end and not self.markdown[place + 1].isalnum() and self.markdown[place + 1] != "\n":
            place += 1
            char = self.markdown[place]
        self._put(" " if char == "\n" else char, place)
        return place + 1

    def _put(self, char: str, place: int) -> None:
        self.chars.append(char)
        self.offsets.append(place)

    def _mark(self, place: int) -> int:
        """Bold, italic and code marks; one that is never closed is plain text."""
        mark = next((mark for mark in _MARKS if self.markdown.startswith(mark, place)), "")
        if not mark or ("`" in self._open and mark != "`"):
            return 0
        behind = place + len(mark)
        if mark in self._open:
            style = {"**": "bold", "*": "italic", "`": "code"}[mark]
            self.spans.append(Span(self._open.pop(mark), len(self.chars), style))
            return behind
        closing = self.markdown.find(mark, behind, min(self.end, behind + _LINK_TARGET))
        if closing <= behind or self.markdown[behind].isspace():
            return 0
        self._open[mark] = len(self.chars)
        return behind

    def _link(self, place: int) -> int:
        """``[text](address)`` shows its text; ``[3]`` is a citation."""
        if self.markdown[place] != "[" or "`" in self._open:
            return 0
        close = self._closing(place)
        if close < 0:
            return 0
        start = len(self.chars)
        if self.markdown.startswith("](", close):
            target = self.markdown.find(")", close, min(self.end, close + _LINK_TARGET))
            if target < 0:
                return 0
            for inner in range(place + 1, close):
                self._put(self.markdown[inner], inner)
            self.spans.append(Span(start, len(self.chars), "link"))
            return target + 1
        inside = self.markdown[place + 1 : close]
        if not inside or not all(char.isdigit() or char in ", S" for char in inside):
            return 0
        for inner in range(place, close + 1):
            self._put(self.markdown[inner], inner)
        self.spans.append(Span(start, len(self.chars), "cite"))
        return close + 1

    def _closing(self, place: int) -> int:
        """The bracket that closes the one at ``place``, or -1."""
        close = self._pairs.get(place, -1)
        return close if close - place < _LINK_TEXT else -1

    @cached_property
    def _pairs(self) -> dict[int, int]:
        """Where each bracket that is closed has its end; found in one pass, whatever stands open."""
        pairs: dict[int, int] = {}
        opened: list[int] = []
        for found in _BRACKET.finditer(self.markdown, self._start, self.end):
            if found.group() == "[":
                opened.append(found.start())
            elif opened:
                pairs[opened.pop()] = found.start()
        return pairs

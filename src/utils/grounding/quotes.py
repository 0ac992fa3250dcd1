"""Verbatim quotations: what a text puts in quotation marks must stand so in its source."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepdelve.utils.grounding.index import SourceIndex
from deepdelve.utils.grounding.text import normalise

LEAST_WORDS = 4
_MARKS = re.compile(
    r"“([^“”\n]{4,2000})”|„([^„“”\n]{4,2000})[“”]|«\s?([^«»\n]{4,2000}?)\s?»|「([^「」\n]{4,1000})」"
    r"|『([^『』\n]{4,1000})』|(?<![\w\"])\"(?=\S)([^\"\n]{4,2000})\"(?!\w)|‘([^‘\n]{12,1000}?)’(?!\w)"
    r"|``([^`'\n]{4,2000})''|(?<!\w)'(?=[A-Z])([^'\n]{20,1000})'(?!\w)"
)
_BLOCK = re.compile(r"(?:^|\n)>\s?([^\n]+(?:\n>\s?[^\n]*)*)")
_BRACKETED = re.compile(r"\[([A-Za-z])\](?=\w)")
_CUT = re.compile(r"\s*(?:\[\s?(?:\.\s?){3}\]|\(\s?(?:\.\s?){3}\)|\[…\]|\(…\)|…|(?:\.\s?){3,4})\s*")
_INSERT = re.compile(r"\s*\[[^\]\n]{1,60}\]\s*")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)|\[emphasis (?:added|mine)\]|\((?:emphasis (?:added|mine))\)", re.I)


@dataclass(frozen=True)
class Quotation:
    """A quotation: its text and where it stands."""

    text: str
    start: int
    end: int


def find(text: str) -> list[Quotation]:
    """The quotations of a text, in order: every kind of quotation marks, and block quotes."""
    found = [
        Quotation(next(group for group in match.groups() if group is not None), match.start(), match.end())
        for match in _MARKS.finditer(text)
    ]
    found += [Quotation(re.sub(r"\n>\s?", " ", match[1]), match.start(1), match.end(1)) for match in _BLOCK.finditer(text)]
    return sorted(found, key=lambda quotation: quotation.start)


def pieces(quotation: str) -> list[str]:
    """The parts that must stand verbatim: split at ellipses and insertions; ``[T]he`` is ``The``; emphasis is dropped."""
    text = _EMPHASIS.sub("", quotation)
    text = _BRACKETED.sub(r"\1", text)
    parts = [piece for cut in _CUT.split(text) for piece in _INSERT.split(cut)]
    return [normal for part in parts if (normal := normalise(part))]


def is_verbatim(quotation: str, source: str) -> bool:
    """Whether every piece of a quotation stands in a normalised source, in order."""
    at = 0
    padded = f" {source} "
    joined = any(ord(char) > 0x2E7F for char in quotation)
    for piece in pieces(quotation):
        wanted = piece if joined else f" {piece} "
        at = padded.find(wanted, at)
        if at < 0:
            return False
        at += len(wanted) - 1
    return True


def first_altered(text: str, sources: Iterable[SourceIndex]) -> str:
    """The first quotation of ``LEAST_WORDS`` words or more that stands in no source verbatim, or an empty string.

    Shorter ones are names, titles and scare quotes; they are compared like other words.
    """
    long = [quotation.text for quotation in find(text) if is_long(quotation.text)]
    if not long:
        return ""
    bodies = [source.normalised for source in sources]
    return next((quotation for quotation in long if not any(is_verbatim(quotation, body) for body in bodies)), "")


def is_long(text: str) -> bool:
    """Whether a quotation is long enough to be held to the letter."""
    return len(text.split()) >= LEAST_WORDS or sum(ord(char) > 0x2E7F for char in text) >= 6


def check(quotations: Sequence[Quotation], source: str) -> list[bool]:
    """For each quotation whether it stands verbatim in a source's text."""
    body = normalise(source)
    return [is_verbatim(quotation.text, body) for quotation in quotations]

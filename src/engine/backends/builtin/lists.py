"""Lists in a source: which words lead into an item, so that "SHALL be tagged as secure" is quoted as said of cookies."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

LONGEST_LEAD = 160
BULLET = re.compile(r"(?:[-*+•]|\d{1,3}[.)]|[a-zA-Z][.)]|[ivx]{2,5}[.)])\s+")
_LINE = re.compile(r"[^\n]+")
_SENTENCE_END = re.compile(r"[.!?]\s+(?=[^\W\d_a-z])")
_ROMAN = frozenset(["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"])
_COLON = (":", "：")


@dataclass(frozen=True)
class Item:
    """A list item: character offsets of its line in the text, and the words that lead into it; empty where nothing does.

    ``lead_start`` is where those stand: far above, they are no longer seen together with the item. ``above`` is what leads into
    the lists around it, outermost first.
    """

    start: int
    end: int
    lead: str
    lead_start: int = -1
    above: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Lead:
    indent: int
    kind: str
    text: str
    start: int


_NO_LEAD = _Lead(-1, "", "", -1)


@lru_cache(maxsize=64)
def items(text: str) -> tuple[Item, ...]:
    """The list items of a Markdown text, in order. An item that ends in a colon leads into those that are set in below it."""
    found: list[Item] = []
    leads: list[_Lead] = []
    for line in _LINE.finditer(text):
        said = line[0].strip().replace("**", "").replace("__", "")
        if not said:
            continue
        indent = len(line[0]) - len(line[0].lstrip())
        bullet = BULLET.match(said)
        if bullet is None:
            # A line that is set in goes on with its item; any other ends the list.
            if not indent or said.startswith("#"):
                leads = [_Lead(-1, "", _last_sentence(said), line.start())] if said.endswith(_COLON) and not said.startswith("#") else []
            continue
        kind = _kind(bullet[0])
        leads = [one for one in leads if one.indent < indent or (one.indent == indent and one.kind != kind)]
        lead = leads[-1] if leads else _NO_LEAD
        found.append(Item(line.start(), line.end(), lead.text, lead.start, tuple(one.text for one in leads)))
        if said.endswith(_COLON):
            leads.append(_Lead(indent, kind, _last_sentence(said[bullet.end() :]), line.start()))
    return tuple(found)


def item_at(listed: Sequence[Item], offset: int) -> Item | None:
    """The item whose line holds an offset of the text."""
    place = bisect_right(listed, offset, key=lambda item: item.start) - 1
    return listed[place] if place >= 0 and offset < listed[place].end else None


def _kind(bullet: str) -> str:
    """The kind of a bullet: what is set in as far but marked otherwise is a list within."""
    sign = bullet.strip(" \t.)")
    return "1" if sign.isdigit() else "i" if sign in _ROMAN else "a" if sign.isalpha() else sign


def _last_sentence(said: str) -> str:
    """The last sentence of a paragraph that ends in a colon; empty where it is too long to be said before each item."""
    ends = [found.end() for found in _SENTENCE_END.finditer(said)]
    lead = said[ends[-1] :] if ends else said
    return lead if len(lead) <= LONGEST_LEAD else ""

"""Proper names in a text, found by their spelling: runs of capitalised words, and what stands in quotation marks."""

import re
from dataclasses import dataclass
from functools import lru_cache

from deepdelve.utils.text import STOP_WORDS, squash, terms

_TOKEN = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*\.?|[&]|[^\w\s]|\n")
_QUOTED = re.compile(r"[\"“«]([^\"“”«»\n]{2,80})[\"”»]")
# Words that may stand inside a name between two capitalised ones; "and" parts two names more often than it joins one.
_PARTICLES = "of the de la le del della der den van von di da du des el al bin ibn y e & for to from ap"
_INNER = frozenset(_PARTICLES.split())
_COMMANDS = frozenset(
    ("Compare", "Contrast", "Describe", "Discuss", "Explain", "Find", "Give", "List", "Name", "Summarise", "Summarize", "Tell")
)
# "Minions: The Rise of Gru"
_SUBTITLE = re.compile(r":\s(?=[^\W\d_a-z])")
# "BOD 19-02", "RFC 6797", "Windows 11"
_NUMBERED = re.compile(r"\b([A-Z][A-Za-z]{1,20})[ -]?(\d{1,6}(?:[-./]\d{1,6}){0,3}[a-z]?)\b")
_ENDS = frozenset(".!?\n")
_MAX_NAMES = 200
_MAX_WORDS = 16


@dataclass(frozen=True)
class Name:
    """A proper name and its character offsets."""

    start: int
    end: int
    text: str


def names(text: str) -> list[str]:
    """The proper names of a text, in order of first appearance and without repeats."""
    return list(dict.fromkeys(name.text for name in find_names(text)))


def find_names(text: str) -> list[Name]:
    """The proper names of a text in order, quoted ones included.

    A single capitalised word that begins a sentence is no name by its spelling alone; digits may continue one ("HD 23").
    """
    quoted = [Name(m.start(), m.end(), m.group(1).strip(" .,;")) for m in _QUOTED.finditer(text)]
    found = [name for name in quoted if terms(name.text)]
    run: list[re.Match[str]] = []
    begins = True
    for match in _TOKEN.finditer(text):
        token = match.group()
        goes_on = _goes_on(token, run) or bool(run and _SUBTITLE.match(text, match.start()))
        if not goes_on or len(run) >= _MAX_WORDS:
            at_start = begins and not run and not token[0].isalnum()
            _close(run, begins, found)
            begins = at_start or token in _ENDS or token.endswith(".")
            continue
        run.append(match)
        if token.endswith(".") and len(token) > 3 and "." not in token[:-1]:
            _close(run, begins, found)
            begins = True
        if len(found) >= _MAX_NAMES:
            break
    _close(run, begins, found)
    return sorted(found, key=lambda name: name.start)


def _goes_on(token: str, run: list[re.Match[str]]) -> bool:
    if token[0].isupper() or (token[0].isdigit() and (run or (len(token) == 4 and token.isdigit()))):
        return True
    return bool(run) and token in _INNER


def _close(run: list[re.Match[str]], begins: bool, found: list[Name]) -> None:
    alone = len(run) == 1 and begins
    while run and (run[-1].group() in _INNER or run[-1].group() == ":"):
        run.pop()
    while run and _no_beginning(run, begins):
        run.pop(0)
    if run and not alone and any(match.group()[0].isupper() for match in run):
        start, end = run[0].start(), run[-1].end()
        found.append(Name(start, end, squash(run[0].string[start:end]).rstrip(".")))
    run.clear()


def _no_beginning(run: list[re.Match[str]], begins: bool) -> bool:
    first = run[0].group()
    if first[0].isdigit():
        return len(first) != 4
    return begins and (first.casefold() in STOP_WORDS or first in _COMMANDS)


@lru_cache(maxsize=4096)
def numbered(text: str) -> frozenset[tuple[str, str]]:
    """The things of a kind that a text tells apart by number, such as ("bod", "19-02") or ("windows", "11")."""
    return frozenset((found[1].lower(), found[2].lower()) for found in _NUMBERED.finditer(text))


def of_another_number(asked: str, text: str) -> bool:
    """Whether a text names things of a kind that the question tells apart by number, and only others of them."""
    wanted = numbered(asked)
    kinds = {kind for kind, _ in wanted}
    named = {pair for pair in numbered(text) if pair[0] in kinds}
    return bool(named) and not named & wanted

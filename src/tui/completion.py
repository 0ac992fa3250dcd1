"""Fuzzy choice among few words: what the command popup offers for what was typed."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Choice:
    """A row of the popup: ``insert`` replaces the typed word; ``label`` and ``detail`` are its two columns."""

    insert: str
    label: str
    detail: str = ""


def score(typed: str, word: str) -> float:
    """How well a word fits what was typed, from 0 (its letters do not occur in order) upwards; exact beginnings fit best."""
    needle, hay = typed.lower(), word.lower()
    if not needle:
        return 1.0
    if hay.startswith(needle):
        return 100.0 + len(needle) / max(len(hay), 1)
    if needle in hay:
        return 50.0 + len(needle) / max(len(hay), 1)
    place, gaps = -1, 0
    for char in needle:
        found = hay.find(char, place + 1)
        if found < 0:
            return 0.0
        gaps += found - place - 1
        place = found
    return 10.0 / (1 + gaps)


def choose(typed: str, choices: Iterable[Choice], limit: int = 50) -> list[Choice]:
    """The choices that fit, best first; equals keep their order."""
    scored = [(score(typed, choice.label.lstrip("/")), choice) for choice in choices]
    scored = [pair for pair in scored if pair[0] > 0]
    scored.sort(key=lambda pair: -pair[0])
    return [choice for _, choice in scored[:limit]]


def ghost(typed: str, choice: Choice | None) -> str:
    """The rest of the choice that ghost text shows after what was typed; empty where it does not begin so."""
    if choice is None or not typed or not choice.insert.lower().startswith(typed.lower()):
        return ""
    return choice.insert[len(typed) :]


@dataclass(frozen=True)
class Context:
    """What is being typed: a command, the argument of one, or a file after ``@``. ``start`` is where the typed word begins."""

    kind: Literal["command", "argument", "file"]
    typed: str
    start: int
    command: str = ""


def context(text: str) -> Context | None:
    """What could be completed at the end of the text, or None."""
    if text.startswith("/") and "\n" not in text:
        name, space, argument = text[1:].partition(" ")
        if not space:
            return Context("command", name, 0)
        return Context("argument", argument, len(name) + 2, name.lower())
    word = text[max(text.rfind(" "), text.rfind("\n")) + 1 :]
    if word.startswith("@"):
        return Context("file", word[1:], len(text) - len(word) + 1)
    return None


def files(typed: str, folders_only: bool = False, limit: int = 200) -> list[Choice]:
    """Files and folders whose path begins as typed; hidden ones only where a dot was typed."""
    head, slash, start = typed.rpartition("/")
    folder = Path(head or ("/" if slash else ".")).expanduser()
    try:
        entries = sorted(islice(folder.iterdir(), 5_000), key=lambda path: (not path.is_dir(), path.name.lower()))
    except OSError:
        return []
    prefix = head + slash
    fitting = [
        path for path in entries if path.name.lower().startswith(start.lower()) and (start.startswith(".") or not path.name.startswith("."))
    ]
    shown = [path for path in fitting if path.is_dir() or not folders_only][:limit]
    return [Choice(f"{prefix}{path.name}{'/' if path.is_dir() else ''}", path.name, "folder" if path.is_dir() else "") for path in shown]

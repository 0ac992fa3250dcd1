"""What a delivered report says of itself: the lines at its top and the notes at its end. None of it is a claim about the world."""

from functools import cache
from typing import get_args

from deepdelve.core.records import Outcome
from deepdelve.utils.phrases import LANGUAGES, in_all_languages, say


def label(outcome: Outcome, language: str = "") -> str:
    """How a run ended, in a word or two and the sign that ends a sentence."""
    return say(f"label_{outcome}", language) + say("stop", language)


def top_end(text: str) -> int:
    """Where the lines at the top end that say how the report came about: an offset of the text, 0 where there are none."""
    at = 0
    if not text.startswith("> "):
        return at
    for line in text.splitlines(keepends=True):
        if not (line.startswith("> ") and line[2:].startswith(_starts())):
            break
        at += len(line)
    return at


def is_notes(title: str) -> bool:
    """Whether a section is the product's own notes, in any language."""
    return title in _notes()


def is_own(sentence: str) -> bool:
    """Whether a sentence of a report is one that the product adds: an open question, what was searched for, how the report came about."""
    return sentence.lstrip(" \t*_>-").replace("'", "").replace("’", "").casefold().startswith(_sentences())


@cache
def _sentences() -> tuple[str, ...]:
    phrases = in_all_languages("gap", "searched", "one_question", "quotes_only")
    return tuple(phrase.partition("{")[0].strip(" :：").replace("'", "").casefold() for phrase in phrases)


@cache
def _starts() -> tuple[str, ...]:
    labels = (label(outcome, language) for outcome in get_args(Outcome) for language in LANGUAGES)
    return (*in_all_languages("extractive"), *labels)


@cache
def _notes() -> frozenset[str]:
    return frozenset(in_all_languages("notes"))

"""Sources that differ on one quantity of one thing at one date. Statements are put in buckets, so that not all pairs are compared."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepdelve.core.records import Claim
from deepdelve.utils.grounding import figures, sentences, tokens
from deepdelve.utils.grounding.figures import Quantity

SAME_THING = 0.6
_BUCKET = 24
_DIGIT = re.compile(r"\d")
_RELATIVE = re.compile(r"\b(?:more|less|fewer|higher|lower|faster|slower|increase|decrease|rise|rose|fell|growth|up|down)\b")


@dataclass(frozen=True)
class Statement:
    """A sentence of a source with one figure of interest.

    Attributes:
        start: offset in the source's text, as ``end``.
        words: its content keys.
        subject: the first of them: what it speaks of, by and large.
    """

    source_id: str
    text: str
    start: int
    end: int
    quantity: Quantity
    words: frozenset[str]
    subject: str
    years: frozenset[int]


@dataclass(frozen=True)
class Contradiction:
    """Two statements of two sources that cannot both be right."""

    one: Statement
    other: Statement

    @property
    def reason(self) -> str:
        """One line: who says what."""
        return f"{self.one.source_id} says {self.one.quantity.raw.strip()}, {self.other.source_id} says {self.other.quantity.raw.strip()}"


def statements(source_id: str, text: str, offset: int = 0) -> list[Statement]:
    """The statements of a passage: sentences with a figure that has a unit, a scale or more than two digits, and no second one like it."""
    found: list[Statement] = []
    for start, end in sentences.split(text):
        sentence = text[start:end]
        if _DIGIT.search(sentence) is None:
            continue
        quantities = figures.find_written(tokens.lower(sentence))
        years = frozenset(int(quantity.value) for quantity in quantities if quantity.is_year)
        measured = [
            quantity for quantity in quantities if not quantity.is_year and quantity.decisive and quantity.step >= 0.001 * quantity.factor
        ]
        if not measured:
            continue
        told = [key for key in tokens.content_keys(sentence) if not key[0].isdigit() and key not in figures.UNIT_KEYS]
        words = frozenset(told)
        for quantity in measured:
            if sum(other.unit == quantity.unit for other in measured) == 1 and len(words) >= 3:
                found.append(Statement(source_id, sentence, start + offset, end + offset, quantity, words, told[0], years))
    return found


def find(stated: Iterable[Statement]) -> list[Contradiction]:
    """The contradictions among statements of different sources, each pair of sources and figures once."""
    buckets: dict[tuple[str, frozenset[int], str], list[Statement]] = defaultdict(list)
    for statement in stated:
        for word in _telling(statement.words):
            bucket = buckets[statement.quantity.unit, statement.years, word]
            if len(bucket) < _BUCKET:
                bucket.append(statement)
    found: dict[tuple[str, int, str, int], Contradiction] = {}
    for bucket in buckets.values():
        for place, one in enumerate(bucket):
            for other in bucket[place + 1 :]:
                if _differ(one, other):
                    found.setdefault((one.source_id, one.start, other.source_id, other.start), Contradiction(one, other))
    return list(found.values())


def among(claims: Iterable[Claim]) -> list[Contradiction]:
    """The contradictions among the passages that a ledger's claims rest on."""
    passages = {(claim.passage.source_id, claim.passage.start): claim.passage for claim in claims if claim.passage is not None}
    return find(
        statement for passage in passages.values() for statement in statements(passage.source_id, passage.quote, max(0, passage.start))
    )


def _telling(words: frozenset[str]) -> Sequence[str]:
    """The longest words of a statement: rare ones, by and large."""
    return sorted(words, key=lambda word: (-len(word), word))[:3]


def _differ(one: Statement, other: Statement) -> bool:
    if one.source_id == other.source_id or figures.matches(one.quantity, other.quantity) or figures.matches(other.quantity, one.quantity):
        return False
    if (
        bool(one.quantity.bound)
        or bool(other.quantity.bound)
        or bool(_RELATIVE.search(one.text.lower())) != bool(_RELATIVE.search(other.text.lower()))
    ):
        return False
    if one.subject not in other.words and other.subject not in one.words:
        return False
    shared = len(one.words & other.words)
    return (
        shared >= 3
        and shared >= SAME_THING * min(len(one.words), len(other.words))
        and shared >= 0.4 * max(len(one.words), len(other.words))
    )

"""Whether a record holds what is searched, and tests on raw bytes that may only leave out what cannot hold it."""

import bisect
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import regex

from deepdelve.core.errors import UsageError
from deepdelve.engine.history.parse import All, Any, Expression, Fact, Not, Pattern, Term
from deepdelve.engine.history.records import Record, canonical_session

PATTERN_SECONDS = 2.0
MAX_PATTERN_TEXT = 1_048_576
_ASCII = bytes(range(128))
_ESCAPE = re.compile(rb"\\u")
_UNTESTABLE = frozenset('"\\/')
Test: TypeAlias = Callable[[int], bool]


class PatternTooSlow(Exception):
    """The pattern did not come to an end in its time."""


class PatternTooLong(Exception):
    """The record is too long for a pattern."""


def norm(text: str) -> str:
    """The form in which texts and terms are compared: NFKC, then case folded."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def exact(text: str) -> str:
    """As ``norm``, with case kept."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@dataclass(frozen=True)
class Seen:
    """What a record holds: one bit for each part of the search; ``hay`` is the compared text."""

    bits: int
    hay: str


class Matcher:
    """A compiled search.

    Args:
        expression: what a record must satisfy; None holds of every record.
        case_sensitive: compare with case.

    Raises:
        UsageError: the pattern is none.
    """

    def __init__(self, expression: Expression | None, *, case_sensitive: bool = False) -> None:
        self.expression = expression
        self.form = exact if case_sensitive else norm
        self.leaves: list[Term | Fact | Pattern] = []
        self._test = self._compile(expression) if expression is not None else None
        self._pattern = _compiled(self.leaves, case_sensitive=case_sensitive)
        self._needles = [self.form(leaf.text) if isinstance(leaf, Term) else "" for leaf in self.leaves]
        self._phrases = any(isinstance(leaf, Term) and _spaced(leaf) for leaf in self.leaves)
        positive = _positive(expression) if expression is not None else []
        self.positive: tuple[Term | Pattern, ...] = tuple(leaf for leaf in positive if not isinstance(leaf, Fact))
        self.text_bits = sum(1 << self.leaves.index(leaf) for leaf in dict.fromkeys(self.positive))
        self.several = isinstance(expression, All) and sum(isinstance(part, Term) for part in expression.parts) > 1

    def see(self, record: Record) -> Seen:
        """What a record holds of the search.

        Raises:
            PatternTooSlow: the pattern did not end in time.
            PatternTooLong: the record is too long for it.
        """
        text = f"{record.title}\n{record.text}" if record.kind == "source" and record.title else record.text
        hay = self.form(text)
        spaced = " ".join(hay.split()) if self._phrases else ""
        bits = 0
        for place, leaf in enumerate(self.leaves):
            if isinstance(leaf, Term):
                held = self._needles[place] in (spaced if _spaced(leaf) else hay)
            elif isinstance(leaf, Fact):
                held = _has(record, leaf)
            else:
                held = self._search(text)
            bits |= held << place
        return Seen(bits, hay)

    def holds(self, bits: int) -> bool:
        """Whether these parts together satisfy the search."""
        return self._test is None or self._test(bits)

    def counts(self, hay: str) -> list[int]:
        """How often each positive word stands in a compared text."""
        return [hay.count(self.form(leaf.text)) for leaf in self.positive if isinstance(leaf, Term)]

    def locate(self, text: str) -> tuple[int, int]:
        """Where in a text the first positive part stands, in characters; (0, 0) where that is not known."""
        if self._pattern is not None:
            try:
                found = self._pattern.search(text[:MAX_PATTERN_TEXT], timeout=PATTERN_SECONDS)
            except TimeoutError:
                found = None
            return found.span() if found else (0, 0)
        spans = [span for leaf in self.positive if isinstance(leaf, Term) and (span := self._span(text, leaf))]
        return min(spans, default=(0, 0))

    def _span(self, text: str, term: Term) -> tuple[int, int] | None:
        needle = self.form(term.text)
        hay = self.form(text)
        if len(hay) == len(text) and (text.isascii() or unicodedata.is_normalized("NFKC", text)):
            start = hay.find(needle)
            if start >= 0:
                return start, start + len(needle)
        place = hay.find(needle)
        if place < 0:
            return None
        # The form of a beginning never shrinks as the beginning grows, so its end is found by halving.
        start = bisect.bisect_right(range(len(text)), place, key=lambda count: len(self.form(text[:count]))) - 1
        end = bisect.bisect_left(range(len(text)), place + len(needle), key=lambda count: len(self.form(text[:count])))
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        return (start, end) if needle in self.form(text[start:end]) else None

    def _search(self, text: str) -> bool:
        if self._pattern is None:
            return False
        if len(text) > MAX_PATTERN_TEXT:
            raise PatternTooLong
        try:
            return self._pattern.search(text, timeout=PATTERN_SECONDS, concurrent=True) is not None
        except TimeoutError:
            raise PatternTooSlow from None

    def _compile(self, part: Expression) -> Test:
        if isinstance(part, Not):
            inner = self._compile(part.part)
            return lambda bits: not inner(bits)
        if isinstance(part, All):
            every = [self._compile(inner) for inner in part.parts]
            return lambda bits: all(test(bits) for test in every)
        if isinstance(part, Any):
            some = [self._compile(inner) for inner in part.parts]
            return lambda bits: any(test(bits) for test in some)
        if part not in self.leaves:
            self.leaves.append(part)
        bit = 1 << self.leaves.index(part)
        return lambda bits: bool(bits & bit)


def evidence(expression: Expression | None) -> Expression | None:
    """The positive text of a search, joined by OR: what may choose conversations."""
    parts = tuple(dict.fromkeys(leaf for leaf in (_positive(expression) if expression else []) if not isinstance(leaf, Fact)))
    return Any(parts) if len(parts) > 1 else parts[0] if parts else None


def positive_facts(expression: Expression | None) -> list[Fact]:
    """The fields that the search asks for, none of those under NOT."""
    return [leaf for leaf in (_positive(expression) if expression else []) if isinstance(leaf, Fact)]


def facts_of(expression: Expression | None) -> list[Fact]:
    """Every field that the search speaks of."""
    return [leaf for leaf in (_leaves(expression) if expression else []) if isinstance(leaf, Fact)]


def all_text(expression: Expression | None) -> Expression | None:
    """Every text of the search, positive or not, joined by OR; None where other things count too."""
    leaves = list(dict.fromkeys(_leaves(expression))) if expression is not None else []
    texts = tuple(leaf for leaf in leaves if isinstance(leaf, Term))
    if not texts or len(texts) < len(leaves):
        return None
    return Any(texts)


class Prefilter:
    """Leaves out lines of JSON that can hold none of some searches. Every test is a proven superset of the matcher.

    A line is left out only where it holds no escape that could spell a letter, and no character whose compared form has a letter of
    the word: only then do its bytes, in lower case, hold the ASCII word that its compared text holds.
    """

    def __init__(self, *expressions: Expression | None) -> None:
        self.searches = tuple(_groups(expression) for expression in expressions)

    def __bool__(self) -> bool:
        return all(self.searches)

    def excludes(self, data: bytes, low: bytes | None = None) -> bool:
        """Whether no record of these whole lines can match. ``low`` is ``data.lower()``, where that is known."""
        low = data.lower() if low is None else low
        return all(_fails(groups, data, low) for groups in self.searches)


def _fails(groups: tuple[tuple[bytes, ...], ...], data: bytes, low: bytes) -> bool:
    """Whether lines lack each word of a group that a match must hold one of."""
    for group in groups:
        if group[0] not in low and (len(group) == 1 or not any(word in low for word in group)):
            return not _escaped(data) and (data.isascii() or _spells_none(data, group))
    return False


def _escaped(data: bytes) -> bool:
    """Whether a letter may be spelled by an escape. A pattern goes from one backslash to the next, which ``in`` does not."""
    return b"\\" in data and _ESCAPE.search(data) is not None


def _spells_none(data: bytes, words: tuple[bytes, ...]) -> bool:
    """Whether no character of these lines beyond ASCII becomes a letter of the words; false where the lines are no UTF-8."""
    try:
        data.decode("utf-8")
        beyond = set(data.translate(None, _ASCII).decode("utf-8"))
    except UnicodeDecodeError:
        return False
    letters = b"".join(words).decode("ascii")
    return not any(letter in letters for char in beyond for letter in _spelled(char))


@lru_cache(maxsize=16_384)
def _spelled(char: str) -> str:
    """The ASCII characters that a character becomes, as ligatures, full-width and mathematical letters do."""
    return "".join(one for one in norm(char) if one.isascii())


def _groups(expression: Expression | None) -> tuple[tuple[bytes, ...], ...]:
    """Groups of which each must have a word in the text: the search as far as words can tell."""
    parts = expression.parts if isinstance(expression, All) else (expression,) if expression is not None else ()
    groups: list[tuple[bytes, ...]] = []
    for part in parts:
        leaves = part.parts if isinstance(part, Any) else (part,)
        words = [testable(leaf) for leaf in leaves]
        if all(words):
            groups.append(tuple(word for word in words if word))
    return tuple(groups)


def testable(leaf: Expression) -> bytes:
    """A term as bytes that stand unescaped in JSON; empty where that cannot be said."""
    text = norm(leaf.text) if isinstance(leaf, Term) else ""
    usable = text.isascii() and text.isprintable() and " " not in text and not _UNTESTABLE & set(text)
    return text.encode() if usable else b""


def _leaves(part: Expression) -> list[Term | Fact | Pattern]:
    if isinstance(part, Not):
        return _leaves(part.part)
    return [leaf for inner in part.parts for leaf in _leaves(inner)] if isinstance(part, All | Any) else [part]


def _positive(part: Expression) -> list[Term | Fact | Pattern]:
    if isinstance(part, Not):
        return _negative(part.part)
    if isinstance(part, All | Any):
        return [leaf for inner in part.parts for leaf in _positive(inner)]
    return [part]


def _negative(part: Expression) -> list[Term | Fact | Pattern]:
    """What is positive below an odd number of NOTs."""
    if isinstance(part, Not):
        return _positive(part.part)
    return [leaf for inner in part.parts for leaf in _negative(inner)] if isinstance(part, All | Any) else []


def _spaced(term: Term) -> bool:
    return term.phrase and " " in term.text


def _has(record: Record, fact: Fact) -> bool:
    if fact.name == "session":
        return bool(record.session_id) and record.session_id == (canonical_session(fact.value) or fact.value)
    held = {"kind": record.kind, "run": record.run_id, "role": record.role, "model": record.model, "style": record.style}
    held["rundepth"] = record.depth
    return norm(held.get(fact.name, "")) == norm(fact.value)


def _compiled(leaves: list[Term | Fact | Pattern], *, case_sensitive: bool) -> "regex.Pattern[str] | None":
    pattern = next((leaf.text for leaf in leaves if isinstance(leaf, Pattern)), None)
    if pattern is None:
        return None
    try:
        return regex.compile(pattern, 0 if case_sensitive else regex.IGNORECASE)
    except (regex.error, RecursionError, OverflowError) as error:
        raise UsageError(f"That is no pattern: {str(error)[:120]}.", "Leave out --regex to search for the text itself.") from None

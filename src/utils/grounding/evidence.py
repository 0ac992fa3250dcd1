"""The best place in a source for a claim, and how well its words fit there."""

import math
import re
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from deepdelve.utils.grounding import figures, sentences, tokens
from deepdelve.utils.grounding.figures import Quantity
from deepdelve.utils.grounding.index import SourceIndex
from deepdelve.utils.grounding.reading import Reading, read

WINDOW = 50
_REACH = 10
_LABEL_WORDS = 4
_NAME = re.compile(r"[^\W\d_a-z\u0e00-\uffff][\w'’&.-]*\w|[A-Z]\b")
_START = re.compile(r"^[\W_]*|\|\s+|[:.;]\s+[\"“(]?")
_SENTENCE_START = re.compile(r"\w+(?:[,;:]?\s+[^A-ZÀ-Þ]|$)")
_ATTRIBUTION = re.compile(r"^\W*(?:according to|as (?:reported|stated|noted) (?:by|in))\s[^,]{1,80},\s*", re.I)
_DIGITS = re.compile(r"\d[\d.,]*")

Located = Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class ClaimWords:
    """A claim taken apart once.

    Attributes:
        text: the claim, clean of markers.
        keys: content keys in order.
        names: keys of capitalised words that are so not merely because they begin the sentence.
        marked: keys of all capitalised words and of numbers.
        quantities: figures and years it states.
        label: keys of the first cell, where it is a table row: they name the row and may stand in no source.
    """

    text: str
    keys: tuple[str, ...]
    names: tuple[str, ...]
    marked: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    label: frozenset[str] = frozenset()

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """Each content key once, in order."""
        return tuple(dict.fromkeys(self.keys))

    def told(self, left_out: Collection[str] = ()) -> frozenset[str]:
        """The keys that tell what it speaks of: numbers and some words left out; none where too few are left to tell."""
        rest = frozenset(key for key in self.distinct if key not in left_out and key not in self.label)
        plain = frozenset(key for key in rest if not key[0].isdigit())
        return plain if len(plain) >= 2 else rest if len(rest) >= 2 else frozenset()

    @cached_property
    def subject(self) -> frozenset[str]:
        """The keys that tell what it speaks of, nothing left out but numbers."""
        return self.told()


@dataclass(frozen=True)
class Evidence:
    """The window of a source that fits a claim best.

    Attributes:
        words: the claim.
        first: number of the first word of the window, ``last`` of the last (-1 where no word of the claim occurs).
        coverage: weighted share of the claim's content words in the window, 0 to 1.
        names: share of its names and numbers in or near the window.
        pairs: share of its neighbouring word pairs that stand close to each other somewhere in the source.
    """

    words: ClaimWords
    source: SourceIndex
    located: Located
    first: int
    last: int
    coverage: float
    names: float
    pairs: float

    @cached_property
    def span(self) -> tuple[int, int]:
        """Start and end of the passage in the source's text, whole sentences."""
        return self.source.passage(self.first, self.last)

    @cached_property
    def passage(self) -> str:
        """The passage's text."""
        start, end = self.span
        return self.source.text[start:end]

    @cached_property
    def stated(self) -> list[Quantity]:
        """The quantities of the passage."""
        return figures.find(tokens.lower(self.passage))

    @cached_property
    def absent(self) -> tuple[Quantity, ...]:
        """The claim's decisive quantities that stand nowhere in the source. The whole source is read only for those not in the passage."""
        left = [
            quantity for quantity in figures.missing(self.words.quantities, self.stated if self.first >= 0 else ()) if quantity.decisive
        ]
        return tuple(
            quantity
            for quantity in left
            if not any(figures.matches(quantity, other) for other in self.source.near(quantity)) and not _spelled_out(quantity, self.source)
        )

    @cached_property
    def sentences(self) -> list[Reading]:
        """The passage's sentences."""
        text = self.passage
        return [read(text[a:b]) for a, b in sentences.split(text)]

    @cached_property
    def around(self) -> frozenset[str]:
        """The keys in and near the window."""
        return self.source.around(self.first - _REACH, self.last + _REACH)


def take_apart(text: str) -> ClaimWords:
    """A claim's words, names and quantities."""
    text = _ATTRIBUTION.sub("", text)
    keys = tokens.content_keys(text)
    starts = {match.end() for match in _START.finditer(text) if _SENTENCE_START.match(text, match.end())}
    named = [
        (match.start() not in starts, key)
        for match in _NAME.finditer(text)
        for key in tokens.content_keys(match[0])
        if key not in figures.UNIT_KEYS
    ]
    marked = [key for _, key in named] + [key for word in _DIGITS.findall(text) for key in tokens.content_keys(word)]
    names = dict.fromkeys(key for sure, key in named if sure)
    head = text.split(" | ", 1)[0] if " | " in text else ""
    label = frozenset(tokens.content_keys(head)) if len(head.split()) <= _LABEL_WORDS else frozenset[str]()
    quantities = tuple(figures.find(tokens.lower(text)))
    return ClaimWords(text, tuple(keys), tuple(names), tuple(marked), quantities, label)


def gather(words: ClaimWords, source: SourceIndex, located: Located) -> Evidence:
    """The best window of a source for a claim. ``located`` holds at least the claim's keys."""
    size = source.size
    occurrences = {key: len(located.get(key, ())) for key in words.distinct if key in located or key not in words.label}
    weights = {key: weight(number, size) for key, number in occurrences.items()}
    held, first, last = best_window(located, weights)
    total = sum(weights.values())
    coverage = held / total if total else 0.0
    near = source.around(first - _REACH, last + _REACH) if first >= 0 else frozenset[str]()
    names = sum(key in near for key in words.marked) / len(words.marked) if words.marked else coverage
    return Evidence(words, source, located, first, last, coverage, names, _pairs(words.keys, located, coverage))


def weight(occurrences: int, size: int) -> float:
    """How much a word tells: the rarer in its source, the more."""
    windows = size / WINDOW + 1.0
    return math.log((windows + 1.0) / (min(occurrences, windows) + 0.5)) + 1.0


def best_window(located: Located, weights: Mapping[str, float], width: int = WINDOW) -> tuple[float, int, int]:
    """The greatest weight of distinct keys within ``width`` words, and the first and last of them (-1 where none occurs)."""
    keys = sorted(key for key in weights if key in located)
    size = len(keys)
    # A hit is one number, its place and its key's: such a list is sorted and compared fast.
    hits = sorted([place * size + number for number, key in enumerate(keys) for place in located[key]])
    telling = [weights[key] for key in keys]
    counts = [0] * size
    best, first, last = 0.0, -1, -1
    held, left = 0.0, 0
    for hit in hits:
        key = hit % size
        if not counts[key]:
            held += telling[key]
        counts[key] += 1
        while hits[left] <= hit - key - width * size + size - 1:
            gone = hits[left] % size
            counts[gone] -= 1
            if not counts[gone]:
                held -= telling[gone]
            left += 1
        if held > best + 1e-9:
            best, first, last = held, hits[left] // size, hit // size
    return best, first, last


def _pairs(keys: Sequence[str], located: Located, otherwise: float) -> float:
    if len(keys) < 2:
        return otherwise
    return sum(_follows(located.get(one, ()), located.get(other, ())) for one, other in pairwise(keys)) / (len(keys) - 1)


def _follows(before: Sequence[int], behind: Sequence[int]) -> bool:
    """Whether one of the places behind is one of those before, or at most three further."""
    for place in before:
        following = bisect_left(behind, place)
        if following == len(behind):
            return False
        if behind[following] <= place + 3:
            return True
    return False


def _spelled_out(quantity: Quantity, source: SourceIndex) -> bool:
    word = figures.spelled(quantity.value)
    return bool(word) and word in source.locate((word,))

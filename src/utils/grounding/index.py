"""A source made ready for checking, once: its words, where each key stands, and the passage around any of them."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import chain, compress, count

from deepdelve.utils.grounding import figures, sentences, tokens
from deepdelve.utils.grounding import text as plain
from deepdelve.utils.grounding.figures import Quantity

_CHUNK = 1000
_MARGIN = 400
_BEFORE = 28
_BEHIND = 40
_SPACE = re.compile(r"\s")


class SourceIndex:
    """A source's text ready for checking. Immutable; everything costly is computed once, on first use.

    A word is a run of text between spaces; in scripts without spaces, a pair of characters. Words are numbered from 0.

    Attributes:
        source_id: the id by which claims cite it.
        text: the source's text; all offsets refer to it.
    """

    def __init__(self, source_id: str, text: str) -> None:
        self.source_id = source_id
        self.text = text

    @cached_property
    def lower(self) -> str:
        """The text in lower case, offsets unchanged."""
        return tokens.lower(self.text)

    @property
    def size(self) -> int:
        """How many words it has."""
        return len(self._keys)

    @cached_property
    def quantities(self) -> list[Quantity]:
        """The figures and years written in digits."""
        return figures.find_written(self.lower)

    @cached_property
    def normalised(self) -> str:
        """The text's words joined by single spaces, for verbatim search."""
        return plain.normalise(self.text)

    def locate(self, wanted: Iterable[str]) -> dict[str, list[int]]:
        """For each wanted key that occurs: the numbers of the words that have it, rising."""
        keys = self._keys
        located: dict[str, list[int]] = {key: [] for key in wanted}
        sought = frozenset((*located, tokens.SEVERAL))
        for number in compress(count(), map(sought.__contains__, keys)):
            if key := keys[number]:
                located[key].append(number)
                continue
            for part in tokens.parts(key):
                if part in located:
                    located[part].append(number)
        return {key: numbers for key, numbers in located.items() if numbers}

    def around(self, first: int, last: int) -> frozenset[str]:
        """The keys of words ``first`` to ``last``."""
        return frozenset(chain.from_iterable(map(tokens.parts, self._keys[max(0, first) : last + 1])))

    def near(self, quantity: Quantity) -> list[Quantity]:
        """The figures whose digits are about those of a given one, whatever their scale; all of them for a bounded figure."""
        if quantity.bound or not quantity.value:
            return self.quantities
        wanted = figures.significand(quantity.value)
        low = self.lower
        found: list[Quantity] = []
        for start, digits in self._numbers:
            ratio = digits / wanted
            if 0.89 < ratio < 1.12 or ratio > 8.9 or ratio < 0.112:
                found += figures.find_written(low[max(0, start - _BEFORE) : start + _BEHIND])
        return found

    def offsets(self, number: int) -> tuple[int, int]:
        """Start and end, in characters, of word ``number`` (of the run that holds it, in scripts without spaces)."""
        firsts = self._laid_out[1]
        chunk = bisect_right(firsts, number) - 1
        at, end = self._chunks[chunk]
        if self._paired:
            return tokens.place(self.lower, at, end, number - firsts[chunk])
        rest = self.lower[at:end].split(None, number - firsts[chunk])[-1]
        return end - len(rest), end - len(rest) + len(rest.split(None, 1)[0])

    def passage(self, first: int, last: int) -> tuple[int, int]:
        """The span of whole sentences around words ``first`` to ``last``."""
        start, end = self.offsets(first)[0], self.offsets(last)[1]
        low = max(0, start - _MARGIN)
        spans = sentences.split(self.text[low : end + _MARGIN])
        inside = [(a + low, b + low) for a, b in spans if a + low < end and b + low > start]
        return (min(inside[0][0], start), max(inside[-1][1], end)) if inside else (start, end)

    @cached_property
    def _paired(self) -> bool:
        """Whether the text has a script without spaces; its words are then already keys."""
        return tokens.has_joined(self.text)

    @property
    def _keys(self) -> list[str]:
        """Each word as its key, or as a ``tokens.Joint`` where it has several or none."""
        return self._laid_out[0]

    @cached_property
    def _laid_out(self) -> tuple[list[str], list[int]]:
        """The keys, and the number of the first word of each chunk."""
        take, low = tokens.keys if self._paired else tokens.run_keys, self.lower
        keys: list[str] = []
        firsts: list[int] = []
        for start, end in self._chunks:
            firsts.append(len(keys))
            keys += take(low[start:end])
        return keys, firsts

    @cached_property
    def _numbers(self) -> list[tuple[int, float]]:
        return figures.significands(self.lower)

    @cached_property
    def _chunks(self) -> list[tuple[int, int]]:
        """Short stretches of the text, none of which cuts a word, so that where a word stands is found without reading all before it."""
        spans: list[tuple[int, int]] = []
        start, size = 0, len(self.text)
        while start < size:
            end = self._cut(start, size)
            spans.append((start, end))
            start = end
        return spans

    def _cut(self, start: int, size: int) -> int:
        """Where the chunk ends that begins at an offset. A script without spaces is cut anywhere where it has none for long."""
        if start + _CHUNK >= size:
            return size
        if self._paired:
            end = max(self.text.rfind(mark, start, start + _CHUNK) for mark in (" ", "\n")) + 1
            return end if end > start else start + _CHUNK
        space = _SPACE.search(self.lower, start + _CHUNK)
        return space.end() if space else size

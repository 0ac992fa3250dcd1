"""Fair shares of a limited space: what each source may show to a judge or writer, and which passages it shows."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from deepdelve.utils.text import terms

MINIMUM_CHARS = 400
CHUNK_CHARS = 360
_K1 = 1.2
_B = 0.75
_GAP = "\n[…]\n"


@dataclass(frozen=True)
class Chunk:
    """A passage of a source: its place in the text, and its words."""

    start: int
    end: int
    text: str

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word stands in it."""
        return Counter(terms(self.text))


def chunks(text: str) -> tuple[Chunk, ...]:
    """A text in passages of about ``CHUNK_CHARS`` characters, cut at line ends or spaces. Linear in the text."""
    found: list[Chunk] = []
    start, size = 0, len(text)
    while start < size:
        end = min(size, start + CHUNK_CHARS)
        if end < size:
            cut = max(text.rfind("\n", start + CHUNK_CHARS // 2, end), text.rfind(". ", start + CHUNK_CHARS // 2, end))
            cut = cut if cut > 0 else text.rfind(" ", start + 1, end)
            end = cut + 1 if cut > start else end
        if text[start:end].strip():
            found.append(Chunk(start, end, text[start:end]))
        start = end
    return tuple(found)


def shares(lengths: Sequence[int], total: int, minimum: int = MINIMUM_CHARS) -> list[int]:
    """Water-filling: every source gets what it has or an equal share, and what short ones leave goes to the others.

    Args:
        lengths: characters that each source has.
        total: characters in all; exceeded only where the minimum of each adds up to more.
        minimum: what each gets at least, if it has so much.
    """
    given = [0] * len(lengths)
    open_ones = sorted(range(len(lengths)), key=lambda place: lengths[place])
    left = total
    for number, place in enumerate(open_ones):
        fair = max(minimum, left // (len(open_ones) - number))
        given[place] = min(lengths[place], fair)
        left = max(0, left - given[place])
    return given


def document_counts(sources: Sequence[Sequence[Chunk]]) -> tuple[Mapping[str, int], int, float]:
    """In how many passages each word stands, how many passages there are, and their mean length in words."""
    found: Counter[str] = Counter()
    number = words = 0
    for source in sources:
        for chunk in source:
            found.update(chunk.counts.keys())
            number += 1
            words += chunk.counts.total()
    return found, number, words / number if number else 1.0


def best_passages(text: str, own: Sequence[Chunk], wanted: Sequence[str], limit: int, corpus: tuple[Mapping[str, int], int, float]) -> str:
    """The passages of one source that fit the wanted words best (BM25), in the order of the text, within ``limit`` characters."""
    if len(text) <= limit:
        return text
    known, number, mean = corpus
    weights = {term: math.log(1 + (number - known.get(term, 0) + 0.5) / (known.get(term, 0) + 0.5)) for term in set(wanted)}

    def score(chunk: Chunk) -> float:
        size = _K1 * (1 - _B + _B * chunk.counts.total() / mean)
        return sum(weight * chunk.counts[term] * (_K1 + 1) / (chunk.counts[term] + size) for term, weight in weights.items())

    chosen: list[Chunk] = []
    left = limit
    for chunk in sorted(own, key=lambda chunk: (-score(chunk), chunk.start)):
        need = len(chunk.text) + len(_GAP)
        if need > left:
            break
        chosen.append(chunk)
        left -= need
    chosen = chosen or [Chunk(0, limit, text[:limit])]
    pieces: list[str] = []
    last = -1
    for chunk in sorted(chosen, key=lambda chunk: chunk.start):
        pieces.append(chunk.text if chunk.start == last or last < 0 else _GAP + chunk.text)
        last = chunk.end
    return "".join(pieces).strip()

"""One stage that folds copies, orders and cuts. Surfaces may not order or cut again."""

import hashlib
import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from deepdelve.engine.history.match import Matcher, norm
from deepdelve.engine.history.query import HistoryQuery
from deepdelve.engine.history.records import Record, SortKey, newest_of

_WEIGHTS = {"prompt": 10.0, "report": 4.0, "finding": 3.0, "reply": 1.0}
_OTHER_WEIGHT = 0.3
_TITLE_WEIGHT = 6.0
_PHRASE_FACTOR = 2.0
_K1, _B = 1.2, 0.75


class Collector(Protocol):
    """Takes matches and gives the answer."""

    folded: int

    def offer(self, record: Record, hay: str) -> tuple[Record, ...]:
        """Take a match; returns what can be emitted at once."""
        ...

    def finish(self) -> tuple[list[Record], bool]:
        """The records still to be emitted, in order, and whether the limit has cut off at least one."""
        ...

    def full(self) -> bool:
        """Whether nothing that comes can change the answer."""
        ...

    def floor(self) -> int | None:
        """The instant that a source must reach to change the answer; None while anything may."""
        ...


def collector_for(query: HistoryQuery, matcher: Matcher) -> "Newest | Relevance | AsFound":
    """The collector of the query's order."""
    if query.order == "relevance":
        return Relevance(query, matcher)
    return Newest(query) if query.order == "newest" else AsFound(query)


class _Copies:
    """Tells copies: same kind, session and compared text."""

    def __init__(self, dedupe: bool) -> None:
        self._dedupe = dedupe
        self._numbers = itertools.count()

    def name(self, record: Record, hay: str) -> bytes:
        """The same for copies of one record."""
        if not self._dedupe:
            return next(self._numbers).to_bytes(8, "big")
        digest = hashlib.sha1(hay.encode("utf-8", "surrogatepass"), usedforsecurity=False)
        return b"%s|%s|%s" % (record.kind.encode(), record.session_id.encode(), digest.digest())


def better(held: Record, other: Record) -> Record:
    """Of two copies the transcript's, which has a place in a conversation; else the later one; with the newest instant of both."""
    kept, left = (held, other) if _rank(held) >= _rank(other) else (other, held)
    return newest_of(kept, left)


def _rank(record: Record) -> tuple[int, ...]:
    # Within a transcript the place tells which is later, whatever instant a copy has lent.
    return (1, record.ordinal) if record.store == "transcript" else (0, *record.order)


class Newest:
    """Newest first: holds one record more than the limit, which proves that there is more."""

    def __init__(self, query: HistoryQuery) -> None:
        self.folded = 0
        self._room = None if query.limit is None else query.limit + 1
        self._limit = query.limit
        self._copies = _Copies(query.dedupe)
        self._held: dict[bytes, Record] = {}
        self._gone: set[bytes] = set()
        self._heap: list[tuple[SortKey, bytes]] = []

    def offer(self, record: Record, hay: str) -> tuple[Record, ...]:
        """Hold the record, or fold it into its copy."""
        name = self._copies.name(record, hay)
        held = self._held.get(name)
        if held is not None or name in self._gone:
            self.folded += 1
        kept = better(held, record) if held is not None else record
        self._held[name] = kept
        if self._room is not None:
            heapq.heappush(self._heap, (kept.order, name))
            while len(self._held) > self._room:
                self._drop_oldest()
        return ()

    def _drop_oldest(self) -> None:
        key, name = heapq.heappop(self._heap)
        held = self._held.get(name)
        # An entry from before its record got a newer copy says nothing any more.
        if held is not None and held.order == key:
            del self._held[name]
            self._gone.add(name)

    def finish(self) -> tuple[list[Record], bool]:
        """The newest, and whether there was one more."""
        ordered = sorted(self._held.values(), key=lambda record: record.order, reverse=True)
        return ordered[: self._limit], self._limit is not None and len(ordered) > self._limit

    def full(self) -> bool:
        """Never: a newer one may always come."""
        return False

    def floor(self) -> int | None:
        """The instant of the last that is held, once one more than the limit is."""
        if self._room is None or len(self._held) < self._room:
            return None
        return min(record.order for record in self._held.values())[0]

    def sessions_of_prompts(self) -> set[str]:
        """Sessions of held prompts whose transcript may hold the copy to keep."""
        return {record.session_id for record in self._held.values() if record.store == "history" and record.session_id}


class AsFound:
    """In the order of reading: emitted at once."""

    def __init__(self, query: HistoryQuery) -> None:
        self.folded = 0
        self._limit = query.limit
        self._copies = _Copies(query.dedupe)
        self._seen: set[bytes] = set()
        self._emitted = 0
        self._more = False

    def offer(self, record: Record, hay: str) -> tuple[Record, ...]:
        """Emit the record, unless it is a copy or over the limit."""
        name = self._copies.name(record, hay)
        if name in self._seen:
            self.folded += 1
            return ()
        self._seen.add(name)
        if self._limit is not None and self._emitted >= self._limit:
            self._more = True
            return ()
        self._emitted += 1
        return (record,)

    def finish(self) -> tuple[list[Record], bool]:
        """Nothing is left."""
        return [], self._more

    def full(self) -> bool:
        """Whether one more than the limit was found."""
        return self._more

    def floor(self) -> int | None:
        """None: the order is not that of time."""
        return None


@dataclass
class _Scored:
    record: Record
    counts: list[float]
    length: int
    phrase: bool


class Relevance:
    """Field-weighted BM25 over the matches themselves, so that it is the same with and without an index."""

    def __init__(self, query: HistoryQuery, matcher: Matcher) -> None:
        self.folded = 0
        self._limit = query.limit
        self._matcher = matcher
        self._copies = _Copies(query.dedupe)
        self._held: dict[bytes, _Scored] = {}
        words = [norm(leaf.text) for leaf in matcher.positive]
        self._phrase = " ".join(words) if len(words) > 1 else ""

    def offer(self, record: Record, hay: str) -> tuple[Record, ...]:
        """Hold the record with what its score needs."""
        name = self._copies.name(record, hay)
        held = self._held.get(name)
        if held is not None:
            self.folded += 1
            held.record = better(held.record, record)
            return ()
        weight = _WEIGHTS.get(record.kind, _OTHER_WEIGHT)
        title = self._matcher.form(record.title)
        counts = [
            weight * count + _TITLE_WEIGHT * in_title
            for count, in_title in zip(self._matcher.counts(hay), self._matcher.counts(title), strict=True)
        ]
        phrase = bool(self._phrase) and self._phrase in " ".join(norm(hay).split())
        self._held[name] = _Scored(record, counts, hay.count(" ") + 1, phrase)
        return ()

    def finish(self) -> tuple[list[Record], bool]:
        """The most relevant, newest first among equals."""
        rows = list(self._held.values())
        scores = _bm25(rows)
        ordered = sorted(zip(scores, rows, strict=True), key=lambda pair: (pair[0], pair[1].record.order), reverse=True)
        return [row.record for _, row in ordered[: self._limit]], self._limit is not None and len(ordered) > self._limit

    def full(self) -> bool:
        """Never: a better one may always come."""
        return False

    def floor(self) -> int | None:
        """None: the order is not that of time."""
        return None


def _bm25(rows: list[_Scored]) -> Iterator[float]:
    mean = sum(row.length for row in rows) / len(rows) if rows else 1.0
    width = len(rows[0].counts) if rows else 0
    holding = [sum(row.counts[place] > 0 for row in rows) for place in range(width)]
    rarity = [math.log(1 + (len(rows) - count + 0.5) / (count + 0.5)) for count in holding]
    for row in rows:
        long = _K1 * (1 - _B + _B * row.length / mean)
        score = sum(idf * count * (_K1 + 1) / (count + long) for idf, count in zip(rarity, row.counts, strict=True))
        yield round(score * (_PHRASE_FACTOR if row.phrase else 1.0), 9)

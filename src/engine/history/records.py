"""What a search returns: records, and the events that carry them."""

import hashlib
import re
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from deepdelve.engine.history.query import HistoryQuery, Kind

if TYPE_CHECKING:
    from deepdelve.engine.history.summary import Summary

Store = Literal["history", "source", "tool", "reasoning", "finding", "report", "transcript"]
SourceOutcome = Literal["completed", "bounded", "unsupported", "failed", "cancelled"]
# The later one wins among records of the same instant.
STORE_RANK: dict[Store, int] = {"history": 0, "source": 1, "tool": 2, "reasoning": 3, "finding": 4, "report": 5, "transcript": 6}
SortKey: TypeAlias = tuple[int, int, int, int]
_USUAL_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that was typed, answered, found or read.

    Attributes:
        ts_us: UTC microseconds; None where the file does not say.
        span: characters of ``text`` that hold the first match; (0, 0) where it is not known.
        store: where it stands; ``ordinal`` is its place there (line, finding or source number).
        ref: names it for ``inspect``; never a path.
    """

    kind: Kind
    session_id: str
    run_id: str
    ts_us: int | None
    text: str
    store: Store
    ordinal: int
    title: str = ""
    role: str = ""
    model: str = ""
    style: str = ""
    depth: str = ""
    url: str = ""
    span: tuple[int, int] = (0, 0)
    ref: str = ""

    @property
    def order(self) -> SortKey:
        """The newest key: instant, session, store, place."""
        return (-1 if self.ts_us is None else self.ts_us, session_number(self.session_id), STORE_RANK[self.store], self.ordinal)

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON."""
        return {
            "kind": self.kind,
            "session_id": self.session_id or None,
            "run_id": self.run_id or None,
            "ts": iso(self.ts_us),
            "title": self.title,
            "text": self.text,
            "role": self.role,
            "model": self.model or None,
            "url": self.url or None,
            "span": list(self.span),
            "ref": self.ref,
        }


@dataclass(frozen=True)
class SearchStarted:
    """First event."""

    query: HistoryQuery


@dataclass(frozen=True)
class SourceStarted:
    """A source is about to be read."""

    source: str


@dataclass(frozen=True)
class SourceFinished:
    """A source was read, or why not."""

    source: str
    outcome: SourceOutcome
    stop_reason: str = ""


@dataclass(frozen=True)
class RecordEmitted:
    """A record of the answer, in the applied order."""

    record: Record


@dataclass(frozen=True)
class SearchFinished:
    """Last event."""

    summary: "Summary"


Event: TypeAlias = SearchStarted | SourceStarted | SourceFinished | RecordEmitted | SearchFinished


@dataclass(frozen=True)
class HistoryResult:
    """A whole answer."""

    records: tuple[Record, ...]
    summary: "Summary"

    def to_dict(self) -> dict[str, Any]:
        """The ``--json`` object."""
        return {"summary": self.summary.to_dict(), "records": [record.to_dict() for record in self.records]}


class StreamError(Exception):
    """A stream of events that is not as it must be: the engine has a fault."""


class Collected:
    """Takes the events of one search and holds that they make sense.

    Raises:
        StreamError: data after the end, a source that is not closed, a second start, or a count that disagrees.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.summary: Summary | None = None
        self._started = False
        self._open: set[str] = set()

    def take(self, event: Event) -> None:
        """One event."""
        if self.summary is not None:
            raise StreamError("an event after the end")
        if isinstance(event, SearchStarted) == self._started:
            raise StreamError("a search starts once, and first")
        self._started = True
        if isinstance(event, SourceStarted):
            self._open.add(event.source)
        elif isinstance(event, SourceFinished):
            if event.source not in self._open:
                raise StreamError("a source ends that never began")
            self._open.remove(event.source)
        elif isinstance(event, RecordEmitted):
            self.records.append(event.record)
        elif isinstance(event, SearchFinished):
            if self._open or event.summary.match_count != len(self.records):
                raise StreamError("the summary and the events disagree")
            self.summary = event.summary

    def result(self) -> HistoryResult:
        """The answer."""
        if self.summary is None:
            raise StreamError("the search has no end")
        return HistoryResult(tuple(self.records), self.summary)


def newest_of(kept: Record, other: Record) -> Record:
    """The kept record with the newest instant of both copies."""
    if other.ts_us is None or (kept.ts_us is not None and kept.ts_us >= other.ts_us):
        return kept
    return replace(kept, ts_us=other.ts_us)


def fingerprint(text: str) -> str:
    """What tells that a record still says the same."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def canonical_session(value: object) -> str:
    """A session id in its one spelling; empty where it is none."""
    if not isinstance(value, str) or len(value) > 50:
        return ""
    if _USUAL_ID.fullmatch(value):
        return value
    try:
        return str(uuid.UUID(value))
    except ValueError:
        return ""


@lru_cache(maxsize=65_536)
def session_number(session_id: str) -> int:
    """A session id as a number, for ordering."""
    try:
        return uuid.UUID(session_id).int
    except ValueError:
        return 0


def instant_of(value: object) -> int | None:
    """A time stamp as UTC microseconds: text of ISO 8601 (without a zone: UTC) or POSIX seconds; None where it is neither."""
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
            since = moment - datetime(1970, 1, 1, tzinfo=UTC)
            return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
        if isinstance(value, int | float) and not isinstance(value, bool):
            return int(value * 1_000_000)
    except (ValueError, OverflowError):
        return None
    return None


def iso(ts_us: int | None) -> str | None:
    """UTC microseconds as ISO 8601."""
    if ts_us is None:
        return None
    try:
        return datetime.fromtimestamp(ts_us / 1_000_000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None

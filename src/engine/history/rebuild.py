"""A lost prompt history, derived again from the transcripts. Lines are only added, so that nothing a process writes meanwhile is lost."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deepdelve.engine.history.files import Notes
from deepdelve.engine.history.match import Prefilter, norm
from deepdelve.engine.history.query import PROMPTS
from deepdelve.engine.history.records import Record, iso
from deepdelve.engine.history.sources import Reader, Roots, Source, Wants, discover, history_source

Append = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Rebuilt:
    """What a rebuild did. ``incomplete`` counts transcripts that could not be read whole."""

    added: int
    known: int
    transcripts: int
    incomplete: int


def rebuild(roots: Roots, append: Append, new_id: Callable[[float | None], str]) -> Rebuilt:
    """Add the prompts of all transcripts that the history lacks.

    Args:
        roots: where history stands.
        append: adds one line to the prompt history.
        new_id: makes an id for POSIX seconds.

    Raises:
        OSError: the folder of transcripts cannot be listed, or the history not be read.
    """
    reader = Reader(roots, Wants(PROMPTS, Prefilter(None)), lambda: None)
    known = _known(reader, roots)
    added = same = incomplete = 0
    found = discover(roots, transcripts=True, runs=False, poll=lambda: None)
    for source in found:
        notes, runs = Notes(), set[str]()
        for record in _turns(reader, source, notes):
            name = _name(record)
            if name in known:
                same += 1
                continue
            known.add(name)
            added += 1
            append(_row(record, "followup" if record.run_id in runs else "research", new_id))
            runs.add(record.run_id)
        incomplete += bool(+notes.codes)
    if added or incomplete:
        # A history that lacks something says so itself, to every later search.
        before = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if incomplete else None
        append({"v": 1, "type": "rebuilt", "ts": datetime.now(UTC).isoformat(timespec="milliseconds"), "incomplete_before": before})
    return Rebuilt(added, same, len(found), incomplete)


def _known(reader: Reader, roots: Roots) -> set[tuple[str, str]]:
    try:
        return {_name(record) for record in reader.records(history_source(roots), Notes())}
    except FileNotFoundError:
        return set()


def _turns(reader: Reader, source: Source, notes: Notes) -> Iterator[Record]:
    try:
        yield from reader.records(source, notes)
    except OSError:
        notes.codes["unreadable"] += 1


def _name(record: Record) -> tuple[str, str]:
    return record.session_id, norm(record.text)


def _row(record: Record, kind: str, new_id: Callable[[float | None], str]) -> dict[str, Any]:
    seconds = None if record.ts_us is None else record.ts_us / 1_000_000
    return {
        "v": 1,
        "id": new_id(seconds),
        "ts": iso(record.ts_us),
        "session_id": record.session_id,
        "run_id": record.run_id or None,
        "surface": "cli",
        "kind": kind,
        "text": record.text,
        "meta": {},
        "derived": True,
    }

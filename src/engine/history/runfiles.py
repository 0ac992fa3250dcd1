"""What a run has left in its folder, read without the models of a run: its facts, findings and the talk in its journal."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from deepdelve.engine.history.files import MAX_TEXT_BYTES, Notes, NotRegularError, blocks, read_text, row_of, sound
from deepdelve.engine.history.query import Kind
from deepdelve.engine.history.records import Record, Store, canonical_session, instant_of

SNAPSHOT = "_run_state.json"
JOURNAL = "journal.jsonl"
REPORT = "final_report.md"
LEAVINGS = (SNAPSHOT, JOURNAL, REPORT)
_TALK = (b'"tool_returned"', b'"message"')
_TOLD = (b'"run_started"', b'"finding_added"', b'"source_added"', b'"run_ended"')

Object = Mapping[str, Any]


@dataclass
class RunFacts:
    """What a run says of itself. ``snapshot`` says whether its state file was readable; ``ended`` is UTC microseconds."""

    known: bool = False
    snapshot: bool = False
    session_id: str = ""
    model: str = ""
    style: str = ""
    depth: str = ""
    started: int | None = None
    ended: int | None = None
    offset: int = 0
    findings: dict[str, Object] = field(default_factory=dict[str, Object])
    sources: dict[str, Object] = field(default_factory=dict[str, Object])

    def record(
        self,
        kind: Kind,
        run_id: str,
        store: Store,
        ordinal: int,
        text: str,
        *,
        title: str = "",
        role: str = "",
        ts_us: int | None = None,
        url: str = "",
    ) -> Record:
        """A record of this run; without an instant of its own it has that of the run's end."""
        when = ts_us if ts_us is not None else self.ended
        return Record(
            kind,
            self.session_id,
            run_id,
            when,
            text,
            store,
            ordinal,
            title=sound(title),
            role=role,
            model=self.model,
            style=self.style,
            depth=self.depth,
            url=sound(url),
        )

    def finding_records(self, run_id: str) -> Iterator[Record]:
        """The findings, each as its claims, one a line; a lead as what it says."""
        for row in self.findings.values():
            number = text_of(row, "id").removeprefix("F")
            text = finding_text(row)
            if text and number.isascii() and number.isdigit():
                title = text_of(row, "facet") or text_of(row, "task")
                yield self.record("finding", run_id, "finding", int(number), text, title=title, role=text_of(row, "role"))


def load_run(folder: Path, notes: Notes, poll: Callable[[], None]) -> RunFacts:
    """The facts of a run: its snapshot, and what the journal says since.

    Raises:
        OSError: a file cannot be read, or is none.
    """
    if folder.is_symlink():
        raise NotRegularError("the run's folder is a link")
    facts = RunFacts()
    with contextlib.suppress(FileNotFoundError):
        _take_snapshot(facts, read_text(folder / SNAPSHOT, notes), notes)
    journal = folder / JOURNAL
    try:
        size = journal.lstat().st_size
    except FileNotFoundError:
        return facts
    if size > facts.offset:
        _take_journal(facts, journal, notes, poll)
    return facts


def journal_records(
    folder: Path, facts: RunFacts, run_id: str, kinds: frozenset[Kind], notes: Notes, poll: Callable[[], None]
) -> Iterator[Record]:
    """What tools answered and models said in a run.

    Raises:
        OSError: the journal cannot be read.
    """
    try:
        found = blocks(folder / JOURNAL, notes, poll)
        for block in found:
            for number, line in enumerate(block.data.split(b"\n"), block.first):
                row = row_of(line + b"\n", notes) if any(mark in line for mark in _TALK) else None
                record = _talk(row, facts, run_id, number, kinds) if row is not None else None
                if record is not None:
                    yield record
    except FileNotFoundError:
        return


def finding_text(row: Object) -> str:
    """The claims of a finding, one a line; of a lead, what it says."""
    claims = row.get("claims")
    listed: list[Any] = cast("list[Any]", claims) if isinstance(claims, list) else []
    texts = [text_of(cast("dict[str, Any]", claim), "text") for claim in listed if isinstance(claim, dict)]
    return sound("\n".join(text for text in texts if text) or text_of(row, "summary"))


def text_of(row: Object, name: str) -> str:
    """A text of an object; empty where there is none."""
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _talk(row: Object, facts: RunFacts, run_id: str, number: int, kinds: frozenset[Kind]) -> Record | None:
    text, when = sound(text_of(row, "text")), instant_of(row.get("ts"))
    if row.get("type") == "tool_returned" and "tool" in kinds and text:
        return facts.record("tool", run_id, "tool", number, text, title=text_of(row, "tool"), role="tool", ts_us=when)
    role = text_of(row, "role")
    if row.get("type") == "message" and "reasoning" in kinds and role != "User" and text:
        return facts.record("reasoning", run_id, "reasoning", number, text, role=role, ts_us=when)
    return None


def _take_snapshot(facts: RunFacts, text: str, notes: Notes) -> None:
    if len(text) >= MAX_TEXT_BYTES:
        return
    data = row_of(text.encode("utf-8", "replace") + b"\n", notes)
    state = data.get("state") if data is not None else None
    if data is None or not isinstance(state, dict):
        return
    whole = cast("dict[str, Any]", state)
    _take_facts(facts, whole)
    facts.snapshot = facts.known
    offset = data.get("offset")
    facts.offset = offset if isinstance(offset, int) and offset > 0 else 0
    seconds = whole.get("seconds")
    if facts.started is not None and isinstance(seconds, int | float):
        facts.ended = facts.started + int(seconds * 1_000_000)
    for name, kept in (("findings", facts.findings), ("sources", facts.sources)):
        rows = whole.get(name)
        if isinstance(rows, dict):
            kept.update(
                {key: cast("dict[str, Any]", value) for key, value in cast("dict[str, Any]", rows).items() if isinstance(value, dict)}
            )


def _take_facts(facts: RunFacts, row: Object) -> None:
    facts.known = bool(text_of(row, "run_id"))
    facts.session_id = canonical_session(row.get("session_id"))
    facts.model, facts.style, facts.depth = text_of(row, "model"), text_of(row, "style"), text_of(row, "depth")
    facts.started = instant_of(row.get("started_at", row.get("ts")))
    facts.ended = facts.started


def _take_journal(facts: RunFacts, journal: Path, notes: Notes, poll: Callable[[], None]) -> None:
    """What the journal adds to the snapshot."""
    for block in blocks(journal, notes, poll, start=facts.offset, first=1 if facts.offset else 0):
        for line in block.data.split(b"\n"):
            if not any(mark in line for mark in _TOLD):
                continue
            row = row_of(line + b"\n", notes)
            if row is not None:
                _take_event(facts, row)


def _take_event(facts: RunFacts, row: Object) -> None:
    kind = row.get("type")
    if kind == "run_started":
        _take_facts(facts, row)
    elif kind == "run_ended":
        facts.ended = instant_of(row.get("ts")) or facts.ended
    elif kind in {"finding_added", "source_added"}:
        name = "finding" if kind == "finding_added" else "source"
        kept = facts.findings if name == "finding" else facts.sources
        given = row.get(name)
        if isinstance(given, dict):
            kept[text_of(cast("dict[str, Any]", given), "id")] = cast("dict[str, Any]", given)

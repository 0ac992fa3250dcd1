"""Where history stands, and how records come out of it: the prompt history, transcripts, and what runs have left."""

import contextlib
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

from deepdelve.engine.history.files import Notes, NotRegularError, Row, blocks, read_text, row_of, sound
from deepdelve.engine.history.match import Prefilter
from deepdelve.engine.history.query import Kind
from deepdelve.engine.history.records import Record, canonical_session, instant_of
from deepdelve.engine.history.runfiles import LEAVINGS, RunFacts, journal_records, load_run, text_of

SourceKind = Literal["history", "transcript", "run"]
_ROLES: Mapping[str, Kind] = {"user": "prompt", "assistant": "reply", "tool": "tool"}
_RUN_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}")
_SOURCE_FILE = re.compile(r"sources/S\d{1,6}\.md")
# A line's end that is not between two objects; beginning with one byte, it is looked for from line end to line end.
_UNCLOSED = re.compile(rb"\n(?:(?!\{)|(?<!\}\n))")
_REBUILT = b'"rebuilt"'

Words = Callable[[str], tuple[bytes, ...]]


@dataclass(frozen=True)
class Roots:
    """The folder of everything that is kept."""

    home: Path

    @property
    def history(self) -> Path:
        """The prompt history."""
        return self.home / "history.jsonl"

    @property
    def sessions(self) -> Path:
        """The folder of transcripts."""
        return self.home / "sessions"

    @property
    def runs(self) -> Path:
        """The folder of runs."""
        return self.home / "runs"

    @property
    def index(self) -> Path:
        """The index, which may be deleted at any time."""
        return self.home / "index" / "history.db"


@dataclass(frozen=True)
class Source:
    """A file or run folder that a search may read.

    Attributes:
        name: the session or run id.
        place: the path, as text: of 100,000 sources few are opened.
        require: the session that it must belong to.
    """

    kind: SourceKind
    name: str
    place: str
    require: str = ""

    @cached_property
    def path(self) -> Path:
        """Where it stands."""
        return Path(self.place)

    @cached_property
    def key(self) -> str:
        """Names the source within one search and in the index."""
        return f"{self.kind}:{self.place.rpartition(os.sep)[2]}"


@dataclass(frozen=True)
class Wants:
    """What a reading is for. Lines that ``strict`` leaves out are not parsed, save those with one of the ``missing`` words."""

    kinds: frozenset[Kind]
    strict: Prefilter
    missing: Words | None = None


@dataclass
class Reader:
    """Reads sources for one search; what a run says of itself is read once."""

    roots: Roots
    wants: Wants
    poll: Callable[[], None]
    facts: dict[str, RunFacts] = field(default_factory=dict[str, RunFacts])

    def records(self, source: Source, notes: Notes) -> Iterator[Record]:
        """The records of a source that may match.

        Raises:
            OSError: it cannot be read.
        """
        if source.kind == "history":
            return self._prompts(source, notes)
        return self._turns(source, notes) if source.kind == "transcript" else self._leavings(source, notes)

    def run_facts(self, run_id: str) -> RunFacts | None:
        """What a run says of itself; None where it cannot be had."""
        if run_id not in self.facts:
            try:
                self.facts[run_id] = load_run(self.roots.runs / run_id, Notes(), self.poll) if _RUN_NAME.fullmatch(run_id) else RunFacts()
            except OSError:
                self.facts[run_id] = RunFacts()
        found = self.facts[run_id]
        return found if found.known else None

    def _lines(self, path: str, notes: Notes, session: str = "") -> Generator[tuple[int, Row]]:
        """The rows of a file that may match, with their line numbers."""
        for block in blocks(path, notes, self.poll):
            first, data = block.first, block.data
            if first == 0:
                # The first line may be the header that names the session, so it is read in any case.
                cut = data.find(b"\n") + 1 or len(data)
                head, first, data = row_of(data[:cut], notes), 1, data[cut:]
                if head is not None:
                    yield 0, head
            for number, line in self._unpassed(data, first, notes, session):
                row = row_of(line, notes)
                if row is not None:
                    yield number, row

    def _unpassed(self, data: bytes, first: int, notes: Notes, session: str) -> Iterator[tuple[int, bytes]]:
        """The lines of a block that must be parsed. Lines can be left out only where each line of the block looks like an object."""
        strict = self.wants.strict
        testing = bool(strict) and _all_closed(data)
        low = data.lower() if testing else b""
        if testing and strict.excludes(data, low) and not self._wanted(low, session) and _REBUILT not in data:
            notes.records += data.count(b'"text"')
            return
        parts = data.split(b"\n")
        lower = low.split(b"\n") if testing else parts
        for number, (line, compared) in enumerate(zip(parts, lower, strict=True), first):
            if testing and strict.excludes(line, compared) and not self._wanted(compared, session) and _REBUILT not in line:
                notes.records += b'"text"' in line
            elif number - first < len(parts) - 1:
                yield number, line + b"\n"
            elif line:
                yield number, line

    def _wanted(self, low: bytes, session: str) -> bool:
        """Whether lines hold a word that their conversation has not shown yet."""
        return self.wants.missing is not None and any(word in low for word in self.wants.missing(session))

    def _prompts(self, source: Source, notes: Notes) -> Iterator[Record]:
        for number, row in self._lines(source.place, notes):
            if row.get("type") == "rebuilt":
                before = row.get("incomplete_before")
                if isinstance(before, str) and instant_of(before) is not None:
                    notes.codes[f"history_incomplete_before:{before[:10]}"] += 1
                continue
            text = row.get("text")
            if not isinstance(text, str):
                notes.codes["malformed_records"] += "type" not in row
                continue
            notes.records += 1
            given = row.get("meta")
            meta: Mapping[str, Any] = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
            yield Record(
                "prompt",
                canonical_session(row.get("session_id")),
                text_of(row, "run_id"),
                instant_of(row.get("ts")),
                sound(text),
                "history",
                number,
                role="user",
                model=text_of(meta, "model"),
                style=text_of(meta, "style"),
                depth=text_of(meta, "depth"),
            )

    def _turns(self, source: Source, notes: Notes) -> Iterator[Record]:
        for number, row in self._lines(source.place, notes, source.name):
            if number == 0 and (row.get("type") != "session" or canonical_session(row.get("session_id")) != source.name):
                notes.codes["header_mismatch"] += 1
            if "type" in row:
                continue
            text, role = row.get("text"), row.get("role")
            if not isinstance(text, str) or not isinstance(role, str):
                notes.codes["malformed_records"] += 1
                continue
            # A role that is not ours is somebody who answers.
            kind = _ROLES.get(role, "reply")
            notes.records += 1
            if kind in self.wants.kinds:
                run_id, when = text_of(row, "run_id"), instant_of(row.get("ts"))
                yield Record(kind, source.name, run_id, when, sound(text), "transcript", number, role=sound(role))

    def _leavings(self, source: Source, notes: Notes) -> Iterator[Record]:
        facts = self.facts[source.name] = load_run(source.path, notes, self.poll)
        if source.require and (not facts.snapshot or facts.session_id != source.require):
            notes.codes["header_mismatch"] += 1
            return
        for record in self._of_run(source, facts, notes):
            notes.records += 1
            yield record

    def _of_run(self, source: Source, facts: RunFacts, notes: Notes) -> Iterator[Record]:
        kinds = self.wants.kinds
        if "finding" in kinds:
            yield from facts.finding_records(source.name)
        self.poll()
        if "report" in kinds and (text := _optional(source.path / "final_report.md", notes)):
            yield facts.record("report", source.name, "report", 0, text, title=_heading(text), role="assistant")
        if "source" in kinds:
            yield from self._pages(source, facts, notes)
        if kinds & {"tool", "reasoning"}:
            yield from journal_records(source.path, facts, source.name, kinds, notes, self.poll)

    def _pages(self, source: Source, facts: RunFacts, notes: Notes) -> Iterator[Record]:
        if (source.path / "sources").is_symlink():
            raise NotRegularError("the folder of stored pages is a link")
        for row in facts.sources.values():
            self.poll()
            file, number = text_of(row, "file"), text_of(row, "id").removeprefix("S")
            if not _SOURCE_FILE.fullmatch(file) or not (number.isascii() and number.isdigit()):
                continue
            text = _optional(source.path / file, notes)
            when = instant_of(row.get("fetched_at"))
            title, url = text_of(row, "title"), text_of(row, "final_url") or text_of(row, "url")
            if text:
                yield facts.record("source", source.name, "source", int(number), text, title=title, ts_us=when or facts.ended, url=url)


def discover(roots: Roots, *, transcripts: bool, runs: bool, poll: Callable[[], None]) -> list[Source]:
    """Every transcript and run folder, whatever it is: what it turns out to be is found when it is opened.

    Raises:
        OSError: a folder cannot be listed.
    """
    found: list[Source] = []
    if transcripts:
        for entry in _entries(roots.sessions, poll):
            session = session_of(entry.name)
            if session:
                found.append(Source("transcript", session, entry.path))
    if runs:
        for entry in _entries(roots.runs, poll):
            if _RUN_NAME.fullmatch(entry.name) and (entry.is_symlink() or entry.is_dir()):
                found.append(Source("run", entry.name, entry.path))
    return found


def history_source(roots: Roots) -> Source:
    """The prompt history."""
    return Source("history", "", str(roots.history))


def session_of(name: str) -> str:
    """The session that a transcript's file name names; empty where it names none."""
    return canonical_session(name[8:-6]) if name.startswith("session_") and name.endswith(".jsonl") else ""


def state_of(source: Source) -> str:
    """The state of a source's files, without opening them: as their stamps tell it, one behind the other."""
    places = [f"{source.place}{os.sep}{name}" for name in LEAVINGS] if source.kind == "run" else [source.place]
    found: list[str] = []
    for place in places:
        with contextlib.suppress(OSError):
            state = os.lstat(place)
            found.append(f"{place.rpartition(os.sep)[2]} {state.st_size} {state.st_mtime_ns}")
    return "/".join(found)


def _entries(folder: Path, poll: Callable[[], None]) -> Iterator["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries):
                if number % 256 == 0:
                    poll()
                yield entry
    except FileNotFoundError:
        return


def _optional(path: Path, notes: Notes) -> str:
    try:
        return sound(read_text(path, notes))
    except FileNotFoundError:
        return ""


def _all_closed(data: bytes) -> bool:
    """Whether each line of a block looks like an object: only such lines may be left out unread."""
    if not data.startswith(b"{") or not data.endswith(b"}\n"):
        return False
    return _UNCLOSED.search(data, 0, len(data) - 1) is None


def _heading(text: str) -> str:
    first = text.lstrip()[:300].split("\n", 1)[0]
    return first.lstrip("# ").strip()[:200]

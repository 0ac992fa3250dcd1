"""A run: its folder, event log, state, sources, and the one queue through which a person steers it."""

import asyncio
import hashlib
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ParamSpec, TypeVar

from deepdelve.core import events as ev
from deepdelve.core.errors import DiskError, StateError
from deepdelve.core.records import Finding, Hit, Source
from deepdelve.core.requests import Command
from deepdelve.engine import store
from deepdelve.engine.budget import Budget, RunClock
from deepdelve.engine.journal import JOURNAL, Journal
from deepdelve.engine.lease import Lease
from deepdelve.utils.files import write_bytes_atomic, write_text_atomic
from deepdelve.utils.run_state import RunState, apply
from deepdelve.utils.secrets import Mask
from deepdelve.utils.urls import canonical, registrable_domain

log = logging.getLogger(__name__)

# How often, and how many times, a run that waits for room on the disk looks again: 10 minutes in all.
ROOM_WAIT_SECONDS = 5.0
ROOM_TRIES = 120
# How many of the claims that fall with a dropped source are named.
NAMED_CLAIMS = 8

P = ParamSpec("P")
T = TypeVar("T")
Listener = Callable[[ev.Event], None]
_ORIGINAL_SUFFIX = {"html": ".html", "pdf": ".pdf"}


class Run:
    """One run in this process. Implements ``core.scope.RunPort``."""

    def __init__(self, folder: Path, state: RunState, budget: Budget) -> None:
        self.dir = folder
        self.run_id = folder.name
        self.state = state
        self.budget = budget
        self.clock = RunClock(budget.seconds)
        self.nonce = secrets.token_hex(4)
        self.journal = Journal(folder / JOURNAL)
        self.lease = Lease(folder)
        self.commands: deque[Command] = deque()
        self.read_before: frozenset[tuple[str, str]] = frozenset()
        self.planner_rounds = 0
        self.research_closed = ""
        self._tokens_before = state.all_tokens()
        self._last_ts = 0.0
        self._waiting = 0
        self._gave_up = False
        self.verdict_detail = ""
        self.mask = Mask(())
        self._listeners: list[Listener] = []
        self._conversations: dict[str, list[ev.Event]] = {}
        self._allowed: set[str] = set()
        self._domains: set[str] = set()
        self._by_url: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._task: asyncio.Task[object] | None = None
        for source in state.sources.values():
            self._index_source(source)

    # Events

    def listen(self, listener: Listener) -> None:
        """Hand every later event to this function, in order."""
        self._listeners.append(listener)

    def emit(self, event: ev.Event) -> None:
        """Journal the event, fold it into the state and hand it to every surface.

        Raises:
            DiskError: it could not be journaled; then nothing has changed. A full disk does not raise: see ``room``.
        """
        if event.type in ev.DELTA_TYPES:  # type: ignore[attr-defined]  # every concrete event has a type
            self.tell(event)
            return
        # A clock that is set back must not turn the order of events around.
        self._last_ts = max(self._last_ts, time.time())
        numbered = self._without_keys(event.model_copy(update={"seq": self.state.last_seq + 1, "ts": self._last_ts}))
        self.journal.append(numbered)
        apply(self.state, numbered)
        if isinstance(numbered, ev.Message | ev.ToolCalled | ev.ToolReturned | ev.ToolRefused):
            self._conversations.setdefault(numbered.dispatch, []).append(numbered)
        self.tell(numbered)

    def masked(self, text: str) -> str:
        """The text without the keys that this run knows."""
        return self.mask.known(text)

    def _without_keys(self, event: ev.Event) -> ev.Event:
        if self.mask.empty:
            return event
        line = event.model_dump_json()
        masked = self.mask.known(line)
        return event if masked == line else ev.parse_event(masked)

    def notice(self, text: str, *, level: str = "info", code: str = "") -> None:
        """Tell a person something in one line."""
        self.emit(ev.Notice(level=level, text=text, code=code))  # type: ignore[arg-type]  # checked by the model

    def checkpoint(self) -> None:
        """At the end of a turn: force the log to the disk and write the snapshot beside it.

        The snapshot only saves reading the log: while there is no room, it is left as it is.

        Raises:
            DiskError: the log cannot be forced to the disk, or its folder is gone.
        """
        if self.journal.waiting is not None:
            return
        self.journal.check()
        self.journal.sync()
        try:
            store.save_snapshot(self.dir, self.state, self.journal.offset)
        except DiskError as error:
            if not error.no_room:
                raise
            log.warning("%s", error.line())

    def tokens_spent(self) -> int:
        """Tokens that this process has spent on the run, in and out; a resumed run has its whole budget anew, as with its time."""
        return self.state.all_tokens() - self._tokens_before

    def out_of_tokens(self) -> bool:
        """Whether the token budget is used up."""
        return bool(self.budget.tokens) and self.tokens_spent() >= self.budget.tokens

    # Room on the disk

    async def room(self) -> None:
        """Where events wait because the disk is full: let the run wait with them.

        Raises:
            DiskError: there was no room for too long.
        """
        if self.journal.waiting is not None:
            await self.keep(self.journal.flush)

    async def keep(self, write: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Carry out a write; where the disk is full, wait for room and try again. All clocks stand still meanwhile.

        Raises:
            DiskError: it cannot be written, or there was no room for too long.
        """
        try:
            self.journal.check()
            return write(*args, **kwargs)
        except DiskError as error:
            if not error.no_room or self._gave_up:
                raise
            return await self._when_room(error, write, *args, **kwargs)

    async def keep_in_thread(self, write: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As ``keep``, with the first try off the event loop."""
        try:
            self.journal.check()
            return await asyncio.to_thread(write, *args, **kwargs)
        except DiskError as error:
            if not error.no_room or self._gave_up:
                raise
            return await self._when_room(error, write, *args, **kwargs)

    async def _when_room(self, problem: DiskError, write: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if not self._waiting:
            self.tell(ev.Notice(level="warning", code="disk_full", text=f"{problem.message} The run waits until there is some."))
        self._waiting += 1
        try:
            async with self.clock.human_waiting():
                for _ in range(ROOM_TRIES):
                    await asyncio.sleep(ROOM_WAIT_SECONDS)
                    try:
                        done = write(*args, **kwargs)
                    except DiskError as error:
                        problem = error
                        continue
                    self.notice("There is room on the disk again; the run goes on.", code="disk_room")
                    return done
        finally:
            self._waiting -= 1
        self._gave_up = True
        raise problem

    def conversation(self, dispatch: str) -> list[ev.Event]:
        """Messages, tool calls and tool results of one dispatch (empty: the Planner), in order."""
        return self._conversations.get(dispatch, [])

    def forget_conversation(self, dispatch: str) -> None:
        """Drop a finished dispatch's conversation from memory; the journal keeps it."""
        self._conversations.pop(dispatch, None)

    # Sources

    def source(self, source_id: str) -> Source | None:
        """The newest record of a source, or None."""
        return self.state.sources.get(source_id)

    def source_by_url(self, url: str) -> Source | None:
        """The source stored under this canonical address, or None."""
        return self.state.sources.get(self._by_url.get(canonical(url), ""))

    def add_source(self, source: Source, text: str, original: bytes | None = None) -> Source:
        """Give the source an id, store its text and record it; the same address keeps its id.

        Raises:
            DiskError: the text could not be stored.
        """
        old = self.source_by_url(source.url)
        source_id = old.id if old else f"S{len(self.state.sources) + 1}"
        update: dict[str, object] = {"id": source_id}
        if text:
            update |= {
                "file": f"sources/{source_id}.md",
                "chars": len(text),
                "sha256": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
            }
            write_text_atomic(self.dir / "sources" / f"{source_id}.md", text)
            self._texts[source_id] = text
        if original is not None and source.kind in _ORIGINAL_SUFFIX:
            write_bytes_atomic(self.dir / "sources" / f"{source_id}{_ORIGINAL_SUFFIX[source.kind]}", original)
        recorded = source.model_copy(update=update)
        self.emit(ev.SourceAdded(source=recorded))
        self._index_source(recorded)
        return recorded

    def read_source(self, source_id: str) -> str:
        """The stored text of a source; empty where there is none."""
        if source_id not in self._texts:
            source = self.source(source_id)
            path = self.dir / source.file if source and source.file else None
            self._texts[source_id] = path.read_text("utf-8", "replace") if path and path.is_file() else ""
        return self._texts[source_id]

    def texts(self, source_ids: Iterable[str]) -> dict[str, str]:
        """Stored texts by source id; sources without text are left out."""
        found = {source_id: self.read_source(source_id) for source_id in source_ids}
        return {source_id: text for source_id, text in found.items() if text}

    def note_hits(self, hits: list[Hit]) -> None:
        """Remember addresses that search returned: those may be fetched."""
        self._allowed.update(canonical(hit.url) for hit in hits)

    def allow(self, urls: Iterable[str]) -> None:
        """Remember addresses that the person named: those may be fetched."""
        self._allowed.update(canonical(url) for url in urls)

    def may_fetch(self, url: str) -> bool:
        """Whether search returned it, the person named it, or it shares the registrable domain of a fetched page."""
        return canonical(url) in self._allowed or registrable_domain(url) in self._domains

    def _index_source(self, source: Source) -> None:
        for url in filter(None, (source.url, source.final_url)):
            self._by_url.setdefault(canonical(url), source.id)
            self._allowed.add(canonical(url))
        domain = registrable_domain(source.final_url or source.url)
        if source.state == "ok" and domain:
            self._domains.add(domain)

    # Findings

    def add_findings(self, findings: Iterable[Finding]) -> list[Finding]:
        """Give findings their ids and record them."""
        recorded: list[Finding] = []
        for finding in findings:
            numbered = finding.model_copy(update={"id": f"F{len(self.state.findings) + 1}"})
            self.emit(ev.FindingAdded(finding=numbered))
            recorded.append(numbered)
        return recorded

    # Steering

    def bind(self, task: asyncio.Task[object]) -> None:
        """The task that a stop cancels."""
        self._task = task

    def command(self, command: Command) -> None:
        """Queue what a person wants; a stop takes effect at once."""
        if command.kind == "stop":
            if self._task is not None and not self._task.done():
                self._task.cancel("stopped by the person")
            return
        self.commands.append(command)

    def take_commands(self) -> list[str]:
        """Carry out queued commands; returns new instructions, in words for the next agent."""
        instructions: list[str] = []
        while self.commands:
            command = self.commands.popleft()
            if command.kind == "drop_source":
                self.drop_source(command.text)
                continue
            text = command.text if command.kind == "instruction" else f"Say more about: {command.text}"
            self.emit(ev.Steered(text=text, kind=command.kind))
            instructions.append(text)
        return instructions

    def drop_source(self, source_id: str) -> None:
        """Exclude a source from now on; a wrong id is said, not ignored."""
        name = source_id.strip().upper()
        name = name if name.startswith("S") else f"S{name}"
        if name not in self.state.sources:
            self.notice(f"There is no source {source_id[:20]}.", level="warning", code="unknown_source")
            return
        self.emit(ev.Steered(text=f"Drop source {name}", kind="drop_source"))
        self.emit(ev.SourceDropped(source_id=name, reason="dropped by the person"))
        fallen = list(dict.fromkeys(c.text for f in self.state.findings.values() if f.source_id == name for c in f.claims))
        named = "; ".join(f"“{' '.join(claim.split())[:160]}”" for claim in fallen[:NAMED_CLAIMS])
        more = f"; and {len(fallen) - NAMED_CLAIMS} more" if len(fallen) > NAMED_CLAIMS else ""
        what = f"claims that fall with it: {len(fallen)} ({named}{more})" if fallen else "no claim falls with it"
        self.notice(f"Source {name} is dropped; {what}.", code="source_dropped")

    # Files

    def read_file(self, name: str) -> str:
        """A text file of the run folder; empty where there is none."""
        path = self.dir / name
        return path.read_text("utf-8", "replace") if path.is_file() else ""

    def close(self) -> None:
        """Let go of the log and of the lease."""
        self.journal.close()
        self.lease.release()

    def tell(self, event: ev.Event) -> None:
        """Hand an event to every surface and to nobody else."""
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a surface failed on an event")


def leased(folder: Path, budget: Budget) -> Run:
    """An existing run, its state read once nobody else can change it any more.

    Raises:
        RunBusyError: another process works on it.
        StateError: it cannot be read.
    """
    lease = Lease(folder)
    lease.take()
    try:
        run = Run(folder, store.load_state(folder), budget)
    except StateError:
        lease.release()
        raise
    run.lease = lease
    return run

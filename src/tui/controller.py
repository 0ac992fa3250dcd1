"""Starts, stops, resumes and asks: what the person wants, said to the engine. Knows no widget; the screen is behind ``Front``."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from deepdelve.config import Settings
from deepdelve.core.errors import DeepDelveError, RunNotFoundError, UsageError
from deepdelve.core.events import Answered, Asked, Event, Notice, RunEnded
from deepdelve.core.records import Claim
from deepdelve.core.requests import Command, RunHandle, RunRequest, RunResult, RunSummary
from deepdelve.tui.engine_api import EngineApi, Finishing
from deepdelve.tui.handler import EventHandler
from deepdelve.tui.text import count, one_line
from deepdelve.tui.view import replay, said
from deepdelve.tui.view_state import ViewState, with_claims

Level = Literal["info", "warning", "error"]
T = TypeVar("T")
# Searches of the history do not belong into it: each would find itself.
LOOKING = {"/search", "/deep", "/exhaustive", "/open"}
LIST_SETTINGS = {"search.corpus", "search.blocked_domains"}


class Front(Protocol):
    """What the controller asks of the app."""

    def work(self, job: Awaitable[None], group: str) -> None:
        """Run a job in the background; an error in it becomes a message."""
        ...

    def open_screen(self, name: str, **details: Any) -> None:
        """Open a screen (or a sidebar tab) by name."""
        ...

    def run_finished(self, report: bool) -> None:
        """The run that went on here has ended."""
        ...

    def set_theme(self, name: str) -> None:
        """Change colours.

        Raises:
            UsageError: no such theme; names the nearest.
        """
        ...

    def leave(self) -> None:
        """Close the app."""
        ...


@dataclass(frozen=True)
class Inputs:
    """What the next run reads besides the web."""

    corpus: tuple[str, ...] = ()
    seed_docs: tuple[str, ...] = ()
    seed_urls: tuple[str, ...] = ()
    evidence_dir: str = ""


class Controller:
    """One per app, and the ``Surface`` of its runs. ``settings`` are those of this session; changes by command last until the app closes.

    Args:
        load: imports the engine; called once, after the first frame.
        clock: POSIX seconds.
    """

    kind = "tui"
    takes_questions = True

    def __init__(
        self,
        front: Front,
        handler: EventHandler,
        settings: Settings,
        load: Callable[[], Awaitable[EngineApi]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.front = front
        self.handler = handler
        self.settings = settings
        self.inputs = Inputs()
        self.clock = clock
        self.session_id = ""
        self.loaded: EngineApi | None = None
        self._read_again: Callable[[], Settings] | None = None
        self._load = load
        self._loading: asyncio.Task[EngineApi] | None = None
        self._handle: RunHandle | None = None
        self._asking = False
        self._stopping = False
        self._starting: asyncio.Future[RunHandle] | None = None
        self._turn = asyncio.Lock()
        self._answers: dict[str, asyncio.Future[dict[str, Any]]] = {}

    @property
    def state(self) -> ViewState:
        """The view as of the last event."""
        return self.handler.state

    def note(self, text: str) -> None:
        """Adds a typed command or instruction to the prompt history; questions come there with their run."""
        command = text.startswith("/")
        if text.split(maxsplit=1)[0] in LOOKING if command else not self.busy or self._asking:
            return
        write = getattr(self.loaded, "note_prompt", None)
        if write is not None:
            kind = "command" if command else "followup"
            facts = {"session_id": self.session_id, "surface": self.kind, "kind": kind}
            self.front.work(asyncio.to_thread(write, text, self.settings, **facts), "note")

    @property
    def busy(self) -> bool:
        """Whether a run or a follow-up goes on."""
        return self._handle is not None

    def say(self, text: str, level: Level = "info") -> None:
        """One notice in the transcript."""
        self.handler.post(Notice(ts=self.clock(), level=level, text=text))

    def fail(self, error: BaseException) -> None:
        """An error as one line in the transcript."""
        if isinstance(error, DeepDelveError):
            self.say(error.line(), "error")
        else:
            self.say(f"That did not work ({type(error).__name__}: {one_line(str(error), 200)}). Nothing was lost; try again.", "error")

    def without_settings(self, fault: DeepDelveError, read: Callable[[], Settings]) -> None:
        """Says that the settings cannot be read. Nothing is researched by settings that the person did not choose."""
        self._read_again = read
        self.say(f"{fault.line()} The app shows with the defaults; the settings are read again before anything is researched.", "error")

    async def read_settings(self) -> None:
        """Reads the settings, where that could not be done at the start.

        Raises:
            DeepDelveError: they still cannot be read.
        """
        if self._read_again is None:
            return
        self.settings = await self.call(self._read_again)
        self._read_again = None
        self.front.set_theme(self.settings.ui.theme)
        self.say("The settings can be read again, and are in force.")

    async def engine(self) -> EngineApi:
        """The engine, once it is imported.

        Raises:
            DeepDelveError: it cannot be imported.
        """
        if self._loading is None:
            self._loading = asyncio.ensure_future(self._load_once())
        return await asyncio.shield(self._loading)

    async def _load_once(self) -> EngineApi:
        try:
            self.loaded = await self._load()
        except ImportError as error:
            raise DeepDelveError(f"The engine cannot be loaded ({one_line(str(error), 200)}).", "Install deepdelve again.") from error
        return self.loaded

    async def look_ahead(self) -> None:
        """Says what would keep a run from starting, before there is one."""
        look = getattr(await self.engine(), "at_opening", None)
        for line in await look(self.settings) if look is not None else ():
            self.say(line, "warning")

    async def call(self, function: Callable[..., T], *args: Any) -> T:
        """A function of the engine that reads or writes files, off the event loop."""
        return await asyncio.to_thread(function, *args)

    async def submit(self, text: str) -> None:
        """A message of the person: a steer while research goes on, else a question on the report, else a new run.

        Messages are taken one after the other, so that one sent while a run is being started becomes a steer of it.
        """
        async with self._turn:
            await self._submit(text)

    async def _submit(self, text: str) -> None:
        if self.busy:
            if self._asking:
                raise UsageError("The answer to your last question is still being written.", "Wait for it, or stop it with Esc.")
            self.steer(text)
            return
        await self.read_settings()
        state = self.state
        if state.run_id and not state.report:
            await self._take_up(state.run_id)
            self.steer(text)
            return
        self.handler.change(lambda newest: said(newest, text))
        engine = await self.engine()
        if state.report:
            await self._follow(engine.ask(state.run_id, text, self.settings, self), asking=True)
        else:
            await self._start(engine, text)

    async def _start(self, engine: EngineApi, question: str) -> None:
        if not self.session_id:
            self.session_id = await self.call(engine.new_session)
        request = RunRequest(
            question=question,
            session_id=self.session_id,
            surface="tui",
            corpus=self.inputs.corpus,
            seed_docs=(*self.inputs.seed_docs, *await self.call(named_files, question)),
            seed_urls=self.inputs.seed_urls,
            evidence_dir=self.inputs.evidence_dir,
        )
        await self._follow(engine.start(request, self.settings, self))

    async def _take_up(self, run_id: str) -> None:
        engine = await self.engine()
        if not hasattr(engine, "resume"):
            raise UsageError("This engine cannot take runs up again.", "Ask the question anew with /new.")
        await self._follow(engine.resume(run_id, self.settings, self))

    def steer(self, text: str, kind: Literal["instruction", "drop_source"] = "instruction") -> None:
        """Hands an instruction to the run that goes on.

        Raises:
            UsageError: none goes on.
        """
        if self._handle is None or self._asking:
            raise UsageError("No research goes on that could be steered.", "Ask a question first.")
        self._handle.command(Command(kind, text))
        if kind == "instruction":
            self.say(f"Queued for the next turn: {text}")

    def stop(self) -> bool:
        """Stops what goes on; says whether anything did."""
        if self._handle is None:
            if self._starting is None:
                return False
            self._stopping = True
            self._starting.cancel()
            return True
        self._stopping = True
        self._handle.command(Command("stop"))
        return True

    async def new(self) -> None:
        """An empty transcript and a new session.

        Raises:
            UsageError: a run goes on.
        """
        self._idle("start afresh")
        self.session_id = ""
        self.handler.replace(ViewState())

    async def resume_run(self, wanted: str) -> None:
        """Takes up a run: the named one, or the newest that has no verified report."""
        self._idle("resume another run")
        await self.read_settings()
        run = await self.find_run(wanted, unfinished=True)
        await self.show_run(run.run_id)
        await self._take_up(run.run_id)

    async def finish(self) -> None:
        """Asks for an honest report from what the stopped run has."""
        self._idle("write a partial report")
        if not self.state.run_id:
            raise UsageError("There is no run to write up.", "Open one with /runs.")
        await self.read_settings()
        engine = await self.engine()
        run_id = self.state.run_id
        self._begin(Finishing(run_id, engine.finish(run_id, self.settings, self)))

    async def show_run(self, run_id: str) -> None:
        """The transcript of a saved run, from its events."""
        self._idle("open another run")
        engine = await self.engine()
        events, claims = await self.call(engine.load_events, run_id), await self.call(engine.claims, run_id)
        state = await asyncio.to_thread(replay, events)
        self.session_id = state.session_id or self.session_id
        self.handler.replace(with_claims(state, claims))

    async def resume_session(self, wanted: str) -> None:
        """Opens a session, the newest where none is named: all its runs, one after the other."""
        self._idle("open a session")
        engine = await self.engine()
        session = _pick(await self.call(engine.list_sessions), wanted, lambda item: item.session_id, "session")
        state, claims, lost = ViewState(), list[Claim](), list[str]()
        for run_id in session.runs:
            try:
                events, claims = await self.call(engine.load_events, run_id), await self.call(engine.claims, run_id)
            except DeepDelveError as error:
                lost.append(error.line())
                continue
            state = await asyncio.to_thread(replay, events, state)
        self.session_id = session.session_id
        self.handler.replace(with_claims(state, claims))
        for line in lost:
            self.say(line, "warning")

    async def set_setting(self, key: str, value: str) -> None:
        """Writes a setting to the user's file; of this session's own changes all others stay.

        Raises:
            ConfigError: the key or the value is wrong.
        """
        engine = await self.engine()
        typed = [part.strip() for part in value.split(",") if part.strip()] if key in LIST_SETTINGS else value
        written = await self.call(engine.set_setting, key, typed)
        *groups, leaf = key.split(".")
        copy = self.settings.model_copy(deep=True)
        source, target = written, copy
        for name in groups:
            source, target = getattr(source, name), getattr(target, name)
        setattr(target, leaf, getattr(source, leaf))
        self.settings = copy

    async def export(self, run_id: str, wanted: str) -> None:
        """Writes a run's report in another format and says where."""
        engine = await self.engine()
        made = await self.call(engine.export, run_id, wanted)
        self.say(f"Written: {made.path}{f'. {made.note}' if made.note else ''}", "warning" if made.note else "info")

    async def follow_beside(self, starting: Awaitable[RunHandle]) -> None:
        """Follows something that goes on beside the run shown here; the report stays as it is.

        Raises:
            UsageError: a run goes on.
        """
        self._idle("start this")
        await self._follow(starting, asking=True)

    async def find_run(self, wanted: str = "", unfinished: bool = False) -> RunSummary:
        """The run named by its id or the end of it; else the one shown here; else the newest."""
        engine = await self.engine()
        runs = await self.call(engine.list_runs)
        if not wanted and self.state.run_id and not unfinished:
            wanted = self.state.run_id
        if not wanted and unfinished:
            runs = [run for run in runs if run.outcome != "verified" and not run.live]
            if not runs:
                raise RunNotFoundError("There is no unfinished run.", "/runs lists all.")
        return _pick(runs, wanted, lambda item: item.run_id, "run")

    async def ask(self, asked: Asked) -> dict[str, Any]:
        """Part of ``Surface``: shows the question and waits for the person."""
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[asked.ask_id] = future
        self.handler.post(asked)
        try:
            return await future
        finally:
            self._answers.pop(asked.ask_id, None)

    def answer(self, ask_id: str, answer: dict[str, Any]) -> None:
        """What the person answered to ``ask``."""
        waiting = self._answers.get(ask_id)
        if waiting is not None and not waiting.done():
            self.handler.post(Answered(ts=self.clock(), ask_id=ask_id, answer=answer))
            waiting.set_result(answer)

    def on_event(self, event: Event) -> None:
        """Part of ``Surface``: shows the event."""
        self.handler.post(event)

    def change(self, **inputs: Any) -> None:
        """Changes what the next run reads."""
        self.inputs = replace(self.inputs, **inputs)

    def _idle(self, wish: str) -> None:
        if self.busy:
            raise UsageError(f"A run goes on; to {wish}, stop it first.", "Press Esc or type /stop.")

    async def _follow(self, starting: Awaitable[RunHandle], asking: bool = False) -> None:
        """Remembers what goes on once it has begun, and waits for its end in the background."""
        self._stopping = False
        self._starting = asyncio.ensure_future(starting)
        try:
            handle = await self._starting
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            self.say("Stopped before it began.")
            return
        finally:
            self._starting = None
        self._begin(handle, asking)

    def _begin(self, handle: RunHandle, asking: bool = False) -> None:
        self._handle, self._asking, self._stopping = handle, asking, False
        self.front.work(self._wait(handle, asking), "run")

    async def _wait(self, handle: RunHandle, asking: bool) -> None:
        try:
            await self._ended(handle, asking, await handle.wait())
        except asyncio.CancelledError:
            if not self._stopping:
                raise
            self.say("Stopped; what was there before is unchanged.")
        except Exception as error:
            self.fail(error)
            if not asking:
                reason = "All that was found is kept; /resume-run goes on."
                self.handler.post(RunEnded(ts=self.clock(), outcome="failed", exit=4, reason=reason))
        finally:
            self._handle, self._asking = None, False
        await self.handler.flush()
        if not asking:
            self.front.run_finished(self.state.report)

    async def _ended(self, handle: RunHandle, asking: bool, result: RunResult) -> None:
        """Shows the ledger of a finished run, or says what can be done after a stop."""
        if asking:
            return
        await self.handler.flush()
        engine = await self.engine()
        if self.state.report:
            claims = await self.call(engine.claims, handle.run_id)
            self.handler.change(lambda newest: with_claims(newest, claims))
        elif result.outcome == "stopped":
            kept = count(len(self.state.sources), "source")
            self.say(f"Stopped; {kept} kept. /finish writes an honest partial report, /resume-run goes on with the research.")


def named_files(text: str) -> list[str]:
    """Files that a message names as ``@path``."""
    words = [word[1:].rstrip(".,;:!?)") for word in text.split() if word.startswith("@")][:20]
    paths = [Path(word).expanduser() for word in words if 0 < len(word) < 1_000 and "\0" not in word]
    return [str(path.resolve()) for path in paths if path.is_file()]


def _pick(items: Sequence[T], wanted: str, name: Callable[[T], str], noun: str) -> T:
    """The item of this id, or the only one whose id ends or begins so; the first where nothing is wanted."""
    if not wanted and items:
        return items[0]
    found = [item for item in items if name(item) == wanted] or [
        item for item in items if wanted and (name(item).endswith(wanted) or name(item).startswith(wanted))
    ]
    if len(found) == 1:
        return found[0]
    listing = "/runs" if noun == "run" else "/sessions"
    if not found:
        what = f"There is no {noun} '{one_line(wanted, 60)}'." if wanted else f"There is no {noun} yet."
        raise RunNotFoundError(what, f"{listing} lists them." if wanted else "Ask a question first.")
    raise RunNotFoundError(f"{count(len(found), noun)} fit '{one_line(wanted, 60)}'.", f"Give more of the id; {listing} lists them.")

"""One dispatch of a sub-agent: a fresh context, its own deadline, one retry of what passes, one nudge, everything kept."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from agent_framework import FunctionTool
from agent_framework.exceptions import AgentFrameworkException

from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError, DeepDelveError
from deepdelve.core.records import Role
from deepdelve.engine.agents import make_agent
from deepdelve.engine.budget import RESEARCH_SHARE
from deepdelve.engine.gate import Dispatch, DispatchAbort, RunAbort
from deepdelve.engine.loop import run_agent_loop
from deepdelve.engine.outage import MAX_OUTAGES, WAITS
from deepdelve.engine.roles import READING_TOOLS, ROLES
from deepdelve.engine.run import Run
from deepdelve.engine.services import Services
from deepdelve.engine.surface import RunLoopSurface, TurnResult

log = logging.getLogger(__name__)

TRANSIENT_RETRIES = 1
MAX_WAIT_SECONDS = 30.0
_FIRST_WAIT_SECONDS = 1.0
_MAX_TURNS = 3
_MIN_SECONDS = 0.05
NUDGE = (
    "You called tools and wrote nothing. Write up what you have found now, in the form that your instructions give. "
    "Do not call the same tools again."
)
UNREAD = (
    "You have read none of your sources, so you cannot know what they say. Call read_workspace_file with the name of each now, "
    "then answer in the form that your instructions give."
)
_GO_ON = "The last reply broke off ({reason}). Go on from where you are; what you have done so far stands above."
_CLOSED_QUOTE = re.compile(r"\[S\d{1,6}\]\s?[\"“„«][^\"“”„«»]+[\"”“»]\s?$", re.IGNORECASE)
SHORTER = "Your reply reached the output limit and was cut off. Say the same in less than half the length; keep every id and quote."


@dataclass(frozen=True)
class Request:
    """What is dispatched. ``message`` is all that the agent knows; ``seconds`` overrides the settings' time for a dispatch."""

    role: Role
    message: str
    task: str = ""
    top_task: str = ""
    facet: str = ""
    depth: int = 1
    profile: str = ""
    parent: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Result:
    """How a dispatch ended. ``text`` is its last text, also of one that failed; ``sources`` what it fetched."""

    dispatch: Dispatch
    ok: bool
    text: str
    reason: str = ""
    error: BackendError | None = None


@dataclass
class Dispatcher:
    """Dispatches sub-agents for one run; ``tools`` are all tools by name, ``prefix`` begins the ids of its dispatches."""

    run: Run
    services: Services
    tools: dict[str, FunctionTool] = field(default_factory=dict[str, FunctionTool])
    prefix: str = ""
    _count: int = 0
    _slots: dict[int, asyncio.Semaphore] = field(default_factory=dict[int, asyncio.Semaphore])

    async def dispatch(self, request: Request) -> Result:
        """Run one sub-agent to its end, in a task of its own. Failures come back as a result, never as an exception.

        Raises:
            RunAbort: the run itself cannot go on.
            asyncio.CancelledError: the run was stopped.
        """
        async with self._slot(request.depth):
            self._count += 1
            offset = self.run.state.processes * 1000 if self.run.state.processes > 1 else 0
            entry = Dispatch(
                id=f"{self.prefix}D{offset + self._count}",
                role=request.role,
                task=request.task,
                top_task=request.top_task or request.task,
                facet=request.facet,
                depth=request.depth,
                profile=request.profile,
                parent=request.parent,
            )
            return await asyncio.create_task(self._run(entry, request))

    def seconds_for(self, role: Role, wanted: float | None) -> float:
        """What a dispatch may take: its own limit, within what the run has left; research leaves the writers their share."""
        limit = wanted or self.run.budget.dispatch_seconds
        left = self.run.clock.remaining()
        if ROLES[role].research:
            left -= self.run.budget.seconds * (1 - RESEARCH_SHARE)
        return max(_MIN_SECONDS, min(limit, left))

    def _slot(self, depth: int) -> asyncio.Semaphore:
        # One semaphore a depth: a Searcher that waits for its Analyzer must not hold the place that the Analyzer needs.
        return self._slots.setdefault(depth, asyncio.Semaphore(self.services.settings.settings.concurrency))

    async def _run(self, entry: Dispatch, request: Request) -> Result:
        run = self.run
        seconds = self.seconds_for(request.role, request.seconds)
        started = run.clock.elapsed()
        run.emit(
            ev.DispatchStarted(
                dispatch=entry.id,
                role=entry.role,
                task=entry.task,
                parent=entry.parent,
                profile=entry.profile,
                deadline_s=round(seconds, 1),
            )
        )
        attempts = _Attempts(self, entry)
        try:
            async with run.clock.limit(seconds):
                result = await attempts.run(request.message)
        except TimeoutError:
            result = Result(entry, False, self._last_text(entry), f"its {seconds:.0f} seconds were used up")
        except asyncio.CancelledError:
            run.emit(self._ended(entry, False, "stopped", started, attempts.count))
            raise
        run.emit(self._ended(entry, result.ok, result.reason, started, attempts.count))
        run.checkpoint()
        run.forget_conversation(entry.id)
        return result

    def _ended(self, entry: Dispatch, ok: bool, reason: str, started: float, attempts: int) -> ev.DispatchEnded:
        seconds = round(self.run.clock.elapsed() - started, 3)
        return ev.DispatchEnded(
            dispatch=entry.id, role=entry.role, task=entry.task, ok=ok, reason=reason, seconds=seconds, attempts=attempts
        )

    def _last_text(self, entry: Dispatch) -> str:
        said = [e.text for e in self.run.conversation(entry.id) if isinstance(e, ev.Message) and e.role != "User"]
        return said[-1] if said else ""

    async def one_attempt(self, entry: Dispatch, message: str) -> Result:
        """One agent over one conversation; what it raises decides about another attempt."""
        made = make_agent(self.run, entry, self.services.backend, self.services, self.tools)
        surface = RunLoopSurface(self.run, entry, _nudge_once(entry), _MAX_TURNS)
        text = await run_agent_loop(made.agent, made.session, message, surface)
        if unread(entry):
            return Result(entry, False, text, "it read none of its sources")
        return Result(entry, bool(text) or entry.written, text, "" if text or entry.written else "it ended without a word")

    def partial(self, entry: Dispatch, reason: str, error: BackendError | None = None) -> Result:
        """What a dispatch that broke off has to show."""
        text = (whole_lines(error.partial) if error else "") or self._last_text(entry)
        return Result(entry, False, self.run.masked(text), self.run.masked(reason), error)


@dataclass
class _Attempts:
    """The retries of one dispatch (specs: completion 4). They do not nest: each cause has its own count."""

    dispatcher: Dispatcher
    entry: Dispatch
    count: int = 0
    transient: int = 0
    nudged: bool = False
    shortened: bool = False

    async def run(self, message: str) -> Result:
        said = message
        # One first attempt, at most one more for each of three causes below, and those after the waits of an outage.
        for _ in range(2 + TRANSIENT_RETRIES + 1 + MAX_OUTAGES * len(WAITS)):
            self.count += 1
            try:
                return await self.dispatcher.one_attempt(self.entry, said)
            except RunAbort:
                raise
            except DispatchAbort as abort:
                return self.dispatcher.partial(self.entry, abort.reason)
            except BackendError as error:
                again = await self._again(error)
                if again is None:
                    return self.dispatcher.partial(self.entry, error.line(), error)
                said = again
            except AgentFrameworkException as error:
                log.exception("the agent framework failed in %s", self.entry.id)
                return self.dispatcher.partial(self.entry, f"the agent framework failed ({type(error).__name__})")
            except DeepDelveError:
                raise
            except Exception as error:
                # The edge of one worker: a fault of ours in it costs its task, which counts as failed, and not the run.
                log.exception("dispatch %s failed", self.entry.id)
                return self.dispatcher.partial(self.entry, f"an error in the product itself ({type(error).__name__})")
        return self.dispatcher.partial(self.entry, "it did not come to an end")

    async def _again(self, error: BackendError) -> str | None:
        """What to say in another attempt, or None."""
        if error.cause == "unreachable" and await self.dispatcher.services.outage.wait(self.entry.role):
            return _GO_ON.format(reason="the server was gone")
        if error.transient and self.transient < TRANSIENT_RETRIES:
            self.transient += 1
            wait = min(error.retry_after if error.retry_after is not None else _FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS)
            await asyncio.sleep(wait)
            return _GO_ON.format(reason=error.cause.replace("_", " "))
        if error.cause == "empty" and ROLES[self.entry.role].research and not self.nudged:
            self.nudged = True
            return NUDGE
        if error.cause == "length" and not self.shortened:
            self.shortened = True
            return SHORTER
        return None


def whole_lines(text: str) -> str:
    """A reply that broke off without the line that it was in the middle of, which is not what it meant to say.

    A last line that ends with a closed quotation is whole: a finding ends so.
    """
    before, _, last = text.rpartition("\n")
    return text if _CLOSED_QUOTE.search(last) else before


def unread(entry: Dispatch) -> bool:
    """Whether a reader has not looked into a single source."""
    return entry.role == "Analyzer" and not any(entry.used[name] for name in READING_TOOLS)


def _nudge_once(entry: Dispatch) -> Callable[[TurnResult], Awaitable[str | None]]:
    """A research role that called tools and wrote nothing, or a reader that read nothing, gets one nudge."""
    asked = False

    async def after_turn(result: TurnResult) -> str | None:
        nonlocal asked
        silent = ROLES[entry.role].research and not result.text and sum(entry.used.values())
        if asked or not (silent or unread(entry)):
            return None
        asked = True
        return UNREAD if unread(entry) else NUDGE

    return after_turn

"""The one loop: say something to an agent, stream its turn as events, ask what comes next. Planner and dispatches use it."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deepdelve.core import events as ev
from deepdelve.core.scope import Scope, set_scope
from deepdelve.engine.gate import refuse_malformed, refuse_outside
from deepdelve.engine.roles import tools_of
from deepdelve.engine.surface import RunLoopSurface, TurnResult

if TYPE_CHECKING:
    from agent_framework import Agent, AgentResponseUpdate, AgentSession

# Deltas are handed on in batches: a person cannot read faster, and every event costs every surface some work.
BATCH_SECONDS = 0.05
BATCH_CHARS = 2_000
# How the framework answers a call whose arguments its own check refuses.
_BAD_ARGUMENTS = "Argument parsing failed"


async def run_agent_loop(agent: "Agent[Any]", session: "AgentSession", current_input: str, surface: RunLoopSurface) -> str:
    """Run turns until ``after_turn`` has nothing more to say. Returns the last text.

    Raises:
        BackendError: the model failed; what was said so far stands in the journal.
        DispatchAbort: the gate ended it.
        TimeoutError: its time is up.
    """
    set_scope(Scope(surface.run, surface.dispatch))
    text = ""
    said: str | None = current_input
    for _ in range(surface.max_turns):
        result = await _turn(agent, session, said, surface)
        text = result.text or text
        said = await surface.after_turn(result)
        if said is None:
            break
    return text


async def _turn(agent: "Agent[Any]", session: "AgentSession", said: str, surface: RunLoopSurface) -> TurnResult:
    run, dispatch = surface.run, surface.dispatch
    calls_before = sum(dispatch.used.values())
    await run.room()
    # The history provider gives everything journaled so far, this message included: nothing is passed beside it.
    run.emit(ev.Message(dispatch=dispatch.id, role="User", text=said))
    writer = _TurnWriter(surface)
    async with agent.run([], stream=True, session=session) as stream:
        async for update in stream:
            writer.add(update)
    writer.end()
    return TurnResult(writer.last_text.strip(), sum(dispatch.used.values()) - calls_before)


class _TurnWriter:
    """Turns the framework's updates into events: deltas in batches, and a message each time the assistant stops talking."""

    def __init__(self, surface: RunLoopSurface) -> None:
        self.surface = surface
        self.last_text = ""
        self._parts: list[str] = []
        self._pending: list[str] = []
        self._pending_chars = 0
        self._flushed = time.monotonic()
        # Whether any of the message has been shown, and whether that is to be taken back.
        self._shown = self._take_back = False
        self._called: dict[str, str] = {}
        self._offered = tools_of(surface.dispatch.role, surface.dispatch.profile)

    def add(self, update: "AgentResponseUpdate") -> None:
        """Take one update in."""
        if update.merge_mode == "replace":
            # What was streamed so far has turned out to be thinking: it is no part of the message.
            self._parts, self._pending, self._pending_chars = [], [], 0
            self._take_back = self._shown
        contents: Sequence[Any] = update.contents
        for content in contents:
            if content.type == "text" and content.text:
                self._parts.append(content.text)
                self._pending.append(content.text)
                self._pending_chars += len(content.text)
            elif content.type in {"function_call", "function_result"}:
                self._close_message()
                self._note_call(content)
        if self._take_back or (self._pending and (self._pending_chars >= BATCH_CHARS or time.monotonic() - self._flushed >= BATCH_SECONDS)):
            self._flush()

    def end(self) -> None:
        """The turn is over."""
        self._close_message()

    def _note_call(self, content: Any) -> None:
        """A call of a tool that the role lacks, or with arguments that fit no schema, never comes to the gate; it is seen here."""
        run, dispatch, call_id = self.surface.run, self.surface.dispatch, str(content.call_id or "")
        if content.type == "function_call":
            self._called[call_id] = str(content.name or "")
            if content.name and content.name not in self._offered:
                refuse_outside(run, dispatch, str(content.name), self._offered)
        elif content.exception and _BAD_ARGUMENTS in str(content.result):
            refuse_malformed(run, dispatch, self._called.get(call_id, ""), " ".join(str(content.exception).split()))

    def _flush(self) -> None:
        dispatch = self.surface.dispatch
        text = "".join(self._pending)
        self.surface.run.emit(ev.TextDelta(dispatch=dispatch.id, role=dispatch.role, text=text, replace=self._take_back))
        self._pending, self._pending_chars, self._flushed = [], 0, time.monotonic()
        self._shown, self._take_back = bool(text) or (self._shown and not self._take_back), False

    def _close_message(self) -> None:
        if self._pending:
            self._flush()
        text = "".join(self._parts)
        self._parts, self._shown = [], False
        if text.strip():
            self.last_text = text
            dispatch = self.surface.dispatch
            self.surface.run.emit(ev.Message(dispatch=dispatch.id, role=dispatch.role, text=text))

"""The one gate: every tool call of every agent passes here. First rule that objects wins; each refusal says what to do."""

import json
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from agent_framework import Content, FunctionInvocationContext, FunctionMiddleware, MiddlewareFailure

from deepdelve.core import events as ev
from deepdelve.core.errors import DeepDelveError, DiskError
from deepdelve.core.records import Role
from deepdelve.engine.roles import READING_TOOLS, RESEARCH_TOOLS, ROLES
from deepdelve.engine.run import Run
from deepdelve.utils.urls import scope_refusal

log = logging.getLogger(__name__)

# Stored sources of earlier runs, offered only where their own addresses are within the scope.
EARLIER_SCHEME = "run://"
REPEATS = 3
STRIKES = 6
MALFORMED = 3


class DispatchAbort(MiddlewareFailure):
    """Ends the dispatch at once with what it has; derives from the framework's failure, which no loop swallows."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class QuotaAbort(DispatchAbort):
    """The agent went on calling tools after repeated refusals."""


class RunAbort(DispatchAbort):
    """The run itself cannot go on (disk full)."""


@dataclass
class Dispatch:
    """One dispatch as the gate sees it. Implements ``core.scope.DispatchPort``."""

    id: str
    role: Role
    task: str = ""
    top_task: str = ""
    facet: str = ""
    depth: int = 0
    profile: str = ""
    parent: str = ""
    used: Counter[str] = field(default_factory=Counter[str])
    repeats: Counter[str] = field(default_factory=Counter[str])
    refusals: int = 0
    malformed: int = 0
    written: bool = False
    sources: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Call:
    """One tool call on its way in."""

    run: Run
    dispatch: Dispatch
    tool: str
    args: Mapping[str, Any]


Rule = Callable[[Call], str]


def evidence_only(call: Call) -> str:
    """An evidence-only run does no research, whatever the model asks for."""
    if call.run.state.evidence_only and call.tool in RESEARCH_TOOLS:
        return "This run works on given evidence only: searching, fetching and delegating are closed. Use the evidence you have."
    return ""


def research_closed(call: Call) -> str:
    """Research has ended (time, rounds, or an existing report)."""
    if call.run.research_closed and call.tool in RESEARCH_TOOLS:
        return f"Research is closed: {call.run.research_closed}. End with what you have."
    return ""


def scope(call: Call) -> str:
    """What the run may read; pages and documents that the person named are always within it."""
    state, url = call.run.state, str(call.args.get("url", "")).strip()
    if call.tool != "fetch_url_to_workspace" or state.scope == "" or url.startswith(EARLIER_SCHEME):
        return ""
    return scope_refusal(url, state.scope, has_corpus=bool(state.corpus), seeds=state.seeds)


def quota(call: Call) -> str:
    """The run's quota of a tool."""
    limit = call.run.budget.quotas.get(call.tool, 0)
    if call.run.state.used.get(call.tool, 0) >= limit:
        return f"The run's {limit} calls of {call.tool} are used up. End with what you have."
    return ""


def cap(call: Call) -> str:
    """The dispatch's own cap of a tool."""
    limit = ROLES[call.dispatch.role].caps.get(call.tool)
    if limit is not None and call.dispatch.used[call.tool] >= limit:
        return f"You have used your {limit} calls of {call.tool}. Write up what you have now."
    return ""


def repeat(call: Call) -> str:
    """The same call over and over."""
    key = call.tool + json.dumps(dict(call.args), sort_keys=True, default=str)
    call.dispatch.repeats[key] += 1
    if call.dispatch.repeats[key] > REPEATS:
        return f"You have made this same call {REPEATS} times. Its answer does not change: do something else, or write up what you have."
    return ""


def writer_gate(call: Call) -> str:
    """A FindingsWriter holds all evidence in its message: it writes or edits before it may read."""
    if not ROLES[call.dispatch.role].writer_gate or call.dispatch.written or call.tool not in READING_TOOLS:
        return ""
    exists = bool(call.run.read_file("draft/findings.md").strip())
    fitting = "edit_workspace_file (or write_workspace_file)" if exists else "write_workspace_file"
    return f"Your message holds all the evidence. Call {fitting} first; reading is open after that."


def own_call_id(run: Run, dispatch: Dispatch) -> str:
    """An id for a tool call that is unique within the run: servers give ids that come again with every reply."""
    return f"{dispatch.id or 'P'}-{run.state.last_seq + 1}"


def outside_rule(run: Run, tool: str) -> str:
    """The rule that refuses a tool which the role does not have."""
    return "evidence_only" if run.state.evidence_only and tool in RESEARCH_TOOLS else "not_offered"


def refuse_outside(run: Run, dispatch: Dispatch, tool: str, offered: Sequence[str]) -> None:
    """Record a call of a tool that the role does not have: the framework answers it without asking the gate.

    Raises:
        QuotaAbort: it goes on after many refusals.
    """
    rule = outside_rule(run, tool)
    reason = f"There is no tool {tool[:80]} here; the tools are: {', '.join(offered)}."
    _count_refusal(run, dispatch, own_call_id(run, dispatch), tool[:80], rule, reason)


def refuse_malformed(run: Run, dispatch: Dispatch, tool: str, why: str) -> None:
    """Record a call whose arguments the framework did not take: it never comes to the gate.

    Raises:
        QuotaAbort: it goes on after many refusals.
    """
    _count_refusal(
        run, dispatch, own_call_id(run, dispatch), tool[:80], "malformed", f"The arguments of {tool[:80]} do not fit: {why[:300]}"
    )


def _count_refusal(run: Run, dispatch: Dispatch, call_id: str, tool: str, rule: str, reason: str) -> None:
    run.emit(ev.ToolRefused(dispatch=dispatch.id, role=dispatch.role, call_id=call_id, tool=tool, rule=rule, reason=reason))
    dispatch.refusals += 1
    if dispatch.refusals >= STRIKES:
        raise QuotaAbort(f"{dispatch.role} went on after {STRIKES} refusals; the last one: {reason}")


RULES: tuple[Rule, ...] = (evidence_only, research_closed, scope, quota, cap, repeat, writer_gate)


class Gate(FunctionMiddleware):
    """Attached to every agent by the one agent factory.

    Args:
        run: the run that the agent works for.
        dispatch: the dispatch, or the Planner's own entry.
        approve: asks the person about a tool call where the policy says so; returns a refusal or an empty string.
    """

    def __init__(self, run: Run, dispatch: Dispatch, approve: Callable[[Call], Awaitable[str]]) -> None:
        self.run = run
        self.dispatch = dispatch
        self.approve = approve

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Journal the call, hold it against the rules, run it within its limits, journal the answer."""
        call = Call(self.run, self.dispatch, context.function.name, _arguments(context))
        call_id = own_call_id(self.run, self.dispatch)
        try:
            await self.run.room()
            refused = await self._refusal(call, call_id)
            if refused:
                context.result = [Content.from_text(f"Refused: {refused}")]
                return
            self.run.emit(
                ev.ToolCalled(dispatch=call.dispatch.id, role=call.dispatch.role, call_id=call_id, tool=call.tool, args=dict(call.args))
            )
            call.dispatch.used[call.tool] += 1
            started = time.monotonic()
            ok, said = await self._invoke(context, call_next)
            # What a server repeats of a key reaches neither the model nor the log.
            text = self.run.masked(said)
            if text != said:
                context.result = [Content.from_text(text)]
            if call.tool in {"write_workspace_file", "edit_workspace_file"} and ok:
                call.dispatch.written = True
            self.run.emit(
                ev.ToolReturned(
                    dispatch=call.dispatch.id,
                    call_id=call_id,
                    tool=call.tool,
                    ok=ok,
                    text=text,
                    seconds=round(time.monotonic() - started, 4),
                )
            )
            if self.dispatch.malformed >= MALFORMED:
                raise QuotaAbort(
                    f"{self.dispatch.role} called tools with arguments that do not fit {MALFORMED} times; the last time: {text[:300]}"
                )
        except DiskError as error:
            raise RunAbort(error.line()) from error

    async def _refusal(self, call: Call, call_id: str) -> str:
        for rule in RULES:
            reason = rule(call)
            if reason:
                self._refuse(call, call_id, rule.__name__, reason)
                return reason
        reason = await self.approve(call)
        if reason:
            self._refuse(call, call_id, "approval", reason)
        return reason

    def _refuse(self, call: Call, call_id: str, rule: str, reason: str) -> None:
        _count_refusal(self.run, call.dispatch, call_id, call.tool, rule, reason)

    async def _invoke(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> tuple[bool, str]:
        """Run the tool. Its errors become a text that says what to do; the framework would hide them."""
        try:
            await call_next()
        except (MiddlewareFailure, DiskError):
            raise
        except DeepDelveError as error:
            context.result = [Content.from_text(f"Error: {error.line()}")]
            return False, f"Error: {error.line()}"
        except (TypeError, ValueError) as error:
            text = (
                f"Error: the arguments of {context.function.name} do not fit: {str(error)[:300]}. Its arguments are: {_signature(context)}."
            )
            context.result = [Content.from_text(text)]
            self.dispatch.malformed += 1
            return False, text
        text = _result_text(context.result)
        return True, text


def _arguments(context: FunctionInvocationContext) -> dict[str, Any]:
    arguments: Any = context.arguments
    given = cast("Mapping[Any, Any]", arguments if isinstance(arguments, Mapping) else arguments.model_dump())
    return {str(key): value for key, value in given.items()}


def _signature(context: FunctionInvocationContext) -> str:
    properties: Any = context.function.parameters().get("properties", {})
    return ", ".join(properties) or "none"


def _result_text(result: Any) -> str:
    if isinstance(result, str):
        return result
    if isinstance(result, list):
        return "\n".join(str(getattr(item, "text", "") or "") for item in cast("list[Any]", result))
    return str(result)

"""What the app shows of a run, as the fold of its events: ``reduce(state, event) -> state``, pure, with no screen library in it.

The live view and the view of a saved run are this one path.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from deepdelve.core import events as ev
from deepdelve.core.records import Usage
from deepdelve.tui import blocks as bl
from deepdelve.tui.view_state import Check, ViewState, elapsed

FOLLOW_UP = "ask"


def reduce(state: ViewState, event: ev.Event) -> ViewState:
    """The view after one event. The given state is left as it was."""
    handler = _HANDLERS.get(type(event))
    return handler(state, event) if handler is not None else state


def replay(events: Iterable[ev.Event], state: ViewState | None = None) -> ViewState:
    """The view after many events; a run whose last process never ended is shown as not running."""
    view = state if state is not None else ViewState()
    for event in events:
        view = reduce(view, event)
    return replace(view, running=False, blocks=tuple(_closed(block) for block in view.blocks))


def said(state: ViewState, text: str) -> ViewState:
    """The view with what the person has just said; the event that repeats it adds nothing."""
    return _user(state, text)


def _closed(block: bl.Block) -> bl.Block:
    """A block of a process that is gone: nothing in it goes on."""
    if isinstance(block, bl.AgentBlock) and block.state == "running":
        return replace(block, state="failed", reason=block.reason or "Interrupted.")
    if isinstance(block, bl.AnswerBlock | bl.ThinkingBlock) and not block.done:
        return replace(block, done=True)
    if isinstance(block, bl.AskBlock) and block.answer is None:
        return replace(block, answer={"unanswered": True})
    return block


def _add(state: ViewState, make: Callable[[str], bl.Block], **changes: Any) -> ViewState:
    """The state with one more block, which gets the next key."""
    number = state.counter + 1
    return replace(state, counter=number, blocks=(*state.blocks, make(f"b{number}")), **changes)


def _put(state: ViewState, place: int, block: bl.Block) -> ViewState:
    """The state with the block at this place replaced."""
    return replace(state, blocks=(*state.blocks[:place], block, *state.blocks[place + 1 :]))


def _last_place(state: ViewState, kind: type[bl.AnswerBlock] | type[bl.ThinkingBlock]) -> int:
    """Where the open block of this kind stands, or -1; blocks before the last message of the person do not count."""
    for place in range(len(state.blocks) - 1, -1, -1):
        block = state.blocks[place]
        if isinstance(block, kind) and not block.done:
            return place
        if isinstance(block, bl.UserBlock):
            return -1
    return -1


def _agent(state: ViewState, dispatch: str) -> tuple[int, bl.AgentBlock] | None:
    place = state.agents.get(dispatch, -1)
    block = state.blocks[place] if place >= 0 else None
    return (place, block) if isinstance(block, bl.AgentBlock) else None


def _user(state: ViewState, text: str) -> ViewState:
    """Adds what the person said, unless it stands there already, unanswered."""
    for block in reversed(state.blocks):
        if isinstance(block, bl.AnswerBlock | bl.ReportBlock | bl.EndBlock):
            break
        if isinstance(block, bl.UserBlock):
            if block.text == text:
                return state
            break
    return _add(state, lambda key: bl.UserBlock(key, text))


def _run_started(state: ViewState, e: ev.RunStarted) -> ViewState:
    fresh = ViewState(
        run_id=e.run_id,
        session_id=e.session_id,
        question=e.question,
        backend=e.backend,
        model=e.model,
        style=e.style,
        depth=e.depth,
        stage="planning",
        running=True,
        started=e.ts,
        budget=dict(e.budget),
        blocks=state.blocks,
        counter=state.counter,
    )
    return _user(fresh, e.question)


def _run_resumed(state: ViewState, e: ev.RunResumed) -> ViewState:
    blocks = tuple(_closed(block) for block in state.blocks)
    budget = dict(e.budget) or state.budget
    fresh = replace(state, blocks=blocks, budget=budget, used={}, agents={}, calls={}, asks={})
    again = replace(fresh, stage=e.stage, running=True, started=e.ts, outcome="", waiting_since=0.0, waited=0.0)
    return _add(again, lambda key: bl.NoticeBlock(key, "info", "The run was taken up again."))


def _stage(state: ViewState, e: ev.StageChanged) -> ViewState:
    if e.stage == state.stage and any(isinstance(block, bl.StageBlock) for block in state.blocks[-1:]):
        return state
    return _add(state, lambda key: bl.StageBlock(key, e.stage), stage=e.stage)


def _dispatch_started(state: ViewState, e: ev.DispatchStarted) -> ViewState:
    def make(key: str) -> bl.Block:
        return bl.AgentBlock(key, e.dispatch, e.role, e.task, e.parent, e.profile, started=e.ts)

    return _add(state, make, agents={**state.agents, e.dispatch: len(state.blocks)})


def _dispatch_ended(state: ViewState, e: ev.DispatchEnded) -> ViewState:
    found = _agent(state, e.dispatch)
    if found is None:
        return state
    place, block = found
    rows = tuple(replace(row, state="failed") if row.state == "running" else row for row in block.tools)
    return _put(
        state,
        place,
        replace(block, state="done" if e.ok else "failed", reason=e.reason, seconds=e.seconds, attempts=e.attempts, tools=rows),
    )


def _text_delta(state: ViewState, e: ev.TextDelta) -> ViewState:
    found = _agent(state, e.dispatch)
    if found is not None:
        place, block = found
        return _put(state, place, replace(block, text=e.text if e.replace else block.text + e.text))
    place = _last_place(state, bl.AnswerBlock)
    if place < 0:
        return _add(_end_thinking(state), lambda key: bl.AnswerBlock(key, e.role, e.text))
    answer = state.blocks[place]
    assert isinstance(answer, bl.AnswerBlock)
    if e.replace:
        return _put(state, place, replace(answer, text=e.text, taken_back=answer.taken_back + 1))
    return _put(state, place, replace(answer, text=answer.text + e.text))


def _thinking_delta(state: ViewState, e: ev.ThinkingDelta) -> ViewState:
    found = _agent(state, e.dispatch)
    if found is not None:
        place, block = found
        return _put(state, place, replace(block, thinking=block.thinking + e.text))
    place = _last_place(state, bl.ThinkingBlock)
    if place < 0:
        return _add(state, lambda key: bl.ThinkingBlock(key, e.text))
    thinking = state.blocks[place]
    assert isinstance(thinking, bl.ThinkingBlock)
    return _put(state, place, replace(thinking, text=thinking.text + e.text))


def _end_thinking(state: ViewState) -> ViewState:
    place = _last_place(state, bl.ThinkingBlock)
    block = state.blocks[place] if place >= 0 else None
    return _put(state, place, replace(block, done=True)) if isinstance(block, bl.ThinkingBlock) else state


def _message(state: ViewState, e: ev.Message) -> ViewState:
    found = _agent(state, e.dispatch)
    if found is not None:
        place, block = found
        return state if e.role == "User" else _put(state, place, replace(block, text=e.text))
    if e.role == "User":
        # What the engine tells the Planner has an empty dispatch; a question on a report is the only thing a person says here.
        return _user(state, e.text) if e.dispatch == FOLLOW_UP else state
    return _answered(_end_thinking(state), e.role, e.text)


def _answered(state: ViewState, role: str, text: str) -> ViewState:
    """The whole text of an answer: it closes the one being streamed, or stands alone."""
    place = _last_place(state, bl.AnswerBlock)
    block = state.blocks[place] if place >= 0 else None
    if isinstance(block, bl.AnswerBlock):
        return _put(state, place, replace(block, text=text or block.text, done=True))
    return _add(state, lambda key: bl.AnswerBlock(key, role, text, done=True)) if text.strip() else state


def _tool_called(state: ViewState, e: ev.ToolCalled) -> ViewState:
    row = bl.ToolRow(e.call_id, e.tool, e.args)
    state = replace(state, used={**state.used, e.tool: state.used.get(e.tool, 0) + 1})
    found = _agent(state, e.dispatch)
    if found is not None:
        place, block = found
        return _put(replace(state, calls={**state.calls, e.call_id: place}), place, replace(block, tools=(*block.tools, row)))
    return _add(state, lambda key: bl.ToolBlock(key, e.role, row), calls={**state.calls, e.call_id: len(state.blocks)})


def _tool_returned(state: ViewState, e: ev.ToolReturned) -> ViewState:
    return _tool_ended(state, e.call_id, "ok" if e.ok else "failed", e.text, e.seconds)


def _tool_refused(state: ViewState, e: ev.ToolRefused) -> ViewState:
    if e.call_id not in state.calls:
        state = _tool_called(state, ev.ToolCalled(ts=e.ts, dispatch=e.dispatch, role=e.role, call_id=e.call_id, tool=e.tool))
        state = replace(state, used={**state.used, e.tool: state.used[e.tool] - 1})
    return _tool_ended(state, e.call_id, "refused", f"{e.reason} ({e.rule})", 0.0)


def _tool_ended(state: ViewState, call_id: str, how: bl.ToolState, text: str, seconds: float) -> ViewState:
    place = state.calls.get(call_id, -1)
    block = state.blocks[place] if place >= 0 else None
    if isinstance(block, bl.ToolBlock):
        return _put(state, place, replace(block, row=replace(block.row, state=how, text=text, seconds=seconds)))
    if isinstance(block, bl.AgentBlock):
        rows = tuple(replace(row, state=how, text=text, seconds=seconds) if row.call_id == call_id else row for row in block.tools)
        return _put(state, place, replace(block, tools=rows))
    return state


def _finding(state: ViewState, e: ev.FindingAdded) -> ViewState:
    return replace(state, findings={**state.findings, e.finding.id: len(e.finding.claims)})


def _verdict(state: ViewState, e: ev.CheckVerdict) -> ViewState:
    return replace(state, checks=(*state.checks, Check(e.attempt, e.problem, e.active, e.remedy, e.detail, e.ts)))


def _usage(state: ViewState, e: ev.UsageReported) -> ViewState:
    old = state.usage.get(e.role, Usage(calls=0))
    total = Usage(
        tokens_in=old.tokens_in + e.usage.tokens_in,
        tokens_out=old.tokens_out + e.usage.tokens_out,
        seconds=old.seconds + e.usage.seconds,
        calls=old.calls + e.usage.calls,
        sent_chars=old.sent_chars + e.usage.sent_chars,
        estimated=old.estimated or e.usage.estimated,
    )
    return replace(
        state,
        usage={**state.usage, e.role: total},
        context_tokens=e.usage.tokens_in,
        truncated=state.truncated or e.truncated,
        model=state.model or e.model,
    )


def _notice(state: ViewState, e: ev.Notice) -> ViewState:
    return _add(state, lambda key: bl.NoticeBlock(key, e.level, e.text))


def _asked(state: ViewState, e: ev.Asked) -> ViewState:
    if e.ask_id in state.asks:
        return state
    return _add(state, lambda key: bl.AskBlock(key, e), asks={**state.asks, e.ask_id: len(state.blocks)}, waiting_since=e.ts)


def _answered_ask(state: ViewState, e: ev.Answered) -> ViewState:
    place = state.asks.get(e.ask_id, -1)
    block = state.blocks[place] if place >= 0 else None
    if not isinstance(block, bl.AskBlock):
        return state
    waited = state.waited + max(e.ts - state.waiting_since, 0.0) if state.waiting_since else state.waited
    return _put(replace(state, waiting_since=0.0, waited=waited), place, replace(block, answer=e.answer))


def _steered(state: ViewState, e: ev.Steered) -> ViewState:
    if e.kind == "stop":
        return state
    return _add(state, lambda key: bl.UserBlock(key, e.text)) if e.text else state


def _delivered(state: ViewState, e: ev.ReportDelivered) -> ViewState:
    changed = replace(state, report=True, counts=e.claims, citations=e.citations)
    return _add(changed, lambda key: bl.ReportBlock(key, e.claims, len(e.citations)))


def _follow_up(state: ViewState, e: ev.FollowUp) -> ViewState:
    asked = _user(state, e.question) if not _just_answered(state, e) else state
    if not e.answer or _just_answered(asked, e):
        return asked
    return _answered(asked, "Planner", e.answer)


def _just_answered(state: ViewState, e: ev.FollowUp) -> bool:
    """Whether the question and its answer stand at the end already, as messages."""
    last = [block for block in state.blocks if isinstance(block, bl.UserBlock | bl.AnswerBlock)][-2:]
    match last:
        case [bl.UserBlock(text=question), bl.AnswerBlock(text=answer, done=True)]:
            return question == e.question and answer == e.answer
        case _:
            return False


def _ended(state: ViewState, e: ev.RunEnded) -> ViewState:
    blocks = tuple(_closed(block) for block in state.blocks)
    seconds = e.seconds or elapsed(state, e.ts)
    ended = replace(state, blocks=blocks, running=False, outcome=e.outcome, seconds=seconds, stage="done")
    return _add(ended, lambda key: bl.EndBlock(key, e.outcome, e.reason, e.problems, seconds))


E = TypeVar("E", bound=ev.Event)


def _on(kind: type[E], handler: Callable[[ViewState, E], ViewState]) -> tuple[type[ev.Event], Callable[[ViewState, Any], ViewState]]:
    return kind, handler


_HANDLERS: dict[type[ev.Event], Callable[[ViewState, Any], ViewState]] = dict(
    [
        _on(ev.RunStarted, _run_started),
        _on(ev.RunResumed, _run_resumed),
        _on(ev.StageChanged, _stage),
        _on(ev.PlanWritten, lambda s, e: replace(s, plan=e.items)),
        _on(ev.TaskChanged, lambda s, e: replace(s, tasks={**s.tasks, e.task.name: e.task})),
        _on(ev.DispatchStarted, _dispatch_started),
        _on(ev.DispatchEnded, _dispatch_ended),
        _on(ev.TextDelta, _text_delta),
        _on(ev.ThinkingDelta, _thinking_delta),
        _on(ev.Message, _message),
        _on(ev.ToolCalled, _tool_called),
        _on(ev.ToolReturned, _tool_returned),
        _on(ev.ToolRefused, _tool_refused),
        _on(ev.SourceAdded, lambda s, e: replace(s, sources={**s.sources, e.source.id: e.source})),
        _on(ev.SourceDropped, lambda s, e: replace(s, dropped=s.dropped | {e.source_id})),
        _on(ev.FindingAdded, _finding),
        _on(ev.CheckVerdict, _verdict),
        _on(ev.Notice, _notice),
        _on(ev.UsageReported, _usage),
        _on(ev.Asked, _asked),
        _on(ev.Answered, _answered_ask),
        _on(ev.Steered, _steered),
        _on(ev.ReportDelivered, _delivered),
        _on(ev.FollowUp, _follow_up),
        _on(ev.RunEnded, _ended),
    ]
)

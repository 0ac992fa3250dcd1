"""The view is the fold of the events: pure, the same live and replayed."""

import subprocess
import sys
from dataclasses import replace

import pytest

from deepdelve.core import events as ev
from deepdelve.core.records import ClaimCounts, PlanItem, Source, Task, Usage
from deepdelve.tui import blocks as bl
from deepdelve.tui.view import reduce, replay, said
from deepdelve.tui.view_state import ViewState, coverage, elapsed, meters, times_cited, with_claims
from tests.support.patience import in_proportion

from .fake_engine import QUESTION, T0, follow_up_events, make_claims, research_events


def fold(*events: ev.Event, state: ViewState | None = None) -> ViewState:
    view = state or ViewState()
    for event in events:
        view = reduce(view, event)
    return view


def kinds(state: ViewState) -> list[str]:
    return [type(block).__name__ for block in state.blocks]


def agent(state: ViewState, dispatch: str) -> bl.AgentBlock:
    return next(block for block in state.blocks if isinstance(block, bl.AgentBlock) and block.dispatch == dispatch)


@pytest.fixture
def research() -> ViewState:
    return fold(*research_events("r1", QUESTION, "s1"))


def test_reduce_leaves_the_given_state_as_it_was() -> None:
    before = ViewState()
    after = fold(*research_events("r1", QUESTION), state=before)
    assert before == ViewState()
    assert after.blocks


def test_the_start_of_a_run_sets_what_the_status_line_shows() -> None:
    state = fold(
        ev.RunStarted(run_id="r1", session_id="s", question="Q?", backend="ollama", model="m", style="answer", depth="quick", ts=5)
    )
    assert (state.run_id, state.session_id, state.question) == ("r1", "s", "Q?")
    assert (state.backend, state.model, state.style, state.depth) == ("ollama", "m", "answer", "quick")
    assert (state.running, state.started, state.stage) == (True, 5, "planning")
    assert state.blocks == (bl.UserBlock("b1", "Q?"),)


def test_a_whole_run_becomes_its_blocks_in_order(research: ViewState) -> None:
    assert kinds(research) == [
        "UserBlock",
        "StageBlock",
        "ThinkingBlock",
        "ToolBlock",
        "StageBlock",
        "AgentBlock",
        "AgentBlock",
        "StageBlock",
        "StageBlock",
        "StageBlock",
        "ReportBlock",
        "EndBlock",
    ]


def test_every_block_has_its_own_key(research: ViewState) -> None:
    keys = [block.key for block in research.blocks]
    assert len(set(keys)) == len(keys)


def test_the_outcome_ends_the_run(research: ViewState) -> None:
    assert (research.running, research.outcome, research.seconds, research.stage) == (False, "verified", 42.0, "done")
    assert research.report
    assert research.counts == ClaimCounts(supported=1, partial=1, unsupported=1)


def test_a_sub_agent_gathers_its_tool_calls_and_its_text(research: ViewState) -> None:
    searcher = agent(research, "d1")
    assert [(row.tool, row.state) for row in searcher.tools] == [
        ("web_search", "ok"),
        ("fetch_url_to_workspace", "ok"),
        ("web_search", "refused"),
    ]
    assert (searcher.state, searcher.seconds, searcher.attempts, searcher.profile) == ("done", 9.5, 2, "web")
    reader = agent(research, "d2")
    assert reader.parent == "d1"
    assert reader.text == '- Field trials found a COP above 2.0 [S1] "kept a COP above 2.0"'


def test_a_failed_sub_agent_says_why_and_leaves_no_call_running() -> None:
    state = fold(
        ev.DispatchStarted(dispatch="d", role="Searcher", task="t"),
        ev.ToolCalled(dispatch="d", role="Searcher", call_id="c", tool="web_search"),
        ev.DispatchEnded(dispatch="d", role="Searcher", task="t", ok=False, reason="The server answered 500."),
    )
    block = agent(state, "d")
    assert (block.state, block.reason) == ("failed", "The server answered 500.")
    assert block.tools[0].state == "failed"


def test_a_refused_call_that_was_never_announced_is_shown_and_costs_nothing() -> None:
    state = fold(ev.ToolRefused(role="Planner", call_id="c", tool="web_search", rule="gate", reason="not yours"))
    block = state.blocks[0]
    assert isinstance(block, bl.ToolBlock)
    assert (block.row.state, block.row.text) == ("refused", "not yours (gate)")
    assert state.used == {"web_search": 0}


def test_a_refused_call_that_was_announced_is_shown_once() -> None:
    state = fold(
        ev.ToolCalled(role="Planner", call_id="c", tool="web_search", args={"query": "q"}),
        ev.ToolRefused(role="Planner", call_id="c", tool="web_search", rule="gate", reason="no"),
    )
    assert kinds(state) == ["ToolBlock"]


def test_events_of_unknown_calls_and_dispatches_change_nothing() -> None:
    state = fold(ev.ToolReturned(call_id="x", tool="t"), ev.DispatchEnded(dispatch="x", role="Builder"), ev.Answered(ask_id="x"))
    assert state == ViewState()


def test_deltas_stream_into_one_answer_and_the_message_closes_it() -> None:
    state = fold(ev.TextDelta(role="Planner", text="Hel"), ev.TextDelta(role="Planner", text="lo"))
    assert state.blocks == (bl.AnswerBlock("b1", "Planner", "Hello", done=False),)
    state = fold(ev.Message(role="Planner", text="Hello!"), state=state)
    assert state.blocks == (bl.AnswerBlock("b1", "Planner", "Hello!", done=True),)


def test_text_that_turns_out_to_be_thinking_is_taken_back() -> None:
    streamed = (ev.TextDelta(role="Planner", text="Hmm, so"), ev.TextDelta(role="Planner", text="Hello", replace=True))
    state = fold(*streamed, ev.TextDelta(role="Planner", text=" there"))
    assert state.blocks == (bl.AnswerBlock("b1", "Planner", "Hello there", taken_back=1),)
    started = ev.DispatchStarted(dispatch="d", role="Searcher", task="t")
    state = fold(started, *(event.model_copy(update={"dispatch": "d"}) for event in streamed))
    assert agent(state, "d").text == "Hello"


def test_a_message_without_deltas_is_an_answer_of_its_own() -> None:
    assert fold(ev.Message(role="Planner", text="Hi")).blocks == (bl.AnswerBlock("b1", "Planner", "Hi", done=True),)


def test_an_empty_message_shows_nothing() -> None:
    assert fold(ev.Message(role="Planner", text=" ")).blocks == ()


def test_an_empty_message_keeps_the_text_that_was_streamed() -> None:
    state = fold(ev.TextDelta(role="Planner", text="all"), ev.Message(role="Planner", text=""))
    assert state.blocks == (bl.AnswerBlock("b1", "Planner", "all", done=True),)


def test_thinking_is_one_block_that_ends_when_the_answer_begins() -> None:
    state = fold(
        ev.ThinkingDelta(role="Planner", text="a"), ev.ThinkingDelta(role="Planner", text="b"), ev.TextDelta(role="Planner", text="c")
    )
    assert state.blocks[0] == bl.ThinkingBlock("b1", "ab", done=True)


def test_what_a_sub_agent_is_told_is_not_shown_as_the_persons_words() -> None:
    state = fold(ev.DispatchStarted(dispatch="d", role="Searcher", task="t"), ev.Message(dispatch="d", role="User", text="Search for t."))
    assert kinds(state) == ["AgentBlock"]
    assert agent(state, "d").text == ""


def test_what_the_engine_tells_the_planner_is_not_shown_as_the_persons_words() -> None:
    state = fold(ev.RunStarted(run_id="r", question="Q?"), ev.Message(role="User", text="Question: Q?"))
    assert kinds(state) == ["UserBlock"]


def test_a_follow_up_is_shown_once_though_messages_and_event_both_say_it() -> None:
    state = fold(*follow_up_events("Why?"))
    assert kinds(state) == ["UserBlock", "AgentBlock", "AnswerBlock"]


def test_what_was_said_at_once_is_not_repeated_by_its_events() -> None:
    assert kinds(fold(*follow_up_events("Why?"), state=said(ViewState(), "Why?"))) == ["UserBlock", "AgentBlock", "AnswerBlock"]
    assert kinds(fold(ev.RunStarted(run_id="r", question="Q?"), state=said(ViewState(), "Q?"))) == ["UserBlock"]


def test_a_follow_up_told_by_its_event_alone_is_shown() -> None:
    state = fold(ev.FollowUp(question="Why?", answer="Because."))
    assert [getattr(block, "text", "") for block in state.blocks] == ["Why?", "Because."]


def test_the_same_follow_up_asked_twice_is_shown_twice() -> None:
    state = fold(*follow_up_events("Why?"), *follow_up_events("Why?"))
    assert kinds(state) == ["UserBlock", "AgentBlock", "AnswerBlock"] * 2


def test_notices_keep_level_and_text() -> None:
    assert fold(ev.Notice(level="warning", text="w")).blocks == (bl.NoticeBlock("b1", "warning", "w"),)


def test_an_ask_is_shown_once_and_takes_its_answer() -> None:
    asked = ev.Asked(ask_id="a", kind="tool", text="May it?")
    state = fold(asked, asked, ev.Answered(ask_id="a", answer={"decision": "allow"}))
    assert state.blocks == (bl.AskBlock("b1", asked, {"decision": "allow"}),)


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (ev.Steered(text="shorter"), ["shorter"]),
        (ev.Steered(text="Drop source S3", kind="drop_source"), ["Drop source S3"]),
        (ev.Steered(text="", kind="stop"), []),
    ],
)
def test_steering_is_shown_as_the_persons_words(event: ev.Steered, shown: list[str]) -> None:
    assert [block.text for block in fold(event).blocks if isinstance(block, bl.UserBlock)] == shown


def test_plan_tasks_and_sources_take_their_newest_record() -> None:
    task = Task(name="t", facet="f")
    source = Source(id="S1", url="https://example.org", title="old")
    state = fold(
        ev.PlanWritten(items=(PlanItem(name="t"),)),
        ev.TaskChanged(task=task),
        ev.TaskChanged(task=task.model_copy(update={"state": "done"})),
        ev.SourceAdded(source=source),
        ev.SourceAdded(source=source.model_copy(update={"title": "new"})),
        ev.SourceDropped(source_id="S1"),
    )
    assert state.plan[0].name == "t"
    assert state.tasks["t"].state == "done"
    assert state.sources["S1"].title == "new"
    assert state.dropped == {"S1"}


def test_coverage_counts_done_tasks_by_facet(research: ViewState) -> None:
    assert coverage(research) == {"performance": (1, 1), "cost": (0, 1)}


def test_deeper_tasks_do_not_count_as_coverage() -> None:
    assert coverage(fold(ev.TaskChanged(task=Task(name="t", top="x", depth=2)))) == {}


def test_usage_adds_up_by_role_and_the_last_call_fills_the_context(research: ViewState) -> None:
    assert research.usage["Searcher"].tokens_in == 5_200
    again = fold(ev.UsageReported(role="Searcher", usage=Usage(tokens_in=10, tokens_out=1, seconds=1)), state=research)
    assert (again.usage["Searcher"].tokens_in, again.usage["Searcher"].calls) == (5_210, 2)
    assert again.context_tokens == 10


def test_a_cut_context_stays_an_alarm() -> None:
    state = fold(
        ev.UsageReported(role="Planner", usage=Usage(), truncated=True), ev.UsageReported(role="Planner", usage=Usage(tokens_in=1))
    )
    assert state.truncated


def test_meters_say_what_was_used_of_each_budget(research: ViewState) -> None:
    found = {meter.label: meter for meter in meters(research, T0, 16_384)}
    assert (found["search"].used, found["search"].limit) == (1, 20)
    assert (found["fetch"].used, found["fetch"].limit) == (1, 30)
    assert found["tokens"].used == 8_400
    assert found["context"].share == pytest.approx(2_000 / 16_384)
    assert found["time"].limit == 45


def test_elapsed_runs_while_the_run_does_and_then_stands() -> None:
    state = fold(ev.RunStarted(run_id="r", question="q", ts=100))
    assert elapsed(state, 130) == 30
    assert elapsed(fold(ev.RunEnded(outcome="stopped", exit=130, ts=150), state=state), 900) == 50


def test_the_clock_stands_still_while_a_person_is_asked() -> None:
    state = fold(ev.RunStarted(run_id="r", question="q", ts=100), ev.Asked(ask_id="a", kind="tool", text="?", ts=110))
    assert elapsed(state, 500) == 10
    assert elapsed(fold(ev.Answered(ask_id="a", ts=500), state=state), 505) == 15


def test_checks_are_kept_in_order(research: ViewState) -> None:
    assert [(check.attempt, check.problem) for check in research.checks] == [(1, "claim_unsupported"), (2, "")]


def test_a_resume_reopens_the_run_with_fresh_counters(research: ViewState) -> None:
    again = fold(ev.RunResumed(stage="searching", budget={"seconds": 300}, ts=T0 + 500), state=research)
    assert (again.running, again.outcome, again.stage, again.used) == (True, "", "searching", {})
    assert again.budget == {"seconds": 300}
    assert again.sources == research.sources


def test_dispatches_of_two_processes_may_have_the_same_id() -> None:
    started = ev.DispatchStarted(dispatch="d1", role="Searcher", task="one")
    state = fold(
        started, ev.RunResumed(), started.model_copy(update={"task": "two"}), ev.TextDelta(dispatch="d1", role="Searcher", text="x")
    )
    first, second = [block for block in state.blocks if isinstance(block, bl.AgentBlock)]
    assert (first.task, first.state, first.text) == ("one", "failed", "")
    assert (second.task, second.text) == ("two", "x")


def test_replay_of_a_journal_shows_what_the_live_view_showed(research: ViewState) -> None:
    journal = [event for event in research_events("r1", QUESTION, "s1") if not isinstance(event, ev.TextDelta | ev.ThinkingDelta)]
    replayed = replay(journal)
    for name in ("question", "outcome", "tasks", "sources", "checks", "usage", "counts", "citations", "plan", "used"):
        assert getattr(replayed, name) == getattr(research, name), name
    shown = [name for name in kinds(research) if name != "ThinkingBlock"]
    assert kinds(replayed) == shown


def test_replay_of_a_killed_run_shows_nothing_as_going_on() -> None:
    state = replay(research_events("r1", QUESTION)[:19])
    assert not state.running
    assert all(block.state != "running" for block in state.blocks if isinstance(block, bl.AgentBlock))


def test_replay_of_several_runs_is_one_transcript() -> None:
    state = replay(research_events("r2", "Second?"), replay(research_events("r1", QUESTION)))
    assert [block.text for block in state.blocks if isinstance(block, bl.UserBlock)] == [QUESTION, "Second?"]
    assert state.run_id == "r2"


def test_times_cited_come_from_the_ledger(research: ViewState) -> None:
    assert times_cited(with_claims(research, make_claims())) == {"S1": 2, "S2": 1}


def test_every_event_type_can_be_reduced() -> None:
    samples: list[ev.Event] = [*research_events("r", QUESTION), *follow_up_events("x"), ev.TaskLedger(), ev.Steered(text="s")]
    samples += [ev.ArtifactWritten(artifact="findings", file="f"), ev.ArtifactRejected(artifact="findings", file="f", problem="p")]
    samples += [ev.ReviewDone(artifact="findings", ok=True), ev.Notice(text="n")]
    state = ViewState()
    for event in samples:
        state = reduce(state, event)
    assert state.blocks


def test_five_thousand_events_fold_in_proportion() -> None:
    calls = [ev.ToolCalled(role="Planner", call_id=str(n), tool="think", args={"thought": "x"}) for n in range(2_500)]
    returns = [ev.ToolReturned(call_id=str(n), tool="think") for n in range(2_500)]
    assert len(fold(*calls, *returns).blocks) == 2_500
    in_proportion(lambda pairs: fold(*(event for pair in pairs for event in pair)), [*zip(calls, returns, strict=True)])


def test_no_screen_library_is_needed_to_reduce() -> None:
    code = "import sys, deepdelve.tui.view, deepdelve.tui.blocks, deepdelve.tui.text; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ".typecheck"}, check=False).returncode == 0


def test_blocks_are_replaced_not_changed(research: ViewState) -> None:
    grown = reduce(research, ev.Notice(text="n"))
    assert grown.blocks[: len(research.blocks)] == research.blocks
    assert all(a is b for a, b in zip(research.blocks, grown.blocks, strict=False))
    assert replace(grown, counter=0) != grown

"""The state of a run is the fold of its events, and every field says what a resume does with it."""

from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from deepdelve.core import events as ev
from deepdelve.core.records import ClaimCounts, Finding, PlanItem, Source, Task, Usage
from deepdelve.utils import run_state
from deepdelve.utils.run_state import (
    SCHEMA_VERSION,
    SCHEMA_VERSIONS,
    RunState,
    StateModel,
    artifact_file,
    fold,
    kept,
    resumed,
)

STARTED = ev.RunStarted(seq=1, ts=100.0, run_id="r", question="q?", depth="deep", style="answer", facets=("a",), budget={"search": 20})


def state_of(*events: ev.Event) -> RunState:
    return fold([STARTED, *events])


# Each field says what a resume does with it


def test_a_field_that_does_not_say_is_refused_when_the_class_is_made() -> None:
    with pytest.raises(TypeError, match="Forgetful\\.silent"):

        class Forgetful(StateModel):
            told: int = kept("carry", 0)
            silent: int = 0


def test_a_rule_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError):

        class Wrong(StateModel):
            field: int = kept("keep", 0)  # type: ignore[arg-type]


def test_the_list_of_carried_fields_is_derived() -> None:
    rules = {name: RunState.resume_rule(name) for name in RunState.model_fields}
    assert RunState.carried() == [name for name, rule in rules.items() if rule == "carry"]
    assert set(rules.values()) == {"carry", "reset"}


@pytest.mark.parametrize(
    "name", ["question", "plan", "tasks", "findings", "sources", "attempts_log", "search_health", "started_at", "drafts", "steering"]
)
def test_what_a_person_and_the_run_have_worked_for_is_carried(name: str) -> None:
    assert name in RunState.carried()


@pytest.mark.parametrize("name", ["attempt", "used", "budget", "outcome", "problems", "stage", "open_dispatches"])
def test_what_belongs_to_one_process_starts_afresh(name: str) -> None:
    assert name not in RunState.carried()


def test_every_kind_of_kept_value_has_a_fresh_start() -> None:
    assert RunState().tasks is not RunState().tasks


# Folding


def test_the_first_event_names_the_run() -> None:
    state = state_of()
    assert (state.run_id, state.question, state.depth, state.style) == ("r", "q?", "deep", "answer")
    assert (state.started_at, state.processes, state.budget, state.last_seq) == (100.0, 1, {"search": 20}, 1)


def test_the_newest_record_of_an_id_counts() -> None:
    state = state_of(
        ev.SourceAdded(source=Source(id="S1", url="u", title="old")),
        ev.SourceAdded(source=Source(id="S1", url="u", title="new", file="sources/S1.md")),
        ev.FindingAdded(finding=Finding(id="F1", task="t", top_task="t", summary="old")),
        ev.FindingAdded(finding=Finding(id="F1", task="t", top_task="t", summary="new")),
        ev.TaskChanged(task=Task(name="t", state="running")),
        ev.TaskChanged(task=Task(name="t", state="done")),
    )
    assert state.sources["S1"].title == "new"
    assert state.findings["F1"].summary == "new"
    assert state.tasks["t"].state == "done"


def test_only_good_sources_that_were_not_dropped_are_citable() -> None:
    state = state_of(
        *(ev.SourceAdded(source=Source(id=f"S{n}", url=f"u{n}", file="f")) for n in (1, 2)),
        ev.SourceAdded(source=Source(id="S3", url="u3", file="f", state="stub")),
        ev.SourceAdded(source=Source(id="S4", url="u4")),
        ev.SourceDropped(source_id="S2"),
        ev.SourceDropped(source_id="S2"),
    )
    assert [source.id for source in state.citable_sources()] == ["S1"]
    assert state.dropped_sources == ["S2"]


def test_top_tasks_are_those_of_the_planner() -> None:
    state = state_of(ev.TaskChanged(task=Task(name="a")), ev.TaskChanged(task=Task(name="b", depth=2)))
    assert [task.name for task in state.top_tasks()] == ["a"]


def test_a_plan_replaces_the_one_before() -> None:
    state = state_of(ev.PlanWritten(items=(PlanItem(name="a"),)), ev.PlanWritten(items=(PlanItem(name="b"),)))
    assert [item.name for item in state.plan] == ["b"]


def test_calls_refusals_and_searches_are_counted() -> None:
    call = ev.ToolCalled(role="Searcher", call_id="1", tool="web_search")
    state = state_of(
        call,
        call,
        ev.ToolRefused(role="Searcher", call_id="2", tool="web_search", rule="quota", reason="x"),
        ev.SearchDone(query="a", backend="ddgs", outcome="rate_limited"),
        ev.SearchDone(query="b", backend="ddgs", outcome="ok"),
    )
    assert (state.used, state.refusals) == ({"web_search": 2}, 1)
    assert (state.queries, state.search_health) == (["a", "b"], {"ddgs": "ok"})


def test_a_dispatch_is_open_until_it_ends() -> None:
    started = ev.DispatchStarted(dispatch="d1", role="Searcher", task="t")
    ended = ev.DispatchEnded(dispatch="d1", role="Searcher", task="t")
    assert state_of(started).open_dispatches == {"d1": "t"}
    assert state_of(started, ended, ended).open_dispatches == {}


def test_drafts_reviews_and_rejections() -> None:
    state = state_of(
        ev.ArtifactWritten(artifact="findings", file="draft/findings.md", words=3, citable=2, by="FindingsWriter"),
        ev.ArtifactRejected(artifact="findings", file="draft/rejected/findings_1.md", problem="not_grounded"),
        ev.ReviewDone(artifact="findings", ok=True, reviewed=False),
    )
    assert state.drafts["findings"].citable == 2
    assert state.rejected == {"findings": ["draft/rejected/findings_1.md"]}
    assert state.reviews == {"findings": False}


def test_instructions_are_kept_and_other_commands_are_not() -> None:
    kinds = ("instruction", "more", "stop", "drop_source")
    assert state_of(*(ev.Steered(text=kind, kind=kind) for kind in kinds)).steering == ["instruction", "more"]


def test_usage_adds_up_by_role() -> None:
    def told(tokens: int, **more: Any) -> ev.UsageReported:
        return ev.UsageReported(role="Planner", usage=Usage(tokens_in=tokens, tokens_out=1, seconds=0.5, sent_chars=10, **more))

    usage = state_of(told(5), told(7, estimated=True), told(1)).usage["Planner"]
    assert (usage.tokens_in, usage.tokens_out, usage.calls, usage.seconds, usage.sent_chars) == (13, 3, 3, 1.5, 30)
    assert usage.estimated


def test_usage_adds_up_by_the_stage_in_which_it_was_reported() -> None:
    told = ev.UsageReported(role="Builder", usage=Usage(tokens_in=2))
    state = state_of(told, ev.StageChanged(stage="writing_report"), told, told)
    assert {step: row.calls for step, row in state.usage_by_step.items()} == {"planning": 1, "writing_report": 2}


def test_the_end_is_told_with_its_problems() -> None:
    counts = ClaimCounts(supported=3)
    state = state_of(
        ev.ReportDelivered(file="final_report.md", citations=("S1",), claims=counts),
        ev.RunEnded(outcome="unverified", exit=3, reason="why", problems=("no_urls",), seconds=9.0),
    )
    assert (state.outcome, state.reason, state.problems, state.seconds, state.stage) == ("unverified", "why", ("no_urls",), 9.0, "done")
    assert (state.claims, state.citations) == (counts, ("S1",))


def test_attempts_tell_in_which_process_they_were() -> None:
    state = state_of(ev.CheckVerdict(attempt=1, problem="a"), ev.RunResumed(), ev.CheckVerdict(attempt=1, problem="b"))
    assert [(attempt.problem, attempt.process) for attempt in state.attempts_log] == [("a", 1), ("b", 2)]
    assert state.attempt == 1


def test_events_that_change_nothing_change_nothing_but_the_number() -> None:
    before = state_of()
    after = state_of(
        ev.Message(seq=2, role="User", text="x"), ev.Notice(seq=3, text="y"), ev.Asked(seq=4, ask_id="1", kind="plan", text="z")
    )
    assert after.last_seq == 4
    after.last_seq = before.last_seq
    assert after == before


def test_every_event_that_the_state_handles_exists() -> None:
    known = set(get_args(get_args(ev.AnyEvent)[0]))
    assert set(run_state._HANDLERS) <= known


# Resuming


def test_a_resume_keeps_what_is_carried_and_starts_the_rest_afresh() -> None:
    before = state_of(
        ev.TaskChanged(task=Task(name="t", state="done")),
        ev.ToolCalled(role="Planner", call_id="1", tool="delegate_tasks"),
        ev.CheckVerdict(attempt=3, problem="no_urls"),
        ev.RunEnded(outcome="stopped", exit=130),
    )
    after = fold([ev.RunResumed(seq=9, stage="checking", budget={"search": 10})], before.model_copy(deep=True))
    assert (after.processes, after.stage, after.budget, after.last_seq) == (2, "checking", {"search": 10}, 9)
    assert (after.used, after.attempt, after.outcome) == ({}, 0, None)
    for name in set(RunState.carried()) - {"processes", "last_seq"}:
        assert getattr(after, name) == getattr(before, name), name


def test_a_resumed_state_is_fresh_where_it_is_not_carried() -> None:
    before = state_of(ev.ToolCalled(role="Planner", call_id="1", tool="think"), ev.StageChanged(stage="checking"))
    after, fresh = resumed(before), RunState()
    for name in set(RunState.model_fields) - set(RunState.carried()):
        assert getattr(after, name) == getattr(fresh, name), name


# Properties


names = st.sampled_from(["a", "b", "c"])
EVENTS = st.one_of(
    st.builds(lambda n, s: ev.TaskChanged(task=Task(name=n, state=s)), names, st.sampled_from(["queued", "done", "failed"])),
    st.builds(lambda n, s: ev.SourceAdded(source=Source(id=n, url=n, file="f", state=s)), names, st.sampled_from(["ok", "stub"])),
    st.builds(lambda n: ev.SourceDropped(source_id=n), names),
    st.builds(lambda n: ev.FindingAdded(finding=Finding(id=n, task="t", top_task="t")), names),
    st.builds(lambda n: ev.ToolCalled(role="Searcher", call_id="1", tool=n), names),
    st.builds(lambda n: ev.DispatchStarted(dispatch=n, role="Searcher", task=n), names),
    st.builds(lambda n: ev.DispatchEnded(dispatch=n, role="Searcher"), names),
    st.builds(lambda n, k: ev.CheckVerdict(attempt=k, problem=n), names, st.integers(1, 9)),
    st.builds(lambda n: ev.UsageReported(role="Planner", usage=Usage(tokens_in=n)), st.integers(0, 1000)),
    st.just(ev.RunResumed(stage="checking")),
    st.just(ev.RunEnded(outcome="partial", exit=3)),
)
HISTORIES = st.lists(EVENTS, max_size=30).map(lambda items: [e.model_copy(update={"seq": n}) for n, e in enumerate([STARTED, *items], 1)])


@settings(max_examples=60, deadline=None)
@given(HISTORIES, st.integers(0, 31))
def test_a_snapshot_and_the_rest_of_the_log_give_the_same_as_the_whole_log(history: list[ev.Event], cut: int) -> None:
    snapshot = RunState.model_validate_json(fold(history[:cut]).model_dump_json())
    assert fold(history[cut:], snapshot) == fold(history)


@settings(max_examples=60, deadline=None)
@given(HISTORIES)
def test_the_log_read_back_gives_the_same_state(history: list[ev.Event]) -> None:
    assert fold(ev.parse_event(event.model_dump_json()) for event in history) == fold(history)


@settings(max_examples=60, deadline=None)
@given(HISTORIES)
def test_what_is_carried_survives_any_number_of_resumes(history: list[ev.Event]) -> None:
    before = fold(history)
    once, twice = resumed(before), resumed(resumed(before))
    assert once == twice
    assert all(getattr(once, name) == getattr(before, name) for name in RunState.carried())


@settings(max_examples=60, deadline=None)
@given(HISTORIES)
def test_no_finished_work_is_ever_lost(history: list[ev.Event]) -> None:
    """Sources, findings and tasks only grow, whatever happens in between."""
    seen: set[str] = set()
    state = RunState()
    for event in history:
        run_state.apply(state, event)
        now = {f"s{n}" for n in state.sources} | {f"f{n}" for n in state.findings} | {f"t{n}" for n in state.tasks}
        assert seen <= now
        seen = now


# Versions


def test_the_current_version_is_described() -> None:
    assert SCHEMA_VERSION in SCHEMA_VERSIONS
    assert RunState().schema_version == SCHEMA_VERSION


def test_unknown_fields_of_a_snapshot_are_refused() -> None:
    with pytest.raises(ValidationError):
        RunState.model_validate({"colour": "red"})


@pytest.mark.parametrize("artifact", ["findings", "final_report"])
def test_drafts_stand_apart_from_what_is_delivered(artifact: Any) -> None:
    assert artifact_file(artifact) == f"draft/{artifact}.md"

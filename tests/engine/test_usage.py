"""What model calls cost: by role, by step, in all; priced by the settings; and what ends a run that may not cost more."""

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.records import Usage
from deepdelve.engine import store, usage
from deepdelve.engine.usage import RunHooks
from tests.support.incidents import quick
from tests.support.scripted import call
from tests.support.whole_run import RIVERS, good_builder, good_rules, run_scripted, write_corpus

ROLES = {"Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder", "PeerReviewer"}


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


def priced(model, tokens_in, tokens_out):
    return Settings.model_validate({"prices": {model: {"input": tokens_in, "output": tokens_out}}})


async def test_every_call_is_counted_once_for_its_role_and_once_for_its_step(rivers):
    run = await run_scripted(good_rules(), rivers)
    told = run.result.usage
    assert set(told["roles"]) == ROLES
    assert {name: row["calls"] for name, row in told["roles"].items()} == {
        role: sum(call.role == role for call in run.factory.calls) for role in ROLES
    }
    for rows in (told["roles"], told["steps"]):
        assert sum(row["calls"] for row in rows.values()) == told["calls"] == len(run.factory.calls)
        assert sum(row["tokens_in"] for row in rows.values()) == told["tokens_in"]
        assert sum(row["tokens_out"] for row in rows.values()) == told["tokens_out"]


async def test_steps_are_the_stages_in_their_order(rivers):
    run = await run_scripted(good_rules(), rivers)
    assert list(run.result.usage["steps"]) == ["planning", "writing_findings", "writing_report"]
    written = run.result.usage["steps"]["writing_report"]
    assert written["calls"] == sum(run.result.usage["roles"][role]["calls"] for role in ("Builder",)) + 1


async def test_mending_is_a_step_of_its_own(rivers):
    run = await run_scripted(good_rules(Builder=never_right), rivers)
    assert run.result.usage["steps"]["checking"]["calls"] >= 2


def never_right(messages, options):
    """A Builder that always gets a figure wrong."""
    reply = good_builder(messages, options)
    if reply[0].type == "function_call" and reply[0].name == "write_workspace_file":
        args = reply[0].parse_arguments()
        return [call("write_workspace_file", name=args["name"], text=args["text"].replace("212", "912"))]
    return reply


async def test_usage_is_the_same_when_it_is_read_from_the_disk(rivers):
    run = await run_scripted(good_rules(), rivers)
    (run.run.dir / store.SNAPSHOT).unlink()
    assert usage.summary(store.load_state(run.run.dir)) == run.result.usage


async def test_where_the_price_is_known_each_row_has_its_cost_and_they_add_up(rivers):
    settings = priced("scripted-1", 3.0, 15.0)
    run = await run_scripted(good_rules(), rivers, settings=settings)
    told = run.result.usage
    assert told["cost"] == pytest.approx((told["tokens_in"] * 3 + told["tokens_out"] * 15) / 1e6, abs=1e-6)
    for rows in (told["roles"], told["steps"]):
        assert sum(row["cost"] for row in rows.values()) == pytest.approx(told["cost"], abs=1e-5)


async def test_without_a_price_there_is_no_cost(rivers):
    run = await run_scripted(good_rules(), rivers, settings=priced("another-model", 3.0, 15.0))
    assert "cost" not in run.result.usage
    assert not [row for row in run.result.usage["roles"].values() if "cost" in row]


def reported(*calls, model="main"):
    """The state after these calls: (role, model that answered, tokens in, tokens out); an empty model is the run's own."""
    run = FakeRun()
    run.state.model = model
    made = hooks_of(run)
    for role, answered, tokens_in, tokens_out in calls:
        made.on_usage(role, Usage(model=answered, tokens_in=tokens_in, tokens_out=tokens_out), False)
    return run


def test_each_call_is_priced_as_the_model_that_answered_it():
    run = reported(("Planner", "main", 1_000_000, 0), ("Searcher", "small", 1_000_000, 0), ("Searcher", "small", 0, 1_000_000))
    settings = Settings.model_validate({"prices": {"main": {"input": 5, "output": 9}, "small": {"input": 1, "output": 2}}})
    told = usage.summary(run.state, settings)
    assert (told["cost"], told["unpriced"]) == (8.0, [])
    assert {name: row["cost"] for name, row in told["roles"].items()} == {"Planner": 5.0, "Searcher": 3.0}
    assert {name: (row["calls"], row["cost"]) for name, row in told["models"].items()} == {"main": (1, 5.0), "small": (2, 3.0)}
    assert sum(row["cost"] for row in told["steps"].values()) == 8.0


def test_a_model_without_a_price_is_named_and_its_calls_are_counted_all_the_same():
    run = reported(("Planner", "main", 1_000_000, 0), ("Searcher", "small", 1_000_000, 0))
    told = usage.summary(run.state, priced("main", 5, 9))
    assert (told["cost"], told["unpriced"], told["tokens_in"]) == (5.0, ["small"], 2_000_000)
    assert told["roles"]["Searcher"]["cost"] == 0.0
    assert "cost" not in told["models"]["small"]


def test_one_role_on_two_models_as_after_a_resume_is_priced_by_each():
    run = reported(("Builder", "main", 1_000_000, 0), ("Builder", "other", 1_000_000, 0))
    settings = Settings.model_validate({"prices": {"main": {"input": 5}, "other": {"input": 7}}})
    told = usage.summary(run.state, settings)
    assert (told["roles"]["Builder"]["cost"], told["roles"]["Builder"]["calls"]) == (12.0, 2)


def test_a_backend_that_names_no_model_is_the_run_s_own():
    run = reported(("Planner", "", 10, 1))
    assert [event.model for event in run.events if isinstance(event, ev.UsageReported)] == ["main"]
    assert list(usage.summary(run.state)["models"]) == ["main"]


class FakeRun:
    """As much of a run as the hooks touch."""

    def __init__(self, tokens=0):
        from deepdelve.engine.budget import Budget, RunClock
        from deepdelve.utils.run_state import RunState, apply

        self.state, self.apply = RunState(model="m"), apply
        self.budget = Budget(1, 1, 60, 60, tokens, {})
        self.clock = RunClock(60)
        self.research_closed = ""
        self.events = []

    def emit(self, event):
        self.events.append(event)
        self.apply(self.state, event)

    def notice(self, told, *, level="info", code=""):
        self.events.append(ev.Notice(text=told, level=level, code=code))

    def tokens_spent(self):
        return self.state.all_tokens()

    def codes(self):
        return [event.code for event in self.events if isinstance(event, ev.Notice)]


def hooks_of(run):
    made = RunHooks()
    made.bind(run)
    return made


def test_a_cut_context_raises_the_alarm_once_a_role():
    run = FakeRun()
    made = hooks_of(run)
    for role in ("Analyzer", "Analyzer", "Builder"):
        made.on_usage(role, Usage(tokens_in=100, tokens_out=5), True)
    assert run.codes() == ["context_cut", "context_cut"]
    assert [event.truncated for event in run.events if isinstance(event, ev.UsageReported)] == [True] * 3


def test_a_token_budget_ends_research_at_its_share_and_says_so_once():
    run = FakeRun(tokens=1_000)
    made = hooks_of(run)
    made.on_usage("Searcher", Usage(tokens_in=600, tokens_out=99), False)
    assert (run.research_closed, run.codes()) == ("", [])
    for _ in range(2):
        made.on_usage("Searcher", Usage(tokens_in=1, tokens_out=0), False)
    assert run.research_closed == "research has used its share of the token budget"
    assert run.codes() == ["token_budget"]


def test_research_that_has_ended_for_another_reason_has_that_reason():
    run = FakeRun(tokens=10)
    run.research_closed = "no news"
    hooks_of(run).on_usage("Searcher", Usage(tokens_in=10, tokens_out=0), False)
    assert (run.research_closed, run.codes()) == ("no news", [])


def test_before_there_is_a_run_nothing_is_reported_and_nothing_fails():
    made = RunHooks()
    made.on_usage("Planner", Usage(tokens_in=1), True)
    made.on_thinking("Planner", "hm")
    made.on_notice("Planner", "cut")
    made.on_refused("Planner", "tool", "why")
    assert made.time_left() is None


def test_thinking_is_shown_and_never_kept():
    run = FakeRun()
    hooks_of(run).on_thinking("Planner", "hm")
    (event,) = run.events
    assert event.type in ev.DELTA_TYPES


async def test_a_run_whose_research_has_used_its_share_writes_what_it_has(rivers):
    run = await run_scripted(good_rules(), rivers, settings=quick(max_tokens=7_000))
    assert run.run.research_closed == "research has used its share of the token budget"
    assert [notice.code for notice in run.surface.of(ev.Notice)].count("token_budget") == 1
    assert run.result.outcome == "verified"
    assert "212 kilometres" in run.report


async def test_where_nothing_was_found_before_the_tokens_were_used_up_that_is_the_reason(rivers):
    run = await run_scripted(good_rules(), rivers, settings=quick(max_tokens=1_000))
    assert (run.result.outcome, run.result.exit) == ("no_evidence", 3)
    assert "token budget before anything was found. Give it more (settings.max_tokens)" in run.result.reason


async def test_without_tokens_no_remedy_is_bought_and_the_problem_is_named(rivers):
    run = await run_scripted(good_rules(Builder=never_right), rivers, settings=quick(max_tokens=5_000))
    assert (run.result.outcome, run.result.problems) == ("unverified", ("figure_unsupported",))
    assert run.result.reason.startswith("the token budget of the run was used up")
    assert [event.role for event in run.surface.of(ev.DispatchStarted)].count("Builder") == 1


async def test_a_resumed_run_has_its_tokens_anew(rivers):
    first = await run_scripted(good_rules(), rivers, settings=quick(max_tokens=50_000))
    from deepdelve.engine.run import Run

    again = Run(first.run.dir, store.load_state(first.run.dir), first.run.budget)
    assert again.state.all_tokens() > 0
    assert (again.tokens_spent(), again.out_of_tokens()) == (0, False)

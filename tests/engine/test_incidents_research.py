"""What once went wrong in research, with steering and with budgets, each as a whole run, named for what holds now."""

import asyncio

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError
from deepdelve.core.requests import Command
from tests.support.faults import off
from tests.support.incidents import (
    THREE,
    THREE_ASKED,
    THREE_TASKS,
    dispatches,
    finds_nothing_about,
    told,
    winners,
)
from tests.support.scripted import call, text
from tests.support.whole_run import (
    RIVERS,
    RecordingSurface,
    good_analyzer,
    good_builder,
    good_planner,
    good_rules,
    good_searcher,
    results,
    run_scripted,
    said,
    start_scripted,
    write_corpus,
)


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


class TestResearch:
    async def test_rounds_that_bring_nothing_new_end_research_with_the_reason(self, tmp_path):
        """FAULTS 45."""

        def only_alder(messages, options):
            task = said(messages).split("Your task:")[1].split("\n")[0]
            return good_analyzer(messages, options) if "Alder" in task else text("The sources do not answer the task.")

        rules = good_rules(Planner=good_planner(*THREE_TASKS), Analyzer=only_alder)
        run = await run_scripted(rules, write_corpus(tmp_path / "c", THREE), depth="deep", question=THREE_ASKED)
        ended = [n.text for n in run.surface.of(ev.Notice) if n.code == "no_progress"]
        assert len(ended) == 1
        assert "no new page and no new query" in ended[0]
        assert "212 kilometres" in run.report
        assert "directly states: river Cedar" in run.report

    async def test_a_thin_run_is_deepened_along_its_leads(self, tmp_path):
        """The leads of a task without evidence are given, fenced, to the task that follows it."""

        def analyzer(messages, options):
            task = said(messages).split("Your task:")[1].split("Sources to read:")[0]
            if "Alder" in task and "deeper" in task:
                return good_analyzer(messages, options)
            return text("Nothing.\n\nFOLLOW-UP DIRECTIONS:\n- the archive of the water board" if "Alder" in task else "Nothing.")

        run = await run_scripted(good_rules(Analyzer=analyzer), write_corpus(tmp_path / "c", RIVERS))
        deeper = next(message for message in told(run, "Searcher") if "Your task: river Alder: deeper" in message)
        assert "the archive of the water board" in deeper.split("<<<untrusted")[1]
        assert winners(run)[0] == "thin_coverage"
        assert "212 kilometres" in run.report

    @pytest.mark.parametrize("reply", ["", "{broken json [", "[]", '{"tasks": "none"}', "Ich kann das nicht."])
    async def test_a_plan_that_cannot_be_read_becomes_the_question_itself(self, rivers, reply):
        """FAULTS 56."""

        def planner(messages, options):
            if not reply:
                raise BackendError("The model answered with nothing.", cause="empty")
            return text(reply)

        run = await run_scripted(good_rules(Planner=planner), rivers)
        if reply:
            assert run.result.outcome == "verified"
            assert any(n.code == "question_as_task" for n in run.surface.of(ev.Notice))
        else:
            assert run.result.outcome in {"failed", "no_evidence"}
            assert run.result.citations == ()

    async def test_a_facet_whose_searches_fail_is_disclosed(self, rivers):
        """FAULTS 58."""

        def searcher(messages, options):
            if "Birch" in said(messages).split("Your task:")[1].split("\n")[0]:
                raise BackendError("The server answered with status 500.", cause="server_error", retry_after=0)
            return good_searcher(messages, options)

        run = await run_scripted(good_rules(Searcher=searcher, Analyzer=finds_nothing_about("Birch")), rivers)
        assert run.result.exit == 3
        assert "directly states: river Birch" in run.report

    @pytest.mark.parametrize("when", ["at once", "after its search"])
    async def test_a_searcher_that_fails_is_disclosed_also_where_its_pages_were_read_by_rule(self, rivers, when):
        def searcher(messages, options):
            if "Birch" in said(messages).split("Your task:")[1].split("\n")[0] and (when == "at once" or len(results(messages)) == 2):
                raise BackendError("The server answered with status 500.", cause="server_error", retry_after=0)
            return good_searcher(messages, options)

        run = await run_scripted(good_rules(Searcher=searcher), rivers)
        assert "98 kilometres" in run.report
        assert run.run.state.tasks["river Birch"].state == "done"
        notes = run.report.split("**Notes on this report**")[1]
        assert "Research on this broke off, and the report uses what had been found or was read without it: river Birch (" in notes
        assert "river Alder" not in notes

    async def test_snippets_never_reach_a_writer(self, rivers):
        """FAULTS 57."""
        rules = good_rules(
            Searcher=lambda m, o: [call("web_search", query="Alder")] if not results(m) else text("The Alder is 900 kilometres long.")
        )
        run = await run_scripted(rules, rivers, settings=off("disable_pass_leftovers"))
        assert run.result.outcome == "no_evidence"
        assert not dispatches(run, "FindingsWriter") + dispatches(run, "Builder")
        assert run.result.citations == ()

    @pytest.mark.parametrize("role", ["Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder", "PeerReviewer"])
    @pytest.mark.parametrize(
        "wrong",
        [
            lambda: call("no_such_tool", x=1),
            lambda: call("delegate_tasks", tasks="Oslo"),
            lambda: call("write_workspace_file", text=7),
            lambda: call("think"),
        ],
        ids=["unknown", "wrong type", "missing", "no arguments"],
    )
    async def test_a_role_that_calls_wrongly_for_ever_ends_its_dispatch_with_a_reason(self, rivers, role, wrong):
        """FAULTS 16: 164 to 263 model calls, and no report."""
        run = await asyncio.wait_for(run_scripted(good_rules(**{role: lambda m, o: [wrong()]}), rivers), 60)
        assert len(run.factory.calls) < 150
        assert run.result.outcome in {"verified", "partial", "unverified", "no_evidence", "failed", "no_report"}
        assert run.result.reason or run.result.outcome == "verified"
        if role in {"FindingsWriter", "Builder", "PeerReviewer"}:
            assert "212 kilometres" in run.report


class TestSteering:
    async def test_what_is_said_after_research_has_ended_holds_for_every_later_writing(self, rivers):
        going = []

        def builder(messages, options):
            if not going[0].run.state.steering and not results(messages):
                going[0].run.command(Command("instruction", "Say everything in miles."))
            if "in miles" in said(messages) and len(results(messages)) == 1:
                reply = good_builder(messages, options)
                return [
                    call(
                        "write_workspace_file",
                        name="final_report.md",
                        text=reply[0].parse_arguments()["text"].replace("# Report", "# In miles"),
                    )
                ]
            return good_builder(messages, options)

        surface = RecordingSurface()
        going.append(await start_scripted(good_rules(Builder=builder), rivers, surface, depth="quick"))
        result = await going[0].task
        assert result.outcome == "verified"
        assert "# In miles" in going[0].run.read_file("final_report.md")
        assert [e.text for e in surface.of(ev.Steered)] == ["Say everything in miles."]

    async def test_a_source_dropped_while_the_report_is_written_is_not_cited(self, rivers):
        """Its findings and claims fall, and what the report said from it is no longer supported."""
        going = []

        def builder(messages, options):
            run = going[0].run
            birch = next(s.id for s in run.state.sources.values() if "Birch" in s.title or "Birch" in s.url)
            if not run.state.dropped_sources:
                run.command(Command("drop_source", birch))
            return good_builder(messages, options)

        surface = RecordingSurface()
        going.append(await start_scripted(good_rules(Builder=builder), rivers, surface, depth="standard"))
        result = await going[0].task
        assert result.exit in {0, 3}
        assert len(result.citations) == 1
        assert "98 kilometres" not in going[0].run.read_file("final_report.md") or result.outcome != "verified"

    async def test_an_instruction_while_research_goes_on_reaches_the_planner(self, rivers):
        going, heard = [], []

        def planner(messages, options):
            if not results(messages):
                going[0].run.command(Command("instruction", "Look at the dams too."))
            heard.extend(m.text for m in messages if str(m.role) == "user" and "dams" in m.text)
            return good_rules()["Planner"](messages, options)

        surface = RecordingSurface()
        going.append(await start_scripted(good_rules(Planner=planner), rivers, surface))
        result = await going[0].task
        assert heard[0] == "The person adds: Look at the dams too."
        assert result.outcome == "verified"


class TestBudgets:
    @pytest.mark.parametrize("role", ["Planner", "Searcher", "Analyzer", "FindingsWriter", "PeerReviewer", "Builder"])
    async def test_the_end_of_the_time_in_any_stage_gives_a_labelled_result_and_never_nothing(self, rivers, role):
        async def hangs(messages, options):
            if role == "Planner" and not results(messages):
                return good_rules()["Planner"](messages, options)
            await asyncio.sleep(3600)
            return text("")

        run = await asyncio.wait_for(run_scripted(good_rules(**{role: hangs}), rivers, max_minutes=0.05), 30)
        assert run.result.outcome in {"partial", "unverified", "no_evidence"}
        assert run.result.exit == 3
        assert run.report.startswith("> ")
        if role in {"Planner", "FindingsWriter", "PeerReviewer", "Builder"}:
            assert "212 kilometres" in run.report
            assert run.result.outcome == "partial"

    async def test_used_up_searches_end_research_and_not_the_run(self, rivers):
        settings = Settings.model_validate(
            {"settings": {"presets": {"standard": {"attempts": 8, "planner_rounds": 2, "search": 1, "fetch": 1, "minutes": 5}}}}
        )

        def searcher(messages, options):
            return text("No more.") if "Refused" in "".join(results(messages)) else good_searcher(messages, options)

        run = await run_scripted(good_rules(Searcher=searcher), rivers, settings=settings)
        assert any(e.rule == "quota" for e in run.surface.of(ev.ToolRefused))
        assert "212 kilometres" in run.report or "98 kilometres" in run.report
        assert run.result.exit in {0, 3}

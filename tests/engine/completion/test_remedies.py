"""Each remedy by itself: what it changes, what it says and to whom, and what it leaves alone. The audit at the end holds that each is here."""

import re
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from deepdelve.core import events as ev
from deepdelve.core.records import ClaimText, Finding, PlanItem, Source, Task
from deepdelve.core.requests import RunRequest
from deepdelve.engine import prepare, setup
from deepdelve.engine.completion import remedies
from deepdelve.engine.completion.remedies import REMEDIES, Due
from deepdelve.engine.completion.table import TABLE, by_problem
from deepdelve.engine.completion.verdict import Facts, Gap, Verdict
from deepdelve.engine.writing.review_fix import stamp
from tests.support.faults import off
from tests.support.scripted import ScriptedFactory, call, text
from tests.support.whole_run import RIVERS, RecordingSurface, good_rules, results, said, write_corpus

CLAIMS = {"Alder": "The Alder is 212 kilometres long", "Birch": "The Birch is 98 kilometres long"}
FINDINGS = "## river Alder\n\n- The Alder is 212 kilometres long [S1]\n"
REPORT = "# Rivers\n\nThe Alder is 212 kilometres long [S1]. The Birch is 98 kilometres long [S2].\n"


def writing(name, *bodies):
    """A writer that gives these bodies in turn, and keeps what it was told."""
    told, left = [], list(bodies)

    def rule(messages, options):
        if results(messages):
            return text("Written.")
        told.append(said(messages))
        body = left.pop(0) if left else ""
        return [call("write_workspace_file", name=name, text=body)] if body else text("Nothing to do.")

    rule.told = told
    return rule


@asynccontextmanager
async def at_rest(tmp_path, *, findings="", report="", settings=None, **replaced):
    """A run with two read rivers and these drafts, on which nothing works yet: its context, surface and model."""
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    made, surface = [], RecordingSurface()

    async def choose(chosen, hooks):
        made.append(ScriptedFactory(good_rules(**replaced), hooks=hooks))
        return made[0], "scripted"

    from deepdelve.config import Settings

    asked = RunRequest(question="How long are the rivers Alder and Birch?", corpus=(str(corpus),))
    prepared = await prepare.prepare(asked, settings or Settings(), choose)
    run = setup.new_run(asked, prepared, surface)
    ctx = setup.context_for(run, prepared, surface, auto_approve=True)
    for number, (name, claim) in enumerate(CLAIMS.items(), 1):
        task = Task(name=f"river {name}", top=f"river {name}", depth=1, role="Searcher", facet=f"river {name}", state="done")
        run.emit(ev.TaskChanged(task=task))
        source = Source(id="", url=f"corpus://rivers/{name}.md", title=f"The {name}", status=200, kind="text", state="ok")
        run.add_source(source, RIVERS[name])
        kept = {"task": task.name, "top_task": task.name, "facet": task.facet, "depth": 1, "role": "Analyzer"}
        run.add_findings([Finding(id="", source_id=f"S{number}", claims=(ClaimText(text=claim),), **kept)])
    for artifact, body in (("findings", findings), ("final_report", report)):
        if body:
            (run.dir / "draft").mkdir(exist_ok=True)
            (run.dir / "draft" / f"{artifact}.md").write_text(body)
            stamp(ctx, artifact, "test")
    try:
        yield ctx, surface, made[0]
    finally:
        run.close()
        await ctx.services.close()


def due(ctx, problem, facts=None, *, gaps=(), rebuild=False):
    spec = by_problem()[problem]
    return Due(ctx, spec, Verdict(problem, facts or Facts(), spec.tier, spec.artifact), tuple(gaps), rebuild)


def dispatched(surface):
    return [(event.role, event.task) for event in surface.of(ev.DispatchStarted)]


class TestPlanner:
    async def test_planner_nudge_tells_the_planner_and_does_nothing_itself(self, tmp_path):
        async with at_rest(tmp_path) as (ctx, surface, _):
            words = await remedies.planner_nudge(due(ctx, "thin_coverage", Facts(count=1, wanted=3, tasks=("river Cedar",))))
            assert "river Cedar" in words
            assert "delegate" in words.lower()
            assert dispatched(surface) == []

    async def test_planner_nudge_researches_the_question_itself_where_a_first_word_was_in_vain(self, tmp_path):
        async with at_rest(tmp_path) as (ctx, surface, _):
            nudge = due(ctx, "not_delegated")
            ctx.run.emit(ev.CheckVerdict(attempt=1, problem="not_delegated"))
            assert await remedies.planner_nudge(nudge)
            ctx.run.emit(ev.CheckVerdict(attempt=2, problem="not_delegated"))
            assert await remedies.planner_nudge(nudge) is None
            assert dispatched(surface)[0] == ("Searcher", ctx.run.state.question)
            assert ctx.run.planner_rounds == 1

    async def test_plan_note_adds_what_the_plan_lacks_and_keeps_what_it_has(self, tmp_path):
        async with at_rest(tmp_path) as (ctx, _surface, _):
            ctx.run.emit(ev.PlanWritten(items=(PlanItem(name="river Alder", facet="river Alder"),)))
            assert await remedies.plan_note(due(ctx, "untracked_delegation", Facts(tasks=("river Birch",)))) is None
            assert [(item.name, item.facet) for item in ctx.run.state.plan] == [("river Alder",) * 2, ("river Birch",) * 2]

    async def test_acknowledge_gap_is_for_the_named_tasks_alone_and_twice_is_once(self, tmp_path):
        async with at_rest(tmp_path) as (ctx, _, _):
            for _ in range(2):
                assert await remedies.acknowledge_gap(due(ctx, "task_verification_flagged", Facts(tasks=("river Birch",)))) is None
            assert ctx.run.state.task_ledger["river Birch"]["gap_acknowledged"]
            assert not ctx.run.state.task_ledger.get("river Alder", {}).get("gap_acknowledged")


class TestDeepening:
    async def test_deepening_follows_the_leads_of_a_thin_task_in_a_fence(self, tmp_path):
        async with at_rest(tmp_path) as (ctx, surface, factory):
            lead = {"kind": "lead", "summary": "the water board's archive", "task": "river Birch", "top_task": "river Birch"}
            ctx.run.add_findings([Finding(id="", source_id="", facet="river Birch", depth=1, role="Analyzer", claims=(), **lead)])
            assert await remedies.deepening(due(ctx, "thin_coverage", Facts(tasks=("river Birch",)))) is None
            assert ("Searcher", "river Birch: deeper") in dispatched(surface)
            message = next(said(c.messages) for c in factory.calls if c.role == "Searcher")
            head, _, fenced = message.partition("<<<untrusted")
            assert "archive" in fenced
            assert "archive" not in head

    async def test_deepening_is_bounded_and_never_asks_twice_under_one_name(self, tmp_path):
        async with at_rest(tmp_path) as (ctx, surface, _):
            many = tuple(f"part {n}" for n in range(9))
            for _ in range(2):
                await remedies.deepening(due(ctx, "missing_query_facet", Facts(facets=many)))
            names = [task for role, task in dispatched(surface) if role == "Searcher"]
            assert len(names) == 2 * remedies.DEEPENING_TASKS == len(set(names))

    async def test_deepening_of_a_facet_says_of_which_question_it_is_a_part(self, tmp_path):
        async with at_rest(tmp_path) as (ctx, _surface, factory):
            await remedies.deepening(due(ctx, "missing_query_facet", Facts(facets=("budget",))))
            message = next(said(c.messages) for c in factory.calls if c.role == "Searcher")
            assert ctx.run.state.question in message

    async def test_deepening_without_a_task_to_deepen_tells_the_planner(self, tmp_path):
        async with at_rest(tmp_path) as (ctx, surface, _):
            assert "Delegate" in await remedies.deepening(due(ctx, "requested_count_shortfall", Facts(count=2, wanted=5, detail="rivers")))
            assert dispatched(surface) == []


class TestFindings:
    async def test_findings_writer_is_told_what_is_wrong_and_shown_file_and_evidence(self, tmp_path):
        writer = writing("findings.md", f"{FINDINGS}- The Birch is 98 kilometres long [S2]\n")
        async with at_rest(tmp_path, findings=FINDINGS, FindingsWriter=writer) as (ctx, surface, _):
            assert await remedies.findings_writer(due(ctx, "findings_ungrounded", Facts(source_ids=("S77",)))) is None
            assert "S77" in writer.told[0]
            assert FINDINGS.strip() in writer.told[0]
            assert "98 kilometres" in writer.told[0].split("The evidence:")[1]
            assert "S2" in ctx.draft("findings")
            assert [role for role, _ in dispatched(surface)] == ["FindingsWriter", "PeerReviewer"]

    async def test_findings_facets_goes_facet_by_facet_each_with_its_own_evidence(self, tmp_path):
        writer = writing("findings.md")
        async with at_rest(tmp_path, findings="## Rivers\n\n- Rivers are long [S9]\n", FindingsWriter=writer) as (ctx, surface, _):
            facets = ("river Alder", "river Birch")
            await remedies.findings_facets(due(ctx, "findings_underuses_evidence", Facts(facets=facets, source_ids=("S1", "S2"))))
            first = [message for message in writer.told if "Work on the facet 'river Alder' only" in message]
            second = [message for message in writer.told if "Work on the facet 'river Birch' only" in message]
            assert first
            assert second
            assert "98 kilometres" not in first[0].split("The evidence:")[1]
            assert "212 kilometres" not in second[0].split("The evidence:")[1]
            assert ctx.draft("findings") == "## Rivers\n\n- Rivers are long [S9]\n", "code never replaces a file that stands"
            assert {role for role, _ in dispatched(surface)} == {"FindingsWriter"}

    async def test_findings_facets_undoes_a_pass_that_loses_other_facets(self, tmp_path):
        writer = writing("findings.md", "## river Birch\n\n- The Birch is 98 kilometres long [S2]\n")
        async with at_rest(tmp_path, findings=FINDINGS, FindingsWriter=writer) as (ctx, surface, _):
            await remedies.findings_facets(due(ctx, "findings_underuses_evidence", Facts(facets=("river Birch",), source_ids=("S2",))))
            findings = ctx.draft("findings")
            assert findings.startswith(FINDINGS.rstrip())
            assert "98 kilometres long" in findings, "what the pass was for is added from the records"
            assert [event.problem for event in surface.of(ev.ArtifactRejected)] == ["lost_parts"]

    async def test_findings_facets_is_capped(self, tmp_path):
        writer = writing("findings.md")
        async with at_rest(tmp_path, findings=FINDINGS, FindingsWriter=writer) as (ctx, _surface, _):
            many = tuple(f"facet {n}" for n in range(12))
            await remedies.findings_facets(due(ctx, "findings_underuses_evidence", Facts(facets=many)))
            seen = {re.search("the facet '([^']+)' only", message).group(1) for message in writer.told}
            assert seen <= set(many[: ctx.services.settings.settings.completion.facet_dispatches])

    async def test_findings_entries_appends_and_asks_no_model(self, tmp_path):
        async with at_rest(tmp_path, findings=FINDINGS) as (ctx, _surface, factory):
            assert await remedies.findings_entries(due(ctx, "findings_underuses_evidence", Facts(facets=("river Birch",)))) is None
            assert ctx.draft("findings") == f"{FINDINGS}\n## river Birch\n\n- The Birch is 98 kilometres long [S2]\n"
            assert factory.calls == []
            assert ctx.run.state.drafts["findings"].citable == 2

    async def test_findings_entries_of_a_facet_without_evidence_change_nothing(self, tmp_path):
        async with at_rest(tmp_path, findings=FINDINGS) as (ctx, surface, _):
            await remedies.findings_entries(due(ctx, "findings_underuses_evidence", Facts(facets=("river Cedar",))))
            assert ctx.draft("findings") == FINDINGS
            assert surface.of(ev.Notice) == [n for n in surface.of(ev.Notice) if n.code != "entries_by_code"]


class TestReport:
    async def test_builder_mends_in_place_and_is_reminded_of_the_gaps(self, tmp_path):
        writer = writing("final_report.md", REPORT.replace("912", "212"))
        bad = REPORT.replace("212", "912")
        async with at_rest(tmp_path, findings=FINDINGS, report=bad, Builder=writer) as (ctx, surface, _):
            await remedies.builder(due(ctx, "report_meta_language", Facts(quotes=("As findings.md says",)), gaps=(Gap("river Cedar"),)))
            assert "No source in the available evidence directly states: river Cedar." in writer.told[0]
            assert "As findings.md says" in writer.told[0]
            assert surface.of(ev.ArtifactRejected) == []

    async def test_builder_sets_the_draft_aside_where_it_rebuilds_and_brings_it_back_where_nothing_comes(self, tmp_path):
        async with at_rest(tmp_path, findings=FINDINGS, report=REPORT, Builder=writing("final_report.md")) as (ctx, surface, _):
            await remedies.builder(due(ctx, "report_meta_language", Facts(quotes=("x",)), rebuild=True))
            assert [event.problem for event in surface.of(ev.ArtifactRejected)] == ["report_meta_language"]
            assert ctx.draft("final_report") == REPORT

    async def test_builder_facets_names_one_facet_at_a_time(self, tmp_path):
        writer = writing("final_report.md", REPORT + "One.\n", REPORT + "Two.\n")
        async with at_rest(tmp_path, findings=FINDINGS, report=REPORT, Builder=writer) as (ctx, surface, _):
            await remedies.builder_facets(due(ctx, "report_underuses_evidence", Facts(facets=("river Alder", "river Birch"))))
            named = [re.search("mend the facet '([^']+)' only", message).group(1) for message in writer.told]
            assert named == ["river Alder", "river Birch"]
            assert [role for role, _ in dispatched(surface)] == ["Builder", "Builder"], "one after the other, and no reviewer between"

    async def test_builder_facets_undoes_a_pass_that_loses_other_facets(self, tmp_path):
        writer = writing("final_report.md", "# Rivers\n\nThe Birch is 98 kilometres long [S2].\n", REPORT + "Two.\n")
        async with at_rest(tmp_path, findings=FINDINGS, report=REPORT, Builder=writer) as (ctx, surface, _):
            await remedies.builder_facets(due(ctx, "report_underuses_evidence", Facts(facets=("river Birch", "river Alder"))))
            assert ctx.draft("final_report") == REPORT + "Two.\n", "the next pass begins with what was there"
            assert [event.problem for event in surface.of(ev.ArtifactRejected)] == ["lost_parts"]

    async def test_report_by_code_holds_findings_and_what_they_left_out_and_asks_no_model(self, tmp_path):
        async with at_rest(tmp_path, findings=FINDINGS) as (ctx, _surface, factory):
            assert await remedies.report_by_code(due(ctx, "missing_artifact")) is None
            report = ctx.draft("final_report")
            assert report.startswith("# How long are the rivers Alder and Birch")
            assert report.count("212 kilometres") == report.count("98 kilometres") == 1
            assert factory.calls == []

    async def test_report_by_code_never_replaces_a_report(self, tmp_path):
        async with at_rest(tmp_path, findings=FINDINGS, report=REPORT) as (ctx, _, _):
            await remedies.report_by_code(due(ctx, "missing_artifact"))
            assert ctx.draft("final_report") == REPORT

    async def test_gap_section_appends_each_sentence_once(self, tmp_path):
        gaps = (Gap("river Cedar"), Gap("depth", ("how deep the Alder is", "how deep the Birch is")))
        async with at_rest(tmp_path, findings=FINDINGS, report=REPORT) as (ctx, _, factory):
            for _ in range(2):
                await remedies.gap_section(due(ctx, "undisclosed_evidence_gap", Facts(gaps=gaps)))
            report = ctx.draft("final_report")
            assert report.startswith(REPORT.rstrip())
            assert report.count("## Evidence gaps") == 1
            for question in ("river Cedar", "how deep the Alder is", "how deep the Birch is"):
                assert report.count(f"directly states: {question}.") == 1
            assert factory.calls == []

    async def test_citation_repair_maps_what_is_plain_and_drops_what_names_nothing(self, tmp_path):
        loose = "# Rivers\n\nThe Alder is 212 kilometres long [S1][S1]. The Birch is 98 kilometres long [S2, S99].\n"
        async with at_rest(tmp_path, findings=FINDINGS, report=loose) as (ctx, _, factory):
            await remedies.citation_repair(due(ctx, "unresolved_citation"))
            assert re.findall(r"\[S\d+\]", ctx.draft("final_report")) == ["[S1]", "[S2]"]
            assert factory.calls == []

    async def test_citation_repair_leaves_a_sound_draft_as_it_is(self, tmp_path):
        async with at_rest(tmp_path, findings=FINDINGS, report=REPORT) as (ctx, surface, _):
            before = len(surface.of(ev.ArtifactWritten))
            await remedies.citation_repair(due(ctx, "unresolved_citation"))
            assert ctx.draft("final_report") == REPORT
            assert len(surface.of(ev.ArtifactWritten)) == before


async def test_switched_off_passes_leave_the_drafts_alone(tmp_path):
    settings = off("disable_pass_findings_by_code", "disable_pass_report_by_code")
    async with at_rest(tmp_path, findings=FINDINGS, settings=settings) as (ctx, _, _):
        await remedies.findings_entries(due(ctx, "findings_underuses_evidence", Facts(facets=("river Birch",))))
        await remedies.report_by_code(due(ctx, "missing_artifact"))
        assert (ctx.draft("findings"), ctx.draft("final_report")) == (FINDINGS, "")


@pytest.mark.parametrize("remedy", REMEDIES)
def test_each_remedy_has_a_function_of_its_name_and_a_test_of_its_own(remedy):
    assert REMEDIES[remedy].__name__ == remedy
    assert REMEDIES[remedy].__doc__
    assert re.search(rf"async def test_{remedy}_", Path(__file__).read_text("utf-8"))


def test_every_remedy_of_the_table_can_be_carried_out():
    assert {remedy for spec in TABLE for remedy in spec.remedy} == set(REMEDIES)

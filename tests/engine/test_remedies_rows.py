"""Rows of the check matrix that no single writer's fault brings about, each as whole runs: mended, and never mended."""

import itertools
import json
import re
from typing import ClassVar

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.engine import conduct, resume, store
from deepdelve.engine.completion.gaps import gap_sentence
from deepdelve.engine.completion.table import TABLE
from tests.support.faults import ALDER, BIRCH, BREAD, FAULTS, REPORT, Fault, off
from tests.support.incidents import quick, told, winners, writes
from tests.support.scripted import ScriptedFactory, call, text
from tests.support.whole_run import (
    RIVERS,
    RecordingSurface,
    WholeRun,
    good_findings_writer,
    good_planner,
    good_rules,
    good_searcher,
    results,
    run_scripted,
    said,
    write_corpus,
)

GAP = "No source in the available evidence directly states: the river Cedar.\n"
CEDAR_ASKED = "How long are these rivers: the Alder, the Birch, the Cedar"


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


def fired(run, problem):
    return [event.remedy for event in run.surface.of(ev.CheckVerdict) if event.problem == problem]


class TestPartsOfTheQuestion:
    FAULT = Fault("missing_query_facet", REPORT, good=f"{REPORT}\n{GAP}", question=CEDAR_ASKED, seen=lambda report: "Cedar" not in report)

    async def test_a_part_that_the_report_passes_over_is_sought_then_written_or_owned_up_to(self, tmp_path):
        run = await self.FAULT.run(tmp_path / "c", mends=True)
        assert fired(run, "missing_query_facet")[0] == "deepening"
        assert (run.result.outcome, run.result.exit) == ("verified", 0)
        assert GAP.strip() in run.report

    async def test_a_writer_that_goes_on_passing_over_it_leaves_it_named(self, tmp_path):
        run = await self.FAULT.run(tmp_path / "c", mends=False)
        assert (run.result.outcome, run.result.exit) == ("unverified", 3)
        assert "missing_query_facet" in run.result.problems
        longest = max(len(list(group)) for name, group in itertools.groupby(winners(run)) if name == "missing_query_facet")
        assert longest <= 3
        assert len(winners(run)) <= run.run.budget.attempts


class TestWordsAlone:
    """A claim that words leave open, and the chat model as judge does not."""

    STRAY = "The Alder, a river in the north, is 212 kilometres long and much loved"
    BAD = REPORT.replace("The Alder is 212 kilometres long [Alder].", f"{STRAY} [Alder].")

    @staticmethod
    def judge(messages, options):
        asked = said(messages)
        if "CLAIM:" not in asked:
            return text(json.dumps({"ok": True, "issues": []}))
        numbers = re.findall(r"(\d+)\. CLAIM: (.*)", asked)
        return text(json.dumps([{"n": int(n), "verdict": "unsupported" if "much loved" in c else "supported"} for n, c in numbers]))

    async def run(self, rivers, *bodies):
        rules = good_rules(Builder=writes(*bodies), PeerReviewer=self.judge)
        return await run_scripted(rules, rivers, settings=quick(judge="model"))

    async def test_it_is_mended_when_it_is_named(self, rivers):
        run = await self.run(rivers, self.BAD, REPORT)
        assert winners(run) == ["entailment_unsupported"]
        assert self.STRAY in told(run, "Builder")[1]
        assert run.result.outcome == "verified"

    async def test_it_is_named_to_the_reader_where_nobody_mends_it(self, rivers):
        run = await self.run(rivers, self.BAD)
        assert (run.result.outcome, run.result.problems) == ("unverified", ("entailment_unsupported",))
        assert "⚠ not supported by" in run.report

    async def test_without_the_model_as_judge_the_words_decide(self, rivers):
        run = await run_scripted(good_rules(Builder=writes(self.BAD)), rivers)
        assert "entailment_unsupported" not in winners(run)


class TestBesideThePoint:
    """A page that speaks of something else is cited all the same."""

    DOCUMENTS: ClassVar = {**RIVERS, "Sourdough": f"{BREAD}\nThe third part is eaten warm.\n"}
    TASKS = (("river Alder", "How long is the river Alder?"), ("river Birch", "How long is the river Birch?"), ("third part", "third part"))
    STRAY = "## Bread\n\nSourdough bread rises for 12 hours in 3 bowls [Sourdough]. The dough has 700 grams of flour [Sourdough].\n"
    OWNED = "No source in the available evidence directly states: third part.\n"
    FAULT = Fault(
        "off_topic_source",
        f"{REPORT}{STRAY}{OWNED}",
        good=f"{REPORT}{OWNED}",
        documents=DOCUMENTS,
        tasks=TASKS,
        seen=lambda report: "Sourdough" in report,
    )

    async def test_it_is_taken_out_when_it_is_named(self, tmp_path):
        run = await self.FAULT.run(tmp_path / "c", mends=True)
        assert fired(run, "off_topic_source") == ["builder"]
        assert not self.FAULT.seen(run.report)
        assert (run.result.outcome, run.result.problems) == ("verified", ())

    async def test_a_facet_of_which_only_such_pages_speak_is_a_gap_that_is_owned_up_to_and_cites_nothing(self, tmp_path):
        """The report was asked to cite such a page, since its facet had evidence, and then to take it out again."""
        rules = good_rules(Planner=good_planner(*self.TASKS), Builder=writes(REPORT))
        run = await run_scripted(rules, write_corpus(tmp_path / "c", self.DOCUMENTS))
        assert "report_underuses_evidence" not in winners(run)
        assert fired(run, "undisclosed_evidence_gap") == ["builder", "gap_section"]
        assert "directly states: third part" in run.report
        assert "Sourdough" not in run.report
        assert run.result.outcome == "verified"

    async def test_it_is_named_to_the_reader_where_nobody_takes_it_out(self, tmp_path):
        run = await self.FAULT.run(tmp_path / "c", mends=False)
        assert (run.result.outcome, run.result.exit) == ("unverified", 3)
        assert "off_topic_source" in run.result.problems


class TestWhatDoesNotBlock:
    """Problems that are mended where they can be, and that keep no run from being verified."""

    MANY: ClassVar = {
        f"Alder{n}": f"# The Alder, part {n}\n\nThe Alder has {n + 20} locks in its part {n}. It is a river.\n" for n in range(1, 8)
    }

    @staticmethod
    def fetching(count):
        """A Searcher that fetches so many hits for the Alder, and one for anything else."""

        def rule(messages, options):
            found = results(messages)
            task = re.search(r"Your task: (.*)", said(messages)).group(1)
            if len(found) == 1:
                urls = re.findall(r'"url": "([^"]+)"', found[0])
                return [call("fetch_url_to_workspace", url=url) for url in urls[: count if "Alder" in task else 1]]
            if len(found) > 1:
                return text("Done.")
            return good_searcher(messages, options)

        return rule

    async def test_a_task_with_far_less_than_another_is_told_to_the_planner_once(self, tmp_path):
        corpus = write_corpus(tmp_path / "c", {**self.MANY, "Birch": RIVERS["Birch"]})
        run = await run_scripted(good_rules(Searcher=self.fetching(5)), corpus, question="What is known of the rivers Alder and Birch?")
        assert fired(run, "uneven_task_investment") == ["planner_nudge"]
        assert run.result.outcome == "verified"
        said_to_planner = [m.text for m in run.surface.of(ev.Message) if m.dispatch == "" and m.role == "User"]
        assert any("river Birch" in words for words in said_to_planner[1:])

    async def test_a_report_that_cites_few_of_many_sources_is_asked_for_more(self, tmp_path):
        corpus = write_corpus(tmp_path / "c", {**self.MANY, "Birch": RIVERS["Birch"]})

        def narrow(messages, options):
            found = results(messages)
            if not found:
                return [call("read_workspace_file", name="findings.md")]
            if len(found) > 1:
                return text("Written.")
            lines = re.findall(r"- (.*?)\.? \[(S\d+)\]", found[0])
            asked_for_more = "cites" in said(messages) and "sources" in said(messages).split("Whatever you change")[0]
            firsts = {
                re.search("Alder|Birch|dammed", line).group(0): (line, i) for line, i in lines if re.search("Alder|Birch|dammed", line)
            }
            chosen = lines if asked_for_more else list(firsts.values())
            body = "\n\n".join(f"{line} [{i}]." for line, i in chosen)
            return [call("write_workspace_file", name="final_report.md", text=f"# Rivers\n\n## Alder and Birch\n\n{body}\n")]

        rules = good_rules(Searcher=self.fetching(5), Builder=narrow)
        settings = off("disable_check_uneven_task_investment")
        run = await run_scripted(rules, corpus, question="What is known of the rivers Alder and Birch?", settings=settings)
        assert fired(run, "report_underuses_findings") == ["builder"]
        assert run.result.outcome == "verified"
        assert len(run.result.citations) >= 5

    async def test_a_task_outside_the_plan_is_put_into_it_once(self, rivers):
        def planner(messages, options):
            if results(messages):
                return text("Done.")
            items = [{"name": "river Alder", "facet": "river Alder", "instructions": "How long is the Alder?"}]
            asks = [*items, {"name": "river Birch", "facet": "river Birch", "instructions": "How long is the Birch?"}]
            tasks = [{"task_name": ask["name"], "facet": ask["facet"], "instructions": ask["instructions"]} for ask in asks]
            return [call("write_plan", items=items), call("delegate_tasks", tasks=tasks)]

        run = await run_scripted(good_rules(Planner=planner), rivers)
        assert fired(run, "untracked_delegation") == ["plan_note"]
        assert [item.name for item in run.run.state.plan] == ["river Alder", "river Birch"]
        assert run.result.outcome == "verified"

    ITEM_ASKED = "How much do they weigh, and when: river Alder, river Birch"
    BARE = f"# Rivers\n\n{ALDER.replace('## Alder', '## River Alder')}## River Birch\n\nThe Birch is a river in the south [Birch].\n"
    FULL = f"# Rivers\n\n{ALDER.replace('## Alder', '## River Alder')}{BIRCH.replace('## Birch', '## River Birch')}"
    ITEM = Fault("missing_specific_item_per_facet", BARE, good=FULL, question=ITEM_ASKED, seen=lambda report: "98" not in report)

    async def test_a_part_without_the_figure_that_was_asked_for_is_mended_facet_by_facet(self, tmp_path):
        run = await self.ITEM.run(tmp_path / "c", mends=True)
        assert fired(run, "missing_specific_item_per_facet") == ["builder_facets"]
        assert "98 kilometres" in run.report
        assert run.result.outcome == "verified"

    async def test_where_nobody_mends_it_the_run_is_verified_all_the_same(self, tmp_path):
        run = await self.ITEM.run(tmp_path / "c", mends=False)
        assert len(fired(run, "missing_specific_item_per_facet")) <= 3
        assert (run.result.outcome, run.result.problems) == ("verified", ())


class TestNoAddress:
    """Intake and bundles give every source an address; the journal of a run that is taken up again need not."""

    async def taken_up(self, rivers, *, mends):
        """A run killed behind its findings, whose journal has lost the address of the Birch, and its second process."""
        first = await run_scripted(good_rules(), rivers)
        folder = first.run.dir
        kept = []
        for line in (folder / "journal.jsonl").read_text().splitlines():
            event = json.loads(line)
            if event["type"] == "source_added" and "Birch" in event["source"]["title"]:
                event["source"] |= {"url": "", "final_url": ""}
            kept.append(json.dumps(event))
            if event["type"] == "artifact_written":
                break
        (folder / "journal.jsonl").write_text("\n".join(kept) + "\n")
        for name in (store.SNAPSHOT, "final_report.md", "draft/final_report.md"):
            (folder / name).unlink()
        owned = f"{gap_sentence('river Birch')}\n"
        rules = Fault("no_urls", f"{REPORT}\n{owned}", good=f"# Rivers\n\n{ALDER}{owned}").rules(mends=mends)
        made = []

        async def choose(settings, hooks):
            made.append(ScriptedFactory(rules, hooks=hooks))
            return made[0], "scripted"

        surface = RecordingSurface()
        ctx = await resume.open_run(first.run.run_id, Settings(), surface, choose=choose)
        try:
            return WholeRun(await conduct.conduct(ctx), ctx.run, surface, made[0])
        finally:
            await ctx.services.close()

    async def test_what_nobody_can_open_is_taken_out_when_it_is_named(self, rivers):
        run = await self.taken_up(rivers, mends=True)
        assert fired(run, "no_urls") == ["builder"]
        assert winners(run) == ["no_urls"]
        assert (run.result.outcome, run.result.exit, run.result.problems) == ("verified", 0, ())
        assert [citation.url for citation in run.result.citations] == [run.run.state.sources["S1"].url]
        assert "directly states: river Birch" in run.report

    async def test_it_is_named_to_the_reader_where_nobody_takes_it_out(self, rivers):
        run = await self.taken_up(rivers, mends=False)
        assert fired(run, "no_urls") == ["builder"] * 3
        assert (run.result.outcome, run.result.exit) == ("unverified", 3)
        assert run.result.problems == ("no_urls",)
        assert "Open problems: no urls" in run.report


class TestFindingsThatAreNotThere:
    async def test_a_writer_that_was_silent_in_its_stage_is_asked_again_by_the_check(self, rivers):
        silent = iter(range(3))

        def late(messages, options):
            if not results(messages) and next(silent, None) is not None:
                return text("I will write them.")
            return good_findings_writer(messages, options)

        run = await run_scripted(good_rules(FindingsWriter=late), rivers, settings=off("disable_pass_findings_by_code"))
        assert fired(run, "missing_findings") == ["findings_writer"]
        assert run.result.outcome == "verified"

    async def test_without_any_findings_the_run_ends_soon_and_labelled(self, rivers):
        rules = good_rules(FindingsWriter=lambda messages, options: text("Done."))
        run = await run_scripted(rules, rivers, settings=off("disable_pass_findings_by_code"))
        assert run.result.exit == 3
        assert "212 kilometres" in run.report
        assert [event.role for event in run.surface.of(ev.DispatchStarted)].count("FindingsWriter") == 6


def test_every_row_of_the_table_is_shown_in_whole_runs_or_says_why_not():
    elsewhere = {
        "not_delegated": "test_whole_run: a Planner that only talks",
        "stale_findings": "test_whole_run: more research",
        "missing_artifact": "test_incidents: a Builder that never writes",
        "thin_coverage": "test_incidents_research: a thin run",
        "task_verification_flagged": "test_incidents: an acknowledged gap",
        "undisclosed_evidence_gap": "test_incidents: gaps",
        "stub_source": "test_incidents_research: a dropped source",
        "propagated_ungrounded_content": "test_incidents: a rejected draft that comes back",
    }
    here = {
        "missing_query_facet",
        "entailment_unsupported",
        "off_topic_source",
        "uneven_task_investment",
        "report_underuses_findings",
        "untracked_delegation",
        "missing_specific_item_per_facet",
        "missing_findings",
        "no_urls",
    }
    shown = {fault.problem for fault in FAULTS}
    assert shown | set(elsewhere) | here == {spec.problem for spec in TABLE}

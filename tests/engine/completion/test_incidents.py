"""What once went wrong, each as a run of the pure loop, named for what holds now."""

import itertools
from typing import Any

import pytest

from deepdelve.core.records import Flag
from deepdelve.engine.completion.gaps import gap_sentence
from deepdelve.engine.completion.schedule import streak
from deepdelve.engine.completion.table import RESEARCH_REMEDIES, TABLE, WRITER_REMEDIES, CheckSpec, by_problem
from deepdelve.engine.completion.verdict import Verdict
from deepdelve.engine.task_ledger import coverage
from deepdelve.engine.writing.material import build, deterministic_findings
from deepdelve.utils.run_state import RunState
from tests.engine.completion.play import Play, gives, writes
from tests.engine.completion.states import FINDINGS, QUESTION, REPORT, claim, finding, good_state, source, state_of, task, verdicts
from tests.engine.completion.test_verdict_matrix import LONG, MATRIX, Case

RENT = "Find the average monthly rent of a flat in Oslo"
UNCITED = "# Helsinki\n\n## Rent levels\n\nThe rent is 900 EUR.\n\n## Food prices\n\nMilk costs 1.20 EUR.\n"
REPEATING = f"{REPORT}\n## Demand\n\n{LONG} [S1]\n\n## Outlook\n\n{LONG} [S2]\n"
PLAN = ["rent levels", "food prices", "trams"]
WRITTEN = [spec for spec in TABLE if spec.resolution == "writer" and spec.problem not in {"stale_findings"}]


def with_failed_task(**fields: Any) -> RunState:
    state = good_state(tasks=[task("rent levels"), task("food prices"), task("trams", state="failed", reason="500")], plan=PLAN, **fields)
    state.task_ledger = {"trams": {"gap_acknowledged": True}}
    return state


class TestEveryWriterRemedy:
    """For each problem that a writer resolves: mended at once, it is gone; never mended, the run ends and names it."""

    @pytest.mark.parametrize("spec", WRITTEN, ids=lambda spec: spec.problem)
    def test_a_writer_that_mends_it_clears_it_with_one_attempt_of_its_own(self, spec: CheckSpec) -> None:
        bad, good = MATRIX[spec.problem]
        state, mended = _states(bad, good)

        def mend(play: Play, verdict: Verdict) -> None:
            if verdict.problem == spec.problem:
                play.report, play.findings, play.more, play.state = good.report, good.findings, good.more, mended

        play = Play(state, bad.report, bad.findings, dict.fromkeys(WRITER_REMEDIES | RESEARCH_REMEDIES, mend), more=bad.more)
        play.run()
        assert play.winners.count(spec.problem) <= 1

    @pytest.mark.parametrize("spec", WRITTEN, ids=lambda spec: spec.problem)
    def test_a_writer_that_never_writes_gets_T_attempts_in_a_row_and_the_run_ends_by_its_last(self, spec: CheckSpec) -> None:
        bad, _ = MATRIX[spec.problem]
        state, _ = _states(bad, bad)
        play = Play(state, bad.report, bad.findings, {"gap_section": lambda *_: None, "acknowledge_gap": lambda *_: None}, more=bad.more)
        decision = play.run()
        longest = max((len(list(group)) for name, group in itertools.groupby(play.winners) if name == spec.problem), default=0)
        assert longest <= 3
        assert spec.problem in decision.named or not spec.blocks
        assert decision.outcome == ("unverified" if any(by_problem()[name].blocks for name in decision.named) else "verified")


def _states(bad: Case, good: Case) -> tuple[RunState, RunState]:
    one, two = (case.state() if callable(case.state) else case.state.model_copy(deep=True) for case in (bad, good))
    return one, two


class TestStarvation:
    def test_a_dropped_facet_gets_its_turn_though_structural_problems_keep_winning(self) -> None:
        """The tier that never got its turn: another structural problem won each attempt, and three of four facets were lost."""
        report = REPEATING.replace("[S2]", "[S1]").replace("shops", "findings.md")
        play = Play(report=report, attempts=8)
        play.run()
        assert "report_underuses_evidence" in play.winners[:5]

    def test_a_report_that_cites_nothing_is_mended_though_tasks_stay_flagged(self) -> None:
        state = good_state(tasks=[task("rent levels"), task("food prices"), task("trams", state="failed")])
        play = Play(state, UNCITED, scripts={"acknowledge_gap": lambda *_: None, "builder": lambda *_: None})
        play.run()
        assert "not_grounded" in play.winners

    def test_half_the_tasks_fail_and_the_good_third_is_written_up(self) -> None:
        """FAULTS 5: coverage nudges took every attempt."""
        names = ["rent in Oslo", "food in Oslo", "trams in Oslo"]
        tasks = [task(name, state="done" if n == 0 else "failed") for n, name in enumerate(names)]
        state = good_state(tasks=tasks, findings=[finding(1, "S1", names[0])], question="Rent, food and trams in Oslo")
        written = "# Oslo\n\nThe rent is 900 EUR [S1].\n\n" + "\n\n".join(gap_sentence(name) for name in names[1:]) + "\n"

        def write(play: Play, verdict: Verdict) -> None:
            play.findings = "## rent in Oslo\n\n- The rent is 900 EUR [S1]\n"
            if verdict.problem != "missing_findings":
                play.report = written

        play = Play(state, "", "", {"findings_writer": write, "builder": write})
        decision = play.run()
        assert play.winners[:2] == ["missing_findings", "missing_artifact"]
        assert play.report == written
        assert decision.outcome == "unverified"
        assert "thin_coverage" in decision.named

    def test_a_retry_under_another_name_does_not_hide_that_the_task_keeps_failing(self) -> None:
        def rename(play: Play, _: Verdict) -> None:
            name = f"Bergen trams {len(play.history)}"
            play.state.tasks[name] = task(name, instructions="Find the tram lines of Bergen", state="failed")

        state = good_state(
            tasks=[task("rent levels"), task("food prices"), task("trams", instructions="tram lines of Bergen", state="failed")]
        )
        play = Play(state, REPORT + gap_sentence("trams") + "\n", scripts={"planner_nudge": rename, "acknowledge_gap": rename})
        play.run()
        flagged = by_problem()["task_verification_flagged"]
        assert streak(play.history, flagged.problem, flagged.symptoms) <= 3
        assert play.winners.count("untracked_delegation") <= 1


class TestWriters:
    def test_a_builder_that_gives_the_same_text_for_ever_costs_T_attempts(self) -> None:
        play = Play(report=UNCITED, scripts={"builder": writes(UNCITED)})
        decision = play.run()
        assert play.winners == ["not_grounded"] * 3
        assert decision.named[0] == "not_grounded"

    def test_the_third_is_a_rebuild(self) -> None:
        play = Play(report=UNCITED, scripts={"builder": writes(UNCITED)})
        play.run()
        assert play.rebuilds == [False, False, True]

    def test_one_that_gets_on_step_by_step_may_go_on(self) -> None:
        bad = [f"# Helsinki\n\n{REPORT[11:]}\nSee " + " ".join(f"[S{n}]" for n in range(90, 90 + left)) + "." for left in (5, 4, 3, 2, 1)]
        play = Play(report=bad[0], scripts={"builder": gives(*bad[1:], REPORT)})
        assert play.run().outcome == "verified"
        assert play.winners == ["unresolved_citation"] * 6

    def test_mending_one_problem_by_breaking_another_ends_within_the_attempts(self) -> None:
        swap = itertools.cycle([REPEATING, UNCITED])
        play = Play(report=UNCITED, scripts={"builder": lambda play, _: setattr(play, "report", next(swap))})
        decision = play.run()
        assert play.looks <= play.attempts + 1
        assert decision.outcome == "unverified"

    def test_one_that_deletes_a_section_to_be_rid_of_a_problem_is_told_of_the_facet(self) -> None:
        cut = "# Helsinki\n\n## Rent levels\n\nThe average rent of a flat is 900 EUR a month [S1].\n"
        play = Play(report=REPEATING, scripts={"builder": writes(cut)}, attempts=4)
        decision = play.run()
        assert {"missing_query_facet", "report_underuses_evidence"} & set(play.winners)
        assert decision.outcome == "unverified"

    def test_bad_ids_are_named_so_that_they_are_not_cited_again(self) -> None:
        """The rebuild that cited the same invented address in every attempt."""
        found = verdicts(good_state(), REPORT, FINDINGS + "- Embassies say so [S44]\n")["findings_ungrounded"]
        assert found.facts.source_ids == ("S44",)
        assert found.facts.quotes == ("Embassies say so [S44]",)

    def test_facets_that_were_lost_together_are_brought_back_one_by_one(self) -> None:
        """Asked for all at once, a writer dropped the harder facet whole."""
        rows = by_problem()
        assert rows["report_underuses_evidence"].remedy == ("builder_facets",)
        assert rows["findings_underuses_evidence"].remedy == ("findings_facets", "findings_entries")
        assert verdicts(good_state(), "# H\n\nNothing of it [S9].\n")["report_underuses_evidence"].facts.facets == (
            "rent levels",
            "food prices",
        )


class TestGaps:
    def test_a_builder_that_never_discloses_is_relieved_by_code(self) -> None:
        play = Play(with_failed_task())
        assert play.run().outcome == "verified"
        assert play.remedies == ["builder", "gap_section"]
        assert gap_sentence("trams") in play.report

    def test_the_second_firing_of_the_run_counts_and_not_only_the_second_in_a_row(self) -> None:
        """A disclosure that a rewrite for another problem lost, again and again."""
        disclosed = REPEATING + "\n" + gap_sentence("trams") + "\n"
        play = Play(with_failed_task(), scripts={"builder": gives(disclosed, REPORT)})
        assert play.run().outcome == "verified"
        assert play.winners == ["undisclosed_evidence_gap", "duplicate_report_sections", "undisclosed_evidence_gap"]
        assert play.remedies[-1] == "gap_section"

    def test_firings_of_an_earlier_process_count_too(self) -> None:
        first = Play(with_failed_task(), attempts=1)
        first.look()
        second = Play(first.state, first.report)
        second.run()
        assert second.remedies == ["gap_section"]

    def test_every_directive_restates_the_gaps(self) -> None:
        play = Play(with_failed_task(), REPEATING)
        play.run()
        assert all(gap_sentence("trams") in said for said in play.directives)

    def test_an_acknowledged_gap_is_not_reopened_by_the_next_attempt(self) -> None:
        tasks = [task("rent levels"), task("food prices"), task("trams", state="failed")]
        play = Play(good_state(tasks=tasks, plan=PLAN), REPORT + "\n" + gap_sentence("trams") + "\n")
        assert play.run().outcome == "verified"
        assert play.remedies == ["planner_nudge", "acknowledge_gap"]


class TestEvidence:
    STUB = Flag(kind="stub_source", urls=("https://site9.example/page",), detail="WARNING stub_source https://site9.example/page")

    def test_a_doubt_about_one_page_does_not_reach_the_findings_of_another(self) -> None:
        """A warning was copied into findings.md, and its address then taken for a citation, in every rebuild."""
        text = "One-bedroom flats cost MX$17,300 a month"
        state = good_state(findings=[finding(1, "S1", "rent levels", text, flags=[self.STUB]), finding(2, "S2", "food prices")])
        written = deterministic_findings(state)
        assert "17,300" in written
        assert "findings_ungrounded" not in verdicts(state, REPORT, written)
        assert "WARNING" not in build(state).text

    def test_leads_do_not_spoil_the_claims_beside_them(self) -> None:
        lead = finding(8, "", "rent levels", kind="lead", summary="https://never-fetched.example/next").model_copy(update={"claims": ()})
        state = good_state(findings=[finding(1, "S1", "rent levels"), lead, finding(2, "S2", "food prices")])
        assert verdicts(state) == {}
        assert "never-fetched" not in build(state).text

    def test_good_pages_whose_findings_came_back_empty_are_still_used(self) -> None:
        empty = [finding(n, f"S{n}", "rent levels").model_copy(update={"claims": ()}) for n in (1, 2)]
        texts = {f"S{n}": f"The rent levels in Helsinki were {n}00 EUR in spring." for n in (1, 2)}
        assert build(good_state(findings=empty), texts).source_ids == ("S1", "S2")

    def test_evidence_of_deeper_tasks_is_not_ignored(self) -> None:
        deep = finding(2, "S2", "food prices").model_copy(update={"depth": 2, "task": "Analyze the shop page"})
        state = good_state(findings=[finding(1, "S1", "rent levels"), deep])
        assert "task_verification_flagged" not in verdicts(state)

    def test_more_research_makes_the_findings_stale_until_they_are_written_again(self) -> None:
        state = good_state()
        state.sources["S3"] = source("S3")
        state.findings["F3"] = finding(3, "S3", "food prices")

        def write(play: Play, _: Verdict) -> None:
            play.findings = FINDINGS + "- Bread costs 3 EUR [S3]\n"
            play.state.drafts["findings"].citable = len(play.state.citable_sources())

        play = Play(state, scripts={"findings_writer": write})
        assert play.run().outcome == "verified"
        assert play.winners == ["stale_findings"]

    def test_a_dropped_source_is_no_longer_to_be_cited(self) -> None:
        found = verdicts(good_state(dropped_sources=["S2"]))
        assert found["stub_source"].facts.source_ids == ("S2",)
        assert found["findings_ungrounded"].facts.source_ids == ("S2",)


class TestTasks:
    def test_renames_do_not_make_coverage_thinner_with_every_try(self) -> None:
        tries = [task(f"Oslo rents {n}", instructions=RENT, state="failed") for n in range(5)]
        state = good_state(tasks=[task("rent levels"), task("food prices"), *tries])
        assert coverage(state).total == 3
        assert "thin_coverage" not in verdicts(state)

    def test_two_cities_from_one_template_both_stay(self) -> None:
        """One city's facet vanished from findings and report, and nothing said so."""
        tasks = [task("Oslo", instructions=RENT), task("Bergen", instructions=RENT.replace("Oslo", "Bergen"), state="failed")]
        state = state_of([source("S1")], tasks, [finding(1, "S1", "Oslo")], question=QUESTION)
        assert "Bergen" in verdicts(state)["task_verification_flagged"].facts.tasks

    def test_an_evidence_only_run_is_never_sent_to_research(self) -> None:
        state = good_state(evidence_only=True, tasks=[], findings=[finding(1, "S1", "rent levels")])
        play = Play(state, "# Helsinki\n\nThe rent is 900 EUR [S1][S2].\n")
        play.run()
        assert not set(play.remedies) & RESEARCH_REMEDIES


class TestCleanRuns:
    def test_a_sound_first_draft_spends_no_attempt(self) -> None:
        """FAULTS 27."""
        play = Play(more={"claims": [claim("The average rent of a flat is 900 EUR a month", kind="figure")]})
        decision = play.run()
        assert (decision.outcome, play.winners, play.looks) == ("verified", [], 1)

    def test_a_run_without_evidence_asks_no_writer(self) -> None:
        """FAULTS 31, 53: no evidence, no synthesis."""
        state = state_of(tasks=[task("a", state="failed"), task("b", state="failed")], question=QUESTION)
        play = Play(state, "", "")
        play.run()
        assert not set(play.remedies) & {"findings_writer", "findings_facets", "builder", "builder_facets"}

    def test_nothing_was_ever_dispatched(self) -> None:
        play = Play(state_of(question=QUESTION), "", "")
        assert play.run().named == ("not_delegated",)
        assert play.remedies == ["planner_nudge"] * 3

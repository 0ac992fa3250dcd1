"""Starvation, as whole runs: one problem that nobody mends never keeps another that can be mended from its turn."""

import itertools

import pytest

from deepdelve.core.errors import BackendError
from deepdelve.engine.completion.table import tier_problems
from tests.support.faults import _LONG, ALDER, BIRCH, FAULTS, REPORT, ids_of, with_ids
from tests.support.incidents import THREE, THREE_ASKED, dispatches, winners, writes
from tests.support.scripted import call, text
from tests.support.whole_run import (
    RIVERS,
    RIVERS_QUESTION,
    good_planner,
    good_rules,
    good_searcher,
    results,
    run_scripted,
    said,
    write_corpus,
)

PLACE = "\n[insert more detail here]\n"
TOLD_OF_PLACE = "These places were never filled in"
THRESHOLD = 3
BY_PROBLEM = {fault.problem: fault for fault in FAULTS}


def builder(shown, documents=RIVERS):
    """A Builder that reads the findings and then gives ``shown(first message)``, with ids put in."""

    def rule(messages, options):
        found = results(messages)
        if not found:
            return [call("read_workspace_file", name="findings.md")]
        if len(found) > 1:
            return text("Written.")
        return [call("write_workspace_file", name="final_report.md", text=with_ids(shown(said(messages)), ids_of(found[0], documents)))]

    return rule


def keeping(bad):
    """A Builder that holds on to its fault, and fills the place once it is told of it."""
    filled = []

    def shown(message):
        filled.extend([True] if TOLD_OF_PLACE in message else [])
        return bad if filled else bad.rstrip() + "\n" + PLACE

    return shown


STUBBORN = [
    "requested_count_shortfall",
    "duplicate_report_sections",
    "report_meta_language",
    "non_url_citation",
    "claim_unsupported",
    "figure_unsupported",
    "quote_paraphrased",
    "excluded_topic",
]


@pytest.mark.parametrize("problem", STUBBORN)
async def test_a_problem_at_the_end_of_the_table_gets_its_turn_though_one_before_it_is_never_mended(problem, tmp_path):
    fault = BY_PROBLEM[problem]
    rules = good_rules(Planner=good_planner(*fault.tasks), Builder=builder(keeping(fault.bad), fault.documents))
    run = await run_scripted(rules, write_corpus(tmp_path / "c", fault.documents), question=fault.question)
    won = winners(run)
    assert "placeholder_text" in won
    assert problem in won
    assert "insert more" not in run.report
    assert "placeholder_text" not in run.result.problems
    assert problem in run.result.problems
    assert (run.result.outcome, run.result.exit) == ("unverified", 3)
    assert len(won) <= run.run.budget.attempts


async def test_findings_that_stay_ungrounded_keep_no_report_problem_from_its_turn(tmp_path):
    fault = BY_PROBLEM["findings_ungrounded"]
    rules = fault.rules(mends=False) | {"Builder": builder(keeping(REPORT))}
    run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question=RIVERS_QUESTION)
    assert winners(run).count("findings_ungrounded") >= THRESHOLD
    assert "placeholder_text" in winners(run)
    assert run.result.problems == ("findings_ungrounded",)


async def test_a_tier_whose_problem_changes_every_time_still_leaves_the_other_tier_its_turn(tmp_path):
    """Each structural problem is mended by bringing about another one: none of them ever wins twice in a row."""
    course = f"## Course\n\n{_LONG} [Alder].\n\n## Outlook\n\n{_LONG} [Alder].\n"
    making = "## Making\n\nThis follows from findings.md as the Searcher agent wrote it.\n"
    turns = itertools.cycle([course, making])
    run = await run_scripted(
        good_rules(Builder=builder(lambda message: f"{REPORT}{next(turns)}The Alder has 14 bridges and 3 locks.\n")),
        write_corpus(tmp_path / "c", RIVERS),
    )
    won = winners(run)
    structural = tier_problems("structural")
    runs = [len(list(group)) for kind, group in itertools.groupby(won, key=lambda name: name in structural) if kind]
    assert {"duplicate_report_sections", "report_meta_language", "uncited_claims"} <= set(won)
    assert max(runs) <= THRESHOLD
    assert len(won) <= run.run.budget.attempts


async def test_a_report_that_dropped_facets_is_mended_though_tasks_stay_without_evidence(tmp_path):
    """Three of four facets were dropped from a report, and no grounding problem ever had a turn behind tasks that kept failing."""

    def failing(messages, options):
        if "Cedar" in said(messages).split("Your task:")[1].split("\n")[0]:
            raise BackendError("The server answered with status 500.", cause="server_error", retry_after=0)
        return good_searcher(messages, options)

    gap = "No source in the available evidence directly states: river Cedar.\n"

    def shown(message):
        return (
            f"{REPORT}{gap}"
            if "uses nothing of what was found" in message or "cites none of it" in message
            else f"# Rivers\n\n{ALDER}{gap}"
        )

    tasks = [(f"river {name}", f"How long is the river {name}?") for name in THREE]
    rules = good_rules(Planner=good_planner(*tasks), Searcher=failing, Builder=builder(shown))
    run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question=THREE_ASKED)
    assert "report_underuses_evidence" in winners(run)
    assert "98 kilometres" in run.report
    assert "report_underuses_evidence" not in run.result.problems


async def test_a_low_note_on_the_plan_is_said_once_and_never_again(tmp_path):
    """A task outside the plan fires its note at most once, and interrupts nobody."""

    def planner(messages, options):
        if results(messages):
            return text("Done.")
        tasks = [{"task_name": f"river {name}", "facet": f"river {name}", "instructions": f"How long is it: {name}?"} for name in RIVERS]
        return [
            call("write_plan", items=[{"name": "river Alder", "facet": "river Alder", "instructions": "How long?"}]),
            call("delegate_tasks", tasks=tasks),
        ]

    fault = BY_PROBLEM["claim_unsupported"]
    rules = good_rules(Planner=planner, Builder=builder(lambda message: fault.bad))
    run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS))
    won = winners(run)
    assert won.count("untracked_delegation") == 1
    assert won.count("claim_unsupported") == THRESHOLD


class TestRenames:
    """A Planner that gives a failing task out again under other names."""

    def planner(self, *rounds):
        """Gives these tasks out, a list a turn, then ends."""
        left = list(rounds)

        def rule(messages, options):
            last = messages[-1]
            if str(last.role) == "user" and left:
                return [call("delegate_tasks", tasks=left.pop(0))]
            return text("Done.")

        return rule

    def task(self, name, what):
        return {"task_name": name, "facet": "rent", "instructions": what}

    def failing(self, messages, options):
        raise BackendError("The server answered with status 500.", cause="server_error", retry_after=0)

    async def test_a_retry_in_other_words_makes_coverage_no_thinner_and_counts_as_the_same_failure(self, tmp_path):
        first = self.task("Typical rent in Oslo", "Find the typical monthly rent for a one-bedroom apartment in Oslo.")
        others = [
            self.task("Average rent in Oslo", "Search for recent data on the average monthly rent of a one-bedroom apartment in Oslo."),
            self.task("Oslo apartment rent", "Search the monthly rent of a typical one-bedroom apartment in Oslo."),
        ]
        rules = good_rules(Planner=self.planner([first], [others[0]], [others[1]]), Searcher=self.failing)
        run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), question="How high is the rent in Oslo?", depth="deep")
        standing = [name for name, entry in run.run.state.task_ledger.items() if entry["status"] != "superseded"]
        assert len(standing) == 1
        assert (run.result.outcome, run.result.citations) == ("no_evidence", ())
        won = winners(run)
        assert won.count("task_verification_flagged") + won.count("thin_coverage") <= THRESHOLD + 1
        assert not dispatches(run, "Builder")


@pytest.mark.parametrize("depth", ["quick", "standard"])
async def test_a_clean_report_waits_for_nobody(tmp_path, depth):
    run = await run_scripted(good_rules(Builder=writes(f"# Rivers\n\n{ALDER}{BIRCH}")), write_corpus(tmp_path / "c", RIVERS), depth=depth)
    assert (winners(run), run.result.outcome) == ([], "verified")

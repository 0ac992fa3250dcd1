"""For each problem of the table: a state in which it fires, and a twin, as near as may be, in which it must not."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from deepdelve.core.records import Flag
from deepdelve.engine.completion.context import CitationProblem, Contradiction, ReportFacts
from deepdelve.engine.completion.gaps import gap_sentence
from deepdelve.engine.completion.table import TABLE
from deepdelve.utils.run_state import DraftStamp, RunState
from tests.engine.completion.states import FINDINGS, REPORT, claim, finding, good_state, log, source, state_of, task, verdicts

LONG = " ".join(
    f"The {word} district reported steady demand for small flats near its station." for word in ("north", "south", "east", "west")
)


@dataclass
class Case:
    """One situation: a state and drafts, with what the ledger and the parser say of them."""

    state: RunState | Callable[[], RunState] = good_state
    report: str = REPORT
    findings: str = FINDINGS
    more: dict[str, Any] = field(default_factory=dict)

    def problems(self) -> set[str]:
        state = self.state if isinstance(self.state, RunState) else self.state()
        return set(verdicts(state, self.report, self.findings, **self.more))


def facts(**given: Any) -> dict[str, Any]:
    return {"facts": ReportFacts(**given)}


def ledger(*claims: Any) -> dict[str, Any]:
    return {"claims": claims}


def stamped(citable: int) -> RunState:
    state = good_state()
    state.drafts = {"findings": DraftStamp(file="draft/findings.md", citable=citable)}
    return state


def half_failed(**acknowledged: Any) -> RunState:
    state = good_state(
        tasks=[task("rent levels"), task("food prices", state="failed", reason="the server answered 500")],
        findings=[finding(1, "S1", "rent levels")],
        sources=[source("S1"), source("S2")],
    )
    state.task_ledger = {"food prices": acknowledged} if acknowledged else {}
    return state


def three_tasks(done: int) -> RunState:
    names = ["rent in Oslo", "rent in Bergen", "rent in Turku"]
    return good_state(
        tasks=[task(name, state="done" if i < done else "failed") for i, name in enumerate(names)],
        findings=[finding(i, "S1", name) for i, name in enumerate(names[:done])],
        plan=names,
    )


def invested(poor: int) -> RunState:
    ids = [f"S{n}" for n in range(1, 5 + poor)]
    found = [finding(i, source_id, "rent levels" if i < 4 else "food prices") for i, source_id in enumerate(ids)]
    return good_state(sources=[source(i) for i in ids], findings=found)


def many_cited(count: int) -> dict[str, Any]:
    ids = [f"S{n}" for n in range(1, 7)]
    text = "## rent levels\n\n" + "\n".join(f"- Fact {i} [{i}]" for i in ids)
    report = REPORT + "\n" + " ".join(f"Another statement rests on a page [{i}]." for i in ids[:count])
    state = good_state(sources=[source(i) for i in ids], findings=[finding(n, i, "rent levels") for n, i in enumerate(ids)])
    return {"state": state, "findings": text, "report": report}


def with_source(**fields: Any) -> RunState:
    return good_state(sources=[source("S1"), source("S2"), source("S3", **fields)])


def asking(question: str) -> RunState:
    return good_state(question=question)


def fired_before(*problems: str) -> RunState:
    state = good_state(tasks=[task("rent levels"), task("food prices"), task("Helsinki tram history")])
    state.attempts_log = log(*problems)
    return state


S3 = " The district is loud at night [S3]."
TITLED = "# Helsinki\n\n"
FIVE = "".join(f"- City number {i} is fine [S1]\n" for i in range(1, 6))
ITEM_QUESTION = "How much do rent levels and food prices cost: rent levels, food prices"
FLAG = Flag(kind="quote", detail="not verbatim")
REJECTED = "The harbour district doubled its population within two short years of planning."

MATRIX: dict[str, tuple[Case, Case]] = {
    "not_delegated": (Case(state_of(), "", ""), Case(state_of(tasks=[task("a", state="failed")]), "", "")),
    "missing_findings": (Case(findings=""), Case(findings="", more={"findings_due": False})),
    "findings_ungrounded": (Case(findings=FINDINGS + "- Loud at night [S9]\n"), Case()),
    "stale_findings": (Case(stamped(1)), Case(stamped(2))),
    "findings_underuses_evidence": (Case(findings="## rent levels\n\n- The rent is 900 EUR [S1]\n"), Case()),
    "missing_artifact": (Case(report=""), Case(state_of(tasks=[task("a")]), "", "")),
    "missing_query_facet": (
        Case(report=TITLED + "## Rent levels\n\nThe rent is 900 EUR [S1]. Shops are open late [S2].\n"),
        Case(report=TITLED + "## Rent levels\n\nThe rent is 900 EUR [S1]. " + gap_sentence("food prices in Helsinki") + " See [S2].\n"),
    ),
    "requested_count_shortfall": (
        Case(asking("List five quiet cities of Europe"), TITLED + FIVE.partition("- City number 4")[0]),
        Case(asking("List five quiet cities of Europe"), TITLED + FIVE),
    ),
    "thin_coverage": (Case(three_tasks(1)), Case(three_tasks(2))),
    "task_verification_flagged": (Case(half_failed()), Case(half_failed(gap_acknowledged=True))),
    "uneven_task_investment": (Case(invested(1)), Case(invested(2))),
    "report_underuses_findings": (Case(**many_cited(2)), Case(**many_cited(4))),
    "undisclosed_evidence_gap": (Case(half_failed()), Case(half_failed(), REPORT + "\n" + gap_sentence("food prices") + "\n")),
    "duplicate_report_sections": (
        Case(report=f"{REPORT}\n## Demand\n\n{LONG} [S1]\n\n## Outlook\n\n{LONG} [S2]\n"),
        Case(
            report=f"{REPORT}\n## Demand\n\n{LONG} [S1]\n\n## Outlook\n\nBuilders expect fewer permits next spring, and banks agree [S2].\n"
        ),
    ),
    "report_meta_language": (
        Case(report=REPORT + "\nAs listed in findings.md, shops are open late [S2].\n"),
        Case(report=REPORT + "\nThe builder found, as listed in the city's register, that shops are open late [S2].\n"),
    ),
    "untracked_delegation": (Case(fired_before()), Case(fired_before("untracked_delegation"))),
    "not_grounded": (Case(report="# Helsinki\n\nThe rent is 900 EUR.\n"), Case()),
    "no_urls": (Case(with_source(url=""), REPORT + S3), Case(with_source(), REPORT + S3)),
    "non_url_citation": (
        Case(report=REPORT + "\nRents rise every spring (Korhonen, 2021).\n"),
        Case(report=REPORT + "\nRents rise every spring (since May 2021) [S1].\n"),
    ),
    "unresolved_citation": (Case(report=REPORT + "\nThe city is loud at night [S77].\n"), Case()),
    "stub_source": (Case(with_source(state="stub", reason="log-in page"), REPORT + S3), Case(with_source(), REPORT + S3)),
    "claim_unsupported": (
        Case(more=ledger(claim("The rent fell", "unsupported"))),
        Case(more=ledger(claim("The rent fell", "partial"), claim("Nobody knows", "unsupported", citations=(), needs_citation=False))),
    ),
    "figure_unsupported": (
        Case(more=ledger(claim("It is 900", "contradicted", "figure"))),
        Case(more=ledger(claim("It is 900", "supported", "figure"))),
    ),
    "regulation_unsupported": (
        Case(more=ledger(claim("Under Act 12", "unsupported", "regulation"))),
        Case(more=ledger(claim("Under Act 12", "unchecked", "regulation"))),
    ),
    "quote_paraphrased": (
        Case(more=ledger(claim('He said "no"', "unsupported", "quote"))),
        Case(more=ledger(claim('He said "no"', "supported", "quote"))),
    ),
    "entailment_unsupported": (
        Case(more=ledger(claim("So it grows", "unsupported", "entailment"))),
        Case(more=ledger(claim("So it grows", "partial", "entailment"))),
    ),
    "cross_source_contradiction": (
        Case(more=facts(contradictions=(Contradiction(("S1", "S2"), "rent", "900 against 1,200"),))),
        Case(
            report=REPORT + "\nThe rent is 900 EUR by one count and 1,200 EUR by another [S1][S2].\n",
            more=facts(contradictions=(Contradiction(("S1", "S2"), "rent", "900 against 1,200"),)),
        ),
    ),
    "excluded_topic": (
        Case(asking("How is life in Helsinki, not Espoo"), REPORT + "\n## Life in Espoo\n\nEspoo has lakes and forests [S1].\n"),
        Case(asking("How is life in Helsinki, not Espoo"), REPORT + "\nEspoo is the town next to it [S1].\n"),
    ),
    "off_topic_source": (Case(more=facts(off_topic=("S2",))), Case(more=facts(off_topic=("S9",)))),
    "propagated_ungrounded_content": (
        Case(
            report=f"{REPORT}\n{REJECTED}\n",
            more={**facts(rejected=(f"# D\n\n{REJECTED}\n",)), **ledger(claim(REJECTED, "unchecked", citations=()))},
        ),
        Case(report=f"{REPORT}\n{REJECTED[:-1]} [S1].\n", more={**facts(rejected=(f"# D\n\n{REJECTED}\n",)), **ledger(claim(REJECTED))}),
    ),
    "uncited_claims": (
        Case(more=ledger(claim("The tram carries 9,000 people", "unchecked", citations=()))),
        Case(more=ledger(*(claim(f"It is {word}", "unchecked", citations=()) for word in ("loud", "green")))),
    ),
    "report_underuses_evidence": (Case(report=TITLED + "The rent levels are 900 EUR, food prices differ [S1].\n"), Case()),
    "missing_specific_item_per_facet": (
        Case(asking(ITEM_QUESTION), TITLED + "## Rent levels\n\nRent is 900 EUR [S1].\n\n## Food prices\n\nFood prices are fair [S2].\n"),
        Case(asking(ITEM_QUESTION), REPORT),
    ),
    "placeholder_text": (
        Case(report=REPORT + "\nThe tram costs XX EUR [S1]. [insert source here]\n"),
        Case(report=REPORT + "\nTodo el barrio es caro [S1]. [Map](https://site.example/map)\n"),
    ),
    "truncated_ending": (
        Case(report=REPORT + "\nIn the outer districts the rent of a flat is lower because of the\n"),
        Case(report=REPORT + "\n- A short last item without a full stop\n"),
    ),
}


def test_every_row_of_the_table_has_its_pair() -> None:
    assert set(MATRIX) == {spec.problem for spec in TABLE}


def test_a_sound_report_has_no_problem_at_all() -> None:
    assert Case().problems() == set()


@pytest.mark.parametrize("problem", MATRIX)
def test_it_fires(problem: str) -> None:
    assert problem in MATRIX[problem][0].problems()


@pytest.mark.parametrize("problem", MATRIX)
def test_it_must_not_fire_on_the_twin(problem: str) -> None:
    assert problem not in MATRIX[problem][1].problems()


@pytest.mark.parametrize("problem", MATRIX)
def test_the_twin_is_otherwise_like_it(problem: str) -> None:
    """Nothing but the problem itself, and what follows from it, tells the two apart."""
    bad, good = (case.problems() for case in MATRIX[problem])
    assert good - bad <= {
        "missing_artifact",
        "thin_coverage",
        "task_verification_flagged",
        "untracked_delegation",
        "undisclosed_evidence_gap",
    }


class TestThresholds:
    """Numbers that decide, at their edge."""

    def test_exactly_a_third_of_the_richest_tasks_sources_is_not_uneven(self) -> None:
        ids = [f"S{n}" for n in range(1, 5)]
        found = [finding(n, i, "rent levels" if n < 3 else "food prices") for n, i in enumerate(ids)]
        assert "uneven_task_investment" not in verdicts(good_state(sources=[source(i) for i in ids], findings=found))

    def test_half_of_the_tasks_covered_is_not_thin(self) -> None:
        assert "thin_coverage" not in verdicts(half_failed())

    def test_one_task_alone_is_never_thin(self) -> None:
        assert "thin_coverage" not in verdicts(state_of([source("S1")], [task("a", state="failed")]))

    @pytest.mark.parametrize(("bare", "fires"), [(2, False), (3, True)])
    def test_three_statements_without_a_source(self, bare: int, fires: bool) -> None:
        claims = [claim(f"The park is {word}", "unchecked", citations=()) for word in ("loud", "green", "old")[:bare]]
        assert ("uncited_claims" in verdicts(good_state(), claims=claims)) is fires

    def test_a_claim_without_a_source_is_counted_once_and_not_again_as_unsupported(self) -> None:
        """FAULTS 60: each claim is counted once."""
        bare = claim("The rent is 900", "unsupported", "figure", citations=())
        assert set(verdicts(good_state(), claims=[bare])) == {"uncited_claims"}

    def test_a_short_answer_need_not_cite_widely(self) -> None:
        cited = many_cited(2)
        cited["state"].style = "answer"
        assert "report_underuses_findings" not in Case(**cited).problems()


class TestRequestedCount:
    """However the items are laid out, they count."""

    @pytest.mark.parametrize(
        "given",
        [
            "".join(f"{n}. City {word}\n" for n, word in enumerate("abcde", 1)),
            "| City | Rent |\n|---|---|\n" + "".join(f"| {word} | 9 |\n" for word in "abcde"),
            "".join(f"### City {word}\n\nIt is quiet.\n\n" for word in "abcde"),
            "".join(f"**City {word}.** It is quiet.\n\n" for word in "abcde"),
            "They are Oslo, Bergen, Turku, Riga and Graz.\n",
            "五个城市是奥斯陆、卑尔根、图尔库、里加、格拉茨。\n",
            "".join(f"- City {word}\n  - a note\n\n" for word in "abcde"),
        ],
        ids=["numbered", "table", "sections", "bold", "enumerated", "Chinese", "nested"],
    )
    def test_five_are_five(self, given: str) -> None:
        state = asking("List five quiet cities of Europe")
        assert "requested_count_shortfall" not in verdicts(state, TITLED + "## Quiet cities of Europe\n\n" + given)

    def test_owning_up_to_fewer_is_enough(self) -> None:
        state = asking("List five quiet cities of Europe")
        report = TITLED + "Only 2 of the 5 quiet cities of Europe could be named.\n\n- Oslo [S1]\n- Turku [S2]\n"
        assert "requested_count_shortfall" not in verdicts(state, report)

    def test_clauses_are_no_enumeration(self) -> None:
        text = "With this in mind, quiet cities of Europe are listed in a table of the city office, along with examples, it says [S1].\n"
        assert "requested_count_shortfall" in verdicts(asking("List five quiet cities of Europe"), TITLED + text)

    def test_decimals_are_no_enumeration(self) -> None:
        state = asking("List five quiet cities of Europe")
        assert "requested_count_shortfall" in verdicts(
            state, TITLED + "Quiet cities of Europe cost 1,5 and 2,5 and 3,5 and 4,500 EUR [S1].\n"
        )


class TestRejectedDrafts:
    FRAME = "This report compares rent levels and food prices in Helsinki."

    def test_a_sentence_that_needs_no_source_may_come_back(self) -> None:
        framing = claim(self.FRAME, "unchecked", citations=(), needs_citation=False)
        more = {**facts(rejected=(f"# D\n\n{self.FRAME}\n",)), **ledger(framing)}
        assert "propagated_ungrounded_content" not in Case(report=f"{REPORT}\n{self.FRAME}\n", more=more).problems()

    def test_emphasis_does_not_hide_a_sentence(self) -> None:
        more = {**facts(rejected=(f"# D\n\n{REJECTED}\n",)), **ledger(claim(REJECTED, "unsupported", citations=("S9",)))}
        report = f"{REPORT}\n{REJECTED.replace('doubled', '**doubled**')[:-1]} [S9].\n"
        assert "propagated_ungrounded_content" in Case(report=report, more=more).problems()


class TestWholeKinds:
    def test_no_evidence_at_all_asks_no_writer_for_anything(self) -> None:
        """FAULTS 31, 53: nothing is written from nothing."""
        state = state_of(tasks=[task("a", state="failed"), task("b", state="failed")], queries=["x"])
        assert not {"missing_findings", "missing_artifact"} & set(verdicts(state, "", ""))

    def test_a_clean_run_needs_no_attempt(self) -> None:
        """FAULTS 27: the first writing is a stage, so a sound first draft is verified at the first look."""
        assert Case(more={"findings_due": True, "report_due": True}).problems() == set()

    def test_two_of_three_failed_facets_are_seen_by_three_checks(self) -> None:
        """FAULTS 3, 58: covered in coverage, in the ledger, and in what the report must disclose."""
        found = Case(three_tasks(1)).problems()
        assert {"thin_coverage", "task_verification_flagged", "undisclosed_evidence_gap"} <= found

    def test_an_acknowledged_gap_is_not_tried_again_but_has_to_be_disclosed(self) -> None:
        found = Case(half_failed(gap_acknowledged=True)).problems()
        assert "task_verification_flagged" not in found
        assert "undisclosed_evidence_gap" in found

    def test_a_facet_that_the_report_names_as_a_gap_needs_neither_figure_nor_section(self) -> None:
        report = f"{TITLED}## Rent levels\n\nRent is 900 EUR [S1]. Shops are open late [S2].\n\n{gap_sentence('food prices')}\n"
        assert Case(asking(ITEM_QUESTION), report).problems() == set()

    @pytest.mark.parametrize("kind", ["dangling", "duplicate", "runaway", "invented_subpage"])
    def test_what_the_parser_could_not_resolve_is_unresolved(self, kind: str) -> None:
        assert "unresolved_citation" in Case(more=facts(citation_problems=(CitationProblem(kind, "[7] names nothing"),))).problems()

    @pytest.mark.parametrize(("kind", "problem"), [("placeholder", "placeholder_text"), ("truncated", "truncated_ending")])
    def test_its_other_findings_have_their_own_checks(self, kind: str, problem: str) -> None:
        assert Case(more=facts(citation_problems=(CitationProblem(kind, "…"),))).problems() == {problem}

    def test_a_listed_source_that_nobody_cites_is_no_problem_of_a_draft(self) -> None:
        assert Case(more=facts(citation_problems=(CitationProblem("uncited_source", "9"),))).problems() == set()

    def test_a_stop_at_the_output_limit_is_a_cut_however_it_reads(self) -> None:
        assert Case(more=facts(truncated=True)).problems() == {"truncated_ending"}

    def test_a_heading_with_nothing_under_it_is_a_cut_too(self) -> None:
        assert "truncated_ending" in Case(report=REPORT + "\n## Outlook\n").problems()

    def test_numbers_links_and_addresses_are_left_to_the_parser(self) -> None:
        text = "\nRents rise (Korhonen, 2021) [3]. Source: https://site.example/page\n"
        assert "non_url_citation" not in Case(report=REPORT + text).problems()

    def test_many_ids_at_one_place_run_away(self) -> None:
        ids = [f"S{n}" for n in range(1, 15)]
        state = good_state(sources=[source(i) for i in ids])
        assert "unresolved_citation" in Case(state, REPORT + f"\nAll agree [{', '.join(ids)}].\n").problems()

    def test_one_id_twice_at_one_place(self) -> None:
        assert "unresolved_citation" in Case(report=REPORT + "\nAll agree [S1][S1].\n").problems()

    def test_two_sources_that_differ_may_be_set_side_by_side_in_a_section(self) -> None:
        report = "# H\n\n## Rent levels and food prices\n\nIt is 900 EUR [S1]. By contrast, another count gives 1,200 EUR [S2].\n"
        contradiction = facts(contradictions=(Contradiction(("S1", "S2"), "rent"),))
        assert "cross_source_contradiction" not in Case(report=report, more=contradiction).problems()

    def test_parallel_sections_on_two_cities_do_not_repeat_each_other(self) -> None:
        template = "The average rent of a flat in {0} is {1} EUR a month, up {2} per cent on the year, says the {0} housing office [S1].\n"
        parts = [f"\n## {c}\n\n{template.format(c, n, n // 90)}" for c, n in (("Oslo", 1400), ("Turku", 800), ("Riga", 600))]
        assert "duplicate_report_sections" not in Case(report=REPORT + "".join(parts)).problems()

    def test_a_section_that_a_model_repeats_without_end_is_found(self) -> None:
        report = REPORT + "".join(f"\n## Demand {n}\n\n{LONG} [S1]\n" for n in range(40))
        assert verdicts(good_state(), report)["duplicate_report_sections"].facts.count >= 39

    def test_flagged_evidence_in_the_findings_is_named(self) -> None:
        state = good_state(findings=[finding(1, "S1", "rent levels"), finding(2, "S2", "food prices", flags=[FLAG])])
        assert verdicts(state)["findings_ungrounded"].facts.source_ids == ("S2",)

    def test_new_sources_are_named_to_the_writer(self) -> None:
        state = good_state(
            sources=[source("S1"), source("S2"), source("S3")],
            findings=[finding(1, "S1", "rent levels"), finding(2, "S2", "food prices"), finding(3, "S3", "food prices")],
        )
        state.drafts = {"findings": DraftStamp(file="draft/findings.md", citable=2)}
        assert verdicts(state)["stale_findings"].facts.source_ids == ("S3",)

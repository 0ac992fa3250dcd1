"""The table: its order and columns as the specification has them, what is derived from it, its audit, and ablation."""

import ast
import inspect
from dataclasses import replace
from types import ModuleType

import pytest

from deepdelve.core.errors import ConfigError
from deepdelve.engine.completion import coverage, draft, gaps, grounding, schedule, structural
from deepdelve.engine.completion.table import (
    RESEARCH_REMEDIES,
    TABLE,
    WRITER_REMEDIES,
    CheckSpec,
    active_table,
    audit,
    by_problem,
    disabled_checks,
    disabled_remedies,
    evaluate,
    listing,
    tier_problems,
)
from tests.engine.completion.states import context_of, good_state

STRUCTURAL = [
    "not_delegated",
    "missing_findings",
    "findings_ungrounded",
    "stale_findings",
    "findings_underuses_evidence",
    "missing_artifact",
    "missing_query_facet",
    "requested_count_shortfall",
    "thin_coverage",
    "task_verification_flagged",
    "uneven_task_investment",
    "report_underuses_findings",
    "undisclosed_evidence_gap",
    "duplicate_report_sections",
    "report_meta_language",
    "untracked_delegation",
]
GROUNDING = [
    "not_grounded",
    "no_urls",
    "non_url_citation",
    "unresolved_citation",
    "stub_source",
    "claim_unsupported",
    "figure_unsupported",
    "regulation_unsupported",
    "quote_paraphrased",
    "entailment_unsupported",
    "cross_source_contradiction",
    "excluded_topic",
    "off_topic_source",
    "propagated_ungrounded_content",
    "uncited_claims",
    "report_underuses_evidence",
    "missing_specific_item_per_facet",
    "placeholder_text",
    "truncated_ending",
]
SKIPPED_WITHOUT_RESEARCH = {
    "requested_count_shortfall",
    "missing_query_facet",
    "thin_coverage",
    "task_verification_flagged",
    "uneven_task_investment",
}


class TestRows:
    def test_order_is_that_of_the_specification(self) -> None:
        assert [spec.problem for spec in TABLE] == STRUCTURAL + GROUNDING

    def test_tiers_are_too(self) -> None:
        assert [spec.problem for spec in TABLE if spec.tier == "structural"] == STRUCTURAL

    def test_the_rows_that_need_research(self) -> None:
        assert {spec.problem for spec in TABLE if spec.needs_research} == SKIPPED_WITHOUT_RESEARCH

    def test_quarantine(self) -> None:
        set_aside = {spec.problem: spec.quarantine for spec in TABLE if spec.quarantine}
        assert set_aside == {
            "findings_ungrounded": "findings",
            "duplicate_report_sections": "final_report",
            "not_grounded": "final_report",
            "stub_source": "final_report",
        }

    def test_untracked_delegation_never_blocks(self) -> None:
        assert not by_problem()["untracked_delegation"].blocks

    def test_only_the_specific_item_is_no_member_of_its_tier(self) -> None:
        assert {spec.problem for spec in TABLE if not spec.tier_member} == {"missing_specific_item_per_facet"}
        assert tier_problems("grounding") == set(GROUNDING) - {"missing_specific_item_per_facet"}
        assert tier_problems("structural") == set(STRUCTURAL)


class TestRemedies:
    def test_the_chain_goes_on_with_each_firing_and_repeats_its_end(self) -> None:
        spec = by_problem()["undisclosed_evidence_gap"]
        assert [spec.remedy_at(n) for n in range(4)] == ["builder", "gap_section", "gap_section", "gap_section"]

    def test_research_is_left_out_of_the_chain_in_an_evidence_only_run(self) -> None:
        spec = by_problem()["missing_query_facet"]
        assert spec.remedy_at(0) == "deepening"
        assert spec.remedy_at(0, evidence_only=True) == "builder"

    def test_where_only_research_would_help_there_is_none(self) -> None:
        assert by_problem()["thin_coverage"].remedy_at(0, evidence_only=True) is None

    def test_the_artifact_is_the_one_its_writer_changes(self) -> None:
        rows = by_problem()
        assert rows["findings_underuses_evidence"].artifact == "findings"
        assert rows["missing_query_facet"].artifact == "final_report"
        assert rows["thin_coverage"].artifact == ""

    def test_writers_and_research_are_different_remedies(self) -> None:
        assert not WRITER_REMEDIES & RESEARCH_REMEDIES


class TestEvidenceOnly:
    def test_rows_that_need_research_are_left_out_of_the_table(self) -> None:
        assert {spec.problem for spec in TABLE} - {s.problem for s in active_table(evidence_only=True)} == SKIPPED_WITHOUT_RESEARCH

    def test_and_are_not_evaluated_even_where_the_whole_table_is_given(self) -> None:
        report = "# Helsinki\n\nThe rent is 900 EUR [S1][S2].\n"
        assert "missing_query_facet" in evaluate(context_of(good_state(), report))
        assert not set(evaluate(context_of(good_state(evidence_only=True), report))) & SKIPPED_WITHOUT_RESEARCH

    def test_missing_research_is_no_problem_of_a_run_that_may_do_none(self) -> None:
        assert "not_delegated" not in evaluate(context_of(good_state(evidence_only=True, tasks=[], findings=[], sources=[]), "", ""))


class TestAudit:
    def test_the_table_is_sound(self) -> None:
        assert audit() == []

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"resolution": None}, "no resolution"),
            ({"remedy": ()}, "no remedy"),
            ({"remedy": ("planner_nudge",), "needs_research": True}, "no writer does"),
            ({"remedy": ("planner_nudge",), "resolution": "capped"}, "runs where there is none"),
            ({"resolution": "acknowledged"}, "nothing acknowledges it"),
            ({"quarantine": "findings"}, "no remedy writes anew"),
            ({"sibling": "nobody"}, "not in the table"),
            ({"sibling": "no_urls"}, "yields to itself"),
            ({"symptoms": frozenset({"nobody"})}, "symptom that is not in the table"),
            ({"symptoms": frozenset({"no_urls"})}, "itself as a symptom"),
            ({"tier": "structural"}, "stands after a grounding check"),
        ],
    )
    def test_it_finds(self, change: dict[str, object], said: str) -> None:
        table = [replace(spec, **change) if spec.problem == "no_urls" else spec for spec in TABLE]  # type: ignore[arg-type]
        assert any(fault.startswith("no_urls") and said in fault for fault in audit(table))

    def test_it_finds_a_row_that_stands_twice(self) -> None:
        assert any("twice" in fault for fault in audit([*TABLE, TABLE[-1]]))


class TestPurity:
    """A check reads its context and nothing else."""

    @pytest.mark.parametrize("module", [structural, coverage, grounding, schedule, gaps, draft])
    def test_no_module_of_checks_can_reach_the_world(self, module: ModuleType) -> None:
        tree = ast.parse(inspect.getsource(module))
        roots: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                roots |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                roots.add((node.module or "").split(".")[0])
        assert roots <= {"collections", "dataclasses", "functools", "itertools", "typing", "regex", "deepdelve"}
        assert not any(isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.Global | ast.Nonlocal) for node in ast.walk(tree))

    @pytest.mark.parametrize("spec", TABLE, ids=lambda spec: spec.problem)
    def test_looking_twice_finds_the_same_and_changes_nothing(self, spec: CheckSpec) -> None:
        state = good_state()
        before = state.model_dump_json()
        ctx = context_of(state, "The rent is [S9] TODO and the")
        assert spec.check(ctx) == spec.check(ctx)
        assert state.model_dump_json() == before


class TestListing:
    def test_a_row_as_a_person_reads_it(self) -> None:
        row = next(row for row in listing({"undisclosed_evidence_gap"}) if row["problem"] == "undisclosed_evidence_gap")
        assert row == {
            "problem": "undisclosed_evidence_gap",
            "tier": "structural",
            "remedy": "builder, then gap_section",
            "blocks": True,
            "resolution": "writer",
            "enabled": False,
        }

    def test_all_rows_in_order(self) -> None:
        assert [row["problem"] for row in listing()] == [spec.problem for spec in TABLE]
        assert all(row["enabled"] for row in listing())


class TestAblation:
    def test_a_check_is_switched_off_by_name(self) -> None:
        off = disabled_checks({"disable_check_no_urls": True, "disable_check_not_grounded": False})
        assert off == {"no_urls"}
        assert "no_urls" not in {spec.problem for spec in active_table(disabled=off)}

    def test_an_unknown_name_is_refused_with_the_nearest(self) -> None:
        with pytest.raises(ConfigError) as caught:
            disabled_checks({"disable_check_uncited_claim": True})
        assert "disable_check_uncited_claims" in caught.value.line()

    def test_a_name_that_resembles_none_says_where_to_look(self) -> None:
        with pytest.raises(ConfigError, match="zzz") as caught:
            disabled_checks({"zzz": True})
        assert "deepdelve checks" in caught.value.line()

    def test_passes_that_are_switched_off_elsewhere_are_known_by_the_caller(self) -> None:
        assert disabled_checks({"disable_review": True}, other=["disable_review"]) == frozenset()

    def test_remedies_can_be_switched_off(self) -> None:
        switches = {"disable_remedy_deepening": True, "disable_remedy_builder": False}
        assert disabled_checks(switches) == frozenset()
        assert disabled_remedies(switches) == {"deepening"}

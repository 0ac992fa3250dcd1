"""The schedule: who gets an attempt, that nobody starves, and how a run ends."""

from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdelve.engine.completion.schedule import (
    ActiveFacts,
    Decision,
    Firing,
    active_facts,
    choose,
    firings,
    force_rebuild,
    streak,
)
from deepdelve.engine.completion.table import TABLE, WRITER_REMEDIES, by_problem
from deepdelve.engine.completion.verdict import Facts, Verdict

ROWS = by_problem()
NAMES = list(ROWS)
BLOCKING = [spec.problem for spec in TABLE if spec.blocks]
T = 3
MANY = 2 * T + 2
Steps = list[tuple[set[str], bool]]


def same(*problems: str) -> dict[str, ActiveFacts]:
    """Problems whose drafts and facts never change."""
    return {problem: ActiveFacts("facts", "draft") for problem in problems}


def play(*rounds: Iterable[str], attempts: int = 40, threshold: int = T) -> list[str | None]:
    """Who wins in each round, given the active problems of each, when nothing that is done helps."""
    history: list[Firing] = []
    winners: list[str | None] = []
    for number, active in enumerate(rounds, 1):
        decision = choose(history, same(*active), number, attempts, threshold)
        winners.append(decision.problem)
        if decision.problem is None:
            break
        history.append(Firing(decision.problem, tuple(active), ActiveFacts("facts", "draft")))
    return winners


class TestChoice:
    def test_nothing_active_is_verified(self) -> None:
        assert choose([], {}, 1, 8) == Decision(None, "verified")

    def test_the_first_in_the_table_wins_whatever_the_order_given(self) -> None:
        assert choose([], same("uncited_claims", "missing_artifact", "not_grounded"), 1, 8).problem == "missing_artifact"

    def test_all_that_counts_is_named_in_table_order(self) -> None:
        assert choose([], same("uncited_claims", "stale_findings"), 1, 8).named == ("stale_findings", "uncited_claims")

    def test_a_problem_wins_T_times_in_a_row_and_then_gives_way(self) -> None:
        assert play(*[["duplicate_report_sections", "report_meta_language"]] * 4) == ["duplicate_report_sections"] * 3 + [
            "report_meta_language"
        ]

    def test_a_problem_alone_and_exhausted_ends_the_run_unverified_and_named(self) -> None:
        history = [Firing("missing_findings", ("missing_findings",), ActiveFacts("facts", "draft"))] * T
        assert choose(history, same("missing_findings"), 4, 8) == Decision(None, "unverified", ("missing_findings",))

    def test_a_lower_threshold_gives_up_sooner(self) -> None:
        assert play(["not_grounded"], ["not_grounded"], threshold=1) == ["not_grounded", None]

    @pytest.mark.parametrize("won", range(T, 2 * T))
    def test_a_writer_that_gets_somewhere_may_go_on_up_to_twice_T(self, won: int) -> None:
        history = [Firing("not_grounded", ("not_grounded",), ActiveFacts(f"f{n}", f"d{n}")) for n in range(won)]
        assert choose(history, {"not_grounded": ActiveFacts("new", "new")}, won + 1, 20).problem == "not_grounded"

    @pytest.mark.parametrize("now", [ActiveFacts("new", "d2"), ActiveFacts("f2", "new")], ids=["draft unchanged", "facts unchanged"])
    def test_a_change_of_one_alone_is_no_progress(self, now: ActiveFacts) -> None:
        history = [Firing("not_grounded", ("not_grounded",), ActiveFacts(f"f{n}", f"d{n}")) for n in range(T)]
        assert choose(history, {"not_grounded": now}, T + 1, 20).outcome == "unverified"

    def test_even_progress_ends_at_twice_T(self) -> None:
        history = [Firing("not_grounded", ("not_grounded",), ActiveFacts(f"f{n}", f"d{n}")) for n in range(2 * T)]
        assert choose(history, {"not_grounded": ActiveFacts("new", "new")}, 7, 20) == Decision(None, "unverified", ("not_grounded",))

    def test_a_problem_without_a_writer_has_no_such_extension(self) -> None:
        history = [Firing("thin_coverage", ("thin_coverage",), ActiveFacts(f"f{n}", "")) for n in range(T)]
        assert choose(history, {"thin_coverage": ActiveFacts("new", "new")}, 4, 20).problem is None


class TestLastAttempt:
    def test_only_blocking_problems_get_the_last_remedy(self) -> None:
        assert choose([], same("report_underuses_findings", "truncated_ending"), 8, 8).problem == "truncated_ending"

    def test_what_does_not_block_does_not_spoil_the_end_but_is_named(self) -> None:
        assert choose([], same("uneven_task_investment"), 8, 8) == Decision(None, "verified", ("uneven_task_investment",))

    def test_the_look_after_it_only_ends_the_run(self) -> None:
        assert choose([], same("truncated_ending"), 9, 8) == Decision(None, "unverified", ("truncated_ending",))
        assert choose([], {}, 9, 8).outcome == "verified"


class TestStarvation:
    """The incidents of the requirement, each by the rule that holds it."""

    def test_the_other_tier_gets_its_turn_after_T_wins_of_ever_other_problems(self) -> None:
        structural = ["missing_findings", "missing_artifact", "uneven_task_investment", "task_verification_flagged"]
        winners = play(*[[name, "report_underuses_evidence"] for name in structural])
        assert winners == [*structural[:3], "report_underuses_evidence"]

    def test_the_structural_tier_comes_back_after_that(self) -> None:
        winners = play(*[["stale_findings", "missing_artifact", "not_grounded"]] * 5)
        assert winners == ["stale_findings"] * 3 + ["not_grounded", "stale_findings"]

    def test_two_problems_at_the_top_cannot_pass_the_turn_between_them_for_ever(self) -> None:
        low = "report_meta_language"
        winners = play(*[["stale_findings", "duplicate_report_sections", low]] * 8)
        assert low in winners

    def test_underuse_of_findings_yields_to_underuse_of_evidence_once_it_has_won_twice(self) -> None:
        winners = play(*[["report_underuses_findings", "report_underuses_evidence"]] * 3)
        assert winners == ["report_underuses_findings", "report_underuses_findings", "report_underuses_evidence"]

    def test_it_does_not_yield_to_a_sibling_that_is_not_there(self) -> None:
        assert play(*[["report_underuses_findings"]] * 3) == ["report_underuses_findings"] * 3

    def test_a_renamed_retry_does_not_start_the_count_afresh(self) -> None:
        flagged, renamed = "task_verification_flagged", "untracked_delegation"
        history = [Firing(name, (flagged,)) for name in (flagged, renamed, flagged, renamed, flagged)]
        assert streak(history, flagged, ROWS[flagged].symptoms) == 3
        assert choose(history, same(flagged), 6, 20).problem is None

    def test_another_problem_between_does(self) -> None:
        history = [Firing("not_grounded"), Firing("no_urls"), Firing("not_grounded")]
        assert streak(history, "not_grounded") == 1

    def test_a_problem_that_is_no_tier_member_does_not_count_as_a_win_of_its_tier(self) -> None:
        history = [Firing("not_grounded"), Firing("missing_specific_item_per_facet"), Firing("not_grounded")]
        assert choose(history, same("not_grounded", "truncated_ending"), 4, 20).problem == "not_grounded"


class TestCounting:
    def test_firings_count_the_whole_run(self) -> None:
        assert firings(["a", "b", "", "a"], "a") == 2

    def test_a_rebuild_is_due_at_the_Tth_win_in_a_row(self) -> None:
        history = [Firing("claim_unsupported")] * T
        assert force_rebuild(history, ROWS["claim_unsupported"], T)
        assert not force_rebuild(history[:-1], ROWS["claim_unsupported"], T)

    def test_what_no_builder_mends_is_never_rebuilt(self) -> None:
        assert not force_rebuild([Firing("thin_coverage")] * 9, ROWS["thin_coverage"], T)

    def test_fingerprints_follow_facts_and_the_draft_concerned(self) -> None:
        verdict = Verdict("stale_findings", Facts(count=1), "structural", "findings")
        hashes = {"findings": "abc", "final_report": "def"}
        found = active_facts({"stale_findings": verdict}, hashes)["stale_findings"]
        assert found.artifact == "abc"
        assert found.facts == Facts(count=1).fingerprint() != Facts(count=2).fingerprint()


steps = st.lists(st.tuples(st.sets(st.sampled_from(NAMES), max_size=8), st.booleans()), min_size=1, max_size=24)


def simulate(given_steps: Steps, attempts: int, threshold: int) -> list[tuple[Mapping[str, ActiveFacts], Decision, Sequence[Firing]]]:
    """A run in which each round has its active problems, and its remedy changes draft and facts or does not."""
    history: list[Firing] = []
    seen: list[tuple[Mapping[str, ActiveFacts], Decision, Sequence[Firing]]] = []
    version = 0
    for number, (problems, helped) in enumerate(given_steps, 1):
        active = {problem: ActiveFacts(f"f{version}", f"d{version}") for problem in problems}
        decision = choose(history, active, number, attempts, threshold)
        seen.append((active, decision, tuple(history)))
        if decision.problem is None:
            break
        history.append(Firing(decision.problem, tuple(problems), active[decision.problem]))
        version += helped
    return seen


def is_eligible(problem: str, history: Sequence[Firing], active: Mapping[str, ActiveFacts], threshold: int) -> bool:
    """The spec's own words, written again independently of the code."""
    symptoms = ROWS[problem].symptoms
    row = [firing for firing in history if firing.problem not in symptoms]
    tail = 0
    while tail < len(row) and row[-1 - tail].problem == problem:
        tail += 1
    if tail < threshold:
        return True
    last = row[-1].facts
    moved = last.facts != active[problem].facts and last.artifact != active[problem].artifact
    return tail < 2 * threshold and moved and bool(set(ROWS[problem].remedy) & WRITER_REMEDIES)


@given(steps, st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_the_winner_is_active_and_eligible(rounds: Steps, threshold: int) -> None:
    for active, decision, history in simulate(rounds, 40, threshold):
        if decision.problem is not None:
            assert decision.problem in active
            assert is_eligible(decision.problem, history, active, threshold)


@given(steps, st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_an_end_before_the_last_attempt_means_that_nothing_eligible_was_left(rounds: Steps, threshold: int) -> None:
    for active, decision, history in simulate(rounds, 40, threshold):
        if decision.problem is None:
            assert not any(is_eligible(problem, history, active, threshold) for problem in active)
            assert set(decision.named) == set(active)


@given(steps, st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_no_problem_that_blocks_is_ever_passed(rounds: Steps, threshold: int) -> None:
    for active, decision, _ in simulate(rounds, MANY, threshold):
        if decision.outcome == "verified":
            assert not any(ROWS[problem].blocks for problem in active)
        if decision.outcome == "unverified":
            assert any(problem in decision.named for problem in BLOCKING)


@given(steps, st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_a_tier_with_an_eligible_problem_never_waits_more_than_T_attempts(rounds: Steps, threshold: int) -> None:
    waited = {"structural": 0, "grounding": 0}
    for active, decision, history in simulate(rounds, 40, threshold):
        if decision.problem is None:
            break
        for tier in waited:
            ready = [p for p in active if ROWS[p].tier == tier and ROWS[p].tier_member and is_eligible(p, history, active, threshold)]
            waited[tier] = 0 if ROWS[decision.problem].tier == tier or not ready else waited[tier] + 1
            assert waited[tier] <= threshold + 1


@given(st.sampled_from(NAMES), st.lists(st.sets(st.sampled_from(NAMES), max_size=4), min_size=12, max_size=30))
@settings(max_examples=150, deadline=None)
def test_a_problem_that_stays_active_waits_at_most_T_plus_1_turns_of_its_tier_and_those_of_longer_waiters(
    problem: str, others: list[set[str]]
) -> None:
    waited = 0
    rivals: set[str] = set()
    for active, decision, _ in simulate([({problem, *names}, True) for names in others], 60, T):
        if decision.problem is None:
            break
        winner = ROWS[decision.problem]
        if winner.problem == problem:
            waited, rivals = 0, set()
        elif winner.tier == ROWS[problem].tier:
            waited += 1
            rivals |= {p for p in active if ROWS[p].tier == winner.tier and p != problem}
            assert waited <= T + 1 + len(rivals)


@given(steps, st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_the_same_history_gives_the_same_choice(rounds: Steps, threshold: int) -> None:
    assert simulate(rounds, MANY, threshold) == simulate(rounds, MANY, threshold)


@given(steps)
@settings(max_examples=150, deadline=None)
def test_a_run_ends_by_its_last_attempt(rounds: Steps) -> None:
    always: Steps = [(problems or {"not_grounded"}, helped) for problems, helped in rounds * 12]
    seen = simulate(always, MANY, T)
    assert len(seen) <= MANY + 1
    assert seen[-1][1].problem is None

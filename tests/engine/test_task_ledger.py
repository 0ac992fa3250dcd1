"""The task ledger: verified, flagged or superseded; gaps that stay acknowledged; coverage without renames."""

import pytest

from deepdelve.core.records import Flag
from deepdelve.engine.task_ledger import Coverage, acknowledge, coverage, recompute, sources_by_task
from deepdelve.utils.run_state import RunState
from tests.engine.completion.states import finding, good_state, source, state_of, task

RENT = "Find the average monthly rent of a flat in Oslo"
RENT_AGAIN = "Search for recent data on the monthly rent of an apartment in Oslo"
FLAG = Flag(kind="quote", detail="not verbatim")


def statuses(state: RunState) -> dict[str, str]:
    return {name: entry["status"] for name, entry in recompute(state).items()}


class TestStatus:
    def test_a_task_with_evidence_is_verified_and_names_its_sources(self) -> None:
        entry = recompute(good_state())["rent levels"]
        assert (entry["status"], entry["sources"], entry["reason"]) == ("verified", ["S1"], "")

    def test_a_task_whose_every_finding_is_flagged_is_flagged(self) -> None:
        state = good_state(findings=[finding(1, "S1", "rent levels", flags=[FLAG]), finding(2, "S2", "food prices")])
        entry = recompute(state)["rent levels"]
        assert entry["status"] == "flagged"
        assert "quote" in entry["reason"]

    def test_one_sound_finding_is_enough(self) -> None:
        state = good_state(findings=[finding(1, "S1", "rent levels", flags=[FLAG]), finding(2, "S2", "rent levels")])
        assert statuses(state)["rent levels"] == "verified"

    @pytest.mark.parametrize("ended", ["failed", "refused", "done"])
    def test_a_dispatch_that_brought_nothing_is_a_task_without_evidence(self, ended: str) -> None:
        state = good_state(tasks=[task("rent levels"), task("trams", state=ended, reason="timed out")])
        assert statuses(state)["trams"] == "flagged"

    def test_why_it_failed_is_kept(self) -> None:
        state = good_state(tasks=[task("trams", state="failed", reason="the server answered 500")])
        assert recompute(state)["trams"]["reason"] == "the server answered 500"

    def test_a_task_under_way_has_no_entry_yet(self) -> None:
        state = good_state(tasks=[task("rent levels"), task("food prices"), task("trams", state="running")])
        assert set(statuses(state)) == {"rent levels", "food prices"}

    def test_evidence_of_deeper_dispatches_counts_for_their_top_task(self) -> None:
        state = state_of(
            [source("S1")],
            [task("visa"), task("Analyze the visa page", top="visa", depth=2, role="Analyzer")],
            [
                finding(1, "S1", "visa", flags=[FLAG]),
                finding(2, "S1", "visa", "The fee is 75 EUR").model_copy(update={"task": "Analyze the visa page", "depth": 2}),
            ],
        )
        assert statuses(state) == {"visa": "verified"}

    def test_also_where_a_deeper_finding_names_only_its_own_task(self) -> None:
        state = state_of([source("S1")], [task("visa"), task("read", top="visa", depth=2)], [finding(1, "S1", "read")])
        assert sources_by_task(state) == {"visa": ("S1",)}


class TestSuperseded:
    def test_a_failed_task_that_was_tried_again_under_another_name(self) -> None:
        tasks = [task("Oslo rents", instructions=RENT, state="failed"), task("Oslo rents, retry", instructions=RENT_AGAIN)]
        state = state_of([source("S1")], tasks, [finding(1, "S1", "Oslo rents, retry")])
        entry = recompute(state)["Oslo rents"]
        assert (entry["status"], entry["by"]) == ("superseded", "Oslo rents, retry")

    def test_another_city_from_the_same_template_supersedes_nothing(self) -> None:
        tasks = [task("A", instructions=RENT, state="failed"), task("B", instructions=RENT.replace("Oslo", "Bergen"))]
        assert statuses(state_of([source("S1")], tasks, [finding(1, "S1", "B")]))["A"] == "flagged"

    def test_of_retries_that_all_failed_the_last_one_stands(self) -> None:
        tasks = [task(f"Oslo rents {word}", instructions=RENT, state="failed") for word in ("first", "second", "third")]
        assert list(statuses(state_of([], tasks)).values()) == ["superseded", "superseded", "flagged"]

    def test_a_failed_retry_is_superseded_by_the_first_that_succeeded(self) -> None:
        tasks = [task("Oslo rents", instructions=RENT), task("Oslo rents again", instructions=RENT_AGAIN, state="failed")]
        found = statuses(state_of([source("S1")], tasks, [finding(1, "S1", "Oslo rents")]))
        assert found == {"Oslo rents": "verified", "Oslo rents again": "superseded"}

    def test_a_refused_rename_takes_nothing_from_the_task_it_renames(self) -> None:
        tasks = [task("Oslo rents", instructions=RENT, state="failed"), task("Again", instructions=RENT_AGAIN, state="refused")]
        found = statuses(state_of([], tasks))
        assert found == {"Oslo rents": "flagged", "Again": "superseded"}

    def test_a_refused_request_without_a_subject_is_no_task(self) -> None:
        tasks = [task("rent levels"), task("more", instructions="Find more information", facet="", state="refused")]
        assert coverage(good_state(tasks=tasks)).total == 1


class TestAcknowledged:
    def test_it_survives_every_recomputation(self) -> None:
        state = good_state(tasks=[task("rent levels"), task("trams", state="failed")])
        state.task_ledger = acknowledge(recompute(state), ["trams"])
        for _ in range(3):
            state.task_ledger = recompute(state)
        assert state.task_ledger["trams"]["gap_acknowledged"] is True
        assert state.task_ledger["rent levels"]["gap_acknowledged"] is False

    def test_it_is_never_taken_back(self) -> None:
        state = good_state(tasks=[task("trams", state="failed")])
        once = acknowledge(recompute(state), ["trams"])
        assert acknowledge(once, [])["trams"]["gap_acknowledged"] is True

    def test_an_acknowledged_gap_still_counts_in_coverage(self) -> None:
        state = good_state(tasks=[task("rent levels"), task("trams", state="failed")])
        state.task_ledger = acknowledge(recompute(state), ["trams"])
        assert coverage(state).uncovered == ("trams",)


class TestCoverage:
    def test_covered_and_uncovered(self) -> None:
        state = good_state(tasks=[task("rent levels"), task("trams", state="failed")])
        found = coverage(state)
        assert found == Coverage(("rent levels",), ("trams",))
        assert found.share == 0.5

    def test_renames_do_not_inflate_it(self) -> None:
        tasks = [task("rent levels"), *(task(f"Oslo {n}", instructions=RENT, state="failed") for n in range(4))]
        assert coverage(good_state(tasks=tasks)).total == 2

    def test_deeper_tasks_are_no_tasks_of_coverage(self) -> None:
        tasks = [task("rent levels"), *(task(f"read {n}", top="rent levels", depth=2, state="failed") for n in range(5))]
        assert coverage(good_state(tasks=tasks)).total == 1

    def test_a_task_under_way_is_not_covered_yet(self) -> None:
        assert coverage(good_state(tasks=[task("trams", state="running")])).uncovered == ("trams",)

    def test_no_tasks_leave_nothing_uncovered(self) -> None:
        assert coverage(state_of()).share == 1.0

    def test_two_of_three_facets_that_failed_are_named(self) -> None:
        """A model that answers 500 for two of three facets (FAULTS 3, 58)."""
        names = ["rent in Oslo", "food in Oslo", "trams in Oslo"]
        tasks = [task(name, state="done" if n == 0 else "failed") for n, name in enumerate(names)]
        assert coverage(state_of([source("S1")], tasks, [finding(1, "S1", names[0])])).uncovered == tuple(names[1:])


def test_a_task_is_not_superseded_by_one_that_says_nothing_of_its_subject():
    """A follow-up on one river whose instructions quoted the whole question counted as done by the task on another river."""
    tasks = [
        task("river Alder", instructions="How long is the river Alder?"),
        task("river Birch", instructions="How long is the river Birch? For the question: How long are the rivers Alder and Birch?"),
    ]
    state = state_of([source("S1")], tasks, [finding(1, "S1", "river Alder")])
    assert recompute(state)["river Birch"]["status"] == "flagged"
    assert coverage(state).uncovered == ("river Birch",)

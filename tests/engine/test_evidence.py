"""Which findings count as evidence: flags are fields, and exclude no more than they speak of."""

import pytest

from deepdelve.core.records import Flag
from deepdelve.engine.evidence import evidence, excludes, facet_of, is_evidence, same_address, source_order, sources_by_facet
from tests.engine.completion.states import finding, good_state, source, state_of, task

S1 = source("S1", url="https://Site1.example/page/", final_url="https://site1.example/page?x=1")


class TestFlags:
    def test_a_flag_with_addresses_excludes_those_alone(self) -> None:
        stub = Flag(kind="stub_source", urls=("https://other.example/wall",))
        assert not excludes(stub, S1)
        assert excludes(Flag(kind="stub_source", urls=("https://site1.example/page",)), S1)

    def test_one_stub_in_a_shared_text_does_not_hide_the_true_price_of_another_page(self) -> None:
        flag = Flag(kind="stub_source", urls=("https://site2.example/page",))
        text = "Rent is MX$17,300 a month"
        found = [finding(1, "S1", "rent", text, flags=[flag]), finding(2, "S2", "rent", text, flags=[flag])]
        state = state_of([source("S1"), source("S2")], [task("rent")], found)
        assert [f.source_id for f in evidence(state)] == ["S1"]

    def test_the_address_after_a_redirect_is_meant_too(self) -> None:
        assert excludes(Flag(kind="claim_unsupported", urls=("http://www.site1.example/page?x=1#top",)), S1)

    @pytest.mark.parametrize("kind", ["quote_paraphrased", "regulation_unsupported", "quote"])
    def test_quote_and_regulation_flags_exclude_the_record(self, kind: str) -> None:
        assert excludes(Flag(kind=kind, urls=("https://other.example/",)), S1)

    def test_a_reconstructed_address_never_excludes_the_right_one_that_it_names(self) -> None:
        assert not excludes(Flag(kind="reconstructed_url", urls=("https://site1.example/pagee", "https://site1.example/page")), S1)

    def test_a_flag_that_names_nothing_excludes_the_record(self) -> None:
        assert excludes(Flag(kind="no_source"), S1)

    def test_malformed_addresses_are_compared_as_text(self) -> None:
        assert same_address("http://[broken", "http://[broken")
        assert not same_address("", "")


class TestEvidence:
    def test_a_lead_is_never_evidence(self) -> None:
        lead = finding(9, "S1", "rent levels", kind="lead", summary="try https://x.example")
        assert not is_evidence(lead, good_state())

    @pytest.mark.parametrize("fields", [{"state": "stub"}, {"state": "blocked"}, {"file": ""}])
    def test_a_page_that_was_not_read_carries_nothing(self, fields: dict[str, str]) -> None:
        state = state_of([source("S1", **fields)], [task("a")], [finding(1, "S1", "a")])
        assert evidence(state) == []

    def test_a_snippet_of_an_unfetched_page_carries_nothing(self) -> None:
        state = state_of([], [task("a")], [finding(1, "S7", "a", "a snippet said so")])
        assert evidence(state) == []

    def test_a_dropped_source_carries_nothing(self) -> None:
        state = good_state(dropped_sources=["S1"])
        assert [f.source_id for f in evidence(state)] == ["S2"]

    def test_a_finding_that_says_nothing_is_none(self) -> None:
        state = state_of([source("S1")], [task("a")], [finding(1, "S1", "a").model_copy(update={"claims": (), "summary": " "})])
        assert evidence(state) == []


class TestFacets:
    def test_a_findings_own_facet_goes_before_its_tasks(self) -> None:
        state = state_of([source("S1")], [task("a", facet="rent")])
        assert facet_of(finding(1, "S1", "a"), state) == "rent"
        assert facet_of(finding(1, "S1", "a", facet="food"), state) == "food"
        assert facet_of(finding(1, "S1", "gone"), state) == "gone"

    def test_each_source_once_a_facet(self) -> None:
        state = good_state(findings=[finding(1, "S1", "rent levels"), finding(2, "S1", "rent levels"), finding(3, "S1", "food prices")])
        assert sources_by_facet(state) == {"rent levels": ("S1",), "food prices": ("S1",)}

    def test_ids_are_ordered_by_number(self) -> None:
        assert source_order(["S10", "S2", "x"]) == ["x", "S2", "S10"]

"""What may be delegated: the first rule that matches refuses, and says how to do it right."""

import pytest

from deepdelve.core.records import Task
from deepdelve.engine.delegation_rules import RULES, Asker, Limits, Request, judge
from tests.engine.completion.states import task

PLANNER = Asker()
RENT = "Find the average monthly rent of a flat in Oslo"


def rules(requests: list[Request], asker: Asker = PLANNER, limits: Limits | None = None) -> list[str]:
    return [item.refusal.rule if item.refusal else "" for item in judge(requests, asker, limits or Limits())]


def searcher(**fields: object) -> Asker:
    given: dict[str, object] = {"role": "Searcher", "depth": 1, "known_sources": frozenset({"S1"}), **fields}
    return Asker(**given)  # type: ignore[arg-type]


def gave(*tasks: Task, retry: tuple[str, ...] = ()) -> Asker:
    return Asker(earlier=tasks, retry=frozenset(retry))


class TestEachRule:
    def test_a_sound_request_passes(self) -> None:
        assert rules([Request("Oslo rents", RENT)]) == [""]

    @pytest.mark.parametrize("role", ["Analyzer", "FindingsWriter", "Builder", "PeerReviewer"])
    def test_roles_that_ask_nobody(self, role: str) -> None:
        assert rules([Request("Oslo rents", RENT)], Asker(role=role, depth=1)) == ["may_not_delegate"]  # type: ignore[arg-type]

    def test_nobody_asks_below_the_second_level(self) -> None:
        assert rules([Request("x", RENT, source_ids=("S1",))], searcher(depth=2)) == ["may_not_delegate"]

    def test_another_role_than_ones_own_specialist(self) -> None:
        assert rules([Request("Oslo rents", RENT, role="Builder"), Request("Oslo trams", "Trams in Oslo", role="searcher")]) == [
            "wrong_role",
            "",
        ]

    def test_no_name(self) -> None:
        assert rules([Request("  ", RENT)]) == ["missing_name"]

    @pytest.mark.parametrize("instructions", ["", "Find more reliable sources and current data", "Research this topic further"])
    def test_no_subject(self, instructions: str) -> None:
        assert rules([Request("further research", instructions)]) == ["missing_subject"]

    @pytest.mark.parametrize("text", ["market 2030", "Category 5", "Area 51", "赫尔辛基的租金", "القدس", "rents"])
    def test_these_are_subjects(self, text: str) -> None:
        assert rules([Request(text, f"Find data on {text}")]) == [""]

    def test_the_number_of_a_part_is_none(self) -> None:
        assert rules([Request("sector 1", "Research sector 1")]) == ["missing_subject"]

    def test_a_reading_without_pages(self) -> None:
        assert rules([Request("read", RENT)], searcher()) == ["no_sources"]

    def test_a_reading_of_a_page_that_was_never_fetched(self) -> None:
        assert rules([Request("read", RENT, source_ids=("S1", "S9"))], searcher()) == ["unknown_source"]

    def test_one_name_twice_in_a_call(self) -> None:
        assert rules([Request("Rents", RENT), Request("rents ", "Rents of flats in Bergen")]) == ["", "duplicate"]

    @pytest.mark.parametrize(("state", "rule"), [("done", "duplicate"), ("running", "duplicate"), ("failed", ""), ("refused", "")])
    def test_a_name_given_out_before(self, state: str, rule: str) -> None:
        assert rules([Request("Oslo rents", RENT)], gave(task("Oslo rents", state=state))) == [rule]

    def test_a_retry_that_was_asked_for_is_no_duplicate(self) -> None:
        assert rules([Request("Oslo rents", RENT)], gave(task("Oslo rents"), retry=("Oslo rents",))) == [""]

    def test_a_renamed_retry(self) -> None:
        given = gave(task("Oslo rents", instructions=RENT, state="failed"))
        assert rules([Request("Housing costs", "Search for the monthly rent of an apartment in Oslo")], given) == ["renamed"]

    def test_a_rename_within_one_call(self) -> None:
        assert rules([Request("A", RENT), Request("B", "Search the monthly rent of an apartment in Oslo")]) == ["", "renamed"]

    def test_a_refused_task_can_be_asked_for_anew(self) -> None:
        assert rules([Request("Oslo rents now", RENT)], gave(task("Oslo rents", instructions=RENT, state="refused"))) == [""]

    def test_no_rounds_left(self) -> None:
        assert rules([Request("Oslo rents", RENT)], limits=Limits(rounds_left=0)) == ["no_rounds"]

    def test_more_than_one_call_may_give_out(self) -> None:
        asked = [Request(f"rents in {city}", f"Rents in {city}") for city in ("Oslo", "Bergen", "Turku")]
        assert rules(asked, limits=Limits(round_cap=2)) == ["", "", "round_cap"]

    def test_more_than_one_specialist_may_get(self) -> None:
        given = gave(task("a"), task("b", state="refused"))
        asked = [Request(f"rents in {city}", f"Rents in {city}") for city in ("Oslo", "Bergen")]
        assert rules(asked, given, Limits(specialist_cap=2)) == ["", "specialist_cap"]


class TestTemplates:
    def test_facets_of_one_template_are_never_refused(self) -> None:
        """FAULTS 4: the third facet of a template was refused as a rename of the first, in every try."""
        template = "Find the typical monthly rent of a one-bedroom apartment in {}"
        asked = [Request(f"{city} rent", template.format(city)) for city in ("Helsinki", "Tallinn", "Riga", "Vilnius", "Oslo")]
        assert rules(asked) == [""] * 5

    def test_neither_in_small_letters(self) -> None:
        asked = [Request(f"rent {city}", f"rent of a flat in {city}") for city in ("helsinki", "tallinn", "riga")]
        assert rules(asked) == [""] * 3

    def test_neither_across_calls(self) -> None:
        template = "Find the population of {} in the census"
        given = gave(*(task(city, instructions=template.format(city)) for city in ("Norway", "Sweden")))
        assert rules([Request("Denmark", template.format("Denmark"))], given) == [""]


class TestRefusals:
    @pytest.mark.parametrize(
        ("request_", "asker", "limits"),
        [
            (Request("", RENT), PLANNER, Limits()),
            (Request("x", "Find data"), PLANNER, Limits()),
            (Request("x", RENT, role="Builder"), PLANNER, Limits()),
            (Request("x", RENT), searcher(), Limits()),
            (Request("Oslo", RENT), gave(task("Oslo")), Limits()),
            (Request("y", RENT), gave(task("Oslo", instructions=RENT)), Limits()),
            (Request("x", RENT), PLANNER, Limits(rounds_left=0)),
            (Request("x", RENT), PLANNER, Limits(round_cap=0)),
            (Request("x", RENT), PLANNER, Limits(specialist_cap=0)),
        ],
    )
    def test_each_says_how_to_do_it_right(self, request_: Request, asker: Asker, limits: Limits) -> None:
        (item,) = judge([request_], asker, limits)
        assert item.refusal is not None
        assert len(item.refusal.reason.split()) >= 8
        assert item.refusal.reason.endswith((".", ").", "first."))

    def test_a_name_with_markup_or_lines_is_shown_on_one_line(self) -> None:
        name = "`a`\n<<<end x>>> " + "b" * 300
        (item,) = judge([Request(name, RENT)], gave(task(name, instructions="Trams in Bergen")), Limits())
        assert item.refusal is not None
        assert "\n" not in item.refusal.reason
        assert len(item.refusal.reason) < 300

    def test_the_twin_is_named(self) -> None:
        (item,) = judge([Request("y", RENT)], gave(task("Oslo rents", instructions=RENT)), Limits())
        assert item.refusal is not None
        assert item.refusal.of == "Oslo rents"

    def test_there_is_no_rule_without_a_name_of_its_own(self) -> None:
        assert len({rule.__name__ for rule in RULES}) == len(RULES) >= 8

"""Contradictions between sources, and sources beside the point."""

import pytest

from deepdelve.engine.completion import relations
from deepdelve.engine.completion.draft import parse_draft
from deepdelve.engine.completion.relations import Contradiction, contradictions, off_topic
from tests.engine.completion.states import finding, good_state, source, state_of, task, verdicts

REPORT = "# Oslo\n\nThe average rent of a flat in Oslo was 1,400 EUR in 2024 [S1].\n"


def found(first: str, second: str, report: str = REPORT, ids: tuple[str, str] = ("S1", "S2")) -> tuple[Contradiction, ...]:
    state = state_of(
        [source("S1"), source("S2")],
        [task("rent")],
        [finding(n, i, "rent", text) for n, (i, text) in enumerate(zip(ids, (first, second), strict=True))],
    )
    return contradictions(state, parse_draft(report))


class TestContradictions:
    ONE = "The average rent of a flat in Oslo was 1,400 EUR in 2024"

    @pytest.mark.parametrize(
        "other",
        [
            "The average rent of a flat in Oslo was 1,900 EUR in 2024",
            "In 2024 the average rent of a flat in Oslo stood at €1,900",
            "Average rents of apartments in Oslo in 2024: 1.9 thousand EUR",
        ],
    )
    def test_another_figure_for_the_same_thing(self, other: str) -> None:
        (contradiction,) = found(self.ONE, other)
        assert contradiction.source_ids == ("S1", "S2")
        assert "[S1]" in contradiction.detail
        assert "[S2]" in contradiction.detail

    @pytest.mark.parametrize(
        "other",
        [
            "The average rent of a flat in Oslo was 1,400 EUR in 2024",
            "The average rent of a flat in Oslo was 1.4 thousand EUR in 2024",
            "The average rent of a flat in Oslo was 1,900 EUR in 2019",
            "The average rent of a flat in Bergen was 1,100 EUR in 2024",
            "The average price of a hotel room in Oslo was 1,900 EUR in 2024",
            "The average rent of a flat in Oslo rose by 9 percent in 2024",
            "The average rent of a flat in Oslo was between 1,200 and 1,900 EUR in 2024",
            "The average rent of a flat in Oslo was at least 900 EUR in 2024",
            "The average rent of a flat in Oslo was high in 2024",
        ],
        ids=["same", "other notation", "other year", "other city", "other thing", "other unit", "range", "bound", "no figure"],
    )
    def test_what_is_none(self, other: str) -> None:
        assert found(self.ONE, other) == ()

    def test_one_source_does_not_contradict_itself(self) -> None:
        assert found(self.ONE, self.ONE.replace("1,400", "1,900"), ids=("S1", "S1")) == ()

    def test_what_the_report_does_not_tell_need_not_be_set_right_in_it(self) -> None:
        assert found(self.ONE, self.ONE.replace("1,400", "1,900"), "# Oslo\n\nTrams run at night [S1].\n") == ()

    def test_a_pair_of_sources_is_named_once(self) -> None:
        first = [finding(n, "S1", "rent", f"{self.ONE[:-8]} in {year}") for n, year in enumerate((2023, 2024))]
        second = [
            finding(n + 5, "S2", "rent", f"{self.ONE[:-8].replace('1,400', '1,900')} in {year}") for n, year in enumerate((2023, 2024))
        ]
        state = state_of([source("S1"), source("S2")], [task("rent")], [*first, *second])
        assert len(contradictions(state, parse_draft(REPORT))) == 1

    def test_the_check_fires_until_both_stand_side_by_side(self) -> None:
        texts = (self.ONE, self.ONE.replace("1,400", "1,900"))
        state = state_of(
            [source("S1"), source("S2")], [task("rent")], [finding(n, f"S{n + 1}", "rent", text) for n, text in enumerate(texts)]
        )
        assert "cross_source_contradiction" in verdicts(state, REPORT, "")
        both = REPORT + "\nAnother count gives 1,900 EUR in 2024 against the 1,400 EUR named above [S1][S2].\n"
        assert "cross_source_contradiction" not in verdicts(state, both, "")

    def test_the_pairs_that_are_compared_grow_with_the_number_of_claims(self, monkeypatch) -> None:
        compared = []
        differ = relations._differ
        monkeypatch.setattr(relations, "_differ", lambda one, other: compared.append(1) or differ(one, other))

        def pairs(count: int) -> int:
            found_ = [
                finding(n, f"S{n % 200}", "rent", f"The average rent of a flat in Town{n} was {n + 1} EUR in 2024") for n in range(count)
            ]
            state = state_of([source(f"S{n}") for n in range(200)], [task("rent")], found_)
            compared.clear()
            contradictions(state, parse_draft(REPORT))
            return len(compared)

        few = pairs(500)
        assert few > 0
        assert pairs(2_000) <= 5 * few


class TestOffTopic:
    QUESTION = "What does the rent of a flat in Oslo cost?"

    def beside(self, title: str, text: str, question: str = QUESTION, facet: str = "rent") -> tuple[str, ...]:
        state = state_of([source("S1", title=title)], [task("t", facet=facet)], [finding(1, "S1", "t", text)], question=question)
        return off_topic(state, parse_draft("# H\n\nSomething [S1].\n"))

    def test_a_page_on_something_else(self) -> None:
        assert self.beside("Knitting patterns", "The wool is washed in cold water before it is dyed") == ("S1",)

    @pytest.mark.parametrize(
        ("title", "text"),
        [
            ("Knitting in Oslo", "The wool is washed"),
            ("Prices", "Rents of apartments rose again"),
            ("Housing", "A lease costs more than the year before"),
            ("", "Die Wolle wird vor dem Färben in kaltem Wasser gewaschen und ist dann weich"),
        ],
        ids=["names the city", "synonyms", "other words of one meaning", "another language"],
    )
    def test_pages_that_may_well_belong(self, title: str, text: str) -> None:
        assert self.beside(title, text) == ()

    def test_what_it_was_read_for_counts_too(self) -> None:
        assert self.beside("Knitting", "The wool of the knitting is dyed", facet="knitting") == ()

    def test_a_question_of_one_word_tells_too_little(self) -> None:
        assert self.beside("Knitting", "The wool is washed in the water", question="Oslo?") == ()

    def test_only_cited_sources_are_looked_at(self) -> None:
        state = good_state(question="Knitting of wool in winter, and the dyeing of it")
        assert off_topic(state, parse_draft("# H\n\nNothing cited.\n")) == ()

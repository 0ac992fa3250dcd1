"""What a question itself asks for: parts, numbers, and what it leaves out."""

import pytest

from deepdelve.engine.facets import Requested, excluded_topics, mentions, parse_question, requested_count, without_exclusions
from deepdelve.utils.words import content_words
from tests.support.patience import in_proportion


class TestFacets:
    @pytest.mark.parametrize(
        ("question", "facets"),
        [
            ("Compare rent, food and transport costs in Helsinki", ("rent", "food", "transport costs")),
            ("EU AI Act: obligations, penalties, and timeline?", ("obligations", "penalties", "timeline")),
            ("Solar energy (1) costs (2) efficiency (3) recycling", ("costs", "efficiency", "recycling")),
            ("Describe the Lisbon market, covering prices, rents and supply", ("prices", "rents", "supply")),
            ("Tell me about:\n- tram lines\n- bus lines\n", ("tram lines", "bus lines")),
            ("Unterschiede zwischen Wien und Graz", ("Wien", "Graz")),
            ("Compare rail travel with air travel", ("rail travel", "air travel")),
            ("Focus on areas like trade unions, wages and strikes", ("trade unions", "wages", "strikes")),
            ("上海有多少人？港口有多大？", ("上海有多少人", "港口有多大")),
            ("Who founded the company? When did it go public?", ("Who founded the company", "When did it go public")),
            ("Who directed Silent Harbour? What was its budget?", ("Who directed Silent Harbour", "What was its budget (Silent Harbour)")),
            ("Compare the results of the 2022 Ruritanian election and the 2022 Open: who won?", ("2022 Ruritanian election", "2022 Open")),
        ],
    )
    def test_parts_are_found(self, question: str, facets: tuple[str, ...]) -> None:
        assert parse_question(question).facets == facets

    @pytest.mark.parametrize(
        "question",
        [
            "How high is the Eiffel tower?",
            "Why do salt and pepper stand on every table",
            "",
            "???",
            "At 10:30, who won?",
            "A photographer, including of Ann Lee, is father to which actress?",
            "See https://a.example, b",
        ],
    )
    def test_a_plain_question_has_no_parts(self, question: str) -> None:
        assert parse_question(question).facets == ()

    def test_what_is_compared_and_in_what_are_both_parts(self) -> None:
        found = parse_question("Compare Helsinki and Tallinn on rent, food prices and public transport").facets
        assert found == ("Helsinki", "Tallinn", "rent", "food prices", "public transport")

    def test_what_is_left_out_is_no_facet(self) -> None:
        assert "nuclear" not in parse_question("Energy in France: wind, solar, nuclear, not nuclear").facets


class TestCount:
    @pytest.mark.parametrize(
        ("question", "count"),
        [
            ("What are the five best cities for cyclists?", 5),
            ("List the top 10 wind parks", 10),
            ("Name three rivers of Spain", 3),
            ("Give me 7 examples of moss", 7),
            ("Nenne die fünf größten Städte Finnlands", 5),
            ("Citez trois auteurs suisses", 3),
            ("¿Cuáles son los 5 mejores vinos?", 5),
            ("Elenca quattro laghi", 4),
            ("世界十大港口有哪些", 10),
            ("请列出5个城市", 5),
            ("the twenty largest lakes", 20),
        ],
    )
    def test_items_asked_for(self, question: str, count: int) -> None:
        found = requested_count(question)
        assert found is not None
        assert found.count == count

    @pytest.mark.parametrize(
        "question",
        [
            "How did prices develop over the last five years?",
            "What happened in the top 10 percent of incomes?",
            "Name a river that is 300 km long",
            "Who won in 1998?",
            "Which one is best?",
            "Find 10 km runs",
            "过去5年的变化",
        ],
    )
    def test_measures_are_no_items(self, question: str) -> None:
        assert requested_count(question) is None

    def test_the_noun_is_kept_for_the_reader(self) -> None:
        assert requested_count("List five quiet cities") == Requested(5, "quiet cities")


class TestExcluded:
    @pytest.mark.parametrize(
        ("question", "topic"),
        [
            ("Renewables in the EU, not nuclear", "nuclear"),
            ("EU countries except Germany", "Germany"),
            ("Energy sources (excluding coal)", "coal"),
            ("Mieten in Österreich, ohne Wien", "Wien"),
            ("Energie in der Schweiz außer Kernkraft", "Kernkraft"),
            ("Les villes de France, sauf Paris", "Paris"),
            ("Ciudades de España, excepto Madrid", "Madrid"),
            ("Describe trams. Do not mention buses.", "buses"),
            ("Write on trams and ignore ferries", "ferries"),
            ("世界港口，不包括上海", "上海"),
            ("Compare dams. You should not discuss lawsuits.", "lawsuits"),
            ("Compara las presas sin incluir los costes.", "costes"),
            ("Сравните плотины, не включая рыболовство.", "рыболовство"),
            ("ダムを比較してください。観光は除く。", "観光"),
        ],
    )
    def test_topics_left_out(self, question: str, topic: str) -> None:
        assert excluded_topics(question) == (topic,)

    @pytest.mark.parametrize(
        "question",
        [
            "Why did it not only fail but also burn?",
            "Is it true, or not?",
            "What is it like to live without a car?",
            "Ist das nicht nur ein Gerücht?",
            "Which drugs are not yet approved?",
        ],
    )
    def test_other_negations_leave_nothing_out(self, question: str) -> None:
        assert excluded_topics(question) == ()

    @pytest.mark.parametrize(
        ("question", "left"),
        [
            ("Compara las presas sin incluir los costes.", "Compara las presas"),
            ("Compare dams. You should not discuss lawsuits.", "Compare dams"),
        ],
    )
    def test_what_is_left_out_is_not_looked_for(self, question: str, left: str) -> None:
        assert without_exclusions(question).startswith(left)
        assert not {"costes", "lawsuits"} & content_words(without_exclusions(question))


class TestMentions:
    def test_most_words_of_a_facet_are_enough(self) -> None:
        there = content_words("Public transport costs little in summer.")
        assert mentions("public transport cost", there)
        assert not mentions("housing supply", there)

    def test_words_that_parts_share_tell_nothing_of_one(self) -> None:
        told = content_words("Ann Lee directed Silent Harbour.")
        parts = ("Who directed Silent Harbour", "What was its budget (Silent Harbour)")
        assert [mentions(part, told, [other for other in parts if other != part]) for part in parts] == [True, False]

    def test_what_is_asked_is_answered_in_other_words(self) -> None:
        assert mentions("How many people died", content_words("A total of 296 people were killed."))

    def test_a_facet_without_content_is_always_there(self) -> None:
        assert mentions("the", frozenset())


def test_a_hostile_question_takes_no_time() -> None:
    for text in (
        "not " * 5_000,
        "a, " * 6_000,
        "(1) " * 5_000,
        "compare " * 2_500,
        "top " * 5_000,
        "[" * 20_000,
        "除了" * 10_000,
        " " * 20_000,
    ):
        in_proportion(parse_question, text)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("What is the Green Party, excluding elections?", "What is the Green Party?"),
        ("Name five rivers (but not the Rhine) in Europe.", "Name five rivers in Europe."),
        ("Is it not only cheap but also good?", "Is it not only cheap but also good?"),
        ("How high is the tower?", "How high is the tower?"),
    ],
)
def test_what_is_left_out_can_be_taken_off_the_question(question: str, left: str) -> None:
    assert without_exclusions(question) == left

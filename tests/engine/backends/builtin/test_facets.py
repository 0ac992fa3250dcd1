"""Questions taken apart into what can be researched on its own."""

import pytest

from deepdelve.engine.backends.builtin.facets import MAX_FACETS, _questions, split_question, whole


def facet_names(question: str) -> list[str]:
    return [facet.name for facet in split_question(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which plant is larger, the Pterocarya or the Cotula?", ["Pterocarya", "Cotula"]),
        ("Are Nantong and Jingdezhen situated in the same province?", ["Nantong", "Jingdezhen"]),
        ("What do E. B. White and Dan Masterson have in common?", ["E. B. White", "Dan Masterson"]),
        ("Which river is longer: Rhine, Elbe, Rhone or Danube?", ["Rhine", "Elbe", "Rhone", "Danube"]),
        ("Compare Oslo, Bergen and Trondheim by rent", ["Oslo", "Bergen", "Trondheim"]),
        ("Compare the results of the 2022 Ruritanian election and the 2022 Open: who won?", ["2022 Ruritanian election", "2022 Open"]),
        ("Which singer is American, Mark King or Nick Hexum?", ["Mark King", "Nick Hexum"]),
    ],
)
def test_things_that_are_compared_are_facets(question: str, expected: list[str]) -> None:
    assert facet_names(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who directed the film that was shot in Leland, North Carolina in 1986?",
        "The invasion of Wales by Harold and Tostig Godwinson made whom king?",
        "When did Vicious Lies and Dangerous Rumors come out?",
        'Who wrote "Act of War; Direct Action"?',
        "The Blue Lacy, official breed of Texas, and Chesapeake Bay Retriever are breeds of which century?",
        "How do heat pumps work?",
        "How do vaccines work? Who invented them?",
        "How do Alder and Birch compare, and is Alder or Birch longer?",
        "Is it Rhine, Elbe, Oder or Main?",
        "東京の人口は何人ですか?",
    ],
)
def test_a_question_about_one_thing_stays_whole(question: str) -> None:
    assert split_question(question) == [whole(question)]


def test_each_compared_thing_keeps_what_is_asked_and_loses_the_others() -> None:
    first, second = split_question("Which plant is larger, the Pterocarya or the Cotula?")
    assert first.text == "Which plant is larger, the Pterocarya?"
    assert second.text == "Which plant is larger, the Cotula?"


def test_several_questions_are_several_facets() -> None:
    assert facet_names("How do vaccines work? Who founded Oslo?") == ["How do vaccines work", "Who founded Oslo"]
    assert facet_names("What is the height of Mont Blanc, and what is the depth of Lake Geneva?") == [
        "What is the height of Mont Blanc",
        "What is the depth of Lake Geneva",
    ]


@pytest.mark.parametrize("joint", [" and ", ", and ", "; and "])
def test_a_second_question_needs_no_mark_of_its_own(joint: str) -> None:
    facets = split_question(f"How did the attacks on the registry work{joint}what were the agencies ordered to do?")
    assert [facet.name for facet in facets] == ["How did the attacks on the registry work", "What were the agencies ordered to do"]


@pytest.mark.parametrize(
    ("question", "second"),
    [
        ("What is HSTS caching? How does a domain get cached?", "How does a domain get cached (HSTS)"),
        ("What is the height of Mont Blanc? Who climbed the height first?", "Who climbed the height first (Mont Blanc)"),
        ("Who founded Oslo? How do vaccines work?", "How do vaccines work"),
        ("What is HSTS caching? How does DNSSEC caching differ?", "How does DNSSEC caching differ"),
    ],
)
def test_a_later_question_on_the_same_subject_is_researched_with_its_name(question: str, second: str) -> None:
    assert _questions(question)[1].text == second
    assert "(" not in _questions(question)[1].name


@pytest.mark.parametrize("joint", ["? What", " and what"])
def test_a_later_question_that_refers_back_is_researched_with_the_name(joint: str) -> None:
    first, second = split_question(f"Who directed Silent Harbour{joint} was its budget?")
    assert first.name == "Who directed Silent Harbour"
    assert second.name == "What was its budget"
    assert "Silent Harbour" in second.text


def test_questions_that_one_sentence_joins_are_several() -> None:
    assert facet_names("Who won the Oslo Cup and who won the Bergen Cup?") == ["Who won the Oslo Cup", "Who won the Bergen Cup"]
    assert len(facet_names("Quelle est la longueur de la Loire et quelle est la profondeur du Rhin ?")) == 2
    assert len(facet_names("¿Cuánto mide el Ebro y dónde nace el Tajo?")) == 2


def test_aspects_of_one_thing_are_researched_with_it() -> None:
    found = split_question("Describe the Kalda Dam, covering history, cost and safety")
    assert [(facet.name, facet.text) for facet in found] == [
        ("History", "Describe the Kalda Dam: history"),
        ("Cost", "Describe the Kalda Dam: cost"),
        ("Safety", "Describe the Kalda Dam: safety"),
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Who is the man who founded Acme and who sold Bcme?",
        "What and who is Ann Lee?",
        "When did Flight Nine crash, how many people died and what caused it?",
    ],
)
def test_what_is_asked_of_one_thing_stays_together(question: str) -> None:
    assert len(facet_names(question)) == 1


def test_more_parts_than_can_be_researched_stay_one_question() -> None:
    many = "? ".join(f"What is the mass of planet number {n}" for n in range(MAX_FACETS + 1)) + "?"
    assert len(split_question(many)) == 1


def test_a_facet_name_is_short_and_the_text_whole() -> None:
    question = "what is " + "very " * 60 + "long?"
    facet = whole(question)
    assert len(facet.name) <= 101
    assert facet.name.endswith("…")
    assert facet.text == " ".join(question.split())


@pytest.mark.parametrize("question", ["", "?", "???", "and or", "A or B", "\n\n"])
def test_odd_questions_give_a_facet_all_the_same(question: str) -> None:
    assert len(split_question(question)) >= 1


@pytest.mark.parametrize("told", ["Please cite only official sources.", "Answer in German.", "I need it by Monday", "{0} [S3]"])
def test_how_to_answer_is_no_part_of_the_question(told: str) -> None:
    assert split_question(f"What is HSTS? {told}") == split_question("What is HSTS?")
    parts = split_question(f"What is the capital of Norway? Who wrote the novel Hunger? {told}")
    assert [part.name for part in parts] == ["What is the capital of Norway", "Who wrote the novel Hunger"]


def test_a_request_after_a_question_is_a_part_of_it() -> None:
    parts = split_question("What is the capital of Norway? Explain the plot of Hunger.")
    assert [part.name for part in parts] == ["What is the capital of Norway", "Explain the plot of Hunger"]

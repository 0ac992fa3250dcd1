"""What kind of answer a question wants, and which sentences give one."""

import pytest

from deepdelve.engine.backends.builtin.answers import gives_wanted, wanted


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("When was the bridge built?", ("date",)),
        ("The plane was first flown when?", ("date",)),
        ("Who founded it, and when?", ("date",)),
        ("In what year was she born?", ("date",)),
        ("What is the date of the treaty?", ("date",)),
        ("What must agencies do, and by when?", ("date", "span")),
        ("What is the deadline for reports?", ("date", "span")),
        ("How quickly must holes be mended?", ("span",)),
        ("How often must they report?", ("span",)),
        ("How long is the Alder?", ("span", "number")),
        ("How many people live there?", ("number",)),
        ("What minimum password length is required?", ("number",)),
        ("At the 2011 census, what was the population of the city?", ("number",)),
        ("Wie hoch ist der Turm, und wann wurde er gebaut?", ("date", "number")),
        ("Wie lange dauert es?", ("span",)),
        ("What happens when a cookie expires?", ()),
        ("Under what name did he play when he recorded it?", ()),
        ("How do browsers behave?", ()),
        ("Who wrote it?", ()),
        ("", ()),
    ],
)
def test_the_kind_is_read_from_the_question_words(question: str, kinds: tuple[str, ...]) -> None:
    assert wanted(question) == kinds


@pytest.mark.parametrize(
    ("question", "gives", "gives_not"),
    [
        ("When was it built?", "It was built in 1931.", "It was built within 15 days."),
        ("When was it built?", "It was opened on 3 May.", "It is very old, and much visited."),
        ("When was it built?", "It dates from the 12th century.", "It may be visited."),
        ("How quickly must it be mended?", "It must be mended within 15 calendar days.", "It was mended in 2015."),
        ("How quickly must it be mended?", "It must be mended immediately.", "It must be mended at once by 15 people."),
        ("How often do they report?", "They report monthly.", "They report to the office."),
        ("How many live there?", "Some 45,000 live there.", "Many live there."),
        ("How many live there?", "Three families live there.", "The S3 and B-52 fly there."),
        ("Wie lange dauert es?", "Es dauert drei Wochen.", "Es dauert lange."),
    ],
)
def test_a_sentence_gives_an_answer_of_the_kind_or_does_not(question: str, gives: str, gives_not: str) -> None:
    assert gives_wanted(question, gives)
    assert not gives_wanted(question, gives_not)


def test_where_no_kind_is_asked_for_nothing_gives_one() -> None:
    assert not gives_wanted("Who wrote it?", "It was written in 1931 by two people.")


@pytest.mark.parametrize("text", ["what " * 20_000, "how " * 20_000, "1" * 100_000, "what " + "a" * 100_000 + " length"])
def test_long_text_is_looked_at_to_its_end(text: str) -> None:
    assert isinstance(wanted(text), tuple)
    assert gives_wanted("How many?", text) in (True, False)

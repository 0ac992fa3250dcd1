"""Proper names, found by their spelling."""

import pytest

from deepdelve.utils.names import find_names, names, numbered, of_another_number
from tests.support.patience import in_proportion


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Which band was formed first The Exies or Circus Diablo ?", ["The Exies", "Circus Diablo"]),
        ("What is the Heinkel HD 23?", ["Heinkel HD 23"]),
        ("era of Haymo of Faversham", ["Haymo of Faversham"]),
        ("Are Escape from the Dark and Frozen animated?", ["Escape from the Dark", "Frozen"]),
        ("She met J. R. R. Tolkien in Oxford.", ["J. R. R. Tolkien", "Oxford"]),
        ("Compare Minions: The Rise of Gru and Jackass Forever", ["Minions: The Rise of Gru", "Jackass Forever"]),
        ("the 2007 FIFA World Cup was won", ["2007 FIFA World Cup"]),
        ("played from 1945-1949 for Dick Humbert", ["Dick Humbert"]),
        ("the U.S. Army of 1812", ["U.S. Army of 1812"]),
        ("Simon & Simon starred whom", ["Simon & Simon"]),
        ("who is Géza von Cziffra", ["Géza von Cziffra"]),
        ("no name at all in here", []),
        ("", []),
    ],
)
def test_runs_of_capitalised_words_are_names(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_a_word_that_only_begins_a_sentence_is_no_name() -> None:
    assert names("Notable speakers came. However, they left. Rain fell.") == []
    assert names("Notable speakers met Ada.") == ["Ada"]


def test_what_stands_in_quotation_marks_is_a_name() -> None:
    assert names('the song "death of a disco dancer" was long') == ["death of a disco dancer"]


def test_names_end_at_sentences_and_lines() -> None:
    assert names("It was made by Atari, Inc. The game sold.\nParis is big and\nRome is old.") == ["Atari", "Inc"]


def test_and_parts_two_names() -> None:
    assert names("Between Iain Banks and Irwin Shaw") == ["Iain Banks", "Irwin Shaw"]


def test_offsets_point_to_the_name() -> None:
    text = "Was Ada  Quill from Elm?"
    found = find_names(text)
    assert [text[name.start : name.end] for name in found] == ["Ada  Quill from Elm"]
    assert found[0].text == "Ada Quill from Elm"


def test_names_come_once_each_in_order() -> None:
    assert names("the Alder and the Birch and the Alder") == ["Alder", "Birch"]


@pytest.mark.parametrize("piece", ["A ", '"', "A. ", "Aa-", ": A", "of ", "Aa "])
def test_time_grows_no_faster_than_the_text(piece: str) -> None:
    in_proportion(find_names, piece * 16_000)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("BOD 19-02 and RFC 6797", {("bod", "19-02"), ("rfc", "6797")}),
        ("Windows 11, SP 800-63-2 and AAL3", {("windows", "11"), ("sp", "800-63-2"), ("aal", "3")}),
        ("within 15 days and 3 months", set()),
        ("", set()),
    ],
)
def test_things_told_apart_by_number_are_found(text: str, found: set[tuple[str, str]]) -> None:
    assert numbered(text) == found


@pytest.mark.parametrize(
    ("asked", "text", "other"),
    [
        ("What does BOD 22-01 ask?", "BOD 18-01 asks for a plan.", True),
        ("What does BOD 22-01 ask?", "BOD 22-01 goes on from BOD 19-02.", False),
        ("What does BOD 22-01 ask?", "It asks for a plan.", False),
        ("What does BOD 22-01 ask?", "RFC 6797 was published in 2012.", False),
        ("How do BOD 19-02 and BOD 22-01 differ?", "BOD 19-02 is older.", False),
        ("What is a directive?", "BOD 18-01 asks for a plan.", False),
    ],
)
def test_another_of_a_kind_is_told_from_the_one_that_is_asked_about(asked: str, text: str, other: bool) -> None:
    assert of_another_number(asked, text) is other

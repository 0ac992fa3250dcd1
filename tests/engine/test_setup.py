"""What a question must be before anything is begun."""

import pytest

from deepdelve.core.errors import UsageError
from deepdelve.engine.setup import MAX_QUESTION_CHARS, checked_question


@pytest.mark.parametrize("question", ["", "  \n", "\x00", "?", "...", "¿?", "--- !"])
def test_a_question_without_a_word_is_refused(question: str) -> None:
    with pytest.raises(UsageError, match="question"):
        checked_question(question)


@pytest.mark.parametrize("question", ["a", "7", "什么？", "ما؟", "C++?"])
def test_one_letter_or_figure_of_any_script_is_a_question(question: str) -> None:
    assert checked_question(f" {question}\n") == question


def test_a_question_is_one_paragraph() -> None:
    assert checked_question("How long?\n \n\nAnd how deep?") == "How long?\nAnd how deep?"


def test_a_question_that_is_too_long_is_refused_with_its_length() -> None:
    with pytest.raises(UsageError, match=str(MAX_QUESTION_CHARS + 1)):
        checked_question("a" * (MAX_QUESTION_CHARS + 1))


@pytest.mark.parametrize(
    ("given", "question"),
    [
        ("what \x1b[31mis\x1b[0m \x07DNSSEC?", "what is DNSSEC?"),
        ("what is \x1b]8;;https://a.example\x07DNSSEC\x1b]8;;\x07?", "what is DNSSEC?"),
        ("what\u200b is\u202e DNSSEC?", "what is DNSSEC?"),
        ("what is\r\nDNSSEC?", "what is\nDNSSEC?"),
        ("是什么？\x00", "是什么？"),
    ],
)
def test_what_comes_along_from_a_terminal_or_a_page_is_no_part_of_the_question(given: str, question: str) -> None:
    assert checked_question(given) == question


def test_a_question_of_control_characters_has_no_words() -> None:
    with pytest.raises(UsageError, match="empty"):
        checked_question("\x1b[31m\x07\x1b[0m")

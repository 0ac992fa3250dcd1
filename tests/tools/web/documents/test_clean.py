"""What no reader sees is taken out; what spelling needs stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.tools.web.documents.clean import clean_text, page


@pytest.mark.parametrize(
    "char", ["\x00", "\x07", "\x1b", "\x7f", "\x9b", "\xad", "\u200b", "\u202e", "\u2066", "\ufeff", "\U000e0041", "\u2063"]
)
def test_unseen_characters_go(char: str) -> None:
    assert clean_text(f"ab{char}cd") == "abcd"


@pytest.mark.parametrize("text", ["می\u200cخواهم", "👩\u200d🔬", "a\tb", "नमस्ते", "e\u0301"])
def test_characters_that_spelling_needs_stay(text: str) -> None:
    assert clean_text(text) == text


@pytest.mark.parametrize("end", ["\r\n", "\r", "\x85", "\u2028", "\u2029", "\n"])
def test_every_line_break_becomes_the_same(end: str) -> None:
    assert clean_text(f"one{end}two") == "one\ntwo"


def test_blank_lines_and_trailing_blanks_are_settled() -> None:
    assert clean_text("\n\n one  \n\n\n\n\ntwo\t\n") == "one\n\ntwo"


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    assert clean_text("a\ud800b") == "a\ufffdb"


def test_a_page_stands_under_its_mark() -> None:
    assert page(3, "Text") == "[page 3]\nText"
    assert page(4, "") == "[page 4]"


@pytest.mark.parametrize("line", ["[page 7]", "  [Page 7]", "> [page 7]", "## [page  7] more"])
def test_a_line_cannot_pass_for_a_mark(line: str) -> None:
    """Else a document could have its own claims cited from a page of its choice."""
    assert "[page" not in page(1, f"before\n{line}\nafter").lower().removeprefix("[page 1]")


def test_a_mention_within_a_sentence_stays() -> None:
    assert "see [page 7] of it" in page(1, "see [page 7] of it")


@given(st.text(max_size=300))
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean_text(clean_text(text)) == clean_text(text)

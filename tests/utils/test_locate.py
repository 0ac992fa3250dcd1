"""Where a quote stands: found whatever its spaces, marks, dashes and case, with offsets into the text as it is."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.utils.locate import Locator, fold

TEXT = "The Alder\u2019s length \u2014 “212 kilometres” \u2014 was **measured**\nin\t1931. Its café stands\u2026 Straße."
CHARACTERS = st.text(st.sampled_from("aB é\u0301ß–—…‘“*_`\n\t.,7ﬁ한"), max_size=60)


def found(text: str, quote: str) -> str | None:
    place = Locator(text).find(quote)
    return text[place[0] : place[1]] if place else None


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ('length - "212 kilometres" - was', "length \u2014 “212 kilometres” \u2014 was"),
        ("THE ALDER'S LENGTH", "The Alder\u2019s length"),
        ("was measured in 1931", "was **measured**\nin\t1931"),
        ("  measured   in  ", "measured**\nin"),
        ('"its café stands..."', "Its café stands"),
        ("cafe\u0301 stands", "café stands"),
        ("strasse", "Straße"),
    ],
)
def test_a_quote_is_found_in_any_spelling_of_spaces_marks_and_case(quote, stands):
    assert found(TEXT, quote) == stands


@pytest.mark.parametrize("quote", ["", " ", '"..."', "213 kilometres", "was measured in 1932", "Alder length"])
def test_what_does_not_stand_there_is_not_found(quote):
    assert found(TEXT, quote) is None


def test_a_text_whose_accents_stand_apart_is_found_by_letters_that_carry_them():
    apart = unicodedata.normalize("NFD", "Die Länge beträgt 212 km.")
    assert found(apart, "Länge beträgt") == unicodedata.normalize("NFD", "Länge beträgt")


def test_a_passage_never_ends_between_a_letter_and_its_accent():
    apart = unicodedata.normalize("NFD", "le café")
    assert found(apart, "le cafe") == apart


def test_the_first_of_several_places_is_given():
    assert Locator("one two one two").find("two") == (4, 7)


def test_a_long_text_is_prepared_once_and_searched_quickly():
    text = "the same words again and again, " * 20_000 + "the needle"
    assert Locator(text).find("the needle") == (len(text) - 10, len(text))


@given(CHARACTERS, st.integers(0, 60), st.integers(0, 60))
def test_every_slice_of_a_text_is_found_and_its_passage_holds_it(text, start, stop):
    quote = text[min(start, stop) : max(start, stop)]
    place = Locator(text).find(quote)
    wanted = fold(quote)[0].strip(" \"'.,;:!?-")
    if not wanted:
        assert place is None
        return
    assert place is not None
    assert 0 <= place[0] < place[1] <= len(text)
    assert wanted in fold(text[place[0] : place[1]])[0]


@given(CHARACTERS)
def test_folding_is_stable_and_every_character_comes_from_somewhere_in_order(text):
    folded, origin = fold(text)
    assert len(folded) == len(origin)
    assert origin == sorted(origin)
    assert all(0 <= at < len(text) for at in origin)
    assert fold(folded)[0] == folded

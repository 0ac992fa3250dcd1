"""A sentence taken apart once: what the checks of words see of it, and that they see the same however it is asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.utils.grounding import tokens
from deepdelve.utils.grounding.reading import Reading, read


def test_keys_are_those_of_the_comparison_and_content_leaves_out_function_words() -> None:
    reading = Reading("The Dams of Kalda were built, and the dams hold.")
    assert reading.order == tokens.keys(reading.low)
    assert reading.content == tokens.content_keys(reading.text)
    assert reading.keys == set(reading.order)
    assert {"the", "of"} <= reading.keys
    assert not {"the", "of"} & set(reading.content)


def test_words_are_whole_and_commas_are_among_them() -> None:
    assert Reading("Ten of 1,200 dams, it's said; all good.").spelled == [
        "ten",
        "of",
        "1,200",
        "dams",
        ",",
        "it's",
        "said",
        ";",
        "all",
        "good",
    ]


@pytest.mark.parametrize(
    ("text", "held", "not_held"),
    [
        ("Smoke leads to coughing.", {"leads to", "leads", "coughing"}, {"to coughing of"}),
        ("The dam is high.", {"dam", "high"}, {"dam is", "is high"}),
        ("It may open in May 2009 again.", {"may", "open", "2009"}, {"in"}),
        ("It opened on 3 May.", {"opened", "3"}, {"may"}),
        ("It may open.", {"may"}, {"2009"}),
    ],
)
def test_neighbours_count_only_where_they_can_be_an_expression_and_a_month_is_no_verb(
    text: str, held: set[str], not_held: set[str]
) -> None:
    words = Reading(text).words
    assert held <= words
    assert not not_held & words


@pytest.mark.parametrize(
    ("text", "negates"),
    [
        ("The dam is not high.", True),
        ("The dam isn't high.", True),
        ("The dam isn’t high.", True),
        ("The dam can't hold.", True),
        ("Kein Damm ist hoch.", True),
        ("Никогда не поздно.", True),
        ("The knot is in a note.", False),
        ("The dam is high.", False),
    ],
)
def test_a_word_that_can_negate_is_seen(text: str, negates: bool) -> None:
    assert Reading(text).may_negate is negates


def test_a_text_is_read_once() -> None:
    text = "The dam of Kalda is high."
    assert read(text) is read(text)
    assert read(text) is not read(text + " ")


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    reading = Reading(text)
    assert len(reading.low) == len(text)
    assert set(reading.content) <= reading.keys
    assert isinstance(reading.words, frozenset)
    assert reading.may_negate in (True, False)

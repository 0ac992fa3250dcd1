"""An index gives back places of the very text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.utils.grounding import tokens
from deepdelve.utils.grounding.index import SourceIndex
from tests.support.patience import in_proportion

TEXT = "The Kalda Dam (1987) holds 1.6 km³ of water. Engineers’ reports, state-of-the-art or not, say so.\n\nSzöllősi wrote it. " * 60


def test_located_words_stand_where_they_are_said_to() -> None:
    source = SourceIndex("S1", TEXT)
    for key, places in source.locate(tokens.content_keys("dams hold water, engineers state Szöllősi")).items():
        for place in places:
            start, end = source.offsets(place)
            assert key in tokens.keys(TEXT[start:end].lower())


@pytest.mark.parametrize(
    "text",
    ["格伦冰川位于北纬六十度，长约二十三公里。" * 40, "ダムは九年の工事を経て完成した。" * 40, "댐은 구 년의 공사 끝에 완공되었다. " * 40],
)
def test_scripts_without_spaces_are_located_by_pairs(text: str) -> None:
    source = SourceIndex("S1", text)
    wanted = tokens.content_keys(text[2:8])
    located = source.locate(wanted)
    assert set(located) == set(wanted)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("increases", "increasing"),
        ("Studies", "study"),
        ("paid", "pays"),
        ("Café", "cafe"),
        ("November", "Nov"),
        ("1,248", "1248"),
        ("women", "woman"),
        ("plans", "planned"),
    ],
)
def test_forms_of_a_word_share_a_key(one: str, other: str) -> None:
    assert tokens.content_keys(one) == tokens.content_keys(other)


@pytest.mark.parametrize(("one", "other"), [("north", "south"), ("increase", "decrease"), ("1987", "1978"), ("contract", "contrast")])
def test_different_words_do_not(one: str, other: str) -> None:
    assert tokens.content_keys(one) != tokens.content_keys(other)


@given(st.text(max_size=400))
def test_lower_case_keeps_every_offset(text: str) -> None:
    assert len(tokens.lower(text)) == len(text)


@given(st.text(alphabet="ab .\n中文é1,", max_size=3000))
def test_every_word_has_offsets_inside_the_text(text: str) -> None:
    source = SourceIndex("S1", text)
    for number in range(source.size):
        start, end = source.offsets(number)
        assert 0 <= start < end <= len(text)


def test_a_passage_is_whole_sentences() -> None:
    source = SourceIndex("S1", "First one here. The Kalda Dam is high. Last one here.")
    places = source.locate(["kalda", "dam"])
    start, end = source.passage(places["kalda"][0], places["dam"][0])
    assert source.text[start:end] == "The Kalda Dam is high."


@given(st.text(alphabet="ab\u00df \t\x1c\u2009\u00a0\n.|-1,", max_size=4000))
def test_a_word_stands_where_its_offsets_say(text: str) -> None:
    source = SourceIndex("S1", text)
    assert [source.text[slice(*source.offsets(number))] for number in range(source.size)] == text.split()


def test_long_runs_are_one_word_and_what_follows_is_still_found() -> None:
    source = SourceIndex("S1", "x" * 5000 + " dam " + "y" * 5000 + "\nwater")
    assert source.locate(["dam", "water"]) == {"dam": [1], "water": [3]}
    assert source.text[slice(*source.offsets(3))] == "water"


def test_a_word_of_several_parts_is_found_by_each_and_twice_by_a_repeated_one() -> None:
    source = SourceIndex("S1", "A dam-and-water plan (dam/dam) | of 1,200 – dams")
    found = source.locate(["dam", "water", "1200", "absent"])
    assert found == {"dam": [1, 3, 3, 8], "water": [1], "1200": [6]}
    assert source.around(1, 1) == {"dam", "and", "water"} | source.around(4, 4)
    assert source.around(4, 4) == frozenset()


def test_indexing_is_linear() -> None:
    in_proportion(lambda text: SourceIndex("S1", text).locate(["dam", "water"]), TEXT * 100)

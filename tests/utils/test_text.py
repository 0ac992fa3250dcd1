"""Words, stems and sentences for retrieval."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.utils.text import STOP_WORDS, fold, portions, sentences, squash, stem, terms, words
from tests.support.patience import in_proportion


def said(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


# Words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Quick brown fox", ["the", "quick", "brown", "fox"]),
        ("Géza von Cziffra", ["geza", "von", "cziffra"]),
        ("Alû's demon", ["alus", "demon"]),
        ("it’s O'Neal", ["its", "oneal"]),
        ("BWV 1033, op. 27", ["bwv", "1033", "op", "27"]),
        ("snake_case and-hyphen", ["snake", "case", "and", "hyphen"]),
        ("", []),
        ("… — !", []),
    ],
)
def test_words_are_folded_and_cut_at_everything_that_is_no_letter_or_digit(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_text_without_spaces_gives_overlapping_pairs() -> None:
    assert words("東京都") == ["東京", "京都"]
    assert words("東") == ["東"]
    assert words("人口は1400万人") == ["人口", "口は", "1400", "万人"]


def test_mixed_scripts_keep_their_order() -> None:
    assert words("Tokyo 東京 is big") == ["tokyo", "東京", "is", "big"]


def test_letters_of_other_scripts_survive_folding() -> None:
    assert fold("Москва") == "москва"
    assert fold("ΑΘΗΝΑ") == "αθηνα"
    assert fold("Straße") == "strasse"


# Stems


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("films", "film"),
        ("cities", "city"),
        ("directed", "directing"),
        ("developed", "developing"),
        ("classes", "class"),
        ("planned", "planning"),
        ("houses", "house"),
        ("tornadoes", "tornado"),
    ],
)
def test_forms_of_one_word_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize("word", ["gas", "bus", "is", "1980s", "москвы", "king", "ring", "red"])
def test_short_words_and_other_scripts_are_left_alone(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(("one", "other"), [("king", "kin"), ("analysis", "analyses"), ("glass", "glas")])
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_terms_leave_function_words_out_and_keep_repeats() -> None:
    assert terms("Which of the films is the best film?") == ["film", "best", "film"]
    assert not set(terms("of the and which who")) & STOP_WORDS


# Sentences


def test_sentences_carry_their_offsets() -> None:
    text = "  One is here.  Two is\nthere! Three?"
    found = sentences(text)
    assert [sentence.text for sentence in found] == ["One is here.", "Two is there!", "Three?"]
    for sentence in found:
        assert squash(text[sentence.start : sentence.end]) == sentence.text


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith met Mr. Jones at St. Mary.",
        "It was written by J. R. R. Tolkien in Oxford.",
        "The U.S. Senate voted on it.",
        "He lived c. 1800 in Rome, i.e. the city.",
        "It costs 3.5 million, e.g. in Oslo.",
        "The band (formed in 1981 by K. Hammett) split.",
        "Vol. 3 and No. 27 are lost.",
    ],
)
def test_abbreviations_initials_and_decimals_end_no_sentence(text: str) -> None:
    assert said(text) == [text]


def test_a_full_stop_before_a_small_letter_ends_no_sentence() -> None:
    assert said("She joined Yahoo! in 2004. Then she left.") == ["She joined Yahoo! in 2004.", "Then she left."]


def test_quotes_and_brackets_stay_with_the_sentence_that_they_close() -> None:
    assert said('He said "stop." She did (at once.) They left.') == ['He said "stop."', "She did (at once.)", "They left."]


def test_reference_marks_stay_with_their_sentence() -> None:
    assert said("It rained.[3][12] It stopped.[4] The end.") == ["It rained.[3][12]", "It stopped.[4]", "The end."]


def test_headings_items_and_blank_lines_end_a_sentence_and_a_soft_line_break_does_not() -> None:
    text = "# Title\nFirst line\ngoes on.\n\n- one item\n- another item\nNo stop here\n\nNext paragraph\n| a | b |\n1. numbered"
    expected = [
        "# Title",
        "First line goes on.",
        "- one item",
        "- another item",
        "No stop here",
        "Next paragraph",
        "| a | b |",
        "1. numbered",
    ]
    assert said(text) == expected


@pytest.mark.parametrize("heading", ["### 7.1. Session Bindings", "# Why? How! And when.", "## 8. Threats [1] to U.S. banks"])
def test_a_heading_is_one_piece_whatever_stops_it_holds(heading: str) -> None:
    assert said(f"Before. It ends.\n\n{heading}\n\nAfter it. More.") == ["Before.", "It ends.", heading, "After it.", "More."]


def test_page_marks_stand_alone() -> None:
    assert said("Text ends\n[page 2]\nGoes on here.") == ["Text ends", "[page 2]", "Goes on here."]


def test_full_width_stops_need_no_space() -> None:
    assert said("東京は首都です。人口は多い！本当？はい") == ["東京は首都です。", "人口は多い！", "本当？", "はい"]


@pytest.mark.parametrize("text", ["", "   \n\n ", "\n"])
def test_nothing_gives_nothing(text: str) -> None:
    assert sentences(text) == []


@pytest.mark.parametrize("piece", ["a. ", "\n", ".", "A.", "[1]", "x", ' "', "。", ". \n"])
def test_time_grows_no_faster_than_the_text(piece: str) -> None:
    in_proportion(sentences, piece * 30_000)
    in_proportion(words, piece * 30_000)


def test_a_reference_mark_behind_an_initial_ends_no_sentence() -> None:
    assert [piece.text for piece in sentences("Research by Ranga P.[18] Dias had been published. It was withdrawn.")] == [
        "Research by Ranga P.[18] Dias had been published.",
        "It was withdrawn.",
    ]


# Portions

SHORT = "One sentence of some length stands here. " * 200
MARKDOWN = (
    "# A heading. With a stop\n\nThe Alder is 212 km long, e.g. near Elm.\nIt goes on here.\n\n- one item. And more\n- another\n\n"
    'Mr. Smith said "no." Then he left.[3] 热泵可以工作。它很安静。\n\n| a | b |\n| 1. | 2 |\n[page 2]\nThe end... is near! Is it?\n'
)


def test_portions_end_where_sentences_end_and_hold_as_many_as_fit() -> None:
    spans = list(portions(SHORT, 1_200))
    assert len(spans) > 3
    assert all(end - start <= 1_200 for start, end in spans)
    assert all(SHORT[start:end].endswith(".") for start, end in spans)
    assert [start for start, _ in spans[1:]] == [end + 1 for _, end in spans[:-1]]


@pytest.mark.parametrize("most", [40, 90, 200, 400])
def test_portions_end_at_the_ends_that_sentences_have(most: int) -> None:
    text = MARKDOWN * 30
    ends = {sentence.end for sentence in sentences(text)}
    spans = list(portions(text, most))
    assert len(spans) > 5
    assert {end for _, end in spans} <= ends


@given(st.text(alphabet='aB.!?。" \n#-|é[1]', max_size=300), st.integers(1, 60))
def test_portions_leave_nothing_out_and_never_overlap(text: str, most: int) -> None:
    place = 0
    for start, end in portions(text, most):
        assert not text[place:start].strip()
        assert place <= start < end
        place = end
    assert not text[place:].strip()


def test_a_sentence_longer_than_a_portion_stands_alone() -> None:
    assert list(portions("x" * 5_000, 1_200)) == [(0, 5_000)]
    assert list(portions("Short one. Y" + "y" * 2_999 + ". Short two.", 1_200)) == [(0, 10), (11, 3_012), (3_013, 3_023)]
    assert list(portions(" \n", 10)) == []


@pytest.mark.parametrize("piece", ["a. ", "\n", "e.g. ", "U.S. a", "。", ". \n", "\n#", ' "'])
def test_portions_take_no_longer_than_the_text_is_long(piece: str) -> None:
    in_proportion(lambda text: list(portions(text, 1_200)), piece * 10_000)

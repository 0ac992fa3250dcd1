"""Words and sentences in any language."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.utils.words import content_sequence, content_words, count_words, one_line, overlap, sentences, stem, words
from tests.support.patience import in_proportion


class TestWords:
    def test_words_are_folded_and_numbers_kept_whole(self) -> None:
        assert words("The Rent: 1,200.50 EUR (up 3.5%)") == ["the", "rent", "1,200.50", "eur", "up", "3.5%"]

    def test_scripts_without_spaces_give_pairs(self) -> None:
        assert words("租金上涨") == ["租金", "金上", "上涨"]
        assert words("東京の家賃 2024") == ["東京", "京の", "の家", "家賃", "2024"]

    def test_marks_of_vowels_do_not_break_words(self) -> None:
        assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]

    def test_content_leaves_out_function_words_of_several_languages(self) -> None:
        assert content_words("the price of bread and der Preis von Brot") == {"price", "bread", "preis", "brot"}

    def test_order_and_repetition_are_kept_where_asked(self) -> None:
        assert content_sequence("bread and bread or wine") == ["bread", "bread", "wine"]

    @pytest.mark.parametrize(("one", "other"), [("cities", "city"), ("rents", "rent"), ("taxes", "tax"), ("Хельсинки", "хельсинках")])
    def test_forms_of_one_word_meet(self, one: str, other: str) -> None:
        assert stem(one.casefold()) == stem(other)

    @pytest.mark.parametrize("word", ["glass", "virus", "analysis", "gas"])
    def test_other_words_stay(self, word: str) -> None:
        assert stem(word) == word

    def test_length_in_words(self) -> None:
        assert count_words("one two three") == 3
        assert count_words("租金上涨") == 2
        assert count_words(" --- ") == 0

    @given(st.text(max_size=200) | st.text(alphabet="aZßÉſŉ٣²½ª%1,.’–\u0307\n ", max_size=60))
    def test_a_word_of_another_script_beside_it_changes_no_word(self, text: str) -> None:
        # Text of European languages takes a shorter way, which one such word turns it from.
        assert words(f"{text} 中") == [*words(text), "中"]
        assert count_words(f"{text} 中") == count_words(text) + 1

    def test_overlap(self) -> None:
        assert overlap("ab", "bc") == pytest.approx(1 / 3)
        assert overlap("", "") == 0.0


class TestSentences:
    def test_full_stops_abbreviations_and_decimals(self) -> None:
        assert sentences("Dr. Who paid 3.5 EUR, e.g. in Oslo. He left!") == ["Dr. Who paid 3.5 EUR, e.g. in Oslo.", "He left!"]

    def test_a_marker_after_the_stop_stays(self) -> None:
        assert sentences("It is 900. [S1][S2] It was 800. [S3]") == ["It is 900. [S1][S2]", "It was 800. [S3]"]

    def test_lines_and_bullets(self) -> None:
        assert sentences("- one thing\n2. another thing\n\nlast") == ["one thing", "another thing", "last"]

    def test_other_scripts(self) -> None:
        assert sentences("租金上涨了。价格也是。") == ["租金上涨了。", "价格也是。"]
        assert sentences("यह सच है। वह नहीं।") == ["यह सच है।", "वह नहीं।"]

    @given(st.text(max_size=400))
    def test_any_text_is_accepted_and_nothing_is_invented(self, text: str) -> None:
        assert all(set(sentence) <= set(text) for sentence in sentences(text))


class TestOneLine:
    def test_no_line_ends_no_fences_no_more_than_asked(self) -> None:
        assert one_line("a\r\n b\u2028c <<<end x>>>") == "a b c ‹‹‹end x›››"
        assert one_line("abcdef", 4) == "abc…"
        assert one_line("abcd", 4) == "abcd"


def test_hostile_text_takes_no_time() -> None:
    for text in ("." * 50_000, ". " * 50_000, "[S" * 50_000, "1." * 50_000, "a. [S1" * 20_000, "租" * 50_000, "- " * 50_000):
        in_proportion(sentences, text)
        in_proportion(content_words, text)


class TestBorders:
    """One way of taking text apart for each purpose: search and quoting use the one, the check of a run's own writing the other."""

    SRC = Path(__file__).parents[2] / "src"

    def importers(self, name: str) -> set[str]:
        return {str(p.relative_to(self.SRC)) for p in self.SRC.rglob("*.py") if f"deepdelve.utils.{name} import" in p.read_text("utf-8")}

    def test_search_and_quoting_use_utils_text_alone(self) -> None:
        assert not [
            name for name in self.importers("words") if name.startswith(("tools/search/", "engine/backends/builtin/", "engine/reuse.py"))
        ]

    def test_the_completion_check_uses_utils_words_alone(self) -> None:
        assert not [
            name for name in self.importers("text") if name.startswith(("engine/completion/", "engine/facets.py", "engine/subjects.py"))
        ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Title 44, U.S. Code, lets the Secretary issue directives.", 1),
        ("It was made in the U.S. The price is high.", 2),
        ("It has many forms, e.g. Alder and Birch.", 1),
    ],
)
def test_a_dotted_abbreviation_ends_a_sentence_only_before_a_word_that_begins_one(text: str, count: int) -> None:
    from deepdelve.utils import text as sources

    assert len(sentences(text)) == count
    assert len(sources.sentences(text)) == count

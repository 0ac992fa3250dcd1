"""Gaps: one wording, and disclosure that tells a reader something."""

import pytest

from deepdelve.engine.completion.draft import parse_draft
from deepdelve.engine.completion.gaps import as_words, gap_question, gap_sentence, undisclosed
from deepdelve.engine.completion.verdict import Gap
from deepdelve.utils.grounding import citations
from deepdelve.utils.grounding.worthiness import needs_citation
from deepdelve.utils.phrases import LANGUAGES

ESTONIA = Gap("digital services adoption Estonia")
FINLAND = Gap("digital services adoption Finland")


def hidden(text: str, *gaps: Gap) -> list[Gap]:
    return list(undisclosed(gaps, parse_draft(text)))


class TestWording:
    def test_the_sentence(self) -> None:
        assert gap_sentence("what bread costs") == "No source in the available evidence directly states: what bread costs."

    @pytest.mark.parametrize("language", ["en", "German", "fr", "es", "it", "Portuguese", "nl", "zh", "Japanese", "Klingon", ""])
    def test_it_can_be_read_back_in_every_language(self, language: str) -> None:
        assert gap_question(gap_sentence("rent in Oslo", language)) == "rent in Oslo"

    @pytest.mark.parametrize(
        ("language", "start"), [("de-AT", "Keine"), ("pt_BR", "Nenhuma"), ("Estonian", "No source"), ("Javanese", "No source")]
    )
    def test_a_code_with_a_region_counts_and_a_name_that_begins_alike_does_not(self, language: str, start: str) -> None:
        assert gap_sentence("x", language).startswith(start)

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_it_needs_no_source_in_any_language(self, language: str) -> None:
        assert not needs_citation(gap_sentence("die Kosten der Köhlbrandbrücke in Hamburg 2019", language))

    def test_a_question_keeps_its_mark_and_gets_no_second_one(self) -> None:
        assert gap_sentence("How long is it?").endswith("states: How long is it?")

    @pytest.mark.parametrize(
        ("question", "shown"),
        [
            ("What does https://example.org/a do?", "What does example.org/a do?"),
            ("Is [this](https://example.org/x) right?", "Is this right?"),
            ("What does [S3] say [1]?", "What does (S3) say (1)?"),
            ("[b]x[/] <script>y</script> **z** `w`", "(b)x(/) ‹script›y‹/script› z w"),
            ("# Title\nand more", "Title and more"),
        ],
    )
    def test_a_question_is_shown_without_what_reads_as_markup_citation_or_address(self, question: str, shown: str) -> None:
        assert as_words(question) == shown
        assert citations.parse(gap_sentence(question), known={"S3", "S1"}).markers == ()

    def test_marks_of_emphasis_and_bullets_do_not_hide_it(self) -> None:
        assert gap_question(f"- **{gap_sentence('rent in Oslo')}**") == "rent in Oslo"

    def test_other_sentences_name_no_gap(self) -> None:
        assert gap_question("No source is perfect.") == ""

    def test_a_question_of_several_lines_stays_one_sentence(self) -> None:
        assert gap_sentence("a\nb  c.") == "No source in the available evidence directly states: a b c."


class TestDisclosure:
    def test_a_gap_with_markup_and_an_address_is_disclosed_by_its_sentence(self) -> None:
        gap = Gap("[x](http://evil.example/) {0} [S3] **rent** in https://oslo.example/ab")
        assert hidden(gap_sentence(gap.facet), gap) == []

    def test_the_sentence_itself_discloses(self) -> None:
        assert hidden(gap_sentence("bread prices"), Gap("bread prices")) == []

    @pytest.mark.parametrize(
        "said",
        [
            "No figures on bread prices were found.",
            "Bread prices could not be verified.",
            "The evidence does not state bread prices.",
            "Bread prices remain unknown.",
            "Zu bread prices wurden keine Daten gefunden.",
        ],
    )
    def test_so_does_a_plain_sentence(self, said: str) -> None:
        assert hidden(said, Gap("bread prices")) == []

    def test_silence_does_not(self) -> None:
        assert hidden("Bread prices are high [S1].", Gap("bread prices")) == [Gap("bread prices")]

    def test_one_of_two_like_gaps_disclosed_leaves_the_other(self) -> None:
        text = "No source states the adoption of digital services in Finland."
        assert hidden(text, ESTONIA, FINLAND) == [ESTONIA]

    def test_words_that_all_gaps_share_disclose_none_of_them(self) -> None:
        assert hidden("No data on digital services was found.", ESTONIA, FINLAND) == [ESTONIA, FINLAND]

    def test_a_note_on_working_files_is_hollow(self) -> None:
        text = "The evidence gaps section in the findings file lists digital services adoption in Estonia as not found."
        assert hidden(text, ESTONIA) == [ESTONIA]

    def test_naming_an_unanswered_question_is_enough(self) -> None:
        gap = Gap("society", ("What share of citizens file taxes online?",))
        assert hidden("No source gives the share of citizens who file taxes online.", gap) == []

    def test_a_disclosure_elsewhere_on_the_page_does_not_count(self) -> None:
        text = "Digital services adoption in Estonia is high [S1]. No data on trams was found."
        assert hidden(text, ESTONIA) == [ESTONIA]

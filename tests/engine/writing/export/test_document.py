"""The document model: what Markdown, ledger and sources become before any format is written."""

import pytest

from deepdelve.core.errors import UsageError
from deepdelve.core.records import Claim
from deepdelve.engine.writing.export.document import MAX_CHARS, Block, build, clean, right_to_left, web_address
from tests.support.patience import in_proportion

from .made import ARABIC, CHINESE, PASSAGE, REPORT, SUPPORTED, TEXT, claim, claims, document, passage, sources


def of(markdown: str, *ledger: Claim) -> tuple[Block, ...]:
    return build(markdown, ledger, {}, {}, title="Question").blocks


def test_blocks_come_in_order_with_their_kinds() -> None:
    kinds = [block.kind for block in document().blocks]
    assert kinds == [
        "heading", "quote", "heading", "text", "text", "item", "item", "item", "table", "table", "text", "code",
        "heading", "text", "text",
    ]  # fmt: skip


def test_items_know_how_deep_they_stand_and_their_numbers() -> None:
    items = [block for block in document().blocks if block.kind == "item"]
    assert [(item.level, item.marker, item.text) for item in items] == [(0, "", "item one [1, 2]"), (1, "", "nested 二"), (2, "1.", "deep")]


def test_numbers_of_a_list_go_on_and_a_second_paragraph_has_none() -> None:
    assert [block.marker for block in of("3. a\n\n   more\n4. b\n")] == ["3.", " ", "4."]


def test_a_table_has_a_head_and_rows() -> None:
    table = next(block for block in document().blocks if block.kind == "table")
    assert [["".join(run.text for run in cell) for cell in row] for row in table.rows] == [
        ["model", "COP", "热"],
        ["A", "2.1", "كفاءة"],
        ["B", "3 [1]", "https://example.org/" + "a" * 90],
    ]


def test_a_claim_is_marked_where_it_stands_and_ends_in_a_sign_that_leads_to_its_passage() -> None:
    paragraph = document().blocks[3]
    said = {number: "".join(run.text for run in paragraph.runs if run.claim == number and not run.jump) for number in (1, 2)}
    assert said == {1: SUPPORTED, 2: CHINESE}
    assert [(run.claim, run.text) for run in paragraph.runs if run.jump] == [(1, "✓"), (2, "⚠")]


def test_no_sign_of_ours_is_left_in_the_text() -> None:
    made = document()
    whole = "".join(block.text for block in made.blocks) + "".join(item.text for item in made.evidence)
    assert not any(0x2E00 <= ord(char) < 0x2E2E for char in whole)


def test_a_text_with_all_rare_signs_still_marks_its_claims() -> None:
    rare = "".join(chr(code) for code in range(0x2E00, 0x2E2E))
    text = f"{rare} and this is said."
    made = of(text, Claim(id="c1", text="this is said.", delivered_span=(text.find("this"), len(text)), status="supported"))
    assert [run.text for run in made[0].runs if run.claim == 1] == ["this is said.", "✓"]


@pytest.mark.parametrize("line", ["- {}", "  3. {}", "> {}", "| {} | x |\n|---|---|\n| a | b |", "- > 1. {}"])
def test_a_claim_that_takes_in_the_head_of_its_line_leaves_the_block_what_it_is(line: str) -> None:
    text = line.format("**Bold** is said.")
    plain, marked = of(text), of(text, Claim(id="c1", text="x", delivered_span=(0, text.find("said.") + 5), status="partial"))
    assert [block.kind for block in plain] == [block.kind for block in marked]
    runs = marked[0].runs or marked[0].rows[0][0]
    assert "".join(run.text for run in runs if run.claim and not run.jump) == "Bold is said."
    assert runs[0].bold


def test_a_claim_may_begin_and_end_in_bold_quotes() -> None:
    text = 'So **"quoted words"** it is.'
    made = of(text, Claim(id="c1", text="x", delivered_span=(3, 21), status="supported"))
    assert [(run.text, run.bold) for run in made[0].runs if run.claim == 1 and not run.jump] == [('"quoted words"', True)]


def test_a_claim_over_two_blocks_is_marked_in_both() -> None:
    text = "First part\n\nsecond part. Rest."
    made = of(text, Claim(id="c1", text="x", delivered_span=(0, 24), status="supported"))
    assert [[run.text for run in block.runs if run.claim] for block in made] == [["First part"], ["second part.", "✓"]]


def test_claims_without_a_place_are_kept_as_evidence() -> None:
    made = build("# T\n\nText.", [claim(1, "Nowhere said.", "unsupported", "S1", report="")], sources(), {}, title="q")
    assert [(item.text, item.placed) for item in made.evidence] == [("Nowhere said.", False)]


def test_spans_that_do_not_fit_the_report_are_left_aside() -> None:
    text = "Short text."
    wrong = [Claim(id=f"c{n}", text="x", delivered_span=span) for n, span in enumerate([(5, 900), (4, 4), (0, 5), (2, 4)])]
    made = of(text, *wrong)
    assert made[0].text == "Short? text."


def test_framing_needs_no_evidence() -> None:
    assert build("Text.", [Claim(id="c", text="Text.", needs_citation=False)], {}, {}, title="q").evidence == ()


def test_evidence_holds_the_passage_with_what_stands_around_it() -> None:
    first = document().evidence[0]
    assert (first.number, first.status, first.sign, first.text) == (1, "supported", "✓", SUPPORTED)
    assert first.before + first.quote + first.after == TEXT
    assert first.quote == PASSAGE
    assert (first.title, first.url, first.source_id) == ("Field trial", "https://example.org/trial?a=1&b=2", "S1")


def test_what_stands_around_is_cut_between_words() -> None:
    text = "word " * 200 + PASSAGE + " after" * 200
    item = build(PASSAGE, [claim(1, PASSAGE, "supported", "S1", passage(text), PASSAGE)], sources(), {"S1": text}, title="q").evidence[0]
    assert item.before.startswith("… word")
    assert item.after.endswith("after …")
    assert len(item.before) < 260


def test_a_passage_whose_text_is_gone_is_shown_from_the_ledger() -> None:
    item = build(REPORT, claims(), sources(), {}, title="q").evidence[0]
    assert (item.before, item.quote, item.after) == ("", PASSAGE, "")


def test_citations_lead_to_the_sources_of_the_report_only() -> None:
    runs = of("Said [1, 9]. And [2024].\n\n## Sources\n\n[1] A. https://a.example")[0].runs
    assert [(run.text, run.source) for run in runs if run.text.isdigit()] == [("1", 1), ("9", 0), ("2024", 0)]


def test_the_entries_of_the_list_of_sources_are_known_and_do_not_lead_to_themselves() -> None:
    entries = [block for block in document().blocks if block.source]
    assert [entry.source for entry in entries] == [1, 2]
    assert not any(run.source for entry in entries for run in entry.runs)
    assert entries[1].text == "[2] Survey [x]. https://example.com/survey"


def test_addresses_become_links_without_the_full_stop_behind_them() -> None:
    runs = of("See https://example.org/a(b), or https://example.org/c.")[0].runs
    assert [run.href for run in runs if run.href] == ["https://example.org/a(b", "https://example.org/c"]


@pytest.mark.parametrize("target", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "/etc/passwd", "ftp://x.example"])
def test_only_addresses_of_the_web_are_links(target: str) -> None:
    assert not any(run.href for run in of(f"[click]({target})")[0].runs)
    assert web_address(target) == ""


def test_pictures_and_html_are_words() -> None:
    block = of('A ![pic](https://t.example/x.png) <img src=x onerror="y">.')[0]
    assert block.text == 'A pic <img src=x onerror="y">.'
    assert not any(run.href for run in block.runs)


def test_what_breaks_a_file_or_turns_the_text_around_is_gone() -> None:
    assert clean("a\x00b\x1b[31mc\r\nd\u202ee\ud800f\ufffeg\x0ch") == "ab[31mc\ndefgh"


@pytest.mark.parametrize(
    ("text", "rtl"), [("abc", False), ("12 مرحبا", True), ("שלום abc", True), ("热泵", False), ("", False), ("123", False)]
)
def test_the_first_letter_says_from_which_side_a_text_runs(text: str, rtl: bool) -> None:
    assert right_to_left(text) is rtl


def test_the_title_is_the_first_heading_else_the_question() -> None:
    assert document().title == "Heat pumps & <b>bold</b> #emph[x] $x^2$"
    assert build("Text.", [], {}, {}, title="A\nquestion?").title == "A question?"
    assert build("", [], {}, {}, title="").title == "Report"


def test_a_report_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(UsageError, match="more than can be converted"):
        build("x" * (MAX_CHARS + 1), [], {}, {}, title="q")


@pytest.mark.parametrize("bomb", ["[" * 20_000, "*a " * 20_000, "> " * 5_000 + "x", "| a " * 5_000, "https://" * 10_000, "`" * 20_000])
def test_reading_stays_quick_whatever_the_text(bomb: str) -> None:
    in_proportion(of, bomb)


def test_arabic_is_a_claim_like_any_other() -> None:
    assert document().evidence[2].text == ARABIC

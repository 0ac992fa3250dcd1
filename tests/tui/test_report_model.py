"""A delivered report becomes pieces, and each claim is found where it stands."""

import pytest

from deepdelve.core.records import Claim
from deepdelve.tui.report_model import PIECE_LIMIT, Report, build, split, visible
from tests.support.patience import in_proportion

from .fake_engine import REPORT, make_claims


def shown(report: Report, claim_id: str) -> str:
    """The words that are lit for a claim."""
    place = report.places[claim_id]
    return report.pieces[place.piece].text[place.start : place.end]


def test_kinds_of_pieces() -> None:
    text = "# A\n\npara one\nstill one\n\n- item\n  1. deep\n\n> quote\n\n| a |\n|---|\n\n```\ncode\n\nmore\n```\n\n---\n"
    assert [(piece.kind, piece.text.split("\n")[0]) for piece in split(text)] == [
        ("heading", "A"),
        ("text", "para one still one"),
        ("item", "item"),
        ("item", "deep"),
        ("quote", "quote"),
        ("table", "| a |"),
        ("code", "```"),
        ("rule", ""),
    ]


def test_pieces_know_their_place() -> None:
    for piece in split(REPORT):
        for char, offset in zip(piece.text, piece.offsets, strict=True):
            assert REPORT[offset] in {char, "\n"}


def test_list_markers_become_prefixes_and_levels() -> None:
    first, second, third = split("- a\n    - b\n12. c\n")
    assert (first.prefix, first.level) == ("• ", 0)
    assert (second.prefix, second.level) == ("• ", 2)
    assert (third.prefix, third.text) == ("12. ", "c")


@pytest.mark.parametrize(
    ("raw", "text", "styles"),
    [
        ("**bold** and *it*", "bold and it", [("bold", "bold"), ("italic", "it")]),
        ("`code *x*`", "code *x*", [("code", "code *x*")]),
        ("see [Title](https://example.org/a_b)", "see Title", [("link", "Title")]),
        ("fact [1] and [2, 3]", "fact [1] and [2, 3]", [("cite", "[1]"), ("cite", "[2, 3]")]),
        ("[/] [link] [x]", "[/] [link] [x]", []),
        ("2 * 3 * 4", "2 * 3 * 4", []),
        ("never **closed", "never **closed", []),
        ("a \\* b \\[1\\]", "a * b [1]", []),
        ("open [ bracket (", "open [ bracket (", []),
        ("[[1]](https://example.org)", "[1]", [("link", "[1]")]),
        ("two\nlines", "two lines", []),
    ],
)
def test_inline(raw: str, text: str, styles: list[tuple[str, str]]) -> None:
    got, offsets, spans = visible(raw, 0, len(raw))
    assert got == text
    assert len(offsets) == len(text)
    assert [(span.style, got[span.start : span.end]) for span in spans] == styles


def test_claims_are_found_by_their_delivered_span() -> None:
    report = build(REPORT, make_claims())
    assert shown(report, "c1") == "Field trials found that heat pumps kept a COP above 2.0 at minus ten degrees [1]."
    assert shown(report, "c2") == "Some lose half of their output [2]."
    assert shown(report, "c3").startswith("They always pay off")


def test_a_claim_without_span_is_found_by_its_words() -> None:
    report = build("# T\n\nIt is **so** [1].\n\nAnd thus.", [Claim(id="c", text="And thus.")])
    assert shown(report, "c") == "And thus."


def test_a_span_over_marked_up_words_is_lit_without_the_marks() -> None:
    text = "It is **very** cold [1](https://example.org/x)."
    report = build(text, [Claim(id="c", text="x", delivered_span=(0, len(text)))])
    assert shown(report, "c") == "It is very cold 1."


def test_claims_come_in_the_order_of_the_text_and_lost_ones_last() -> None:
    claims = make_claims()
    report = build(REPORT, [Claim(id="lost", text="nowhere to be found"), *reversed(claims)])
    assert [claim.id for claim in report.claims] == ["c1", "c2", "c3", "lost"]
    assert "lost" not in report.places


def test_headings_and_gaps_are_no_claims() -> None:
    assert build(REPORT, [Claim(id="h", text="Cost", needs_citation=False)]).claims == ()


def test_headings_are_the_contents() -> None:
    assert [piece.text for _, piece in build(REPORT, []).headings] == ["Heat pumps in cold climates", "Performance", "Cost", "Sources"]


@pytest.mark.parametrize("span", [(-5, -1), (10**6, 10**6 + 5), (0, 0)])
def test_a_wrong_span_harms_nothing(span: tuple[int, int]) -> None:
    report = build("# T\n\ntext", [Claim(id="c", text="", delivered_span=span)])
    assert all(place.piece < len(report.pieces) for place in report.places.values())


def test_an_empty_report_has_nothing() -> None:
    assert build("", []).pieces == ()


def test_a_huge_paragraph_is_cut() -> None:
    (piece,) = split("x" * 1_000_000)
    assert len(piece.text) == PIECE_LIMIT


@pytest.mark.parametrize(
    "bomb",
    ["[" * 20_000, "*" * 20_000, "`" * 20_001, "[a](" * 5_000, "![" * 10_000, "[" * 10_000 + "]" * 10_000, "**a" * 6_000, "\\" * 20_000],
)
def test_reading_is_linear(bomb: str) -> None:
    in_proportion(lambda text: list(split(text)), bomb)


def test_a_long_report_keeps_the_place_of_every_claim() -> None:
    sentence = "Field trials found that heat pumps kept a **COP** above 2.0 at minus ten degrees [1]. "
    text = "# Title\n\n" + "\n\n".join(sentence * 4 for _ in range(170))
    claims, place = [], text.find(sentence)
    while place >= 0 and len(claims) < 200:
        claims.append(Claim(id=f"c{len(claims)}", text=sentence, delivered_span=(place, place + len(sentence) - 1), citations=("S1",)))
        place = text.find(sentence, place + 1)
    report = build(text, claims)
    assert len(report.places) == 200

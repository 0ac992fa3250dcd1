"""PDF files, drawn by the test: pages, order, tables, directions, refusals."""

from pathlib import Path

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.pdf import read_pdf
from tests.tools.web.documents.made import pdf, show


def rows(cells: list[list[str]], x: float = 60, y: float = 700, width: float = 130) -> str:
    return "".join(show(cell, x + width * c, y - 16 * r) for r, row in enumerate(cells) for c, cell in enumerate(row))


def test_every_page_stands_under_its_mark() -> None:
    result = read_pdf(pdf(show("Alpha words", 72, 700), show("Beta words", 72, 700), show("Gamma words", 72, 700)))
    assert result.text == "[page 1]\nAlpha words\n\n[page 2]\nBeta words\n\n[page 3]\nGamma words"
    assert result.pages == 3
    assert result.kind == "pdf"
    assert not result.reason


def test_text_that_imitates_a_page_mark_is_disarmed() -> None:
    text = read_pdf(pdf(show("[page 9]", 72, 700) + show("The claim stands here.", 72, 600))).text
    assert "[page 9]" not in text
    assert "(page 9)" in text


def test_a_page_without_text_is_named() -> None:
    result = read_pdf(pdf(show("Words", 72, 700), "0 0 100 100 re f"))
    assert "[page 2]" in result.text
    assert result.reason == "No text on 1 of 2 pages (images or blank): 2."


def test_metadata_is_read() -> None:
    result = read_pdf(pdf(show("Words", 72, 700), info="/Title (A study of tides) /Author (Ada Mole) /CreationDate (D:20230405060708Z)"))
    assert (result.title, result.author, result.date) == ("A study of tides", "Ada Mole", "2023-04-05")


@pytest.mark.parametrize(("title", "expected"), [("untitled", ""), ("\\(anonymous\\)", ""), ("Microsoft Word - report.doc", "report.doc")])
def test_a_title_that_a_program_made_up_is_no_title(title: str, expected: str) -> None:
    assert read_pdf(pdf(show("Words", 72, 700), info=f"/Title ({title})")).title == expected


def test_two_columns_are_read_in_order_even_if_drawn_line_by_line() -> None:
    content = "".join(
        show(f"Left column, line {i}, has these words", 60, 700 - 14 * i)
        + show(f"Right column, line {i}, has these words", 330, 700 - 14 * i)
        for i in range(12)
    )
    text = read_pdf(pdf(content)).text
    assert text.index("Left column, line 11") < text.index("Right column, line 0")


def test_a_table_is_a_table_even_if_drawn_column_by_column() -> None:
    cells = [["Year", "Tonnes", "Ships"], ["2021", "1,900", "211"], ["2022", "2,100", "230"], ["2023", "2,400", "254"]]
    by_column = "".join(show(cells[r][c], 60 + 130 * c, 700 - 16 * r) for c in range(3) for r in range(4))
    assert "| 2022 | 2,100 | 230 |" in read_pdf(pdf(by_column)).text
    assert read_pdf(pdf(by_column)).text == read_pdf(pdf(rows(cells))).text


def test_a_hyphen_at_the_end_of_a_line_is_undone() -> None:
    text = read_pdf(pdf(show("The harbour was a considerable engi-", 60, 700) + show("neering feat of its time and place.", 60, 688))).text
    assert "considerable engineering feat" in text


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_the_rotation_of_the_sheet_does_not_matter(rotate: int) -> None:
    content = show("First line of the text on this page", 60, 700) + show("and a second line of the same text.", 60, 688)
    assert read_pdf(pdf(content, rotate=rotate)).text == "[page 1]\nFirst line of the text on this page and a second line of the same text."


def test_a_stamp_in_the_margin_follows_the_text() -> None:
    stamp = "BT /F1 10 Tf 0 1 -1 0 30 200 Tm (arXiv stamp one) Tj ET BT /F1 10 Tf 0 1 -1 0 42 200 Tm (and stamp two) Tj ET\n"
    text = read_pdf(pdf(stamp + show("The text of the page comes first, of course.", 72, 700))).text
    assert text == "[page 1]\nThe text of the page comes first, of course.\n\narXiv stamp one and stamp two"


@pytest.mark.parametrize("lead", [b"", b"\xef\xbb\xbf", b"\r\n\r\n", b"junk before the header\n"])
def test_bytes_before_the_header_do_not_matter(lead: bytes) -> None:
    assert "Words" in read_pdf(lead + pdf(show("Words", 72, 700))).text


def test_a_pdf_without_a_cross_reference_table_is_repaired() -> None:
    data = pdf(show("Words of a broken file", 72, 700))
    assert "Words of a broken file" in read_pdf(data[: data.rindex(b"xref\n0 ")] + b"trailer << /Root 1 0 R >>").text


def test_a_pdf_of_images_is_refused_with_the_reason() -> None:
    with pytest.raises(FetchError) as caught:
        read_pdf(pdf("0 0 100 100 re f", "0 0 10 10 re f"))
    assert caught.value.cause == "no_text"
    assert "no text layer" in caught.value.message
    assert "2 pages" in caught.value.message


@pytest.mark.parametrize("data", [b"%PDF-1.4\n", b"%PDF-1.7\n1 0 obj\n<< /Type", pdf(show("x", 1, 1))[:200]])
def test_a_damaged_pdf_is_refused_with_the_reason(data: bytes) -> None:
    with pytest.raises(FetchError) as caught:
        read_pdf(data)
    assert caught.value.cause == "unreadable"
    assert "damaged" in caught.value.message


def test_an_encrypted_pdf_is_refused_with_the_reason() -> None:
    data = pdf(show("Words", 72, 700))
    owner, user = "4f" * 32, "55" * 32
    extra = f"/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <{owner}> /U <{user}> >> /ID [<00> <00>] ".encode()
    with pytest.raises(FetchError) as caught:
        read_pdf(data.replace(b"trailer << ", b"trailer << " + extra))
    assert caught.value.cause == "encrypted"
    assert "password" in caught.value.message


def test_a_long_document_is_read_in_reasonable_time() -> None:
    result = read_pdf(pdf(*(show(f"Page text {i}", 72, 700) for i in range(300))))
    assert result.pages == 300
    assert "[page 300]\nPage text 299" in result.text


def test_the_file_name_has_no_say(tmp_path: Path) -> None:
    """A PDF saved without its suffix is a PDF."""
    (tmp_path / "download").write_bytes(pdf(show("Words", 72, 700)))
    assert read_pdf((tmp_path / "download").read_bytes()).kind == "pdf"

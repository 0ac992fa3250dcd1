"""OpenDocument text, sheets and slides."""

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.office import read_zip
from tests.tools.web.documents.made import odf

CELL = "<table:table-cell><text:p>{}</text:p></table:table-cell>"


def row(*cells: str) -> str:
    return "<table:table-row>" + "".join(CELL.format(cell) for cell in cells) + "</table:table-row>"


def test_text_with_headings_lists_tables_and_links() -> None:
    content = (
        '<text:h text:outline-level="1">Head</text:h><text:p>Some<text:s/>words <text:span>here</text:span>.</text:p>'
        "<text:list><text:list-item><text:p>one</text:p></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>"
        f"<table:table>{row('a', 'b')}{row('1', '2')}</table:table>"
        '<text:p><text:a xlink:href="https://a.test/x">link</text:a></text:p>'
    )
    result = read_zip(odf("text", content))
    assert result.text == "# Head\n\nSome words here.\n\n- one\n- two\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n[link](https://a.test/x)"
    assert result.links == ("https://a.test/x",)
    assert result.kind == "odf"


def test_sheets_are_named() -> None:
    content = f'<table:table table:name="Data">{row("a", "b")}{row("1", "2")}</table:table>'
    assert read_zip(odf("spreadsheet", content)).text.startswith("## Data\n\n| a | b |")


def test_slides_are_pages() -> None:
    content = "".join(f"<draw:page><draw:frame><text:p>{text}</text:p></draw:frame></draw:page>" for text in ("One", "Two"))
    result = read_zip(odf("presentation", content))
    assert result.text == "[page 1]\nOne\n\n[page 2]\nTwo"
    assert result.pages == 2


def test_the_endless_blank_rest_of_a_sheet_is_not_unrolled() -> None:
    blank = (
        '<table:table-row table:number-rows-repeated="1048574"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    content = f'<table:table table:name="D">{row("a", "b")}{row("1", "2")}{blank}</table:table>'
    assert len(read_zip(odf("spreadsheet", content)).text) < 100


def test_comments_are_left_out() -> None:
    assert (
        "secret"
        not in read_zip(odf("text", "<text:p>Words<office:annotation><text:p>secret</text:p></office:annotation> here</text:p>")).text
    )


def test_a_password_is_told() -> None:
    manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>"
    with pytest.raises(FetchError) as caught:
        read_zip(odf("text", "", {"META-INF/manifest.xml": manifest}))
    assert caught.value.cause == "encrypted"


def test_properties() -> None:
    meta = (
        '<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>T</dc:title><dc:creator>Ada</dc:creator><dc:date>2020-01-02</dc:date></m>'
    )
    result = read_zip(odf("text", "<text:p>Words</text:p>", {"meta.xml": meta}))
    assert (result.title, result.author, result.date) == ("T", "Ada", "2020-01-02")


@pytest.mark.parametrize("kind", ["text", "spreadsheet", "presentation"])
def test_nothing_in_it_is_refused(kind: str) -> None:
    with pytest.raises(FetchError) as caught:
        read_zip(odf(kind, '<table:table table:name="Empty"/><draw:page/>'))
    assert caught.value.cause == "no_text"


@pytest.mark.parametrize("char", ["\x01", "&#1;", "&#xFFFE;", "\ufffe"])
def test_control_characters_cost_nothing_else_of_the_text(char: str) -> None:
    content = (
        f'<text:p>{char}One{char}<text:span>two{char}</text:span>{char}<text:a xlink:href="https://a.test/">x{char}</text:a>end</text:p>'
    )
    text = read_zip(odf("text", content)).text
    assert "One" in text
    assert "two" in text
    assert "end" in text
    assert char not in text

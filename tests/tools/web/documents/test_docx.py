"""Word documents: structure, links, notes, formulas; and what a parser must not be led into."""

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.office import read_zip
from tests.tools.web.documents.made import W, core, docx, paragraph, relations, zipped

STYLES = (
    f"<w:styles {W}>"
    '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My section"/><w:basedOn w:val="H1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="O"><w:name w:val="outlined"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="L"><w:name w:val="list"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="loop"/><w:basedOn w:val="Loop"/></w:style>'
    "</w:styles>"
)
NUMBERING = (
    f"<w:numbering {W}>"
    '<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
    '<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num></w:numbering>'
)
STRUCTURE = {"word/styles.xml": STYLES, "word/numbering.xml": NUMBERING}


def style(name: str) -> str:
    return f'<w:pStyle w:val="{name}"/>'


def item(text: str, number: int, level: int = 0) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def text_of(body: str, **parts: dict[str, str]) -> str:
    return read_zip(docx(body, {**STRUCTURE, **parts.get("parts", {})}, parts.get("links"))).text


def test_headings_by_style_by_inheritance_and_by_outline_level() -> None:
    body = paragraph("One", style("H1")) + paragraph("Own", style("Mine")) + paragraph("Third", style("O")) + paragraph("Text")
    assert text_of(body) == "# One\n\n# Own\n\n### Third\n\nText"


def test_the_title_is_the_first_heading_unless_the_file_states_one() -> None:
    assert read_zip(docx(paragraph("My title", style("T")), STRUCTURE)).title == "My title"
    stated = read_zip(docx(paragraph("My title", style("T")), {**STRUCTURE, "docProps/core.xml": core(title="Stated")}))
    assert stated.title == "Stated"


def test_properties_of_the_file() -> None:
    properties = core(title="T", creator="Ada Mole", created="2023-04-05T06:07:08Z", language="de-DE")
    result = read_zip(docx(paragraph("Text"), {"docProps/core.xml": properties}))
    assert (result.author, result.date, result.language, result.kind) == ("Ada Mole", "2023-04-05", "de", "docx")


def test_lists_keep_their_kind_and_depth() -> None:
    body = (
        item("a", 1) + item("b", 1, 1) + item("c", 1) + paragraph("Text") + item("x", 2) + item("y", 2) + item("sub", 2, 1) + item("z", 2)
    )
    assert text_of(body) == "- a\n  - b\n- c\n\nText\n\n1. x\n2. y\n  1. sub\n3. z"


def test_a_style_may_make_a_list_and_zero_takes_it_away() -> None:
    assert text_of(paragraph("a", style("L"))) == "- a"
    assert text_of(paragraph("a", style("L") + '<w:numPr><w:numId w:val="0"/></w:numPr>')) == "a"


def test_a_table_with_a_spanning_cell() -> None:
    spanning = cell("Both", '<w:gridSpan w:val="2"/>')
    body = f"<w:tbl><w:tr>{spanning}{cell('C')}</w:tr><w:tr>{cell('1')}{cell('2')}{cell('3')}</w:tr></w:tbl>"
    assert text_of(body) == "| Both |  | C |\n| --- | --- | --- |\n| 1 | 2 | 3 |"


def test_a_table_within_a_cell_is_not_read_twice() -> None:
    inner = f"<w:tbl><w:tr>{cell('in 1')}{cell('in 2')}</w:tr></w:tbl>"
    body = f"<w:tbl><w:tr>{cell('a')}<w:tc>{inner}{paragraph('b')}</w:tc></w:tr><w:tr>{cell('c')}{cell('d')}</w:tr></w:tbl>"
    assert text_of(body).count("in 1") == 1


def test_links_lead_where_the_relation_says() -> None:
    body = (
        '<w:p><w:r><w:t xml:space="preserve">See </w:t></w:r><w:hyperlink r:id="rId9"><w:r><w:t>the report</w:t></w:r></w:hyperlink></w:p>'
    )
    result = read_zip(docx(body, links={"rId9": "https://a.test/report"}))
    assert result.text == "See [the report](https://a.test/report)"
    assert result.links == ("https://a.test/report",)


def test_a_link_to_a_file_is_text() -> None:
    body = '<w:p><w:hyperlink r:id="rId9"><w:r><w:t>the report</w:t></w:r></w:hyperlink></w:p>'
    assert read_zip(docx(body, links={"rId9": "file:///etc/passwd"})).text == "the report"


def test_notes_follow_the_text() -> None:
    body = '<w:p><w:r><w:t>Claim</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    rule = f'<w:footnote w:type="separator" w:id="0">{paragraph("-")}</w:footnote>'
    notes = f'<w:footnotes {W}>{rule}<w:footnote w:id="2">{paragraph("Its source")}</w:footnote></w:footnotes>'
    assert text_of(body, parts={"word/footnotes.xml": notes}) == "Claim[^f2]\n\n[^f2]: Its source"


def test_deleted_text_is_gone_and_inserted_text_is_there() -> None:
    body = (
        "<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom></w:p>"
    )
    assert text_of(body) == "new"


def test_breaks_tabs_and_hyphens() -> None:
    body = "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r></w:p>"
    assert text_of(body) == "a b\nc-d"


def test_content_controls_are_read() -> None:
    assert text_of(f"<w:sdt><w:sdtContent>{paragraph('inside')}</w:sdtContent></w:sdt>") == "inside"


def test_readings_above_characters_are_left_out() -> None:
    reading = "<w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt>"
    base = "<w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase>"
    assert text_of(f"<w:p><w:r><w:ruby>{reading}{base}</w:ruby></w:r></w:p>") == "東京"


@pytest.mark.parametrize(
    ("math", "expected"),
    [
        ("<m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>", "x^(2)"),
        ("<m:sSub><m:e><m:r><m:t>a</m:t></m:r></m:e><m:sub><m:r><m:t>0</m:t></m:r></m:sub></m:sSub>", "a_(0)"),
        ("<m:f><m:num><m:r><m:t>p</m:t></m:r></m:num><m:den><m:r><m:t>q</m:t></m:r></m:den></m:f>", "(p)/(q)"),
        ("<m:rad><m:e><m:r><m:t>y</m:t></m:r></m:e></m:rad>", "sqrt(y)"),
    ],
)
def test_formulas_are_written_in_one_line(math: str, expected: str) -> None:
    assert text_of(f"<w:p><m:oMath>{math}</m:oMath></w:p>") == expected


def test_embedded_files_are_said_to_be_left_out() -> None:
    result = read_zip(docx(paragraph("Text"), {"word/embeddings/a.bin": b"x"}))
    assert "embedded" in result.reason


def test_a_style_based_on_itself_ends() -> None:
    assert text_of(paragraph("Text", style("Loop"))) == "Text"


@pytest.mark.parametrize("body", ["", paragraph("  "), "<w:p/>"])
def test_an_empty_document_is_refused(body: str) -> None:
    with pytest.raises(FetchError) as caught:
        read_zip(docx(body))
    assert caught.value.cause == "no_text"


def test_a_document_cut_short_is_refused_with_the_reason() -> None:
    data = docx(paragraph("Text"))
    with pytest.raises(FetchError) as caught:
        read_zip(data[: len(data) // 2])
    assert caught.value.cause == "unreadable"
    assert "cut short" in caught.value.message


def test_the_main_part_may_have_any_name() -> None:
    """Some programs name it document2.xml; the package says which it is."""
    data = zipped(
        {
            "_rels/.rels": relations({"rId1": "word/document2.xml"}),
            "word/document2.xml": f"<w:document {W}><w:body>{paragraph('Text')}</w:body></w:document>",
        }
    )
    assert read_zip(data).text == "Text"


def test_any_other_archive_is_named_for_what_it_is() -> None:
    with pytest.raises(FetchError) as caught:
        read_zip(zipped({"a.txt": "x"}))
    assert caught.value.cause == "unsupported_type"
    assert "ZIP archive" in caught.value.message

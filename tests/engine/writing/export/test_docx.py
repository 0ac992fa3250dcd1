"""Word documents, opened again and looked at as XML."""

import io
import zipfile

import docx
import pytest
from docx.enum.section import WD_ORIENT
from docx.oxml.ns import qn
from lxml import etree

from deepdelve.engine.writing.export.document import Document, build
from deepdelve.engine.writing.export.docx import write
from deepdelve.tools.web.documents.parse import parse

from .made import ARABIC, PASSAGE, SUPPORTED, claims, document, sources


def opened(made: Document | None = None) -> docx.document.Document:
    return docx.Document(io.BytesIO(write(made or document())))


def xml(made: Document | None = None) -> etree._Element:
    return opened(made).element


def paragraph(word: docx.document.Document, words: str) -> docx.text.paragraph.Paragraph:
    return next(found for found in word.paragraphs if words in found.text)


def test_headings_paragraphs_and_items_come_in_order() -> None:
    word = opened()
    assert [p.text for p in word.paragraphs if p.style.name.startswith("Heading")] == [
        "Heat pumps & <b>bold</b> #emph[x] $x^2$",
        "Performance of pumps",
        "Sources",
        "What carries each claim",
    ]
    assert [p.text for p in word.paragraphs if "\t" in p.text] == ["•\titem one [1, 2]", "•\tnested 二", "1.\tdeep"]


def test_every_inner_link_has_its_bookmark_once() -> None:
    body = xml()
    names = [mark.get(qn("w:name")) for mark in body.iter(qn("w:bookmarkStart"))]
    assert len(names) == len(set(names))
    starts = [mark.get(qn("w:id")) for mark in body.iter(qn("w:bookmarkStart"))]
    assert starts == [mark.get(qn("w:id")) for mark in body.iter(qn("w:bookmarkEnd"))]
    anchors = {link.get(qn("w:anchor")) for link in body.iter(qn("w:hyperlink"))} - {None}
    assert anchors <= set(names)
    assert {"passage_1", "claim_1", "source_1"} <= anchors


def test_the_passage_stands_with_its_words_marked() -> None:
    quoted = next(p for p in opened().paragraphs if p.style.name == "Quote" and PASSAGE in p.text)
    assert [run.text for run in quoted.runs if run.font.highlight_color] == [PASSAGE]


def test_addresses_are_links_out_of_the_document() -> None:
    word = opened()
    targets = {rel.target_ref for rel in word.part.rels.values() if rel.is_external}
    assert targets == {"https://example.org/trial?a=1&b=2", "https://example.com/survey", "https://example.org/" + "a" * 90}


def test_text_from_the_right_is_marked_so() -> None:
    found = paragraph(opened(), ARABIC)
    assert found._p.pPr.find(qn("w:bidi")) is not None
    assert next(run.text.strip() for run in found.runs if not run.font.rtl) == "(test 123)"
    left = paragraph(opened(), SUPPORTED)
    assert left._p.pPr is None or left._p.pPr.find(qn("w:bidi")) is None


def test_wide_tables_stand_on_a_page_on_its_side_and_repeat_their_head() -> None:
    word = opened()
    assert [len(table.columns) for table in word.tables] == [3, 11]
    assert [section.orientation for section in word.sections] == [WD_ORIENT.PORTRAIT, WD_ORIENT.LANDSCAPE, WD_ORIENT.PORTRAIT]
    assert all(table.rows[0]._tr.trPr.find(qn("w:tblHeader")) is not None for table in word.tables)
    assert word.sections[1].page_width > word.sections[1].page_height


def test_a_font_for_east_asia_is_named() -> None:
    assert opened().styles["Normal"].element.rPr.rFonts.get(qn("w:eastAsia"))


def test_another_reader_gets_the_same_words() -> None:
    text = parse(write(document())).text
    for words in (SUPPORTED, PASSAGE, "热泵在寒冷气候中效率较低", "value 70 kWh", "<script>alert(1)</script>"):
        assert words in text


@pytest.mark.parametrize("bomb", ["]]>", "<w:p/>", "&amp;", "\x00\x01\x0b", "\ud800", "\u202eabc", "{ MERGEFIELD x }", 'HYPERLINK "x"'])
def test_outside_text_is_never_markup(bomb: str) -> None:
    source = sources()["S1"].model_copy(update={"title": f"T {bomb}"})
    made = build(f"# Head {bomb}\n\nText {bomb}\n", claims(), {"S1": source}, {"S1": bomb}, title=bomb)
    content = write(made)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
        root = etree.fromstring(archive.read("word/document.xml"))
    assert not list(root.iter(qn("w:instrText"), qn("w:fldSimple")))
    docx.Document(io.BytesIO(content))


def test_an_empty_report_is_still_a_document() -> None:
    assert opened(build("", [], {}, {}, title="q")).paragraphs == []

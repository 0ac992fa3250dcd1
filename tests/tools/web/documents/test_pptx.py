"""Presentations: slides as pages, in the order in which they are shown."""

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.office import read_zip
from tests.tools.web.documents.made import A, P, pptx, relations, shape


def test_slides_are_pages_in_their_order() -> None:
    result = read_zip(pptx(shape("title", "First"), shape("title", "Second"), shape("title", "Third")))
    assert result.text == "[page 1]\n## First\n\n[page 2]\n## Second\n\n[page 3]\n## Third"
    assert (result.pages, result.title, result.kind) == (3, "First", "pptx")


def test_the_title_stands_first_and_points_are_a_list() -> None:
    result = read_zip(pptx(shape("body", "one", "two") + shape("ctrTitle", "Head") + shape("", "A box")))
    assert result.text == "[page 1]\n## Head\n\n- one\n- two\n\nA box"


def test_page_numbers_and_footers_are_left_out() -> None:
    assert read_zip(pptx(shape("title", "Head") + shape("sldNum", "7") + shape("ftr", "Secret footer"))).text == "[page 1]\n## Head"


def test_groups_and_tables_are_read() -> None:
    def cell(text: str) -> str:
        return f"<a:tc><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"

    table = f"<p:graphicFrame><a:tbl><a:tr>{cell('a')}{cell('b')}</a:tr><a:tr>{cell('1')}{cell('2')}</a:tr></a:tbl></p:graphicFrame>"
    text = read_zip(pptx(f"<p:grpSp>{shape('', 'in a group')}</p:grpSp>{table}")).text
    assert "in a group" in text
    assert "| a | b |\n| --- | --- |\n| 1 | 2 |" in text


def test_speaker_notes_are_marked_as_notes() -> None:
    notes = f"<p:notes {P} {A}>{shape('sldImg', 'x')}{shape('body', 'Say this slowly')}</p:notes>"
    parts = {
        "ppt/notesSlides/notesSlide1.xml": notes,
        "ppt/slides/_rels/slide1.xml.rels": relations({"rId1": "../notesSlides/notesSlide1.xml"}),
    }
    assert "Notes: Say this slowly" in read_zip(pptx(shape("title", "Head"), parts=parts)).text


def test_links_are_kept() -> None:
    linked = "<p:sp><p:txBody><a:p><a:r><a:rPr><a:hlinkClick r:id='rId5'/></a:rPr><a:t>report</a:t></a:r></a:p></p:txBody></p:sp>"
    result = read_zip(pptx(linked, links={"rId5": "https://a.test/report"}))
    assert "[report](https://a.test/report)" in result.text
    assert result.links == ("https://a.test/report",)


def test_a_silent_slide_is_counted() -> None:
    result = read_zip(pptx(shape("title", "Head"), ""))
    assert "[page 2]" in result.text
    assert "1 of 2 slides" in result.reason


def test_a_slide_that_imitates_a_page_mark_is_disarmed() -> None:
    assert "[page 5]" not in read_zip(pptx(shape("", "[page 5]"))).text


def test_fallbacks_for_old_programs_are_not_read_twice() -> None:
    twice = f"<AlternateContent><Choice>{shape('', 'once')}</Choice><Fallback>{shape('', 'once')}</Fallback></AlternateContent>"
    assert read_zip(pptx(twice)).text.count("once") == 1


def test_a_presentation_of_pictures_is_refused() -> None:
    with pytest.raises(FetchError) as caught:
        read_zip(pptx("", "<p:pic/>"))
    assert caught.value.cause == "no_text"

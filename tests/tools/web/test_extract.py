"""One call for every type: told by content, read in time, refused with the reason."""

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web import extract as module
from deepdelve.tools.web.documents.extracted import TEXT_LIMIT, Extracted, from_json, to_json, unreadable
from deepdelve.tools.web.documents.parse import parse
from deepdelve.tools.web.extract import extract
from tests.support.patience import loop_beats_on
from tests.tools.web.documents import made

PROSE = "The harbour was built in 1874 by engineers from three countries, who disagreed about nearly everything. "
PAGE = f"<html><body><article>{f'<p>{PROSE}</p>' * 5}</article></body></html>".encode()


class Refusing:
    """A pool that must not be asked."""

    async def parse(self, request: object) -> Extracted:
        raise AssertionError("the pool was asked")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PAGE, "html"),
        (made.pdf(made.show("Words", 72, 700)), "pdf"),
        (made.docx(made.paragraph("Words")), "docx"),
        (made.xlsx({"S": "<row><c><v>1</v></c></row>"}), "xlsx"),
        (made.pptx(made.shape("title", "Words")), "pptx"),
        (made.epub({"a.xhtml": "<p>Words</p>"}), "epub"),
        (made.odf("text", "<text:p>Words</text:p>"), "odf"),
        (made.word_97("Words of text\r"), "doc"),
        (made.xls({"S": [["a", 1.0]]}), "xls"),
        (b"{\\rtf1 Words}", "rtf"),
        (b"a,b,c\n1,2,3\n4,5,6\n", "csv"),
        (b'{"a": 1}', "json"),
        (b'{"cells": [{"source": "Words"}], "nbformat": 4}', "notebook"),
        (b"<?xml version='1.0'?><a>Words</a>", "xml"),
        (b"# Words\n\nand more", "markdown"),
        (b"Words", "text"),
    ],
)
async def test_every_type_is_told_by_its_content(data: bytes, kind: str) -> None:
    """The address and the stated type say something else each time."""
    result = await extract(data, url="https://a.test/file.exe", content_type="application/octet-stream")
    assert result.kind == kind
    assert result.text


async def test_small_pages_are_read_without_a_process() -> None:
    result = await extract(PAGE, pool=Refusing())  # type: ignore[arg-type]
    assert PROSE.strip() in result.text


@pytest.mark.parametrize("data", [PAGE + b" " * 200_000, b"<b>" * 13_000, made.pdf(made.show("x", 1, 1)), made.docx("")])
async def test_large_and_risky_documents_are_not_read_in_process(data: bytes) -> None:
    with pytest.raises(AssertionError, match="the pool was asked"):
        await extract(data, pool=Refusing())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "no_text"),
        (b"<html><body></body></html>", "no_text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "unsupported_type"),
        (b"%PDF-1.4\nnothing", "unreadable"),
        (b"PK\x03\x04cut", "unreadable"),
        (made.compound({"EncryptedPackage": b"x"}), "encrypted"),
        (b"\x00\x01\x02\x03" * 100, "unsupported_type"),
    ],
)
async def test_a_refusal_has_a_cause_and_one_sentence(data: bytes, cause: str) -> None:
    with pytest.raises(FetchError) as caught:
        await extract(data)
    assert caught.value.cause == cause
    assert caught.value.message.endswith(".")
    assert "\n" not in caught.value.line()


async def test_links_and_charset_come_from_the_call() -> None:
    page = f"<html><body><article>{f'<p>{PROSE}Größe</p>' * 4}<p>{PROSE}See <a href='/x'>the annex</a> for it.</p></article></body></html>"
    result = await extract(page.encode("cp1252"), url="https://a.test/y", charset="iso-8859-1", content_type="text/html")
    assert "Größe" in result.text
    assert result.links == ("https://a.test/x",)


@pytest.mark.parametrize(
    "data",
    [
        b"<html><body>" + b"<p>hello world <a href=x>y</a> some text</p>" * 550_000,
        b"<html><body><p>before</p>" + b"<div>" * 50_000 + b"within",
        b"<html><body>" + b"<a>x" * 3_000_000,
        b"<" * 12_000_000,
        b"[" * 12_000_000,
        b"a,b,c\n" * 2_000_000,
    ],
    ids=["24 MB of paragraphs", "50,000 nested", "unclosed links", "angle brackets", "brackets", "rows"],
)
async def test_huge_input_neither_hangs_nor_stops_the_loop(data: bytes) -> None:
    async with loop_beats_on():
        result = await extract(data, content_type="text/html" if data.startswith(b"<") else "")
    assert result.text
    assert len(result.text) <= TEXT_LIMIT


async def test_a_fault_of_a_parser_is_the_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> Extracted:
        raise RecursionError("too deep")

    monkeypatch.setattr("deepdelve.tools.web.documents.parse.parse", fail)
    with pytest.raises(FetchError) as caught:
        await extract(PAGE)
    assert caught.value.cause == "unreadable"


def test_long_text_is_cut_at_a_line_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deepdelve.tools.web.documents.parse.TEXT_LIMIT", 20_000)
    result = parse(b"one line of text\n" * 5_000)
    assert result.text.endswith("one line of text")
    assert len(result.text) <= 20_000
    assert "The text was cut after" in result.reason


def test_titles_are_one_line_of_bounded_length() -> None:
    result = parse(f"<html><head><title>a\u202e\x07b\n{'x' * 5000}</title></head><body><p>Words of a page.</p></body></html>".encode())
    assert "\n" not in result.title
    assert "\u202e" not in result.title
    assert len(result.title) <= 1000


def test_results_and_refusals_survive_the_pipe() -> None:
    result = Extracted("Text \ud800 東京", "T", "A", "2020", "en", "pdf", ("https://a.test/",), 3, "r")
    assert from_json(to_json(result)) == result
    error = from_json(to_json(unreadable("It is broken.", "Take another.")))
    assert isinstance(error, FetchError)
    assert (error.cause, error.line()) == ("unreadable", "It is broken. Take another.")


def test_the_seam_exports_what_others_use() -> None:
    assert set(module.__all__) == {"Extracted", "extract"}

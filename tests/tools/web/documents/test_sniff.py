"""The type of a document is told by its bytes; a stated type decides between kinds of text, and nothing else."""

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.sniff import family
from tests.tools.web.documents import made

HTML = b"<!DOCTYPE html><html><body><p>Hello</p></body></html>"


@pytest.mark.parametrize(
    ("data", "stated", "expected"),
    [
        (made.pdf(made.show("Hi", 10, 10)), "", "pdf"),
        (made.pdf(made.show("Hi", 10, 10)), "text/html", "pdf"),
        (b"\xef\xbb\xbf\r\n" + made.pdf(made.show("Hi", 10, 10)), "text/plain", "pdf"),
        (made.docx(made.paragraph("Hi")), "application/octet-stream", "zip"),
        (made.word_97("Hello there"), "", "ole"),
        (b"{\\rtf1 Hello}", "application/msword", "rtf"),
        (HTML, "", "html"),
        (HTML, "text/plain", "html"),
        (HTML, "application/pdf", "html"),
        (b"  \n<div>Hello</div>", "", "html"),
        (b"<?xml version='1.0'?><!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'><body/></html>", "", "html"),
        (b"<?xml version='1.0'?><rss><channel/></rss>", "text/html", "xml"),
        (b"<feed><entry/></feed>", "application/atom+xml", "xml"),
        (b'{"a": 1}', "", "json"),
        (b'{"a": 1}\n{"a": 2}\n', "", "json"),
        (b"[1, 2", "application/json", "json"),
        (b"[see the note] that follows", "", "text"),
        (b"a;b\n1;2\n3;4\n", "", "csv"),
        (b"a,b,c\n1,2,3\n4,5,6\n", "", "csv"),
        (b"a,b,c\n1,2,3\n4,5,6\n", "text/plain", "text"),
        (b"one", "text/csv", "csv"),
        (b"# Title\n\nSome text.\n", "", "markdown"),
        (b"plain words", "text/markdown", "markdown"),
        (b"It was late, and he went home.\nNobody, it seems, saw him.\nThe end, then.\n", "", "text"),
        ("Größe und Maß".encode("latin-1"), "", "text"),
        ("\ufeffwide text".encode("utf-16-le"), "", "text"),
        (b"", "text/html", "empty"),
        (b" \n\t\x00 ", "", "empty"),
    ],
    ids=lambda value: value if isinstance(value, str) else "bytes",
)
def test_families(data: bytes, stated: str, expected: str) -> None:
    assert family(data, stated) == expected


def test_parameters_of_the_stated_type_do_not_count() -> None:
    assert family(b"x", "Text/HTML; charset=utf-8") == "html"


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "PNG"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "JPEG"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 \x00\x01\x02", "WebP"),
        (b"\x00\x00\x00\x18ftypmp42\x00\x00", "video"),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "gzip"),
        (b"Rar!\x1a\x07\x00\xcf\x90", "RAR"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "program"),
        (b"SQLite format 3\x00\x10\x00\x01", "database"),
        (b"\x00" * 257 + b"ustar\x0000", "tar"),
        (bytes(range(256)) * 4, "binary"),
    ],
    ids=lambda value: value if isinstance(value, str) else "bytes",
)
def test_what_cannot_be_read_is_named(data: bytes, word: str) -> None:
    with pytest.raises(FetchError) as caught:
        family(data, "text/html")
    assert caught.value.cause == "unsupported_type"
    assert word in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize("text", ["BMW builds cars.", "MZ is a district.", "ID3 is a tree learner.", "GIF89a is a format."])
def test_a_sentence_may_begin_like_a_file_type(text: str) -> None:
    assert family(text.encode()) == "text"


def test_a_large_file_is_judged_by_how_it_begins() -> None:
    """Parsing 24 MB only to learn its type would stop whoever asks."""
    assert family(b"[" + b"[1]," * 100_000) == "json"
    assert family(b"[note] " + b"words and words " * 20_000) == "text"

"""Whatever the bytes are, extraction gives text or a refusal, and does so soon."""

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.extracted import from_json, to_json
from deepdelve.tools.web.documents.parse import parse
from tests.tools.web.documents import made

CAUSES = {"encrypted", "unreadable", "no_text", "unsupported_type"}
# Faults that the callers of ``parse`` (the worker, and the thread of ``extract``) turn into a refusal.
CAUGHT = (RecursionError, MemoryError)
SAMPLES = {
    "html": b"<html><body><article><h1>T</h1>"
    + b"<p>Some words of a page, with <a href='x'>a link</a>.</p>" * 5
    + b"</article></body></html>",
    "pdf": made.pdf(made.show("Words of a page", 72, 700), made.show("More", 72, 700)),
    "docx": made.docx(made.paragraph("Words") * 3),
    "xlsx": made.xlsx({"S": "<row><c r='A1'><v>1</v></c></row>"}),
    "pptx": made.pptx(made.shape("title", "Words")),
    "epub": made.epub({"a.xhtml": "<p>Words</p>"}),
    "odf": made.odf("text", "<text:p>Words</text:p>"),
    "doc": made.word_97("Words of text\r"),
    "xls": made.xls({"S": [["a", 1.0]]}),
    "rtf": b"{\\rtf1{\\fonttbl{\\f0 A;}}Words \\u26481 ?\\par more}",
    "notebook": b'{"cells": [{"cell_type": "code", "source": ["x"], "outputs": []}], "nbformat": 4}',
    "feed": b"<?xml version='1.0'?><rss><channel><item><title>T</title><link>https://a.test</link></item></channel></rss>",
}
TAGS = st.sampled_from(
    [
        "p",
        "div",
        "table",
        "tr",
        "td",
        "li",
        "ul",
        "a href=x",
        "pre",
        "code",
        "h1",
        "br",
        "b",
        "/p",
        "/div",
        "/table",
        "!--",
        "svg",
        "base href=//[",
    ]
)


def check(data: bytes, content_type: str = "") -> None:
    refused: FetchError | None = None
    with contextlib.suppress(*CAUGHT):
        try:
            result = parse(data, url="https://a.test/x", content_type=content_type)
            assert result.text.strip()
            assert from_json(to_json(result)) == result
        except FetchError as error:
            refused = error
    assert refused is None or (refused.cause in CAUSES and refused.message.strip())


@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    check(data)


@given(
    st.binary(max_size=600),
    st.sampled_from(
        [b"%PDF-1.7\n", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf1", b"<html>", b"<?xml ", b"{", b"\xff\xfe"]
    ),
)
def test_any_bytes_after_a_known_beginning(data: bytes, magic: bytes) -> None:
    check(magic + data)


@pytest.mark.parametrize("kind", SAMPLES)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(share=st.floats(0, 1))
def test_files_cut_short(kind: str, share: float) -> None:
    data = SAMPLES[kind]
    check(data[: int(len(data) * share)])


@pytest.mark.parametrize("kind", SAMPLES)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(where=st.floats(0, 1), patch=st.binary(min_size=1, max_size=20))
def test_files_with_damage(kind: str, where: float, patch: bytes) -> None:
    data = SAMPLES[kind]
    at = int(len(data) * where)
    check(data[:at] + patch + data[at + len(patch) :])


@settings(deadline=None)
@given(st.lists(st.tuples(TAGS, st.text(max_size=20)), max_size=60))
def test_any_markup(parts: list[tuple[str, str]]) -> None:
    check("".join(f"<{tag}>{text}" for tag, text in parts).encode("utf-8", "replace"), "text/html")


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    )
)
def test_any_notebook(value: object) -> None:
    check(json.dumps({"cells": value, "metadata": value, "nbformat": 4}).encode())


@given(st.text(max_size=300), st.sampled_from(["text/csv", "text/markdown", "text/plain", "application/xml", "application/json"]))
def test_any_text(text: str, content_type: str) -> None:
    check(text.encode("utf-8", "replace"), content_type)

"""Answers of engines are taken apart without trust."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.core.errors import SearchError
from deepdelve.tools.search import records
from tests.tools.search.doubles import hit

VALUE = {"a": [{"b": "text"}, 7], "n": None, "t": True}


def test_parts_are_found_and_what_is_missing_or_of_another_type_is_empty() -> None:
    assert records.text(VALUE, "a", 0, "b") == "text"
    assert records.text(VALUE, "a", 1) == "7"
    assert [records.text(VALUE, *path) for path in (("a",), ("n",), ("t",), ("a", 5), ("a", "b"), ("x", "y"), ("n", 0))] == [""] * 7
    assert records.rows(VALUE, "a") == VALUE["a"]
    assert records.rows(VALUE, "n") == records.rows("abc") == []
    assert records.mapping(VALUE, "a", 0) == {"b": "text"}
    assert records.mapping(VALUE, "a") == {}


@pytest.mark.parametrize(
    ("markup", "plain"),
    [
        ("a <b>bold</b>\n word", "a bold word"),
        ("1 < 2 &amp; 3 > 2", "1 < 2 & 3 > 2"),
        ("\u202ex\u200b", "x"),
        ("&lt;b&gt;", "<b>"),
        ("<" * 50_000, "<" * 20_000),
    ],
)
def test_titles_and_snippets_are_plain_text(markup: str, plain: str) -> None:
    assert records.plain(markup) == plain


@pytest.mark.parametrize("url", ["", "javascript:x", "ftp://a.example", "//a.example", "/path", "http://"])
def test_only_addresses_of_the_web_are_hits(url: str) -> None:
    assert records.hit(url, "t", "s", engine="e") is None


@pytest.mark.parametrize(
    ("date", "kept"),
    [("2024-05-06T07:08:09Z", "2024-05-06"), ("2024-05", "2024-05"), ("2024", "2024"), ("yesterday", ""), ("", ""), ("06.05.2024", "")],
)
def test_dates_are_kept_where_they_are_iso(date: str, kept: str) -> None:
    found = records.hit("https://a.example", "t", "s", engine="e", date=date)
    assert found is not None
    assert found.date == kept


def test_ranks_count_distinct_pages() -> None:
    hits = [hit("https://a.example/"), None, hit("https://a.example/"), hit("https://b.example/"), hit("https://c.example/")]
    assert [(found.rank, found.url) for found in records.ranked(hits, 2)] == [(1, "https://a.example/"), (2, "https://b.example/")]


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"[" * 100_000, b"\xff\xfe", b'"\\ud800'])
def test_what_is_no_json_is_an_engine_that_is_unavailable(body: bytes) -> None:
    with pytest.raises(SearchError, match="engine answered something that is not JSON") as caught:
        records.parse_json(body, "engine")
    assert caught.value.outcome == "unavailable"


@given(st.text())
def test_any_query_becomes_one_line(text: str) -> None:
    line = records.query_line(text)
    assert len(line) <= 400
    assert line == " ".join(line.split())

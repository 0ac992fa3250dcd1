"""Redirects that stand in a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.tools.web.refresh import meta_refresh
from tests.support.patience import in_proportion

PAGE = "https://h.example/a/b"


@pytest.mark.parametrize(
    ("html", "target"),
    [
        ('<meta http-equiv="refresh" content="0; url=/next">', "https://h.example/next"),
        ("<META HTTP-EQUIV=Refresh CONTENT='5;URL=c'>", "https://h.example/a/c"),
        ('<meta content="0;url=&quot;https://x.example/?a=1&amp;b=2&quot;" http-equiv="refresh"/>', "https://x.example/?a=1&b=2"),
        ('<meta http-equiv="refresh" content="0,https://x.example/">', "https://x.example/"),
        ('<meta http-equiv="refresh" content="1.5; URL = \'//x.example/\'">', "https://x.example/"),
        (
            '<meta charset="utf-8"><meta name="x" content="0;url=/no"><meta http-equiv="refresh" content="0;url=/yes">',
            "https://h.example/yes",
        ),
        ('<meta http-equiv="refresh" content="0;url=/next#part">', "https://h.example/next"),
    ],
)
def test_the_target_is_found_and_resolved(html: str, target: str) -> None:
    assert meta_refresh(html.encode(), PAGE) == target


@pytest.mark.parametrize(
    "html",
    [
        '<meta http-equiv="refresh" content="30">',
        '<meta http-equiv="refresh" content="600; url=/later">',
        '<meta http-equiv="refresh" content="0; url=/a/b#top">',
        '<meta http-equiv="refresh" content="0; url=javascript:alert(1)">',
        '<meta http-equiv="refresh">',
        '<noscript><meta http-equiv="refresh" content="0;url=/nojs"></noscript>',
        '<!-- <meta http-equiv="refresh" content="0;url=/old"> -->',
        '<script>var x = \'<meta http-equiv="refresh" content="0;url=/js">\'</script>',
        '<!-- never closed <meta http-equiv="refresh" content="0;url=/x">',
        '<p>A tag &lt;meta http-equiv="refresh" content="0;url=/x"&gt; in prose</p>',
        "x" * 70_000 + '<meta http-equiv="refresh" content="0;url=/far">',
    ],
)
def test_what_does_not_send_a_reader_away_at_once_is_no_redirect(html: str) -> None:
    assert meta_refresh(html.encode(), PAGE) == ""


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_a_crash(body: bytes) -> None:
    meta_refresh(b"<meta http-equiv=refresh content='0;url=" + body + b"'>", PAGE)
    meta_refresh(body, PAGE)


@pytest.mark.parametrize("piece", [b"<meta ", b"<!--", b"<meta http-equiv=", b"<noscript>", b'<meta content="' + b" " * 500])
def test_hostile_pages_take_no_time(piece: bytes) -> None:
    in_proportion(lambda page: meta_refresh(page, PAGE), piece * 20_000)

"""Addresses are read as a browser reads them, so that no spelling means one host to a check and another to a connection."""

import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.utils.whatwg import UrlError, WebUrl, parse

DATA = Path(os.environ.get("DEEPDELVE_TEST_DATA", "../shared/data")) / "urls"


@pytest.mark.parametrize(
    ("spelling", "host"),
    [
        ("http://127.0.0.1", "127.0.0.1"),
        ("http://2130706433/", "127.0.0.1"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://0177.0.0.01/", "127.0.0.1"),
        ("http://127.1", "127.0.0.1"),
        ("http://0x7F000001.", "127.0.0.1"),
        ("http://%31%32%37.0.0.1", "127.0.0.1"),
        ("http://１２７．０．０．１", "127.0.0.1"),
        ("http://①②⑦。0。0。1", "127.0.0.1"),
        ("http://0", "0.0.0.0"),
        ("http://[::FFFF:127.0.0.1]/", "[::ffff:7f00:1]"),
        ("http://[0:0:0:0:0:0:0:1]", "[::1]"),
        ("http://[2001:DB8:0:0:1:0:0:1]", "[2001:db8::1:0:0:1]"),
        ("http:\\\\localhost\\path", "localhost"),
        ("http:localhost", "localhost"),
        ("  hTTp://LOCALHOST\t/\n", "localhost"),
        ("http://public.example@localhost", "localhost"),
        ("http://public.example:80@localhost:8080", "localhost"),
        ("http://localhost\\@public.example", "localhost"),
        ("http://localhost#@public.example", "localhost"),
        ("http://localhost?@public.example", "localhost"),
        ("http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "localhost"),
        ("http://loc%61lhost", "localhost"),
        ("http://bücher.example", "xn--bcher-kva.example"),
        ("http://faß.example", "xn--fa-hia.example"),
        ("http://☃.example", "xn--n3h.example"),
    ],
)
def test_every_spelling_of_a_host_is_one_host(spelling: str, host: str) -> None:
    assert parse(spelling).host == host


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("file:///etc/passwd", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("ftp://example.com", "scheme"),
        ("gopher://127.0.0.1:6379/_", "scheme"),
        ("example.com/page", "scheme"),
        ("", "scheme"),
        ("http://", "host"),
        ("http:///", "host"),
        ("http://?q", "host"),
        ("http://#f", "host"),
        ("http://:80", "host"),
        ("http://user@", "host"),
        ("http://a b/", "host"),
        ("http://a%00b/", "host"),
        ("http://a%2fb/", "host"),
        ("http://a<b", "host"),
        ("http://256.0.0.1", "host"),
        ("http://1.2.3.4.5", "host"),
        ("http://4294967296", "host"),
        ("http://08.1.1.1", "host"),
        ("http://1..2", "host"),
        ("http://[::1", "host"),
        ("http://[::1]x", "host"),
        ("http://[fe80::1%25eth0]", "host"),
        ("http://[1::2::3]", "host"),
        ("http://[]", "host"),
        ("http://\u00ad/", "host"),
        ("http://xn--\u00fc.example", "host"),
        ("http://a:65536", "port"),
        ("http://a:80x", "port"),
        ("http://a:-1", "port"),
        ("http://a:80:90", "port"),
        ("http://a/" + "x" * 9000, "syntax"),
    ],
)
def test_what_is_no_web_address_is_refused_with_the_part_that_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(UrlError) as caught:
        parse(text)
    assert caught.value.problem == problem


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("http://a:80/", "http://a/"),
        ("https://a:443", "https://a/"),
        ("https://a:80", "https://a:80/"),
        ("http://a:00080/", "http://a/"),
        ("http://a:", "http://a/"),
        ("http://a/b/../c/./d", "http://a/c/d"),
        ("http://a/../../x", "http://a/x"),
        ("http://a/b/%2E%2e/c", "http://a/c"),
        ("http://a/b/..", "http://a/"),
        ("http://a/b c\\d", "http://a/b%20c/d"),
        ("http://a/ä?ö#ü", "http://a/%C3%A4?%C3%B6#%C3%BC"),
        ("http://a?'\"<>", "http://a/?%27%22%3C%3E"),
        ("http://a/\ud800", "http://a/%EF%BF%BD"),
        ("http://u:p@a/", "http://u:p@a/"),
        ("http://u@x@a/", "http://u%40x@a/"),
        ("http:a", "http://a/"),
    ],
)
def test_an_address_has_one_serialised_form(text: str, href: str) -> None:
    assert parse(text).href == href


@pytest.mark.parametrize(
    ("reference", "href"),
    [
        ("d", "https://h.example:8443/a/d"),
        ("/d", "https://h.example:8443/d"),
        ("//other.example/d", "https://other.example/d"),
        ("\\\\other.example\\d", "https://other.example/d"),
        ("?x=1", "https://h.example:8443/a/b?x=1"),
        ("#f", "https://h.example:8443/a/b?q#f"),
        ("", "https://h.example:8443/a/b?q"),
        ("../../d", "https://h.example:8443/d"),
        ("https:d", "https://h.example:8443/a/d"),
        ("https:/d", "https://h.example:8443/d"),
        ("http:d", "http://d/"),
        ("https:\\\\other.example", "https://other.example/"),
        ("HTTP://X.example", "http://x.example/"),
    ],
)
def test_references_are_resolved_against_the_page(reference: str, href: str) -> None:
    assert parse(reference, parse("https://h.example:8443/a/b?q#old")).href == href


def test_a_reference_may_not_leave_the_web() -> None:
    for reference in ("file:///etc/passwd", "data:text/html,x", "mailto:a@b"):
        with pytest.raises(UrlError, match="Only http and https"):
            parse(reference, parse("https://h.example/"))


def test_the_parts_are_what_a_request_needs() -> None:
    parts = parse("http://user:pw@[2606:4700::1]:8080/p?q=1#f")
    assert (parts.netloc, parts.target, parts.effective_port) == ("[2606:4700::1]:8080", "/p?q=1", 8080)
    assert parse("https://h.example").effective_port == 443


@given(st.text(max_size=80))
def test_any_text_is_an_address_or_a_refusal(text: str) -> None:
    for candidate in (text, "http://" + text, "https://h.example/" + text, "http://[" + text + "]"):
        try:
            parts = parse(candidate)
        except UrlError:
            continue
        assert isinstance(parts, WebUrl)
        assert parts.href.isascii()
        assert parse(parts.href) == parts


@given(st.ip_addresses(v=4), st.integers(0, 4))
def test_each_way_to_write_an_ipv4_address_is_that_address(address: object, way: int) -> None:
    number = int(address)  # type: ignore[call-overload]
    a, b, c, d = number >> 24, number >> 16 & 255, number >> 8 & 255, number & 255
    spellings = [
        str(number),
        hex(number),
        f"{a:#o}.{b}.{c}.{d}".replace("0o", "0"),
        f"{a}.{number & 0xFFFFFF}",
        quote(str(address)).replace(".", "%2E"),
    ]
    assert parse(f"http://{spellings[way]}/").host == str(address)


def _web_platform_rows() -> list[dict[str, str]]:
    path = DATA / "wpt_urltestdata.json"
    rows = json.loads(path.read_text("utf-8")) if path.is_file() else []
    return [row for row in rows if isinstance(row, dict)]


@pytest.mark.skipif(not (DATA / "wpt_urltestdata.json").is_file(), reason="the web platform tests are not here")
def test_the_web_platform_tests_for_http_pass() -> None:
    wrong = []
    for row in _web_platform_rows():
        try:
            base = parse(row["base"]) if row.get("base") not in (None, "about:blank") else None
        except UrlError:
            continue
        wanted = row.get("href", "")
        try:
            got = parse(row["input"], base).href
        except UrlError:
            got = ""
        if got != (wanted if wanted.startswith(("http:", "https:")) else ""):
            wrong.append(row["input"])
    assert wrong == []

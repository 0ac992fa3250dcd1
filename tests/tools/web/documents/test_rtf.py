"""Rich Text Format: what the control words mean, and what must stay unseen."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.rtf import read_rtf


def text(body: str) -> str:
    return read_rtf(rf"{{\rtf1\ansi {body}}}".encode("latin-1")).text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"One\par Two", "One\n\nTwo"),
        (r"One\line Two", "One\nTwo"),
        (r"a\tab b", "a b"),
        (r"{\b bold} and {\i italic}", "bold and italic"),
        (r"\ldblquote quoted\rdblquote\endash x", "“quoted”–x"),
        (r"a\~b\_c\-d", "a b-cd"),
        (r"braces \{ \} and \\", "braces { } and \\"),
        ("line\r\nbroken in the file", "linebroken in the file"),
        (r"caf\'e9", "café"),
        (r"\u26481 ?\u20140 ?", "東京"),
        (r"\uc2\u26481 ??after", "東after"),
        (r"\u-10179 ?\u-8704 ?", "😀"),
        (r"\uc0\u26481 next", "東next"),
    ],
)
def test_text(body: str, expected: str) -> None:
    assert text(body) == expected


def test_the_code_page_of_the_document() -> None:
    assert read_rtf(rb"{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8\'e2\'e5\'f2}").text == "Привет"


def test_the_code_page_of_a_font() -> None:
    data = rb"{\rtf1\ansi{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial Cyr;}}\f1 \'cf\'f0\'e8\'e2\'e5\'f2\f0  caf\'e9}"
    assert read_rtf(data).text == "Привет café"


@pytest.mark.parametrize(
    "hidden",
    [
        r"{\fonttbl{\f0 Times New Roman;}}",
        r"{\colortbl;\red0\green0\blue0;}",
        r"{\stylesheet{\s1 Heading;}}",
        r"{\*\generator Some Program;}",
        r"{\pict\pngblip 89504e470d0a1a0a}",
        r"{\*\unknown secret {nested secret}}",
        r"{\header Page header}",
        r"{\field{\*\fldinst HYPERLINK secret}{\fldrslt }}",
    ],
)
def test_what_is_not_text_stays_unseen(hidden: str) -> None:
    assert text(f"{hidden}Words") == "Words"


def test_the_result_of_a_field_is_text() -> None:
    assert text(r'{\field{\*\fldinst HYPERLINK "https://a.test/"}{\fldrslt the link}} here') == "the link here"


def test_tables_are_tables() -> None:
    body = r"Before\par\trowd City\cell People\cell\row\trowd Oslo\cell 717,710\cell\row\pard After"
    assert text(body) == "Before\n\n| City | People |\n| --- | --- |\n| Oslo | 717,710 |\n\nAfter"


def test_title_and_author() -> None:
    result = read_rtf(rb"{\rtf1{\info{\title The harbour}{\author Ada Mole}{\operator x}}Words https://a.test/x.}")
    assert (result.title, result.author, result.kind, result.links) == ("The harbour", "Ada Mole", "rtf", ("https://a.test/x",))


def test_no_text_is_refused() -> None:
    with pytest.raises(FetchError) as caught:
        read_rtf(rb"{\rtf1{\pict 00}}")
    assert caught.value.cause == "no_text"


def test_groups_without_end_are_refused() -> None:
    with pytest.raises(FetchError) as caught:
        read_rtf(b"{\\rtf1 " + b"{" * 1_000_000)
    assert caught.value.cause == "unreadable"


@pytest.mark.parametrize("body", ["}}}}words", "{{{words", r"\bin5 abcdewords", r"\u99999999 ?words", r"\'zzwords", r"\ansicpg99999 words"])
def test_odd_input_keeps_its_text(body: str) -> None:
    assert "words" in text(body)


@given(st.binary(max_size=300))
def test_never_crashes(data: bytes) -> None:
    with contextlib.suppress(FetchError):
        assert read_rtf(b"{\\rtf1 " + data).text

"""Bytes become text by byte order mark, header, declaration and detection, in this order of trust."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.tools.web.documents.charset import decode

RUSSIAN = "Привет, мир. Это обычный русский текст, достаточно длинный для распознавания. " * 5
JAPANESE = "これは日本語の文章です。文字コードを判定するために十分な長さがあります。" * 5


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_wins(codec: str) -> None:
    assert decode("Grüße 東京".encode(codec), "iso-8859-1") == "Grüße 東京"


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("windows-1251", "cp1251", RUSSIAN),
        ("KOI8-R", "koi8_r", RUSSIAN),
        ("Shift_JIS", "cp932", JAPANESE),
        ("euc-jp", "euc_jp", JAPANESE),
        ("gb2312", "gb18030", "漢字 龍 €"),
        ("big5", "big5", "繁體中文"),
        ("ks_c_5601-1987", "cp949", "한국어 문장"),
        ("iso-8859-1", "cp1252", "“quoted” – 5 €"),
        ("iso-8859-2", "iso8859_2", "Příliš žluťoučký"),
    ],
)
def test_a_header_is_believed_in_the_sense_of_the_web(label: str, codec: str, text: str) -> None:
    assert decode(text.encode(codec), label) == text


@pytest.mark.parametrize(
    "declaration",
    [
        '<meta charset="windows-1251">',
        "<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>",
        '<?xml version="1.0" encoding="windows-1251"?>',
    ],
)
def test_the_document_may_declare_its_charset(declaration: str) -> None:
    page = declaration + RUSSIAN
    assert decode(page.encode("cp1251")) == page


def test_valid_utf_8_is_utf_8_whatever_the_header_says() -> None:
    assert decode("Grüße aus Köln".encode(), "iso-8859-1") == "Grüße aus Köln"


@pytest.mark.parametrize("label", ["rot13", "zip", "no-such-charset", "utf-16", "", "\x00", "base64"])
def test_labels_that_cannot_be_are_passed_over(label: str) -> None:
    assert decode(b"plain words", label) == "plain words"


@pytest.mark.parametrize(
    ("codec", "text"), [("cp1251", RUSSIAN), ("cp932", JAPANESE), ("euc_kr", "안녕하세요. 이것은 한국어 문장입니다. " * 8)]
)
def test_an_undeclared_charset_is_detected(codec: str, text: str) -> None:
    assert decode(text.encode(codec)) == text


def test_a_few_damaged_bytes_do_not_change_the_charset() -> None:
    data = ("Grüße aus Köln. " * 100).encode()
    assert decode(data[:800] + b"\xff" + data[800:]).count("\ufffd") == 1


def test_a_cut_in_the_middle_of_a_character_is_one_damaged_character() -> None:
    assert decode(("Grüße aus Köln " * 100 + "ü").encode()[:-1]).startswith("Grüße")


@given(st.binary(max_size=400), st.text(max_size=20))
def test_never_raises(data: bytes, label: str) -> None:
    assert isinstance(decode(data, label), str)

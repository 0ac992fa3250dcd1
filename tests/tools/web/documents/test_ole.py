"""Word and Excel files from before 2007, encrypted files of today, and damaged containers."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.cfb import CompoundFile
from deepdelve.tools.web.documents.ole import read_ole
from tests.tools.web.documents.made import compound, word_97, xls


def refusal(data: bytes) -> FetchError:
    with pytest.raises(FetchError) as caught:
        read_ole(data)
    return caught.value


def summary(title: bytes, author: bytes, codepage: int = 1252) -> bytes:
    """A summary stream with code page, title and author."""
    values = [
        (1, struct.pack("<Ihh", 2, codepage if codepage < 32768 else codepage - 65536, 0)),
        (2, struct.pack("<II", 30, len(title) + 1) + title + b"\0"),
        (4, struct.pack("<II", 30, len(author) + 1) + author + b"\0"),
        (12, struct.pack("<IQ", 64, 133_000_000_000_000_000)),
    ]
    places, body, at = b"", b"", 8 + 8 * len(values)
    for key, value in values:
        places += struct.pack("<II", key, at)
        body += value
        at += len(value)
    section = struct.pack("<II", at, len(values)) + places + body
    return b"\xfe\xff" + b"\0" * 42 + struct.pack("<I", 48) + section


class TestWord:
    def test_text_of_both_encodings_is_put_together(self) -> None:
        result = read_ole(word_97("Erste Zeile mit Umlaut: ä\rSecond paragraph, in part: 東京\r"[:40].replace("東京", "")))
        assert result.text.startswith("Erste Zeile mit Umlaut: ä")
        assert result.kind == "doc"

    def test_characters_beyond_the_old_code_page(self) -> None:
        assert read_ole(word_97("Plain words first, and then 東京\r")).text == "Plain words first, and then 東京"

    def test_paragraphs_breaks_and_marks(self) -> None:
        assert (
            read_ole(word_97("one\x0btwo\rthree\x1efour\x1f \x02\x05end\x0cnext page\r")).text == "one\ntwo\n\nthree-four end\n\nnext page"
        )

    def test_cells_become_a_table(self) -> None:
        text = "Before\rCity\x07People\x07\x07Oslo\x07717,710\x07\x07After\r"
        assert read_ole(word_97(text)).text == "Before\n\n| City | People |\n| --- | --- |\n| Oslo | 717,710 |\n\nAfter"

    def test_fields_show_their_result_and_links_their_target(self) -> None:
        result = read_ole(word_97('See \x13 HYPERLINK "https://a.test/x" \x14the report\x15 on \x13 DATE \\@ "d" \x144 May\x15.\r'))
        assert result.text == "See [the report](https://a.test/x) on 4 May."
        assert result.links == ("https://a.test/x",)

    def test_a_field_left_open_loses_no_text(self) -> None:
        assert "words" in read_ole(word_97("Some words \x13 PAGE and no end of it\r")).text

    def test_a_password_is_told(self) -> None:
        assert refusal(word_97("Words", flags=0x0100)).cause == "encrypted"

    def test_older_versions_are_named(self) -> None:
        error = refusal(word_97("Words", version=0x65))
        assert error.cause == "unsupported_type"
        assert "Word 95" in error.message

    def test_an_empty_document_is_refused(self) -> None:
        assert refusal(word_97("\r\r")).cause == "no_text"

    def test_a_document_without_its_table_is_damaged(self) -> None:
        assert refusal(compound({"WordDocument": struct.pack("<HH", 0xA5EC, 0xC1).ljust(0x200, b"\0")})).cause == "unreadable"


class TestExcel:
    def test_sheets_are_tables(self) -> None:
        result = read_ole(xls({"Data": [["City", "People"], ["Oslo", 717710.0], ["Ratio", 0.5]]}))
        assert result.text == "## Data\n\n| City | People |\n| --- | --- |\n| Oslo | 717710 |\n| Ratio | 0.5 |"
        assert (result.kind, result.pages) == ("xls", 1)

    def test_hidden_sheets_are_named(self) -> None:
        result = read_ole(xls({"Data": [["a", 1.0]], "Secret": [["b", 2.0]]}, hidden="Secret"))
        assert "Secret" not in result.text
        assert "'Secret'" in result.reason

    def test_a_workbook_without_values_is_refused(self) -> None:
        assert refusal(xls({"Data": []})).cause == "no_text"

    def test_a_damaged_workbook_is_refused(self) -> None:
        assert refusal(compound({"Workbook": b"\x09\x08\x10\x00\x00\x06\x05\x00" + b"\xff" * 100})).cause == "unreadable"


@pytest.mark.parametrize(
    ("stream", "cause", "word"),
    [
        ("EncryptedPackage", "encrypted", "password"),
        ("PowerPoint Document", "unsupported_type", "PowerPoint"),
        ("__substg1.0_1000001F", "unsupported_type", "Outlook"),
        ("Contents", "unsupported_type", "OLE"),
    ],
)
def test_other_kinds_are_named(stream: str, cause: str, word: str) -> None:
    error = refusal(compound({stream: b"x"}))
    assert error.cause == cause
    assert word in error.message


def test_properties_are_read() -> None:
    word = CompoundFile(word_97("Some words of text\r"))
    streams = {name: word.read(name) for name in ("WordDocument", "0Table")}
    result = read_ole(compound({**streams, "\x05SummaryInformation": summary("Größe".encode("cp1252"), b"Ada Mole")}))
    assert (result.title, result.author, result.date) == ("Größe", "Ada Mole", "2022-06-18")


@pytest.mark.parametrize("junk", [b"\xff" * 60, struct.pack("<44xI", 0xFFFFFFF0).ljust(60, b"\0"), b""])
def test_damaged_properties_do_not_cost_the_text(junk: bytes) -> None:
    word = CompoundFile(word_97("Some words of text\r"))
    streams = {name: word.read(name) for name in ("WordDocument", "0Table")}
    assert "Some words" in read_ole(compound({**streams, "\x05SummaryInformation": junk})).text


def test_a_chain_that_runs_in_a_circle_ends() -> None:
    data = bytearray(compound({"WordDocument": b"x" * 6000}))
    table = len(data) - 512
    struct.pack_into("<I", data, table, 0)
    assert len(CompoundFile(bytes(data)).read("WordDocument")) <= 6_144


def test_a_missing_stream_is_empty() -> None:
    assert CompoundFile(compound({"a": b"x"})).read("b") == b""


@given(st.integers(0, 3000), st.binary(min_size=1, max_size=8), st.integers(400, 9000))
def test_damage_is_refused_or_read_but_never_a_crash(at: int, patch: bytes, cut: int) -> None:
    data = bytearray(word_97("Some words of text that stand in the document\r"))
    data[at : at + len(patch)] = patch
    with contextlib.suppress(FetchError):
        assert read_ole(bytes(data[:cut])).text

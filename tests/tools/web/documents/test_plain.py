"""Text, Markdown, tables, JSON and notebooks."""

import json

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents import plain
from deepdelve.tools.web.documents.plain import links_in, read_plain


def test_text_is_kept_as_it_is() -> None:
    result = read_plain(b"One\n  two\n\n# not a heading", "text")
    assert (result.text, result.kind, result.title) == ("One\n  two\n\n# not a heading", "text", "")


def test_markdown_has_a_title_and_links() -> None:
    result = read_plain(b"# The harbour\n\nSee [this](https://a.test/x).", "markdown")
    assert (result.title, result.kind, result.links) == ("The harbour", "markdown", ("https://a.test/x",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.test/x, and http://b.test/y.", ("https://a.test/x", "http://b.test/y")),
        ("(https://a.test/x) <https://a.test/x>", ("https://a.test/x",)),
        ("ftp://a.test javascript:x", ()),
        ("https://", ()),
    ],
)
def test_addresses_in_a_text(text: str, expected: tuple[str, ...]) -> None:
    assert links_in(text) == expected


@pytest.mark.parametrize(
    ("data", "first"),
    [
        ("City,People\nOslo,717710\n", "| City | People |"),
        ("City;People\nOslo;717,710\n", "| City | People |"),
        ("City\tPeople\nOslo\t717,710\n", "| City | People |"),
        ('"a, b",c\n"say ""hi""",d\n', "| a, b | c |"),
        ('"two\nlines",c\nx,y\n', "| two lines | c |"),
        ("\ufeffCity,People\nOslo,1\n", "| City | People |"),
    ],
)
def test_tables(data: str, first: str) -> None:
    result = read_plain(data.encode(), "csv")
    assert result.text.splitlines()[0] == first
    assert result.kind == "csv"


def test_a_long_table_is_read_in_part_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "_ROW_LIMIT", 5)
    result = read_plain(b"a,b\n" * 50, "csv")
    assert result.text.count("| a | b |") == 5
    assert "first 5 rows" in result.reason


@pytest.mark.parametrize(("data", "kind"), [(b",,\n,,\n", "csv"), (b" \n ", "text")])
def test_nothing_in_it_is_refused(data: bytes, kind: plain.Family) -> None:
    with pytest.raises(FetchError) as caught:
        read_plain(data, kind)
    assert caught.value.cause == "no_text"


def test_a_field_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(FetchError) as caught:
        read_plain(b'a,"' + b"x" * 1_100_000 + b'"\n', "csv")
    assert caught.value.cause == "unreadable"


def test_json_is_laid_out_one_value_a_line() -> None:
    result = read_plain('{"city":"Zürich","people":[1,2]}'.encode(), "json")
    assert result.text.splitlines() == ["```json", "{", ' "city": "Zürich",', ' "people": [', "  1,", "  2", " ]", "}", "```"]


@pytest.mark.parametrize("data", [b'{"a": 1}\n{"a": 2}\n', b"[1, 2", b"[" * 3000])
def test_json_that_cannot_be_parsed_is_kept_as_it_is(data: bytes) -> None:
    assert data.decode().strip() in read_plain(data, "json").text


def notebook(*cells: dict[str, object], **metadata: object) -> bytes:
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4}).encode()


def test_a_notebook_is_text_code_and_results() -> None:
    data = notebook(
        {"cell_type": "markdown", "source": ["# Tides\n", "Some words."]},
        {
            "cell_type": "code",
            "source": "print(3.2)",
            "outputs": [
                {"output_type": "stream", "text": ["3.2\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "42", "image/png": "iVBOR"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "bad tide"},
            ],
        },
        kernelspec={"language": "python"},
        authors=[{"name": "Ada Mole"}],
    )
    result = read_plain(data, "json")
    assert result.text == (
        "# Tides\nSome words.\n\n```python\nprint(3.2)\n```\n\n```\n3.2\n```\n\n```\n42\n```\n\n```\nValueError: bad tide\n```"
    )
    assert (result.kind, result.title, result.author) == ("notebook", "Tides", "Ada Mole")


@pytest.mark.parametrize("cell", [None, 3, "x", [], {}, {"cell_type": "code", "source": 5, "outputs": [None, 3, {"data": []}]}])
def test_odd_cells_are_passed_over(cell: object) -> None:
    data = json.dumps({"cells": [cell, {"source": "words"}], "metadata": None, "nbformat": 4}).encode()
    assert read_plain(data, "json").text == "words"


def test_an_empty_notebook_is_refused() -> None:
    with pytest.raises(FetchError) as caught:
        read_plain(notebook(), "json")
    assert caught.value.cause == "no_text"

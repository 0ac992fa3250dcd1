"""PDF, opened with a reader that is not ours."""

import builtins
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from deepdelve.core.errors import UsageError
from deepdelve.engine.writing.export import pdf
from deepdelve.engine.writing.export.document import Document, build

from .made import ARABIC, PASSAGE, SUPPORTED, claim, claims, document, passage, sources

pypdf = pytest.importorskip("pypdf")


def read(made: Document) -> Any:
    pytest.importorskip("typst")
    return pypdf.PdfReader(io.BytesIO(pdf.write(made)[0]))


def words(made: Document) -> str:
    """The text as a viewer shows it: another reader than the one above, because that one turns brackets around beside Arabic."""
    pytest.importorskip("typst")
    found = pypdfium2.PdfDocument(pdf.write(made)[0])
    text = " ".join(page.get_textpage().get_text_bounded() for page in found)
    return " ".join(text.replace("\u200b", "").split())


def links(reader: Any) -> Iterator[dict[str, Any]]:
    for page in reader.pages:
        for note in page.get("/Annots", []):
            yield note.get_object()


def test_the_words_are_there() -> None:
    text = words(document())
    for expected in (SUPPORTED, PASSAGE, "value 70 kWh", "What carries each claim", "unsupported (why <x> & $y$)"):
        assert expected in text


def test_title_and_language_are_told() -> None:
    reader = read(document())
    assert reader.metadata.title == "Heat pumps & <b>bold</b> #emph[x] $x^2$"
    assert reader.trailer["/Root"]["/Lang"].startswith("en")
    assert "/StructTreeRoot" in reader.trailer["/Root"]


def test_headings_are_bookmarks() -> None:
    def titles(items: Any) -> Iterator[str]:
        for item in items:
            if isinstance(item, list):
                yield from titles(item)
            else:
                yield item.title

    assert list(titles(read(document()).outline))[1:] == ["Performance of pumps", "Sources", "What carries each claim"]


def test_the_sign_behind_a_claim_leads_to_its_passage_and_back() -> None:
    made = build(SUPPORTED, [claim(1, SUPPORTED, "supported", "S1", passage(), SUPPORTED)], sources(), {}, title="q")
    inner = [link for link in links(read(made)) if "/Dest" in link or link.get("/A", {}).get("/S") == "/GoTo"]
    assert len(inner) == 2


def test_addresses_are_links() -> None:
    made = document()
    targets = {link["/A"]["/URI"] for link in links(read(made)) if link.get("/A", {}).get("/S") == "/URI"}
    assert {"https://example.org/trial?a=1&b=2", "https://example.com/survey"} <= targets


def test_wide_tables_stand_on_a_page_on_its_side() -> None:
    pages = read(document()).pages
    sideways = [page for page in pages if page.mediabox.width > page.mediabox.height]
    assert len(sideways) == 1
    assert "column 10" in sideways[0].extract_text()


def test_a_long_table_goes_on_over_pages_with_its_head() -> None:
    rows = "\n".join(f"| row {n} | {n} |" for n in range(150))
    pages = read(build(f"| name | number |\n|---|---|\n{rows}", [], {}, {}, title="q")).pages
    assert len(pages) > 1
    assert all("name" in page.extract_text() for page in pages)


def test_arabic_letters_are_joined_and_readable() -> None:
    text = words(build(ARABIC, [], {}, {}, title="q"))
    assert "الحرارة" in text


def test_letters_without_a_font_are_told() -> None:
    pytest.importorskip("typst")
    made = build("Many plain words stand here, and one letter of no script: \U00050000 \U0001e940.", [], {}, {}, title="q")
    _, missing = pdf.write(made)
    assert "\U00050000" in missing
    assert not set(missing) & set("Many plain words")


def test_a_report_that_no_font_can_show_is_refused() -> None:
    pytest.importorskip("typst")
    with pytest.raises(UsageError, match="no font for most letters") as caught:
        pdf.write(build("\U0001e940\U0001e941\U0001e942\U0001e943 \U0001e944", [], {}, {}, title="\U0001e940"))
    assert "html and docx need none" in caught.value.remedy


def test_fonts_of_ones_own_are_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typst = pytest.importorskip("typst")
    monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path))
    (tmp_path / pdf.FONTS).mkdir()
    given: list[Any] = []
    made = typst.Compiler

    def compiler(*args: Any, **named: Any) -> Any:
        given.append(named["font_paths"])
        return made(*args, **named)

    monkeypatch.setattr(typst, "Compiler", compiler)
    pdf.write(document())
    assert given == [[tmp_path / pdf.FONTS]]


BOMBS = [
    "#panic()",
    '#read("/etc/passwd")',
    "$ x",
    "#import",
    "*_`<label>@ref",
    '\\"',
    "// x",
    "/* x",
    "\x00\x1b[31m",
    "\ud800",
    "\u202eabc",
]


@pytest.mark.parametrize("bomb", BOMBS)
def test_outside_text_is_never_markup(bomb: str) -> None:
    source = sources()["S1"].model_copy(update={"title": f"Title {bomb}"})
    ledger = [found.model_copy(update={"reason": bomb}) for found in claims()]
    made = build(f"# Head {bomb}\n\nText {bomb} end\n\n```\n{bomb}\n```\n", ledger, {"S1": source}, {"S1": bomb}, title=bomb)
    text = words(made)
    assert "root:" not in text
    assert "Text" in text


def test_very_long_words_get_places_to_break() -> None:
    long = "https://example.org/" + "a" * 90
    assert pdf.breakable(long).replace("\u200b", "") == long
    assert max(len(part) for part in pdf.breakable(long).split("\u200b")) <= 28
    assert pdf.breakable("plain words that are longer than twenty-eight letters together") == (
        "plain words that are longer than twenty-eight letters together"
    )


def test_columns_get_room_by_their_longest_cell_within_bounds() -> None:
    table = next(block for block in pdf.as_data(document())["blocks"] if block["kind"] == "table")
    assert table["widths"] == [6, 6, 40]


def test_rows_of_unequal_length_are_filled_up() -> None:
    made = build("| a | b | c |\n|---|---|---|\n| 1 |\n| 1 | 2 | 3 | 4 |\n", [], {}, {}, title="q")
    assert "3" in words(made)


def test_without_the_typesetter_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **named: Any) -> Any:
        if name == "typst":
            raise ImportError(name)
        return real(name, *args, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UsageError) as caught:
        pdf.write(document())
    assert "deepdelve[export]" in caught.value.line()
    assert "html" in caught.value.line()

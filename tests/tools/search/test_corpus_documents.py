"""Files as documents with a title and text; what cannot be read is named."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.search.corpus_documents import Document, read_documents
from deepdelve.tools.search.corpus_files import Skipped, scan
from deepdelve.tools.search.corpus_index import CorpusIndex
from tests.support.web_site import pdf
from tests.tools.web.documents.made import docx, epub, paragraph, pptx, shape, xlsx


@dataclass(frozen=True)
class Extracted:
    text: str
    title: str = ""


class Extractor:
    """Answers with what it was given, and remembers how it was called."""

    def __init__(self, text: str = "", title: str = "", error: Exception | None = None) -> None:
        self.result = Extracted(text, title)
        self.error = error
        self.calls: list[tuple[str, str]] = []

    async def __call__(self, data: bytes, *, url: str, content_type: str) -> Extracted:
        self.calls.append((url, content_type))
        if self.error:
            raise self.error
        return self.result


async def read(path: Path, extract: Extractor | None = None) -> tuple[list[Document], list[Skipped]]:
    (file,) = scan([path]).files
    return await read_documents(file, extract or Extractor())


async def one(path: Path, content: bytes | str, extract: Extractor | None = None) -> Document:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    documents, skipped = await read(path, extract)
    assert skipped == []
    assert len(documents) == 1
    return documents[0]


async def test_a_markdown_file_is_called_by_its_first_heading(tmp_path: Path) -> None:
    found = await one(tmp_path / "a.md", "Some words first.\n\n# The Alder #\n\nA river.\n")
    assert found.title == "The Alder"
    assert found.text.startswith("Some words first.")
    assert (found.kind, found.row, found.relative) == ("markdown", 0, "a.md")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("A short first line\n\nThen text.", "A short first line"),
        ("This first line is a sentence.\nMore.", "plain notes"),
        ("x" * 200, "plain notes"),
    ],
)
async def test_a_text_file_is_called_by_its_first_line_where_that_is_a_title(tmp_path: Path, text: str, title: str) -> None:
    assert (await one(tmp_path / "plain_notes.txt", text)).title == title


async def test_html_and_pdf_go_to_the_extractor_with_their_address_and_type(tmp_path: Path) -> None:
    html = Extractor("Body text.", "A page")
    found = await one(tmp_path / "p.html", "<p>Body text.</p>", html)
    assert (found.title, found.text, found.kind) == ("A page", "Body text.", "html")
    assert html.calls == [(found.address, "text/html")]
    pdf = Extractor("[page 1]\nText of the page.")
    paper = await one(tmp_path / "paper.pdf", b"%PDF-1.4", pdf) if (tmp_path / "p.html").unlink() is None else None
    assert paper is not None
    assert paper.title == "paper"
    assert pdf.calls[0][1] == "application/pdf"


async def test_a_document_that_the_extractor_refuses_is_named(tmp_path: Path) -> None:
    (tmp_path / "locked.pdf").write_bytes(b"%PDF-1.4")
    error = FetchError("The PDF is encrypted.", cause="encrypted")
    documents, skipped = await read(tmp_path / "locked.pdf", Extractor(error=error))
    assert documents == []
    assert skipped == [Skipped(str(tmp_path / "locked.pdf"), "The PDF is encrypted.")]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.txt", b"", "no text in it"),
        ("blank.md", b" \n\n ", "no text in it"),
        ("binary.txt", b"\x00\x01\x02data", "The file is binary data of a type that is not known here."),
        ("picture.md", b"\x89PNG\r\n\x1a\n" + bytes(99), "The file is a PNG image, which cannot be read as text."),
    ],
)
async def test_a_file_without_text_is_named(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(content)
    documents, skipped = await read(tmp_path / name)
    assert documents == []
    assert [entry.reason for entry in skipped] == [reason]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
async def test_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    text = "Der Fluß fließt über die Brücke, und die Mühle dreht sich. " * 5
    assert "fließt über die Brücke" in (await one(tmp_path / "a.txt", text.encode(encoding))).text


async def test_each_row_of_a_jsonl_file_is_a_document_with_its_title_as_heading(tmp_path: Path) -> None:
    rows = '{"title": "Alder", "text": "A river."}\n\n{"title": "Birch &amp; Co", "text": "A firm.", "id": 7}\n'
    (tmp_path / "rows.jsonl").write_text(rows)
    documents, skipped = await read(tmp_path / "rows.jsonl")
    assert skipped == []
    assert [d.address.rpartition("/")[2] for d in documents] == ["rows.jsonl#1", "rows.jsonl#3"]
    assert [d.title for d in documents] == ["Alder", "Birch &amp; Co"]
    assert documents[0].text == "# Alder\n\nA river.\n"
    assert documents[1].row == 3


@pytest.mark.parametrize(
    "row", ["not json", "[1, 2]", '"text"', '{"title": "no text"}', '{"title": "t", "text": ""}', '{"title": 1, "text": "x"}', "[" * 5000]
)
async def test_a_row_that_is_no_document_is_named_and_the_others_are_kept(tmp_path: Path, row: str) -> None:
    (tmp_path / "rows.jsonl").write_text(f'{{"title": "Good", "text": "Fine."}}\n{row}\n')
    documents, skipped = await read(tmp_path / "rows.jsonl")
    assert [d.title for d in documents] == ["Good"]
    assert [Path(entry.path).name for entry in skipped] == ["rows.jsonl#2"]


async def test_lone_surrogates_do_not_break_what_follows(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"title": "Bad", "text": "half \\ud800 pair"}\n')
    documents, _ = await read(tmp_path / "rows.jsonl")
    documents[0].text.encode("utf-8")
    assert documents[0].text.endswith("half ? pair\n")


async def test_a_file_that_vanished_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text")
    (file,) = scan([tmp_path / "a.md"]).files
    (tmp_path / "a.md").unlink()
    documents, skipped = await read_documents(file, Extractor())
    assert documents == []
    assert skipped[0].path == str(tmp_path / "a.md")


OFFICE = {
    "letter.docx": docx(paragraph("The mill has four sails.")),
    "levels.xlsx": xlsx({"Levels": '<row r="1"><c r="A1" t="inlineStr"><is><t>The mill has four sails.</t></is></c></row>'}),
    "talk.pptx": pptx(shape("title", "The mill has four sails.")),
    "book.epub": epub({"one.xhtml": "<p>The mill has four sails.</p>"}),
    "rows.csv": b"what,how many\nThe mill has four sails.,4\n",
    "notes.json": b'{"note": "The mill has four sails."}',
    "old.rtf": rb"{\rtf1\ansi The mill has four sails.}",
}


@pytest.mark.parametrize("name", OFFICE)
async def test_office_files_books_and_tables_are_read_by_the_products_own_extractor(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(OFFICE[name])
    index = await CorpusIndex.build([path], cache_dir=tmp_path / "cache")
    document = await index.load(index.addresses(1)[0])
    index.close()
    assert document is not None
    assert "The mill has four sails." in document.text
    assert document.kind == path.suffix[1:]


async def test_an_office_file_that_is_none_is_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04 and then nothing that a Word file holds")
    (tmp_path / "plain.md").write_text("A note.")
    index = await CorpusIndex.build([tmp_path / "broken.docx", tmp_path / "plain.md"], cache_dir=tmp_path / "cache")
    index.close()
    (skipped,) = index.skipped
    assert skipped.path.endswith("broken.docx")
    assert skipped.reason


@pytest.mark.parametrize("name", ["paper", "paper.txt", "paper.md", "paper.html", "paper.xyz", "paper.docx"])
async def test_the_content_says_what_a_file_is_and_not_its_suffix(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(pdf("Measured in 2021, the bay was 14 metres deep."))
    index = await CorpusIndex.build([tmp_path / name], cache_dir=tmp_path / "cache")
    (address,) = index.addresses(2)
    found = await index.load(address)
    assert found is not None
    assert found.kind == "pdf"
    assert found.text.startswith("[page 1]\nMeasured in 2021")


async def test_a_text_with_an_unknown_suffix_is_read_where_it_is_named_itself_and_passed_over_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "tides.log").write_text("The tides of the bay are high.\n")
    assert [file.relative for file in scan([tmp_path / "tides.log"]).files] == ["tides.log"]
    assert [entry.path for entry in scan([tmp_path]).skipped] == [str(tmp_path / "tides.log")]
    index = await CorpusIndex.build([tmp_path / "tides.log"], cache_dir=tmp_path / "cache")
    (hit,) = await index.search("tides")
    assert "are high" in hit.snippet

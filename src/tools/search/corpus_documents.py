"""Turns the files of a corpus into documents with a title and text. A document that cannot be read is named, never fatal."""

import asyncio
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from deepdelve.core.errors import DeepDelveError
from deepdelve.tools.search.corpus_files import CorpusFile, Skipped, read_file
from deepdelve.tools.web.documents.sniff import family
from deepdelve.utils.text import squash

# Read as they stand where they hold text; everything else goes through the extractor, which tells kinds apart by content.
_PLAIN = frozenset({"markdown", "text"})
_CONTENT_TYPES = {
    "html": "text/html",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "tsv": "text/tab-separated-values",
    "json": "application/json",
    "notebook": "application/json",
}
_NOT_PLAIN = frozenset({"pdf", "zip", "ole", "rtf"})
_HEADING = re.compile(r"^#{1,2}[ \t]+(\S.*)$", re.MULTILINE)
_TITLE_CHARS = 200


class ExtractedText(Protocol):
    """What an extractor gives."""

    @property
    def text(self) -> str:
        """Markdown; PDF pages marked ``[page N]``."""
        ...

    @property
    def title(self) -> str:
        """The document's own title, or empty."""
        ...


class Extract(Protocol):
    """Gets the text out of the bytes of a document. Raises ``FetchError`` where there is none to get."""

    async def __call__(self, data: bytes, *, url: str, content_type: str) -> ExtractedText:
        """Extract."""
        ...


@dataclass(frozen=True)
class Document:
    """One citable document: a file, or a row of a JSONL file (``row`` counts from 1, else 0)."""

    address: str
    title: str
    text: str
    kind: str
    root: str
    relative: str
    sha256: str
    row: int = 0


async def read_documents(file: CorpusFile, extract: Extract) -> tuple[list[Document], list[Skipped]]:
    """The documents of one file, and what of it had to be left out."""
    try:
        data = await asyncio.to_thread(read_file, file.root, file.relative)
        if file.kind == "jsonl":
            return await asyncio.to_thread(_rows, file, data)
        title, text, kind = await _read(file, data, extract)
    except (OSError, ValueError) as error:
        return [], [Skipped(str(file.path), getattr(error, "strerror", None) or str(error))]
    except DeepDelveError as error:
        return [], [Skipped(str(file.path), error.message)]
    if not text.strip():
        return [], [Skipped(str(file.path), "no text in it")]
    stem = Path(file.relative).stem
    return [replace(_document(file, squash(title)[:_TITLE_CHARS] or stem.replace("_", " "), text), kind=kind)], []


async def _read(file: CorpusFile, data: bytes, extract: Extract) -> tuple[str, str, str]:
    """Title, text and kind. A suffix that says less than the content, or something else, does not decide."""
    if file.kind in _PLAIN and (not data.strip() or await asyncio.to_thread(family, data) not in _NOT_PLAIN):
        text = await asyncio.to_thread(_decode, data)
        return _title(text, file.kind), text, file.kind
    found = await extract(data, url=file.address, content_type=_CONTENT_TYPES.get(file.kind, ""))
    return found.title, found.text, str(getattr(found, "kind", "") or file.kind)


def _rows(file: CorpusFile, data: bytes) -> tuple[list[Document], list[Skipped]]:
    documents: list[Document] = []
    skipped: list[Skipped] = []
    for number, line in enumerate(_decode(data).splitlines(), start=1):
        if not line.strip():
            continue
        row = _row(line)
        if row is None:
            skipped.append(Skipped(f"{file.path}#{number}", "no JSON object with title and text"))
        else:
            title, text = row
            documents.append(_document(file, title, f"# {title}\n\n{text}\n", number))
    return documents, skipped


def _row(line: str) -> tuple[str, str] | None:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    title, text = row.get("title"), row.get("text")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(title, str) or not isinstance(text, str) or not text.strip():
        return None
    return squash(title)[:_TITLE_CHARS] or squash(text)[:60], text.strip()


def _document(file: CorpusFile, title: str, text: str, row: int = 0) -> Document:
    address = f"{file.address}#{row}" if row else file.address
    clean = text.encode("utf-8", "replace").decode()
    return Document(address, title, clean, file.kind, str(file.root), file.relative, file.sha256, row)


def _title(text: str, kind: str) -> str:
    heading = _HEADING.search(text[:20_000]) if kind == "markdown" else None
    if heading:
        return heading.group(1).strip().strip("#").strip()
    first = next((line.strip() for line in text[:4_000].splitlines() if line.strip()), "")
    return first.lstrip("#").strip() if len(first) <= 120 and first[-1:] not in ".,;:" else ""


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(data).best()
        if best is None:
            raise ValueError("not text in a known encoding") from None
        text = str(best)
    if "\x00" in text:
        raise ValueError("not text")
    return text

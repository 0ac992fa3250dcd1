"""A folder of sources: files by the label or the address that they answer to, and which could not be read and why."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from deepdelve.utils.grounding import citations, stubs
from deepdelve.utils.grounding.references import Reference
from deepdelve.utils.grounding.text import normalise

MOST_FILES = 5000
LARGEST = 8_000_000
_RUN_STATE = "_run_state.json"
_INDEXES = ("pages.jsonl", "sources.jsonl", "index.jsonl", "sources.json", "index.json", _RUN_STATE)
_READABLE = frozenset((".md", ".txt", ".html", ".htm", ".text", ".markdown", ".rst", ".csv", ".json", ".xml", ""))
# Gives the text of a document's bytes, told its file name; raises ValueError with the reason where there is none.
Reader = Callable[[bytes, str], str]
_NOT_NAME = re.compile(r"[\s/\\()\[\]<>\"'“”«»|]+")
_ADDRESS = re.compile(r"https?://\S+")
_TITLE = re.compile(r"\s{0,3}#{1,2}[ \t]+(\S[^\n]{0,300})")
_NOTED = re.compile(r"^\W{0,4}(?:url|source|link|address|final_url)\W{0,4}[:=]\W{0,3}(https?://\S+)", re.I | re.M)


@dataclass(frozen=True)
class SourceText:
    """One source as read: ``file`` relative to the folder, ``text`` with ``state`` and ``reason`` as for a fetched page."""

    key: str
    text: str
    file: str = ""
    url: str = ""
    title: str = ""
    state: str = "ok"
    reason: str = ""


@dataclass
class Sources:
    """Sources by every name they answer to."""

    by_label: dict[str, SourceText] = field(default_factory=dict[str, SourceText])
    by_page: dict[str, SourceText] = field(default_factory=dict[str, SourceText])
    unread: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _by_file: dict[str, SourceText | None] = field(default_factory=dict[str, "SourceText | None"])
    _by_title: dict[str, SourceText | None] = field(default_factory=dict[str, "SourceText | None"])

    def add(self, source: SourceText) -> None:
        """Enter a source under its key, address, file name and title; names that two sources share are no names."""
        self.by_label.setdefault(source.key, source)
        if source.url:
            self.by_page.setdefault(citations.same_page(source.url), source)
        for names, name in ((self._by_file, Path(source.file).name.lower()), (self._by_title, normalise(source.title))):
            if name:
                names[name] = source if names.get(name, source) == source else None

    def find(self, entry: Reference) -> SourceText | None:
        """The source that a reference means: by address, label, file name, title, or number (``3`` is ``S3`` if their titles agree)."""
        if entry.url and (found := self.by_page.get(citations.same_page(entry.url))):
            return found
        said = _ADDRESS.sub(" ", entry.author)
        named = self.by_label.get(entry.label) or self._named(said, entry)
        if named is not None or (entry.url and self.by_page):
            return named
        numbered = self.by_label.get(f"S{entry.label}")
        return numbered if numbered is not None and _agree(said, numbered.title) else None

    def why_unread(self, entry: Reference) -> str:
        """The reason why the source that a reference means could not be read; empty where nothing is known of it."""
        page = citations.same_page(entry.url) if entry.url else ""
        meant = (
            reason for key, reason in self.unread if key == entry.label or (page and "://" in key and citations.same_page(key) == page)
        )
        return next(meant, "")

    def _named(self, said: str, entry: Reference) -> SourceText | None:
        for word in _NOT_NAME.split(said.lower()):
            if found := self._by_file.get(word.strip(".,;:")):
                return found
        title = normalise(entry.title)
        if title and (found := self._by_title.get(title)):
            return found
        phrase = f" {normalise(said)} "
        held = [name for name, source in self._by_title.items() if source is not None and " " in name and f" {name} " in phrase]
        return self._by_title[max(held, key=len)] if held else None

    def known(self) -> list[str]:
        """Every label and address."""
        return [*self.by_label, *(source.url for source in self.by_label.values() if source.url)]


def from_mapping(texts: Mapping[str, str]) -> Sources:
    """Sources from label or address to text."""
    sources = Sources()
    for key, text in texts.items():
        verdict = stubs.detect(text)
        sources.add(SourceText(key, text, url=key if "://" in key else "", state=verdict.state, reason=verdict.reason))
    return sources


def from_folder(folder: Path, reader: Reader | None = None, besides: Path | None = None) -> Sources:
    """Sources of a folder: an index file (url and file a row) says what is what, else names and first lines of the files do.

    Args:
        folder: where they are, subfolders included.
        reader: reads what is no text file; without one such files are named as not read.
        besides: a file that is no source wherever it stands, such as the report itself.
    """
    sources = Sources()
    if not folder.is_dir():
        sources.unread.append((folder.name, "there is no such folder"))
        return sources
    listed: set[Path] = set()
    own = besides.resolve() if besides is not None else None
    for index, within in _indexes(folder):
        for row in _rows(index, sources):
            file = str(row.get("file") or row.get("path") or row.get("page") or "")
            path = index.parent / file
            if within and not (file and _inside(path, folder)):
                continue
            key = str(row.get("id") or row.get("label") or row.get("url") or file)
            listed.add(path)
            if not file or not _inside(path, folder):
                sources.unread.append((key, "its file is not in the folder"))
                continue
            _enter(sources, key, path, folder, reader, url=str(row.get("url") or ""), title=str(row.get("title") or ""))
    # A run's folder lists all of its sources; what else stands there was written by the run.
    files = (
        []
        if (folder / _RUN_STATE).is_file() and listed
        else sorted(
            path
            for path in folder.rglob("*")
            if path.is_file()
            and path not in listed
            and path.resolve() != own
            and path.name not in _INDEXES
            and not path.name.startswith(".")
        )
    )
    if len(files) > MOST_FILES:
        sources.unread.append((folder.name, f"only the first {MOST_FILES} of {len(files)} files were read"))
    for path in files[:MOST_FILES]:
        if _inside(path, folder):
            _enter(sources, path.stem, path, folder, reader)
    return sources


def decode(data: bytes) -> str:
    """Text of bytes in UTF-8, UTF-16 or Latin-1; NUL bytes are dropped, unreadable ones replaced."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        high = sum(byte >= 0x80 for byte in data[:4096])
        text = data.decode("cp1252", "replace") if high < 0.3 * min(len(data), 4096) else data.decode("utf-8", "replace")
    return text.replace("\x00", "")


def _indexes(folder: Path) -> list[tuple[Path, bool]]:
    """The index files of a folder; where it has none, those that lie beside it, of which only rows with files within count."""
    own = [(folder / name, False) for name in _INDEXES if (folder / name).is_file()]
    return own or [(folder.parent / name, True) for name in _INDEXES if name != _RUN_STATE and (folder.parent / name).is_file()]


def _rows(path: Path, sources: Sources) -> list[dict[str, Any]]:
    """The rows of an index file. A line that is no JSON costs only itself."""
    try:
        text = decode(_beginning(path))
    except OSError as error:
        sources.unread.append((path.name, error.strerror or str(error)))
        return []
    body: Any = []
    bad = 0
    for part in filter(str.strip, text.splitlines() if path.suffix == ".jsonl" else [text]):
        try:
            body.append(json.loads(part))
        except (ValueError, RecursionError):
            bad += 1
    if path.suffix != ".jsonl":
        body = body[0] if body else []
    if bad:
        sources.unread.append((path.name, "it is no valid JSON" if not body else f"{bad} of its lines are no valid JSON"))
    if isinstance(body, dict):
        inner: Any = cast(dict[str, Any], body).get("state", body)
        held: Any = cast(dict[str, Any], inner).get("sources", []) if isinstance(inner, dict) else []
        body = list(cast(dict[str, Any], held).values()) if isinstance(held, dict) else held
    return [cast(dict[str, Any], row) for row in cast(list[Any], body) if isinstance(row, dict)] if isinstance(body, list) else []


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST)


def _inside(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _agree(said: str, title: str) -> bool:
    """Whether what a reference says of itself can be a source of this title; either may say nothing."""
    one, other = set(normalise(said).split()), set(normalise(title).split())
    return not one or not other or bool({word for word in one & other if len(word) > 3})


def _enter(sources: Sources, key: str, path: Path, folder: Path, reader: Reader | None = None, *, url: str = "", title: str = "") -> None:
    name = str(path.relative_to(folder))
    if not path.is_file():
        sources.unread.append((key, f"{name} is missing"))
        return
    textual = path.suffix.lower() in _READABLE
    if not textual and reader is None:
        sources.unread.append((key, f"{name} is no text file"))
        return
    try:
        data = _beginning(path) if textual or reader is None else path.read_bytes()
        text = decode(data) if textual or reader is None else reader(data, path.name)
    except (OSError, ValueError) as error:
        sources.unread.append((key, f"{name}: {getattr(error, 'strerror', None) or error}"))
        return
    if textual and data[:2] not in (b"\xff\xfe", b"\xfe\xff") and data[:4096].count(0) > 8:
        sources.unread.append((key, f"{name} is binary"))
        return
    html = text if path.suffix.lower() in (".html", ".htm") or text[:200].lstrip().lower().startswith(("<!doctype html", "<html")) else ""
    noted = None if url else _NOTED.search(text[:600])
    address = url or (noted[1] if noted else "")
    body = stubs.visible(html) if html else text
    verdict = stubs.detect(body, html=html, url=address, title=title)
    heading = _TITLE.match(body)
    title = title or (heading[1].strip(" #*") if heading else "")
    sources.add(SourceText(key, body, name, address, title, verdict.state, verdict.reason))

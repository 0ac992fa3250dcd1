"""A full-text index over local documents: SQLite FTS5 with BM25 over passages, cached by the content it was made from."""

import asyncio
import os
import sqlite3
import tempfile
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from deepdelve.config import home
from deepdelve.core.errors import CorpusError
from deepdelve.core.records import Hit
from deepdelve.tools.search.corpus_documents import Document, Extract, ExtractedText, read_documents
from deepdelve.tools.search.corpus_files import READABLE, CorpusFile, Scan, Skipped, scan
from deepdelve.utils.files import disk_error
from deepdelve.utils.text import STOP_WORDS, portions, sentences, squash, terms, words

FORMAT = 2
TITLE_WEIGHT = 2.0
PASSAGE_CHARS = 1_200
SNIPPET_CHARS = 320
QUERY_WORDS = 64
KEPT_INDEXES = 20
_PARALLEL = 4
_GATHERED_BYTES = 64 << 20
_SPACED = "\u00a0\u2018\u00ab\u00bb\u2013\u2014\u201c\u201d\u201e\u2022\u2026"
_PUNCTUATION = {ord(mark): " " for mark in _SPACED} | dict.fromkeys(map(ord, "'\u2019"), "")
_SCHEMA = f"""
PRAGMA user_version = {FORMAT};
CREATE TABLE docs (
    id INTEGER PRIMARY KEY, address TEXT UNIQUE NOT NULL, title TEXT, text TEXT, kind TEXT, root TEXT, relative TEXT,
    sha256 TEXT, row INTEGER
);
CREATE TABLE passages (id INTEGER PRIMARY KEY, doc INTEGER NOT NULL, start INTEGER, end INTEGER);
CREATE TABLE skipped (path TEXT, reason TEXT);
CREATE VIRTUAL TABLE fts USING fts5(title, body, content='', tokenize='porter unicode61 remove_diacritics 2');
"""
_RANKED = """
SELECT p.doc, p.start, p.end FROM (SELECT rowid, bm25(fts, ?, 1.0) AS score FROM fts WHERE fts MATCH ? ORDER BY score LIMIT ?) AS f
JOIN passages AS p ON p.id = f.rowid ORDER BY f.score
"""
_DOCUMENT = "SELECT address, title, text, kind, root, relative, sha256, row FROM docs WHERE "


@dataclass
class CorpusIndex:
    """Searches and serves the documents of a corpus. Build it with ``build``; all its methods are safe from several tasks.

    Attributes:
        documents: how many there are.
        skipped: files and rows that could not be read, each with its reason.
    """

    documents: int
    skipped: tuple[Skipped, ...]
    _db: sqlite3.Connection
    _lock: threading.Lock

    @classmethod
    async def build(cls, paths: Sequence[str | Path], *, extract: Extract | None = None, cache_dir: Path | None = None) -> "CorpusIndex":
        """Index folders or files of every kind in ``corpus_files.KINDS`` (JSONL: rows of title and text), or open the cached index.

        Args:
            paths: folders or files.
            extract: gets the text out of what is not plain text; the product's own extractor by default.
            cache_dir: where indexes are kept; the platform's cache folder by default.

        Raises:
            CorpusError: a path cannot be read, or holds no document that can.
            DiskError: the index cannot be written.
        """
        found = await asyncio.to_thread(scan, paths)
        folder = cache_dir or default_cache()
        target = folder / f"{found.digest}.v{FORMAT}.sqlite"
        opened = await asyncio.to_thread(_open, target)
        if opened is None:
            await _write_index(found, target, extract or _product_extract)
            opened = await asyncio.to_thread(_open, target)
        if opened is None:
            raise CorpusError(f"The corpus index {target} cannot be opened.", "Delete it and try again.")
        kept = [Skipped(path, reason) for path, reason in opened.execute("SELECT path, reason FROM skipped")]
        skipped = tuple(dict.fromkeys([*found.skipped, *kept]))
        count = int(opened.execute("SELECT count(*) FROM docs").fetchone()[0])
        if not count:
            opened.close()
            remedy = "Give another copy of it, or another document." if len(skipped) == 1 else f"Give a folder with {READABLE} files."
            raise CorpusError(_empty(paths, skipped), remedy)
        return cls(count, skipped, opened, threading.Lock())

    async def search(self, text: str, *, limit: int = 10, exclude: frozenset[str] = frozenset()) -> list[Hit]:
        """The documents that match best, by their best passage. No query text can break or widen the match."""
        return await asyncio.to_thread(self._search, text, limit, exclude)

    async def load(self, address: str) -> Document | None:
        """The document at an address, or None. A ``#page=``, ``#L`` or other place within a file is ignored."""
        return await asyncio.to_thread(self._load, address)

    def addresses(self, limit: int) -> list[str]:
        """The addresses of the first documents, in the order of the corpus."""
        with self._lock:
            return [str(row[0]) for row in self._db.execute("SELECT address FROM docs ORDER BY id LIMIT ?", (limit,))]

    def close(self) -> None:
        """Let go of the index file."""
        with self._lock:
            self._db.close()

    def _search(self, text: str, limit: int, exclude: frozenset[str]) -> list[Hit]:
        match = match_expression(text)
        if not match:
            return []
        wanted = frozenset(terms(text))
        hits: list[Hit] = []
        seen: set[int] = set()
        with self._lock:
            for doc, start, end in self._db.execute(_RANKED, (TITLE_WEIGHT, match, limit * 8 + len(exclude))):
                if doc in seen or len(hits) >= limit:
                    continue
                seen.add(doc)
                row = self._db.execute("SELECT address, title, substr(text, ?, ?) FROM docs WHERE id = ?", (start + 1, end - start, doc))
                address, title, passage = row.fetchone()
                if address not in exclude:
                    hits.append(Hit(url=address, title=title, snippet=snippet(passage, wanted), engine="corpus", rank=len(hits) + 1))
        return hits

    def _load(self, address: str) -> Document | None:
        with self._lock:
            row = self._db.execute(_DOCUMENT + "address = ?", (address,)).fetchone()
            if row is None and "#" in address:
                row = self._db.execute(_DOCUMENT + "address = ? AND row = 0", (address.split("#", 1)[0],)).fetchone()
        return Document(*row) if row else None


def match_expression(text: str) -> str:
    """The FTS5 expression of a query: its words, each quoted, any of them enough. Empty where there is no word."""
    every = list(dict.fromkeys(words(text)))
    telling = [word for word in every if word not in STOP_WORDS] or every
    return " OR ".join(f'"{word}"' for word in telling[:QUERY_WORDS])


def snippet(passage: str, wanted: frozenset[str]) -> str:
    """The sentences of a passage that hold most of the wanted terms, at most ``SNIPPET_CHARS`` long, on one line."""
    pieces = [piece for piece in sentences(passage) if not piece.text.startswith("#")]
    if not pieces:
        return squash(passage)[:SNIPPET_CHARS]
    overlap = [len(wanted.intersection(terms(piece.text))) for piece in pieces]
    best = max(range(len(pieces)), key=lambda i: (overlap[i], -i))
    text = pieces[best].text
    for piece in pieces[best + 1 :]:
        if len(text) + len(piece.text) + 1 > SNIPPET_CHARS:
            break
        text = f"{text} {piece.text}"
    return text if len(text) <= SNIPPET_CHARS else text[: SNIPPET_CHARS - 1].rsplit(" ", 1)[0] + "…"


def default_cache() -> Path:
    """Where indexes are kept: the platform's cache folder, or below ``DEEPDELVE_HOME`` where that is set."""
    if os.environ.get("DEEPDELVE_HOME"):
        return home() / "cache" / "corpus"
    from platformdirs import user_cache_path

    return user_cache_path("deepdelve", appauthor=False) / "corpus"


def _open(target: Path) -> sqlite3.Connection | None:
    if not target.is_file():
        return None
    db = sqlite3.connect(f"file:{quote(str(target))}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    try:
        whole = db.execute("PRAGMA user_version").fetchone()[0] == FORMAT
        db.execute("SELECT count(*) FROM fts, docs LIMIT 1").fetchone()
    except sqlite3.DatabaseError:
        whole = False
    if whole:
        with suppress(OSError):
            os.utime(target)
        return db
    db.close()
    return None


async def _write_index(found: Scan, target: Path, extract: Extract) -> None:
    gate = asyncio.Semaphore(_PARALLEL)

    async def read(file: CorpusFile) -> tuple[list[Document], list[Skipped]]:
        async with gate:
            return await read_documents(file, extract)

    parts = await asyncio.gather(*(read(file) for file in found.files))
    documents = [document for part, _ in parts for document in part]
    skipped = [entry for _, part in parts for entry in part]
    await asyncio.to_thread(_store, target, documents, skipped)


def _store(target: Path, documents: list[Document], skipped: list[Skipped]) -> None:
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(prefix=".building.", dir=target.parent)
        os.close(handle)
        with closing(sqlite3.connect(temporary)) as db:
            _fill(db, documents, skipped)
        Path(temporary).replace(target)
        _prune(target.parent)
    except (OSError, sqlite3.OperationalError) as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise disk_error(error if isinstance(error, OSError) else OSError(str(error)), target) from error


def _fill(db: sqlite3.Connection, documents: list[Document], skipped: list[Skipped]) -> None:
    db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + _SCHEMA)
    # More is gathered in memory before it is written, so that less is merged afterwards.
    db.execute("INSERT INTO fts (fts, rank) VALUES ('hashsize', ?)", (_GATHERED_BYTES,))
    for number, d in enumerate(documents, start=1):
        values = (number, d.address, d.title, d.text, d.kind, d.root, d.relative, d.sha256, d.row)
        db.execute("INSERT OR IGNORE INTO docs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        title = _indexed(d.title)
        for start, end in portions(d.text, PASSAGE_CHARS):
            passage = db.execute("INSERT INTO passages (doc, start, end) VALUES (?, ?, ?)", (number, start, end)).lastrowid
            db.execute("INSERT INTO fts (rowid, title, body) VALUES (?, ?, ?)", (passage, title, _indexed(d.text[start:end])))
    db.executemany("INSERT INTO skipped VALUES (?, ?)", [(entry.path, entry.reason) for entry in skipped])
    db.execute("INSERT INTO fts (fts) VALUES ('optimize')")
    db.commit()


def _indexed(text: str) -> str:
    """A text as the tokenizer takes it. What is ASCII but for its punctuation it folds by itself, many times faster."""
    plain = text.replace("'", "") if text.isascii() else text.translate(_PUNCTUATION)
    return plain if plain.isascii() else " ".join(words(text))


def _prune(folder: Path) -> None:
    kept = sorted(folder.glob("*.sqlite"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in kept[KEPT_INDEXES:]:
        with suppress(OSError):
            old.unlink()


def _empty(paths: Sequence[str | Path], skipped: tuple[Skipped, ...]) -> str:
    named = ", ".join(str(path) for path in paths)
    if len(skipped) == 1:
        return f"{skipped[0].path} cannot be read as a document: {skipped[0].reason.rstrip('.')}."
    first = f" (of {len(skipped)} files none can be read; the first, {skipped[0].path}: {skipped[0].reason.rstrip('.')})" if skipped else ""
    return f"{named} holds no readable document{first}."


async def _product_extract(data: bytes, *, url: str, content_type: str) -> ExtractedText:
    from deepdelve.tools.web.extract import extract

    return await extract(data, url=url, content_type=content_type)

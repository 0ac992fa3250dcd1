"""A trigram index that can only leave out what cannot match. Derived and disposable: deleting the file loses nothing.

Each row is the compared text of one transcript or run. A source counts as known only while its files are just as they were indexed.
"""

import contextlib
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from deepdelve.engine.history.files import Notes
from deepdelve.engine.history.match import Prefilter, norm
from deepdelve.engine.history.parse import All, Any, Expression, Term
from deepdelve.engine.history.query import DEFAULT_KINDS
from deepdelve.engine.history.records import iso
from deepdelve.engine.history.sources import Reader, Roots, Source, Wants, discover, state_of
from deepdelve.utils.files import try_lock

VERSION = 3
_TRIGRAM = 3
_MAX_TRIGRAMS = 40
_COMMIT_EVERY = 200
# Rows of replaced texts stay behind; when they are more than the living ones, the index is made anew.
_DEAD_SHARE = 0.5
_SCHEMA = f"""
CREATE TABLE source(id INTEGER PRIMARY KEY, key TEXT UNIQUE, kind TEXT, name TEXT, state TEXT, max_ts INTEGER, n_records INTEGER);
CREATE TABLE segment(id INTEGER PRIMARY KEY, source_id INTEGER);
CREATE INDEX segment_source ON segment(source_id);
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT);
CREATE VIRTUAL TABLE cand USING fts5(body, content='', tokenize='trigram case_sensitive 1', detail=none, columnsize=0);
PRAGMA user_version = {VERSION};
"""


class Indexed(NamedTuple):
    """A source as it was indexed: the state of its files then; ``newest`` is UTC microseconds, -1 where no record has an instant."""

    id: int
    state: str
    newest: int
    records: int


@dataclass(frozen=True)
class Look:
    """What the index knows. ``candidates`` are the sources that may match; None where it cannot say."""

    sources: dict[str, Indexed] = field(default_factory=dict[str, Indexed])
    candidates: frozenset[int] | None = None
    codes: Counter[str] = field(default_factory=Counter[str])


@dataclass(frozen=True)
class IndexReport:
    """What an update did. ``seconds`` of processor time, ``size`` in bytes of the file."""

    indexed: int
    kept: int
    removed: int
    unclean: int
    seconds: float
    size: int
    rebuilt: bool = False


class HistoryIndex:
    """The index of a home, for reading. One that is missing, locked, broken or from a later version is not used."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.usable = False
        self.watermark: str | None = None

    def look(self, expression: Expression | None) -> Look:
        """What is known of each source, and which may match the expression."""
        if not self.path.is_file() or self.path.is_symlink():
            return Look()
        try:
            with contextlib.closing(self._open()) as connection:
                return self._look(connection, expression)
        except (sqlite3.Error, ValueError, TypeError):
            self.usable = False
            return Look(codes=Counter({"index_unavailable": 1}))

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True, timeout=0.0)

    def _look(self, connection: sqlite3.Connection, expression: Expression | None) -> Look:
        if _version(connection) != VERSION:
            return Look(codes=Counter({"index_unavailable": 1}))
        rows = connection.execute("SELECT key, id, state, max_ts, n_records FROM source")
        known = {key: Indexed(*rest) for key, *rest in rows}
        row = connection.execute("SELECT value FROM meta WHERE name = 'updated'").fetchone()
        wanted = expression_query(expression)
        found = None
        if wanted:
            hits = connection.execute("SELECT source_id FROM segment WHERE id IN (SELECT rowid FROM cand WHERE cand MATCH ?)", (wanted,))
            found = frozenset(number for (number,) in hits if number is not None)
        self.usable, self.watermark = True, row[0] if row else None
        return Look(known, found)


def expression_query(expression: Expression | None) -> str:
    """What the index is asked: trigrams that each matching text must hold; empty where nothing can be said."""
    if isinstance(expression, Term):
        words = norm(expression.text).split() if expression.phrase else [norm(expression.text)]
        return " AND ".join(_quoted(gram) for gram in dict.fromkeys(gram for word in words for gram in _trigrams(word)))
    if isinstance(expression, All):
        parts = [part for part in map(expression_query, expression.parts) if part]
        return " AND ".join(f"({part})" for part in parts)
    if isinstance(expression, Any):
        parts = [expression_query(part) for part in expression.parts]
        return " OR ".join(f"({part})" for part in parts) if all(parts) else ""
    return ""


def update(roots: Roots, poll: Callable[[], None] = lambda: None) -> IndexReport | None:
    """Bring the index up to date. None where another process is at it.

    Raises:
        OSError: the folders cannot be listed, or the index cannot be written.
        sqlite3.Error: the index cannot be written.
    """
    roots.index.parent.mkdir(parents=True, exist_ok=True)
    with _lock(roots.index.with_suffix(".lock")) as mine:
        if not mine:
            return None
        begun = time.process_time()
        rebuilt = _broken(roots.index)
        if rebuilt:
            _remove(roots.index)
        with contextlib.closing(_writable(roots.index)) as connection:
            counts = _update(connection, roots, poll)
        # The pages of the log are in the file once the last connection has closed.
        size = roots.index.stat().st_size
        return IndexReport(
            counts["indexed"], counts["kept"], counts["removed"], counts["unclean"], time.process_time() - begun, size, rebuilt
        )


def _update(connection: sqlite3.Connection, roots: Roots, poll: Callable[[], None]) -> Counter[str]:
    counts: Counter[str] = Counter()
    told = dict[str, str](connection.execute("SELECT key, state FROM source").fetchall())
    found = discover(roots, transcripts=True, runs=True, poll=poll)
    reader = Reader(roots, Wants(DEFAULT_KINDS, Prefilter(None)), poll)
    for number, source in enumerate(found):
        now = state_of(source)
        if told.pop(source.key, None) == now:
            counts["kept"] += 1
            continue
        poll()
        counts["indexed" if _take(connection, reader, source, now) else "unclean"] += 1
        reader.facts.clear()
        if number % _COMMIT_EVERY == 0:
            connection.commit()
    for key in told:
        _forget(connection, key)
        counts["removed"] += 1
    connection.execute("INSERT OR REPLACE INTO meta VALUES('updated', ?)", (iso(int(time.time() * 1_000_000)),))
    connection.commit()
    return counts


def _take(connection: sqlite3.Connection, reader: Reader, source: Source, now: str) -> bool:
    """Index a source; one that cannot be read cleanly is left to be read each time, so that what is wrong with it is told each time."""
    _forget(connection, source.key)
    notes = Notes()
    try:
        rows = [(norm(record.text), -1 if record.ts_us is None else record.ts_us) for record in reader.records(source, notes)]
    except OSError:
        return False
    if notes.codes or state_of(source) != now:
        return False
    row = (source.key, source.kind, source.name, now, max((when for _, when in rows), default=-1), notes.records)
    cursor = connection.execute("INSERT INTO source(key, kind, name, state, max_ts, n_records) VALUES(?, ?, ?, ?, ?, ?)", row)
    segment = connection.execute("INSERT INTO segment(source_id) VALUES(?)", (cursor.lastrowid,)).lastrowid
    connection.execute("INSERT INTO cand(rowid, body) VALUES(?, ?)", (segment, _body(text for text, _ in rows)))
    return True


def _body(texts: Iterable[str]) -> str:
    """Texts as the index takes them: its tokenizer ends a text at a NUL, and no word that is asked of it holds one."""
    return "\n".join(texts).replace("\0", "\n")


def _forget(connection: sqlite3.Connection, key: str) -> None:
    connection.execute("UPDATE segment SET source_id = NULL WHERE source_id IN (SELECT id FROM source WHERE key = ?)", (key,))
    connection.execute("DELETE FROM source WHERE key = ?", (key,))


def _writable(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=5.0)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    if _version(connection) == 0:
        connection.executescript(_SCHEMA)
        path.chmod(0o600)
    return connection


def _broken(path: Path) -> bool:
    """Whether the index must be made anew: it is none, of another version, or holds too much that is dead."""
    if not path.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=5.0)) as connection:
            if _version(connection) != VERSION:
                return True
            dead, every = connection.execute("SELECT COUNT(*) FILTER (WHERE source_id IS NULL), COUNT(*) FROM segment").fetchone()
            connection.execute("SELECT rowid FROM cand WHERE cand MATCH 'abc' LIMIT 1").fetchone()
            return every > _COMMIT_EVERY and dead > every * _DEAD_SHARE
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise
        return True
    except sqlite3.DatabaseError:
        return True


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _trigrams(word: str) -> list[str]:
    try:
        word.encode("utf-8")
    except UnicodeEncodeError:
        return []
    if "\0" in word:
        return []
    return [word[place : place + _TRIGRAM] for place in range(min(len(word) - _TRIGRAM + 1, _MAX_TRIGRAMS))]


def _quoted(gram: str) -> str:
    return '"' + gram.replace('"', '""') + '"'


@contextlib.contextmanager
def _lock(path: Path) -> Generator[bool]:
    """Whether this process alone may write; let go with the block, or with the process."""
    with path.open("ab") as file:
        yield try_lock(file.fileno())

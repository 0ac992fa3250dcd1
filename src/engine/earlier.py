"""What earlier runs have read and found: an index over the run folders, kept in one file and brought up to date by what has changed."""

import asyncio
import contextlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from deepdelve.config import home
from deepdelve.core.errors import DeepDelveError, DiskError
from deepdelve.core.records import Source
from deepdelve.engine import store
from deepdelve.utils.files import read_bounded, write_text_atomic
from deepdelve.utils.grounding import ledger
from deepdelve.utils.run_state import RunState
from deepdelve.utils.urls import canonical

VERSION = 1
# The newest runs are looked at, and no more: an index that grows for ever would slow every run down.
MAX_RUNS = 300
MAX_LEDGER_BYTES = 16 * 1024 * 1024
_LEDGER = "final_report.claims.json"
_SOURCE_FILE = re.compile(r"sources/S\d{1,6}\.md")


@dataclass(frozen=True)
class EarlierPage:
    """A source as an earlier run stored it."""

    run_id: str
    source: Source


@dataclass(frozen=True)
class EarlierClaim:
    """A claim of an earlier report that this source carries."""

    page: EarlierPage
    text: str


@dataclass(frozen=True)
class Known:
    """All that the earlier runs know. ``pages`` holds the newest copy of each canonical address; ``stored`` every copy."""

    pages: dict[str, EarlierPage] = field(default_factory=dict[str, EarlierPage])
    stored: dict[tuple[str, str], EarlierPage] = field(default_factory=dict[tuple[str, str], EarlierPage])
    claims: tuple[EarlierClaim, ...] = ()


class EarlierRuns:
    """The ended runs of this home. Looked at once, when they are first asked for; what ends later belongs to the next run."""

    def __init__(self) -> None:
        self._known: Known | None = None
        self._lock = asyncio.Lock()

    async def known(self) -> Known:
        """What they know."""
        async with self._lock:
            if self._known is None:
                self._known = await asyncio.to_thread(load)
            return self._known


def index_path() -> Path:
    """The file of the index; it can be deleted at any time."""
    return home() / "cache" / "earlier_runs.json"


def load() -> Known:
    """Bring the index up to date and read it; blocking. Runs that cannot be read are left out."""
    old = _read_index()
    rows: dict[str, Any] = {}
    for run_id in store.run_ids()[:MAX_RUNS]:
        stamp = _stamp(store.runs_dir() / run_id)
        kept: Any = old.get(run_id)
        rows[run_id] = kept if isinstance(kept, dict) and cast("dict[str, Any]", kept).get("stamp") == stamp else _row(run_id, stamp)
    if rows != old:
        with contextlib.suppress(DiskError):
            write_text_atomic(index_path(), json.dumps({"version": VERSION, "runs": rows}, ensure_ascii=False), mode=0o600)
    return _known(rows)


def _read_index() -> dict[str, Any]:
    try:
        data: Any = json.loads(index_path().read_bytes())
        return data["runs"] if data["version"] == VERSION and isinstance(data["runs"], dict) else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _stamp(folder: Path) -> str:
    """What changes whenever a run's state or ledger does."""
    marks: list[str] = []
    for name in (store.SNAPSHOT, _LEDGER):
        with contextlib.suppress(OSError):
            stat = (folder / name).stat()
            marks.append(f"{stat.st_size}:{stat.st_mtime_ns}")
    return " ".join(marks)


def _row(run_id: str, stamp: str) -> dict[str, Any]:
    """What one run has to give; nothing where it has not ended or cannot be read."""
    folder = store.runs_dir() / run_id
    row: dict[str, Any] = {"stamp": stamp, "sources": [], "claims": []}
    try:
        state = store.load_state(folder)
    except (DeepDelveError, OSError):
        return row
    if state.outcome is None:
        return row
    row["sources"] = [source.model_dump(exclude_defaults=True) for source in state.citable_sources()]
    row["claims"] = _supported(folder, state)
    return row


def _supported(folder: Path, state: RunState) -> list[list[str]]:
    """Source id and text of each supported claim of the report."""
    try:
        claims = ledger.from_json(read_bounded(folder / _LEDGER, MAX_LEDGER_BYTES).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return []
    carried = [(claim.passage.source_id, claim.text) for claim in claims if claim.status == "supported" and claim.passage is not None]
    usable = {source.id for source in state.citable_sources()}
    return [[source_id, text] for source_id, text in carried if source_id in usable]


def _known(rows: dict[str, Any]) -> Known:
    known: dict[tuple[str, str], EarlierPage] = {}
    claims: list[EarlierClaim] = []
    for run_id, row in rows.items():
        # The index is a file that anybody may have changed: what does not fit is left out.
        try:
            pages = [EarlierPage(run_id, Source.model_validate(source)) for source in row["sources"]]
            known |= {(run_id, page.source.id): page for page in pages}
            claims += [EarlierClaim(known[run_id, source_id], str(text)) for source_id, text in row["claims"]]
        except (ValidationError, ValueError, KeyError, TypeError):
            continue
    return Known(_newest(known.values()), known, tuple(claims))


def _newest(pages: Iterable[EarlierPage]) -> dict[str, EarlierPage]:
    found: dict[str, EarlierPage] = {}
    for page in pages:
        for url in {canonical(page.source.url), canonical(page.source.final_url or page.source.url)}:
            other = found.get(url)
            if other is None or other.source.fetched_at < page.source.fetched_at:
                found[url] = page
    return found


def stored_text(page: EarlierPage) -> tuple[str, bytes | None] | None:
    """The text of a stored source and its original, as they were recorded; None where the files have changed since. Blocking."""
    import hashlib

    source, folder = page.source, store.runs_dir() / page.run_id
    path = folder / source.file
    if not _SOURCE_FILE.fullmatch(source.file) or path.resolve() != folder.resolve() / source.file:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data).hexdigest() != source.sha256:
        return None
    original = path.with_suffix(f".{source.kind}")
    kept = source.kind in {"html", "pdf"} and original.is_file() and not original.is_symlink()
    return data.decode("utf-8", "replace"), original.read_bytes() if kept else None

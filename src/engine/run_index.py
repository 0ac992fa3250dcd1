"""The list of runs, from an index file that says of each run what its journal said last; a changed journal is read again."""

import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from deepdelve.core.errors import DiskError, StateError
from deepdelve.core.requests import RunSummary
from deepdelve.engine import store
from deepdelve.engine.journal import JOURNAL
from deepdelve.engine.lease import is_live
from deepdelve.utils.files import write_text_atomic

log = logging.getLogger(__name__)

INDEX = "index.json"
UNREADABLE = "unreadable"


class Entry(BaseModel):
    """One run: size in bytes and modification time in nanoseconds of its journal, and the row that was made of it then."""

    model_config = ConfigDict(extra="forbid")

    size: int
    mtime_ns: int
    row: RunSummary


class Index(BaseModel):
    """The index file. One of another version, or a broken one, is made anew."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    runs: dict[str, Entry] = {}


def list_runs(limit: int = 200) -> list[RunSummary]:
    """The newest runs, newest first; a run that cannot be read is listed with that as its outcome."""
    folder = store.runs_dir()
    ids = store.run_ids()
    index = read(folder)
    gone = index.runs.keys() - set(ids)
    for run_id in gone:
        del index.runs[run_id]
    changed = bool(gone)
    rows: list[RunSummary] = []
    for run_id in ids[:limit]:
        stamp = _stamp(f"{folder}/{run_id}/{JOURNAL}")
        entry = index.runs.get(run_id)
        if entry is None or (entry.size, entry.mtime_ns) != stamp:
            entry = index.runs[run_id] = Entry(size=stamp[0], mtime_ns=stamp[1], row=_row(folder / run_id))
            changed = True
        rows.append(entry.row if entry.row.outcome else replace(entry.row, live=is_live(folder / run_id)))
    if changed:
        _write(folder, index)
    return rows


def interrupted(limit: int = 50) -> list[RunSummary]:
    """Those of the newest runs that broke off and that nobody works on, newest first."""
    return [row for row in list_runs(limit) if not row.outcome and not row.live]


def read(folder: Path) -> Index:
    """The index file of a folder of runs; an empty index where there is none that can be used."""
    try:
        return Index.model_validate_json((folder / INDEX).read_bytes())
    except (OSError, ValidationError):
        return Index()


def _write(folder: Path, index: Index) -> None:
    """Keep the index. It only saves time: where it cannot be kept, the list is still right."""
    try:
        write_text_atomic(folder / INDEX, index.model_dump_json(), mode=0o600)
    except DiskError as error:
        log.warning("%s", error.line())


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116  # a path object for each of some thousand runs costs more than the look itself
    except OSError:
        return -1, 0
    return found.st_size, found.st_mtime_ns


def _row(folder: Path) -> RunSummary:
    try:
        return replace(store.summary(store.load_state(folder)), run_id=folder.name)
    except StateError:
        # Nothing in it tells when it began: the folder's own time stands in.
        return RunSummary(folder.name, "", UNREADABLE, max(_stamp(str(folder))[1], 0) / 1e9, 0.0, 0, 0, 0)

"""The files of a run's folder, for those who want to see what is kept."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from deepdelve.core.errors import RunBusyError, UsageError
from deepdelve.engine import lease, store
from deepdelve.utils.files import read_bounded

MAX_FILES = 5_000
TEXT_BYTES = 400_000
_NAMED = {
    "final_report.md": "the report as delivered",
    "final_report.claims.json": "the claim ledger",
    "findings.md": "the findings as delivered",
    "references.bib": "the cited sources",
    "journal.jsonl": "every event, in order",
    "_run_state.json": "the state after the last event",
    "lease.json": "which process works on it",
    "draft/final_report.md": "the report as written, before delivery",
    "draft/findings.md": "the findings as written, before delivery",
}
_FOLDERS = {"sources": "a source", "draft": "a draft", "record": "part of the record for replays"}


@dataclass(frozen=True)
class RunFile:
    """A file: its path within the run's folder with slashes, its size in bytes, and what it is."""

    name: str
    size: int
    what: str = ""


def list_files(run_id: str) -> list[RunFile]:
    """The files of a run by name, those of the folder itself first; links are left out.

    Raises:
        RunNotFoundError: there is no such run.
    """
    folder = store.find_run(run_id)
    found = [RunFile(path.relative_to(folder).as_posix(), path.lstat().st_size) for path in islice(_files(folder), MAX_FILES)]
    named = [RunFile(item.name, item.size, _what(item.name)) for item in found]
    return sorted(named, key=lambda item: (item.name.count("/"), item.name))


def read_file(run_id: str, name: str) -> str:
    """The beginning of a text file of a run.

    Args:
        run_id: the run.
        name: as ``list_files`` names it.

    Raises:
        UsageError: there is no such file, or it is no text.
    """
    folder = store.find_run(run_id)
    if name not in {item.name for item in list_files(run_id)}:
        raise UsageError("This run has no such file.", "/files lists them.")
    content = read_bounded(folder / name, TEXT_BYTES)
    if b"\0" in content[:8_000]:
        raise UsageError(f"{name} is no text.", f"It is kept as {folder / name}.")
    return content.decode("utf-8", "replace")


def delete_run(run_id: str) -> None:
    """Delete a run's folder.

    Raises:
        RunBusyError: it is being worked on.
    """
    folder = store.find_run(run_id)
    if lease.is_live(folder):
        raise RunBusyError(f"Run {folder.name} is going on.", "Stop it first.")
    shutil.rmtree(folder)


def _files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place) / name
            if path.is_file() and not path.is_symlink():
                yield path


def _what(name: str) -> str:
    folder, slash, _ = name.partition("/")
    return _NAMED.get(name) or (_FOLDERS.get(folder, "") if slash else "")

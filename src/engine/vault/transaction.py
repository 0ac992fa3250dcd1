"""Several files and the database change together or not at all: temporary files, a journal, renames, one commit.

A fault on the way puts back what was there. A kill leaves the journal, and the next opening of the vault finishes what it names.
"""

import contextlib
import hashlib
import json
import os
import time
import uuid
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

from deepdelve.core.errors import RunBusyError
from deepdelve.engine.vault.layout import Vault, hash_of
from deepdelve.utils.files import disk_error, try_lock, write_text_atomic

JOURNAL = "journal.json"
LOCK_SECONDS = 30.0
_LOOK_AGAIN = 0.02
Commit = Callable[[dict[str, Any]], None]
Step = Callable[[str], None]


def no_step(name: str) -> None:
    """Nobody is told."""
    del name


@contextlib.contextmanager
def locked(vault: Vault, seconds: float = LOCK_SECONDS) -> Generator[None]:
    """The vault for one writer, over threads and processes. Blocking.

    Raises:
        RunBusyError: another writer held it for longer than ``seconds``.
        DiskError: the vault cannot be written.
    """
    path = vault.own / "lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise disk_error(error, path) from error
    try:
        for _ in range(max(1, round(seconds / _LOOK_AGAIN))):
            if try_lock(fd):
                break
            time.sleep(_LOOK_AGAIN)
        else:
            raise RunBusyError("Another process writes to this vault.", "Wait for it to end, then try again.")
        yield
    finally:
        os.close(fd)


def change(vault: Vault, files: Mapping[str, str], payload: dict[str, Any], commit: Commit, step: Step = no_step) -> None:
    """Write files and commit. To be called while the vault is locked.

    Args:
        vault: where.
        files: path in the vault to new text, in the order of the renames.
        payload: what ``commit`` enters into the database; kept in the journal, so plain data.
        commit: enters it; does nothing where it was entered before.
        step: told of each step that is done (tests).

    Raises:
        DiskError: a file cannot be written; all are as they were.
        StateError: the database refused; all files are as they were.
    """
    before = {path: _read(vault.inside(path)) for path in files}
    token = uuid.uuid4().hex[:8]
    rows = [{"path": path, "temp": _temp(path, token), "sha256": _sha(text)} for path, text in files.items()]
    journal = vault.own / JOURNAL
    try:
        for row, text in zip(rows, files.values(), strict=True):
            _write_through(vault.inside(row["temp"]), text)
        step("written")
        write_text_atomic(journal, json.dumps({"files": rows, "payload": payload}), mode=0o600, durable=True)
        step("journaled")
        _rename(vault, rows, step)
        commit(payload)
        step("committed")
    except Exception:
        _put_back(vault, rows, before)
        _remove(journal)
        raise
    _remove(journal)


def recover(vault: Vault, commit: Commit) -> str:
    """Finish, or undo, what a kill has left. To be called while the vault is locked. Returns what was done, or an empty string."""
    journal = vault.own / JOURNAL
    try:
        left: Any = json.loads(journal.read_bytes())
        rows, payload = list(left["files"]), dict(left["payload"])
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, KeyError, TypeError):
        _remove(journal)
        return "a journal that cannot be read was set aside"
    whole = all(row["sha256"] in {hash_of(vault.inside(row["temp"])), hash_of(vault.inside(row["path"]))} for row in rows)
    if not whole:
        for row in rows:
            _remove(vault.inside(row["temp"]))
        _remove(journal)
        return "a change that was broken off was undone"
    _rename(vault, [row for row in rows if vault.inside(row["temp"]).is_file()], no_step)
    commit(payload)
    _remove(journal)
    return "a change that was broken off was finished"


def _rename(vault: Vault, rows: list[dict[str, str]], step: Step) -> None:
    for row in rows:
        path = vault.inside(row["path"])
        try:
            vault.inside(row["temp"]).replace(path)
        except OSError as error:
            raise disk_error(error, path) from error
        step(f"renamed {row['path']}")


def _put_back(vault: Vault, rows: list[dict[str, str]], before: Mapping[str, str | None]) -> None:
    for row in rows:
        path, old = vault.inside(row["path"]), before[row["path"]]
        with contextlib.suppress(OSError):
            vault.inside(row["temp"]).unlink(missing_ok=True)
        if hash_of(path) == row["sha256"] and (old is None or _sha(old) != row["sha256"]):
            with contextlib.suppress(OSError):
                path.unlink() if old is None else path.write_text(old, "utf-8")


def _write_through(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise disk_error(error, path) from error


def _read(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk_error(error, path) from error


def _temp(path: str, token: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name[:60]}.{token}.tmp".lstrip("/")


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)

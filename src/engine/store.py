"""Where runs, sessions and prompts are kept, and how they are listed. All files are plain text that a person can read."""

import json
import os
import secrets
import time
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from deepdelve.config import home, nearest
from deepdelve.core.errors import RunNotFoundError, SchemaError, StateError
from deepdelve.core.events import AnyEvent
from deepdelve.core.requests import RunSummary
from deepdelve.engine import journal
from deepdelve.utils.files import disk_error, write_text_atomic
from deepdelve.utils.run_state import SCHEMA_VERSION, SCHEMA_VERSIONS, RunState, fold

SNAPSHOT = "_run_state.json"
_ULID = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def runs_dir() -> Path:
    """The folder of all runs."""
    return home() / "runs"


def sessions_dir() -> Path:
    """The folder of all sessions."""
    return home() / "sessions"


def vault_runs_dir() -> Path:
    """The folder of what bounded runs keep beside their ledger."""
    return home() / "vault-runs"


def count_vault_runs() -> int:
    """How many bounded runs have kept something; 0 where the folder cannot be listed."""
    try:
        return sum(folder.is_dir() for folder in vault_runs_dir().iterdir())
    except OSError:
        return 0


def new_run_id() -> str:
    """A run id: local start time and six random hexadecimal digits."""
    return f"{datetime.now().astimezone():%Y%m%d_%H%M%S}_{secrets.token_hex(3)}"


def new_ulid(now: float | None = None) -> str:
    """A sortable id of 26 characters (milliseconds, then 80 random bits)."""
    number = (int((time.time() if now is None else now) * 1000) << 80) | secrets.randbits(80)
    return "".join(_ULID[(number >> shift) & 31] for shift in range(125, -1, -5))


def timestamp(now: float | None = None) -> str:
    """A POSIX time as ISO 8601 in UTC with milliseconds."""
    moment = datetime.fromtimestamp(time.time() if now is None else now, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def find_run(name: str) -> Path:
    """The folder of a run, by its id, an unambiguous beginning of it, or ``latest``.

    Raises:
        RunNotFoundError: names the nearest run.
    """
    ids = run_ids()
    if name == "latest" and ids:
        return runs_dir() / ids[0]
    fitting = [run_id for run_id in ids if run_id == name] or [run_id for run_id in ids if name and run_id.startswith(name)]
    if len(fitting) == 1:
        return runs_dir() / fitting[0]
    if len(fitting) > 1:
        raise RunNotFoundError(f"'{name[:40]}' fits {len(fitting)} runs.", f"Give more of the id, for example {fitting[0]}.")
    near = nearest(name, ids)
    hint = f"Did you mean {near}?" if near else "'deepdelve runs' lists them."
    raise RunNotFoundError(f"There is no run '{name[:40]}'.", hint)


def run_ids() -> list[str]:
    """The ids of all runs, newest first."""
    folder = runs_dir()
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return sorted((e.name for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith(".")), reverse=True)


def save_snapshot(folder: Path, state: RunState, offset: int) -> None:
    """Write the state beside its journal offset, whole or not at all."""
    write_text_atomic(folder / SNAPSHOT, json.dumps({"offset": offset, "state": state.model_dump(mode="json")}, ensure_ascii=False))


def load_state(folder: Path) -> RunState:
    """The state of a run: its snapshot, if it fits the journal, and what the journal says since.

    Raises:
        StateError: neither tells anything, or another version wrote them.
    """
    log = folder / journal.JOURNAL
    state, offset = _read_snapshot(folder, log)
    if state is None:
        state, offset = RunState(), 0
    fold((event for event in journal.read(log, offset) if event is not None), state)
    version = state.schema_version if state.run_id else _raw_version(log)
    if version not in SCHEMA_VERSIONS:
        raise SchemaError(f"Run {folder.name} was written by another version (layout {str(version)[:20]}).", "Read it with that version.")
    if not state.run_id:
        raise StateError(f"The run in {folder.name} has no readable journal.", f"Look into {folder}, or delete it.")
    return state


def load_events(folder: Path) -> list[AnyEvent]:
    """The readable events of a run."""
    return [event for event in journal.read(folder / journal.JOURNAL) if event is not None]


def unreadable_lines(folder: Path) -> int:
    """How many lines of a run's journal are no events of this version."""
    return sum(event is None for event in journal.read(folder / journal.JOURNAL))


def _raw_version(log: Path) -> object:
    """The layout that the first line of a journal names, also where it is no event of this version."""
    empty: dict[str, Any] = {}
    first = next(iter(read_lines(log)), empty)
    return first.get("schema_version", SCHEMA_VERSION)


def _read_snapshot(folder: Path, log: Path) -> tuple[RunState | None, int]:
    """The snapshot and its offset; (None, 0) where it is missing, broken, or ahead of the journal."""
    try:
        data = json.loads((folder / SNAPSHOT).read_bytes())
        version = data["state"]["schema_version"]
        offset = int(data["offset"])
        if version not in SCHEMA_VERSIONS:
            return None, 0
        if not _ends_a_line(log, offset):
            return None, 0
        return RunState.model_validate(data["state"]), offset
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None, 0


def _ends_a_line(log: Path, offset: int) -> bool:
    if offset <= 0:
        return offset == 0
    with log.open("rb") as file:
        file.seek(offset - 1)
        return file.read(1) == b"\n"


def summary(state: RunState) -> RunSummary:
    """One row of the list of runs."""
    return RunSummary(
        run_id=state.run_id,
        question=state.question,
        outcome=state.outcome or "",
        started=state.started_at,
        seconds=state.seconds,
        sources=len(state.sources),
        supported=state.claims.supported,
        claims=state.claims.total,
        session_id=state.session_id,
        style=state.style,
    )


def new_session() -> str:
    """Start a session: its file with the header line. Returns its id."""
    session_id = str(uuid.uuid4())
    path = session_path(session_id)
    append_line(path, {"v": 1, "type": "session", "session_id": session_id, "started_at": timestamp()})
    return session_id


def session_path(session_id: str) -> Path:
    """The file of a session.

    Raises:
        RunNotFoundError: the id is not a UUID.
    """
    try:
        canonical = str(uuid.UUID(session_id))
    except ValueError:
        raise RunNotFoundError(f"'{session_id[:40]}' is not a session id.", "'deepdelve --list-sessions' lists them.") from None
    return sessions_dir() / f"session_{canonical}.jsonl"


def add_turn(session_id: str, role: str, text: str, run_id: str) -> None:
    """Append one turn of a conversation to the session's file."""
    path = session_path(session_id)
    number = sum(1 for row in read_lines(path) if "role" in row) + 1
    append_line(path, {"n": number, "ts": timestamp(), "role": role, "text": text, "run_id": run_id})


def add_run_pointer(session_id: str, run_id: str) -> None:
    """Note in the session's file that a run belongs to it."""
    append_line(session_path(session_id), {"type": "run", "run_id": run_id})


def add_prompt(text: str, *, session_id: str, run_id: str, surface: str, kind: str, meta: dict[str, str]) -> None:
    """Append what a person typed to the prompt history."""
    # One moment for both: ids sort as the times beside them do.
    now = time.time()
    row = {"v": 1, "id": new_ulid(now), "ts": timestamp(now), "session_id": session_id, "run_id": run_id or None}
    append_line(home() / "history.jsonl", {**row, "surface": surface, "kind": kind, "text": text, "meta": meta})


def append_line(path: Path, row: dict[str, Any]) -> None:
    """Append one JSON object as one line with one write; where a kill has left half a line, it starts a new one.

    Raises:
        DiskError: it could not be written.
    """
    data = json.dumps(row, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        try:
            size = os.fstat(fd).st_size
            torn = size > 0 and (os.lseek(fd, size - 1, os.SEEK_SET), os.read(fd, 1))[1] != b"\n"
            os.write(fd, b"\n" + data if torn else data)
        finally:
            os.close(fd)
    except OSError as error:
        raise disk_error(error, path) from error


def read_lines(path: Path) -> Iterable[dict[str, Any]]:
    """The JSON objects of a file, line by line; lines that are none are left out."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                yield cast("dict[str, Any]", row)

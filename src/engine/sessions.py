"""Sessions as they are read: from their own file and, for what is missing there, from the journals of their runs."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from deepdelve.core import events as ev
from deepdelve.core.errors import DeepDelveError, RunNotFoundError
from deepdelve.core.requests import RunSummary, SessionSummary
from deepdelve.engine import run_index, store

Turn = dict[str, Any]
ROLES = frozenset({"user", "assistant"})
RECENT_RUNS = 2_000
_TITLE_CHARS = 200


def turns(session_id: str) -> list[Turn]:
    """The turns of a session, in order: ``role`` (user or assistant), ``text``, ``run_id``.

    Raises:
        RunNotFoundError: neither a file nor a run knows the session.
    """
    path = store.session_path(session_id)
    rows = list(store.read_lines(path))
    found = _turns(rows)
    runs = [*_pointers(rows), *(row.run_id for row in reversed(_runs_by_session().get(session_id, [])))]
    if not rows and not runs and not path.is_file():
        raise RunNotFoundError(f"There is no session {session_id[:40]}.", "'deepdelve --list-sessions' lists them.")
    told = {turn["run_id"] for turn in found}
    for run_id in dict.fromkeys(runs):
        if run_id not in told:
            found += _turns_of_run(run_id)
    return found


def list_sessions(limit: int = 200) -> list[SessionSummary]:
    """The sessions, newest first, titled by their first user turn; also those whose file is lost and whose runs are kept.

    Left out are those in which nothing came to pass, because every question was refused before there was a run.
    """
    by_session = _runs_by_session()
    folder = store.sessions_dir()
    files = {path.stem.removeprefix("session_"): path for path in folder.glob("session_*.jsonl")} if folder.is_dir() else {}
    found = [_summary(session_id, path, by_session.get(session_id, [])) for session_id, path in files.items()]
    found += [_summary(session_id, None, runs) for session_id, runs in by_session.items() if session_id not in files]
    found = [session for session in found if session.runs or session.turns]
    return sorted(found, key=lambda session: session.started, reverse=True)[:limit]


def _summary(session_id: str, path: Path | None, runs: list[RunSummary]) -> SessionSummary:
    rows = list(store.read_lines(path)) if path is not None else []
    known = _turns(rows)
    title = next((turn["text"] for turn in known if turn["role"] == "user"), runs[-1].question if runs else "")
    pointed = dict.fromkeys([*_pointers(rows), *(run.run_id for run in reversed(runs))])
    try:
        started = datetime.fromisoformat(str(rows[0].get("started_at", "")) if rows else "").timestamp()
    except ValueError:
        started = runs[-1].started if runs else path.stat().st_mtime if path is not None else 0.0
    return SessionSummary(session_id, started, title[:_TITLE_CHARS], tuple(pointed), len(known))


def _runs_by_session() -> dict[str, list[RunSummary]]:
    """The newest runs of each session, newest first."""
    found: dict[str, list[RunSummary]] = {}
    for row in run_index.list_runs(RECENT_RUNS):
        if row.session_id:
            found.setdefault(row.session_id, []).append(row)
    return found


def _turns(rows: Iterable[Mapping[str, Any]]) -> list[Turn]:
    return [
        dict(row) for row in rows if row.get("role") in ROLES and isinstance(row.get("text"), str) and isinstance(row.get("run_id"), str)
    ]


def _pointers(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    named = [row.get("run_id") for row in rows if row.get("type") == "run"]
    return [run_id for run_id in named if isinstance(run_id, str) and run_id]


def _turns_of_run(run_id: str) -> list[Turn]:
    """What the journal of a run knows of the conversation: its question, its report, and what was asked of it."""
    try:
        folder = store.find_run(run_id)
        events = store.load_events(folder)
    except DeepDelveError:
        return []
    made: list[Turn] = [_turn("user", event.question, run_id) for event in events if isinstance(event, ev.RunStarted)]
    report = folder / "final_report.md"
    if report.is_file():
        made.append(_turn("assistant", report.read_text("utf-8", "replace"), run_id))
    for event in events:
        if isinstance(event, ev.FollowUp):
            made += [_turn("user", event.question, run_id), _turn("assistant", event.answer, run_id)]
    return made


def _turn(role: str, text: str, run_id: str) -> Turn:
    return {"role": role, "text": text, "run_id": run_id}

"""A home with sessions, prompts and runs, written as the product writes them, and short ways to search it."""

import json
import uuid
from pathlib import Path
from typing import Any

from deepdelve.engine.history.index import HistoryIndex
from deepdelve.engine.history.records import HistoryResult
from deepdelve.engine.history.resolve import SearchRequest, resolve
from deepdelve.engine.history.search import run_search
from deepdelve.engine.history.sources import Roots


def sid(number: int) -> str:
    """A session id."""
    return str(uuid.UUID(int=number + (1 << 120)))


def stamp(seconds: float) -> str:
    """A time stamp that many seconds after the beginning of 2026."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    days, hours = divmod(hours, 24)
    return f"2026-01-{1 + days:02}T{hours:02}:{minutes:02}:{rest:06.3f}Z"


def dump(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


class Home:
    """Writes history below a folder."""

    def __init__(self, path: Path) -> None:
        self.roots = Roots(path)
        self.roots.sessions.mkdir(parents=True)
        self.clock = 0.0

    def prompt(self, text: str, session: int | None = 1, *, ts: str | None = "", run_id: str = "", **meta: str) -> None:
        """A line of the prompt history."""
        self.clock += 1
        row = {"v": 1, "id": "0", "ts": stamp(self.clock) if ts == "" else ts, "session_id": sid(session) if session is not None else ""}
        row |= {"run_id": run_id or None, "surface": "cli", "kind": "research", "text": text, "meta": meta}
        with self.roots.history.open("a", encoding="utf-8") as file:
            file.write(dump(row))

    def path(self, session: int) -> Path:
        return self.roots.sessions / f"session_{sid(session)}.jsonl"

    def session(self, number: int, *turns: str | tuple[str, str | None], header: str | None = None) -> Path:
        """A transcript; turns go user, assistant, user … A turn may bring its own time stamp."""
        path = self.path(number)
        rows = [{"v": 1, "type": "session", "session_id": header or sid(number), "started_at": stamp(self.clock)}]
        for place, turn in enumerate(turns, 1):
            self.clock += 1
            text, ts = turn if isinstance(turn, tuple) else (turn, stamp(self.clock))
            rows.append({"n": place, "ts": ts, "role": "user" if place % 2 else "assistant", "text": text, "run_id": ""})
        path.write_text("".join(map(dump, rows)), encoding="utf-8")
        return path

    def talk(self, number: int, question: str, answer: str) -> None:
        """A session with one question, in the prompt history too, and its answer."""
        self.session(number, question, answer)
        self.clock += 1
        self.prompt(question, number)

    def run(self, run_id: str, session: int, *, report: str = "", finding: str = "", page: str = "", model: str = "m") -> Path:
        """A run folder."""
        folder = self.roots.runs / run_id
        (folder / "sources").mkdir(parents=True)
        self.clock += 1
        source = {"id": "S1", "url": "https://a.example/page", "title": "A page", "file": "sources/S1.md", "fetched_at": stamp(self.clock)}
        claim = {"text": finding, "quote": page[:20], "start": 0, "end": min(20, len(page))}
        state = {"run_id": run_id, "session_id": sid(session), "model": model, "style": "standard", "depth": "quick"}
        state |= {"started_at": 1767225600.0 + self.clock, "seconds": 2.0, "schema_version": 1}
        state["findings"] = {"F1": {"id": "F1", "source_id": "S1", "facet": "facet", "claims": [claim]}} if finding else {}
        state["sources"] = {"S1": source} if page else {}
        (folder / "_run_state.json").write_text(json.dumps({"offset": 0, "state": state}, ensure_ascii=False), encoding="utf-8")
        if report:
            (folder / "final_report.md").write_text(report, encoding="utf-8")
        if page:
            (folder / "sources" / "S1.md").write_text(page, encoding="utf-8")
        return folder

    def point(self, session: int, run_id: str) -> None:
        """A pointer from a transcript to a run."""
        with self.path(session).open("a", encoding="utf-8") as file:
            file.write(dump({"type": "run", "run_id": run_id}))

    def search(self, terms: str, *, indexed: bool = False, control: Any = None, **options: Any) -> HistoryResult:
        """A search as the command line asks it."""
        query = resolve(SearchRequest(terms=terms, **options))
        return run_search(query, self.roots, control=control, index=HistoryIndex(self.roots.index) if indexed else None)

    def everything(self, terms: str, **options: Any) -> HistoryResult:
        """An exhaustive search over all kinds of the default."""
        return self.search(terms, exhaustive=True, scope="all", **options)

    def texts(self, terms: str, **options: Any) -> list[str]:
        return [record.text for record in self.everything(terms, **options).records]


def codes(result: HistoryResult) -> dict[str, int]:
    """The diagnostics by code."""
    return {note.code: note.count for note in result.summary.diagnostics}


def actions(result: HistoryResult) -> list[str]:
    return [action.action_id for action in result.summary.next_actions]

"""Which conversations a targeted search reads: chosen by matching prompts, resolved to one transcript each."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from deepdelve.engine.history.files import Notes, NotRegularError, blocks, row_of
from deepdelve.engine.history.records import Record, canonical_session
from deepdelve.engine.history.sources import Roots, Source, session_of

MAX_ENTRIES = 16_384
Resolution = Literal["resolved", "unresolved", "ambiguous", "budget_exhausted"]


@dataclass
class Candidates:
    """Conversations that matching prompts name, each with its newest such prompt."""

    newest: dict[str, int] = field(default_factory=dict[str, int])
    unroutable: int = 0

    def add(self, record: Record) -> None:
        """A prompt that is evidence."""
        if not record.session_id:
            self.unroutable += 1
            return
        when = -1 if record.ts_us is None else record.ts_us
        self.newest[record.session_id] = max(when, self.newest.get(record.session_id, when))

    def choose(self, limit: int) -> list[str]:
        """The conversations with the newest evidence, newest first."""
        return sorted(self.newest, key=lambda session: (self.newest[session], session), reverse=True)[:limit]


class Resolver:
    """Resolves session ids to transcripts; one walk of the folder serves all, within a limit of entries."""

    def __init__(self, roots: Roots, poll: Callable[[], None]) -> None:
        self._roots = roots
        self._poll = poll
        self._walked: dict[str, list[Path]] | None = None
        self._exhausted = False

    def resolve(self, session: str) -> tuple[Resolution, Source | None]:
        """The one transcript of a session: a regular file in the folder whose name and first line both name the session."""
        try:
            paths = self._paths(session)
            if len(paths) > 1:
                return "ambiguous", None
            if not paths:
                return ("budget_exhausted" if self._exhausted else "unresolved"), None
            if self._header(paths[0]) != session:
                return "unresolved", None
        except OSError:
            return "unresolved", None
        return "resolved", Source("transcript", session, str(paths[0]))

    def runs(self, session: str, run_ids: Iterable[str]) -> list[Source]:
        """The run folders that a transcript points to; reading one holds it against the session that its state names."""
        found = [Source("run", run_id, str(self._roots.runs / run_id), require=session) for run_id in dict.fromkeys(run_ids)]
        return [source for source in found if source.path.is_dir() and not source.path.is_symlink()]

    def _paths(self, session: str) -> list[Path]:
        usual = [self._roots.sessions / f"session_{name}.jsonl" for name in (session, session.upper(), session.replace("-", ""))]
        standing = [path for path in usual if path.is_symlink() or path.exists()]
        distinct = {path.lstat().st_ino: path for path in reversed(standing)}
        if standing:
            return list(distinct.values())
        return self._walk().get(session, [])

    def _walk(self) -> dict[str, list[Path]]:
        if self._walked is None:
            self._walked = {}
            try:
                for number, path in enumerate(self._roots.sessions.iterdir()):
                    if number >= MAX_ENTRIES:
                        self._exhausted = True
                        break
                    if number % 256 == 0:
                        self._poll()
                    if session := session_of(path.name):
                        self._walked.setdefault(session, []).append(path)
            except FileNotFoundError:
                return self._walked
        return self._walked

    def _header(self, path: Path) -> str:
        """The session that a transcript's first line names.

        Raises:
            OSError: it cannot be read.
        """
        if path.parent.resolve() != self._roots.sessions.resolve():
            raise NotRegularError("outside the folder")
        notes = Notes()
        for block in blocks(path, notes, self._poll):
            row = row_of(block.data[: block.data.find(b"\n") + 1 or None], notes)
            named = row is not None and row.get("type") == "session"
            return canonical_session(row.get("session_id")) if row is not None and named else ""
        return ""

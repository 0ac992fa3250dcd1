"""The ledger of bounded runs: each fact is committed as it happens, and a row is final once and for all. Blocking."""

import hashlib
import os
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from deepdelve.core.errors import RunNotFoundError
from deepdelve.engine.bounded.bounds import Bounds
from deepdelve.engine.bounded.database import Database
from deepdelve.engine.bounded.models import DeepResearchCall, DeepResearchQuery, DeepResearchRun, DeepResearchSource, Page
from deepdelve.engine.bounded.records import FetchedSource

INTERRUPTED = "interrupted (process restart)"


@dataclass(frozen=True)
class CallRow:
    """One model call. ``outcome`` is ``ok`` or names how it failed."""

    iteration: int
    phase: str
    tokens_in: int
    tokens_out: int
    ms: int
    estimated: bool
    outcome: str = "ok"


@dataclass(frozen=True)
class QueryRow:
    """One query and how SearXNG answered it; ``kind`` is the class of the answer."""

    iteration: int
    ordinal: int
    query: str
    kind: str
    hits: int
    detail: str = ""
    unresponsive: tuple[tuple[str, str], ...] = ()


class Ledger:
    """Runs, their queries, sources and calls."""

    def __init__(self, database: Database) -> None:
        self.database = database

    # Writing

    def insert(self, run_id: str, vault_id: str, topic: str, bounds: Bounds, frozen: Mapping[str, Any]) -> None:
        """Enter a run with its frozen bounds; this process owns it."""
        with self.database.transaction() as session:
            session.add(
                DeepResearchRun(
                    id=run_id,
                    vault_id=vault_id,
                    topic=topic,
                    max_iter=bounds.max_iter,
                    token_budget=bounds.token_budget,
                    frozen_json={**bounds.to_dict(), **frozen},
                    started_at=now(),
                    owner_pid=os.getpid(),
                    owner_start=process_start(os.getpid()),
                )
            )

    def update(self, run_id: str, **values: Any) -> None:
        """Change a run that goes on; one that is over stays as it is."""
        with self.database.transaction() as session:
            going = (DeepResearchRun.id == run_id) & (DeepResearchRun.status == "running")
            session.execute(sa.update(DeepResearchRun).where(going).values(**values))

    def finish(self, run_id: str, status: str, **values: Any) -> bool:
        """Make a run final. Returns whether it was not final before."""
        with self.database.transaction() as session:
            going = (DeepResearchRun.id == run_id) & (DeepResearchRun.status == "running")
            final = {"status": status, "converged": status == "converged", "completed_at": now(), "phase": "done", **values}
            return session.execute(sa.update(DeepResearchRun).where(going).values(**final)).rowcount > 0  # type: ignore[attr-defined]  # an update's result has it

    def note_ingest(self, run_id: str, page_id: str | None, status: str, stop_detail: str | None) -> None:
        """What a later ingest of a finished run came to."""
        with self.database.transaction() as session:
            values = {"synthesis_page_id": page_id, "ingest_status": status, "stop_detail": stop_detail}
            session.execute(sa.update(DeepResearchRun).where(DeepResearchRun.id == run_id).values(**values))

    def add_query(self, run_id: str, row: QueryRow) -> None:
        """Enter one query."""
        with self.database.transaction() as session:
            session.add(
                DeepResearchQuery(
                    run_id=run_id,
                    iteration=row.iteration,
                    ordinal=row.ordinal,
                    query=row.query,
                    kind=row.kind,
                    hits=row.hits,
                    detail=row.detail,
                    unresponsive_json=[list(engine) for engine in row.unresponsive],
                )
            )

    def add_source(self, run_id: str, source: FetchedSource) -> None:
        """Enter one fetched address; text of one that cannot be used is not kept."""
        with self.database.transaction() as session:
            session.add(
                DeepResearchSource(
                    id=str(uuid.uuid4()),
                    run_id=run_id,
                    ordinal=source.ordinal,
                    url=source.url,
                    canonical_url=source.canonical_url,
                    title=source.title or None,
                    fetched_content_md=source.text if source.usable else None,
                    iteration=source.iteration,
                    created_at=now(),
                    http_status=source.http_status or None,
                    outcome=source.outcome,
                    content_sha256=source.sha256 or None,
                )
            )

    def score_sources(self, run_id: str, scores: Mapping[str, float], cited: Sequence[str]) -> None:
        """How well each source fits the topic, by canonical address, and which the note cites."""
        with self.database.transaction() as session:
            for url, score in scores.items():
                own = (DeepResearchSource.run_id == run_id) & (DeepResearchSource.canonical_url == url)
                session.execute(sa.update(DeepResearchSource).where(own).values(relevance_score=round(score, 4), cited=url in cited))

    def add_call(self, run_id: str, row: CallRow) -> None:
        """Enter one model call."""
        with self.database.transaction() as session:
            session.add(DeepResearchCall(run_id=run_id, **vars(row)))

    def sweep(self) -> list[str]:
        """Make runs final whose process is gone. Returns their ids."""
        with self.database.transaction() as session:
            rows = session.scalars(sa.select(DeepResearchRun).where(DeepResearchRun.status == "running")).all()
            gone = [row.id for row in rows if not _alive(row.owner_pid, row.owner_start)]
        return [run_id for run_id in gone if self.finish(run_id, "error", error_message=INTERRUPTED, stop_detail="interrupted")]

    # Reading

    def get(self, run_id: str) -> DeepResearchRun:
        """One run.

        Raises:
            RunNotFoundError: there is none of that id.
        """
        with self.database.transaction() as session:
            row = session.get(DeepResearchRun, run_id)
        if row is None:
            raise RunNotFoundError(f"There is no vault run {run_id[:40]}.", "List the runs of a vault: deepdelve vault runs")
        return row

    def find(self, run_id: str) -> DeepResearchRun | None:
        """One run, or None."""
        with self.database.transaction() as session:
            return session.get(DeepResearchRun, run_id)

    def resolve(self, name: str) -> str:
        """The id of a run, from its id, an unambiguous beginning, or ``latest``.

        Raises:
            RunNotFoundError: there is none, or more than one.
        """
        with self.database.transaction() as session:
            newest = sa.select(DeepResearchRun.id).order_by(DeepResearchRun.started_at.desc(), DeepResearchRun.id.desc())
            begins = sa.true() if name == "latest" else DeepResearchRun.id.startswith(name, autoescape=True)
            found = session.scalars(newest.where(begins).limit(1 if name == "latest" else 2)).all()
        if len(found) != 1:
            what = "More than one vault run begins with" if found else "There is no vault run"
            raise RunNotFoundError(f"{what} {name[:40]}.", "They are listed by: deepdelve vault runs")
        return found[0]

    def page_path(self, page_id: str | None) -> str:
        """Where a page stands in its vault; empty where there is none."""
        with self.database.transaction() as session:
            page = session.get(Page, page_id) if page_id else None
            return page.path if page is not None else ""

    def runs(self, vault_id: str = "", limit: int = 20, offset: int = 0) -> tuple[list[DeepResearchRun], int]:
        """A page of runs, newest first, and how many there are."""
        with self.database.transaction() as session:
            wanted = DeepResearchRun.vault_id == vault_id if vault_id else sa.true()
            newest = (DeepResearchRun.started_at.desc(), DeepResearchRun.id.desc())
            rows = session.scalars(sa.select(DeepResearchRun).where(wanted).order_by(*newest).limit(limit).offset(offset)).all()
            total = session.scalar(sa.select(sa.func.count()).select_from(DeepResearchRun).where(wanted)) or 0
        return list(rows), total

    def sources(self, run_id: str) -> list[DeepResearchSource]:
        """The sources of a run in the order of their numbers."""
        with self.database.transaction() as session:
            own = sa.select(DeepResearchSource).where(DeepResearchSource.run_id == run_id).order_by(DeepResearchSource.ordinal)
            return list(session.scalars(own).all())

    def queries(self, run_id: str) -> list[DeepResearchQuery]:
        """The queries of a run in order."""
        with self.database.transaction() as session:
            own = sa.select(DeepResearchQuery).where(DeepResearchQuery.run_id == run_id)
            return list(session.scalars(own.order_by(DeepResearchQuery.iteration, DeepResearchQuery.ordinal)).all())

    def calls(self, run_id: str) -> list[DeepResearchCall]:
        """The model calls of a run in order."""
        with self.database.transaction() as session:
            own = sa.select(DeepResearchCall).where(DeepResearchCall.run_id == run_id).order_by(DeepResearchCall.id)
            return list(session.scalars(own).all())


def now() -> str:
    """The time, as the ledger keeps it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def sha256(text: str) -> str:
    """The hash by which a text is known."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def process_start(pid: int) -> str:
    """When a process began, in the system's own ticks: a number given again has another. Empty where it is over or untold."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    # The name in parentheses may hold anything, also spaces and parentheses.
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in {"Z", "X"} else fields[19]


def _alive(pid: int | None, start: str | None) -> bool:
    if not pid:
        return False
    if start:
        return process_start(pid) == start
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True

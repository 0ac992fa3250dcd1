"""Bounded runs as surfaces see them: start, queue, follow, cancel, list, ingest again. One run goes on at a time, the rest wait."""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from deepdelve.config import Settings
from deepdelve.core.errors import ConfigError, StateError, UsageError
from deepdelve.engine.bounded import views
from deepdelve.engine.bounded.bounds import MAX_QUERIES_ASKED, checked_topic, frozen_bounds, searxng_url
from deepdelve.engine.bounded.database import Database, database_url, open_database
from deepdelve.engine.bounded.deep_research import run_deep_research
from deepdelve.engine.bounded.ledger import Ledger
from deepdelve.engine.bounded.models import DeepResearchRun
from deepdelve.engine.bounded.opening import NO_SEARXNG, NO_SEARXNG_REMEDY, frozen_facts, open_services
from deepdelve.engine.bounded.records import DeepResearchResult, FetchedSource
from deepdelve.engine.bounded.work import Services, events_file, told
from deepdelve.engine.store import read_lines
from deepdelve.engine.vault.layout import Vault, vault_of
from deepdelve.engine.vault.seam import IngestResult, IngestSeam
from deepdelve.tools.searxng import base_address

Listener = Callable[[dict[str, Any]], None]
_LOOK_AGAIN = 0.2
_QUIET = "This run has nothing to ingest: "


class Open(Protocol):
    """Opens what one run works with; replaced in tests."""

    async def __call__(self, settings: Settings, vault: Vault, database: Database, listener: Listener | None) -> Services:
        """Open."""
        ...


class VaultService:
    """All bounded runs of this process.

    Args:
        settings: the settings in force.
        database: the ledger; belongs to the service.
        open_: opens what a run works with.
    """

    def __init__(self, settings: Settings, database: Database, open_: Open = open_services) -> None:
        self.settings = settings
        self.database = database
        self.ledger = Ledger(database)
        self._open = open_
        self._turn = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[DeepResearchResult]] = {}

    async def start(
        self,
        topic: str,
        *,
        vault: Vault | None = None,
        max_iter: int | None = None,
        token_budget: int | None = None,
        queries: Sequence[str] = (),
        listener: Listener | None = None,
    ) -> str:
        """Enter a run in the ledger and let it begin when its turn comes. Returns its id.

        Raises:
            UsageError: topic, bounds or the number of queries cannot be accepted; there is no row.
            ConfigError: no SearXNG is set, or its address is none; there is no row.
            DiskError: the vault cannot be written; there is no row.
        """
        asked = checked_topic(topic)
        if len(queries) > MAX_QUERIES_ASKED:
            raise UsageError(f"There are {len(queries)} queries.", f"Give at most {MAX_QUERIES_ASKED}.")
        bounds = frozen_bounds(self.settings, max_iter, token_budget)
        address = searxng_url(self.settings)
        if not address:
            raise ConfigError(NO_SEARXNG, NO_SEARXNG_REMEDY)
        base_address(address)
        chosen = vault or vault_of(self.settings)
        await asyncio.to_thread(chosen.check_writable)
        run_id = str(uuid.uuid4())
        frozen = frozen_facts(self.settings, chosen, "")
        await asyncio.to_thread(self.ledger.insert, run_id, chosen.id, asked, bounds, frozen)
        task = asyncio.get_running_loop().create_task(self._whole(run_id, chosen, asked, list(queries), listener), name=f"vault {run_id}")
        # Kept until it is over: a task that nobody holds may vanish.
        self._tasks[run_id] = task
        task.add_done_callback(lambda done: self._ended(run_id, done))
        return run_id

    async def wait(self, run_id: str) -> DeepResearchResult:
        """The end of a run that this process goes through. Cancelling this does not stop the run.

        Raises:
            StateError: this process does not go through it.
        """
        task = self._tasks.get(run_id)
        if task is None:
            raise StateError(f"Run {run_id} does not go on in this process.", "See its row: deepdelve vault runs")
        return await asyncio.shield(task)

    async def settled(self, run_id: str) -> None:
        """Wait until a run that this process goes through is over, however it ends."""
        task = self._tasks.get(run_id)
        if task is not None:
            await asyncio.wait([task])

    def resolve(self, name: str) -> str:
        """The id of a run, from its id, an unambiguous beginning, or ``latest``. Blocking.

        Raises:
            RunNotFoundError: there is none, or more than one.
        """
        return self.ledger.resolve(name)

    def page_of_runs(self, vault_id: str, limit: int, offset: int) -> dict[str, Any]:
        """One page of the list of runs, newest first. Blocking."""
        rows, total = self.ledger.runs(vault_id, limit, offset)
        return {"items": [views.summary(row) for row in rows], "total": total, "limit": limit, "offset": offset}

    def detail(self, run_id: str, *, include_content: bool) -> dict[str, Any]:
        """One run with its queries, calls and sources. Blocking.

        Raises:
            RunNotFoundError: there is none of that id.
        """
        row = self.ledger.get(run_id)
        return {
            **views.whole(row, self.ledger.page_path(row.synthesis_page_id)),
            "queries": [views.query(query) for query in self.ledger.queries(run_id)],
            "sources": [views.source(source, include_content) for source in self.ledger.sources(run_id)],
        }

    async def cancel(self, run_id: str) -> bool:
        """Stop a run. Returns False where it is over already, or goes on in another process.

        Raises:
            RunNotFoundError: there is none of that id.
        """
        await asyncio.to_thread(self.ledger.get, run_id)
        task = self._tasks.get(run_id)
        if task is None or task.done():
            return False
        task.cancel("cancelled by a person")
        await asyncio.wait([task])
        return True

    async def ingest(self, run_id: str) -> IngestResult:
        """Send the note of a finished run through the seam again.

        Raises:
            RunNotFoundError: there is none of that id.
            UsageError: there is nothing to ingest, or the run goes on.
        """
        row = await asyncio.to_thread(self.ledger.get, run_id)
        if row.status == "running":
            raise UsageError("This run goes on.", "Wait for its end.")
        if row.stop_detail == "synthesis_invalid" or not row.synthesis_text:
            raise UsageError(_QUIET + (row.stop_detail or "no note").replace("_", " ") + ".", "Start another run.")
        vault = Vault(row.vault_id, Path(str(row.frozen_json["vault_dir"])))
        path = vault.root / "raw" / "sources" / f"deep-research-{run_id}.md"
        if not path.is_file():
            await asyncio.to_thread(self._write_again, vault, row)
        result = await asyncio.to_thread(IngestSeam(vault, self.database).ingest_file, path)
        told = result.status if not result.reason else f"{result.status}: {result.reason}"
        detail = None if row.stop_detail == "ingest_failed" else row.stop_detail
        await asyncio.to_thread(self.ledger.note_ingest, run_id, result.page_id, told, detail)
        return result

    async def follow(self, run_id: str) -> AsyncIterator[dict[str, Any]]:
        """The events of a run from its first, until it is over; also of one that goes on in another process.

        Raises:
            RunNotFoundError: there is none of that id.
        """
        row = await asyncio.to_thread(self.ledger.get, run_id)
        told = 0
        over = False
        while not over:
            over = row.status != "running"
            events = await asyncio.to_thread(read_events, run_id)
            for event in events[told:]:
                yield event
            told = len(events)
            if not over:
                await asyncio.sleep(_LOOK_AGAIN)
                row = await asyncio.to_thread(self.ledger.get, run_id)

    async def close(self) -> None:
        """Cancel what goes on, and close the ledger."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel("the service closes")
        if tasks:
            await asyncio.wait(tasks)
        await asyncio.to_thread(self.database.close)

    async def _whole(self, run_id: str, vault: Vault, topic: str, queries: list[str], listener: Listener | None) -> DeepResearchResult:
        try:
            async with self._turn:
                services = await self._open(self.settings, vault, self.database, listener)
                try:
                    return await run_deep_research(vault_id=vault.id, topic=topic, run_id=run_id, seed_queries=queries, services=services)
                finally:
                    await services.close()
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(self.ledger.finish, run_id, "cancelled"))
            raise
        except Exception as error:
            await asyncio.to_thread(self.ledger.finish, run_id, "error", error_message=told(error))
            raise

    def _ended(self, run_id: str, task: asyncio.Task[DeepResearchResult]) -> None:
        self._tasks.pop(run_id, None)
        if not task.cancelled():
            # Looked at, so that the loop does not complain: the row says how it went.
            task.exception()

    def _write_again(self, vault: Vault, row: DeepResearchRun) -> None:
        from deepdelve.engine.bounded.gate import check_synthesis
        from deepdelve.engine.vault.sources import research_source

        sources = usable_sources(self.ledger, row.id)
        result = check_synthesis(row.synthesis_text or "", row.topic, sources)
        vault.write_raw(research_source(row.id, row.topic, row.status, result, sources))


def open_service(settings: Settings, open_: Open = open_services) -> VaultService:
    """The service, with runs of processes that are gone made final and broken-off changes of vaults finished. Blocking.

    Raises:
        ConfigError: the address of the database is none.
        DiskError: the ledger cannot be written.
    """
    database = open_database(database_url(settings))
    service = VaultService(settings, database, open_)
    service.ledger.sweep()
    with contextlib.suppress(UsageError):
        IngestSeam(vault_of(settings), database).recover()
    return service


def read_events(run_id: str) -> list[dict[str, Any]]:
    """The events of a run so far. Blocking."""
    return list(read_lines(events_file(run_id)))


def usable_sources(ledger: Ledger, run_id: str) -> list[FetchedSource]:
    """The sources of a run that may be cited, as the ledger keeps them. Blocking."""
    return [
        FetchedSource(
            ordinal=row.ordinal,
            url=row.url,
            canonical_url=row.canonical_url,
            title=row.title or "",
            text=row.fetched_content_md,
            iteration=row.iteration,
            sha256=row.content_sha256 or "",
        )
        for row in ledger.sources(run_id)
        if row.fetched_content_md
    ]

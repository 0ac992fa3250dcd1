"""What one bounded run works with and has gathered; each fact goes to the ledger and to whoever follows, as it happens."""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from deepdelve.config import Settings
from deepdelve.core.errors import DeepDelveError
from deepdelve.core.records import Hit
from deepdelve.engine.bounded.bounds import Bounds
from deepdelve.engine.bounded.ledger import CallRow, Ledger, QueryRow, now
from deepdelve.engine.bounded.provider import InferenceProvider, OpenProvider, UsageAccumulator
from deepdelve.engine.bounded.records import UNAVAILABLE, FetchedSource, Phase, Status, StopDetail
from deepdelve.engine.store import append_line, vault_runs_dir
from deepdelve.engine.vault.layout import Vault
from deepdelve.engine.vault.seam import IngestSeam
from deepdelve.tools.searxng import SearxngClient
from deepdelve.tools.web.base import Fetcher
from deepdelve.utils.urls import canonical
from deepdelve.utils.words import one_line

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")


async def nothing_before(topic: str) -> tuple[str, ...]:
    """There are no earlier runs."""
    del topic
    return ()


@dataclass(frozen=True)
class Services:
    """Everything that a run needs from outside."""

    ledger: Ledger
    vault: Vault
    seam: IngestSeam
    model: OpenProvider
    searxng: SearxngClient
    fetcher: Fetcher
    settings: Settings
    blocked_domains: frozenset[str] = frozenset()
    listener: Callable[[dict[str, Any]], None] | None = None
    earlier: Callable[[str], Awaitable[tuple[str, ...]]] = nothing_before

    async def close(self) -> None:
        """Let go of model, search and pages; the ledger belongs to who opened it."""
        await self.model.close()
        await self.searxng.close()
        await self.fetcher.close()


@dataclass
class Work:
    """One run while it goes on."""

    run_id: str
    topic: str
    bounds: Bounds
    services: Services
    iteration: int = 0
    rounds_completed: int = 0
    stalled_rounds: int = 0
    status: Status = "running"
    stop_detail: StopDetail | None = None
    queries_used: list[str] = field(default_factory=list[str])
    classes: list[str] = field(default_factory=list[str])
    collected: list[FetchedSource] = field(default_factory=list[FetchedSource])
    registry: set[str] = field(default_factory=set[str])
    outages: dict[str, str] = field(default_factory=dict[str, str])
    synthesis: str = ""
    page_id: str | None = None
    page_path: str = ""
    ingest_status: str | None = None
    events: int = 0

    def __post_init__(self) -> None:
        self.nonce = secrets.token_hex(4)
        self.accumulator = UsageAccumulator(self.services.model.price)
        self.provider.bind_accumulator(self.accumulator)
        self.deadline = time.monotonic() + self.bounds.deadline_s

    @property
    def provider(self) -> InferenceProvider:
        """Who answers."""
        return self.services.model.provider

    @property
    def usable(self) -> list[FetchedSource]:
        """The sources that may be cited, in the order of their numbers."""
        return sorted((source for source in self.collected if source.usable), key=lambda source: source.ordinal)

    async def write(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """A function of the ledger or the vault, off the event loop."""
        return await asyncio.to_thread(function, *args, **kwargs)

    async def enter(self, phase: Phase) -> None:
        """Begin a phase."""
        await self.write(self.services.ledger.update, self.run_id, phase=phase, iterations_used=self.iteration, **self.counts())
        self.tell("phase", phase=phase)

    async def begin_round(self, iteration: int) -> None:
        """Begin a round; it counts as used even where the budget ends it."""
        self.iteration = iteration
        await self.write(self.services.ledger.update, self.run_id, iterations_used=iteration, **self.counts())
        self.tell("round")

    async def end_round(self, fetched: list[FetchedSource]) -> None:
        """A round is complete once it was assessed."""
        self.rounds_completed += 1
        self.stalled_rounds += not any(source.usable for source in fetched)
        await self.write(self.services.ledger.update, self.run_id, **self.counts())

    async def asked(self, row: QueryRow) -> None:
        """A query was answered."""
        self.classes.append(row.kind)
        self.outages |= dict(row.unresponsive)
        await self.write(self.services.ledger.add_query, self.run_id, row)
        self.tell("query", query=row.query, kind=row.kind, hits=row.hits, detail=row.detail)

    async def use(self, queries: list[str]) -> None:
        """These queries are searched next."""
        self.queries_used += queries
        await self.write(self.services.ledger.update, self.run_id, queries_used=list(self.queries_used))

    def claim(self, hits: list[Hit]) -> list[tuple[int, Hit]]:
        """Those hits that are fetched in this round, numbered; no address is fetched twice in a run."""
        fresh: list[tuple[int, Hit]] = []
        room = min(self.bounds.max_fetch_per_iter, self.bounds.max_sources - len(self.registry))
        for hit in hits:
            url = canonical(hit.url)
            if url in self.registry:
                log.info("vault run %s: %s was fetched before and is not fetched again", self.run_id, url[:300])
            elif len(fresh) < room:
                self.registry.add(url)
                fresh.append((len(self.registry), hit))
        return fresh

    async def collect(self, source: FetchedSource) -> None:
        """An address was fetched, or could not be."""
        self.collected.append(source)
        await self.write(self.services.ledger.add_source, self.run_id, source)
        self.tell("source", n=source.ordinal, url=source.url, title=source.title, outcome=source.outcome)

    async def called(self, row: CallRow) -> None:
        """A model call ended."""
        await self.write(self.services.ledger.add_call, self.run_id, row)

    def counts(self) -> dict[str, Any]:
        """The figures of the run's row."""
        account = self.accumulator
        return {
            "sources_fetched": len(self.collected),
            "sources_usable": len(self.usable),
            "rounds_completed": self.rounds_completed,
            "stalled_rounds": self.stalled_rounds,
            "tokens_in": account.tokens_in,
            "tokens_out": account.tokens_out,
            "usage_estimated": account.estimated,
            "total_cost_usd": round(account.total_cost_usd, 4),
        }

    def searched_in_vain(self) -> bool:
        """Whether no query of the run was answered at all."""
        return bool(self.classes) and all(kind in UNAVAILABLE for kind in self.classes)

    def tell(self, type_: str, **facts: Any) -> None:
        """Append an event to the run's own file, and hand it to who listens."""
        self.events += 1
        event = {
            "seq": self.events,
            "ts": now(),
            "type": type_,
            "run_id": self.run_id,
            "iteration": self.iteration,
            "max_iter": self.bounds.max_iter,
            "tokens": self.accumulator.total_tokens,
            "token_budget": self.bounds.token_budget,
            "sources": len(self.usable),
            "engines_down": sorted(self.outages),
            **facts,
        }
        append_line(events_file(self.run_id), json.loads(json.dumps(event, default=str)))
        if self.services.listener is not None:
            self.services.listener(event)


async def together(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of all, in order. Where one fails, the others are stopped before its error goes on."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def told(error: BaseException) -> str:
    """An error as one line for a row of the ledger."""
    return error.line() if isinstance(error, DeepDelveError) else f"{type(error).__name__}: {one_line(str(error), 300)}"


def run_folder(run_id: str) -> Path:
    """Where a bounded run keeps its events."""
    return vault_runs_dir() / run_id


def events_file(run_id: str) -> Path:
    """The events of a run, one JSON object a line."""
    return run_folder(run_id) / "events.jsonl"

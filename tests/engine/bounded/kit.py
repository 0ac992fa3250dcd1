"""A bounded run in one process: a scripted model, a scripted SearXNG, pages from a table, a ledger and a vault in the test's own folder."""

import asyncio
import contextlib
import functools
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deepdelve.config import Price, Settings, home
from deepdelve.core.errors import FetchError
from deepdelve.core.records import Hit, Usage
from deepdelve.engine.bounded.bounds import frozen_bounds
from deepdelve.engine.bounded.database import open_database
from deepdelve.engine.bounded.deep_research import run_deep_research
from deepdelve.engine.bounded.ledger import Ledger
from deepdelve.engine.bounded.provider import OpenProvider, UsageAccumulator
from deepdelve.engine.bounded.records import DeepResearchResult
from deepdelve.engine.bounded.work import Services
from deepdelve.engine.vault.layout import Vault, vault_of
from deepdelve.engine.vault.seam import IngestSeam
from deepdelve.tools.searxng import SearxngReply
from deepdelve.tools.web.base import Page

UNDER_TEST = "VAULT_DATABASE_UNDER_TEST"
TOPIC = "How high are the tides of the northern bay?"
FACT = "The difference between high and low water in the northern bay is 4.2 metres on average."
SECOND = "The harbour office of the northern bay has measured the water level every hour since 1931."
NOTE = f"# Tides\n\n{FACT} [1] {SECOND} [2]\n"
Reply = str | Callable[[Any, Any], str]


class ScriptedModel:
    """Answers each task with the next of its replies, the last one again and again; a callable is given messages and context."""

    def __init__(
        self, *, usage: tuple[int, int] | None = (100, 20), pause: Callable[[str], Any] | None = None, **replies: Reply | Sequence[Reply]
    ) -> None:
        self.replies: dict[str, list[Reply]] = {
            "queries": ["northern bay tides\nbay water level"],
            "assess": ["SUFFICIENT"],
            "synthesize": [NOTE],
            **{task: [reply] if isinstance(reply, str) or callable(reply) else list(reply) for task, reply in replies.items()},
        }
        self.usage = usage
        self.pause = pause
        self.calls: list[tuple[str, Any, Any]] = []
        self.accumulator = UsageAccumulator()

    def bind_accumulator(self, accumulator: UsageAccumulator) -> None:
        self.accumulator = accumulator

    @property
    def tasks(self) -> list[str]:
        return [task for task, _, _ in self.calls]

    async def chat(self, messages: Any, retrieval_context: Any) -> AsyncIterator[str]:
        task = retrieval_context.task
        asked = sum(known == task for known in self.tasks)
        self.calls.append((task, messages, retrieval_context))
        if self.pause is not None:
            await self.pause(task)
        replies = self.replies[task]
        reply = replies[min(asked, len(replies) - 1)]
        if self.usage is not None:
            self.accumulator.record(Usage(tokens_in=self.usage[0], tokens_out=self.usage[1]))
        text = reply if isinstance(reply, str) else reply(messages, retrieval_context)
        for at in range(0, max(1, len(text)), 500):
            yield text[at : at + 500]


@dataclass
class ScriptedSearxng:
    """Gives the hits of a query, or the same reply to all."""

    hits: Callable[[str], Sequence[str]] = lambda query: ("https://tides.example/bay", "https://harbour.example/levels")
    reply: SearxngReply | None = None
    asked: list[str] = field(default_factory=list)
    gauge: "Gauge | None" = None
    pause: Callable[[str], Any] | None = None

    async def search(self, query: str) -> SearxngReply:
        self.asked.append(query)
        with self.gauge or contextlib.nullcontext():
            await (self.pause("search") if self.pause else asyncio.sleep(0.001 if self.gauge else 0))
        if self.reply is not None:
            return self.reply
        found = tuple(Hit(url=url, title=f"Title of {url}", snippet="", rank=rank) for rank, url in enumerate(self.hits(query), 1))
        return SearxngReply("ok" if found else "empty", found)

    async def close(self) -> None:
        pass


@dataclass
class ScriptedFetcher:
    """Pages by address; an address that is not there cannot be reached."""

    pages: dict[str, str] = field(
        default_factory=lambda: {
            "https://tides.example/bay": f"# Tides\n\n{FACT}",
            "https://harbour.example/levels": f"# Levels\n\n{SECOND}",
        }
    )
    any_page: str = ""
    fetched: list[str] = field(default_factory=list)
    gauge: "Gauge | None" = None
    pause: Callable[[str], Any] | None = None

    async def fetch(self, url: str) -> Page:
        self.fetched.append(url)
        with self.gauge or contextlib.nullcontext():
            await (self.pause("fetch") if self.pause else asyncio.sleep(0.001 if self.gauge else 0))
        text = self.pages.get(url, self.any_page and f"{self.any_page} See {url}")
        if not text:
            raise FetchError("The page cannot be reached.", "Take another.", cause="unreachable")
        return Page(url=url, final_url=url, text=text, title=f"Title of {url}", fetched_at="2026-01-02T03:04:05+00:00")

    async def close(self) -> None:
        pass


@dataclass
class Gauge:
    """How many are inside at once, and how many there were at most."""

    now: int = 0
    most: int = 0

    def __enter__(self) -> None:
        self.now += 1
        self.most = max(self.most, self.now)

    def __exit__(self, *error: object) -> None:
        self.now -= 1


class Bench:
    """Everything for runs against one ledger and one vault."""

    def __init__(self, url: str = "", **parts: Any) -> None:
        self.settings: Settings = parts.pop("settings", None) or Settings()
        self.vault: Vault = parts.pop("vault", None) or vault_of(self.settings)
        self.database = open_database(url or database_address())
        self.ledger = Ledger(self.database)
        self.seam = parts.pop("seam", None) or IngestSeam(self.vault, self.database)
        self.model: ScriptedModel = parts.pop("model", None) or ScriptedModel()
        self.searxng = parts.pop("searxng", None) or ScriptedSearxng()
        self.fetcher = parts.pop("fetcher", None) or ScriptedFetcher()
        self.price: Price = parts.pop("price", None) or Price()
        self.events: list[dict[str, Any]] = []
        assert not parts

    def services(self) -> Services:
        return Services(
            ledger=self.ledger,
            vault=self.vault,
            seam=self.seam,
            model=OpenProvider(self.model, "scripted-1", "here", self.price, "A scripted model.", _nothing),
            searxng=self.searxng,
            fetcher=self.fetcher,
            settings=self.settings,
            listener=self.events.append,
        )

    async def run(self, topic: str = TOPIC, **wanted: Any) -> DeepResearchResult:
        return await asyncio.wait_for(
            run_deep_research(**{"vault_id": self.vault.id, "topic": topic, "services": self.services(), **wanted}), 30
        )

    def enter(self, run_id: str, topic: str = TOPIC, **bounds: Any) -> None:
        self.ledger.insert(run_id, self.vault.id, topic, frozen_bounds(self.settings, **bounds), {"vault_dir": str(self.vault.root)})

    def phases(self) -> list[str]:
        return [event["phase"] for event in self.events if event["type"] == "phase"]

    def pages(self) -> list[Path]:
        return sorted((self.vault.wiki / "synthesis").glob("*.md"))

    def close(self) -> None:
        self.database.close()


def database_address() -> str:
    """The ledger of this test: that of ``DATABASE_UNDER_TEST``, emptied, or a file of its own whose tables are there already."""
    given = os.environ.get(UNDER_TEST, "")
    if given:
        return given
    file = home() / "vault.db"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_migrated())
    return f"sqlite:///{file}"


@functools.cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "vault.db")
        open_database(f"sqlite:///{file}").close()
        return file.read_bytes()


async def _nothing() -> None:
    pass


@contextlib.contextmanager
def bench(**parts: Any) -> Iterator[Bench]:
    made = Bench(**parts)
    try:
        yield made
    finally:
        made.close()


def many(number: int, per_query: int = 10) -> Callable[[str], list[str]]:
    """Hits that are new for every query: so many pages in all, by the words of the query."""

    def hits(query: str) -> list[str]:
        start = abs(hash(query)) % number
        return [f"https://site{(start + place) % number}.example/page" for place in range(per_query)]

    return hits

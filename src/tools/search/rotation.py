"""Several engines as one: who is asked, who is left alone, and what came of it all."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from deepdelve.core.records import Hit
from deepdelve.tools.search.base import SearchBackend, SearchQuery, SearchResponse
from deepdelve.tools.search.health import EngineStatus, Health
from deepdelve.tools.search.merge import merge

# A wait that is shorter is waited for; at a longer one the next engine is taken.
PATIENCE = 5.0
_PROFILES = frozenset({"web", "academic"})


@dataclass(frozen=True)
class Engine:
    """An engine and its place: for which profiles it is asked, and seconds between requests that its operator asks for."""

    backend: SearchBackend
    profiles: frozenset[str] = _PROFILES
    interval: float = 0.0


class Searcher:
    """A search backend made of others; shared by all runs of a process.

    Args:
        engines: in order of preference. A profile that none serves is served by all.
        at_once: by profile, how many engines are asked side by side and merged. The next ones are asked only while there
            are no hits.
        blocked_domains: sites whose pages are left out.
        clock: monotonic seconds; sleep: waits that many seconds (both replaced in tests).
    """

    def __init__(
        self,
        engines: Sequence[Engine],
        *,
        at_once: Mapping[str, int] | None = None,
        blocked_domains: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = "+".join(dict.fromkeys(engine.backend.name for engine in engines))
        self._engines = list(engines)
        self._at_once = dict(at_once or {})
        self._blocked = tuple(blocked_domains)
        self._health = Health({engine.backend.name: engine.interval for engine in engines}, clock)
        self._sleep = sleep

    async def search(self, query: SearchQuery) -> SearchResponse:
        """Ask as many engines as it takes to have hits; say of each that failed how it failed."""
        chosen = self._for_profile(query.profile)
        size = max(1, self._at_once.get(query.profile, 1))
        answers: dict[str, SearchResponse] = {}
        hits: tuple[Hit, ...] = ()
        for first in range(0, len(chosen), size):
            batch = chosen[first : first + size]
            got = await asyncio.gather(*(self._ask(engine, query, alone=len(chosen) == 1) for engine in batch))
            answers |= {engine.backend.name: response for engine, response in zip(batch, got, strict=True)}
            lists = [response.hits for response in answers.values()]
            hits = merge(lists, limit=query.limit, blocked=self._blocked, exclude=query.exclude)
            if hits:
                break
        return replace(_summary(hits, answers), asked=tuple(answers))

    async def close(self) -> None:
        """Close all engines."""
        await asyncio.gather(*(engine.backend.close() for engine in self._engines))

    def health(self) -> tuple[EngineStatus, ...]:
        """How each engine stands."""
        return self._health.report()

    async def probe(self, text: str = "water") -> tuple[EngineStatus, ...]:
        """Ask every engine once, whatever its wait, and say how each stands."""
        query = SearchQuery(text, limit=3)
        backends = [engine.backend for engine in self._engines]
        for backend, response in zip(backends, await asyncio.gather(*(each.search(query) for each in backends)), strict=True):
            self._health.record(backend.name, response)
        return self.health()

    def _for_profile(self, profile: str) -> list[Engine]:
        serving = [engine for engine in self._engines if profile in engine.profiles] or self._engines
        # Engines in a long wait come last, so that they do not hold a place among those asked at once.
        return sorted(serving, key=lambda engine: self._health.wait(engine.backend.name) > PATIENCE)

    async def _ask(self, engine: Engine, query: SearchQuery, *, alone: bool) -> SearchResponse:
        name = engine.backend.name
        wait = self._health.wait(name)
        if wait > PATIENCE:
            return self._left_alone(name, wait)
        if not alone and (queue := self._health.queue(name)) > PATIENCE:
            return SearchResponse(outcome="rate_limited", detail=f"{name} is busy with other searches.", retry_after=queue)
        pause = self._health.reserve(name)
        if (delay := max(wait, pause)) > 0:
            await self._sleep(delay)
        response = await engine.backend.search(query)
        self._health.record(name, response)
        return response

    def _left_alone(self, name: str, wait: float) -> SearchResponse:
        status = next(status for status in self._health.report() if status.name == name)
        outcome = status.outcome or "unavailable"
        if wait == float("inf"):
            return SearchResponse(outcome="misconfigured", detail=status.detail)
        return SearchResponse(outcome=outcome, detail=f"{name} is left alone for {wait:.0f} s more: {status.detail}", retry_after=wait)


def _summary(hits: tuple[Hit, ...], answers: Mapping[str, SearchResponse]) -> SearchResponse:
    """Hits, or the reason why there are none: empty only where an engine truly answered so."""
    failed = {name: answer for name, answer in answers.items() if answer.outcome not in ("ok", "empty")}
    detail = " ".join(f"[{name}] {answer.detail}" for name, answer in failed.items())
    if hits:
        return SearchResponse(hits, "ok", detail)
    if not answers:
        return SearchResponse(outcome="misconfigured", detail="No search engine is set up.")
    if len(failed) < len(answers):
        nothing = " ".join(answer.detail for answer in answers.values() if answer.outcome == "empty") or "All hits were left out."
        return SearchResponse(outcome="empty", detail=f"{nothing} {detail}".strip())
    first = next(iter(failed.values())).outcome
    outcome = first if all(answer.outcome == first for answer in failed.values()) else "engines_down"
    waits = [answer.retry_after for answer in failed.values() if answer.retry_after is not None]
    return SearchResponse(outcome=outcome, detail=detail, retry_after=min(waits, default=None))

"""Search and fetch that know earlier runs: pages read before are offered with their date and served without a fetch."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from deepdelve.core.errors import FetchError
from deepdelve.core.records import Hit, ReadScope
from deepdelve.engine.earlier import EarlierClaim, EarlierPage, EarlierRuns, stored_text
from deepdelve.engine.gate import EARLIER_SCHEME
from deepdelve.tools.search.base import SearchBackend, SearchQuery, SearchResponse
from deepdelve.tools.search.merge import merge
from deepdelve.tools.web.base import Fetcher, Page
from deepdelve.utils.text import STOP_WORDS, terms, words
from deepdelve.utils.urls import canonical, is_web, scope_refusal

ORIGIN = "earlier run"
# An older copy is fetched anew: by then the page may say something else.
FRESH_DAYS = 30
OFFERS = 3
FINDINGS = 8
# The share of a query's telling words that a title or a claim must hold to be offered for it.
MATCH_SHARE = 0.5


@dataclass
class ReusingSearch:
    """A search backend whose hits say which pages earlier runs have read; room that is left is filled with such pages.

    Args:
        inner: who searches.
        earlier: the runs before.
        blocked: sites whose pages are left out.
    """

    inner: SearchBackend
    earlier: EarlierRuns
    blocked: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.name = self.inner.name

    async def search(self, query: SearchQuery) -> SearchResponse:
        """Search; a failed search stays one, and may still offer pages that were read before."""
        response = await self.inner.search(query)
        pages = (await self.earlier.known()).pages
        fresh = {url: page for url, page in pages.items() if is_web(url) and is_fresh(page)}
        hits = [_dated(hit, fresh.get(canonical(hit.url))) for hit in response.hits[: query.limit]]
        offers = self._offers(query, fresh, {canonical(hit.url) for hit in hits})[: query.limit - len(hits)]
        if not offers:
            return replace(response, hits=tuple(hits))
        told = f"{response.detail} Earlier runs have read {len(offers)} of these pages.".strip()
        outcome = "ok" if response.outcome == "empty" else response.outcome
        return replace(response, hits=(*hits, *offers), outcome=outcome, detail=told)

    async def close(self) -> None:
        """Close the inner backend."""
        await self.inner.close()

    def _offers(self, query: SearchQuery, fresh: dict[str, EarlierPage], found: Collection[str]) -> list[Hit]:
        wanted = _telling(query.text)
        scored = [(_share(wanted, f"{page.source.title} {url}"), url) for url, page in fresh.items() if url not in found]
        best = sorted((entry for entry in scored if entry[0] >= MATCH_SHARE), reverse=True)
        rows = [
            Hit(url=url, title=fresh[url].source.title, engine=ORIGIN, rank=rank, read_on=_date(fresh[url]))
            for rank, (_, url) in enumerate(best[: OFFERS * 4], start=1)
        ]
        return list(merge([rows], limit=OFFERS, blocked=self.blocked, exclude=query.exclude))


@dataclass
class ReusingFetcher:
    """A fetcher that serves what an earlier run has stored.

    Args:
        inner: who fetches the rest.
        earlier: the runs before.
        anew: canonical addresses that are fetched in any case (the person named them for this run).
    """

    inner: Fetcher
    earlier: EarlierRuns
    anew: Collection[str] = ()

    async def fetch(self, url: str) -> Page:
        """The stored page of an earlier run, or a fresh one.

        Raises:
            FetchError: as the inner fetcher; or no run has stored what a ``run://`` address names.
        """
        if url.startswith(EARLIER_SCHEME):
            run_id, _, source_id = url.removeprefix(EARLIER_SCHEME).partition("/")
            page = await _page((await self.earlier.known()).stored.get((run_id, source_id)))
            if page is None:
                raise FetchError("No earlier run has stored that source.", "Search for it and fetch a hit.", cause="unreachable")
            return page
        if is_web(url) and canonical(url) not in self.anew:
            found = (await self.earlier.known()).pages.get(canonical(url))
            if found is not None and is_fresh(found) and (page := await _page(found)):
                return page
        return await self.inner.fetch(url)

    async def close(self) -> None:
        """Close the inner fetcher."""
        await self.inner.close()


@dataclass
class EarlierFindings:
    """Searches the supported claims of earlier reports. A hit's address names the stored source, so that it can be taken over.

    Args:
        earlier: the runs before.
        scope: what this run may read; claims of other sources are left out.
    """

    earlier: EarlierRuns
    scope: ReadScope
    name: str = ORIGIN

    async def search(self, query: SearchQuery) -> SearchResponse:
        """The claims that hold most of the query's words, newest first among equals."""
        wanted = _telling(query.text)
        claims = [claim for claim in (await self.earlier.known()).claims if self._within(claim)]
        scored = [(_share(wanted, f"{claim.text} {claim.page.source.title}"), claim.page.source.fetched_at, claim.text) for claim in claims]
        best = sorted(range(len(claims)), key=lambda i: scored[i], reverse=True)
        fitting = {claims[i].text: claims[i] for i in reversed(best) if scored[i][0] >= MATCH_SHARE}
        chosen = list(reversed(fitting.values()))[: min(query.limit, FINDINGS)]
        if not chosen:
            return SearchResponse(outcome="empty", detail="No report of an earlier run holds a verified claim on this.")
        return SearchResponse(tuple(_claim_hit(claim, rank) for rank, claim in enumerate(chosen, start=1)))

    async def close(self) -> None:
        """Nothing to let go of."""

    def _within(self, claim: EarlierClaim) -> bool:
        return self.scope == "" or not scope_refusal(claim.page.source.url, self.scope, has_corpus=True)


def is_fresh(page: EarlierPage, now: datetime | None = None) -> bool:
    """Whether a stored page is young enough to stand for the page itself."""
    try:
        read = datetime.fromisoformat(page.source.fetched_at)
    except ValueError:
        return False
    read = read if read.tzinfo else read.replace(tzinfo=UTC)
    return (now or datetime.now(UTC)) - read <= timedelta(days=FRESH_DAYS)


def _claim_hit(claim: EarlierClaim, rank: int) -> Hit:
    page = claim.page
    return Hit(
        url=f"{EARLIER_SCHEME}{page.run_id}/{page.source.id}",
        title=page.source.title,
        snippet=claim.text,
        engine=ORIGIN,
        rank=rank,
        read_on=_date(page),
        copy_of=page.source.url,
    )


async def _page(found: EarlierPage | None) -> Page | None:
    stored = await asyncio.to_thread(stored_text, found) if found is not None else None
    if found is None or stored is None:
        return None
    source, (text, original) = found.source, stored
    return Page(
        url=source.url,
        final_url=source.final_url or source.url,
        text=text,
        title=source.title,
        author=source.author,
        date=source.date,
        status=source.status,
        kind=source.kind,
        fetched_at=source.fetched_at,
        original=original,
        origin=ORIGIN,
    )


def _dated(hit: Hit, page: EarlierPage | None) -> Hit:
    return hit.model_copy(update={"read_on": _date(page)}) if page is not None else hit


def _date(page: EarlierPage) -> str:
    return page.source.fetched_at[:10]


def _telling(text: str) -> frozenset[str]:
    return frozenset(terms(" ".join(word for word in words(text) if word not in STOP_WORDS)))


def _share(wanted: frozenset[str], text: str) -> float:
    return len(wanted.intersection(terms(text))) / len(wanted) if wanted else 0.0

"""Search and fetch as agents call them. A searcher never sees a page's text: it gets an id, and an Analyzer reads."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated

from deepdelve.core.errors import FetchError, ToolError
from deepdelve.core.events import SearchDone
from deepdelve.core.records import Hit, Source
from deepdelve.core.scope import RunPort, current_scope
from deepdelve.tools.search.base import SearchBackend, SearchQuery, SearchResponse
from deepdelve.tools.web.base import Fetcher, Page
from deepdelve.utils.fence import clean, fence
from deepdelve.utils.urls import canonical

Tool = Callable[..., Awaitable[str]]
_SNIPPET_CHARS = 300
_CLAIM_CHARS = 600
_BLOCKED_STATUS = {401, 402, 403, 407, 429, 451, 503}


def search_tool(backend: SearchBackend, limit: int) -> Tool:
    """The ``web_search`` tool over a search backend."""

    async def web_search(
        query: Annotated[str, "a few telling words; no operators"],
        profile: Annotated[str, "web or academic"] = "web",
    ) -> str:
        """Search. Hits are leads: fetch those that look right, then have them read."""
        text = " ".join(clean(query).split())[:400]
        if not text:
            raise ToolError("The query is empty. Give a few telling words.")
        run = current_scope().run
        chosen = "academic" if profile.strip().lower() == "academic" else "web"
        response = await backend.search(SearchQuery(text=text, limit=limit, profile=chosen))
        hits = list(response.hits[:limit])
        run.note_hits(hits)
        urls = tuple(canonical(hit.url) for hit in hits)
        run.emit(
            SearchDone(
                dispatch=current_scope().dispatch.id,
                query=text,
                backend=response.asked_of(backend.name),
                outcome=response.outcome,
                urls=urls,
                detail=response.detail,
            )
        )
        answer = {"outcome": response.outcome, "detail": response.detail, "hits": [_shown(hit) for hit in hits]}
        return fence(json.dumps(answer, ensure_ascii=False), run.nonce)

    return web_search


def fetch_tool(fetcher: Fetcher) -> Tool:
    """The ``fetch_url_to_workspace`` tool over a fetcher."""

    async def fetch_url_to_workspace(url: Annotated[str, "an address that search returned or the person named"]) -> str:
        """Fetch a page into the workspace. Returns its source id; an Analyzer reads it."""
        run = current_scope().run
        wanted = url.strip()
        if not run.may_fetch(wanted):
            raise ToolError("That address came neither from a search nor from the person. Search for what it would tell, and fetch a hit.")
        source = run.source_by_url(wanted) or await fetch_source(run, fetcher, wanted, origin="search")
        if source.citable and source.id not in current_scope().dispatch.sources:
            current_scope().dispatch.sources.append(source.id)
        head = {"source_id": source.id, "state": source.state, "chars": source.chars}
        # A reason may repeat what the server said of the page (its type, the name of a damaged part), so it is data as the title is.
        told = {"title": source.title, "reason": source.reason}
        return f"{json.dumps(head)}\n{fence(json.dumps(told, ensure_ascii=False), run.nonce)}"

    return fetch_url_to_workspace


def findings_tool(backend: SearchBackend | None, limit: int = 8) -> Tool:
    """The ``search_verified_findings`` tool over the claims of earlier runs; None where they are not used."""

    async def search_verified_findings(query: Annotated[str, "a few telling words"]) -> str:
        """Claims of earlier reports that their sources carry. They are leads: fetch an address, and have the stored source read."""
        text = " ".join(clean(query).split())[:400]
        if not text:
            raise ToolError("The query is empty. Give a few telling words.")
        run = current_scope().run
        if backend is None:
            response = SearchResponse(outcome="unavailable", detail="Earlier runs are not used here.")
        else:
            # A profile of its own keeps these searches apart from web searches with the same words (record and replay).
            response = await backend.search(SearchQuery(text=text, limit=limit, profile="findings"))
        hits = list(response.hits[:limit])
        run.note_hits(hits)
        answer = {"outcome": response.outcome, "detail": response.detail, "claims": [_claim(hit) for hit in hits]}
        return fence(json.dumps(answer, ensure_ascii=False), run.nonce)

    return search_verified_findings


async def fetch_source(run: RunPort, fetcher: Fetcher, url: str, *, origin: str) -> Source:
    """Fetch an address and record the source, whatever came of it: a failure is a source that cannot be cited."""
    try:
        page = await fetcher.fetch(url)
    except FetchError as error:
        blocked = error.cause == "refused" or error.status in _BLOCKED_STATUS
        state = "blocked" if blocked else "unreachable"
        now = datetime.now(UTC).isoformat(timespec="seconds")
        failed = Source(
            id="", url=canonical(url), state=state, reason=error.message, status=error.status or 0, fetched_at=now, origin=origin
        )
        return await run.keep(run.add_source, failed, "")
    known = run.source_by_url(page.url)
    if page.origin and known is not None and known.citable:
        # This run has read the page itself; an older copy must not take its place.
        return known
    return await run.keep(run.add_source, page_source(page, origin), clean(page.text), page.original)


def page_source(page: Page, origin: str) -> Source:
    """A fetched page as a source record; its id comes with the recording."""
    return Source(
        id="",
        url=canonical(page.url),
        final_url=page.final_url,
        title=clean(page.title)[:300],
        author=clean(page.author)[:200],
        date=clean(page.date)[:40],
        fetched_at=page.fetched_at or datetime.now(UTC).isoformat(timespec="seconds"),
        status=page.status,
        kind=page.kind,
        state=page.state,
        reason=page.reason,
        origin=page.origin or origin,
    )


def _claim(hit: Hit) -> dict[str, str]:
    """What a model sees of a claim of an earlier report; ``address`` is what ``fetch_url_to_workspace`` takes."""
    claim = clean(hit.snippet)[:_CLAIM_CHARS]
    return {"claim": claim, "address": hit.url, "page": hit.copy_of, "title": clean(hit.title)[:200], "read_on": hit.read_on}


def _shown(hit: Hit) -> dict[str, str]:
    """What a model sees of a hit; empty parts left out."""
    row = {"url": hit.url, "title": clean(hit.title)[:200], "snippet": clean(hit.snippet)[:_SNIPPET_CHARS], "date": hit.date}
    row["read_on"] = hit.read_on
    return {key: value for key, value in row.items() if value}

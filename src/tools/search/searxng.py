"""A SearXNG instance as one engine among others."""

from deepdelve.core.errors import SearchOutcome
from deepdelve.tools.search.base import SearchQuery, SearchResponse
from deepdelve.tools.searxng import SearxngClass, SearxngClient

_OUTCOMES: dict[SearxngClass, SearchOutcome] = {
    "ok": "ok",
    "empty": "empty",
    "engines_down": "engines_down",
    "json_disabled": "misconfigured",
    "rate_limited": "rate_limited",
    "unavailable": "unavailable",
}


class Searxng:
    """Web searches in the instance's general category, academic ones in ``science``."""

    name = "searxng"

    def __init__(self, client: SearxngClient) -> None:
        self._client = client

    async def search(self, query: SearchQuery) -> SearchResponse:
        """Ask the instance; engines of its own that failed are named beside hits."""
        categories = "science" if query.profile == "academic" else ""
        reply = await self._client.search(query.text, language=query.language, categories=categories, limit=query.limit)
        detail = reply.detail
        if reply.kind == "ok" and reply.unresponsive:
            detail = "Without " + ", ".join(f"{name} ({reason})" for name, reason in reply.unresponsive[:5]) + "."
        return SearchResponse(reply.hits, _OUTCOMES[reply.kind], detail, reply.retry_after)

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()

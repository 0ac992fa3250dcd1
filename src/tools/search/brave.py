"""Brave Search (https://api-dashboard.search.brave.com/documentation); needs a key."""

from collections.abc import Sequence

import httpx

from deepdelve.core.records import Hit
from deepdelve.tools.search import records
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.search.engine import Call, HttpEngine

_MOST = 20


class Brave(HttpEngine):
    """An index of its own."""

    name = "brave"
    keyed = True

    def __init__(self, client: httpx.AsyncClient, *, key: str) -> None:
        super().__init__(client)
        self._key = key

    def call(self, query: SearchQuery) -> Call:
        """Search the web; at most 20 results a request, 50 words a query."""
        params = {"q": " ".join(query.text.split()[:50]), "count": str(min(query.limit, _MOST)), "text_decorations": "false"}
        if query.language:
            params["search_lang"] = query.language[:2]
        return Call(
            "https://api.search.brave.com/res/v1/web/search", params, {"X-Subscription-Token": self._key, "Accept": "application/json"}
        )

    def parse(self, body: bytes, query: SearchQuery) -> Sequence[Hit | None]:
        """Web results."""
        found = records.parse_json(body, self.name)
        return [_hit(row) for row in records.results(found, self.name, "web", "results", optional=True)]


def _hit(row: object) -> Hit | None:
    snippet = records.text(row, "description")
    return records.hit(records.text(row, "url"), records.text(row, "title"), snippet, engine="brave", date=records.text(row, "page_age"))

"""Tavily (https://docs.tavily.com); needs a key."""

from collections.abc import Sequence

import httpx

from deepdelve.core.errors import SearchError
from deepdelve.core.records import Hit
from deepdelve.tools.search import records
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.search.engine import Call, HttpEngine, Reply

_MOST = 20
# The plan's limit, and the limit that a person has set for pay-as-you-go.
_SPENT = frozenset({432, 433})


class Tavily(HttpEngine):
    """Search made for programs; only its list of results is used, never its own answer."""

    name = "tavily"
    keyed = True

    def __init__(self, client: httpx.AsyncClient, *, key: str) -> None:
        super().__init__(client)
        self._key = key

    def call(self, query: SearchQuery) -> Call:
        """Search the web."""
        wanted = {"query": query.text, "max_results": min(query.limit, _MOST), "search_depth": "basic", "include_answer": False}
        return Call("https://api.tavily.com/search", headers={"Authorization": f"Bearer {self._key}"}, json=wanted)

    def check(self, reply: Reply) -> None:
        """A spent plan is neither a wrong key nor a pause."""
        if reply.status in _SPENT:
            raise SearchError("tavily's plan is used up.", "Use another engine, or raise the plan's limit.", outcome="rate_limited")
        super().check(reply)

    def parse(self, body: bytes, query: SearchQuery) -> Sequence[Hit | None]:
        """Results."""
        found = records.parse_json(body, self.name)
        return [_hit(row) for row in records.results(found, self.name, "results")]


def _hit(row: object) -> Hit | None:
    date = records.text(row, "published_date")
    return records.hit(records.text(row, "url"), records.text(row, "title"), records.text(row, "content"), engine="tavily", date=date)

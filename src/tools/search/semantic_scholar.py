"""Semantic Scholar (https://api.semanticscholar.org); papers, few requests without a key."""

from collections.abc import Sequence

import httpx

from deepdelve.core.records import Hit
from deepdelve.tools.search import records
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.search.engine import Call, HttpEngine


class SemanticScholar(HttpEngine):
    """Papers; the address is an open copy where there is one, else the paper's page."""

    name = "semantic_scholar"

    def __init__(self, client: httpx.AsyncClient, *, key: str = "") -> None:
        super().__init__(client)
        self._key = key
        self.keyed = bool(key)

    def call(self, query: SearchQuery) -> Call:
        """Search titles and abstracts; the engine does not match words joined by a hyphen."""
        params = {
            "query": query.text.replace("-", " "),
            "limit": str(query.limit),
            "fields": "title,url,abstract,publicationDate,year,openAccessPdf,externalIds",
        }
        return Call("https://api.semanticscholar.org/graph/v1/paper/search", params, {"x-api-key": self._key} if self._key else {})

    def parse(self, body: bytes, query: SearchQuery) -> Sequence[Hit | None]:
        """Papers."""
        found = records.parse_json(body, self.name)
        return [_hit(row) for row in records.results(found, self.name, "data", optional=True)]


def _hit(row: object) -> Hit | None:
    doi = records.text(row, "externalIds", "DOI")
    addresses = (records.text(row, "openAccessPdf", "url"), f"https://doi.org/{doi}" if doi else "", records.text(row, "url"))
    url = next((address for address in addresses if address), "")
    date = records.text(row, "publicationDate") or records.text(row, "year")
    return records.hit(url, records.text(row, "title"), records.text(row, "abstract"), engine="semantic_scholar", date=date)

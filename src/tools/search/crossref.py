"""Crossref (https://api.crossref.org); registered works with DOI, no key, an email address for the polite pool."""

from collections.abc import Sequence

import httpx

from deepdelve.core.records import Hit
from deepdelve.tools.search import records
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.search.engine import Call, HttpEngine


class Crossref(HttpEngine):
    """Scholarly works; the address is that of the DOI."""

    name = "crossref"

    def __init__(self, client: httpx.AsyncClient, *, contact_email: str = "") -> None:
        super().__init__(client)
        self._contact = contact_email

    def call(self, query: SearchQuery) -> Call:
        """Search bibliographic fields."""
        params = {"query.bibliographic": query.text, "rows": str(query.limit), "select": "DOI,URL,title,abstract,issued,container-title"}
        if self._contact:
            params["mailto"] = self._contact
        return Call("https://api.crossref.org/works", params)

    def parse(self, body: bytes, query: SearchQuery) -> Sequence[Hit | None]:
        """Works."""
        found = records.parse_json(body, self.name)
        return [_hit(row) for row in records.results(found, self.name, "message", "items")]


def _hit(row: object) -> Hit | None:
    doi = records.text(row, "DOI")
    url = f"https://doi.org/{doi}" if doi else records.text(row, "URL")
    snippet = records.text(row, "abstract") or records.text(row, "container-title", 0)
    day = [records.text(row, "issued", "date-parts", 0, place).zfill(2) for place in range(3)]
    return records.hit(url, records.text(row, "title", 0), snippet, engine="crossref", date="-".join(part for part in day if part != "00"))

"""OpenAlex (https://docs.openalex.org); works of all fields, no key, an email address for the polite pool."""

from collections.abc import Sequence

import httpx

from deepdelve.core.records import Hit
from deepdelve.tools.search import records
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.search.engine import Call, HttpEngine

_FIELDS = "id,doi,display_name,publication_date,abstract_inverted_index,best_oa_location,primary_location"
_MAX_WORDS = 400


class OpenAlex(HttpEngine):
    """Scholarly works; the address is an open copy where there is one, else the DOI."""

    name = "openalex"

    def __init__(self, client: httpx.AsyncClient, *, contact_email: str = "") -> None:
        super().__init__(client)
        self._contact = contact_email

    def call(self, query: SearchQuery) -> Call:
        """Search titles, abstracts and full texts."""
        params = {"search": query.text, "per-page": str(query.limit), "select": _FIELDS}
        if self._contact:
            params["mailto"] = self._contact
        return Call("https://api.openalex.org/works", params)

    def parse(self, body: bytes, query: SearchQuery) -> Sequence[Hit | None]:
        """Works."""
        found = records.parse_json(body, self.name)
        return [_hit(row) for row in records.results(found, self.name, "results")]


def _hit(row: object) -> Hit | None:
    addresses = (
        records.text(row, "best_oa_location", "pdf_url"),
        records.text(row, "best_oa_location", "landing_page_url"),
        records.text(row, "doi"),
        records.text(row, "primary_location", "landing_page_url"),
        records.text(row, "id"),
    )
    url = next((address for address in addresses if address), "")
    date = records.text(row, "publication_date")
    return records.hit(url, records.text(row, "display_name"), _abstract(row), engine="openalex", date=date)


def _abstract(row: object) -> str:
    """The abstract, which comes as words with their places."""
    places: list[tuple[int, str]] = []
    for word, found in list(records.mapping(row, "abstract_inverted_index").items())[:_MAX_WORDS]:
        places += [(place, word) for place in records.rows(found) if isinstance(place, int)]
    return " ".join(word for _, word in sorted(places)[:_MAX_WORDS])

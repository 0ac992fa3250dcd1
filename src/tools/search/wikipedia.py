"""Wikipedia's full-text search (https://www.mediawiki.org/wiki/API:Search); needs no key."""

import re
from collections.abc import Sequence
from urllib.parse import quote

import httpx

from deepdelve.core.records import Hit
from deepdelve.tools.search import records
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.search.engine import Call, HttpEngine

_LANGUAGE = re.compile(r"[a-z]{2,3}")


class Wikipedia(HttpEngine):
    """The encyclopedia of the query's language, English where none is given."""

    name = "wikipedia"

    def __init__(self, client: httpx.AsyncClient, *, contact_email: str = "") -> None:
        super().__init__(client)
        self._contact = contact_email

    def call(self, query: SearchQuery) -> Call:
        """Search titles and texts."""
        params = {
            "action": "query",
            "list": "search",
            "srsearch": query.text,
            "srlimit": str(query.limit),
            "format": "json",
            "formatversion": "2",
            "uselang": "en",
        }
        headers = {"From": self._contact} if self._contact else {}
        return Call(f"https://{_wiki(query.language)}.wikipedia.org/w/api.php", params, headers)

    def parse(self, body: bytes, query: SearchQuery) -> Sequence[Hit | None]:
        """Articles; the address is made from the title, in the wiki that was asked."""
        found = records.parse_json(body, self.name)
        return [_hit(row, _wiki(query.language)) for row in records.results(found, self.name, "query", "search")]


def _wiki(language: str) -> str:
    code = language.partition("-")[0].lower()
    return code if _LANGUAGE.fullmatch(code) else "en"


def _hit(row: object, language: str) -> Hit | None:
    title = records.text(row, "title")
    if not title:
        return None
    url = f"https://{language}.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe='/:(),')}"
    return records.hit(url, title, records.text(row, "snippet"), engine="wikipedia", date=records.text(row, "timestamp"))

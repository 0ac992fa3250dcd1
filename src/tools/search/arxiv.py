"""arXiv (https://info.arxiv.org/help/api); an Atom feed, three seconds between requests, no key."""

import importlib
from collections.abc import Sequence
from typing import Any

from deepdelve.core.errors import SearchError
from deepdelve.core.records import Hit
from deepdelve.tools.search import records
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.search.engine import Call, HttpEngine

_ATOM = "{http://www.w3.org/2005/Atom}"
_SPECIAL = str.maketrans(dict.fromkeys('"():', " "))


class Arxiv(HttpEngine):
    """Preprints by relevance; the address is that of the abstract page."""

    name = "arxiv"

    def call(self, query: SearchQuery) -> Call:
        """All words in any field."""
        words = query.text.translate(_SPECIAL).split()
        terms = " AND ".join(f"all:{word}" for word in words if word not in ("AND", "OR", "ANDNOT"))
        params = {"search_query": terms, "start": "0", "max_results": str(query.limit), "sortBy": "relevance"}
        return Call("https://export.arxiv.org/api/query", params)

    def parse(self, body: bytes, query: SearchQuery) -> Sequence[Hit | None]:
        """Entries of the feed; an error comes as an entry of its own."""
        entries = [_entry(element) for element in _feed(body).iter(f"{_ATOM}entry")]
        if len(entries) == 1 and "/api/errors" in entries[0][0]:
            raise SearchError(f"arxiv did not take the query: {entries[0][2][:200]}.", "Use plainer words.", outcome="unavailable")
        return [records.hit(_secure(url), title, summary, engine=self.name, date=date) for url, title, summary, date in entries]


def _feed(body: bytes) -> Any:
    # lxml comes without types.
    etree: Any = importlib.import_module("lxml.etree")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, recover=False)
    try:
        feed = etree.fromstring(body, parser=parser)
    except (etree.LxmlError, ValueError):
        feed = None
    if feed is None or feed.tag != f"{_ATOM}feed":
        raise SearchError("arxiv answered something that is not a feed.", "Try again later.", outcome="unavailable")
    return feed


def _entry(element: Any) -> tuple[str, str, str, str]:
    return (
        str(element.findtext(f"{_ATOM}id") or ""),
        str(element.findtext(f"{_ATOM}title") or ""),
        str(element.findtext(f"{_ATOM}summary") or ""),
        str(element.findtext(f"{_ATOM}published") or ""),
    )


def _secure(url: str) -> str:
    return "https://" + url.strip().removeprefix("http://") if url.strip().startswith("http://") else url.strip()

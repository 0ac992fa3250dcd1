"""DuckDuckGo, by its page for browsers without scripts (https://html.duckduckgo.com); needs no key."""

import importlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from deepdelve.core.errors import SearchError
from deepdelve.core.records import Hit
from deepdelve.tools.search import records
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.search.engine import Call, HttpEngine, Reply

_URL = "https://html.duckduckgo.com/html/"
_WALL_MARKS = (b"anomaly-modal", b"anomaly.js", b"challenge-form")


class Ddgs(HttpEngine):
    """Search without a key."""

    name = "ddgs"

    def call(self, query: SearchQuery) -> Call:
        """A form, as a reader would send it."""
        return Call(_URL, form={"q": query.text, "b": ""}, headers={"Accept": "text/html", "Referer": "https://html.duckduckgo.com/"})

    def check(self, reply: Reply) -> None:
        """A challenge comes with status 202, or inside a page."""
        if reply.status == 202 or any(mark in reply.body for mark in _WALL_MARKS):
            message = "ddgs asks whether a person is searching."
            raise SearchError(message, "Wait, or set up SearXNG (search.searxng_url) or an engine with a key.", outcome="blocked")
        super().check(reply)

    def parse(self, body: bytes, query: SearchQuery) -> Sequence[Hit | None]:
        """Results, advertisements left out."""
        tree = _tree(body)
        if tree is None or not any(tree.find_class(name) for name in ("results", "result", "no-results")):
            raise SearchError("ddgs answered a page without results.", "Use another engine.", outcome="unavailable")
        return [_hit(block) for block in tree.find_class("result") if "result--ad" not in block.get("class", "")]


def _tree(body: bytes) -> Any:
    """The page, or None where it is empty. lxml comes without types."""
    html: Any = importlib.import_module("lxml.html")
    etree: Any = importlib.import_module("lxml.etree")
    try:
        return html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
    except (etree.LxmlError, ValueError):
        return None


def _hit(block: Any) -> Hit | None:
    links = block.find_class("result__a")
    snippets = block.find_class("result__snippet")
    if not links:
        return None
    snippet = str(snippets[0].text_content()) if snippets else ""
    return records.hit(_target(str(links[0].get("href", ""))), str(links[0].text_content()), snippet, engine="ddgs")


def _target(link: str) -> str:
    """The address behind the engine's own redirect; empty for one that leads to an advertisement."""
    absolute = "https:" + link if link.startswith("//") else link
    try:
        parts = urlsplit(absolute)
    except ValueError:
        return ""
    if not (parts.hostname or "").endswith("duckduckgo.com"):
        return absolute
    return parse_qs(parts.query, max_num_fields=20).get("uddg", [""])[0] if parts.path == "/l/" else ""

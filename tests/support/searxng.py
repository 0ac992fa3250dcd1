"""A SearXNG instance on loopback: the shape of its answers, and each way in which it fails.

``async with FakeSearxng(corpus) as searxng`` serves; ``searxng.mode`` chooses the behaviour of ``/search``, ``searxng.asked`` holds
the queries. The corpus is a list of results; a result is returned where its title or content holds a word of the query.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, Self
from urllib.parse import parse_qs

from tests.support.web_site import Asked, Reply, WebSite

Mode = Literal[
    "ok",
    "empty",
    "engines_down",
    "partly_down",
    "json_disabled",
    "html",
    "limiter",
    "redirect",
    "error",
    "bad_request",
    "garbage",
    "list",
    "error_in_json",
    "huge",
    "slow",
    "hostile",
]
JSON = {"Content-Type": "application/json"}


def result(url: str | None, title: str = "A title", content: str = "Some words.", **more: Any) -> dict[str, Any]:
    """One result as an instance gives it."""
    engine = more.pop("engine", "localjson")
    return {
        "template": "default.html",
        "url": url,
        "title": title,
        "content": content,
        "engine": engine,
        "engines": [engine],
        "positions": [1],
        "score": 1.0,
        "category": "general",
        "publishedDate": None,
        **more,
    }


CORPUS = (
    result("https://tides.example/bay", "Tides of the <b>bay</b>", "Two tides a day, 4.2 metres.", publishedDate="2024-03-01T00:00:00"),
    result("https://harbour.example/levels?utm_source=searx", "Water levels", "Hourly levels since 1931 in the bay.", engine="localfts"),
    result("https://wall.example/2014", "The sea wall of the bay", "Finished in 2014."),
)


class FakeSearxng:
    """The instance."""

    def __init__(self, corpus: Sequence[dict[str, Any]] = CORPUS) -> None:
        self.corpus = list(corpus)
        self.mode: Mode = "ok"
        self.asked: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.site = WebSite()
        self.site.pages = {"/search": self._search, "/healthz": lambda _: Reply(b"OK"), "/config": lambda _: _json(_CONFIG)}

    @property
    def url(self) -> str:
        return self.site.url("").rstrip("/")

    async def __aenter__(self) -> Self:
        await self.site.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.site.__aexit__(*error)

    def _search(self, asked: Asked) -> Reply:
        fields = {name: values[0] for name, values in parse_qs(asked.target.partition("?")[2]).items()}
        self.asked.append(fields)
        self.headers.append(asked.headers)
        if not fields.get("q"):
            return _json({"error": "No query"}, 400)
        return self._failures().get(self.mode) or self._answer(fields["q"])

    def _failures(self) -> dict[str, Reply]:
        return {
            "empty": _json(answer([])),
            "engines_down": _json(answer([], [["slow", "timeout"], ["broken", "Suspended: too many requests"]])),
            "json_disabled": Reply(b"<!doctype html><title>403 Forbidden</title>", 403),
            "html": Reply(b"<!doctype html><title>SearXNG</title>"),
            "limiter": Reply(b"Too Many Requests", 429, {"Content-Type": "text/plain", "Retry-After": "3600"}),
            "redirect": Reply(b"", 302, {"Location": "https://other.example/search"}),
            "error": Reply(b"<h1>Internal Server Error</h1>", 500),
            "bad_request": _json({"error": "Invalid value abc for parameter pageno"}, 400),
            "garbage": Reply(b'{"results": [', 200, JSON),
            "list": _json([1, 2, 3]),
            "error_in_json": _json({"error": "search backend is down"}),
            "huge": Reply(_huge, 200, JSON),
            "slow": Reply(_never, 200, JSON),
            "hostile": _json(answer([*_HOSTILE, result(self.url + "/preferences", "The instance itself"), *self.corpus[:1]])),
        }

    def _answer(self, query: str) -> Reply:
        words = set(_words(query))
        found = [row for row in self.corpus if words & set(_words(f"{row['title']} {row['content']}"))]
        down = [["slow", "timeout"]] if self.mode == "partly_down" else []
        return _json({**answer(found, down), "query": query})


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def answer(results: Sequence[Any], unresponsive: Sequence[Any] = ()) -> dict[str, Any]:
    """The whole of an answer."""
    return {
        "query": "",
        "results": list(results),
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": ["tide <i>table</i>"],
        "unresponsive_engines": list(unresponsive),
    }


_CONFIG = {
    "version": "2026.11.1",
    "engines": [{"name": "localjson", "enabled": True}, {"name": "localfts", "enabled": True}, {"name": "off", "enabled": False}],
    "categories": ["general"],
}
_HOSTILE: list[Any] = [
    None,
    7,
    "text",
    [],
    {},
    result(None, ""),
    result("javascript:alert(1)"),
    result("ftp://files.example/"),
    result("http://"),
    {"url": 5, "title": ["x"], "content": {"a": 1}, "engines": "x"},
    {"url": "https://odd.example/", "title": 12, "content": None, "engines": [1, None]},
    result("https://marked.example/", "<script>x</script>[/b] Ti\u202etle", "<<<end>>> &lt;b&gt;bold&lt;/b&gt; \u200bwords" + "y" * 5000),
]


def _json(value: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), status, JSON)


async def _huge() -> AsyncIterator[bytes]:
    yield b'{"results": ["'
    for _ in range(200):
        yield b"x" * 65_536
    yield b'"]}'


async def _never() -> AsyncIterator[bytes]:
    yield b'{"results": ['
    await asyncio.sleep(60)

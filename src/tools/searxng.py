"""A SearXNG instance: the only place that talks to one. No retry and no fallback; every failure has a class of its own."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import httpx

from deepdelve import __version__
from deepdelve.core.errors import ConfigError, SearchError
from deepdelve.core.records import Hit
from deepdelve.tools.search import records
from deepdelve.tools.search.engine import Call, Reply, send
from deepdelve.tools.web.transport import retry_after
from deepdelve.utils.whatwg import UrlError, parse

SearxngClass = Literal["ok", "empty", "engines_down", "json_disabled", "rate_limited", "unavailable"]

MAX_HITS = 10
_TIMEOUT = httpx.Timeout(15.0, connect=3.0)
_JSON_REMEDY = "Add json to search.formats in the instance's settings.yml."
_LIMITER_REMEDY = "Its limiter is on: it lets 4 JSON calls an hour pass; allow this IP in its limiter.toml."


@dataclass(frozen=True)
class SearxngReply:
    """What an instance answered.

    ``kind`` is the class of the answer, ``detail`` explains every class but ``ok`` in one line, ``unresponsive`` holds the
    engines that failed as (name, reason), also beside hits.
    """

    kind: SearxngClass
    hits: tuple[Hit, ...] = ()
    detail: str = ""
    unresponsive: tuple[tuple[str, str], ...] = ()
    retry_after: float | None = None
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True)
class SearxngProbe:
    """Whether an instance is up (``healthy``), which version and how many engines it has, and whether it answers JSON."""

    healthy: bool
    version: str
    engines: int
    search: SearxngReply


class SearxngClient:
    """Asks one instance.

    Args:
        base_url: the instance, as in ``SEARXNG_URL`` or ``search.searxng_url``; may have a path.
        client: connections; None opens its own, without the system's proxies.

    Raises:
        ConfigError: the address is none.
    """

    def __init__(self, base_url: str, client: httpx.AsyncClient | None = None) -> None:
        self._base = base_address(base_url)
        self._client = client or httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False, trust_env=False)

    async def search(
        self, query: str, *, language: str = "", time_range: str = "", categories: str = "", page: int = 1, limit: int = MAX_HITS
    ) -> SearxngReply:
        """Search. The query is cleaned of what the instance would take for its own syntax.

        Args:
            query: words.
            language: ISO code, or empty for the instance's own choice.
            time_range: ``day``, ``month`` or ``year``, or empty.
            categories: comma-separated categories of the instance, such as ``science``.
            page: from 1.
            limit: hits at most.
        """
        words = clean_query(query)
        if not words:
            return SearxngReply("empty", detail="Nothing is left of the query once its operators are taken out.")
        optional = {"language": language, "time_range": time_range, "categories": categories, "pageno": str(page) if page > 1 else ""}
        params = {"q": words, "format": "json", **{name: value for name, value in optional.items() if value}}
        try:
            reply = await self._get("/search", params, language)
        except SearchError as error:
            return SearxngReply("unavailable", detail=error.line())
        return self._classified(reply, limit)

    async def probe(self) -> SearxngProbe:
        """Ask for health, configuration and one JSON search."""
        healthy, config = False, None
        try:
            healthy = (await self._get("/healthz", {}, "")).status == 200
            config = records.parse_json((await self._get("/config", {}, "")).body, "SearXNG")
        except SearchError:
            config = None
        engines = [row for row in records.rows(config, "engines") if records.part(row, "enabled") is not False]
        return SearxngProbe(healthy, records.text(config, "version"), len(engines), await self.search("test"))

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.aclose()

    async def _get(self, path: str, params: Mapping[str, str], language: str) -> Reply:
        headers = {
            "Accept": "application/json, text/html;q=0.9",
            "Accept-Language": language or "en",
            "Accept-Encoding": "gzip",
            "User-Agent": f"DeepDelve/{__version__}",
        }
        return await send(self._client, Call(self._base + path, params, headers), engine="SearXNG")

    def _classified(self, reply: Reply, limit: int) -> SearxngReply:
        if reply.status == 403:
            return SearxngReply("json_disabled", detail=f"SearXNG does not give JSON. {_JSON_REMEDY}")
        if reply.status == 429:
            wait = retry_after(reply.headers, time.time())
            return SearxngReply("rate_limited", detail=f"SearXNG asks for a pause. {_LIMITER_REMEDY}", retry_after=wait)
        if reply.status != 200:
            return SearxngReply("unavailable", detail=_status_detail(reply))
        try:
            answer = records.parse_json(reply.body, "SearXNG")
        except SearchError as error:
            return SearxngReply("unavailable", detail=f"{error.message} {_JSON_REMEDY}")
        return self._answered(answer, limit)

    def _answered(self, answer: object, limit: int) -> SearxngReply:
        try:
            listed = records.results(answer, "SearXNG", "results")
        except SearchError as error:
            return SearxngReply("unavailable", detail=error.message)
        down = tuple(
            (records.plain(records.text(row, 0))[:100], records.plain(records.text(row, 1))[:200])
            for row in records.rows(answer, "unresponsive_engines")
        )
        found = [_hit(row) for row in listed]
        hits = records.ranked([hit for hit in found if hit is not None and not self._is_own(hit.url)], limit)
        suggestions = tuple(records.plain(str(item))[:200] for item in records.rows(answer, "suggestions")[:10] if isinstance(item, str))
        if hits:
            return SearxngReply("ok", hits, unresponsive=down, suggestions=suggestions)
        if down:
            named = "; ".join(f"{name}: {reason}" for name, reason in down[:5])
            return SearxngReply("engines_down", detail=f"SearXNG's engines failed ({named}).", unresponsive=down)
        return SearxngReply("empty", detail="SearXNG found nothing for this query.", suggestions=suggestions)

    def _is_own(self, url: str) -> bool:
        """Whether an address is on the instance itself. Another port is another server, but for the two that one site uses."""
        own, other = parse(self._base), parse(url)
        if own.host.rstrip(".") != other.host.rstrip("."):
            return False
        return own.effective_port == other.effective_port or (own.port is None and other.port is None)


def base_address(url: str) -> str:
    """The address of an instance, without a query and a slash at its end.

    Raises:
        ConfigError: it is no http or https address.
    """
    try:
        return parse(url).href.partition("?")[0].rstrip("/")
    except UrlError as error:
        raise ConfigError(
            f"The address of SearXNG is not one: {error}", "Set search.searxng_url (or SEARXNG_URL), for example http://127.0.0.1:8888."
        ) from error


def clean_query(query: str) -> str:
    """A query without bangs (``!g``), language marks (``:de``) and time limits (``<5``): those would change what is asked, and where."""
    words = records.query_line(query).split()
    kept = [word for word in words if not word.startswith("!") and not _is_language_mark(word) and not _is_time_limit(word)]
    return " ".join(kept)[: records.QUERY_CHARS].strip()


def _is_language_mark(word: str) -> bool:
    return word.startswith(":") and len(word) > 1 and (word[1].isalpha() or word[1] == "_")


def _is_time_limit(word: str) -> bool:
    return word.startswith("<") and word[1:2].isdigit()


def _hit(row: object) -> Hit | None:
    names = [str(name) for name in records.rows(row, "engines") if isinstance(name, str)] or [records.text(row, "engine")]
    date = records.text(row, "publishedDate") or records.text(row, "pubdate")
    label = ", ".join(records.plain(name) for name in names[:3])[:100]
    return records.hit(records.text(row, "url"), records.text(row, "title"), records.text(row, "content"), engine=label, date=date)


def _status_detail(reply: Reply) -> str:
    if 300 <= reply.status < 400:
        return f"SearXNG redirects ({reply.status}). Give the address of the instance itself."
    message = ""
    if reply.status == 400:
        try:
            message = records.plain(records.text(records.parse_json(reply.body, "SearXNG"), "error"))[:200]
        except SearchError:
            message = ""
    return f"SearXNG answered {reply.status}{f' ({message})' if message else ''}."

"""Gets pages from the web: every hop guarded, status, type and size decided before content, and the truth told about each failure."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import httpx

from deepdelve import __version__
from deepdelve.config import FetchSettings
from deepdelve.core.errors import FetchError
from deepdelve.core.records import SourceState
from deepdelve.tools.web import media, robots
from deepdelve.tools.web.base import Page
from deepdelve.tools.web.cache import CachedBody, PageCache, default_folder
from deepdelve.tools.web.documents.charset import decode
from deepdelve.tools.web.documents.sniff import Family, family
from deepdelve.tools.web.guard import AddressGuard, CheckedAddress
from deepdelve.tools.web.limits import Budget, HostLimits, left_alone
from deepdelve.tools.web.ports import Detect, Download, Extract, Render
from deepdelve.tools.web.refresh import meta_refresh, refresh_target
from deepdelve.tools.web.transport import Answer, PinnedTransport, read_bounded, retry_after, status_error, too_large
from deepdelve.utils.fence import clean
from deepdelve.utils.urls import host
from deepdelve.utils.whatwg import UrlError, parse

MAX_REDIRECTS = 3
SPACING_SECONDS = 0.25
# A host that asks for a longer wait is not waited for: the page is reported as unreachable for now.
MAX_WAIT_SECONDS = 10.0
USER_AGENT = f"Mozilla/5.0 (compatible; DeepDelve/{__version__})"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_READABLE = frozenset({200, 203})
_BUSY = frozenset({429, 503})
_HEAD_BYTES = 4096
_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,application/json;q=0.8,*/*;q=0.5",
    "Accept-Language": "en;q=0.8,*;q=0.5",
}


class WebFetcher:
    """The fetcher of all runs of a process: it holds the per-host limits, so share it. Bound to one event loop.

    Args:
        settings: bounds and switches.
        guard: checks each hop.
        extract: makes Markdown of a body.
        detect: tells stubs, bot walls and log-in pages from pages.
        cache: bodies to ask about again; None keeps none.
        transport: replaced in tests.
        limits: per-host limits; made from the settings if None.
        browser: renders pages that are empty without scripts, where ``settings.browser`` is on.
    """

    def __init__(
        self,
        settings: FetchSettings,
        guard: AddressGuard,
        *,
        extract: Extract,
        detect: Detect,
        cache: PageCache | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        limits: HostLimits | None = None,
        browser: Render | None = None,
    ) -> None:
        self._settings = settings
        self._guard = guard
        self._extract = extract
        self._detect = detect
        self._cache = cache if settings.cache else None
        self._transport = PinnedTransport(transport)
        self._limits = limits or HostLimits(settings.per_host, SPACING_SECONDS)
        self._browser = browser if settings.browser else None
        self._robots = robots.RobotsGate(self._robots_file) if settings.respect_robots else None

    async def fetch(self, url: str) -> Page:
        """Fetch, follow at most three redirects, and extract.

        Raises:
            FetchError: nothing readable came; ``cause`` and message say why.
        """
        got = await self.download(url)
        page = await self._read(url, got)
        if self._browser and got.kind == "html" and (page.state != "ok" or not page.text.strip()):
            page = await self._rendered(url, got, page, self._browser)
        if page.state == "ok" and not page.text.strip():
            raise FetchError(page.reason or "The page holds no text.", "Take another source.", cause="no_text", status=page.status)
        return page

    async def download(self, url: str) -> Download:
        """The body at the end of the redirects, not extracted.

        Raises:
            FetchError: as ``fetch``.
        """
        budget = Budget(self._settings.total_seconds)
        current, seen = url, set[str]()
        for _ in range(MAX_REDIRECTS + 1):
            async with budget.spend(host(current)):
                address = await self._guard.check(current)
            if address.url in seen:
                raise FetchError("The page redirects in a circle.", "Take another source.", cause="too_many_redirects")
            seen.add(address.url)
            got = await self._hop(address, budget)
            if isinstance(got, Download):
                target = meta_refresh(got.body, got.url) if got.kind == "html" else ""
                if not target or target in seen:
                    return got
                current = target
            else:
                current = got
        raise FetchError(f"The page redirects more than {MAX_REDIRECTS} times.", "Take another source.", cause="too_many_redirects")

    async def close(self) -> None:
        """Let go of connections and of the browser."""
        await self._transport.close()
        if self._browser:
            await self._browser.close()

    async def _hop(self, address: CheckedAddress, budget: Budget) -> Download | str:
        """One request: a body, or the address that the server points to."""
        if self._robots:
            await self._robots.check(address)
        cached = await asyncio.to_thread(self._cache.load, address.url) if self._cache else None
        try:
            return await self._once(address, budget, cached)
        except FetchError as error:
            if error.status not in _BUSY or not 0 < self._limits.held(address.host) <= MAX_WAIT_SECONDS:
                raise
        return await self._once(address, budget, cached)

    async def _once(self, address: CheckedAddress, budget: Budget, cached: CachedBody | None) -> Download | str:
        if (wait := self._limits.held(address.host)) > MAX_WAIT_SECONDS:
            raise left_alone(address.host, wait)
        async with self._limits.slot(address.host, MAX_WAIT_SECONDS), budget.spend(address.host):
            headers = {**_HEADERS, **(cached.validators if cached else {})}
            async with self._transport.get(address, headers) as answer:
                return await self._answered(address, answer, cached)

    async def _answered(self, address: CheckedAddress, answer: Answer, cached: CachedBody | None) -> Download | str:
        location = answer.headers.get("location", "")
        if answer.status in _REDIRECTS and location:
            return _join(address.url, location)
        if answer.status == 304 and cached:
            kind = family(cached.body[:_HEAD_BYTES], cached.content_type)
            return Download(address.url, 200, cached.content_type, cached.body, kind, cached.fetched_at)
        if answer.status not in _READABLE:
            raise self._status_error(address, answer)
        if target := refresh_target(answer.headers.get("refresh", ""), address.url):
            return target
        content_type = answer.headers.get("content-type", "")
        body, kind = await self._body(answer, content_type)
        got = Download(address.url, answer.status, content_type, body, kind, _now())
        await self._keep(got, answer.headers)
        return got

    def _status_error(self, address: CheckedAddress, answer: Answer) -> FetchError:
        if answer.status in _BUSY and (wait := retry_after(answer.headers, time.time())):
            self._limits.hold(address.host, wait)
        return status_error(address.host, answer.status)

    async def _body(self, answer: Answer, content_type: str) -> tuple[bytes, Family]:
        media.check_media_type(content_type)
        most, said = max(self._settings.max_bytes, self._settings.max_pdf_bytes), _declared(answer.headers)
        if said > most:
            raise too_large(most)
        body, kind = bytearray(), None
        async for piece in read_bounded(answer.body, encoding=answer.headers.get("content-encoding", ""), limit=most):
            body += piece
            if kind is None and len(body) >= _HEAD_BYTES:
                kind = family(bytes(body[:_HEAD_BYTES]), content_type)
            # Labels are often wrong: which bound holds is known once the first bytes tell what the body is.
            size = max(len(body), said if kind else 0)
            if kind not in media.DOCUMENT_FAMILIES and size > self._settings.max_bytes:
                raise too_large(self._settings.max_bytes)
        return bytes(body), kind or family(bytes(body), content_type)

    async def _keep(self, got: Download, headers: Mapping[str, str]) -> None:
        if self._cache is None or "no-store" in headers.get("cache-control", "").lower():
            return
        entry = CachedBody(
            url=got.url,
            content_type=got.content_type,
            etag=headers.get("etag", ""),
            last_modified=headers.get("last-modified", ""),
            fetched_at=got.fetched_at,
            body=got.body,
        )
        await asyncio.to_thread(self._cache.store, entry)

    async def _robots_file(self, address: CheckedAddress) -> tuple[int, bytes]:
        """Status and body at the end of the redirects; none where they do not end, or lead to where nothing may be fetched."""
        budget = Budget(self._settings.total_seconds)
        for _ in range(MAX_REDIRECTS + 1):
            async with self._limits.slot(address.host), budget.spend(address.host), self._transport.get(address, _HEADERS) as answer:
                location = answer.headers.get("location", "")
                if answer.status not in _REDIRECTS or not location:
                    return answer.status, await _beginning(answer, robots.MAX_BYTES)
            try:
                address = await self._guard.check(_join(address.url, location))
            except FetchError:
                break
        return 404, b""

    async def _read(self, url: str, got: Download) -> Page:
        charset = media.header_charset(got.content_type)
        try:
            found = await self._extract(got.body, url=got.url, content_type=got.content_type, charset=charset)
        except FetchError as error:
            return await self._read_none(url, got, charset, error)
        text, title = clean(found.text), clean(found.title)
        state, reason = await self._judge(got, text, title, charset)
        return Page(
            url=url,
            final_url=got.url,
            text=text,
            title=title,
            author=clean(found.author),
            date=clean(found.date),
            language=found.language,
            status=got.status,
            kind=found.kind,
            fetched_at=got.fetched_at,
            state=state,
            reason=clean(reason or found.reason),
            original=got.body if got.kind in ("html", "pdf") else None,
            links=tuple(found.links),
        )

    async def _rendered(self, url: str, got: Download, page: Page, browser: Render) -> Page:
        """The page after its scripts ran; as it was, where the browser brings nothing better."""
        try:
            body = await browser.render(got.url, self.download)
            after = await self._read(url, replace(got, body=body, content_type="text/html; charset=utf-8"))
        except FetchError as error:
            return replace(page, reason=f"{page.reason} {error.message}".strip())
        return after if after.state == "ok" else page

    async def _read_none(self, url: str, got: Download, charset: str, error: FetchError) -> Page:
        """A page without text may be a shell for scripts or a wall, which is more telling than that it is empty."""
        state, reason = await self._judge(got, "", "", charset) if error.cause == "no_text" and got.kind == "html" else ("ok", "")
        if state == "ok":
            raise FetchError(error.message, error.remedy or "Take another source.", cause=error.cause, status=got.status) from error
        return Page(
            url=url,
            final_url=got.url,
            text="",
            status=got.status,
            fetched_at=got.fetched_at,
            state=state,
            reason=clean(reason),
            original=got.body,
        )

    async def _judge(self, got: Download, text: str, title: str, charset: str) -> tuple[SourceState, str]:
        if got.kind in media.DOCUMENT_FAMILIES:
            return "ok", ""
        html = await asyncio.to_thread(decode, got.body, charset) if got.kind == "html" else ""
        verdict = await asyncio.to_thread(self._detect, text, html=html, status=got.status, url=got.url, title=title)
        return verdict.state, verdict.reason


def open_fetcher(settings: FetchSettings, limits: HostLimits | None = None) -> WebFetcher:
    """A fetcher that goes to the web, with all its parts as the settings say; ``limits`` are those that other fetchers share."""
    from deepdelve.tools.web.browser import ChromiumBrowser
    from deepdelve.tools.web.extract import extract
    from deepdelve.utils.grounding.stubs import detect

    return WebFetcher(
        settings,
        AddressGuard(allow_loopback=settings.allow_loopback),
        extract=extract,
        detect=detect,
        cache=PageCache(default_folder()),
        limits=limits,
        browser=ChromiumBrowser() if settings.browser else None,
    )


def _declared(headers: Mapping[str, str]) -> int:
    """The length that a server announces; 0 where it announces none."""
    value = headers.get("content-length", "")
    return int(value[:18]) if value.isascii() and value.isdigit() else 0


async def _beginning(answer: Answer, limit: int) -> bytes:
    """As much of a body as the limit allows."""
    body = bytearray()
    try:
        async for piece in read_bounded(answer.body, encoding=answer.headers.get("content-encoding", ""), limit=limit):
            body += piece
    except FetchError as error:
        if error.cause != "too_large":
            raise
    return bytes(body)


def _join(base: str, reference: str) -> str:
    try:
        return parse(reference, parse(base)).href
    except UrlError as error:
        raise FetchError(
            f"The page redirects to an address that cannot be fetched: {error}", "Take another source.", cause="refused"
        ) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

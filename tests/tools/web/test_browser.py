"""The browser has no network of its own: whatever it asks for is brought by the guarded download, or not at all."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web import browser
from deepdelve.tools.web.browser import ChromiumBrowser
from deepdelve.tools.web.ports import Download
from tests.support.web_site import WebSite
from tests.tools.web.doubles import fetcher

Handle = Callable[[Any], Awaitable[None]]


@dataclass
class FakeRoute:
    """One request of a page, as Playwright hands it over."""

    url: str
    resource_type: str = "document"
    method: str = "GET"
    answer: dict[str, Any] | None = None
    aborted: bool = False

    @property
    def request(self) -> Any:
        return SimpleNamespace(url=self.url, method=self.method, resource_type=self.resource_type)

    async def abort(self) -> None:
        self.aborted = True

    async def fulfill(self, **answer: Any) -> None:
        self.answer = answer


@dataclass
class FakeChromium:
    """A browser whose pages ask for what the test says, then hold the bodies they were given."""

    asks: list[FakeRoute] = field(default_factory=list)
    error: Exception | None = None
    hang: bool = False
    contexts_closed: int = 0
    closed: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    async def new_context(self, **options: Any) -> Any:
        self.options = options
        return FakeContext(self)

    async def close(self) -> None:
        self.closed = True


@dataclass
class FakeContext:
    chromium: FakeChromium
    handle: Handle | None = None

    async def route(self, pattern: str, handle: Handle) -> None:
        assert pattern == "**/*"
        self.handle = handle

    async def new_page(self) -> Any:
        assert self.handle is not None
        return FakePage(self.chromium, self.handle)

    async def close(self) -> None:
        self.chromium.contexts_closed += 1


@dataclass
class FakePage:
    chromium: FakeChromium
    handle: Handle

    async def goto(self, url: str, wait_until: str) -> None:
        if self.chromium.error:
            raise self.chromium.error
        self.chromium.asks.insert(0, FakeRoute(url))
        for route in self.chromium.asks:
            await self.handle(route)

    async def wait_for_load_state(self, state: str) -> None:
        if self.chromium.hang:
            await asyncio.Event().wait()

    async def content(self) -> str:
        return "".join(route.answer["body"].decode() for route in self.chromium.asks if route.answer)


def opened(fake: FakeChromium) -> ChromiumBrowser:
    async def launch() -> FakeChromium:
        return fake

    return ChromiumBrowser(launch)


async def serve(url: str) -> Download:
    if "private" in url:
        raise FetchError("refused", cause="refused")
    return Download(url, 200, "text/html", f"[{url}]".encode(), "html", "")


async def test_each_request_is_answered_by_the_download_and_nothing_else() -> None:
    asks = [
        FakeRoute("https://a.example/app.js", "script"),
        FakeRoute("https://b.example/data.json", "fetch"),
        FakeRoute("http://private.example/", "xhr"),
        FakeRoute("https://a.example/save", "fetch", method="POST"),
        FakeRoute("https://a.example/cat.png", "image"),
        FakeRoute("wss://a.example/", "websocket"),
    ]
    fake = FakeChromium(asks)
    html = await opened(fake).render("https://a.example/", serve)
    assert html == b"[https://a.example/][https://a.example/app.js][https://b.example/data.json]"
    assert [route.aborted for route in asks] == [False, False, False, True, True, True, True]
    assert fake.options == {"service_workers": "block", "accept_downloads": False}
    assert fake.contexts_closed == 1


async def test_a_page_has_so_many_requests_and_no_more() -> None:
    fake = FakeChromium([FakeRoute(f"https://a.example/{n}.js", "script") for n in range(browser.MAX_REQUESTS + 10)])
    await opened(fake).render("https://a.example/", serve)
    assert sum(route.aborted for route in fake.asks) == 11


async def test_scripts_that_never_settle_end_with_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "SETTLE_SECONDS", 0.02)
    assert await opened(FakeChromium(hang=True)).render("https://a.example/", serve) == b"[https://a.example/]"
    monkeypatch.setattr(browser, "SETTLE_SECONDS", 5)
    monkeypatch.setattr(browser, "RENDER_SECONDS", 0.02)
    with pytest.raises(FetchError) as caught:
        await opened(FakeChromium(hang=True)).render("https://a.example/", serve)
    assert caught.value.cause == "too_slow"


async def test_a_browser_that_fails_is_one_clear_error_and_its_context_is_closed() -> None:
    fake = FakeChromium(error=RuntimeError("Target closed"))
    with pytest.raises(FetchError, match="could not show"):
        await opened(fake).render("https://a.example/", serve)
    assert fake.contexts_closed == 1


async def test_a_browser_that_crashed_is_one_clear_error_and_the_next_page_starts_another() -> None:
    class Crashed(FakeChromium):
        async def new_context(self, **options: Any) -> Any:
            raise RuntimeError("Browser has been closed")

    crashed, sound = Crashed(), FakeChromium()
    browsers = iter([crashed, sound])

    async def launch() -> FakeChromium:
        return next(browsers)

    subject = ChromiumBrowser(launch)
    with pytest.raises(FetchError, match="could not show"):
        await subject.render("https://a.example/", serve)
    assert crashed.closed
    assert await subject.render("https://a.example/", serve) == b"[https://a.example/]"


async def test_a_browser_that_gives_no_page_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck(FakeChromium):
        async def new_context(self, **options: Any) -> Any:
            await asyncio.Event().wait()

    monkeypatch.setattr(browser, "RENDER_SECONDS", 0.02)
    with pytest.raises(FetchError) as caught:
        await opened(Stuck()).render("https://a.example/", serve)
    assert caught.value.cause == "too_slow"


async def test_a_request_of_a_page_that_is_gone_is_no_fault_of_the_run() -> None:
    class Gone(FakeRoute):
        async def abort(self) -> None:
            raise RuntimeError("Target page has been closed")

        async def fulfill(self, **answer: Any) -> None:
            raise RuntimeError("Target page has been closed")

    fake = FakeChromium([Gone("https://a.example/app.js", "script"), Gone("https://a.example/cat.png", "image")])
    assert await opened(fake).render("https://a.example/", serve) == b"[https://a.example/]"


async def test_the_browser_starts_once_and_is_closed() -> None:
    starts, fake = 0, FakeChromium()

    async def launch() -> FakeChromium:
        nonlocal starts
        starts += 1
        return fake

    subject = ChromiumBrowser(launch)
    await asyncio.gather(*(subject.render("https://a.example/", serve) for _ in range(3)))
    await subject.close()
    assert starts == 1
    assert fake.closed


async def test_without_playwright_or_chromium_it_is_said_what_to_install() -> None:
    assert "pip install 'deepdelve[browser]'" in browser.missing() or "Chromium" in browser.missing() or browser.missing() == ""
    if browser.missing():
        with pytest.raises(FetchError) as caught:
            await ChromiumBrowser().render("https://a.example/", serve)
        assert "install" in caught.value.remedy


async def test_what_a_script_asks_for_passes_the_guard() -> None:
    fake = FakeChromium([FakeRoute("http://169.254.169.254/latest/meta-data/", "fetch"), FakeRoute("http://10.0.0.1/", "xhr")])
    async with WebSite() as site:
        await opened(fake).render(site.url("/shell"), fetcher().download)
    assert [route.aborted for route in fake.asks] == [False, True, True]

"""A headless Chromium for pages that are empty without scripts (extra ``browser``; uses the system's own Chromium).

The browser is given no network: it is launched behind a proxy that does not exist, and each of its requests is answered with
what the fetcher's guarded download brings. So every request it makes passes the guard, the limits and the bounds.
"""

import asyncio
import contextlib
import importlib
import importlib.util
import shutil
from collections.abc import Awaitable, Callable
from typing import Any

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.ports import Download
from deepdelve.utils.secrets import child_environment

Load = Callable[[str], Awaitable[Download]]
Launch = Callable[[], Awaitable[Any]]

RENDER_SECONDS = 25.0
SETTLE_SECONDS = 5.0
MAX_REQUESTS = 60
MAX_TOTAL_BYTES = 20_971_520
_EXECUTABLES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome", "msedge")
_NEEDED = frozenset({"document", "script", "stylesheet", "xhr", "fetch"})
_ARGUMENTS = [
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
# Nothing listens on the discard port; "<-loopback>" takes away the exception that browsers make for loopback.
_NO_NETWORK = {"server": "http://127.0.0.1:9", "bypass": "<-loopback>"}


def missing() -> str:
    """What is missing for a browser, in a sentence; empty where there is all."""
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is not installed: pip install 'deepdelve[browser]'."
    if not _executable():
        return "There is no Chromium on this machine: install it with the system's package manager."
    return ""


class ChromiumBrowser:
    """Renders pages, one context each, in one browser that starts with the first.

    Args:
        launch: starts the browser and gives its Playwright object; replaced in tests.
    """

    def __init__(self, launch: Launch | None = None) -> None:
        self._launch = launch or self._launch_chromium
        self._driver: Any = None
        self._browser: Any = None
        self._starting = asyncio.Lock()

    async def render(self, url: str, load: Load) -> bytes:
        """The page's HTML after its scripts ran, in UTF-8.

        Args:
            url: the page.
            load: fetches what the page and its scripts ask for; POSTs, pictures, sound and sockets are not loaded.

        Raises:
            FetchError: cause ``unreachable`` (no browser) or ``too_slow``.
        """
        browser = await self._opened()
        context: Any = None
        try:
            async with asyncio.timeout(RENDER_SECONDS):
                context = await browser.new_context(service_workers="block", accept_downloads=False)
                await context.route("**/*", _Answers(load).handle)
                page = await context.new_page()
                await page.goto(url, wait_until="domcontentloaded")
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(SETTLE_SECONDS):
                        await page.wait_for_load_state("networkidle")
                return str(await page.content()).encode("utf-8", "replace")
        except TimeoutError as error:
            raise FetchError("The page's scripts did not come to an end.", "Take another source.", cause="too_slow") from error
        except _failures() as error:
            raise FetchError("The browser could not show the page.", "Take another source.", cause="unreachable") from error
        finally:
            await self._leave(browser, context)

    async def close(self) -> None:
        """End the browser."""
        with contextlib.suppress(*_failures()):
            if self._browser is not None:
                await self._browser.close()
            if self._driver is not None:
                await self._driver.stop()
        self._browser = self._driver = None

    async def _leave(self, browser: Any, context: Any) -> None:
        """Close a page's context; a browser that gave none has crashed, and the next page starts another."""
        if context is not None:
            with contextlib.suppress(*_failures()):
                await context.close()
        elif self._browser is browser:
            await self.close()

    async def _opened(self) -> Any:
        async with self._starting:
            if self._browser is None:
                self._browser = await self._launch()
            return self._browser

    async def _launch_chromium(self) -> Any:
        if lacking := missing():
            raise FetchError("The page needs a browser.", lacking, cause="unreachable")
        api: Any = importlib.import_module("playwright.async_api")
        options = {"executable_path": _executable(), "proxy": _NO_NETWORK, "args": _ARGUMENTS, "env": child_environment()}
        try:
            self._driver = self._driver or await api.async_playwright().start()
            return await self._driver.chromium.launch(headless=True, chromium_sandbox=True, **options)
        except _failures() as error:
            remedy = "Its sandbox needs an ordinary user, not root. Run deepdelve as one, or set fetch.browser to false."
            raise FetchError("Chromium does not start.", remedy, cause="unreachable") from error


def _failures() -> tuple[type[Exception], ...]:
    """What goes wrong in a browser: Playwright's own error where it is installed, and what its pipe raises."""
    common = (OSError, RuntimeError)
    if importlib.util.find_spec("playwright") is None:
        return common
    api: Any = importlib.import_module("playwright.async_api")
    return (*common, api.Error)


class _Answers:
    """Answers the requests of one page."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._requests = 0
        self._bytes = 0

    async def handle(self, route: Any) -> None:
        """Fulfil a request with a guarded download, or abort it; a page that is gone meanwhile takes neither."""
        with contextlib.suppress(*_failures()):
            await self._handle(route)

    async def _handle(self, route: Any) -> None:
        request = route.request
        self._requests += 1
        spent = self._requests > MAX_REQUESTS or self._bytes > MAX_TOTAL_BYTES
        if spent or request.method != "GET" or request.resource_type not in _NEEDED:
            await route.abort()
            return
        try:
            got = await self._load(request.url)
        except FetchError:
            await route.abort()
            return
        self._bytes += len(got.body)
        headers = {"content-type": got.content_type, "access-control-allow-origin": "*"}
        await route.fulfill(status=got.status, headers=headers, body=got.body)


def _executable() -> str:
    return next((found for name in _EXECUTABLES if (found := shutil.which(name))), "")

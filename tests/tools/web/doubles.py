"""Stand-ins around the fetcher: a resolver that knows what it is told, a transport that records, an extractor that strips tags."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

import httpx

from deepdelve.config import FetchSettings
from deepdelve.tools.web.cache import PageCache
from deepdelve.tools.web.documents.charset import decode
from deepdelve.tools.web.documents.extracted import Extracted, no_text
from deepdelve.tools.web.fetch import WebFetcher
from deepdelve.tools.web.guard import AddressGuard
from deepdelve.tools.web.limits import HostLimits
from deepdelve.tools.web.ports import Render
from deepdelve.utils.grounding.stubs import StubVerdict

PUBLIC = "93.184.216.34"


class Names:
    """A resolver. Each name has one answer, or a list of answers that are given one after another."""

    def __init__(self, known: Mapping[str, list[list[str]]] | None = None, *, default: list[str] | None = None) -> None:
        self._known = {name: list(answers) for name, answers in (known or {}).items()}
        self._default = default
        self.asked: list[str] = []

    async def __call__(self, name: str, port: int) -> list[str]:
        self.asked.append(name)
        answers = self._known.get(name)
        if answers is None:
            if self._default is None:
                raise OSError(f"no such name: {name}")
            return self._default
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Recorder(httpx.AsyncBaseTransport):
    """Answers from a table of ``host + target`` and keeps what it was asked to send; nothing leaves the process."""

    def __init__(self, answers: Mapping[str, httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]] | None = None) -> None:
        self.answers = dict(answers or {})
        self.sent: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        key = request.headers["host"] + request.url.raw_path.decode()
        answer = self.answers.get(key, httpx.Response(404))
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else answer

    @property
    def dialled(self) -> list[str]:
        return [request.url.host for request in self.sent]


def page(text: str = "<p>Some text.</p>", status: int = 200, **headers: str) -> httpx.Response:
    """An answer with a body that is streamed, as real ones are."""

    async def body():
        yield text.encode()

    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, headers={"content-type": "text/html; charset=utf-8", **named}, content=body())


def redirect(to: str, status: int = 302) -> httpx.Response:
    return httpx.Response(status, headers={"location": to}, content=b"")


async def strip_tags(data: bytes, *, url: str, content_type: str = "", charset: str = "") -> Extracted:
    text = decode(data, charset)
    title = re.search("<title>([^<]*)", text)
    plain = " ".join(re.sub("<(title|script)[^>]*>[^<]*|<[^>]*>", " ", text).split())
    if not plain:
        raise no_text("The document holds no readable text.")
    return Extracted(plain, title=title[1] if title else "", kind="html")


def never_stub(text: str, *, html: str = "", status: int = 200, url: str = "", title: str = "") -> StubVerdict:
    return StubVerdict("ok", "")


@dataclass
class Clock:
    """Time that passes only when somebody sleeps."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def fetcher(
    transport: httpx.AsyncBaseTransport | None = None,
    resolver: Callable[[str, int], Awaitable[list[str]]] | None = None,
    *,
    detect: Callable[..., StubVerdict] = never_stub,
    cache: PageCache | None = None,
    limits: HostLimits | None = None,
    browser: Render | None = None,
    **settings: object,
) -> WebFetcher:
    """A fetcher with every outward side replaced."""
    chosen = FetchSettings.model_validate({"allow_loopback": transport is None, **settings})
    guard = AddressGuard(resolver or Names(default=[PUBLIC]), allow_loopback=chosen.allow_loopback)
    clock = Clock()
    return WebFetcher(
        chosen,
        guard,
        extract=strip_tags,
        detect=detect,
        cache=cache,
        transport=transport,
        limits=limits or HostLimits(chosen.per_host, 0.0, clock=clock, sleep=clock.sleep),
        browser=browser,
    )

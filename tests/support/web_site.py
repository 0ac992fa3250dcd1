"""A web site on loopback with one address for each thing that can go wrong with a page.

``async with WebSite() as site`` serves it; ``site.url("/article")`` is an address, ``site.asked`` what was asked for. ``site.add``
puts further pages there. ``site_in_thread`` serves the same site to code that runs its own loop.
"""

import asyncio
import contextlib
import functools
import gzip
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Self

Body = bytes | Callable[[], AsyncIterator[bytes]]
HTML = "text/html; charset=utf-8"
MEGABYTE = 1_048_576


@dataclass
class Reply:
    """What the site answers. A body made by a function is streamed, and has a length only where the headers give one."""

    body: Body = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": HTML})


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    target: str
    headers: dict[str, str]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


Handler = Callable[[Asked], Reply]


class WebSite:
    """The site, with its standard pages."""

    def __init__(self) -> None:
        self.pages: dict[str, Handler] = dict(_standard_pages())
        self.asked: list[Asked] = []
        self.open = 0
        self.most_open = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, path: str, body: Body | str, *, status: int = 200, **headers: str) -> str:
        """Put a page there; header names have underscores for dashes. Returns its address."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        content = body.encode() if isinstance(body, str) else body
        self.pages[path] = lambda _: Reply(content, status, {"Content-Type": HTML, **named})
        return self.url(path)

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def times_asked(self, path: str) -> int:
        return sum(asked.path == path for asked in self.asked)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await _turn()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await _turn()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._serve(reader, writer)
        finally:
            await _end(writer)
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
        asked = Asked(head[0].split(" ")[1], {name.lower(): value for name, value in fields.items()})
        self.asked.append(asked)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            handler = self.pages.get(asked.path, lambda _: Reply(_prose("Nothing here", "There is no such page."), 404))
            await _answer(handler(asked), writer)
        finally:
            self.open -= 1


async def _end(writer: asyncio.StreamWriter) -> None:
    """Send what is left, if the other side still takes it, and close for good before the loop ends."""
    writer.close()
    try:
        async with asyncio.timeout(1):
            await writer.wait_closed()
    except (OSError, TimeoutError, asyncio.CancelledError):
        writer.transport.abort()


async def _turn() -> None:
    """Let callbacks run that are already due: a connection that was just accepted, a transport that was just aborted."""
    for _ in range(20):
        await asyncio.sleep(0)


async def _answer(reply: Reply, writer: asyncio.StreamWriter) -> None:
    headers = {"Connection": "close", **reply.headers}
    if isinstance(reply.body, bytes):
        headers.setdefault("Content-Length", str(len(reply.body)))
    lines = [f"HTTP/1.1 {reply.status} X", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode("utf-8"))
    if isinstance(reply.body, bytes):
        writer.write(reply.body)
    else:
        async for piece in reply.body():
            writer.write(piece)
            await writer.drain()
    await writer.drain()


@contextlib.contextmanager
def site_in_thread() -> Iterator[WebSite]:
    """The site served by a thread of its own."""
    site, ready, loop = WebSite(), threading.Event(), asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with site:
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    ready.wait(60)
    try:
        yield site
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()


@functools.cache
def _standard_pages() -> dict[str, Handler]:
    fixed = {
        "/article": Reply(_prose("Tides of the Northern Bay", *_ARTICLE)),
        "/table": Reply(_TABLE.encode()),
        "/paper": Reply(pdf("Measured in 2021, the bay was 14 metres deep."), headers={"Content-Type": "text/html"}),
        "/legacy": Reply(_LEGACY.encode("cp1251"), headers={"Content-Type": "text/html"}),
        "/latin": Reply(
            "<html><body><p>Caf\u00e9 na\u00efve, d\u00e9j\u00e0 vu.</p></body></html>".encode("latin-1"),
            headers={"Content-Type": "text/html; charset=iso-8859-1"},
        ),
        "/to-article": Reply(status=302, headers={"Location": "/article"}),
        "/circle-a": Reply(status=302, headers={"Location": "/circle-b"}),
        "/circle-b": Reply(status=302, headers={"Location": "/circle-a"}),
        "/to-private": Reply(status=302, headers={"Location": "http://10.0.0.1/admin"}),
        "/to-metadata": Reply(status=307, headers={"Location": "http://169.254.169.254/latest/meta-data/"}),
        "/to-file": Reply(status=302, headers={"Location": "file:///etc/passwd"}),
        "/nowhere": Reply(status=302, headers={"Content-Type": HTML}),
        "/challenge": Reply(_prose("Just a moment...", "Checking your browser before you go on."), 403),
        "/missing": Reply(_prose("Page not found", *_ARTICLE), 404),
        "/broken": Reply(_prose("Internal error", *_ARTICLE), 500),
        "/busy": Reply(b"slow down", 429, {"Retry-After": "3600"}),
        "/login": Reply(_LOGIN.encode()),
        "/shell": Reply(b'<html><head><title>App</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>'),
        "/big": Reply(
            lambda: _repeated(b"<p>x</p>" * 8192, 50 * MEGABYTE), headers={"Content-Type": HTML, "Content-Length": str(50 * MEGABYTE)}
        ),
        "/big-unsaid": Reply(lambda: _repeated(b"<p>x</p>" * 8192, 50 * MEGABYTE)),
        "/bomb": Reply(bomb(64 * MEGABYTE), headers={"Content-Type": HTML, "Content-Encoding": "gzip"}),
        "/brotli": Reply(b"\x0b\x02\x80", headers={"Content-Type": HTML, "Content-Encoding": "br"}),
        "/damaged": Reply(
            gzip.compress(b"<p>text</p>" * 500)[:40] + b"\xff" * 400, headers={"Content-Type": HTML, "Content-Encoding": "gzip"}
        ),
        "/zipped": Reply(gzip.compress(_prose("Zipped", *_ARTICLE)), headers={"Content-Type": HTML, "Content-Encoding": "gzip"}),
        "/wide": Reply(lambda: _repeated(b"<p>" + b"word " * 200 + b"</p>", 24 * MEGABYTE)),
        "/nested": Reply(b"<html><body>" + b"<div>" * 50_000 + b"deep" + b"</div>" * 50_000 + b"</body></html>"),
        "/drip": Reply(_drip),
        "/cut": Reply(b"<html><body><p>half a pa", headers={"Content-Type": HTML, "Content-Length": "4000"}),
        "/refresh": Reply(b'<html><head><meta http-equiv="refresh" content="0; url=/article"></head></html>'),
        "/refresh-private": Reply(b'<meta http-equiv=refresh content="0;url=http://192.168.1.1/">'),
        "/picture": Reply(b"\x89PNG\r\n\x1a\n" + b"\x00" * 64, headers={"Content-Type": "image/png"}),
        "/picture-as-page": Reply(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40),
        "/program": Reply(b"\x7fELF\x02\x01\x01" + b"\x00" * 5000, headers={"Content-Type": "application/octet-stream"}),
        "/empty": Reply(b""),
    }
    pages: dict[str, Handler] = {path: (lambda _, reply=reply: reply) for path, reply in fixed.items()}
    chain = {f"/chain-{n}": f"/chain-{n - 1}" if n > 1 else "/article" for n in range(1, 7)}
    pages |= {path: (lambda _, to=to: Reply(status=301, headers={"Location": to})) for path, to in chain.items()}
    pages["/news"] = _with_etag
    return pages


def _with_etag(asked: Asked) -> Reply:
    if asked.headers.get("if-none-match") == '"v1"':
        return Reply(status=304, headers={"ETag": '"v1"'})
    return Reply(_prose("News", *_ARTICLE), headers={"Content-Type": HTML, "ETag": '"v1"'})


def bomb(size: int) -> bytes:
    """A gzip stream that decodes to ``size`` zero bytes."""
    return gzip.compress(bytes(size), 9)


def pdf(text: str) -> bytes:
    """The smallest PDF that holds a line of text on one page."""
    stream = f"BT /F1 12 Tf 40 700 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = bytearray(b"%PDF-1.4\n"), list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    return bytes(out)


async def _repeated(piece: bytes, size: int) -> AsyncIterator[bytes]:
    for _ in range(size // len(piece)):
        yield piece


async def _drip() -> AsyncIterator[bytes]:
    yield b"<html><body>"
    for _ in range(100_000):
        await asyncio.sleep(0.02)
        yield b"<p>.</p>"


def _prose(title: str, *paragraphs: str) -> bytes:
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{body}</article></body></html>".encode()


_ARTICLE = (
    "The northern bay has two tides a day, and the difference between high and low water is 4.2 metres on average.",
    "The harbour office has measured the water level every hour since 1931, and publishes the figures each spring.",
    "In the storm of 1987 the water rose to 7.9 metres, which is still the highest level in the records of the office.",
    "A new sea wall of 1.6 kilometres was finished in 2014; the town paid a third of its cost of 23 million euros.",
)
_TABLE = """<html><head><title>Levels</title></head><body><h1>Levels</h1><p>Highest water by year, in metres above the datum.</p>
<table><tr><th>Year</th><th>Level</th></tr><tr><td>1987</td><td>7.9</td></tr><tr><td>2002</td><td>6.8</td></tr></table></body></html>"""
_LEGACY = """<html><head><meta charset="windows-1251"><title>Приливы</title></head>
<body><p>В заливе два прилива в сутки.</p></body></html>"""
_LOGIN = """<html><head><title>Log in</title></head><body><form action="/session" method="post"><label>Email</label><input name="email">
<label>Password</label><input type="password" name="password"><button>Log in</button></form></body></html>"""

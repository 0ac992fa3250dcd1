"""HTTP to a checked address, and a body that is bounded while it streams.

``PinnedTransport`` is the only way from the fetcher to the network: it dials the IP address that the guard checked, and keeps the
name for the Host header, for TLS server name and for certificate verification.
"""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpx

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.guard import CheckedAddress

CONNECT_SECONDS = 5.0
READ_SECONDS = 10.0
ACCEPT_ENCODING = "gzip, deflate"
_TIMEOUT = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
_MAX_ADDRESSES = 3
_MAX_MEMBERS = 64
_ASKED = frozenset({"gzip", "x-gzip", "deflate"})
# Compressions that were not asked for. Labels that name none, which servers send by mistake, mean what they mean to browsers: nothing.
_NOT_ASKED = frozenset({"br", "zstd", "compress", "x-compress", "dcb", "dcz", "lzma", "xz", "bzip2", "lz4", "exi", "pack200-gzip"})
_STATUS_REMEDIES = {
    401: "It asks for a log-in.",
    403: "It does not let programs in.",
    404: "There is no such page.",
    410: "The page is gone.",
    429: "It asks for a pause.",
}


@dataclass(frozen=True)
class Answer:
    """The head of a response, and its raw body as a stream (still encoded)."""

    status: int
    headers: httpx.Headers
    body: AsyncIterable[bytes] = field(repr=False)


class PinnedTransport:
    """Sends one GET to a checked address.

    Args:
        inner: the transport below; None opens real connections. Connections are not kept: a kept one would be reused by IP
            address, for a name that its certificate was not verified for.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport | None = None) -> None:
        self._inner = inner

    @asynccontextmanager
    async def get(self, address: CheckedAddress, headers: Mapping[str, str]) -> AsyncGenerator[Answer, None]:
        """Yield the answer; the connection closes when the block ends.

        Raises:
            FetchError: cause ``unreachable`` or ``too_slow``.
        """
        response = await self._send(address, headers)
        try:
            yield Answer(response.status_code, response.headers, response.aiter_raw())
        except httpx.TimeoutException as error:
            raise too_slow(address.host) from error
        except httpx.HTTPError as error:
            raise unreachable(address.host, error) from error
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Let go of connections."""
        if self._inner is not None:
            await self._inner.aclose()

    async def _send(self, address: CheckedAddress, headers: Mapping[str, str]) -> httpx.Response:
        failure: httpx.HTTPError | None = None
        for ip in address.ips[:_MAX_ADDRESSES]:
            try:
                return await self._transport().handle_async_request(_request(address, ip, headers))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
            except httpx.TimeoutException as error:
                raise too_slow(address.host) from error
            except httpx.HTTPError as error:
                raise unreachable(address.host, error) from error
        raise unreachable(address.host, failure) from failure

    def _transport(self) -> httpx.AsyncBaseTransport:
        if self._inner is None:
            self._inner = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_keepalive_connections=0))
        return self._inner


async def read_bounded(body: AsyncIterable[bytes], *, encoding: str, limit: int) -> AsyncIterator[bytes]:
    """The decoded body piece by piece, never more than ``limit`` bytes of it in all.

    Args:
        body: the raw stream.
        encoding: value of the Content-Encoding header; empty for none.
        limit: bound, in bytes, on both what is received and what it decodes to.

    Raises:
        FetchError: cause ``too_large`` as soon as the bound is passed, ``unreadable`` for a coding that was not asked for.
    """
    decoder = _decoder(encoding)
    received = decoded = 0
    async for chunk in body:
        received += len(chunk)
        piece = decoder.decode(chunk, limit - decoded + 1) if decoder else chunk
        decoded += len(piece)
        if decoded > limit or received > limit:
            raise too_large(limit)
        if piece:
            yield piece
    if decoder and received and not decoder.complete:
        raise _undecodable()


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a Retry-After header asks to wait (a number or a date), or None. ``now`` is POSIX seconds."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None


def too_large(limit: int) -> FetchError:
    """The body passes its bound."""
    return FetchError(
        f"The page is larger than {limit / 1_048_576:.1f} MB.",
        "Raise fetch.max_bytes (or fetch.max_pdf_bytes), or take another source.",
        cause="too_large",
    )


def too_slow(host: str) -> FetchError:
    """The server did not answer within its time."""
    return FetchError(f"{host[:100]} answered too slowly.", "Try again later, or raise fetch.total_seconds.", cause="too_slow")


def unreachable(host: str, error: Exception | None) -> FetchError:
    """No connection, or one that broke."""
    kind = "no secure connection is possible" if "CERTIFICATE" in str(error).upper() else "the connection failed"
    return FetchError(f"{host[:100]} cannot be reached: {kind}.", "Check the network, or take another source.", cause="unreachable")


def status_error(host: str, status: int) -> FetchError:
    """What a status other than 200 means for a reader."""
    try:
        name = HTTPStatus(status).phrase
    except ValueError:
        name = "no known status"
    remedy = _STATUS_REMEDIES.get(status, "Try again later." if 500 <= status < 600 else "Take another source.")
    return FetchError(f"{host[:100]} answered {status} ({name}).", remedy, cause="status", status=status)


def _request(address: CheckedAddress, ip: str, headers: Mapping[str, str]) -> httpx.Request:
    url = httpx.URL(scheme=address.scheme, host=ip, port=address.port, raw_path=address.target.encode("ascii"))
    extensions = {"timeout": _TIMEOUT.as_dict(), "sni_hostname": address.host}
    sent = {**headers, "Host": address.netloc, "Accept-Encoding": ACCEPT_ENCODING, "Connection": "close"}
    return httpx.Request("GET", url, headers=sent, extensions=extensions)


class _Inflater:
    """Decodes gzip or deflate, never more than asked for at once. A gzip body may be made of several members (RFC 1952 2.2)."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16 if gzip else zlib.MAX_WBITS)
        self._started = False
        self._members = 1

    @property
    def complete(self) -> bool:
        """Whether the stream came to its own end."""
        return self._stream.eof

    def decode(self, chunk: bytes, room: int) -> bytes:
        """At most ``room`` bytes of what the chunk decodes to; the caller stops where there would be more."""
        pieces, size = list[bytes](), 0
        for _ in range(_MAX_MEMBERS + 1):
            if self._stream.eof and not self._next_member(chunk):
                break
            pieces.append(self._decode(chunk, room - size))
            size += len(pieces[-1])
            if not self._stream.eof or size >= room:
                break
            chunk = self._stream.unused_data
        return b"".join(pieces)

    def _next_member(self, chunk: bytes) -> bool:
        """Begin anew where another member follows; what else follows the end is padding, and left alone."""
        if not self._gzip or not chunk.startswith(b"\x1f"):
            return False
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise _undecodable()
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        return True

    def _decode(self, chunk: bytes, room: int) -> bytes:
        try:
            piece = self._stream.decompress(chunk, max(1, room))
        except zlib.error as error:
            if self._gzip or self._started:
                raise _undecodable() from error
            piece = self._as_raw_deflate(chunk, room)
        self._started = True
        return piece

    def _as_raw_deflate(self, chunk: bytes, room: int) -> bytes:
        self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            return self._stream.decompress(chunk, max(1, room))
        except zlib.error as error:
            raise _undecodable() from error


def _decoder(encoding: str) -> _Inflater | None:
    names = [name for part in encoding.split(",") if (name := part.strip().lower())]
    packed = [name for name in names if name in _NOT_ASKED or name in _ASKED]
    if not packed:
        return None
    if len(packed) == 1 and packed[0] in _ASKED:
        return _Inflater(gzip=packed[0] != "deflate")
    raise FetchError("The server compressed the page in a way that was not asked for.", "Take another source.", cause="unreadable")


def _undecodable() -> FetchError:
    return FetchError("The page's compressed data are damaged.", "Try again later, or take another source.", cause="unreadable")

"""Bodies are bounded while they stream, whatever their coding; waits that servers ask for are read."""

import gzip
import zlib
from collections.abc import AsyncIterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.guard import AddressGuard
from deepdelve.tools.web.transport import PinnedTransport, read_bounded, retry_after, status_error
from tests.tools.web.doubles import PUBLIC, Names, Recorder, page

NOW = 1_790_000_000.0


async def in_pieces(data: bytes, size: int):
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def read(data: bytes, encoding: str = "", limit: int = 10_000, size: int = 7) -> bytes:
    return b"".join([piece async for piece in read_bounded(in_pieces(data, size), encoding=encoding, limit=limit)])


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("", bytes),
        ("identity", bytes),
        ("gzip", gzip.compress),
        ("X-GZIP", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
        ("gzip, identity", gzip.compress),
        ("gzip", lambda data: gzip.compress(data[:100]) + gzip.compress(b"") + gzip.compress(data[100:])),
        ("gzip", lambda data: gzip.compress(data) + bytes(40)),
        ("UTF-8", bytes),
        ("none", bytes),
        ("nonsense", bytes),
    ],
)
async def test_codings_that_were_asked_for_are_undone(encoding: str, pack: object) -> None:
    text = b"The bay has two tides a day. " * 40
    assert await read(pack(text), encoding) == text


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip, br", "compress"])
async def test_other_codings_are_refused(encoding: str) -> None:
    with pytest.raises(FetchError) as caught:
        await read(b"x", encoding)
    assert caught.value.cause == "unreadable"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data + b"\x1f\x8b and no more",
        lambda data: data + gzip.compress(b"") * 100,
        lambda data: data + gzip.compress(b"second")[:-9],
        lambda data: data[:-9],
        lambda data: data[:5],
        lambda data: b"not gzip at all",
        lambda data: data[:20] + b"\xff" * 50,
    ],
)
async def test_damaged_compression_is_said(damage: object) -> None:
    with pytest.raises(FetchError) as caught:
        await read(damage(gzip.compress(b"words " * 500)), "gzip")
    assert caught.value.cause == "unreadable"


@pytest.mark.parametrize("size", [1, 7, 60_000])
async def test_the_bound_holds_over_all_members_together(size: int) -> None:
    packed = gzip.compress(b"0" * 4_000) * 3
    assert len(await read(packed, "gzip", limit=12_000, size=size)) == 12_000
    with pytest.raises(FetchError) as caught:
        await read(packed, "gzip", limit=11_999, size=size)
    assert caught.value.cause == "too_large"


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate"])
async def test_the_bound_holds_for_what_is_received_and_for_what_it_decodes_to(encoding: str) -> None:
    packed = {"": bytes, "gzip": gzip.compress, "deflate": zlib.compress}[encoding](b"0" * 10_000)
    assert len(await read(packed, encoding, limit=10_000)) == 10_000
    seen = bytearray()
    with pytest.raises(FetchError) as caught:
        await _read_into(seen, read_bounded(in_pieces(packed, 1000), encoding=encoding, limit=9_999))
    assert caught.value.cause == "too_large"
    assert len(seen) <= 9_999


async def _read_into(seen: bytearray, pieces: AsyncIterator[bytes]) -> None:
    async for piece in pieces:
        seen += piece


@given(st.binary(max_size=2000), st.integers(1, 50))
async def test_reading_in_pieces_of_any_size_is_reading_the_whole(data: bytes, size: int) -> None:
    assert await read(gzip.compress(data), "gzip", size=size) == data


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1e9", None),
        ("9" * 30, 999_999_999.0),
        ("Mon, 21 Sep 2026 14:13:30 GMT", 10.0),
        ("Mon, 21 Sep 2020 00:00:00 GMT", 0.0),
        ("٣", None),
    ],
)
def test_a_wait_is_a_number_or_a_date(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}, NOW) == seconds
    assert retry_after({}, NOW) is None


@pytest.mark.parametrize(
    ("status", "word"),
    [(401, "log-in"), (403, "programs"), (404, "no such page"), (410, "gone"), (429, "pause"), (503, "later"), (799, "another")],
)
def test_a_status_is_explained(status: int, word: str) -> None:
    error = status_error("h.example", status)
    assert (error.cause, error.status) == ("status", status)
    assert word in error.line()


async def test_a_request_carries_no_more_than_it_should() -> None:
    recorder = Recorder({"h.example/p?q": page()})
    address = await AddressGuard(Names(default=[PUBLIC])).check("http://h.example/p?q#f")
    transport = PinnedTransport(recorder)
    async with transport.get(address, {"User-Agent": "x", "Host": "other.example"}) as answer:
        assert answer.status == 200
    (request,) = recorder.sent
    assert dict(request.headers) == {"user-agent": "x", "host": "h.example", "accept-encoding": "gzip, deflate", "connection": "close"}
    assert request.extensions["timeout"] == {"connect": 5.0, "read": 10.0, "write": 10.0, "pool": 10.0}


async def test_a_transport_that_fails_in_mid_body_is_told_apart() -> None:
    async def broken():
        yield b"half"
        raise httpx.ReadError("reset")

    recorder = Recorder({"h.example/": httpx.Response(200, content=broken())})
    address = await AddressGuard(Names(default=[PUBLIC])).check("http://h.example/")
    with pytest.raises(FetchError) as caught:
        async with PinnedTransport(recorder).get(address, {}) as answer:
            [piece async for piece in read_bounded(answer.body, encoding="", limit=100)]
    assert caught.value.cause == "unreachable"

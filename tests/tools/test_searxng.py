"""The client of a SearXNG instance: what it sends, and one class for each thing that can come back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.core.errors import ConfigError
from deepdelve.tools.search import engine
from deepdelve.tools.search.base import SearchQuery
from deepdelve.tools.search.searxng import Searxng
from deepdelve.tools.searxng import SearxngClient, SearxngReply, clean_query
from tests.support.searxng import FakeSearxng, Mode, answer, result
from tests.tools.search.doubles import Wire, json_answer


async def reply_in(mode: Mode, query: str = "bay") -> SearxngReply:
    async with FakeSearxng() as fake:
        fake.mode = mode
        client = SearxngClient(fake.url)
        reply = await client.search(query)
        await client.close()
    return reply


async def test_hits_are_canonical_plain_and_ranked() -> None:
    reply = await reply_in("ok")
    assert reply.kind == "ok"
    assert [(hit.rank, hit.url) for hit in reply.hits] == [
        (1, "https://tides.example/bay"),
        (2, "https://harbour.example/levels"),
        (3, "https://wall.example/2014"),
    ]
    assert (reply.hits[0].title, reply.hits[0].date, reply.hits[1].engine) == ("Tides of the bay", "2024-03-01", "localfts")
    assert reply.suggestions == ("tide table",)


@pytest.mark.parametrize(
    ("mode", "kind", "word"),
    [
        ("empty", "empty", "found nothing"),
        ("engines_down", "engines_down", "slow: timeout; broken: Suspended: too many requests"),
        ("json_disabled", "json_disabled", "Add json to search.formats"),
        ("limiter", "rate_limited", "4 JSON calls an hour"),
        ("redirect", "unavailable", "redirects (302)"),
        ("error", "unavailable", "500"),
        ("bad_request", "unavailable", "Invalid value abc"),
        ("html", "unavailable", "not JSON"),
        ("garbage", "unavailable", "not JSON"),
        ("list", "unavailable", "another shape"),
        ("error_in_json", "unavailable", "search backend is down"),
        ("huge", "unavailable", "too much"),
    ],
)
async def test_each_failure_has_its_class_and_says_what_to_do(mode: Mode, kind: str, word: str) -> None:
    reply = await reply_in(mode)
    assert (reply.kind, reply.hits) == (kind, ())
    assert word in reply.detail


async def test_no_answer_in_time_and_no_instance_are_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "TOTAL_SECONDS", 0.1)
    assert (await reply_in("slow")).kind == "unavailable"
    client = SearxngClient("http://127.0.0.1:1")
    assert (await client.search("bay")).kind == "unavailable"
    await client.close()


async def test_hits_beside_engines_that_failed_name_those() -> None:
    reply = await reply_in("partly_down")
    assert reply.kind == "ok"
    assert reply.unresponsive == (("slow", "timeout"),)


async def test_a_limiter_says_how_long() -> None:
    assert (await reply_in("limiter")).retry_after == 3600


async def test_a_hostile_answer_gives_only_pages_of_the_web_and_none_of_the_instance() -> None:
    reply = await reply_in("hostile")
    assert [hit.url for hit in reply.hits] == ["https://odd.example/", "https://marked.example/", "https://tides.example/bay"]
    marked = reply.hits[1]
    assert (marked.title, len(marked.snippet)) == ("x[/b] Title", 1000)
    assert "<b>bold</b> words" in marked.snippet


async def test_another_server_on_the_machine_of_the_instance_is_not_the_instance() -> None:
    async with FakeSearxng() as fake:
        port = fake.site.port
        other = [f"http://127.0.0.1:{port + 1}/tides", "http://127.0.0.1/tides"]
        own = [f"http://127.0.0.1:{port}/tides", f"https://127.0.0.1:{port}/tides", f"http://127.1:{port}/tides"]
        fake.corpus = [result(url, "Tides") for url in (*own, *other)]
        client = SearxngClient(fake.url)
        assert [hit.url for hit in (await client.search("tides")).hits] == other
        await client.close()


async def test_an_instance_on_the_usual_ports_is_known_by_both_schemes() -> None:
    rows = [result(url, "Tides") for url in ("https://searx.example/a", "http://searx.example./b", "https://searx.example:8443/c")]
    wire = Wire(json_answer(answer(rows)))
    client = SearxngClient("http://searx.example/", wire.client())
    assert [hit.url for hit in (await client.search("tides")).hits] == ["https://searx.example:8443/c"]
    await client.close()


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("!!g tides", "tides"),
        ("!images tides :de of <5 bay", "tides of bay"),
        ("tides\nof\tthe  bay\x00", "tides of the bay"),
        ("is 3 < 5 : a ratio :) ?", "is 3 < 5 : a ratio :) ?"),
        ("tides " * 200, ("tides " * 200)[:400].strip()),
        (":all <3 !wp", ""),
    ],
)
def test_a_query_cannot_steer_the_instance(query: str, sent: str) -> None:
    assert clean_query(query) == sent


@given(st.text())
def test_any_query_comes_out_as_one_clean_line(query: str) -> None:
    cleaned = clean_query(query)
    assert len(cleaned) <= 400
    assert "\n" not in cleaned
    assert not any(word.startswith("!") for word in cleaned.split())
    assert clean_query(cleaned) == cleaned


async def test_what_is_sent_is_the_contract_and_no_more() -> None:
    async with FakeSearxng() as fake:
        client = SearxngClient(fake.url + "/")
        await client.search("bay", language="de", time_range="year", categories="science", page=2)
        await client.search("!g :de")
        await client.close()
    assert fake.asked == [{"q": "bay", "format": "json", "language": "de", "time_range": "year", "categories": "science", "pageno": "2"}]
    headers = fake.headers[0]
    assert headers["accept"] == "application/json, text/html;q=0.9"
    assert (headers["accept-language"], headers["accept-encoding"]) == ("de", "gzip")
    assert headers["user-agent"].startswith("DeepDelve/")


async def test_no_more_than_ten_hits_of_a_query() -> None:
    async with FakeSearxng([result(f"https://h{n}.example/", f"bay {n}") for n in range(30)]) as fake:
        client = SearxngClient(fake.url)
        assert len((await client.search("bay")).hits) == 10
        await client.close()


@pytest.mark.parametrize("url", ["", "localhost:8888", "ftp://x.example", "http://"])
def test_an_address_that_is_none_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigError, match="SearXNG"):
        SearxngClient(url)


async def test_a_probe_tells_health_engines_and_whether_json_is_on() -> None:
    async with FakeSearxng() as fake:
        client = SearxngClient(fake.url)
        probe = await client.probe()
        assert (probe.healthy, probe.version, probe.engines) == (True, "2026.11.1", 2)
        fake.mode = "json_disabled"
        assert (await client.probe()).search.kind == "json_disabled"
        await client.close()
    client = SearxngClient("http://127.0.0.1:1")
    probe = await client.probe()
    await client.close()
    assert (probe.healthy, probe.engines, probe.search.kind) == (False, 0, "unavailable")


@pytest.mark.parametrize(
    ("mode", "outcome"),
    [
        ("ok", "ok"),
        ("empty", "empty"),
        ("engines_down", "engines_down"),
        ("json_disabled", "misconfigured"),
        ("limiter", "rate_limited"),
        ("error", "unavailable"),
    ],
)
async def test_as_an_engine_each_class_has_its_outcome(mode: Mode, outcome: str) -> None:
    async with FakeSearxng() as fake:
        fake.mode = mode
        backend = Searxng(SearxngClient(fake.url))
        response = await backend.search(SearchQuery("bay", profile="academic"))
        await backend.close()
    assert response.outcome == outcome
    assert bool(response.detail) == (outcome != "ok")
    assert fake.asked[0]["categories"] == "science"


async def test_as_an_engine_it_names_what_failed_beside_hits() -> None:
    async with FakeSearxng() as fake:
        fake.mode = "partly_down"
        backend = Searxng(SearxngClient(fake.url))
        assert (await backend.search(SearchQuery("bay"))).detail == "Without slow (timeout)."
        await backend.close()

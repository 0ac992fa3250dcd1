"""SearXNG and the pages it leads to, over real sockets: each class of answer, each query, each address that is refused."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from deepdelve.config import Settings
from deepdelve.core.errors import ConfigError
from deepdelve.engine.bounded import check
from deepdelve.engine.bounded.opening import open_services
from deepdelve.engine.bounded.service import VaultService
from deepdelve.engine.vault.layout import vault_of
from deepdelve.tools.searxng import SearxngClient, clean_query
from deepdelve.tools.web.extract import extract
from deepdelve.tools.web.fetch import WebFetcher
from deepdelve.tools.web.guard import AddressGuard
from deepdelve.tools.web.limits import HostLimits
from deepdelve.utils.grounding.stubs import detect
from tests.engine.bounded.kit import FACT, ScriptedFetcher, ScriptedModel, ScriptedSearxng, bench
from tests.support.searxng import FakeSearxng, Mode, result
from tests.support.web_site import WebSite


@pytest.fixture
async def searxng() -> AsyncIterator[FakeSearxng]:
    async with FakeSearxng() as made:
        yield made


def web(*, loopback: bool = False, resolver: object = None) -> WebFetcher:
    """The real fetcher without pauses between the pages of a host."""
    settings = Settings().fetch
    settings.cache = False
    guard = AddressGuard(resolver, allow_loopback=loopback)  # type: ignore[arg-type]
    return WebFetcher(settings, guard, extract=extract, detect=detect, limits=HostLimits(3, 0.0))


CLASSES: list[tuple[Mode, str, str]] = [
    ("json_disabled", "json_disabled", "search.formats"),
    ("limiter", "rate_limited", "limiter"),
    ("engines_down", "engines_down", "timeout"),
    ("html", "unavailable", "JSON"),
    ("redirect", "unavailable", "302"),
    ("huge", "unavailable", "too much"),
    ("garbage", "unavailable", "JSON"),
    ("error", "unavailable", "500"),
    ("list", "unavailable", "shape"),
    ("empty", "empty", "found nothing"),
]


@pytest.mark.parametrize(("mode", "kind", "says"), CLASSES)
async def test_b16_each_class_of_answer_is_kept_with_its_reason(searxng: FakeSearxng, mode: Mode, kind: str, says: str) -> None:
    searxng.mode = mode
    with bench(searxng=SearxngClient(searxng.url)) as made:
        ended = await made.run(max_iter=1)
        rows = made.ledger.queries(ended.run_id)
        await made.searxng.close()
    assert {row.kind for row in rows} == {kind}
    assert says in rows[0].detail
    assert ended.stop_detail == ("no_sources" if kind == "empty" else "search_unavailable")
    assert len(searxng.asked) == len(rows), "no query is tried again"


async def test_b16_a_slow_instance_is_given_up(searxng: FakeSearxng) -> None:
    searxng.mode = "slow"
    client = httpx.AsyncClient(timeout=0.2, trust_env=False)
    with bench(searxng=SearxngClient(searxng.url, client)) as made:
        ended = await made.run(max_iter=1)
        assert {row.kind for row in made.ledger.queries(ended.run_id)} == {"unavailable"}
        await made.searxng.close()


async def test_b16_a_refused_connection_is_unavailable() -> None:
    with bench(searxng=SearxngClient("http://127.0.0.1:9")) as made:
        ended = await made.run(max_iter=1)
        assert ended.stop_detail == "search_unavailable"
        await made.searxng.close()


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("!!g bay tides", "bay tides"),
        ("!wp :de tides", "tides"),
        ("tides\nof the\tbay", "tides of the bay"),
        ("tides <5", "tides"),
        ("!g", ""),
    ],
)
def test_b17_what_searxng_would_take_for_its_own_syntax_is_dropped(query: str, sent: str) -> None:
    assert clean_query(query) == sent


async def test_b17_no_query_reaches_the_instance_with_such_syntax(searxng: FakeSearxng) -> None:
    model = ScriptedModel(queries="!!g bay tides\n:de harbour levels <9\n" + "tide " * 200)
    with bench(model=model, searxng=SearxngClient(searxng.url), fetcher=ScriptedFetcher(any_page=FACT)) as made:
        await made.run(max_iter=1)
        await made.searxng.close()
    sent = sorted(asked["q"] for asked in searxng.asked)
    assert sent[:2] == ["bay tides", "harbour levels"]
    assert all(len(query) <= 400 for query in sent)
    assert {asked["format"] for asked in searxng.asked} == {"json"}


REFUSED = [
    "http://127.0.0.1/",
    "http://localhost/",
    "http://[::ffff:127.0.0.1]/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://metadata.google.internal/",
]


async def test_b18_no_internal_address_is_fetched_whatever_its_spelling() -> None:
    with bench(searxng=ScriptedSearxng(hits=lambda query: REFUSED), fetcher=web()) as made:
        ended = await made.run(max_iter=1)
        rows = made.ledger.sources(ended.run_id)
        await made.fetcher.close()
    assert rows
    assert all(row.outcome.startswith("refused") for row in rows)
    assert ended.stop_detail == "no_sources"


async def test_b18_a_redirect_to_an_internal_address_is_not_followed() -> None:
    async with WebSite() as site:
        urls = [site.url(path, "localhost") for path in ("/to-private", "/to-metadata", "/to-file", "/circle-a")]
        with bench(searxng=ScriptedSearxng(hits=lambda query: urls), fetcher=web(loopback=True)) as made:
            ended = await made.run(max_iter=1)
            outcomes = {row.url.rpartition("/")[2]: row.outcome.partition(":")[0] for row in made.ledger.sources(ended.run_id)}
            await made.fetcher.close()
    assert outcomes == {"to-private": "refused", "to-metadata": "refused", "to-file": "refused", "circle-a": "too_many_redirects"}


async def test_b18_a_name_that_changes_its_address_is_looked_up_once() -> None:
    answers = iter([["93.184.216.34", "127.0.0.1"], ["93.184.216.34"]])

    async def resolver(name: str, port: int) -> list[str]:
        return next(answers)

    fetcher = web(resolver=resolver)
    with bench(searxng=ScriptedSearxng(hits=lambda query: ["http://rebind.example/"]), fetcher=fetcher) as made:
        ended = await made.run(max_iter=1)
        assert made.ledger.sources(ended.run_id)[0].outcome.startswith("refused")
    assert next(answers), "the name was looked up a second time"
    await fetcher.close()


async def test_a_whole_run_over_real_sockets() -> None:
    async with WebSite() as site, FakeSearxng() as searxng:
        searxng.corpus = [
            result(site.url(path, "localhost"), "Tides of the northern bay", "tides")
            for path in ("/article", "/missing", "/login", "/paper")
        ]
        model = ScriptedModel(
            synthesize="# Tides\n\nThe northern bay has two tides a day, and the difference between high and low water is 4.2 metres on average. [1]\n"
            "In the storm of 1987 the water rose to 7.9 metres, which is still the highest level in the records of the office. [1]\n"
        )
        with bench(model=model, searxng=SearxngClient(searxng.url), fetcher=web(loopback=True)) as made:
            ended = await made.run("tides of the northern bay")
            rows = {row.url.rpartition("/")[2]: row for row in made.ledger.sources(ended.run_id)}
            await made.searxng.close()
            await made.fetcher.close()
            assert rows["article"].outcome == "ok"
            assert rows["missing"].outcome != "ok"
            assert rows["missing"].fetched_content_md is None
            assert rows["login"].outcome != "ok"
            assert made.ledger.get(ended.run_id).sources_usable == sum(row.outcome == "ok" for row in rows.values())
            page = made.pages()[0].read_text()
            assert "4.2 metres" in page
            assert (made.vault.asset(rows["article"].content_sha256 or "")).is_file()


async def test_check_names_each_failure_of_an_instance(searxng: FakeSearxng) -> None:
    settings = Settings()
    settings.api.backend = "builtin"
    settings.search.searxng_url = searxng.url
    for mode, kind, says in CLASSES:
        searxng.mode = mode
        rows = {row.name: row for row in await check.check(settings, vault_of(settings))}
        found = rows[f"searxng {kind.replace('_', ' ')}"]
        assert found.ok is (kind == "empty")
        assert says in found.detail
        assert found.fix
    assert rows["searxng"].ok
    assert rows["ledger"].ok
    assert rows["vault"].ok


async def test_check_says_what_is_missing_altogether() -> None:
    settings = Settings()
    settings.api.backend = "builtin"
    settings.settings.database_url = "nonsense://x"
    rows = {row.name: row for row in await check.check(settings, vault_of(settings))}
    assert "SEARXNG_URL" in rows["searxng"].fix
    assert not rows["ledger"].ok
    settings.search.searxng_url = "not an address"
    assert not (await check.check(settings, vault_of(settings)))[0].ok


async def test_without_an_instance_nothing_starts_and_there_is_no_row() -> None:
    with bench() as made:
        service = VaultService(made.settings, made.database)
        with pytest.raises(ConfigError, match="SearXNG"):
            await service.start("tides")
        assert made.ledger.runs()[1] == 0
        with pytest.raises(ConfigError, match="SearXNG"):
            await open_services(made.settings, made.vault, made.database)


async def test_the_services_of_the_settings_are_opened_and_closed(searxng: FakeSearxng) -> None:
    with bench() as made:
        made.settings.search.searxng_url = searxng.url
        made.settings.api.backend = "builtin"
        made.settings.search.blocked_domains = ["www.harbour.example"]
        services = await open_services(made.settings, made.vault, made.database)
        assert services.blocked_domains == {"harbour.example"}
        assert (await services.searxng.search("bay")).kind == "ok"
        await asyncio.wait_for(services.close(), 5)
        assert replace(services).model.model == "extractive-1"


async def test_round_zero_knows_earlier_reports_and_reads_their_pages_from_the_disk(
    searxng: FakeSearxng, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import UTC, datetime

    from deepdelve.core.records import Source
    from deepdelve.engine import earlier
    from deepdelve.engine.earlier import EarlierClaim, EarlierPage, Known

    url, now = "https://tides.example/bay", datetime.now(UTC).isoformat()
    page = EarlierPage("20260101_000000_abcdef", Source(id="S1", url=url, title="Tides", fetched_at=now, file="sources/S1.md"))
    known = Known({url: page}, {}, (EarlierClaim(page, FACT),))
    monkeypatch.setattr(earlier, "load", lambda: known)
    monkeypatch.setattr("deepdelve.engine.reuse.stored_text", lambda found: (f"# Tides\n\n{FACT}", None))
    model = ScriptedModel(assess=["INSUFFICIENT\n- more", "SUFFICIENT"])
    with bench() as made:
        made.settings.search.searxng_url = searxng.url
        made.settings.api.backend = "builtin"
        opened = await open_services(made.settings, made.vault, made.database)
        made.searxng = ScriptedSearxng(hits=lambda query: [url])
        services = replace(
            made.services(), fetcher=opened.fetcher, earlier=opened.earlier, model=replace(made.services().model, provider=model)
        )
        ended = await made.run(services=services, max_iter=2)
        await opened.close()
        assert made.ledger.sources(ended.run_id)[0].outcome == "ok", "nothing was fetched: the name does not resolve"
    first, second = (context for task, _, context in model.calls if task == "queries")
    assert FACT in first.known[0]
    assert "WHAT EARLIER RUNS FOUND" in model.calls[0][1][-1].content
    assert second.known == ()

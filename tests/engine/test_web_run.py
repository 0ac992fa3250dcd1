"""Whole runs over the web: every page fault and every search outcome ends honestly."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from deepdelve.core import events as ev
from deepdelve.tools.search.corpus_files import scan
from deepdelve.tools.web import shared
from tests.support.scripted import call, text
from tests.support.searxng import FakeSearxng, Mode
from tests.support.web_run import address, fetching, listed, run_web, web_rules, web_settings
from tests.support.web_site import MEGABYTE, Reply, WebSite
from tests.support.whole_run import good_searcher, results

# What a page has wrong, how it is listed, and a word of the reason.
FAULTS = {
    "/challenge": ("blocked", "403"),
    "/missing": ("unreachable", "404"),
    "/broken": ("unreachable", "500"),
    "/busy": ("blocked", "429"),
    "/login": ("stub", ""),
    "/shell": ("stub", ""),
    "/big": ("unreachable", "larger"),
    "/big-unsaid": ("unreachable", "larger"),
    "/bomb": ("unreachable", "larger"),
    "/wide": ("unreachable", "larger"),
    "/drip": ("unreachable", "slowly"),
    "/damaged": ("unreachable", "damaged"),
    "/brotli": ("unreachable", "compressed"),
    "/cut": ("unreachable", "connection"),
    "/circle-a": ("unreachable", "circle"),
    "/chain-6": ("unreachable", "redirects"),
    "/to-private": ("blocked", "10.0.0.1"),
    "/to-metadata": ("blocked", "169.254.169.254"),
    "/to-file": ("blocked", "http"),
    "/refresh-private": ("blocked", "192.168.1.1"),
    "/nowhere": ("unreachable", "302"),
    "/picture": ("unreachable", "image/png"),
    "/picture-as-page": ("unreachable", "PNG"),
    "/program": ("unreachable", "program"),
    "/empty": ("unreachable", "empty"),
}


@pytest.fixture
async def site() -> AsyncIterator[WebSite]:
    async with WebSite() as served:
        yield served


@pytest.fixture
async def searxng() -> AsyncIterator[FakeSearxng]:
    async with FakeSearxng() as served:
        yield served


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "SPACING_SECONDS", 0.0)


async def test_every_faulty_page_is_listed_with_its_reason_and_never_cited(site: WebSite, searxng: FakeSearxng) -> None:
    searxng.corpus = listed(site, "/article", *FAULTS)
    settings = web_settings(searxng, total_seconds=3.0, max_bytes=300_000, per_host=8)
    settings.search.max_results = 50
    faults = [path for path in FAULTS if path != "/busy"]
    # A page that asks for a pause closes its whole host, so it comes last; a Searcher may fetch twelve pages.
    for group in (["/article", *some] for some in (faults[:11], faults[11:22], faults[22:], ["/busy"])):
        run = await run_web(web_rules(*map(partial(address, site), group)), settings)
        assert run.result.outcome == "verified"
        assert {citation.url for citation in run.result.citations} == {address(site, "/article")}
        sources = {source.url.removeprefix(address(site, "")): source for source in run.run.state.sources.values()}
        assert set(sources) == set(group)
        for path in group[1:]:
            state, reason = FAULTS[path]
            assert (path, sources[path].state) == (path, state)
            assert reason in sources[path].reason
            assert sources[path].reason
            assert not sources[path].citable
        assert "could not be read" in run.report


async def test_pages_with_a_fault_that_can_be_mended_are_read(site: WebSite, searxng: FakeSearxng) -> None:
    mended = ("/to-article", "/chain-2", "/refresh", "/zipped", "/paper", "/table", "/nested", "/news")
    searxng.corpus = listed(site, *mended)
    run = await run_web(web_rules(*map(partial(address, site), mended)), web_settings(searxng))
    assert run.result.outcome == "verified"
    states = {source.url.removeprefix(address(site, "")): source.state for source in run.run.state.sources.values()}
    assert {path: states[path] for path in mended if path != "/nested"} == dict.fromkeys(mended[:6] + mended[7:], "ok")
    paper = next(source for source in run.run.state.sources.values() if source.url.endswith("/paper"))
    assert (paper.kind, (run.run.dir / f"sources/{paper.id}.pdf").is_file()) == ("pdf", True)


@pytest.mark.parametrize("path", ["/login", "/challenge", "/missing", "/to-private"])
async def test_with_faulty_pages_alone_there_is_no_evidence_and_the_report_says_so(site: WebSite, searxng: FakeSearxng, path: str) -> None:
    searxng.corpus = listed(site, path)
    run = await run_web(web_rules(address(site, path)), web_settings(searxng))
    assert (run.result.outcome, run.result.exit, run.result.citations) == ("no_evidence", 3, ())
    assert "No source in the available evidence" in run.report
    assert "99 metres" not in run.report


OUTCOMES: dict[Mode, str] = {
    "empty": "empty",
    "engines_down": "engines_down",
    "json_disabled": "misconfigured",
    "html": "unavailable",
    "limiter": "rate_limited",
    "redirect": "unavailable",
    "error": "unavailable",
    "bad_request": "unavailable",
    "garbage": "unavailable",
    "list": "unavailable",
    "huge": "unavailable",
}


@pytest.mark.parametrize("mode", OUTCOMES)
async def test_a_search_that_fails_is_named_and_nothing_is_invented(site: WebSite, searxng: FakeSearxng, mode: Mode) -> None:
    searxng.mode = mode
    run = await run_web(web_rules(Searcher=lambda m, o: text("Nothing.") if results(m) else good_searcher(m, o)), web_settings(searxng))
    (outcome,) = {event.outcome for event in run.surface.of(ev.SearchDone)}
    assert (mode, outcome) == (mode, OUTCOMES[mode])
    assert all(event.detail for event in run.surface.of(ev.SearchDone))
    assert (run.result.outcome, run.result.citations) == ("no_evidence", ())
    assert site.asked == []
    if outcome != "empty":
        assert "search" in run.report.lower()
        assert outcome.replace("_", " ") in run.report or "searxng" in run.report


@pytest.mark.parametrize("mode", ["ok", "partly_down", "hostile"])
async def test_a_search_that_answers_leads_to_pages(site: WebSite, searxng: FakeSearxng, mode: Mode) -> None:
    searxng.corpus = listed(site, "/article")
    searxng.mode = mode
    run = await run_web(web_rules(address(site, "/article")), web_settings(searxng))
    assert {(event.backend, event.outcome) for event in run.surface.of(ev.SearchDone)} == {("searxng", "ok")}
    assert run.result.outcome == "verified"
    assert "since 1931" in run.report


async def test_a_snippet_is_never_evidence(site: WebSite, searxng: FakeSearxng) -> None:
    searxng.corpus = listed(site, "/article")

    def from_snippets(messages, options):
        return text('- The tides of the bay are 99 metres high. [S1] "The tides of the bay are 99 metres high."')

    run = await run_web(web_rules(address(site, "/article"), Analyzer=from_snippets), web_settings(searxng))
    assert run.result.outcome == "no_evidence"
    assert "99 metres" not in run.report


async def test_the_scope_is_told_first_and_kept_to(site: WebSite, searxng: FakeSearxng, tmp_path) -> None:
    (tmp_path / "notes.md").write_text("# Tides\n\nThe tides of the bay are 3 metres high.\n")
    searxng.corpus = listed(site, "/article")
    cases = {
        "web": ("the web, searched with searxng", {address(site, "/article")}),
        "corpus": ("the 1 documents of the corpus; no web pages", {"corpus://notes"}),
        "both": ("1 documents of the corpus and the web", {address(site, "/article"), "corpus://notes"}),
    }
    for scope, (told, reachable) in cases.items():
        settings = web_settings(searxng)
        local = local_address(tmp_path / "notes.md")
        run = await run_web(web_rules(address(site, "/article"), local), settings, corpus=(str(tmp_path / "notes.md"),), scope=scope)
        first = run.surface.of(ev.Notice)[0]
        assert (first.code, run.run.state.scope) == ("scope", scope)
        assert told in first.text
        read = {source.url for source in run.run.state.sources.values()}
        assert {url.replace("corpus://notes", local) for url in reachable} == read
        if scope != "both":
            assert any(event.rule == "scope" for event in run.surface.of(ev.ToolRefused))


def local_address(path: Path) -> str:
    return scan([path]).files[0].address


async def test_seeds_are_read_whatever_the_scope(site: WebSite, searxng: FakeSearxng, tmp_path) -> None:
    (tmp_path / "corpus.md").write_text("# Bread\n\nBread is baked from flour.\n")
    (tmp_path / "seed.csv").write_text("place,height\nThe tides of the southern bay,3.5 metres\n")
    run = await run_web(
        web_rules(address(site, "/article")),
        web_settings(searxng),
        corpus=(str(tmp_path / "corpus.md"),),
        scope="corpus",
        seed_docs=(str(tmp_path / "seed.csv"),),
        seed_urls=(address(site, "/table"), address(site, "/missing")),
    )
    sources = {source.url: source for source in run.run.state.sources.values()}
    seeds = [source for source in sources.values() if source.origin == "seed"]
    assert {source.state for source in seeds} == {"ok", "unreachable"}
    assert [source.kind for source in seeds if source.state == "ok"] == ["csv", "html"]
    assert address(site, "/article") not in sources
    assert any(notice.code == "seed_unreadable" and "/missing" in notice.text for notice in run.surface.of(ev.Notice))


async def test_an_address_that_nobody_found_or_named_is_not_fetched(site: WebSite, searxng: FakeSearxng) -> None:
    searxng.corpus = listed(site, "/article")
    run = await run_web(web_rules(address(site, "/article"), site.url("/table")), web_settings(searxng))
    assert site.times_asked("/table") == 0
    assert run.result.outcome == "verified"


async def test_an_address_in_the_question_may_be_fetched(site: WebSite, searxng: FakeSearxng) -> None:
    url = address(site, "/article")
    run = await run_web(web_rules(url), web_settings(searxng), question=f"What does {url} say of the tides?")
    assert {citation.url for citation in run.result.citations} == {url}


async def test_twenty_runs_at_once_keep_one_hosts_limits(site: WebSite, searxng: FakeSearxng) -> None:
    async def slowly() -> AsyncIterator[bytes]:
        yield b"<html><body><p>The tides of the northern bay are 4.2 metres high"
        await asyncio.sleep(0.02)
        yield b" in spring, and the harbour office writes them down every hour.</p></body></html>"

    for number in range(20):
        site.pages[f"/run-{number}"] = lambda _: Reply(slowly)
    searxng.corpus = listed(site, *(f"/run-{number}" for number in range(20)))
    settings = web_settings(searxng, per_host=2)
    settings.search.max_results = 50
    runs = await asyncio.gather(*(run_web(web_rules(address(site, f"/run-{number}")), settings) for number in range(20)))
    assert {run.result.outcome for run in runs} == {"verified"}
    assert site.most_open == 2
    assert len(site.asked) == 20


def test_the_site_serves_more_than_the_fetcher_takes() -> None:
    from deepdelve.config import FetchSettings

    assert FetchSettings().max_bytes < 24 * MEGABYTE


def test_the_searcher_of_these_tests_searches_before_it_fetches() -> None:
    (first,) = fetching("http://a.example/")([], {})
    assert first.name == call("web_search", query="x").name

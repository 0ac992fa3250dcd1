"""Earlier runs in search and fetch: offered with their date, served without a fetch, taken over as sources of this run."""

import json
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.core.records import Hit, Source
from deepdelve.engine import facade
from deepdelve.engine.earlier import EarlierClaim, EarlierPage, Known
from deepdelve.engine.reuse import FRESH_DAYS, EarlierFindings, ReusingFetcher, ReusingSearch, is_fresh
from deepdelve.tools.search.base import SearchQuery, SearchResponse
from deepdelve.tools.web import shared
from deepdelve.tools.web.base import Page
from tests.support.scripted import call, text
from tests.support.searxng import FakeSearxng
from tests.support.web_run import address, listed, run_web, web_rules, web_settings
from tests.support.web_site import WebSite
from tests.support.whole_run import RIVERS, RecordingSurface, good_rules, results, run_scripted, write_corpus

NOW = datetime.now(UTC)
TODAY = NOW.date().isoformat()


def page(url: str, title: str, *, days: int = 0, run: str = "20260101_000000_aaaaaa", number: int = 1) -> EarlierPage:
    read = (NOW - timedelta(days=days)).isoformat(timespec="seconds")
    return EarlierPage(run, Source(id=f"S{number}", url=url, title=title, fetched_at=read, file=f"sources/S{number}.md", sha256="0"))


class Runs:
    """Earlier runs that are what a test says."""

    def __init__(self, *pages: EarlierPage, claims: tuple[tuple[int, str], ...] = ()) -> None:
        self.asked = 0
        found = tuple(EarlierClaim(pages[at], words) for at, words in claims)
        self._known = Known({p.source.url: p for p in pages}, {(p.run_id, p.source.id): p for p in pages}, found)

    async def known(self) -> Known:
        self.asked += 1
        return self._known


class Engine:
    name = "engine"

    def __init__(self, *urls: str, outcome: str = "ok", detail: str = "") -> None:
        hits = tuple(Hit(url=url, title="A hit", rank=rank) for rank, url in enumerate(urls, start=1))
        self.response = SearchResponse(hits, outcome, detail)  # type: ignore[arg-type]
        self.closed = False

    async def search(self, query: SearchQuery) -> SearchResponse:
        return self.response

    async def close(self) -> None:
        self.closed = True


BAY = page("https://bay.example/tides", "Tides of the northern bay")
OLD = page("https://old.example/tides", "Tides of the northern bay, once", days=FRESH_DAYS + 1, number=2)
BREAD = page("https://bread.example/", "How bread is baked", number=3)


async def test_a_hit_that_was_read_before_says_when() -> None:
    subject = ReusingSearch(Engine(BAY.source.url, "https://new.example/"), Runs(BAY))
    found = await subject.search(SearchQuery("harbour"))
    assert [(hit.url, hit.read_on) for hit in found.hits] == [(BAY.source.url, TODAY), ("https://new.example/", "")]
    assert (found.outcome, found.detail, subject.name) == ("ok", "", "engine")


async def test_fitting_pages_fill_the_room_that_is_left() -> None:
    subject = ReusingSearch(Engine("https://new.example/"), Runs(BAY, BREAD, OLD))
    found = await subject.search(SearchQuery("tides northern bay", limit=5))
    assert [hit.url for hit in found.hits] == ["https://new.example/", BAY.source.url]
    assert "1 of these pages" in found.detail
    full = await subject.search(SearchQuery("tides northern bay", limit=1))
    assert [hit.url for hit in full.hits] == ["https://new.example/"]


async def test_a_failed_search_stays_one_and_an_empty_one_is_answered() -> None:
    down = await ReusingSearch(Engine(outcome="rate_limited", detail="Wait."), Runs(BAY)).search(SearchQuery("tides bay"))
    assert (down.outcome, [hit.url for hit in down.hits]) == ("rate_limited", [BAY.source.url])
    assert down.detail.startswith("Wait.")
    empty = await ReusingSearch(Engine(outcome="empty"), Runs(BAY)).search(SearchQuery("tides bay"))
    assert (empty.outcome, len(empty.hits)) == ("ok", 1)
    nothing = await ReusingSearch(Engine(outcome="empty", detail="Nothing."), Runs(BREAD)).search(SearchQuery("tides bay"))
    assert (nothing.outcome, nothing.hits, nothing.detail) == ("empty", (), "Nothing.")


async def test_blocked_sites_local_documents_and_excluded_addresses_are_not_offered() -> None:
    local = page("corpus://docs/tides.md", "Tides of the northern bay", number=4)
    runs = Runs(BAY, local)
    assert (await ReusingSearch(Engine(), runs, ["bay.example"]).search(SearchQuery("tides bay"))).hits == ()
    excluded = SearchQuery("tides bay", exclude=frozenset({BAY.source.url}))
    assert (await ReusingSearch(Engine(), runs).search(excluded)).hits == ()


async def test_closing_closes_what_is_inside() -> None:
    engine = Engine()
    await ReusingSearch(engine, Runs()).close()
    assert engine.closed


def test_a_copy_is_fresh_for_a_month_and_never_without_a_date() -> None:
    assert is_fresh(page("https://a.example/", "", days=FRESH_DAYS - 1))
    assert not is_fresh(OLD)
    assert not is_fresh(EarlierPage("r", Source(id="S1", url="https://a.example/")))
    naive = EarlierPage("r", Source(id="S1", url="https://a.example/", fetched_at="2026-01-01T00:00:00"))
    assert is_fresh(naive, datetime(2026, 1, 2, tzinfo=UTC))


class Web:
    def __init__(self) -> None:
        self.fetched: list[str] = []

    async def fetch(self, url: str) -> Page:
        self.fetched.append(url)
        return Page(url, url, "fresh")

    async def close(self) -> None:
        self.fetched.append("closed")


async def test_what_cannot_be_served_is_fetched(isolated: Path) -> None:
    web = Web()
    # The folder of that run is not there, so its copy cannot be read.
    subject = ReusingFetcher(web, Runs(BAY, OLD))
    for url in (BAY.source.url, OLD.source.url, "https://unknown.example/", "corpus://docs/a.md"):
        assert (await subject.fetch(url)).text == "fresh"
    with pytest.raises(FetchError, match="No earlier run"):
        await subject.fetch("run://20260101_000000_aaaaaa/S1")
    with pytest.raises(FetchError, match="No earlier run"):
        await subject.fetch("run://../S1")
    await subject.close()
    assert web.fetched[-1] == "closed"


async def test_claims_are_found_by_their_words_within_the_scope() -> None:
    local = page("corpus://docs/tides.md", "Notes", number=4)
    runs = Runs(
        BAY, local, claims=((0, "The tides of the bay are 4 metres high."), (1, "The tides of the bay come twice a day."), (0, "Bread."))
    )
    for scope, addresses in (("web", {"S1"}), ("corpus", {"S4"}), ("both", {"S1", "S4"})):
        found = await EarlierFindings(runs, scope).search(SearchQuery("tides of the bay"))  # type: ignore[arg-type]
        assert {hit.url.rpartition("/")[2] for hit in found.hits} == addresses
    hit = (await EarlierFindings(runs, "web").search(SearchQuery("tides bay metres"))).hits[0]
    assert (hit.url, hit.copy_of, hit.read_on) == (f"run://{BAY.run_id}/S1", BAY.source.url, TODAY)
    assert hit.snippet == "The tides of the bay are 4 metres high."


async def test_a_claim_is_given_once_and_nothing_is_said_to_be_nothing() -> None:
    again = page("https://bay.example/again", "Again", number=2, run="20260202_000000_bbbbbb")
    runs = Runs(BAY, again, claims=((0, "The tides are high."), (1, "The tides are high.")))
    assert len((await EarlierFindings(runs, "web").search(SearchQuery("tides high"))).hits) == 1
    none = await EarlierFindings(runs, "web").search(SearchQuery("bread"))
    assert (none.outcome, none.hits) == ("empty", ())
    assert none.detail
    assert (await EarlierFindings(runs, "web").search(SearchQuery("the of"))).hits == ()


# Whole runs


@pytest.fixture
async def site() -> AsyncIterator[WebSite]:
    async with WebSite() as served:
        yield served


@pytest.fixture
async def searxng(site: WebSite) -> AsyncIterator[FakeSearxng]:
    async with FakeSearxng() as served:
        served.corpus = listed(site, "/article")
        yield served


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "SPACING_SECONDS", 0.0)


async def test_a_page_is_fetched_for_one_run_and_served_to_the_next(site: WebSite, searxng: FakeSearxng) -> None:
    url = address(site, "/article")
    first = await run_web(web_rules(url), web_settings(searxng))
    second = await run_web(web_rules(url), web_settings(searxng))
    assert site.times_asked("/article") == 1
    one, two = first.run.state.sources["S1"], second.run.state.sources["S1"]
    assert (two.origin, two.url, two.fetched_at, two.sha256) == ("earlier run", one.url, one.fetched_at, one.sha256)
    assert (second.run.dir / "sources/S1.html").read_bytes() == (first.run.dir / "sources/S1.html").read_bytes()
    assert second.result.outcome == "verified"
    shown = next(c for call_ in second.factory.calls if call_.role == "Searcher" for c in results(call_.messages) if '"hits"' in c)
    assert f'"read_on": "{one.fetched_at[:10]}"' in shown


async def test_a_seed_and_a_run_that_reuses_nothing_fetch_anew(site: WebSite, searxng: FakeSearxng) -> None:
    url = address(site, "/article")
    await run_web(web_rules(url), web_settings(searxng))
    await run_web(web_rules(url), web_settings(searxng), seed_urls=(url,))
    off = await run_web(web_rules(url), web_settings(searxng, reuse_earlier_runs=False))
    assert site.times_asked("/article") == 3
    assert {source.origin for source in off.run.state.sources.values()} == {"search"}


def taking_over(messages, options):
    """Looks for verified findings, takes the first one's source over, and has it read."""
    found = results(messages)
    if not found:
        return [call("search_verified_findings", query="How high are the tides of the northern bay?")]
    if len(found) == 1:
        claims = json.loads(found[0].split("\n")[1])["claims"]
        return [call("fetch_url_to_workspace", url=claims[0]["address"])] if claims else text("Nothing.")
    if len(found) == 2:
        return [call("delegate_tasks", tasks=[{"task_name": "read", "instructions": "How high are the tides?"}])]
    return text("Done.")


async def test_a_verified_finding_leads_to_its_stored_source(site: WebSite, searxng: FakeSearxng) -> None:
    first = await run_web(web_rules(address(site, "/article")), web_settings(searxng))
    searxng.mode = "engines_down"
    second = await run_web(web_rules(Searcher=taking_over), web_settings(searxng))
    assert site.times_asked("/article") == 1
    (source,) = (source for source in second.run.state.sources.values() if source.citable)
    assert (source.origin, source.url) == ("earlier run", address(site, "/article"))
    assert second.result.outcome == "verified"
    assert {citation.url for citation in second.result.citations} == {citation.url for citation in first.result.citations}
    answer = next(c for call_ in second.factory.calls if call_.role == "Searcher" for c in results(call_.messages) if '"claims"' in c)
    lines = answer.split("\n")
    assert (lines[0], lines[-1]) == (f"<<<untrusted {second.run.nonce}>>>", f"<<<end {second.run.nonce}>>>")
    told = json.loads(lines[1])["claims"][0]
    assert (told["page"], told["read_on"]) == (source.url, source.fetched_at[:10])
    assert told["claim"]


async def test_an_older_copy_never_takes_the_place_of_what_this_run_has_read(site: WebSite, searxng: FakeSearxng) -> None:
    url = address(site, "/article")
    await run_web(web_rules(url), web_settings(searxng))
    site.add(
        "/article", "<html><title>Tides</title><body><p>The tides of the northern bay are 9 metres high since the flood.</p></body></html>"
    )

    def both(messages, options):
        found = results(messages)
        steps = [
            [call("search_verified_findings", query="tides northern bay")],
            [call("fetch_url_to_workspace", url=json.loads(found[0].split("\n")[1])["claims"][0]["address"])] if found else [],
            [call("delegate_tasks", tasks=[{"task_name": "read", "instructions": "How high are the tides?", "source_ids": ["S1"]}])],
        ]
        return steps[len(found)] if len(found) < len(steps) else text("Done.")

    run = await run_web(web_rules(Searcher=both), web_settings(searxng), seed_urls=(url,))
    assert list(run.run.state.sources) == ["S1"]
    assert "9 metres" in run.run.read_source("S1")
    assert run.run.state.sources["S1"].origin == "seed"


async def test_an_address_of_an_earlier_run_that_was_not_offered_is_refused(site: WebSite, searxng: FakeSearxng) -> None:
    first = await run_web(web_rules(address(site, "/article")), web_settings(searxng))
    run = await run_web(web_rules(f"run://{first.run.run_id}/S1"), web_settings(searxng))
    assert run.run.state.sources == {}


async def test_a_corpus_run_is_not_told_of_web_pages(site: WebSite, searxng: FakeSearxng, tmp_path: Path) -> None:
    await run_web(web_rules(address(site, "/article")), web_settings(searxng))
    run = await run_web(
        web_rules(Searcher=taking_over), web_settings(searxng), corpus=(str(write_corpus(tmp_path / "c", RIVERS)),), scope="corpus"
    )
    assert all(source.origin != "earlier run" for source in run.run.state.sources.values())


async def test_a_corpus_source_of_an_earlier_run_can_be_taken_over(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    await run_scripted(good_rules(), corpus)

    def searcher(messages, options):
        return (
            [call("search_verified_findings", query="Alder kilometres long")]
            if not results(messages)
            else taking_over([*messages], options)
        )

    run = await run_scripted(good_rules(Searcher=searcher), write_corpus(tmp_path / "bread", {"Bread": "# Bread\n\nBread is baked.\n"}))
    taken = [source for source in run.run.state.sources.values() if source.origin == "earlier run"]
    assert [source.url for source in taken] == ["corpus://rivers/Alder.md"]
    assert "212 kilometres" in run.report


async def test_a_recorded_run_that_used_earlier_runs_is_replayed_without_them(site: WebSite, searxng: FakeSearxng) -> None:
    first = await run_web(web_rules(address(site, "/article")), web_settings(searxng))
    recorded = await run_web(web_rules(Searcher=taking_over), web_settings(searxng), record=True)
    shutil.rmtree(first.run.dir)
    handle, original = await facade.replay(recorded.run.run_id, RecordingSurface())
    await handle.wait()
    assert facade.differing(original, handle.dir) == []

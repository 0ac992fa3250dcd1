"""A key is used and never kept: a whole run whose servers repeat it in every error leaves no trace of it."""

import logging
import tarfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from deepdelve.cli.logs import log_file, record_crash, start_logging
from deepdelve.config import Settings, config_path, home
from deepdelve.core.errors import BackendError, FetchError
from deepdelve.engine import facade
from deepdelve.engine.backends.record import RecordingFetcher, RecordingSearch
from deepdelve.engine.setup import Prepared
from deepdelve.tools.search.base import SearchQuery, SearchResponse
from deepdelve.tools.web import shared
from deepdelve.tools.web.base import Page
from tests.support.searxng import FakeSearxng
from tests.support.web_run import address, listed, run_web, web_rules, web_settings
from tests.support.web_site import WebSite
from tests.support.whole_run import WholeRun

KEY = "planted-key-0f1e2d3c4b5a69788796"
MASKED = "********"


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "SPACING_SECONDS", 0.0)
    monkeypatch.setenv("TAVILY_API_KEY", KEY)


@pytest.fixture
async def site() -> AsyncIterator[WebSite]:
    async with WebSite() as served:
        yield served


@pytest.fixture
async def searxng(site: WebSite) -> AsyncIterator[FakeSearxng]:
    async with FakeSearxng() as served:
        served.corpus = listed(site, "/article", "/missing")
        yield served


def keyed(searxng: FakeSearxng) -> Settings:
    """Settings as they are loaded, with the double's address."""
    settings = web_settings(searxng)
    settings.search.tavily_api_key = facade.load_settings().search.tavily_api_key
    assert settings.search.tavily_api_key.get_secret_value() == KEY
    return settings


def traces(folder: Path, key: str = KEY) -> list[str]:
    """The files below a folder that hold the key."""
    return [str(path) for path in folder.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]


def nowhere(run: WholeRun) -> None:
    assert traces(home()) == []
    assert KEY not in run.report
    assert KEY not in str(run.result)
    for event in run.surface.events:
        assert KEY not in event.model_dump_json()


def refused(messages, options):
    raise BackendError(f"Incorrect API key provided: {KEY}.", "Check it.", cause="unauthorized")


@pytest.mark.parametrize("role", ["Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder", "PeerReviewer"])
async def test_a_model_server_that_repeats_the_key_puts_it_nowhere(site: WebSite, searxng: FakeSearxng, role: str) -> None:
    run = await run_web(web_rules(address(site, "/article"), **{role: refused}), keyed(searxng), record=True)
    nowhere(run)
    assert any(MASKED in event.model_dump_json() for event in run.surface.events)


async def test_search_and_fetch_that_repeat_the_key_put_it_nowhere_and_show_it_to_no_model(site: WebSite, searxng: FakeSearxng) -> None:
    class Search:
        name = "tavily"

        async def search(self, query: SearchQuery) -> SearchResponse:
            return SearchResponse((), "misconfigured", f"The key {KEY} is not valid.")

        async def close(self) -> None:
            pass

    class Fetch:
        async def fetch(self, url: str) -> Page:
            raise FetchError(f"The proxy refused {KEY}.", cause="unreachable")

        async def close(self) -> None:
            pass

    def echoing(prepared: Prepared) -> Prepared:
        assert prepared.recorder is not None
        return replace(prepared, search=RecordingSearch(Search(), prepared.recorder), fetcher=RecordingFetcher(Fetch(), prepared.recorder))

    url = address(site, "/article")
    run = await run_web(web_rules(url), keyed(searxng), change=echoing, record=True, seed_urls=(url,))
    nowhere(run)
    assert run.run.state.search_health == {"tavily": "misconfigured"}
    for call in run.factory.calls:
        assert KEY not in call.instructions
        for message in call.messages:
            assert KEY not in message.text
            assert not any(KEY in str(content.result) for content in message.contents)


async def test_no_model_is_told_of_a_key_in_another_dispatchs_failure(site: WebSite, searxng: FakeSearxng) -> None:
    run = await run_web(web_rules(address(site, "/article"), Searcher=refused), keyed(searxng))
    planner = [content for call in run.factory.calls if call.role == "Planner" for m in call.messages for content in m.contents]
    assert any(MASKED in str(content.result) for content in planner)
    assert not any(KEY in str(content.result) or KEY in (content.text or "") for content in planner)


async def test_a_clean_run_with_keys_is_as_any_other_and_its_bundle_holds_none(site: WebSite, searxng: FakeSearxng, tmp_path: Path) -> None:
    settings = keyed(searxng)
    run = await run_web(web_rules(address(site, "/article")), settings, record=True)
    assert run.result.outcome == "verified"
    nowhere(run)
    with tarfile.open(facade.bundle(run.run.run_id, settings, tmp_path / "bundle.tar.gz")) as archive:
        archive.extractall(tmp_path / "opened", filter="data")
    assert traces(tmp_path / "opened") == []


async def test_words_of_a_source_that_are_also_a_short_key_stay(
    site: WebSite, searxng: FakeSearxng, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "harbour")
    run = await run_web(web_rules(address(site, "/article")), keyed(searxng))
    assert run.result.outcome == "verified"
    assert "harbour office" in run.report


def test_keys_are_looked_up_when_settings_load_and_when_one_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    home().mkdir(parents=True)
    assert facade.load_settings().search.tavily_api_key.get_secret_value() == KEY
    changed = facade.set_setting("ui.theme", "nord")
    assert changed.search.tavily_api_key.get_secret_value() == KEY
    assert KEY not in config_path().read_text()
    monkeypatch.delenv("TAVILY_API_KEY")
    (home() / "secrets.json").write_text('{"search.tavily_api_key": "from-the-file"}')
    (home() / "secrets.json").chmod(0o600)
    assert facade.load_settings().search.tavily_api_key.get_secret_value() == "from-the-file"


def test_settings_print_their_keys_masked() -> None:
    from deepdelve.tui.commands import setting

    settings = facade.load_settings()
    assert KEY not in f"{setting(settings, 'search.tavily_api_key')}"
    assert KEY not in repr(settings)
    assert KEY not in settings.model_dump_json()


@pytest.fixture
def restored_logging():
    root = logging.getLogger()
    handlers, level, raising = [*root.handlers], root.level, logging.raiseExceptions
    yield
    for handler in root.handlers:
        if handler not in handlers:
            handler.close()
    root.handlers[:], logging.raiseExceptions = handlers, raising
    root.setLevel(level)


@pytest.mark.usefixtures("restored_logging")
def test_the_log_holds_no_key_in_messages_or_tracebacks() -> None:
    start_logging(facade.masker(facade.load_settings()))
    log = logging.getLogger("deepdelve.engine")
    log.warning("The server refused %s", KEY)
    try:
        raise ValueError(f"no good: {KEY}")
    except ValueError as error:
        log.exception("failed")
        record_crash(error)
    text = log_file().read_text()
    assert text.count(MASKED) >= 3
    assert traces(home()) == []

"""Which engines the settings ask for."""

import httpx
import pytest

from deepdelve.config import Settings
from deepdelve.core.errors import ConfigError
from deepdelve.tools.search.base import SearchBackend, SearchQuery
from deepdelve.tools.search.registry import NAMES, build
from tests.support.searxng import FakeSearxng
from tests.tools.search.doubles import FakeEngine, Wire, found, json_answer, streamed

ACADEMIC = "+openalex+arxiv+crossref+semantic_scholar"


def settings(**search: object) -> Settings:
    return Settings.model_validate({"search": search})


def corpus() -> FakeEngine:
    return FakeEngine("corpus", found("corpus://notes/a.md"))


def built(local: SearchBackend | None = None, **search: object) -> SearchBackend:
    return build(settings(**search), local, Wire(httpx.ConnectError("no network")).client, env={})


@pytest.mark.parametrize(
    ("search", "has_corpus", "name"),
    [
        ({}, True, "corpus"),
        ({}, False, "ddgs+wikipedia" + ACADEMIC),
        ({"searxng_url": "http://127.0.0.1:8888"}, True, "corpus"),
        ({"searxng_url": "http://127.0.0.1:8888"}, False, "searxng" + ACADEMIC),
        ({"brave_api_key": "k", "tavily_api_key": "k"}, False, "ddgs+brave+tavily+wikipedia" + ACADEMIC),
        ({"scope": "corpus"}, True, "corpus"),
        ({"scope": "web"}, True, "ddgs+wikipedia" + ACADEMIC),
        ({"scope": "both"}, True, "corpus+ddgs+wikipedia" + ACADEMIC),
        ({"backend": "wikipedia"}, True, "wikipedia"),
        ({"backend": "Wikipedia, ddgs,ddgs"}, False, "wikipedia+ddgs"),
        ({"backend": "corpus"}, True, "corpus"),
        ({"backend": "ddgs", "scope": "both"}, True, "corpus+ddgs"),
        ({"backend": "corpus,ddgs", "scope": "web"}, True, "ddgs"),
        ({"backend": "corpus", "scope": "web"}, True, "ddgs+wikipedia" + ACADEMIC),
        ({"backend": "ddgs", "scope": "corpus"}, True, "corpus"),
        ({"backend": ""}, False, "ddgs+wikipedia" + ACADEMIC),
    ],
)
async def test_the_settings_choose_the_engines(search: dict[str, object], has_corpus: bool, name: str) -> None:
    backend = built(corpus() if has_corpus else None, **search)
    assert backend.name == name
    await backend.close()


async def test_the_address_of_searxng_may_come_from_the_environment() -> None:
    backend = build(settings(), env={"SEARXNG_URL": "http://127.0.0.1:8888"})
    assert backend.name == "searxng" + ACADEMIC
    await backend.close()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "corpus"])
async def test_each_engine_can_be_asked_for_by_name(name: str) -> None:
    backend = built(backend=name, searxng_url="http://127.0.0.1:8888", brave_api_key="k", tavily_api_key="k")
    response = await backend.search(SearchQuery("tides"))
    assert (backend.name, response.outcome) == (name, "unavailable")
    await backend.close()


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"backend": "duckduck"}, "There is no search engine named 'duckduck'"),
        ({"backend": "wikipdia"}, "Did you mean wikipedia?"),
        ({"backend": "auto,ddgs"}, "auto together with names"),
        ({"backend": "searxng"}, "Set search.searxng_url or SEARXNG_URL"),
        ({"backend": "searxng", "searxng_url": "localhost"}, "SearXNG is not one"),
        ({"backend": "brave"}, "DEEPDELVE_SEARCH__BRAVE_API_KEY"),
        ({"backend": "ddgs,tavily"}, "The engine tavily needs a key"),
        ({"backend": "corpus"}, "there is none"),
        ({"scope": "corpus"}, "there is no corpus"),
        ({"scope": "both"}, "there is no corpus"),
    ],
)
def test_what_cannot_be_had_is_one_clear_line(search: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        built(**search)
    assert message in caught.value.line()


async def test_with_a_corpus_beside_the_web_both_are_asked() -> None:
    async with FakeSearxng() as fake:
        backend = build(settings(scope="both", searxng_url=fake.url), corpus(), env={})
        response = await backend.search(SearchQuery("bay"))
        await backend.close()
    assert [hit.url for hit in response.hits][:2] == ["corpus://notes/a.md", "https://tides.example/bay"]


def nothing_found(request: httpx.Request) -> httpx.Response:
    if request.url.host == "export.arxiv.org":
        return streamed('<feed xmlns="http://www.w3.org/2005/Atom"><title>q</title></feed>')
    return json_answer({"results": [], "data": [], "message": {"items": []}})


async def test_an_academic_search_goes_to_academic_engines() -> None:
    wire = Wire(nothing_found)
    backend = build(settings(), None, wire.client, env={})
    response = await backend.search(SearchQuery("tides", profile="academic"))
    await backend.close()
    hosts = {request.url.host for request in wire.sent}
    assert hosts == {"api.openalex.org", "export.arxiv.org", "api.crossref.org", "api.semanticscholar.org"}
    assert response.outcome == "empty"


async def test_keys_reach_the_engines_they_are_for_and_no_others() -> None:
    wire = Wire(lambda _: json_answer({}))
    backend = build(
        settings(backend="brave,tavily,wikipedia", brave_api_key="bk", tavily_api_key="tk", contact_email="me@example.org"),
        None,
        wire.client,
        env={},
    )
    await backend.search(SearchQuery("tides"))
    await backend.close()
    sent = {request.url.host: str(request.headers) for request in wire.sent}
    assert "'bk'" in sent["api.search.brave.com"]
    assert "tk" not in sent["api.search.brave.com"] + sent["en.wikipedia.org"]
    assert "me@example.org" in sent["en.wikipedia.org"]

"""Each engine: the request that it documents, its answer taken apart, and every way in which it fails.

The answers are written by hand after the operators' documentation; no engine is ever contacted.
"""

import contextlib
import html
import json
import urllib.parse
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepdelve.core.errors import SearchError
from deepdelve.tools.search import engine as module
from deepdelve.tools.search.arxiv import Arxiv
from deepdelve.tools.search.base import SearchQuery, SearchResponse
from deepdelve.tools.search.brave import Brave
from deepdelve.tools.search.crossref import Crossref
from deepdelve.tools.search.ddgs import Ddgs
from deepdelve.tools.search.engine import HttpEngine
from deepdelve.tools.search.openalex import OpenAlex
from deepdelve.tools.search.semantic_scholar import SemanticScholar
from deepdelve.tools.search.tavily import Tavily
from deepdelve.tools.search.wikipedia import Wikipedia
from tests.tools.search.doubles import Wire, json_answer, streamed

QUERY = SearchQuery("heat  pumps\n", limit=5)


def ddgs_page(*results: tuple[str, str, str], extra: str = "") -> str:
    blocks = "".join(
        f'<div class="result web-result"><h2><a class="result__a" href="{html.escape(url)}">{title}</a></h2>'
        f'<a class="result__snippet" href="#">{snippet}</a></div>'
        for url, title, snippet in results
    )
    return f'<html><body><div id="links" class="results">{blocks}{extra}</div></body></html>'


def redirected(url: str) -> str:
    return "//duckduckgo.com/l/?uddg=" + urllib.parse.quote(url, safe="") + "&rut=abc"


DDGS = ddgs_page(
    (redirected("https://pumps.example/heat?x=1&utm_source=ddg"), "Heat <b>pumps</b>", "How a heat pump works."),
    ("https://direct.example/", "Direct", "A link without redirect."),
    extra='<div class="result result--ad"><a class="result__a" href="//duckduckgo.com/y.js?ad_domain=shop.example">Buy</a></div>',
)
WIKIPEDIA = {
    "batchcomplete": True,
    "query": {
        "searchinfo": {"totalhits": 2},
        "search": [
            {
                "ns": 0,
                "title": "Heat pump",
                "pageid": 1,
                "snippet": 'A <span class="searchmatch">heat</span> pump',
                "timestamp": "2025-01-02T03:04:05Z",
            },
            {"ns": 0, "title": "C++ (language)/Ä?", "pageid": 2, "snippet": "x &amp; y", "timestamp": ""},
        ],
    },
}
ARXIV = """<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title>
<entry><id>http://arxiv.org/abs/2401.01234v2</id><published>2024-01-03T00:00:00Z</published><title>Heat pumps
 at scale</title><summary>We measure a seasonal factor of 3.1.</summary><author><name>A. Author</name></author></entry>
<entry><id>http://arxiv.org/abs/cs/0301001v1</id><published>2003-01-01T00:00:00Z</published><title>Older</title><summary>Text</summary></entry></feed>"""
OPENALEX = {
    "meta": {"count": 2},
    "results": [
        {
            "id": "https://openalex.org/W1",
            "doi": "https://doi.org/10.1000/xyz",
            "display_name": "Heat pumps in cold climates",
            "publication_date": "2023-05-06",
            "abstract_inverted_index": {"pumps": [1, 4], "Heat": [0], "work;": [2], "heat": [3]},
            "best_oa_location": {"pdf_url": None, "landing_page_url": "https://repository.example/1"},
        },
        {"id": "https://openalex.org/W2", "doi": "https://doi.org/10.1000/abc", "display_name": "Closed", "best_oa_location": None},
    ],
}
CROSSREF = {
    "status": "ok",
    "message": {
        "items": [
            {
                "DOI": "10.1000/XYZ",
                "URL": "http://dx.doi.org/10.1000/xyz",
                "title": ["Heat pumps"],
                "abstract": "<jats:p>A factor of 3.1.</jats:p>",
                "issued": {"date-parts": [[2023, 5]]},
            },
            {"DOI": "10.1000/abc", "title": [], "container-title": ["Energy"], "issued": {"date-parts": [[None]]}},
        ]
    },
}
SCHOLAR = {
    "total": 2,
    "data": [
        {
            "paperId": "1",
            "title": "Heat pumps",
            "url": "https://www.semanticscholar.org/paper/1",
            "abstract": None,
            "year": 2023,
            "openAccessPdf": {"url": "https://open.example/1.pdf"},
        },
        {
            "paperId": "2",
            "title": "Two",
            "url": "https://www.semanticscholar.org/paper/2",
            "publicationDate": "2022-02-03",
            "openAccessPdf": None,
            "externalIds": {"DOI": "10.1/2"},
        },
    ],
}
BRAVE = {
    "web": {
        "results": [
            {
                "title": "Heat pumps",
                "url": "https://pumps.example/",
                "description": "Text &amp; more",
                "page_age": "2024-02-03T00:00:00",
            }
        ]
    }
}
TAVILY = {
    "answer": None,
    "results": [{"title": "Heat pumps", "url": "https://pumps.example/", "content": "Text", "score": 0.9, "published_date": "2024-02-03"}],
}

Make = Callable[[httpx.AsyncClient], HttpEngine]
ENGINES: dict[str, tuple[Make, Any]] = {
    "ddgs": (Ddgs, DDGS),
    "wikipedia": (Wikipedia, WIKIPEDIA),
    "arxiv": (Arxiv, ARXIV),
    "openalex": (OpenAlex, OPENALEX),
    "crossref": (Crossref, CROSSREF),
    "semantic_scholar": (lambda client: SemanticScholar(client, key="s2-key"), SCHOLAR),
    "brave": (lambda client: Brave(client, key="brave-key"), BRAVE),
    "tavily": (lambda client: Tavily(client, key="tavily-key"), TAVILY),
}


async def ask(name: str, wire: Wire, query: SearchQuery = QUERY) -> SearchResponse:
    subject = ENGINES[name][0](wire.client())
    response = await subject.search(query)
    await subject.close()
    assert subject.name == name
    return response


def usual(name: str) -> httpx.Response:
    body = ENGINES[name][1]
    return streamed(body) if isinstance(body, str) else json_answer(body)


@pytest.mark.parametrize("name", ENGINES)
async def test_a_usual_answer_gives_ranked_hits_of_the_engine(name: str) -> None:
    response = await ask(name, Wire(usual(name)))
    assert (response.outcome, response.detail) == ("ok", "")
    assert [hit.rank for hit in response.hits] == list(range(1, len(response.hits) + 1))
    assert {hit.engine for hit in response.hits} == {name}
    assert all("<" not in hit.title + hit.snippet for hit in response.hits)


async def test_the_hits_of_each_engine() -> None:
    seen = {name: [hit.url for hit in (await ask(name, Wire(usual(name)))).hits] for name in ENGINES}
    assert seen == {
        "ddgs": ["https://pumps.example/heat?x=1", "https://direct.example/"],
        "wikipedia": ["https://en.wikipedia.org/wiki/Heat_pump", "https://en.wikipedia.org/wiki/C%2B%2B_(language)/%C3%84%3F"],
        "arxiv": ["https://arxiv.org/abs/2401.01234v2", "https://arxiv.org/abs/cs/0301001v1"],
        "openalex": ["https://repository.example/1", "https://doi.org/10.1000/abc"],
        "crossref": ["https://doi.org/10.1000/XYZ", "https://doi.org/10.1000/abc"],
        "semantic_scholar": ["https://open.example/1.pdf", "https://doi.org/10.1/2"],
        "brave": ["https://pumps.example/"],
        "tavily": ["https://pumps.example/"],
    }


async def test_titles_snippets_and_dates_are_plain() -> None:
    first = {name: (await ask(name, Wire(usual(name)))).hits[0] for name in ENGINES}
    assert first["ddgs"].title == "Heat pumps"
    assert (first["wikipedia"].snippet, first["wikipedia"].date) == ("A heat pump", "2025-01-02")
    assert (first["arxiv"].title, first["arxiv"].date) == ("Heat pumps at scale", "2024-01-03")
    assert (first["openalex"].snippet, first["openalex"].date) == ("Heat pumps work; heat pumps", "2023-05-06")
    assert (first["crossref"].snippet, first["crossref"].date) == ("A factor of 3.1.", "2023-05")
    assert first["semantic_scholar"].date == "2023"
    assert (first["brave"].snippet, first["brave"].date) == ("Text & more", "2024-02-03")


@pytest.mark.parametrize(
    ("name", "address", "params"),
    [
        ("wikipedia", "https://en.wikipedia.org/w/api.php", {"srsearch": "heat pumps", "srlimit": "5", "list": "search"}),
        ("arxiv", "https://export.arxiv.org/api/query", {"search_query": "all:heat AND all:pumps", "max_results": "5"}),
        ("openalex", "https://api.openalex.org/works", {"search": "heat pumps", "per-page": "5"}),
        ("crossref", "https://api.crossref.org/works", {"query.bibliographic": "heat pumps", "rows": "5"}),
        ("semantic_scholar", "https://api.semanticscholar.org/graph/v1/paper/search", {"query": "heat pumps", "limit": "5"}),
        ("brave", "https://api.search.brave.com/res/v1/web/search", {"q": "heat pumps", "count": "5"}),
    ],
)
async def test_the_request_is_the_documented_one(name: str, address: str, params: dict[str, str]) -> None:
    wire = Wire(usual(name))
    await ask(name, wire)
    assert str(wire.sent[0].url).partition("?")[0] == address
    assert params.items() <= wire.params.items()


async def test_forms_and_json_are_posted() -> None:
    ddgs, tavily = Wire(usual("ddgs")), Wire(usual("tavily"))
    await ask("ddgs", ddgs)
    await ask("tavily", tavily)
    assert (ddgs.sent[0].method, ddgs.sent[0].content) == ("POST", b"q=heat+pumps&b=")
    assert json.loads(tavily.sent[0].content) == {"query": "heat pumps", "max_results": 5, "search_depth": "basic", "include_answer": False}


async def test_keys_go_in_headers_and_never_in_addresses() -> None:
    for name, header, value in [
        ("brave", "x-subscription-token", "brave-key"),
        ("tavily", "authorization", "Bearer tavily-key"),
        ("semantic_scholar", "x-api-key", "s2-key"),
    ]:
        wire = Wire(usual(name))
        await ask(name, wire)
        assert wire.sent[0].headers[header] == value
        assert "key" not in str(wire.sent[0].url).replace("api-key", "")


async def test_an_address_for_the_polite_pool_is_given_where_it_is_set() -> None:
    wire = Wire(lambda _: json_answer({}))
    await OpenAlex(wire.client(), contact_email="me@example.org").search(QUERY)
    await Crossref(wire.client(), contact_email="me@example.org").search(QUERY)
    assert [request.url.params["mailto"] for request in wire.sent] == ["me@example.org"] * 2


async def test_the_language_of_a_query_chooses_the_wiki() -> None:
    wire = Wire(usual("wikipedia"))
    response = await ask("wikipedia", wire, SearchQuery("Wärmepumpe", language="de-CH"))
    assert wire.sent[0].url.host == "de.wikipedia.org"
    assert response.hits[0].url.startswith("https://de.wikipedia.org/")
    for odd in ("../../evil", "evil.example/", "x" * 60):
        wire = Wire(usual("wikipedia"))
        await ask("wikipedia", wire, SearchQuery("x", language=odd))
        assert wire.sent[0].url.host == "en.wikipedia.org"


# Failures


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (429, "rate_limited"),
        (500, "unavailable"),
        (502, "unavailable"),
        (503, "unavailable"),
        (301, "unavailable"),
        (400, "unavailable"),
        (404, "unavailable"),
    ],
)
async def test_a_status_is_an_outcome_with_a_reason(name: str, status: int, outcome: str) -> None:
    response = await ask(name, Wire(streamed("words", status)))
    assert (response.outcome, response.hits) == (outcome, ())
    assert name in response.detail


@pytest.mark.parametrize("name", ENGINES)
async def test_a_refusal_is_a_wrong_key_where_there_is_one_and_a_wall_elsewhere(name: str) -> None:
    keyed = name in {"brave", "tavily", "semantic_scholar"}
    for status in (401, 403):
        response = await ask(name, Wire(streamed("no", status)))
        assert response.outcome == ("misconfigured" if keyed else "blocked")
        assert "key" not in response.detail.replace("the key", "")


@pytest.mark.parametrize("name", ENGINES)
async def test_an_asked_for_wait_is_handed_on(name: str) -> None:
    assert (await ask(name, Wire(streamed("", 429, retry_after="77")))).retry_after == 77.0
    assert (await ask(name, Wire(streamed("", 503, retry_after="5")))).outcome == "rate_limited"


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("error", [httpx.ConnectError("x"), httpx.ReadTimeout("x"), httpx.RemoteProtocolError("x"), httpx.InvalidURL("x")])
async def test_a_network_failure_is_unavailable(name: str, error: Exception) -> None:
    response = await ask(name, Wire(error))
    assert response.outcome == "unavailable"
    assert response.detail


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("body", ["", "<html>Maintenance</html>", "{", "not json", "\x00\xff"])
async def test_an_answer_of_another_kind_is_unavailable(name: str, body: str) -> None:
    assert (await ask(name, Wire(streamed(body)))).outcome == "unavailable"


@pytest.mark.parametrize("name", ENGINES)
async def test_an_answer_that_is_too_much_is_unavailable(name: str) -> None:
    assert (await ask(name, Wire(streamed(b" " * (module.MAX_BYTES + 1))))).outcome == "unavailable"


async def test_slow_answers_end(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr(module, "TOTAL_SECONDS", 0.05)

    async def never():
        yield b"{"
        await asyncio.sleep(30)

    assert (await ask("brave", Wire(httpx.Response(200, content=never())))).outcome == "unavailable"


EMPTY = {
    "wikipedia": '{"batchcomplete": true, "query": {"searchinfo": {"totalhits": 0}, "search": []}}',
    "openalex": '{"meta": {"count": 0}, "results": []}',
    "crossref": '{"status": "ok", "message": {"items": []}}',
    "semantic_scholar": '{"total": 0, "offset": 0}',
    "brave": '{"type": "search", "query": {"original": "heat pumps"}}',
    "tavily": '{"answer": null, "results": []}',
    "ddgs": '<html><body><div class="no-results">No results.</div></body></html>',
    "arxiv": '<feed xmlns="http://www.w3.org/2005/Atom"><title>q</title></feed>',
}


@pytest.mark.parametrize("name", ENGINES)
async def test_nothing_found_is_said(name: str) -> None:
    response = await ask(name, Wire(streamed(EMPTY[name])))
    assert (response.outcome, response.hits) == ("empty", ())
    assert "found nothing" in response.detail


WORDED = [
    ({"error": {"code": "ratelimited", "info": "You've exceeded your rate limit."}}, "rate_limited", "ratelimited"),
    ({"error": {"message": "backend is down"}}, "unavailable", "backend is down"),
    ({"error": "Invalid query parameter"}, "unavailable", "Invalid query"),
    ({"message": "Internal <b>fault</b>"}, "unavailable", "Internal fault"),
    ({"detail": {"error": "try later"}}, "unavailable", "try later"),
    ({}, "unavailable", "another shape"),
    ([1], "unavailable", "another shape"),
]


@pytest.mark.parametrize("name", [name for name in ENGINES if name not in {"ddgs", "arxiv"}])
@pytest.mark.parametrize(("body", "outcome", "words"), WORDED)
async def test_an_error_under_a_status_of_success_is_not_taken_for_nothing_found(name: str, body: Any, outcome: str, words: str) -> None:
    response = await ask(name, Wire(json_answer(body)))
    assert (response.outcome, response.hits) == (outcome, ())
    assert words in response.detail


@pytest.mark.parametrize("name", ENGINES)
async def test_an_empty_query_is_not_sent(name: str) -> None:
    wire = Wire(usual(name))
    assert (await ask(name, wire, SearchQuery(" \n\u200b"))).outcome == "empty"
    assert wire.sent == []


async def test_a_challenge_of_ddgs_is_a_wall() -> None:
    for reply in (streamed("<html>wait</html>", 202), streamed('<html><div class="anomaly-modal__title">Select all ducks</div></html>')):
        response = await ask("ddgs", Wire(reply))
        assert response.outcome == "blocked"
        assert "SearXNG" in response.detail


async def test_a_spent_plan_of_tavily_is_a_rate_limit() -> None:
    assert (await ask("tavily", Wire(json_answer({"detail": {}}, 432)))).outcome == "rate_limited"


async def test_an_error_entry_of_arxiv_is_no_paper() -> None:
    entry = "<entry><id>http://arxiv.org/api/errors#bad</id><title>Error</title><summary>malformed query</summary></entry>"
    response = await ask("arxiv", Wire(streamed(f'<feed xmlns="http://www.w3.org/2005/Atom">{entry}</feed>')))
    assert response.outcome == "unavailable"
    assert "malformed query" in response.detail


async def test_a_feed_with_entities_opens_no_file_and_does_not_grow() -> None:
    bomb = "".join(f'<!ENTITY x{n} "{f"&x{n - 1};" * 10 if n else "lol" * 100}">' for n in range(9))
    head = f'<?xml version="1.0"?><!DOCTYPE feed [<!ENTITY f SYSTEM "file:///etc/passwd">{bomb}]>'
    feed = f'{head}<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/1</id><title>&f;&x8;</title></entry></feed>'
    response = await ask("arxiv", Wire(streamed(feed)))
    assert all("root" not in hit.title and len(hit.title) <= 300 for hit in response.hits)


async def test_advertisements_and_links_to_the_engine_are_no_hits() -> None:
    page = ddgs_page(
        ("//duckduckgo.com/y.js?ad=1", "Ad", ""), ("/settings", "Own", ""), ("javascript:x", "Bad", ""), (redirected("ftp://x"), "Ftp", "")
    )
    assert (await ask("ddgs", Wire(streamed(page)))).outcome == "empty"


NAMES = [
    "query",
    "search",
    "results",
    "message",
    "items",
    "data",
    "web",
    "url",
    "title",
    "abstract_inverted_index",
    "issued",
    "date-parts",
    "x",
]
SCALARS = st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=20)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=25,
)
NO_WIRE = Wire(httpx.ConnectError("no network")).client()


@pytest.mark.parametrize("name", [name for name in ENGINES if name not in {"ddgs", "arxiv"}])
@settings(deadline=None, max_examples=50)
@given(value=JSON)
def test_any_json_is_taken_apart_without_a_crash(name: str, value: Any) -> None:
    subject = ENGINES[name][0](NO_WIRE)
    with contextlib.suppress(SearchError):
        for hit in subject.parse(json.dumps(value).encode(), QUERY):
            assert hit is None or hit.url.startswith("http")


@pytest.mark.parametrize("name", ["ddgs", "arxiv"])
@settings(deadline=None, max_examples=50)
@given(body=st.binary(max_size=200) | st.text(alphabet='<>/="div class resulta&;', max_size=120).map(str.encode))
def test_any_markup_is_taken_apart_or_refused(name: str, body: bytes) -> None:
    subject = ENGINES[name][0](NO_WIRE)
    with contextlib.suppress(SearchError):
        assert isinstance(subject.parse(body, QUERY), list)

"""The fetcher with its real parts, extraction and stub detection, against every page of the loopback site."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from deepdelve.config import FetchSettings
from deepdelve.core.errors import FetchError
from deepdelve.tools.web.fetch import WebFetcher, open_fetcher
from tests.support.patience import loop_beats_on
from tests.support.web_site import WebSite, site_in_thread


@pytest.fixture
async def site() -> AsyncIterator[WebSite]:
    async with WebSite() as served:
        yield served


def reader(**settings: object) -> WebFetcher:
    return open_fetcher(FetchSettings.model_validate({"allow_loopback": True, **settings}))


async def test_an_article_is_read_with_heading_text_and_metadata(site: WebSite) -> None:
    page = await reader().fetch(site.url("/article"))
    assert (page.state, page.kind, page.title) == ("ok", "html", "Tides of the Northern Bay")
    assert "In the storm of 1987 the water rose to 7.9 metres" in page.text


async def test_a_table_stays_a_table(site: WebSite) -> None:
    page = await reader().fetch(site.url("/table"))
    assert "| 1987 | 7.9 |" in page.text


async def test_a_pdf_without_suffix_is_read_by_its_content_with_page_marks(site: WebSite) -> None:
    page = await reader().fetch(site.url("/paper"))
    assert (page.kind, page.state) == ("pdf", "ok")
    assert "[page 1]" in page.text
    assert "Measured in 2021, the bay was 14 metres deep." in page.text
    assert page.original is not None
    assert page.original.startswith(b"%PDF-")


async def test_a_legacy_charset_is_read(site: WebSite) -> None:
    assert "В заливе два прилива в сутки." in (await reader().fetch(site.url("/legacy"))).text


@pytest.mark.parametrize("path", ["/login", "/shell"])
async def test_walls_and_shells_are_listed_and_never_ok(site: WebSite, path: str) -> None:
    page = await reader().fetch(site.url(path))
    assert page.state != "ok"
    assert page.reason


FAULTS = {
    "/challenge": "status",
    "/missing": "status",
    "/busy": "status",
    "/broken": "status",
    "/big": "too_large",
    "/big-unsaid": "too_large",
    "/bomb": "too_large",
    "/wide": "too_large",
    "/picture": "unsupported_type",
    "/picture-as-page": "unsupported_type",
    "/program": "unsupported_type",
    "/brotli": "unreadable",
    "/damaged": "unreadable",
    "/cut": "unreachable",
    "/empty": "no_text",
    "/to-private": "refused",
    "/to-metadata": "refused",
    "/to-file": "refused",
    "/refresh-private": "refused",
    "/circle-a": "too_many_redirects",
    "/chain-6": "too_many_redirects",
}


@pytest.mark.parametrize(("path", "cause"), FAULTS.items())
async def test_every_fault_has_its_cause_and_says_what_to_do(site: WebSite, path: str, cause: str) -> None:
    with pytest.raises(FetchError) as caught:
        await reader().fetch(site.url(path))
    assert caught.value.cause == cause
    assert caught.value.remedy
    assert "\n" not in caught.value.line()


async def test_deep_nesting_is_read_or_refused_while_the_loop_goes_on(site: WebSite) -> None:
    async with loop_beats_on():
        with contextlib.suppress(FetchError):
            assert "deep" in (await reader().fetch(site.url("/nested"))).text


async def test_a_site_in_a_thread_serves_code_with_a_loop_of_its_own() -> None:
    with site_in_thread() as threaded:
        assert (await reader().fetch(threaded.url("/article"))).state == "ok"

"""The fetcher against a loopback site with every page fault, and against a transport that only records."""

import asyncio

import httpx
import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web import fetch
from deepdelve.tools.web.cache import PageCache, default_folder
from deepdelve.tools.web.limits import HostLimits
from deepdelve.utils.grounding.stubs import StubVerdict
from tests.support.web_site import HTML, Reply, WebSite, bomb
from tests.tools.web.doubles import PUBLIC, Clock, Names, Recorder, fetcher, page, redirect


async def failure(url: str, subject: fetch.WebFetcher) -> FetchError:
    with pytest.raises(FetchError) as caught:
        await subject.fetch(url)
    await subject.close()
    return caught.value


# Pages that can be read


async def test_a_page_comes_with_its_text_its_provenance_and_its_original() -> None:
    async with WebSite() as site:
        page = await fetcher().fetch(site.url("/article#section"))
    assert "7.9 metres" in page.text
    assert page.title == "Tides of the Northern Bay"
    assert (page.status, page.kind, page.state) == (200, "html", "ok")
    assert page.final_url == site.url("/article")
    assert page.fetched_at.endswith("+00:00")
    assert page.original is not None
    assert b"<h1>" in page.original


async def test_redirects_are_followed_three_times_and_the_final_address_is_kept() -> None:
    async with WebSite() as site:
        page = await fetcher().fetch(site.url("/chain-3"))
        assert (page.url, page.final_url) == (site.url("/chain-3"), site.url("/article"))
        assert (await failure(site.url("/chain-4"), fetcher())).cause == "too_many_redirects"
        assert site.times_asked("/article") == 1


async def test_a_refresh_in_the_page_is_a_hop_like_any_other() -> None:
    async with WebSite() as site:
        site.add("/hop", '<meta http-equiv="refresh" content="0;url=/chain-2">')
        site.add("/hop-far", '<meta http-equiv="refresh" content="0;url=/chain-3">')
        assert (await fetcher().fetch(site.url("/refresh"))).final_url == site.url("/article")
        assert (await fetcher().fetch(site.url("/hop"))).final_url == site.url("/article")
        assert (await failure(site.url("/hop-far"), fetcher())).cause == "too_many_redirects"


@pytest.mark.parametrize(("path", "text"), [("/legacy", "В заливе два"), ("/latin", "Café naïve, déjà vu."), ("/zipped", "4.2 metres")])
async def test_charsets_and_compression_are_undone(path: str, text: str) -> None:
    async with WebSite() as site:
        assert text in (await fetcher().fetch(site.url(path))).text


async def test_invisible_characters_are_gone_from_everything_that_is_read() -> None:
    async with WebSite() as site:
        url = site.add("/hidden", "<title>T\u200bitle\u202e</title><p>vis\u2060ible\U000e0041</p>")
        page = await fetcher().fetch(url)
    assert (page.title, page.text) == ("Title", "visible")


async def test_a_pdf_without_suffix_and_with_a_wrong_label_is_kept_as_a_pdf() -> None:
    async with WebSite() as site:
        subject = fetcher()
        got = await subject.download(site.url("/paper"))
        assert got.kind == "pdf"
        assert (await subject.fetch(site.url("/paper"))).original == got.body


# What status, type and size decide before content


@pytest.mark.parametrize(("path", "status"), [("/missing", 404), ("/challenge", 403), ("/broken", 500), ("/busy", 429), ("/nowhere", 302)])
async def test_a_status_that_is_no_page_is_an_error_however_wordy_the_body(path: str, status: int) -> None:
    async with WebSite() as site:
        error = await failure(site.url(path), fetcher())
    assert (error.cause, error.status) == ("status", status)
    assert str(status) in error.message


@pytest.mark.parametrize("status", [204, 206, 418, 599, 999])
async def test_unusual_statuses_are_no_pages_either(status: int) -> None:
    recorder = Recorder({"h.example/": page("<p>words</p>", status)})
    assert (await failure("http://h.example/", fetcher(recorder))).status == status


@pytest.mark.parametrize("path", ["/picture", "/picture-as-page", "/program"])
async def test_what_is_no_text_is_refused_whatever_its_label_says(path: str) -> None:
    async with WebSite() as site:
        assert (await failure(site.url(path), fetcher())).cause == "unsupported_type"


@pytest.mark.parametrize("path", ["/big", "/big-unsaid", "/bomb", "/wide"])
async def test_size_is_bounded_while_it_streams_and_nothing_is_kept_of_it(path: str) -> None:
    async with WebSite() as site:
        error = await failure(site.url(path), fetcher(max_bytes=1_000_000, max_pdf_bytes=2_000_000))
    assert error.cause == "too_large"
    assert "larger than" in error.message


@pytest.mark.parametrize(("declared", "pulls"), [(100_000, 0), (60_000, 5)], ids=["over every bound", "over that of pages"])
async def test_a_declared_length_over_the_bound_is_refused_once_the_bound_is_known(declared: int, pulls: int) -> None:
    pulled = 0

    async def body():
        nonlocal pulled
        for _ in range(100):
            pulled += 1
            yield b"x" * 1000

    answer = httpx.Response(200, headers={"content-type": HTML, "content-length": str(declared)}, content=body())
    subject = fetcher(Recorder({"h.example/": answer}), max_bytes=50_000, max_pdf_bytes=80_000)
    assert (await failure("http://h.example/", subject)).cause == "too_large"
    assert pulled == pulls


@pytest.mark.parametrize(
    "label", ["text/html", "text/plain; charset=utf-8", "application/json", "application/octet-stream", "application/pdf"]
)
@pytest.mark.parametrize("said", [True, False], ids=["length said", "length unsaid"])
@pytest.mark.parametrize("magic", [b"%PDF-1.7\n", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf1 "])
async def test_a_large_document_is_read_whatever_its_label_says(label: str, said: bool, magic: bytes) -> None:
    data = magic + b"x" * 40_000

    async def body():
        for start in range(0, len(data), 1000):
            yield data[start : start + 1000]

    headers = {"content-type": label} | ({"content-length": str(len(data))} if said else {})
    recorder = Recorder({"h.example/": httpx.Response(200, headers=headers, content=body())})
    got = await fetcher(recorder, max_bytes=20_000, max_pdf_bytes=100_000).download("http://h.example/")
    assert got.body == data


async def test_documents_have_their_own_bound_by_content_not_by_label() -> None:
    async with WebSite() as site:
        url = site.add("/report", b"%PDF-1.7\n" + b"x" * 40_000, Content_Type="application/octet-stream")
        text = site.add("/text", b"plain words " * 4000, Content_Type="application/octet-stream")
        subject = fetcher(max_bytes=20_000, max_pdf_bytes=100_000)
        assert len((await subject.download(url)).body) == 40_009
        assert (await failure(text, subject)).cause == "too_large"


async def test_a_bomb_never_takes_more_room_than_the_bound() -> None:
    import tracemalloc

    packed = bomb(100 * 1024 * 1024)
    async with WebSite() as site:
        url = site.add("/bomb", packed, Content_Encoding="gzip")
        subject = fetcher(max_bytes=1_000_000, max_pdf_bytes=1_000_000)
        tracemalloc.start()
        try:
            assert (await failure(url, subject)).cause == "too_large"
            assert tracemalloc.get_traced_memory()[1] < 20_000_000
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("path", ["/brotli", "/damaged"])
async def test_compression_that_cannot_be_undone_is_said(path: str) -> None:
    async with WebSite() as site:
        assert (await failure(site.url(path), fetcher())).cause == "unreadable"


@pytest.mark.parametrize("path", ["/drip"])
async def test_a_page_that_never_ends_ends_with_its_time(path: str) -> None:
    async with WebSite() as site:
        assert (await failure(site.url(path), fetcher(total_seconds=1.0))).cause == "too_slow"


async def test_a_connection_that_breaks_off_is_no_page() -> None:
    async with WebSite() as site:
        assert (await failure(site.url("/cut"), fetcher())).cause == "unreachable"
    assert (await failure("http://127.0.0.1:1/", fetcher())).cause == "unreachable"


async def test_an_empty_body_holds_no_text() -> None:
    async with WebSite() as site:
        assert (await failure(site.url("/empty"), fetcher())).cause == "no_text"


# Stubs


def _wall_if_short(text: str, *, html: str = "", status: int = 200, url: str = "", title: str = "") -> StubVerdict:
    return StubVerdict("blocked", "bot wall") if 'id="root"' in html or "Log in" in text else StubVerdict("ok", "")


async def test_a_page_that_is_a_stub_is_listed_with_the_reason_and_never_ok() -> None:
    async with WebSite() as site:
        subject = fetcher(detect=_wall_if_short)
        login, shell = await subject.fetch(site.url("/login")), await subject.fetch(site.url("/shell"))
    assert (login.state, login.reason) == ("blocked", "bot wall")
    assert (shell.state, shell.text) == ("blocked", "")


class FakeBrowser:
    """Renders what the tests say, through the loader that it is given."""

    def __init__(self, html: str) -> None:
        self.html, self.loaded, self.closed = html, list[str](), False

    async def render(self, url: str, load: object) -> bytes:
        self.loaded.append(url)
        return self.html.encode()

    async def close(self) -> None:
        self.closed = True


async def test_a_shell_is_rendered_by_a_browser_where_the_setting_says_so() -> None:
    browser = FakeBrowser("<title>App</title><p>What the scripts wrote.</p>")
    async with WebSite() as site:
        off = fetcher(detect=_wall_if_short, browser=browser)
        assert (await off.fetch(site.url("/shell"))).state == "blocked"
        on = _with_browser(browser)
        page = await on.fetch(site.url("/shell"))
        await on.fetch(site.url("/article"))
        await on.close()
    assert (page.state, page.text) == ("ok", "What the scripts wrote.")
    assert browser.loaded == [site.url("/shell")]
    assert browser.closed


def _with_browser(browser: FakeBrowser) -> fetch.WebFetcher:
    from deepdelve.config import FetchSettings
    from deepdelve.tools.web.guard import AddressGuard
    from tests.tools.web.doubles import strip_tags

    settings = FetchSettings(allow_loopback=True, browser=True)
    return fetch.WebFetcher(
        settings, AddressGuard(Names(), allow_loopback=True), extract=strip_tags, detect=_wall_if_short, browser=browser
    )


# The guard, at every hop


@pytest.mark.parametrize("path", ["/to-private", "/to-metadata", "/to-file", "/refresh-private"])
async def test_a_hop_to_where_nothing_may_be_fetched_is_refused(path: str) -> None:
    async with WebSite() as site:
        assert (await failure(site.url(path), fetcher())).cause == "refused"


@pytest.mark.parametrize(
    ("value", "read"), [("0; url=/next", "next"), ("0;URL='/next'", "next"), ("30; url=/next", "first"), ("0", "first"), ("x", "first")]
)
async def test_a_refresh_header_is_a_hop_like_any_other(value: str, read: str) -> None:
    recorder = Recorder({"h.example/": page("<p>first</p>", refresh=value), "h.example/next": page("<p>next</p>")})
    assert (await fetcher(recorder).fetch("http://h.example/")).text == read


async def test_a_refresh_header_to_an_inner_address_is_refused() -> None:
    recorder = Recorder({"h.example/": page(refresh="0; url=http://169.254.169.254/")})
    assert (await failure("http://h.example/", fetcher(recorder))).cause == "refused"
    assert recorder.dialled == [PUBLIC]


async def test_redirects_in_a_circle_end() -> None:
    async with WebSite() as site:
        assert (await failure(site.url("/circle-a"), fetcher())).cause == "too_many_redirects"
        assert len(site.asked) == 2


async def test_the_connection_goes_to_the_checked_address_with_the_name_kept() -> None:
    recorder = Recorder({"h.example:8443/a?b=1": page()})
    await fetcher(recorder, Names(default=["2606:4700::1"])).fetch("https://user:secret@h.example:8443/a?b=1")
    (request,) = recorder.sent
    assert (request.url.host, request.url.port, request.url.scheme) == ("2606:4700::1", 8443, "https")
    assert request.headers["host"] == "h.example:8443"
    assert request.extensions["sni_hostname"] == "h.example"
    assert "secret" not in str(request.url) + str(request.headers)
    assert "cookie" not in request.headers


async def test_a_name_that_changes_its_mind_is_never_dialled_at_its_second_answer() -> None:
    rebinding = Names({"rebind.example": [[PUBLIC], ["127.0.0.1"]]})
    recorder = Recorder({"rebind.example/": redirect("/next"), "rebind.example/next": page()})
    assert (await failure("http://rebind.example/", fetcher(recorder, rebinding))).cause == "refused"
    assert recorder.dialled == [PUBLIC]
    assert rebinding.asked == ["rebind.example"] * 2


@pytest.mark.parametrize("to", ["http://[::ffff:127.0.0.1]/", "//2130706433/", "http://inside.example/", "https:\\\\10.0.0.1"])
async def test_no_spelling_of_an_inner_address_is_dialled_after_a_redirect(to: str) -> None:
    names = Names({"outside.example": [[PUBLIC]], "inside.example": [["192.168.7.7"]]})
    recorder = Recorder({"outside.example/": redirect(to)})
    assert (await failure("http://outside.example/", fetcher(recorder, names))).cause == "refused"
    assert recorder.dialled == [PUBLIC]


async def test_the_next_checked_address_is_tried_when_one_does_not_connect() -> None:
    tried: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        tried.append(request.url.host)
        if request.url.host.startswith("2606"):
            raise httpx.ConnectError("no route")
        return page()

    await fetcher(Recorder({"h.example/": answer}), Names(default=["2606:4700::1", PUBLIC])).fetch("http://h.example/")
    assert tried == ["2606:4700::1", PUBLIC]


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (httpx.ConnectError("refused"), "unreachable"),
        (httpx.ReadTimeout("slow"), "too_slow"),
        (httpx.RemoteProtocolError("garbage"), "unreachable"),
    ],
)
async def test_network_failures_are_told_apart(error: Exception, cause: str) -> None:
    assert (await failure("http://h.example/", fetcher(Recorder({"h.example/": error})))).cause == cause


async def test_a_bad_certificate_is_said_to_be_one() -> None:
    error = httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed")
    assert "secure connection" in (await failure("https://h.example/", fetcher(Recorder({"h.example/": error})))).message


# Manners


async def test_twenty_runs_at_once_keep_the_limits_of_one_host() -> None:
    async with WebSite() as site:
        site.add("/slow", lambda: _slowly())
        subject = fetcher(per_host=2)
        pages = await asyncio.gather(*(subject.fetch(site.url(f"/slow?run={n}")) for n in range(20)))
    assert len(pages) == 20
    assert site.most_open <= 2


async def _slowly():
    yield b"<p>word"
    await asyncio.sleep(0.01)
    yield b"</p>"


async def test_starts_at_one_host_are_spaced_and_other_hosts_do_not_wait() -> None:
    clock = Clock()
    limits = HostLimits(2, 0.5, clock=clock, sleep=clock.sleep)
    recorder = Recorder({f"{host}/{n}": page() for host in ("a.example", "b.example") for n in range(3)})
    subject = fetcher(recorder, limits=limits)
    for n in range(3):
        await subject.fetch(f"http://a.example/{n}")
    assert clock.slept == [0.5, 0.5]
    await subject.fetch("http://b.example/0")
    assert clock.slept == [0.5, 0.5]


async def test_a_short_wait_that_the_host_asks_for_is_kept_and_the_page_asked_for_once_more() -> None:
    clock = Clock()
    answers = iter([httpx.Response(503, headers={"retry-after": "4"}), page("<p>back</p>")])
    recorder = Recorder({"h.example/": lambda _: next(answers)})
    got = await fetcher(recorder, limits=HostLimits(2, 0.0, clock=clock, sleep=clock.sleep)).fetch("http://h.example/")
    assert got.text == "back"
    assert clock.slept == [4.0]


async def test_a_long_wait_is_reported_and_the_host_left_alone_until_then() -> None:
    clock = Clock()
    recorder = Recorder({"h.example/": httpx.Response(429, headers={"retry-after": "600"}), "h.example/b": page()})
    subject = fetcher(recorder, limits=HostLimits(2, 0.0, clock=clock, sleep=clock.sleep))
    assert (await failure("http://h.example/", subject)).status == 429
    error = await failure("http://h.example/b", subject)
    assert "600 s" in error.message
    assert len(recorder.sent) == 1
    clock.now += 601
    assert (await subject.fetch("http://h.example/b")).state == "ok"


async def test_robots_are_respected_by_setting() -> None:
    recorder = Recorder(
        {"h.example/robots.txt": page("User-agent: *\nDisallow: /closed"), "h.example/open": page(), "h.example/closed/x": page()}
    )
    free = fetcher(recorder)
    await free.fetch("http://h.example/closed/x")
    assert len(recorder.sent) == 1
    recorder.answers["h.example/closed/x"] = page()
    polite = fetcher(recorder, respect_robots=True)
    await polite.fetch("http://h.example/open")
    error = await failure("http://h.example/closed/x", polite)
    assert error.cause == "refused"
    assert "robots" in error.message
    assert [request.url.path for request in recorder.sent[1:]] == ["/robots.txt", "/open"]


async def test_the_rules_of_robots_are_found_behind_redirects_that_the_guard_lets_pass() -> None:
    rules = "User-agent: *\nDisallow: /closed"
    recorder = Recorder(
        {
            "h.example/robots.txt": redirect("https://www.h.example/robots.txt"),
            "www.h.example/robots.txt": page(rules),
            "h.example/closed": page(),
            "inner.example/robots.txt": redirect("http://10.0.0.1/robots.txt"),
            "inner.example/closed": page(),
            "circle.example/robots.txt": redirect("/robots.txt"),
            "circle.example/closed": page(),
        }
    )
    polite = fetcher(recorder, respect_robots=True)
    assert "robots" in (await failure("http://h.example/closed", polite)).message
    for free in ("http://inner.example/closed", "http://circle.example/closed"):
        assert (await polite.fetch(free)).state == "ok"
    assert set(recorder.dialled) == {PUBLIC}


async def test_of_rules_without_end_the_beginning_counts() -> None:
    rules = "User-agent: *\nDisallow: /closed\n"
    recorder = Recorder(
        {"h.example/robots.txt": _in_two(rules.encode(), b"# x\n" * 200_000), "h.example/closed": page(), "h.example/": page()}
    )
    polite = fetcher(recorder, respect_robots=True)
    assert "robots" in (await failure("http://h.example/closed", polite)).message
    assert (await polite.fetch("http://h.example/")).state == "ok"


def _in_two(*pieces: bytes) -> httpx.Response:
    async def body():
        for piece in pieces:
            yield piece

    return httpx.Response(200, headers={"content-type": "text/plain"}, content=body())


async def test_looking_a_name_up_counts_against_the_time_of_a_page() -> None:
    async def never(name: str, port: int) -> list[str]:
        await asyncio.Event().wait()
        return []

    error = await failure("http://slow-name.example/", fetcher(Recorder(), never, total_seconds=0.05))
    assert error.cause == "too_slow"
    assert "slow-name.example" in error.message


# The cache


async def test_a_page_that_did_not_change_is_taken_from_the_cache_with_the_date_it_came() -> None:
    async with WebSite() as site:
        cache = PageCache(default_folder())
        first = await fetcher(cache=cache).fetch(site.url("/news"))
        second = await fetcher(cache=cache).fetch(site.url("/news"))
        assert site.asked[1].headers["if-none-match"] == '"v1"'
    assert second.text == first.text
    assert second.status == 200
    assert second.fetched_at == first.fetched_at


async def test_a_changed_page_replaces_the_cached_one_and_no_store_is_obeyed() -> None:
    async with WebSite() as site:
        cache = PageCache(default_folder())
        site.pages["/v"] = lambda _: Reply(b"<p>one</p>", headers={"Content-Type": HTML, "ETag": '"1"'})
        await fetcher(cache=cache).fetch(site.url("/v"))
        site.pages["/v"] = lambda _: Reply(b"<p>two</p>", headers={"Content-Type": HTML, "ETag": '"2"', "Cache-Control": "no-store"})
        assert (await fetcher(cache=cache).fetch(site.url("/v"))).text == "two"
        entry = cache.load(site.url("/v"))
    assert entry is not None
    assert entry.etag == '"1"'


async def test_an_unasked_304_is_no_page_and_nothing_is_kept_of_it() -> None:
    async with WebSite() as site:
        cache = PageCache(default_folder())
        site.pages["/304"] = lambda _: Reply(status=304)
        assert (await failure(site.url("/304"), fetcher(cache=cache))).status == 304
    assert not default_folder().exists()


# Bad input


async def test_odd_headers_do_no_harm() -> None:
    odd = {
        "/a": Reply(b"<p>ok</p>", headers={"Content-Type": "text/html; charset=no-such-set"}),
        "/b": Reply(b"<p>ok</p>", headers={"Content-Type": 'text/html; charset="utf-8'}),
        "/c": Reply(b"<p>ok</p>", headers={"Content-Type": ";;;", "ETag": "x" * 4000}),
        "/d": Reply(b"<p>ok</p>", headers={}),
    }
    async with WebSite() as site:
        for path, reply in odd.items():
            site.pages[path] = lambda _, reply=reply: reply
            assert (await fetcher(cache=PageCache(default_folder())).fetch(site.url(path))).text == "ok"


@pytest.mark.parametrize("location", ["http://", "http://[", "javascript:x", "http://a b", "x" * 9000])
async def test_a_redirect_that_cannot_be_read_is_refused(location: str) -> None:
    recorder = Recorder({"h.example/": redirect(location)})
    assert (await failure("http://h.example/", fetcher(recorder))).cause == "refused"


async def test_a_stop_ends_a_fetch_at_once() -> None:
    async with WebSite() as site:
        task = asyncio.create_task(fetcher().fetch(site.url("/drip")))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 1)

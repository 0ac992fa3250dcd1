"""robots.txt as RFC 9309 reads it."""

import asyncio

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web import robots
from deepdelve.tools.web.guard import AddressGuard, CheckedAddress
from deepdelve.tools.web.robots import RobotsGate, RobotsRules
from tests.tools.web.doubles import PUBLIC, Names

RULES = """
User-agent: other
Disallow: /

User-agent: *
Disallow: /private   # not for robots
Allow: /private/open
Disallow: /*.pdf$
Disallow: /a*/b*c
Disallow:
Sitemap: https://h.example/sitemap.xml
"""


@pytest.mark.parametrize(
    ("target", "allowed"),
    [
        ("/", True),
        ("/private", False),
        ("/private/x?y", False),
        ("/private/open/x", True),
        ("/file.pdf", False),
        ("/file.pdf?x", True),
        ("/a1/b2c3", False),
        ("/a1/c", True),
        ("/PRIVATE", True),
    ],
)
def test_the_longest_matching_rule_decides(target: str, allowed: bool) -> None:
    assert RobotsRules(RULES).allows(target) is allowed


def test_a_group_of_our_own_replaces_the_one_for_all_and_groups_of_one_agent_are_joined() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: x\nUser-Agent: DeepDelve/1\nDisallow: /a\n\nuser-agent: deepdelve\ndisallow: /b"
    rules = RobotsRules(text)
    assert [rules.allows(target) for target in ("/", "/a", "/b")] == [True, False, False]


def test_allow_wins_a_tie_and_an_anchor_needs_the_end() -> None:
    assert RobotsRules("User-agent: *\nDisallow: /page\nAllow: /page").allows("/page")
    exact = RobotsRules("User-agent: *\nDisallow: /page$")
    assert (exact.allows("/page"), exact.allows("/page2")) == (False, True)
    ends = RobotsRules("User-agent: *\nDisallow: /*ab$")
    assert (ends.allows("/ab"), ends.allows("/xabab"), ends.allows("/b")) == (False, False, True)


@pytest.mark.parametrize(
    ("pattern", "target", "allowed"),
    [
        ("/\u00e4", "/%C3%A4/x", False),
        ("/%c3%a4", "/%C3%A4/x", False),
        ("/%7Euser", "/~user/", False),
        ("/~user", "/%7euser/", False),
        ("/a%2Fb", "/a%2fb", False),
        ("/a%2Fb", "/a/b", True),
        ("/a b", "/a%20b", False),
    ],
)
def test_octets_are_compared_however_they_are_spelled(pattern: str, target: str, allowed: bool) -> None:
    assert RobotsRules(f"User-agent: *\nDisallow: {pattern}").allows(target) is allowed


@pytest.mark.parametrize("text", ["", "Disallow: /", "User-agent *\nDisallow /", "\x00\xff", "User-agent: *", "<html>not found</html>"])
def test_what_holds_no_rules_forbids_nothing(text: str) -> None:
    assert RobotsRules(text).allows("/x")


def test_hostile_rules_are_matched_in_linear_time() -> None:
    text = "User-agent: *\n" + "\n".join("Disallow: /" + "*a" * 400 for _ in range(200))
    assert RobotsRules(text).allows("/" + "a" * 300)
    assert not RobotsRules(text).allows("/" + "a" * 2000)


class Host:
    """Answers for robots.txt, and counts how often."""

    def __init__(self, status: int, body: bytes = b"") -> None:
        self.status, self.body, self.asked = status, body, list[str]()

    async def load(self, address: CheckedAddress) -> tuple[int, bytes]:
        self.asked.append(address.url)
        await asyncio.sleep(0)
        return self.status, self.body


async def passes(host: Host, url: str = "http://h.example/x?y", times: int = 1) -> bool:
    gate, guard = RobotsGate(host.load), AddressGuard(Names(default=[PUBLIC]))
    try:
        for _ in range(times):
            await gate.check(await guard.check(url))
    except FetchError as error:
        return error.cause != "refused"
    return True


@pytest.mark.parametrize(
    ("status", "allowed"), [(200, True), (404, True), (403, True), (302, True), (500, False), (503, False), (429, False)]
)
async def test_refusals_mean_no_rules_and_server_errors_mean_no(status: int, allowed: bool) -> None:
    assert await passes(Host(status)) is allowed


async def test_a_byte_order_mark_hides_no_group() -> None:
    assert not await passes(Host(200, b"\xef\xbb\xbfUser-agent: *\nDisallow: /"))


async def test_a_host_is_asked_once_for_pages_that_are_wanted_at_the_same_time() -> None:
    host = Host(200)
    gate, guard = RobotsGate(host.load), AddressGuard(Names(default=[PUBLIC]))
    addresses = [await guard.check(f"http://h.example/{n}") for n in range(20)]
    await asyncio.gather(*(gate.check(address) for address in addresses))
    assert host.asked == ["http://h.example/robots.txt"]


async def test_a_host_is_asked_once_by_scheme_and_port() -> None:
    host = Host(200, b"User-agent: *\nDisallow: /no")
    assert await passes(host, times=3)
    assert host.asked == ["http://h.example/robots.txt"]
    assert not await passes(host, "https://h.example:8443/no")
    assert host.asked[-1] == "https://h.example:8443/robots.txt"


async def test_the_rules_of_many_hosts_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "_MAX_HOSTS", 3)
    host = Host(200)
    gate, guard = RobotsGate(host.load), AddressGuard(Names(default=[PUBLIC]))
    for n in range(10):
        await gate.check(await guard.check(f"http://h{n}.example/"))
    assert len(gate._known) <= 3

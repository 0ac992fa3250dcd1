"""The guard lets public addresses pass and nothing else, whatever they are spelled like. Nothing here is ever dialled."""

import ipaddress
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.guard import AddressGuard, is_public
from tests.tools.web.doubles import PUBLIC, Names

DATA = Path(os.environ.get("DEEPDELVE_TEST_DATA", "../shared/data")) / "urls" / "ssrf.jsonl"
# Labelled public by arithmetic; it is the metadata service of a cloud, in a block reserved by IANA (192.0.0.0/24).
RESERVED_AFTER_ALL = "192.0.0.192"


async def cause_of(url: str, resolver: Names | None = None, *, allow_loopback: bool = False) -> str:
    try:
        await AddressGuard(resolver or Names(default=[PUBLIC]), allow_loopback=allow_loopback).check(url)
    except FetchError as error:
        return error.cause
    return ""


@pytest.mark.parametrize(
    "ip",
    [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "168.63.129.16",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.0.192",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.9",
        "224.0.0.1",
        "239.255.255.255",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:0:53aa:64c::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ],
)
async def test_addresses_that_are_not_public_are_refused_as_literal_and_as_what_a_name_means(ip: str) -> None:
    literal = f"http://[{ip}]/" if ":" in ip else f"http://{ip}/"
    assert await cause_of(literal) == "refused"
    assert await cause_of("http://some.name.example/", Names(default=[ip])) == "refused"


@pytest.mark.parametrize(
    "ip",
    [
        "1.1.1.1",
        "8.8.8.8",
        "93.184.216.34",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "198.17.255.255",
        "198.20.0.1",
        "223.255.255.254",
        "2606:4700::1111",
        "2a00:1450:4001::200e",
        "2001:200::1",
        "2001:4860:4860::8888",
        "2003::1",
    ],
)
async def test_public_addresses_pass(ip: str) -> None:
    literal = f"https://[{ip}]/" if ":" in ip else f"https://{ip}/"
    guard = AddressGuard(Names(default=[ip]))
    assert (await guard.check(literal)).ip == ip
    assert (await guard.check("https://some.name.example/")).ip == ip


@pytest.mark.parametrize(
    "name",
    [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "ip6-localhost",
        "ip6-loopback",
        "metadata",
        "metadata.google.internal",
        "metadata.google.internal.",
        "instance-data",
        "metadata.tencentyun.com",
        "metadata.goog",
        "METADATA.GOOG.",
        "\uff4detadata.goog",
        "rancher-metadata",
        "printer.local",
        "db.corp.internal",
        "router.lan",
        "nas.home.arpa",
        "localhost.localdomain",
    ],
)
async def test_names_of_the_local_net_are_refused_without_asking_the_resolver(name: str) -> None:
    resolver = Names(default=[PUBLIC])
    assert await cause_of(f"http://{name}/", resolver) == "refused"
    assert resolver.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_",
        "ftp://example.org/x",
        "data:text/html,x",
        "notes.md",
        "",
        "http://",
        "http://[::1",
    ],
)
async def test_what_is_no_web_address_is_refused(url: str) -> None:
    assert await cause_of(url) == "refused"


async def test_a_name_with_one_private_address_among_public_ones_is_refused() -> None:
    assert await cause_of("http://mixed.example/", Names(default=[PUBLIC, "10.0.0.5"])) == "refused"


async def test_a_scoped_address_from_the_resolver_is_refused() -> None:
    assert await cause_of("http://scoped.example/", Names(default=["fe80::1%eth0"])) == "refused"
    assert await cause_of("http://scoped.example/", Names(default=["2606:4700::1%eth0"])) == "refused"
    assert await cause_of("http://odd.example/", Names(default=["not an address"])) == "refused"


async def test_a_name_without_addresses_is_unresolved() -> None:
    assert await cause_of("http://nowhere.example/", Names()) == "unresolved"
    assert await cause_of("http://nowhere.example/", Names(default=[])) == "unresolved"


async def test_a_name_is_resolved_once_and_what_was_checked_is_handed_on() -> None:
    rebinding = Names({"rebind.example": [[PUBLIC], ["127.0.0.1"]]})
    guard = AddressGuard(rebinding)
    address = await guard.check("https://user:pw@REBIND.example:8443/a?b=1#c")
    assert rebinding.asked == ["rebind.example"]
    assert (address.ip, address.host, address.port, address.scheme) == (PUBLIC, "rebind.example", 8443, "https")
    assert (address.url, address.netloc, address.target) == ("https://rebind.example:8443/a?b=1", "rebind.example:8443", "/a?b=1")
    with pytest.raises(FetchError):
        await guard.check("https://rebind.example/")


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/", "http://[::1]/", "http://localhost/", "http://2130706433/"])
async def test_loopback_passes_only_by_the_explicit_setting(url: str) -> None:
    resolver = Names(default=["127.0.0.1"])
    assert await cause_of(url, resolver) == "refused"
    assert await cause_of(url, resolver, allow_loopback=True) == ""


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://[::ffff:127.0.0.1]/", "http://169.254.169.254/", "http://0.0.0.0/", "http://metadata/"]
)
async def test_the_loopback_setting_opens_nothing_else(url: str) -> None:
    assert await cause_of(url, allow_loopback=True) == "refused"


async def test_a_refusal_says_what_and_what_to_do() -> None:
    with pytest.raises(FetchError) as caught:
        await AddressGuard(Names()).check("http://169.254.169.254/latest")
    assert caught.value.line() == "169.254.169.254 is not a public address and is not fetched. Use an address on the public web."


@given(st.ip_addresses())
def test_no_address_that_python_calls_private_is_public_here(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if ip.is_private or ip.is_multicast or ip.is_loopback or ip.is_link_local or ip.is_reserved or ip.is_unspecified:
        assert not is_public(ip)


@pytest.mark.skipif(not DATA.is_file(), reason="the SSRF payloads are not here")
async def test_every_internal_payload_is_refused_and_no_public_one() -> None:
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    passed = {row["url"] for row in rows if not await cause_of(row["url"])}
    blocked = {row["url"] for row in rows if row["expected"] == "block"}
    public = {row["url"] for row in rows if row["expected"] == "allow" and RESERVED_AFTER_ALL not in row["url"]}
    assert len(blocked) >= 117
    assert passed & blocked == set()
    assert public <= passed
    # Names that look harmless but mean the inside are caught by what they resolve to.
    for row in rows:
        if row["expected"] == "depends_on_resolution":
            assert await cause_of(row["url"], Names(default=["169.254.169.254"])) == "refused"

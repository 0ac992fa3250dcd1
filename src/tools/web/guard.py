"""Which addresses may be connected to. A name is resolved once; what was checked is what the transport dials."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from deepdelve.core.errors import FetchError
from deepdelve.utils.whatwg import UrlError, parse

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]

RESOLVE_SECONDS = 5.0
_IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
# IANA's special-purpose registry for IPv4, plus addresses in public space that clouds serve credentials or control from.
_CLOSED_IPV4 = [
    ipaddress.IPv4Network(block)
    for block in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
]
_LOOPBACK = ipaddress.IPv4Network("127.0.0.0/8")
# Only 2000::/3 is global unicast; of that, what is reserved, documentation, or a tunnel to an IPv4 address is closed.
_OPEN_IPV6 = ipaddress.IPv6Network("2000::/3")
_CLOSED_IPV6 = [ipaddress.IPv6Network(block) for block in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]
_LOCAL_NAMES = frozenset({"localhost", "ip6-localhost", "ip6-loopback"})
_METADATA_NAMES = frozenset(
    {
        "metadata",
        "metadata.goog",
        "metadata.tencentyun.com",
        "metadata.packet.net",
        "metadata.platformequinix.com",
        "metadata.aliyuncs.com",
        "metadata.volces.com",
        "instance-data",
        "rancher-metadata",
    }
)
_PRIVATE_SUFFIXES = (".local", ".internal", ".localdomain", ".home.arpa", ".intranet", ".lan", ".corp", ".private")


@dataclass(frozen=True)
class CheckedAddress:
    """An address that may be fetched, and where to connect for it.

    ``url`` is without fragment and credentials; ``host`` is the ASCII name for the Host header and TLS; ``ip`` is the
    first of ``ips``, all of which were checked; ``target`` is path and query.
    """

    url: str
    scheme: str
    host: str
    port: int
    ip: str
    ips: tuple[str, ...]
    netloc: str
    target: str


class AddressGuard:
    """Refuses every address that is not on the public internet.

    Args:
        resolver: name and port to IP addresses; raises OSError where there are none. The default asks the system.
        allow_loopback: also let 127.0.0.0/8, ::1 and ``localhost`` pass (an explicit setting, for local sites and tests).
    """

    def __init__(self, resolver: Resolver | None = None, *, allow_loopback: bool = False) -> None:
        self._resolver = resolver or system_resolver
        self._allow_loopback = allow_loopback

    async def check(self, url: str) -> CheckedAddress:
        """Parse, resolve once, and check every address that the name has.

        Raises:
            FetchError: cause ``refused`` (not http or https, not public) or ``unresolved`` (no such name).
        """
        try:
            parts = parse(url)
        except UrlError as error:
            raise FetchError(f"The address cannot be fetched: {error}", "Give a full http or https address.", cause="refused") from error
        name = parts.host.strip("[]").rstrip(".")
        self._check_name(name)
        ips = [name] if _as_ip(name) else await self._resolve(name, parts.effective_port)
        for ip in ips:
            self._check_ip(ip, name)
        plain = f"{parts.scheme}://{parts.netloc}{parts.target}"
        return CheckedAddress(plain, parts.scheme, name, parts.effective_port, ips[0], tuple(ips), parts.netloc, parts.target)

    def _check_name(self, name: str) -> None:
        if name in _LOCAL_NAMES or name.endswith(".localhost"):
            if not self._allow_loopback:
                raise _refused(name)
        elif name in _METADATA_NAMES or name.endswith(_PRIVATE_SUFFIXES):
            raise _refused(name)

    def _check_ip(self, text: str, name: str) -> None:
        ip = _as_ip(text)
        if ip is None or not (is_public(ip) or (self._allow_loopback and _is_plain_loopback(ip))):
            raise _refused(name)

    async def _resolve(self, name: str, port: int) -> list[str]:
        try:
            async with asyncio.timeout(RESOLVE_SECONDS):
                found = list(dict.fromkeys(await self._resolver(name, port)))
        except (OSError, UnicodeError, TimeoutError) as error:
            raise _unresolved(name) from error
        if not found:
            raise _unresolved(name)
        return found


def is_public(ip: _IPAddress) -> bool:
    """Whether an IP address is one that anybody on the internet can reach, and no tunnel to another."""
    if isinstance(ip, ipaddress.IPv4Address):
        return not any(ip in block for block in _CLOSED_IPV4)
    return ip.scope_id is None and ip in _OPEN_IPV6 and not any(ip in block for block in _CLOSED_IPV6)


async def system_resolver(name: str, port: int) -> list[str]:
    """The addresses that the system's resolver gives, in its order."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [str(entry[4][0]) for entry in found]


def _as_ip(text: str) -> _IPAddress | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def _is_plain_loopback(ip: _IPAddress) -> bool:
    if isinstance(ip, ipaddress.IPv4Address):
        return ip in _LOOPBACK
    return ip == ipaddress.IPv6Address(1)


def _refused(name: str) -> FetchError:
    return FetchError(f"{name[:100]} is not a public address and is not fetched.", "Use an address on the public web.", cause="refused")


def _unresolved(name: str) -> FetchError:
    return FetchError(
        f"The name {name[:100]} cannot be resolved.", "Check the spelling of the address and the network.", cause="unresolved"
    )

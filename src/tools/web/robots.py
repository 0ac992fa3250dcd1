"""The rules of robots.txt (RFC 9309): groups by agent, the longest matching rule wins, allow wins a tie."""

import asyncio
import re
import string
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.guard import CheckedAddress

AGENT = "deepdelve"
MAX_BYTES = 512_000
_MAX_RULES = 5000
_MAX_PATTERN = 1000
_MAX_HOSTS = 512
_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")


@dataclass(frozen=True)
class _Rule:
    allow: bool
    pattern: str


class RobotsRules:
    """What one host allows this product's agent to fetch."""

    def __init__(self, text: str, agent: str = AGENT) -> None:
        groups = _groups(text)
        own = [rules for agents, rules in groups if agent in agents]
        chosen = own or [rules for agents, rules in groups if "*" in agents]
        self._rules = [rule for rules in chosen for rule in rules][:_MAX_RULES]

    def allows(self, target: str) -> bool:
        """Whether a path with its query may be fetched."""
        spelled = _spelled(target)
        hits = [(len(rule.pattern), rule.allow) for rule in self._rules if _matches(rule.pattern, spelled)]
        return max(hits)[1] if hits else True


class RobotsGate:
    """Holds the rules of the hosts that were asked.

    Args:
        load: gives status and decoded body (at most ``MAX_BYTES``) of a host's robots.txt, given a checked address in that host.
    """

    def __init__(self, load: Callable[[CheckedAddress], Awaitable[tuple[int, bytes]]]) -> None:
        self._load = load
        self._known: dict[str, RobotsRules | None] = {}
        self._asking: dict[str, asyncio.Lock] = {}

    async def check(self, address: CheckedAddress) -> None:
        """Let the address pass, or not.

        Raises:
            FetchError: cause ``refused``; or robots.txt itself could not be fetched.
        """
        rules = await self._rules(f"{address.scheme}://{address.netloc}", address)
        if rules is None or not rules.allows(address.target):
            raise FetchError(f"{address.host[:100]} asks robots not to fetch this page.", "Take another source.", cause="refused")

    async def _rules(self, origin: str, address: CheckedAddress) -> RobotsRules | None:
        """The rules of a host, which is asked once however many pages of it are wanted at the same time."""
        lock = self._asking.setdefault(origin, asyncio.Lock())
        async with lock:
            if origin not in self._known:
                if len(self._known) >= _MAX_HOSTS:
                    self._known.clear()
                    self._asking = {name: asking for name, asking in self._asking.items() if asking.locked()}
                status, body = await self._load(replace(address, url=f"{origin}/robots.txt", target="/robots.txt"))
                self._known[origin] = _rules(status, body)
            return self._known[origin]


def _rules(status: int, body: bytes) -> RobotsRules | None:
    """A refusal, or redirects without end, mean that there are no rules; a server error, that nothing may be fetched (RFC 9309 2.3.1)."""
    if status >= 500 or status == 429:
        return None
    return RobotsRules(body.decode("utf-8-sig", "replace") if status == 200 else "")


def _groups(text: str) -> list[tuple[set[str], list[_Rule]]]:
    groups: list[tuple[set[str], list[_Rule]]] = []
    last: Literal["agent", "rule"] = "rule"
    for line in text.splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if not colon:
            continue
        if name == "user-agent":
            if last == "rule":
                groups.append((set(), []))
            groups[-1][0].add(value.partition("/")[0].strip().lower())
            last = "agent"
        elif name in ("allow", "disallow"):
            last = "rule"
            if groups and value:
                groups[-1][1].append(_Rule(name == "allow", _spelled(value[:_MAX_PATTERN])))
    return groups


def _spelled(text: str) -> str:
    """Octets in the one form in which RFC 9309 2.2.2 compares them: escaped where they are not ASCII, else as they are."""
    return _ESCAPE.sub(_unescaped, quote(text, safe=_ASCII))


def _unescaped(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return char if char in _UNRESERVED else match[0].upper()


def _matches(pattern: str, target: str) -> bool:
    anchored = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not target.startswith(first):
        return False
    place = len(first)
    for piece in rest[:-1] if anchored else rest:
        found = target.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    if not anchored:
        return True
    return (target.endswith(rest[-1]) and len(target) - len(rest[-1]) >= place) if rest else place == len(target)

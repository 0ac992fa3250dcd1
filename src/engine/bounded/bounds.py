"""What one run may spend, frozen before it starts, and the one ceiling on what goes on side by side."""

import asyncio
import functools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any
from weakref import WeakKeyDictionary

from deepdelve.config import Settings
from deepdelve.core.errors import UsageError
from deepdelve.engine.bounded.replies import parse_queries
from deepdelve.utils.words import one_line

# Searches and fetches that are open at a time, over all runs of a process. Not configurable.
CONCURRENCY = 3
MIN_QUERIES = 2
# A topic holds at least one letter or digit.
WORD = r"[^\W_]"
MAX_TOPIC_CHARS = 2_000
MAX_FETCH_PER_ITER = 12
MAX_SOURCES = 30
MAX_QUERIES_ASKED = 10
MAX_ITER = (1, 10)
TOKEN_BUDGET = (1_000, 1_000_000)
_MAX_QUERIES = (MIN_QUERIES, 10)
_FETCH_CHARS = (1_000, 200_000)


@dataclass(frozen=True)
class Bounds:
    """The bounds of a run. ``deadline_s`` is in seconds from its start."""

    max_iter: int
    token_budget: int
    max_queries: int
    fetch_max_chars: int
    deadline_s: float
    max_fetch_per_iter: int = MAX_FETCH_PER_ITER
    max_sources: int = MAX_SOURCES

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for the ledger."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Bounds":
        """Those that the ledger holds."""
        return cls(**{field.name: data[field.name] for field in fields(cls)})


def frozen_bounds(
    settings: Settings, max_iter: int | None = None, token_budget: int | None = None, env: Mapping[str, str] | None = None
) -> Bounds:
    """The bounds of a new run: what it asks for, else the environment, else the settings.

    Args:
        settings: the settings in force.
        max_iter: rounds at most, 1 to 10.
        token_budget: tokens after which no further round begins, 1,000 to 1,000,000.
        env: variables; the process's own where None.

    Raises:
        UsageError: a bound is out of range; names it.
    """
    given = os.environ if env is None else env
    vault = settings.vault

    def bound(asked: int | None, variable: str, default: int, limits: tuple[int, int]) -> int:
        named = given.get(variable, "").strip()
        if asked is None and named:
            if not (named.isascii() and named.isdigit()):
                raise UsageError(f"{variable} is '{named[:40]}', which is no whole number.", _range_of(variable, limits))
            asked = int(named[:12])
        value = default if asked is None else asked
        if not limits[0] <= value <= limits[1]:
            raise UsageError(f"{_name(variable)} is {value}.", _range_of(_name(variable), limits))
        return value

    return Bounds(
        max_iter=bound(max_iter, "DEEP_RESEARCH_MAX_ITER", vault.max_iter, MAX_ITER),
        token_budget=bound(token_budget, "DEEP_RESEARCH_TOKEN_BUDGET", vault.token_budget, TOKEN_BUDGET),
        max_queries=bound(None, "DEEP_RESEARCH_MAX_QUERIES", vault.max_queries, _MAX_QUERIES),
        fetch_max_chars=bound(None, "DEEP_RESEARCH_FETCH_MAX_CHARS", vault.fetch_max_chars, _FETCH_CHARS),
        deadline_s=vault.deadline_seconds,
    )


def searxng_url(settings: Settings, env: Mapping[str, str] | None = None) -> str:
    """The instance that is searched: ``SEARXNG_URL``, else the settings; empty where there is none."""
    given = os.environ if env is None else env
    return given.get("SEARXNG_URL", "").strip() or settings.search.searxng_url.strip()


def checked_topic(topic: str) -> str:
    """The topic as it will be researched, on one line.

    Raises:
        UsageError: there is none, or it is too long.
    """
    line = " ".join(topic.replace("\x00", " ").split())
    if not re.search(WORD, line):
        raise UsageError("The topic is empty.", 'Give it in quotes, for example: deepdelve vault research "HSTS preload lists"')
    if len(line) > MAX_TOPIC_CHARS:
        raise UsageError(f"The topic has {len(line)} characters.", f"Keep it under {MAX_TOPIC_CHARS}: name what is to be found out.")
    return line


def empty_queries(queries: Iterable[str]) -> list[str]:
    """Those of which nothing is left to search for once operators are taken out."""
    return [query for query in queries if not parse_queries(query, (), 1)]


def check_queries(queries: Sequence[str], most: int) -> None:
    """Hold that the first round can search each of the queries that a person gave.

    Args:
        queries: as they were given.
        most: how many one round searches.

    Raises:
        UsageError: there are too many, or one holds nothing to search for.
    """
    for query in empty_queries(queries):
        raise UsageError(
            f"Nothing is left to search for of the query '{one_line(query, 60)}'.",
            "Give words: marks such as !g, :de and <5 are taken out, since SearXNG would take them for its own.",
        )
    different = len(parse_queries("\n".join(queries), (), len(queries)))
    if different > most:
        raise UsageError(f"There are {different} queries, and a round searches {most}.", "Give fewer, or raise vault.max_queries.")


class LoopGate:
    """The semaphore of each event loop, made when it is first asked for."""

    def __init__(self) -> None:
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    def here(self) -> asyncio.Semaphore:
        """That of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            self._made[loop] = asyncio.Semaphore(CONCURRENCY)
        return self._made[loop]


@functools.cache
def _gate() -> LoopGate:
    return LoopGate()


def fan_out() -> asyncio.Semaphore:
    """What every search and every fetch of every run passes through."""
    return _gate().here()


def _name(variable: str) -> str:
    return variable.removeprefix("DEEP_RESEARCH_").lower()


def _range_of(name: str, limits: tuple[int, int]) -> str:
    return f"Give {name} from {limits[0]} to {limits[1]}."

"""One web fetcher for all runs of an event loop, so that what a host is spared, and what it asked for, counts across runs."""

import asyncio
import functools
from collections.abc import Callable
from dataclasses import dataclass, field

from deepdelve.config import FetchSettings
from deepdelve.tools.web.base import Fetcher, Page
from deepdelve.tools.web.fetch import SPACING_SECONDS, open_fetcher
from deepdelve.tools.web.limits import HostLimits

Open = Callable[[FetchSettings, HostLimits], Fetcher]


@dataclass
class _Shared:
    """A fetcher and how many runs use it."""

    fetcher: Fetcher
    users: int = 0


@dataclass
class _Loop:
    """What the runs of one event loop share. The limits outlive the fetchers: a host's wait is kept between two runs."""

    limits: HostLimits
    fetchers: dict[str, _Shared] = field(default_factory=dict[str, _Shared])


class SharedFetchers:
    """The fetchers of a process, by event loop and settings.

    Hosts are limited across all of a loop's fetchers; the settings of the first one say how many requests may be open at a host.

    Args:
        open_: makes a fetcher with these limits; replaced in tests.
    """

    def __init__(self, open_: Open = open_fetcher) -> None:
        self._open = open_
        self._loops: dict[asyncio.AbstractEventLoop, _Loop] = {}

    def lease(self, settings: FetchSettings) -> Fetcher:
        """A fetcher for one run of the running loop; the last one to close it closes what is shared."""
        for loop in [loop for loop in self._loops if loop.is_closed()]:
            self._loops.pop(loop, None)
        here = self._loops.setdefault(asyncio.get_running_loop(), _Loop(HostLimits(settings.per_host, SPACING_SECONDS)))
        key = settings.model_dump_json()
        if key not in here.fetchers:
            here.fetchers[key] = _Shared(self._open(settings, here.limits))
        return _Lease(here, key)


class _Lease:
    """One run's hold on a shared fetcher."""

    def __init__(self, here: _Loop, key: str) -> None:
        self._here = here
        self._key = key
        self._shared = here.fetchers[key]
        self._shared.users += 1
        self._held = True

    async def fetch(self, url: str) -> Page:
        """Fetch and extract."""
        return await self._shared.fetcher.fetch(url)

    async def close(self) -> None:
        """Let go; a second time does nothing."""
        if not self._held:
            return
        self._held = False
        self._shared.users -= 1
        if self._shared.users == 0:
            self._here.fetchers.pop(self._key, None)
            await self._shared.fetcher.close()


@functools.cache
def shared_fetchers() -> SharedFetchers:
    """Those of this process."""
    return SharedFetchers()

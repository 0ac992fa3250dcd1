"""How gently one host is treated: so many requests at once, a pause between starts, and the waits that the host asks for."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.transport import too_slow

Sleep = Callable[[float], Awaitable[None]]

_MAX_HOSTS = 1024


@dataclass
class _Host:
    slots: asyncio.Semaphore
    next_start: float = 0.0
    held_until: float = 0.0
    users: int = 0


class HostLimits:
    """Shared by all runs that share a fetcher, on one event loop.

    Args:
        per_host: requests that may be open to one host at a time.
        spacing: seconds between the starts of two requests to one host.
        clock: monotonic seconds; sleep: waits that many seconds (both replaced in tests).
    """

    def __init__(self, per_host: int, spacing: float, *, clock: Callable[[], float] = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        self._per_host = per_host
        self._spacing = spacing
        self._clock = clock
        self._sleep = sleep
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def slot(self, host: str, patience: float = float("inf")) -> AsyncGenerator[None, None]:
        """Wait for a free place at the host, and for its next start.

        Raises:
            FetchError: the host asks for a longer wait than ``patience`` seconds, which may come up while others are served.
        """
        state = self._state(host)
        state.users += 1
        try:
            async with state.slots:
                if (asked := self.held(host)) > patience:
                    raise left_alone(host, asked)
                start = max(self._clock(), state.next_start, state.held_until)
                state.next_start = start + self._spacing
                if (wait := start - self._clock()) > 0:
                    await self._sleep(wait)
                yield
        finally:
            state.users -= 1

    def hold(self, host: str, seconds: float) -> None:
        """The host asked to be left alone for that long."""
        state = self._state(host)
        state.held_until = max(state.held_until, self._clock() + seconds)

    def held(self, host: str) -> float:
        """Seconds that remain of the longest wait the host asked for."""
        state = self._hosts.get(host)
        return max(0.0, state.held_until - self._clock()) if state else 0.0

    def _state(self, host: str) -> _Host:
        if len(self._hosts) >= _MAX_HOSTS and host not in self._hosts:
            now = self._clock()
            self._hosts = {
                name: state for name, state in self._hosts.items() if state.users or max(state.next_start, state.held_until) > now
            }
        return self._hosts.setdefault(host, _Host(asyncio.Semaphore(self._per_host)))


def left_alone(host: str, wait: float) -> FetchError:
    """The host asked for a pause that is too long to wait for."""
    return FetchError(f"{host[:100]} asked to be left alone for {wait:.0f} s.", "Try again later.", cause="status", status=429)


class Budget:
    """The time that one page may spend on the network; waiting for a place at a host is not counted.

    Args:
        seconds: in all, over every hop.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    @asynccontextmanager
    async def spend(self, host: str) -> AsyncGenerator[None, None]:
        """Time what the block does, and end it when the time is up.

        Raises:
            FetchError: cause ``too_slow``.
        """
        loop = asyncio.get_running_loop()
        start = loop.time()
        try:
            async with asyncio.timeout(max(0.0, self._left)):
                yield
        except TimeoutError as error:
            raise too_slow(host) from error
        finally:
            self._left -= loop.time() - start

"""What is learned of each engine while it is used: how long to leave it alone, and how fast it may be asked."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from deepdelve.core.errors import SearchOutcome
from deepdelve.tools.search.base import SearchResponse

MAX_WAIT = 900.0
MAX_INTERVAL = 60.0
# First wait after a failure, in seconds; each further failure in a row doubles it.
_FIRST_WAIT: dict[SearchOutcome, float] = {"rate_limited": 30.0, "blocked": 300.0, "unavailable": 20.0, "engines_down": 20.0}


@dataclass(frozen=True)
class EngineStatus:
    """How an engine stands. ``wait`` is seconds until it is asked again, infinite where its settings are wrong."""

    name: str
    outcome: SearchOutcome | None
    detail: str
    wait: float
    failures: int
    interval: float


@dataclass
class _State:
    interval: float
    base: float
    next_start: float = 0.0
    until: float = 0.0
    failures: int = 0
    outcome: SearchOutcome | None = None
    detail: str = ""


class Health:
    """The states of all engines of a searcher.

    Args:
        intervals: seconds between two requests, by engine name, as its operator asks for.
        clock: monotonic seconds.
    """

    def __init__(self, intervals: dict[str, float], clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._states = {name: _State(interval, interval) for name, interval in intervals.items()}

    def wait(self, name: str) -> float:
        """Seconds that the engine must be left alone after failures."""
        return max(0.0, self._states[name].until - self._clock())

    def queue(self, name: str) -> float:
        """Seconds until the engine's next start that nobody has taken."""
        return max(0.0, self._states[name].next_start - self._clock())

    def reserve(self, name: str) -> float:
        """Take the engine's next start; returns the seconds until then."""
        state, now = self._states[name], self._clock()
        start = max(now, state.next_start)
        state.next_start = start + state.interval
        return start - now

    def record(self, name: str, response: SearchResponse) -> None:
        """Learn from an answer: failures lengthen the wait, a rate limit slows the pace, success quickens it again."""
        state = self._states[name]
        state.outcome, state.detail = response.outcome, response.detail
        if response.outcome in ("ok", "empty"):
            state.failures, state.until = 0, 0.0
            state.interval = max(state.base, state.interval / 1.5)
            return
        state.failures += 1
        state.until = self._clock() + self._wait_after(state, response)
        if response.outcome == "rate_limited":
            state.interval = min(MAX_INTERVAL, max(state.interval * 2, 1.0))

    def report(self) -> tuple[EngineStatus, ...]:
        """How each engine stands."""
        return tuple(
            EngineStatus(name, state.outcome, state.detail, self.wait(name), state.failures, state.interval)
            for name, state in self._states.items()
        )

    def _wait_after(self, state: _State, response: SearchResponse) -> float:
        if response.outcome == "misconfigured":
            return float("inf")
        if response.retry_after is not None:
            return response.retry_after
        first = _FIRST_WAIT.get(response.outcome, 20.0)
        return min(MAX_WAIT, first * 2 ** min(state.failures - 1, 10))

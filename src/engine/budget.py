"""Time, tokens and calls as budgets that are frozen when a run starts and checked before spending."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from deepdelve.config import Preset, Settings
from deepdelve.core.records import Depth

# A person reads and answers faster than the clock should count; these tools only look, so they cost little.
_LOOKING_TOOLS = {"read_workspace_file": 400, "grep_workspace_file": 200, "extract_structured_data": 60, "think": 120}
_WRITING_TOOLS = {"write_plan": 12, "write_workspace_file": 60, "edit_workspace_file": 120}
_REMEMBERING_TOOLS = {"search_verified_findings": 30, "search_history": 12}
# Of the whole time, what research may take; the rest belongs to writers and checks.
RESEARCH_SHARE = 0.7
# Resumed runs get half of the search, fetch and delegation quotas, but at least this (specs: completion 5).
RESUME_FLOORS = {"delegate_tasks": 2, "web_search": 3, "fetch_url_to_workspace": 5}


@dataclass(frozen=True)
class Budget:
    """What a run may spend. ``quotas`` is calls by tool; ``seconds`` the wall clock without human waiting."""

    attempts: int
    planner_rounds: int
    seconds: float
    dispatch_seconds: float
    tokens: int
    quotas: dict[str, int]

    def as_dict(self) -> dict[str, float]:
        """The budget as it stands in the run's first event."""
        flat = {"attempts": self.attempts, "planner_rounds": self.planner_rounds, "seconds": self.seconds, "tokens": self.tokens}
        return {**flat, "dispatch_seconds": self.dispatch_seconds, **{f"quota:{k}": v for k, v in self.quotas.items()}}


def budget_for(settings: Settings, depth: Depth, max_minutes: float | None = None, *, resumed: bool = False) -> Budget:
    """The budget of a depth.

    Args:
        settings: presets and limits.
        depth: which preset.
        max_minutes: overrides the preset's time.
        resumed: halve the research quotas, down to their floors.
    """
    preset: Preset = getattr(settings.settings.presets, depth)
    quotas = {
        "web_search": preset.search,
        "fetch_url_to_workspace": preset.fetch,
        "delegate_tasks": preset.planner_rounds * 2 + preset.search,
    }
    if resumed:
        quotas = {name: max(RESUME_FLOORS[name], value // 2) for name, value in quotas.items()}
    minutes = max_minutes or settings.settings.max_run_minutes or preset.minutes
    return Budget(
        attempts=max(preset.attempts, 1),
        planner_rounds=preset.planner_rounds,
        seconds=minutes * 60,
        dispatch_seconds=settings.settings.dispatch_minutes * 60,
        tokens=settings.settings.max_tokens or 0,
        quotas={**_LOOKING_TOOLS, **_WRITING_TOOLS, **_REMEMBERING_TOOLS, **quotas},
    )


@dataclass
class RunClock:
    """The run's clock. It stands still while a person is asked, and so do all deadlines taken from it."""

    seconds: float
    started: float = field(default_factory=time.monotonic)
    paused_total: float = 0.0
    _paused_at: float | None = None
    _pauses: int = 0
    _timeouts: dict[asyncio.Timeout, float] = field(default_factory=dict[asyncio.Timeout, float])

    def elapsed(self) -> float:
        """Seconds since the start, human waiting left out."""
        now = self._paused_at if self._paused_at is not None else time.monotonic()
        return now - self.started - self.paused_total

    def remaining(self) -> float:
        """Seconds left of the whole budget, never negative."""
        return max(0.0, self.seconds - self.elapsed())

    @asynccontextmanager
    async def limit(self, seconds: float) -> AsyncGenerator[None]:
        """Cancel the body with ``TimeoutError`` after this many seconds of the run's own time."""
        # Within a pause, the wait so far is taken off: the resume adds the whole of it.
        waited = time.monotonic() - self._paused_at if self._paused_at is not None else 0.0
        async with asyncio.timeout(None if self._paused_at is not None else seconds) as timeout:
            self._timeouts[timeout] = asyncio.get_running_loop().time() + seconds - waited
            try:
                yield
            finally:
                self._timeouts.pop(timeout, None)

    @asynccontextmanager
    async def human_waiting(self) -> AsyncGenerator[None]:
        """Stop all clocks for the body."""
        self._pause()
        try:
            yield
        finally:
            self._resume()

    def _pause(self) -> None:
        self._pauses += 1
        if self._pauses == 1:
            self._paused_at = time.monotonic()
            for timeout in self._timeouts:
                if not timeout.expired():
                    timeout.reschedule(None)

    def _resume(self) -> None:
        self._pauses -= 1
        if self._pauses == 0 and self._paused_at is not None:
            waited = time.monotonic() - self._paused_at
            self._paused_at = None
            self.paused_total += waited
            for timeout, when in list(self._timeouts.items()):
                self._timeouts[timeout] = when + waited
                if not timeout.expired():
                    timeout.reschedule(when + waited)

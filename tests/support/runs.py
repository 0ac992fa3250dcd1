"""A run without a model: its folder and log are real, and a test emits what it likes."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.records import Source
from deepdelve.core.scope import Scope, set_scope
from deepdelve.engine.budget import budget_for
from deepdelve.engine.gate import Dispatch
from deepdelve.engine.run import Run
from deepdelve.utils.run_state import RunState

T = TypeVar("T")


def make_run(folder: Path, settings: Settings | None = None, **started: Any) -> Run:
    """A run that has just started."""
    run = Run(folder / "20260101_000000_abcdef", RunState(), budget_for(settings or Settings(), "quick"))
    run.emit(ev.RunStarted(**{"run_id": run.run_id, "question": "How long is the Alder?", "date": "1 January 2026", **started}))
    return run


def add_source(run: Run, text: str, url: str = "https://rivers.example/alder", **fields: Any) -> Source:
    """A citable source with this text."""
    return run.add_source(Source(id="", url=url, title="A page", **fields), text)


async def within(run: Run, dispatch: Dispatch, work: Callable[[], Awaitable[T]]) -> T:
    """Do the work as this dispatch would: in a task of its own, with its scope."""

    async def scoped() -> T:
        set_scope(Scope(run, dispatch))
        return await work()

    return await asyncio.create_task(scoped())


def events_of(run: Run) -> list[ev.Event]:
    """A list that every later event of the run is added to."""
    seen: list[ev.Event] = []
    run.listen(seen.append)
    return seen

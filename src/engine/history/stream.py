"""A search in a thread of its own, so that whoever waits for it never waits for a disk."""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import AsyncGenerator, Callable

from deepdelve.engine.history.control import SearchControl
from deepdelve.engine.history.index import HistoryIndex
from deepdelve.engine.history.query import HistoryQuery
from deepdelve.engine.history.records import Collected, Event, HistoryResult, SearchFinished
from deepdelve.engine.history.search import Search
from deepdelve.engine.history.sources import Roots

POLL_SECONDS = 0.05
# How long a search that must stop may take to say so before it is left behind.
GRACE_SECONDS = 0.2
_ROOM = 256
_SLICE = 200


class _Worker:
    """Runs a search in a daemon thread and hands its events over a bounded queue."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.events: queue.Queue[Event] = queue.Queue(_ROOM)
        self.left = threading.Event()
        self.error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name="history search", daemon=True)

    def _run(self) -> None:
        try:
            for event in self.search.events():
                self._put(event)
                if self.left.is_set():
                    return
        except Exception as error:  # Handed to whoever waits, who raises it.
            self.error = error

    def _put(self, event: Event) -> None:
        while not self.left.is_set():
            with contextlib.suppress(queue.Full):
                self.events.put(event, timeout=POLL_SECONDS)
                return

    def take(self) -> list[Event]:
        """What has come since; waits a moment where nothing has."""
        found: list[Event] = []
        with contextlib.suppress(queue.Empty):
            found.append(self.events.get(timeout=POLL_SECONDS))
            while len(found) < _SLICE:
                found.append(self.events.get_nowait())
        return found


async def aiter_search(
    query: HistoryQuery,
    roots: Roots,
    *,
    control: SearchControl | None = None,
    index: HistoryIndex | None = None,
    mask: Callable[[str], str] | None = None,
) -> AsyncGenerator[Event]:
    """Search off the event loop. Close it (``contextlib.aclosing``) to stop the search.

    A reading that does not come back after a stop is left behind; the stream still ends with its one summary.

    Raises:
        UsageError: the pattern of the query is none.
    """
    control = control or SearchControl()
    worker = _Worker(Search(query, roots, control, index, mask))
    worker.thread.start()
    stopped_at = 0.0
    finished = False
    try:
        while not finished:
            events = await asyncio.to_thread(worker.take)
            if not events and worker.error is not None:
                raise worker.error
            if control.reason is not None and not stopped_at:
                stopped_at = time.monotonic()
            if not events and stopped_at and time.monotonic() - stopped_at > GRACE_SECONDS:
                worker.left.set()
                events = worker.search.abandon()
            for event in events:
                yield event
                finished = isinstance(event, SearchFinished)
    finally:
        control.stop("caller_cancelled")
        worker.left.set()


async def arun_search(
    query: HistoryQuery,
    roots: Roots,
    *,
    control: SearchControl | None = None,
    index: HistoryIndex | None = None,
    mask: Callable[[str], str] | None = None,
) -> HistoryResult:
    """As ``run_search``, off the event loop."""
    collected = Collected()
    async with contextlib.aclosing(aiter_search(query, roots, control=control, index=index, mask=mask)) as events:
        async for event in events:
            collected.take(event)
    return collected.result()

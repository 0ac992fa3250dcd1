"""Waits for a run to end; a signal stops it, and the process is gone within a second of the first one."""

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import NoReturn

from deepdelve.core.requests import Command, RunHandle, RunResult

INTERRUPTED = 130
# A stop is promised within 1 s; what is left of it is for the interpreter.
GRACE_SECONDS = 0.8
_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class StopSignals:
    """While in force, the first signal stops the run, and a second one ends the process at once.

    Before a run is there, a signal raises KeyboardInterrupt.

    Args:
        leave: ends the process with an exit code.
    """

    def __init__(self, leave: "Callable[[int], object] | None" = None) -> None:
        self._leave = leave or end_process
        self._before: dict[int, object] = {}
        self._stop: Callable[[], object] | None = None
        self._seen = False

    def __enter__(self) -> "StopSignals":
        """Take over the signals; outside the main thread they do not arrive, and nothing is done."""
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Give the signals back."""
        for number, old in self._before.items():
            signal.signal(number, old)  # type: ignore[arg-type]  # what signal() returned is what it takes

    def bind(self, loop: asyncio.AbstractEventLoop, stop: Callable[[], object]) -> None:
        """From now on the first signal calls ``stop`` on this loop."""
        self._stop = lambda: loop.call_soon_threadsafe(stop)

    def _on_signal(self, number: int, frame: object) -> None:
        if self._seen:
            self._leave(INTERRUPTED)
            return
        self._seen = True
        if self._stop is None:
            raise KeyboardInterrupt
        clock = threading.Timer(GRACE_SECONDS, self._leave, [INTERRUPTED])
        clock.daemon = True
        clock.start()
        with contextlib.suppress(RuntimeError):
            # The loop is closed already: the run has ended, and the clock sees to the rest.
            self._stop()


async def outcome_of(handle: RunHandle, signals: StopSignals, say: Callable[[str], object]) -> RunResult:
    """The end of a run that goes on; a signal stops it."""

    def stop() -> None:
        say(f"Stopping; what was found is kept as run {handle.run_id}. Press Ctrl-C again to leave at once.")
        handle.command(Command("stop"))

    signals.bind(asyncio.get_running_loop(), stop)
    return await handle.wait()


def end_process(code: int) -> NoReturn:
    """End the process now: threads that are still busy are not waited for, child processes are ended."""
    processes = sys.modules.get("multiprocessing")
    if processes is not None:
        for child in processes.active_children():
            with contextlib.suppress(OSError, ValueError):
                child.kill()
    os._exit(code)

"""The command line as a surface of a run: progress lines, the events file, and answers to what a run asks."""

import asyncio
import os
import sys
from typing import IO, Any

from deepdelve.cli.progress import Progress
from deepdelve.cli.text import one_line
from deepdelve.core.errors import UsageError
from deepdelve.core.events import DELTA_TYPES, Asked, Event
from deepdelve.core.paths import given_path

_DECISIONS = {"y": "allow", "yes": "allow", "n": "deny", "no": "deny", "a": "always", "always": "always"}


class CliSurface:
    """Implements ``core.requests.Surface``.

    Args:
        progress: writes the lines.
        events: the file for all events (``--events``), or None.
        auto_approve: answer every approval with yes.
    """

    def __init__(self, progress: Progress, events: "EventsFile | None" = None, *, auto_approve: bool = False) -> None:
        self.progress = progress
        self._events = events
        self._auto_approve = auto_approve

    def on_event(self, event: Event) -> None:
        """Show the event and write it to the events file."""
        if self._events is not None:
            problem = self._events.write(event)
            if problem:
                self.progress.say(problem)
        self.progress.show(event)

    async def ask(self, asked: Asked) -> dict[str, Any]:
        """Approvals are asked for at the terminal if there is one; intake and plan go on as they are."""
        if asked.kind == "intake":
            return {"answers": []}
        if asked.kind == "plan":
            return {"items": []}
        if self._auto_approve:
            return {"decision": "allow"}
        if not sys.stdin.isatty():
            self.progress.say("       Denied: there is no terminal to ask at; --auto-approve answers with yes.")
            return {"decision": "deny"}
        return {"decision": await self._decision()}

    async def _decision(self) -> str:
        self.progress.say("       Allow it? y (yes), n (no), a (always in this run), then Enter:")
        for _ in range(3):
            line = await _typed_line()
            decision = _DECISIONS.get(line.strip().lower())
            if decision or not line:
                return decision or "deny"
            self.progress.say("       Please type y, n or a:")
        return "deny"

    def close(self) -> None:
        """Close the events file."""
        if self._events is not None:
            self._events.close()


class EventsFile:
    """All events of a run but streamed pieces, one JSON object a line. Made at the first event, not before.

    Raises:
        UsageError: the file could not be written.
    """

    def __init__(self, path: str) -> None:
        self._path = given_path(path)
        self._file: IO[str] | None = None
        self._broken = False
        folder = self._path.parent
        target = self._path if self._path.exists() else folder
        if self._path.is_dir() or not folder.is_dir() or not os.access(target, os.W_OK):
            raise UsageError(
                f"The events file {one_line(path, 120)} cannot be written.", "Give --events a file in a folder that you may write to."
            )

    def write(self, event: Event) -> str:
        """Write an event; returns a line to tell if that fails for the first time. The run goes on without the file."""
        kind = getattr(event, "type", "")
        if self._broken or kind in DELTA_TYPES:
            return ""
        try:
            if self._file is None:
                self._file = self._path.open("w", encoding="utf-8", errors="replace", buffering=1)
            self._file.write(event.model_dump_json() + "\n")
        except OSError as error:
            self._broken = True
            return f"       Warning: the events file is incomplete ({error.strerror}); the run goes on."
        return ""

    def close(self) -> None:
        """Close the file, if it was ever made."""
        if self._file is not None and not self._broken:
            self._file.close()


async def _typed_line() -> str:
    """A line typed at the terminal; empty at its end. No thread waits, so a stop is not held up."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        if not typed.done():
            typed.set_result(sys.stdin.readline())

    loop.add_reader(sys.stdin.fileno(), read)
    try:
        return await typed
    finally:
        loop.remove_reader(sys.stdin.fileno())

"""The durable event log of a run: one ``write`` per event, a torn last line survived, never rewritten."""

import contextlib
import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from deepdelve.core.errors import DiskError
from deepdelve.core.events import AnyEvent, Event, parse_event
from deepdelve.utils.files import disk_error

JOURNAL = "journal.jsonl"
# What may wait for room; beyond it the run ends rather than fill the memory.
MAX_PENDING_BYTES = 16_000_000


class Journal:
    """Append-only log of one run. ``offset`` is the size in bytes after the last whole event.

    While the disk is full, events wait in memory, in order and up to a bound; ``waiting`` is the error that says so.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.waiting: DiskError | None = None
        self.offset = path.stat().st_size if path.is_file() else 0
        self._fd: int | None = None
        self._pending = bytearray()

    def append(self, event: Event) -> None:
        """Write one event as one line; where there is no room, keep it for ``flush``.

        Raises:
            DiskError: it could not be written, and waiting does not help or has gone on for too long; nothing has changed.
        """
        line = _line(event)
        self._pending += line
        try:
            self.flush()
        except DiskError as error:
            if not error.no_room or len(self._pending) > MAX_PENDING_BYTES:
                del self._pending[-len(line) :]
                raise

    def flush(self) -> None:
        """Write what waits.

        Raises:
            DiskError: that failed; the log ends before it, with a whole line.
        """
        try:
            fd = self._checked()
            written = os.write(fd, self._pending)
            if written != len(self._pending):
                written += os.write(fd, self._pending[written:])
            if written != len(self._pending):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._cut_back()
            problem = disk_error(error, self.path)
            self.waiting = problem if problem.no_room else None
            raise problem from error
        self.offset += len(self._pending)
        self._pending.clear()
        self.waiting = None

    def check(self) -> None:
        """Look whether the log still stands where it was opened.

        Raises:
            DiskError: the run's folder was moved or deleted meanwhile; what is written now would be lost.
        """
        if self._fd is None:
            return
        try:
            same = os.path.samestat(os.fstat(self._fd), os.stat(self.path))  # noqa: PTH116  # twice as fast, on every event
        except OSError:
            same = False
        if not same:
            raise DiskError(
                f"The folder of run {self.path.parent.name} was moved or deleted while the run was going on.",
                "If it was moved, put it back and resume the run.",
            )

    def sync(self) -> None:
        """Force what was written to the disk (at the end of a turn).

        Raises:
            DiskError: the disk could not take it.
        """
        if self._fd is not None:
            try:
                os.fsync(self._fd)
            except OSError as error:
                raise disk_error(error, self.path) from error

    def close(self) -> None:
        """Let go of the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _checked(self) -> int:
        if self._fd is None:
            self._fd = self._open()
        else:
            self.check()
        return self._fd

    def _open(self) -> int:
        """Open for appending; a torn tail of a killed process is cut first, so that the next line stands alone."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o600)
        self.offset = whole_size(self.path)
        os.ftruncate(fd, self.offset)
        return fd

    def _cut_back(self) -> None:
        if self._fd is not None:
            try:
                os.ftruncate(self._fd, self.offset)
            except OSError:
                self.close()


def _line(event: Event) -> bytes:
    try:
        return event.model_dump_json().encode() + b"\n"
    except PydanticSerializationError:
        # Half a surrogate pair, as a model may type it, is no text that a file can hold.
        return json.dumps(event.model_dump(), ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def whole_size(path: Path) -> int:
    """The size of a log up to the end of its last whole line, in bytes."""
    size = path.stat().st_size
    with path.open("rb") as file:
        end = size
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            cut = file.read(end - start).rfind(b"\n")
            if cut >= 0:
                return start + cut + 1
            end = start
    return 0


def read_piece(path: Path, offset: int, size: int = 1_000_000) -> tuple[list[AnyEvent], int]:
    """The next events of a log, of some ``size`` bytes, and the offset behind them; whole lines that are no events are passed over."""
    found: list[AnyEvent] = []
    end = offset + size
    if not path.is_file():
        return found, offset
    with path.open("rb") as file:
        file.seek(offset)
        while offset < end and (line := file.readline()).endswith(b"\n"):
            offset += len(line)
            with contextlib.suppress(ValidationError):
                found.append(parse_event(line))
    return found, offset


def read(path: Path, offset: int = 0) -> Iterator[AnyEvent | None]:
    """The events of a log from a byte offset on; None for a line that is not an event of this version.

    A torn last line is left out without a word: it is what a kill leaves behind.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        file.seek(offset)
        for line in file:
            if not line.endswith(b"\n"):
                return
            try:
                yield parse_event(line)
            except ValidationError:
                yield None

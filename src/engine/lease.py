"""A lease on a run: one process works on it at a time. A kill ends the lease with the process, whatever it left behind."""

import json
import os
import socket
import time
from pathlib import Path
from typing import cast

from deepdelve.core.errors import RunBusyError
from deepdelve.utils.files import disk_error, try_lock

LEASE = "lease.json"
_TRIES = 3


class Lease:
    """Held from ``take`` to ``release``. The file names process, start time and host; the lock on it is the lease itself."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / LEASE
        self._fd: int | None = None

    def take(self) -> None:
        """Take the lease.

        Raises:
            RunBusyError: another process holds it; names it.
            DiskError: the folder cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            fd = next((fd for fd in (self._opened() for _ in range(_TRIES)) if fd is not None), None)
        except OSError as error:
            raise disk_error(error, self.path) from error
        if fd is None:
            holder = read(self.path.parent)
            who = f"process {holder.get('pid', '?')} on {holder.get('host', 'this machine')}"
            raise RunBusyError(f"Run {self.path.parent.name} is being worked on by {who}.", "Wait for it to end, or stop it there.")
        self._fd = fd
        who = {"pid": os.getpid(), "started": round(time.time(), 3), "host": socket.gethostname()}
        try:
            os.ftruncate(fd, 0)
            os.pwrite(fd, json.dumps(who).encode(), 0)
        except OSError as error:
            self.release()
            raise disk_error(error, self.path) from error

    def _opened(self) -> int | None:
        """The locked file, or None. A lock on a file that its last holder has just removed is no lease."""
        fd = os.open(self.path, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600)
        if try_lock(fd) and self.path.is_file() and os.path.samestat(os.fstat(fd), self.path.stat()):
            return fd
        os.close(fd)
        return None

    def release(self) -> None:
        """Give the lease back; the file goes with it."""
        if self._fd is not None:
            # Only one's own file: the folder may have been moved, and another run may stand in its place.
            if self.path.is_file() and os.path.samestat(os.fstat(self._fd), self.path.stat()):
                self.path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = None


def is_live(folder: Path) -> bool:
    """Whether a process works on the run now."""
    try:
        fd = os.open(folder / LEASE, os.O_RDWR)
    except OSError:
        return False
    try:
        return not try_lock(fd)
    finally:
        os.close(fd)


def read(folder: Path) -> dict[str, object]:
    """Who holds, or held, the lease; empty where nobody does."""
    try:
        found = json.loads((folder / LEASE).read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}

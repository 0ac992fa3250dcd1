"""Files that are whole or unchanged: every write goes to a temporary neighbour and is renamed into place."""

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from deepdelve.core.errors import DiskError

try:
    import fcntl
except ImportError:  # Windows has no flock; there one process at a time is up to the person.
    fcntl = None

NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


def write_bytes_atomic(path: Path, data: bytes, *, mode: int = 0o644, durable: bool = False) -> None:
    """Replace a file's content; the old content stays if anything fails.

    Args:
        path: the file; its folder is made if missing.
        data: the whole new content.
        mode: permission bits of the new file.
        durable: also force it to the disk before the rename.

    Raises:
        DiskError: the disk is full or read-only.
    """
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
        raise disk_error(error, path) from error


def write_elsewhere(path: Path, data: bytes, *, mode: int = 0o644) -> None:
    """As ``write_bytes_atomic``, for a place outside the home folder that a person named.

    Raises:
        DiskError: it cannot be written.
    """
    try:
        write_bytes_atomic(path, data, mode=mode)
    except DiskError as error:
        raise DiskError(error.message, "Free some space or name another place; the run is as it was.", no_room=error.no_room) from error


def write_text_atomic(path: Path, text: str, *, mode: int = 0o644, durable: bool = False) -> None:
    """As ``write_bytes_atomic``, for text; lone surrogates are replaced."""
    write_bytes_atomic(path, text.encode("utf-8", "replace"), mode=mode, durable=durable)


def read_bounded(path: Path, limit: int) -> bytes:
    """The first ``limit`` bytes of a regular file.

    Raises:
        OSError: it cannot be read, or is no regular file (a pipe or device would be read for ever).
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file")
    with path.open("rb") as file:
        return file.read(limit)


def disk_error(error: OSError, path: Path) -> DiskError:
    """An operating-system error as one line with a way out."""
    if error.errno in NO_ROOM:
        return DiskError(f"There is no room to write {path.name}.", "Free some space, then resume the run.", no_room=True)
    if error.errno == errno.EROFS:
        return DiskError(f"{path} is on a read-only disk.", "Make it writable, or set DEEPDELVE_HOME to another folder.")
    return DiskError(f"{path} cannot be written ({error.strerror or error}).", "Check the folder's permissions, or set DEEPDELVE_HOME.")


def try_lock(fd: int) -> bool:
    """Whether this process alone holds the open file now; it never waits. The lock goes with the descriptor, or with the process."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

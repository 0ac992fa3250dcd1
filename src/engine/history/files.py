"""Reading files that others may write, cut, replace or have put there to harm: regular files only, no links, bounded, in whole lines."""

import errno
import json
import os
import stat
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

CHUNK_BYTES = 4 * 1024 * 1024
MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_FILE_BYTES = 512 * 1024 * 1024
MAX_TEXT_BYTES = 16 * 1024 * 1024
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)

Row = dict[str, Any]


class NotRegularError(OSError):
    """A link, pipe, device or folder stands where a file should."""


class StoppedError(Exception):
    """The search must stop."""


@dataclass(frozen=True)
class Stamp:
    """What tells one state of a file from another. ``mtime_ns`` is nanoseconds."""

    name: str
    size: int
    mtime_ns: int

    def __str__(self) -> str:
        return f"{self.name} {self.size} {self.mtime_ns}"


@dataclass
class Notes:
    """What reading noticed: codes with counts, the state of each file that was read, and lines that were records."""

    codes: Counter[str] = field(default_factory=Counter[str])
    stamps: list[Stamp] = field(default_factory=list[Stamp])
    records: int = 0


@dataclass(frozen=True)
class Block:
    """Whole lines of a file. ``first`` is the number of the first, from 0."""

    first: int
    data: bytes


def open_regular(path: Path | str) -> int:
    """A descriptor of a regular file.

    Raises:
        NotRegularError: it is a link or no regular file.
        OSError: it cannot be opened.
    """
    try:
        fd = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EMLINK, errno.ENXIO, errno.EISDIR}:
            raise NotRegularError(error.errno, "not a regular file") from error
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise NotRegularError(errno.EINVAL, "not a regular file")
    return fd


def blocks(path: Path | str, notes: Notes, poll: Callable[[], None], *, start: int = 0, first: int = 0) -> Generator[Block]:
    """The whole lines of a file as it stood when it was opened, in blocks. What is found wrong is noted.

    Args:
        path: the file.
        notes: gets codes and the file's stamp.
        poll: called before each reading; raises to stop.
        start: byte to begin at, which begins a line.
        first: the number of that line.

    Raises:
        OSError: the file cannot be read.
    """
    fd = open_regular(path)
    try:
        before = os.fstat(fd)
        end = min(before.st_size, start + MAX_FILE_BYTES)
        if end < before.st_size:
            notes.codes["source_limit"] += 1
        os.lseek(fd, start, os.SEEK_SET)
        yield from _whole_lines(fd, end - start, first, notes, poll)
        _compare(path, before, os.fstat(fd), notes)
    finally:
        os.close(fd)


def _whole_lines(fd: int, left: int, number: int, notes: Notes, poll: Callable[[], None]) -> Generator[Block]:
    carry = b""
    dropping = False
    while left > 0:
        poll()
        chunk = os.read(fd, min(CHUNK_BYTES, left))
        if not chunk:
            break
        left -= len(chunk)
        data = carry + chunk
        cut = data.rfind(b"\n") + 1
        carry = data[cut:]
        if dropping and cut:
            # The rest of a line that was too long.
            lost = data.find(b"\n") + 1
            data, cut, number, dropping = data[lost:], cut - lost, number + 1, False
        if cut:
            yield Block(number, data[:cut])
            number += data.count(b"\n", 0, cut) if left or carry else 0
        if len(carry) > MAX_LINE_BYTES or (dropping and carry):
            notes.codes["record_too_large"] += not dropping
            carry, dropping = b"", True
    if carry:
        yield Block(number, carry)


def _compare(path: Path | str, before: os.stat_result, after: os.stat_result, notes: Notes) -> None:
    try:
        now = os.lstat(path)
    except OSError:
        now = None
    rewritten = after.st_size == before.st_size and after.st_mtime_ns != before.st_mtime_ns
    if now is None or now.st_ino != before.st_ino or after.st_size < before.st_size or rewritten:
        notes.codes["source_changed"] += 1
    elif after.st_size > before.st_size:
        notes.codes["source_grew"] += 1
    notes.stamps.append(Stamp(str(path).rpartition(os.sep)[2], before.st_size, before.st_mtime_ns))


def row_of(line: bytes, notes: Notes) -> Row | None:
    """A line as a JSON object; None, noted, where it is none. A line without its end that is none is a torn tail."""
    try:
        row = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        row = None
    if isinstance(row, dict):
        return cast(Row, row)
    if line.strip():
        notes.codes["malformed_records" if line.endswith(b"\n") else "torn_tail"] += 1
    return None


def read_text(path: Path, notes: Notes) -> str:
    """The text of a file; bytes that are no UTF-8 are replaced and noted, and so is a text that is too long.

    Raises:
        OSError: it cannot be read.
    """
    fd = open_regular(path)
    try:
        before = os.fstat(fd)
        left, parts = min(before.st_size, MAX_TEXT_BYTES), list[bytes]()
        if before.st_size > MAX_TEXT_BYTES:
            notes.codes["source_limit"] += 1
        while left > 0 and (part := os.read(fd, left)):
            parts.append(part)
            left -= len(part)
        _compare(path, before, os.fstat(fd), notes)
    finally:
        os.close(fd)
    data = b"".join(parts)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        notes.codes["encoding_replaced"] += 1
        return data.decode("utf-8", "replace")


def sound(text: str) -> str:
    """A text without lone surrogates, which no file or screen can take."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text

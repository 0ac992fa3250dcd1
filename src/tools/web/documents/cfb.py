"""Compound File Binary containers (the file system inside DOC, XLS, PPT and encrypted Office files), read with bounds.

Layout after [MS-CFB]: a header, sectors chained through an allocation table, and a directory of named streams.
"""

import struct

from deepdelve.tools.web.documents.extracted import unreadable

_FREE = 0xFFFFFFFA
_HEADER_SLOTS = 109
_ENTRY = 128
_ENTRY_LIMIT = 20_000
STREAM_LIMIT = 60_000_000


class CompoundFile:
    """An open container.

    Attributes:
        streams: first sector and size of every stream by name.

    Raises:
        FetchError: ``unreadable`` for damage.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            self._open()
        except (struct.error, IndexError, ValueError) as error:
            raise unreadable("The file is cut short or damaged: its directory cannot be read.", "Look for another copy.") from error

    def _open(self) -> None:
        shift, mini_shift = struct.unpack_from("<HH", self._data, 30)
        if shift not in (9, 12) or mini_shift != 6:
            raise ValueError(shift)
        self._size, self._mini_size = 1 << shift, 1 << mini_shift
        directory, self._cutoff, mini_table = struct.unpack_from("<I4xII", self._data, 48)
        table = list(struct.unpack_from(f"<{_HEADER_SLOTS}I", self._data, 76))
        extension, count = struct.unpack_from("<II", self._data, 68)
        slots = self._size // 4
        for _ in range(min(count, len(self._data) // self._size + 1)):
            if extension >= _FREE:
                break
            more = struct.unpack_from(f"<{slots}I", self._data, (extension + 1) * self._size)
            table += more[:-1]
            extension = more[-1]
        self._next: list[int] = []
        for sector in table:
            if sector < _FREE:
                block = self._sector(sector)
                self._next += struct.unpack(f"<{len(block) // 4}I", block[: len(block) // 4 * 4])
        self.streams: dict[str, tuple[int, int]] = {}
        root = self._directory(self._chain(directory))
        mini = self._chain(mini_table)
        self._mini_next = struct.unpack(f"<{len(mini) // 4}I", mini)
        self._mini = self._chain(root[0])[: root[1]]

    def _directory(self, data: bytes) -> tuple[int, int]:
        root = (_FREE, 0)
        for at in range(0, min(len(data), _ENTRY * _ENTRY_LIMIT) - _ENTRY + 1, _ENTRY):
            length, kind = struct.unpack_from("<HB", data, at + 64)
            start, size = struct.unpack_from("<II", data, at + 116)
            name = data[at : at + max(min(length, 64) - 2, 0)].decode("utf-16-le", "replace")
            if kind == 5:
                root = (start, size)
            elif kind == 2:
                self.streams.setdefault(name, (start, size))
        return root

    def read(self, name: str) -> bytes:
        """The content of a stream; empty if there is none of that name."""
        start, size = self.streams.get(name, (_FREE, 0))
        size = min(size, STREAM_LIMIT)
        if size >= self._cutoff:
            return self._chain(start)[:size]
        parts: list[bytes] = []
        for _ in range(size // self._mini_size + 1):
            if start >= len(self._mini_next):
                break
            parts.append(self._mini[start * self._mini_size : (start + 1) * self._mini_size])
            start = self._mini_next[start]
        return b"".join(parts)[:size]

    def _sector(self, number: int) -> bytes:
        return self._data[(number + 1) * self._size : (number + 2) * self._size]

    def _chain(self, start: int) -> bytes:
        """The sectors of a chain; a chain that runs in a circle ends after as many sectors as the file has."""
        parts: list[bytes] = []
        for _ in range(len(self._data) // self._size + 1):
            if start >= len(self._next):
                break
            parts.append(self._sector(start))
            start = self._next[start]
        return b"".join(parts)

"""Bodies of pages that a server can be asked about again (ETag, Last-Modified), kept in the platform's cache folder."""

import contextlib
import hashlib
import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from deepdelve.core.errors import DiskError
from deepdelve.utils.files import write_bytes_atomic

MAX_TOTAL_BYTES = 268_435_456
_MAX_HEAD_BYTES = 65_536
_PRUNE_EVERY = 32


class CachedBody(BaseModel):
    """A body as received, decoded from its transfer; ``fetched_at`` is when it came (ISO 8601, UTC)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    content_type: str = ""
    etag: str = ""
    last_modified: str = ""
    fetched_at: str = ""
    sha256: str = ""
    body: bytes = b""

    @property
    def validators(self) -> dict[str, str]:
        """Headers that ask the server whether the body is still the newest."""
        named = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in named.items() if value}


class PageCache:
    """One file an address: a line of JSON, then the body. A file that is not whole is as good as none.

    Args:
        folder: where; see ``default_folder``.
        max_total: bytes kept in all; the longest unused go first.
    """

    def __init__(self, folder: Path, *, max_total: int = MAX_TOTAL_BYTES) -> None:
        self._folder = folder
        self._max_total = max_total
        self._stores = 0

    def load(self, url: str) -> CachedBody | None:
        """The body kept for the address, or None."""
        path = self._path(url)
        try:
            with path.open("rb") as file:
                head = CachedBody.model_validate_json(file.readline(_MAX_HEAD_BYTES))
                body = file.read(self._max_total)
            if head.url != url or hashlib.sha256(body).hexdigest() != head.sha256:
                return None
            os.utime(path)
        except (OSError, ValidationError):
            return None
        return head.model_copy(update={"body": body})

    def store(self, entry: CachedBody) -> None:
        """Keep a body that has a validator. A full disk only means that nothing is kept."""
        if not entry.validators or len(entry.body) > self._max_total // 4:
            return
        head = entry.model_copy(update={"body": b"", "sha256": hashlib.sha256(entry.body).hexdigest()})
        with contextlib.suppress(DiskError):
            write_bytes_atomic(self._path(entry.url), head.model_dump_json().encode() + b"\n" + entry.body, mode=0o600)
        if self._stores % _PRUNE_EVERY == 0:
            self._prune()
        self._stores += 1

    def _path(self, url: str) -> Path:
        return self._folder / hashlib.sha256(url.encode()).hexdigest()

    def _prune(self) -> None:
        with contextlib.suppress(OSError):
            files = sorted(((path, path.stat()) for path in self._folder.iterdir()), key=lambda item: -item[1].st_mtime)
            total = 0
            for path, stat in files:
                total += stat.st_size
                if total > self._max_total:
                    path.unlink(missing_ok=True)


def default_folder() -> Path:
    """The platform's cache folder, or one under ``DEEPDELVE_HOME`` where that is set."""
    if moved := os.environ.get("DEEPDELVE_HOME", ""):
        return Path(moved).expanduser() / "cache" / "pages"
    import platformdirs

    return Path(platformdirs.user_cache_dir("deepdelve", appauthor=False)) / "pages"

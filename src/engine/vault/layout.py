"""Where things stand in a vault. Only the seam writes below ``wiki/``; research writes below ``raw/``."""

import hashlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deepdelve.config import Settings, home
from deepdelve.core.errors import DiskError, UsageError
from deepdelve.engine.vault import frontmatter
from deepdelve.utils.files import NO_ROOM, disk_error, write_text_atomic

DEFAULT = "default"
PAGE_FOLDERS = {
    "entity": "entities",
    "concept": "concepts",
    "source": "sources",
    "query": "queries",
    "synthesis": "synthesis",
    "comparison": "comparisons",
}
_PROBE = b"0" * 4_096
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class RawSource:
    """What is to enter the vault: a file name below ``raw/sources``, its fields and its body."""

    name: str
    fields: dict[str, Any]
    body: str


@dataclass(frozen=True)
class Vault:
    """A vault: its id in the ledger and its folder."""

    id: str
    root: Path

    @property
    def wiki(self) -> Path:
        """The pages."""
        return self.root / "wiki"

    @property
    def own(self) -> Path:
        """What DeepDelve keeps beside the pages: lock, journal, proposals."""
        return self.root / ".deepdelve"

    @property
    def proposals(self) -> Path:
        """New versions of pages that a person has edited."""
        return self.own / "proposals"

    def relative(self, path: Path) -> str:
        """A path in the vault, with forward slashes.

        Raises:
            UsageError: it is outside the vault.
        """
        try:
            return path.resolve().relative_to(self.root.resolve()).as_posix()
        except ValueError:
            raise UsageError(f"{path.name[:80]} is not in the vault.", f"Put it below {self.root / 'raw' / 'sources'}.") from None

    def inside(self, relative: str) -> Path:
        """The file of a path that was kept as text.

        Raises:
            UsageError: it leads out of the vault.
        """
        path = self.root / relative
        self.relative(path)
        return path

    def check_writable(self) -> None:
        """Hold that pages and sources can be written, without leaving anything behind.

        Raises:
            DiskError: they cannot: no permission, a read-only or full disk, or no folder.
        """
        for wanted in (self.root / "raw" / "sources", self.root / "raw" / "assets" / "pages", self.wiki / "synthesis", self.own):
            there = next(folder for folder in (wanted, *wanted.parents) if os.path.lexists(folder))
            try:
                with tempfile.TemporaryFile(dir=there) as file:
                    file.write(_PROBE)
                    file.flush()
            except OSError as error:
                full = error.errno in NO_ROOM
                why = f"There is no room in {there}." if full else f"{there} cannot be written ({error.strerror or error})."
                remedy = "Free some space or mend its permissions, or take another folder: --vault or vault.dir."
                raise DiskError(why, remedy, no_room=full) from error

    def write_raw(self, source: RawSource) -> Path:
        """Write a source below ``raw/sources``. Returns its file.

        Raises:
            DiskError: the disk is full or read-only.
        """
        path = self.root / "raw" / "sources" / f"{source.name}.md"
        text = frontmatter.dump(source.fields, source.body)
        if not path.is_file() or path.read_text("utf-8", "replace") != text:
            write_text_atomic(path, text, durable=True)
        return path

    def keep_page(self, sha256: str, url: str, title: str, fetched_at: str, text: str) -> Path:
        """Keep the text of a fetched page under its hash, once. Returns its file.

        Raises:
            DiskError: the disk is full or read-only.
        """
        path = self.asset(sha256)
        if not path.is_file():
            write_text_atomic(path, frontmatter.dump({"url": url, "title": title, "fetched": fetched_at, "sha256": sha256}, text))
        return path

    def asset(self, sha256: str) -> Path:
        """The file of a kept page."""
        return self.root / "raw" / "assets" / "pages" / f"{sha256}.md"


def vault_of(settings: Settings, vault_id: str = "", folder: Path | None = None) -> Vault:
    """The vault of an id, or of a folder that a person names.

    Raises:
        UsageError: the id is none.
    """
    configured = Path(settings.vault.dir).expanduser().absolute() if settings.vault.dir else home() / "vault"
    if folder is not None:
        root = folder.expanduser().absolute()
        digest = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:12]
        return Vault(DEFAULT if root.resolve() == configured.resolve() else f"dir-{digest}", root)
    if not vault_id or vault_id == DEFAULT:
        return Vault(DEFAULT, configured)
    if not _NAME.fullmatch(vault_id):
        raise UsageError(f"'{vault_id[:40]}' is no id of a vault.", "Give letters, digits, dots and dashes, or 'default'.")
    return Vault(vault_id, home() / "vaults" / vault_id)


def hash_of(path: Path) -> str:
    """The hash of a file; empty where there is none.

    Raises:
        DiskError: it cannot be read.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise disk_error(error, path) from error

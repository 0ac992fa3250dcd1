"""Finds the documents of a corpus on disk: which files count, their stable addresses, and what had to be left out and why."""

import hashlib
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

from deepdelve.core.errors import CorpusError
from deepdelve.utils.text import fold

SCHEME = "corpus://"
KINDS = {
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".pdf": "pdf",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    **{f".{kind}": kind for kind in ("docx", "xlsx", "pptx", "doc", "xls", "epub", "odt", "ods", "odp", "rtf", "csv", "tsv", "json")},
    ".ipynb": "notebook",
}
READABLE = "HTML, Markdown, text, PDF, Office, EPUB, RTF, CSV, JSON or JSONL"
MAX_FILE_BYTES = 200 * 1024 * 1024
_NOT_LABEL = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class Skipped:
    """A file (or ``file#row``) that is not in the index, and why in a few words."""

    path: str
    reason: str


@dataclass(frozen=True)
class CorpusFile:
    """One readable file. ``root`` is the resolved corpus folder, ``relative`` its place in there with forward slashes."""

    root: Path
    label: str
    relative: str
    sha256: str

    @property
    def path(self) -> Path:
        """Where it stands."""
        return self.root / self.relative

    @property
    def kind(self) -> str:
        """What its suffix says: html, markdown, text, pdf, jsonl, docx and so on; ``file`` where it says nothing."""
        return KINDS.get(Path(self.relative).suffix.casefold(), "file")

    @property
    def address(self) -> str:
        """Its address: the same on every machine and after every rebuild, as long as folder name and place stay."""
        return f"{SCHEME}{quote(self.label)}/{quote(self.relative, safe='/')}"


@dataclass
class Scan:
    """What the corpus holds."""

    files: list[CorpusFile] = field(default_factory=list[CorpusFile])
    skipped: list[Skipped] = field(default_factory=list[Skipped])

    @property
    def digest(self) -> str:
        """SHA-256 over all addresses and contents, in hex."""
        return hashlib.sha256("\n".join(f"{file.address} {file.sha256}" for file in self.files).encode("utf-8", "replace")).hexdigest()


def scan(paths: Sequence[str | Path]) -> Scan:
    """List and hash the files of a corpus; blocking.

    Args:
        paths: folders, or single files. No symbolic link below them is followed. Of a folder, files with a suffix of ``KINDS`` count;
            a file that is named itself counts whatever its suffix, and its content says what it is.

    Raises:
        CorpusError: a path does not exist or cannot be read, or none was given.
    """
    if not paths:
        raise CorpusError("No corpus was given.", "Name a folder or file with --corpus.")
    found = Scan()
    labels: dict[Path, str] = {}
    for given in dict.fromkeys(str(path) for path in paths):
        root, names, alone = _names(given, found.skipped)
        label = labels.setdefault(root, _label(root, set(labels.values())))
        for name in names:
            _add(found, CorpusFile(root, label, name, ""), alone=alone)
    # A file may be reached twice, by a folder and by its own name; the last address wins.
    found.files = list({file.path: file for file in found.files}.values())
    return found


def read_file(root: Path, relative: str) -> bytes:
    """The bytes of a corpus file.

    Raises:
        OSError: it cannot be read, is no regular file, is too large, or lies outside the corpus folder.
    """
    path = root / relative
    if path.resolve() != path.parent.resolve() / path.name or not path.resolve().is_relative_to(root):
        raise OSError("a symbolic link, not followed")
    with open(path, "rb", opener=_open_plain) as file:
        if os.fstat(file.fileno()).st_size > MAX_FILE_BYTES:
            raise OSError(f"larger than {MAX_FILE_BYTES >> 20} MB")
        return file.read()


def _open_plain(path: str, flags: int) -> int:
    handle = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("not a regular file")
    return handle


def _names(given: str, skipped: list[Skipped]) -> tuple[Path, list[str], bool]:
    try:
        path = Path(given).expanduser()
        root = path.resolve(strict=True)
        if not root.is_dir():
            return root.parent, [root.name], True
        next(root.iterdir(), None)
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it does not exist"
        raise CorpusError(f"The corpus {given} cannot be read ({why}).", "Name a folder or file of documents with --corpus.") from error
    return root, _walk(root, skipped), False


def _walk(root: Path, skipped: list[Skipped]) -> list[str]:
    names: list[str] = []

    def failed(error: OSError) -> None:
        skipped.append(Skipped(str(error.filename), error.strerror or "cannot be read"))

    for folder, subfolders, files in os.walk(root, onerror=failed):
        here = Path(folder)
        skipped += [Skipped(str(here / name), "a symbolic link, not followed") for name in subfolders if (here / name).is_symlink()]
        subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
        names += [(here / name).relative_to(root).as_posix() for name in sorted(files) if not name.startswith(".")]
    return names


def _label(root: Path, taken: set[str]) -> str:
    base = _NOT_LABEL.sub("-", fold(root.name)).strip("-.") or "corpus"
    numbered = (base if n == 1 else f"{base}-{n}" for n in range(1, len(taken) + 2))
    return next(label for label in numbered if label not in taken)


def _add(found: Scan, file: CorpusFile, *, alone: bool) -> None:
    if not alone and file.path.suffix.casefold() not in KINDS:
        found.skipped.append(Skipped(str(file.path), f"not {READABLE}"))
        return
    try:
        digest = hashlib.sha256(read_file(file.root, file.relative)).hexdigest()
    except OSError as error:
        found.skipped.append(Skipped(str(file.path), error.strerror or str(error)))
        return
    found.files.append(replace(file, sha256=digest))

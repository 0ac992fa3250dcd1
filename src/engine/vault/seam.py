"""The one seam: a file below ``raw/`` becomes pages. Nothing else writes below ``wiki/`` or raises the vault's version."""

import hashlib
import os
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from sqlalchemy.orm import Session

from deepdelve.core.errors import UsageError
from deepdelve.engine.bounded.database import Database
from deepdelve.engine.bounded.models import Page
from deepdelve.engine.vault import frontmatter, index, links, names, pages, store, transaction
from deepdelve.engine.vault.layout import PAGE_FOLDERS, Vault, hash_of
from deepdelve.engine.vault.pages import Draft
from deepdelve.engine.vault.store import FileRow, PageRow
from deepdelve.utils.files import disk_error, read_bounded, write_text_atomic

MAX_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class IngestResult:
    """What became of a file. ``reason`` says why it was skipped: unchanged, the same text as another, or ``conflict``."""

    page_id: str | None
    status: Literal["completed", "skipped"]
    reason: str = ""
    path: str = ""


@dataclass(frozen=True)
class _Intake:
    """A file as it was read."""

    path: str
    stat: os.stat_result
    raw: str
    raw_sha256: str
    body_sha256: str

    def row(self, page_ids: Sequence[str]) -> FileRow:
        return FileRow(self.path, self.stat.st_mtime_ns, self.stat.st_size, self.raw_sha256, self.body_sha256, tuple(page_ids))


class IngestSeam:
    """The way into one vault. Blocking: to be used from worker threads.

    Args:
        vault: where.
        database: its index.
        step: told of each step of a change (tests).
    """

    def __init__(self, vault: Vault, database: Database, step: transaction.Step = transaction.no_step) -> None:
        self.vault = vault
        self.database = database
        self._step = step

    def ingest_file(self, path: Path) -> IngestResult:
        """Let a file in, unless it, or another of the same text, is in already.

        Raises:
            UsageError: it is outside the vault, too large or no text.
            DiskError: the vault cannot be written; it is as it was.
            RunBusyError: another process writes to the vault.
            StateError: no valid page comes of it.
        """
        relative = self.vault.relative(path)
        with transaction.locked(self.vault):
            transaction.recover(self.vault, self._commit)
            known = self._unchanged(relative, path)
            return known or self._ingest(_taken_in(path, relative))

    def recover(self) -> str:
        """Finish what a kill has left; says what was done."""
        if not (self.vault.own / transaction.JOURNAL).is_file():
            return ""
        with transaction.locked(self.vault):
            return transaction.recover(self.vault, self._commit)

    def _unchanged(self, relative: str, path: Path) -> IngestResult | None:
        """A file of which time and size are those of its last ingest is not even read."""
        try:
            stat = path.stat()
        except OSError as error:
            raise UsageError(f"There is no file {path.name[:80]}.", "Give a file below raw/sources of the vault.") from error
        with self.database.transaction() as session:
            row = store.file_by_path(session, self.vault.id, relative)
            if row is None or (row.mtime_ns, row.size) != (stat.st_mtime_ns, stat.st_size):
                return None
            return self._cached(session, row.page_ids_json, "unchanged")

    def _ingest(self, intake: _Intake) -> IngestResult:
        with self.database.transaction() as session:
            own = store.file_by_path(session, self.vault.id, intake.path)
            same = own if own is not None and own.raw_sha256 == intake.raw_sha256 else None
            same = same or store.file_by_body(session, self.vault.id, intake.body_sha256)
            if same is not None:
                reason = "unchanged" if same.path == intake.path else f"the same text as {same.path}"
                cached = self._cached(session, same.page_ids_json, reason)
                if cached is not None:
                    store.put_file(session, self.vault.id, intake.row(same.page_ids_json))
                    return cached
            owner = own if own is not None and own.page_ids_json else same
            page = session.get(Page, owner.page_ids_json[0]) if owner is not None and owner.page_ids_json else None
        return self._write(intake, page)

    def _cached(self, session: Session, page_ids: Sequence[str], reason: str) -> IngestResult | None:
        """A skip holds only while every page is still there."""
        found = [session.get(Page, page_id) for page_id in page_ids]
        there = [page for page in found if page is not None and page.deleted_at is None and self.vault.inside(page.path).is_file()]
        if not page_ids or len(there) < len(page_ids):
            return None
        return IngestResult(there[0].id, "skipped", reason, there[0].path)

    def _write(self, intake: _Intake, page: Page | None) -> IngestResult:
        draft = pages.drafted(frontmatter.parse(intake.raw), intake.path)
        draft, path = self._placed(draft, page)
        text = draft.text
        if page is not None and self._edited(page):
            return self._conflict(page, text)
        page_id = page.id if page is not None else str(uuid.uuid4())
        row = PageRow(
            id=page_id,
            path=path,
            title=draft.title,
            type=draft.type,
            generated_sha256=hashlib.sha256(text.encode()).hexdigest(),
            summary=draft.summary,
            updated_at=datetime.now(UTC).isoformat(timespec="microseconds"),
            aliases=draft.aliases,
            links=tuple((link.target, link.alias) for link in links.parse_links(text).links if link.target),
        )
        seen = hash_of(self.vault.inside(path))
        files = {path: text, **self._index(row), **self._missing_static()}
        payload = {"page": asdict(row), "file": asdict(intake.row((page_id,)))}
        if hash_of(self.vault.inside(path)) != seen:
            return self._conflict(page, text) if page is not None else self._write(intake, page)
        transaction.change(self.vault, files, payload, self._commit, self._step)
        return IngestResult(page_id, "completed", "", path)

    def _placed(self, draft: Draft, page: Page | None) -> tuple[Draft, str]:
        """Where the page stands: a known page stays where it is; a new one shares its name with no other."""
        if page is not None:
            return draft, page.path
        folder = f"wiki/{PAGE_FOLDERS[draft.type]}"
        directory = self.vault.root / folder
        taken = [name.removesuffix(".md") for name in os.listdir(directory)] if directory.is_dir() else []  # noqa: PTH208  # names alone: a path object for each page costs more than the look
        wanted = names.file_name(draft.title)
        name = names.unique(wanted, taken)
        if name != wanted:
            title = f"{draft.title} {name.rpartition(' ')[2]}"
            draft = replace(draft, title=title, fields={**draft.fields, "title": title})
        return draft, f"{folder}/{name}.md"

    def _edited(self, page: Page) -> bool:
        now = hash_of(self.vault.inside(page.path))
        return bool(now) and now != page.generated_sha256

    def _conflict(self, page: Page, text: str) -> IngestResult:
        """A person's edit wins: the new version is put beside the vault's pages, and theirs is left alone."""
        proposal = self.vault.proposals / page.path.removeprefix("wiki/")
        write_text_atomic(proposal, text)
        return IngestResult(page.id, "skipped", f"conflict: you have edited {page.path}; the new version is {_short(proposal)}", page.path)

    def _index(self, row: PageRow) -> dict[str, str]:
        """Index and log with the new page in them; pages whose file is gone are left out."""
        there = {row.path, *self._files()}
        with self.database.transaction() as session:
            found = store.listed(session, self.vault.id, row.id)
        entries = [index.Entry(row.path, row.title, row.type, row.summary, row.updated_at)]
        entries += [index.Entry(*values) for values in found if values[0] in there]
        log = self.vault.wiki / "log.md"
        told = log.read_text("utf-8", "replace") if log.is_file() else ""
        return {**index.index_files(entries), "wiki/log.md": index.logged(told, row.updated_at[:10], "deep-research", row.title)}

    def _files(self) -> set[str]:
        folders = [name for name in PAGE_FOLDERS.values() if (self.vault.wiki / name).is_dir()]
        return {f"wiki/{name}/{file}" for name in folders for file in os.listdir(self.vault.wiki / name)}  # noqa: PTH208  # names alone: a path object for each page costs more than the look

    def _missing_static(self) -> dict[str, str]:
        return {path: text for path, text in index.STATIC.items() if not (self.vault.root / path).exists()}

    def _commit(self, payload: dict[str, Any]) -> None:
        """Enter a page, its file and one new version; nothing where that was done before."""
        page, file = PageRow.from_dict(payload["page"]), FileRow.from_dict(payload["file"])
        there = self._files()
        with self.database.transaction() as session:
            known, entered = session.get(Page, page.id), store.file_by_path(session, self.vault.id, file.path)
            done = known is not None and known.generated_sha256 == page.generated_sha256 and known.updated_at == page.updated_at
            if done and entered is not None and entered.raw_sha256 == file.raw_sha256:
                return
            gone = [page_id for page_id, path in store.places(session, self.vault.id) if path not in there and page_id != page.id]
            if gone:
                store.mark_deleted(session, self.vault.id, gone, page.updated_at)
            store.put_page(session, self.vault.id, page, pages.names_of(page.id, page.path, page.title, page.aliases))
            store.put_file(session, self.vault.id, file)
            store.bump(session, self.vault.id)


def body_sha256(text: str) -> str:
    """The hash of a text's body: what stands behind the frontmatter, without trailing space."""
    lines = [line.rstrip() for line in frontmatter.parse(text).body.strip().splitlines()]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()


def _taken_in(path: Path, relative: str) -> _Intake:
    try:
        stat, data = path.stat(), read_bounded(path, MAX_BYTES + 1)
    except OSError as error:
        raise disk_error(error, path) from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path.name[:80]} is larger than {MAX_BYTES // 1_048_576} MB.", "Give a shorter text.")
    text = data.decode("utf-8", "replace").replace("\x00", "")
    return _Intake(relative, stat, text, hashlib.sha256(data).hexdigest(), body_sha256(text))


def _short(path: Path) -> str:
    return "/".join(path.parts[-4:])

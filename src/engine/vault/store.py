"""What the database knows of a vault: pages, their names and links, and the files that went through the seam. Blocking."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from deepdelve.engine.bounded.models import Link, Page, PageName, SourceFile, VaultState
from deepdelve.engine.vault.links import Name, WikiLink, resolve


@dataclass(frozen=True)
class PageRow:
    """A page as it is entered, with its names and its links."""

    id: str
    path: str
    title: str
    type: str
    generated_sha256: str
    summary: str
    updated_at: str
    aliases: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "PageRow":
        """One that was kept as JSON."""
        links = tuple((str(target), str(alias)) for target, alias in data["links"])
        fields: dict[str, Any] = {**data, "aliases": tuple(map(str, data["aliases"])), "links": links}
        return cls(**fields)


@dataclass(frozen=True)
class FileRow:
    """A file that went through the seam."""

    path: str
    mtime_ns: int
    size: int
    raw_sha256: str
    body_sha256: str
    page_ids: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "FileRow":
        """One that was kept as JSON."""
        fields: dict[str, Any] = {**data, "page_ids": tuple(map(str, data["page_ids"]))}
        return cls(**fields)


def file_by_path(session: Session, vault_id: str, path: str) -> SourceFile | None:
    """What is known of a file."""
    return session.get(SourceFile, (vault_id, path))


def file_by_body(session: Session, vault_id: str, body_sha256: str) -> SourceFile | None:
    """A file of this vault with the same body, wherever it is."""
    same = (SourceFile.vault_id == vault_id) & (SourceFile.body_sha256 == body_sha256)
    return session.scalars(sa.select(SourceFile).where(same).order_by(SourceFile.path)).first()


def put_file(session: Session, vault_id: str, row: FileRow) -> None:
    """Enter a file, or what is new about it."""
    session.merge(
        SourceFile(
            vault_id=vault_id,
            path=row.path,
            mtime_ns=row.mtime_ns,
            size=row.size,
            raw_sha256=row.raw_sha256,
            body_sha256=row.body_sha256,
            page_ids_json=list(row.page_ids),
        )
    )


def listed(session: Session, vault_id: str, but: str) -> list[tuple[str, str, str, str, str]]:
    """Path, title, type, summary and time of each live page but one, newest first."""
    page = Page.__table__.c
    own = (page.vault_id == vault_id) & page.deleted_at.is_(None) & (page.id != but)
    columns = sa.select(page.path, page.title, page.type, page.summary, page.updated_at)
    rows = session.connection().execute(columns.where(own).order_by(page.updated_at.desc(), page.title))
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]


def places(session: Session, vault_id: str) -> list[tuple[str, str]]:
    """Id and path of each live page."""
    page = Page.__table__.c
    rows = session.connection().execute(sa.select(page.id, page.path).where((page.vault_id == vault_id) & page.deleted_at.is_(None)))
    return [(row[0], row[1]) for row in rows]


def put_page(session: Session, vault_id: str, row: PageRow, names: Sequence[Name]) -> None:
    """Enter a page with its names and links; only links whose target this changes are resolved anew."""
    old = set(session.scalars(sa.select(PageName.slug).where(PageName.page_id == row.id)).all())
    values: dict[str, Any] = {name: getattr(row, name) for name in ("path", "title", "type", "generated_sha256", "summary", "updated_at")}
    session.merge(Page(id=row.id, vault_id=vault_id, deleted_at=None, **values))
    session.flush()
    session.execute(sa.delete(PageName).where(PageName.page_id == row.id))
    session.execute(sa.delete(Link).where(Link.page_id == row.id))
    session.add_all(
        PageName(page_id=row.id, vault_id=vault_id, level=name.level, name=name.name, slug=_slug(name.name)) for name in _once(names)
    )
    session.add_all(
        Link(
            page_id=row.id,
            ordinal=number,
            vault_id=vault_id,
            target=target,
            target_slug=WikiLink(0, 0, target).slug,
            alias=alias,
            dangling=True,
        )
        for number, (target, alias) in enumerate(row.links)
    )
    session.flush()
    own = {WikiLink(0, 0, target).slug for target, _ in row.links}
    relink(session, vault_id, old | own | {_slug(name.name) for name in names})


def relink(session: Session, vault_id: str, slugs: Iterable[str]) -> int:
    """Resolve anew the links whose target has one of these slugs. Returns how many were looked at."""
    wanted = sorted(set(slugs))
    touched = session.scalars(sa.select(Link).where((Link.vault_id == vault_id) & Link.target_slug.in_(wanted))).all()
    if not touched:
        return 0
    names = names_by_slug(session, vault_id, {link.target_slug for link in touched})
    for link in touched:
        page_id, _ = resolve(WikiLink(0, 0, link.target), names.get(link.target_slug, ()))
        link.target_page_id, link.dangling = page_id, page_id is None
    session.flush()
    return len(touched)


def names_by_slug(session: Session, vault_id: str, slugs: Iterable[str]) -> dict[str, list[Name]]:
    """The names of live pages that have one of these slugs."""
    own = (PageName.vault_id == vault_id) & PageName.slug.in_(sorted(set(slugs))) & Page.deleted_at.is_(None)
    rows = session.execute(sa.select(PageName, Page.path).join(Page, Page.id == PageName.page_id).where(own)).all()
    found: dict[str, list[Name]] = {}
    for name, path in rows:
        found.setdefault(name.slug, []).append(Name(name.page_id, name.level, name.name, path))
    return found


def mark_deleted(session: Session, vault_id: str, page_ids: Sequence[str], when: str) -> None:
    """Pages whose file is gone: nothing leads to them any more."""
    own = (Page.vault_id == vault_id) & Page.id.in_(page_ids)
    slugs = session.scalars(sa.select(PageName.slug).where(PageName.page_id.in_(page_ids))).all()
    session.execute(sa.update(Page).where(own).values(deleted_at=when))
    session.flush()
    relink(session, vault_id, slugs)


def bump(session: Session, vault_id: str) -> int:
    """The vault has changed once more."""
    state = session.get(VaultState, vault_id) or VaultState(vault_id=vault_id, data_version=0)
    state.data_version += 1
    session.add(state)
    return state.data_version


def data_version(session: Session, vault_id: str) -> int:
    """How often the vault has changed."""
    state = session.get(VaultState, vault_id)
    return state.data_version if state else 0


def _once(names: Sequence[Name]) -> list[Name]:
    return list({(name.level, name.name): name for name in names}.values())


def _slug(name: str) -> str:
    return WikiLink(0, 0, name.replace("/", " ")).slug

"""The tables of the ledger and of the vault's index, as mapped classes. Times are ISO 8601 in UTC, ids are UUIDs as text."""

from typing import Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

STATUSES = ("running", "converged", "max_iter_reached", "budget_exhausted", "error", "cancelled")


class Base(DeclarativeBase):
    """Base of all tables."""

    type_annotation_map = {str: Text, list[str]: JSON, dict[str, Any]: JSON, list[list[str]]: JSON}  # noqa: RUF012  # SQLAlchemy reads it as a class attribute


class Page(Base):
    """A page of a vault. ``generated_sha256`` is of the file as it was written: another hash means that a person edited it."""

    __tablename__ = "pages"
    __table_args__ = (UniqueConstraint("vault_id", "path"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    vault_id: Mapped[str]
    path: Mapped[str]
    title: Mapped[str]
    type: Mapped[str]
    generated_sha256: Mapped[str]
    summary: Mapped[str]
    updated_at: Mapped[str]
    deleted_at: Mapped[str | None]


class DeepResearchRun(Base):
    """A run. The bounds are those that it started with; ``frozen_json`` holds the rest of what was frozen."""

    __tablename__ = "deep_research_runs"
    __table_args__ = (
        CheckConstraint(f"status IN {STATUSES!r}", name="status_known"),
        CheckConstraint("max_iter BETWEEN 1 AND 10", name="max_iter_bounded"),
        CheckConstraint("(status = 'running') = (completed_at IS NULL)", name="completed_when_over"),
        Index("ix_runs_vault_started", "vault_id", "started_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    vault_id: Mapped[str]
    topic: Mapped[str]
    status: Mapped[str] = mapped_column(default="running", server_default="running")
    max_iter: Mapped[int]
    token_budget: Mapped[int]
    iterations_used: Mapped[int] = mapped_column(default=0, server_default="0")
    queries_used: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    sources_fetched: Mapped[int] = mapped_column(default=0, server_default="0")
    converged: Mapped[bool] = mapped_column(default=False)
    total_cost_usd: Mapped[float] = mapped_column(default=0.0, server_default="0")
    synthesis_text: Mapped[str | None]
    synthesis_page_id: Mapped[str | None] = mapped_column(ForeignKey("pages.id", ondelete="SET NULL"))
    started_at: Mapped[str]
    completed_at: Mapped[str | None]
    error_message: Mapped[str | None]
    phase: Mapped[str] = mapped_column(default="queued", server_default="queued")
    stop_detail: Mapped[str | None]
    frozen_json: Mapped[dict[str, Any]]
    rounds_completed: Mapped[int] = mapped_column(default=0, server_default="0")
    stalled_rounds: Mapped[int] = mapped_column(default=0, server_default="0")
    tokens_in: Mapped[int] = mapped_column(default=0, server_default="0")
    tokens_out: Mapped[int] = mapped_column(default=0, server_default="0")
    usage_estimated: Mapped[bool] = mapped_column(default=False)
    sources_usable: Mapped[int] = mapped_column(default=0, server_default="0")
    synthesis_sha256: Mapped[str | None]
    ingest_status: Mapped[str | None]
    owner_pid: Mapped[int | None]
    owner_start: Mapped[str | None]


class DeepResearchSource(Base):
    """One address that a run fetched, or tried to. ``outcome`` is ``ok`` or says why nothing of it can be used."""

    __tablename__ = "deep_research_sources"
    __table_args__ = (UniqueConstraint("run_id", "canonical_url"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("deep_research_runs.id", ondelete="CASCADE"))
    ordinal: Mapped[int]
    url: Mapped[str]
    title: Mapped[str | None]
    fetched_content_md: Mapped[str | None]
    relevance_score: Mapped[float | None]
    iteration: Mapped[int] = mapped_column(default=1, server_default="1")
    created_at: Mapped[str]
    canonical_url: Mapped[str]
    http_status: Mapped[int | None]
    outcome: Mapped[str]
    content_sha256: Mapped[str | None]
    cited: Mapped[bool] = mapped_column(default=False)


class DeepResearchQuery(Base):
    """One query of a run: how SearXNG answered (``kind`` is the class of the answer), and which of its engines failed."""

    __tablename__ = "deep_research_queries"

    run_id: Mapped[str] = mapped_column(ForeignKey("deep_research_runs.id", ondelete="CASCADE"), primary_key=True)
    iteration: Mapped[int] = mapped_column(primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    query: Mapped[str]
    kind: Mapped[str] = mapped_column("class")
    hits: Mapped[int]
    detail: Mapped[str]
    unresponsive_json: Mapped[list[list[str]]]


class DeepResearchCall(Base):
    """One model call of a run."""

    __tablename__ = "deep_research_calls"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("deep_research_runs.id", ondelete="CASCADE"), index=True)
    iteration: Mapped[int]
    phase: Mapped[str]
    tokens_in: Mapped[int]
    tokens_out: Mapped[int]
    ms: Mapped[int]
    estimated: Mapped[bool]
    outcome: Mapped[str]


class SourceFile(Base):
    """A file that went through the seam, by its path in the vault: what it held, and the pages that came of it."""

    __tablename__ = "sources"

    vault_id: Mapped[str] = mapped_column(primary_key=True)
    path: Mapped[str] = mapped_column(primary_key=True)
    mtime_ns: Mapped[int] = mapped_column(BigInteger)
    size: Mapped[int]
    raw_sha256: Mapped[str]
    body_sha256: Mapped[str] = mapped_column(index=True)
    page_ids_json: Mapped[list[str]]


class PageName(Base):
    """A name under which links find a page. ``level`` is title, alias or file; ``slug`` is the form in which names are compared last."""

    __tablename__ = "page_names"
    __table_args__ = (Index("ix_names_slug", "vault_id", "slug"),)

    page_id: Mapped[str] = mapped_column(ForeignKey("pages.id", ondelete="CASCADE"), primary_key=True)
    level: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    vault_id: Mapped[str]
    slug: Mapped[str]


class Link(Base):
    """A wikilink of a page, and the page to which it leads; ``dangling`` where there is none, or more than one."""

    __tablename__ = "links"
    __table_args__ = (
        ForeignKeyConstraint(["page_id"], ["pages.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["target_page_id"], ["pages.id"], ondelete="SET NULL"),
        Index("ix_links_slug", "vault_id", "target_slug"),
    )

    page_id: Mapped[str] = mapped_column(primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    vault_id: Mapped[str]
    target: Mapped[str]
    target_slug: Mapped[str]
    alias: Mapped[str]
    target_page_id: Mapped[str | None]
    dangling: Mapped[bool]


class VaultState(Base):
    """How often a vault has changed."""

    __tablename__ = "vault_state"

    vault_id: Mapped[str] = mapped_column(primary_key=True)
    data_version: Mapped[int]

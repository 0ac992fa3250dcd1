"""The tables of the run ledger and of the vault's index."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None
_REAL: sa.types.TypeEngine[float] = sa.Double()


def upgrade() -> None:
    """Make the tables; those that others refer to come first."""
    _pages()
    _sources()
    _vault_state()
    _deep_research_runs()
    _links()
    _page_names()
    _deep_research_calls()
    _deep_research_queries()
    _deep_research_sources()


def downgrade() -> None:
    """Take them away."""
    op.drop_table("deep_research_sources")
    op.drop_table("deep_research_queries")
    op.drop_index(op.f("ix_deep_research_calls_run_id"), table_name="deep_research_calls")
    op.drop_table("deep_research_calls")
    op.drop_index("ix_names_slug", table_name="page_names")
    op.drop_table("page_names")
    op.drop_index("ix_links_slug", table_name="links")
    op.drop_table("links")
    op.drop_index("ix_runs_vault_started", table_name="deep_research_runs")
    op.drop_table("deep_research_runs")
    op.drop_table("vault_state")
    op.drop_index(op.f("ix_sources_body_sha256"), table_name="sources")
    op.drop_table("sources")
    op.drop_table("pages")


def _pages() -> None:
    op.create_table(
        "pages",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("vault_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("generated_sha256", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("deleted_at", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("vault_id", "path"),
    )


def _sources() -> None:
    op.create_table(
        "sources",
        sa.Column("vault_id", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("raw_sha256", sa.Text(), nullable=False),
        sa.Column("body_sha256", sa.Text(), nullable=False),
        sa.Column("page_ids_json", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("vault_id", "path"),
    )
    op.create_index(op.f("ix_sources_body_sha256"), "sources", ["body_sha256"], unique=False)


def _vault_state() -> None:
    op.create_table(
        "vault_state",
        sa.Column("vault_id", sa.Text(), nullable=False),
        sa.Column("data_version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("vault_id"),
    )


def _deep_research_runs() -> None:
    op.create_table(
        "deep_research_runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("vault_id", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="running", nullable=False),
        sa.Column("max_iter", sa.Integer(), nullable=False),
        sa.Column("token_budget", sa.Integer(), nullable=False),
        sa.Column("iterations_used", sa.Integer(), server_default="0", nullable=False),
        sa.Column("queries_used", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("sources_fetched", sa.Integer(), server_default="0", nullable=False),
        sa.Column("converged", sa.Boolean(), nullable=False),
        sa.Column("total_cost_usd", _REAL, server_default="0", nullable=False),
        sa.Column("synthesis_text", sa.Text(), nullable=True),
        sa.Column("synthesis_page_id", sa.Text(), nullable=True),
        sa.Column("started_at", sa.Text(), nullable=False),
        sa.Column("completed_at", sa.Text(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("phase", sa.Text(), server_default="queued", nullable=False),
        sa.Column("stop_detail", sa.Text(), nullable=True),
        sa.Column("frozen_json", sa.JSON(), nullable=False),
        sa.Column("rounds_completed", sa.Integer(), server_default="0", nullable=False),
        sa.Column("stalled_rounds", sa.Integer(), server_default="0", nullable=False),
        sa.Column("tokens_in", sa.Integer(), server_default="0", nullable=False),
        sa.Column("tokens_out", sa.Integer(), server_default="0", nullable=False),
        sa.Column("usage_estimated", sa.Boolean(), nullable=False),
        sa.Column("sources_usable", sa.Integer(), server_default="0", nullable=False),
        sa.Column("synthesis_sha256", sa.Text(), nullable=True),
        sa.Column("ingest_status", sa.Text(), nullable=True),
        sa.Column("owner_pid", sa.Integer(), nullable=True),
        sa.Column("owner_start", sa.Text(), nullable=True),
        sa.CheckConstraint("(status = 'running') = (completed_at IS NULL)", name="completed_when_over"),
        sa.CheckConstraint(
            "status IN ('running', 'converged', 'max_iter_reached', 'budget_exhausted', 'error', 'cancelled')", name="status_known"
        ),
        sa.CheckConstraint("max_iter BETWEEN 1 AND 10", name="max_iter_bounded"),
        sa.ForeignKeyConstraint(["synthesis_page_id"], ["pages.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_runs_vault_started", "deep_research_runs", ["vault_id", "started_at"], unique=False)


def _links() -> None:
    op.create_table(
        "links",
        sa.Column("page_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("vault_id", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("target_slug", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("target_page_id", sa.Text(), nullable=True),
        sa.Column("dangling", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target_page_id"], ["pages.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("page_id", "ordinal"),
    )
    op.create_index("ix_links_slug", "links", ["vault_id", "target_slug"], unique=False)


def _page_names() -> None:
    op.create_table(
        "page_names",
        sa.Column("page_id", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("vault_id", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("page_id", "level", "name"),
    )
    op.create_index("ix_names_slug", "page_names", ["vault_id", "slug"], unique=False)


def _deep_research_calls() -> None:
    op.create_table(
        "deep_research_calls",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("iteration", sa.Integer(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("ms", sa.Integer(), nullable=False),
        sa.Column("estimated", sa.Boolean(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["deep_research_runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_deep_research_calls_run_id"), "deep_research_calls", ["run_id"], unique=False)


def _deep_research_queries() -> None:
    op.create_table(
        "deep_research_queries",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("iteration", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("class", sa.Text(), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("unresponsive_json", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["deep_research_runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "iteration", "ordinal"),
    )


def _deep_research_sources() -> None:
    op.create_table(
        "deep_research_sources",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("fetched_content_md", sa.Text(), nullable=True),
        sa.Column("relevance_score", _REAL, nullable=True),
        sa.Column("iteration", sa.Integer(), server_default="1", nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("canonical_url", sa.Text(), nullable=False),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("content_sha256", sa.Text(), nullable=True),
        sa.Column("cited", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["deep_research_runs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id", "canonical_url"),
    )

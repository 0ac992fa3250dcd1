"""Rows of the ledger as plain data for surfaces, and events as lines for a person."""

from typing import Any

from deepdelve.engine.bounded.models import DeepResearchQuery, DeepResearchRun, DeepResearchSource

_SUMMARY = (
    "id",
    "vault_id",
    "topic",
    "status",
    "phase",
    "iterations_used",
    "sources_fetched",
    "total_cost_usd",
    "started_at",
    "completed_at",
)
_WHOLE = (
    *_SUMMARY,
    *("max_iter", "token_budget", "queries_used", "converged", "synthesis_text", "synthesis_page_id", "error_message", "stop_detail"),
    *("rounds_completed", "stalled_rounds", "tokens_in", "tokens_out", "usage_estimated", "sources_usable", "ingest_status"),
)
_SOURCE = ("url", "title", "relevance_score", "iteration", "outcome", "http_status", "content_sha256", "cited")


def summary(row: DeepResearchRun) -> dict[str, Any]:
    """A run as the list shows it."""
    return {name: getattr(row, name) for name in _SUMMARY}


def whole(row: DeepResearchRun, page: str) -> dict[str, Any]:
    """A run with all that is known of it but its sources; ``page`` is where its page stands in the vault."""
    return {**{name: getattr(row, name) for name in _WHOLE}, "page": page}


def query(row: DeepResearchQuery) -> dict[str, Any]:
    """A query and how it was answered."""
    facts = {"iteration": row.iteration, "query": row.query, "class": row.kind, "hits": row.hits, "detail": row.detail}
    return {**facts, "unresponsive": row.unresponsive_json}


def source(row: DeepResearchSource, include_content: bool) -> dict[str, Any]:
    """A source; its text only where it is asked for."""
    found = {name: getattr(row, name) for name in _SOURCE}
    return {**found, "fetched_content_md": row.fetched_content_md} if include_content else found


def line(event: dict[str, Any]) -> str:
    """An event as one line; empty where it adds nothing to what was said before."""
    kind = event["type"]
    if kind == "phase":
        return f"{_where(event)}: {event['phase']}"
    if kind == "query" and event["kind"] != "ok":
        return f"SearXNG, {event['kind'].replace('_', ' ')}: {event['detail']}"
    if kind == "left_out":
        named = ", ".join(f"'{query[:60]}'" for query in event["queries"][:3])
        return f"Left out (nothing to search for, or more than {event['most']} queries a round): {named}"
    if kind == "invalid":
        return "The note may not enter the vault: " + "; ".join(map(str, event["problems"][:3]))
    if kind == "done":
        detail = f" ({event['stop_detail'].replace('_', ' ')})" if event["stop_detail"] else ""
        return f"{event['status'].replace('_', ' ')}{detail} after round {event['iteration']}, {event['tokens']} tokens"
    return ""


def _where(event: dict[str, Any]) -> str:
    down = f", without {', '.join(event['engines_down'][:3])}" if event["engines_down"] else ""
    tokens = f"{event['tokens']}/{event['token_budget']} tokens"
    return f"round {event['iteration']}/{event['max_iter']}, {tokens}, {event['sources']} sources{down}"

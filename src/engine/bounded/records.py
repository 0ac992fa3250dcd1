"""What passes between the phases of a bounded run, and what it ends with."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from deepdelve.engine.bounded.passages import Chunk, chunks

Status = Literal["running", "converged", "max_iter_reached", "budget_exhausted", "error", "cancelled"]
Phase = Literal["queued", "generating", "searching", "fetching", "assessing", "synthesizing", "validating", "ingesting", "done"]
StopDetail = Literal["no_sources", "search_unavailable", "deadline", "interrupted", "ingest_failed", "synthesis_invalid"]
UNAVAILABLE = frozenset({"engines_down", "json_disabled", "rate_limited", "unavailable"})


@dataclass(frozen=True)
class FetchedSource:
    """An address that was fetched, or tried.

    ``ordinal`` counts from 1 in the order of the hits; ``outcome`` is ``ok``, or says why nothing of it can be used.
    """

    ordinal: int
    url: str
    canonical_url: str
    title: str
    text: str
    iteration: int
    outcome: str = "ok"
    http_status: int = 0
    sha256: str = ""
    fetched_at: str = ""

    @property
    def usable(self) -> bool:
        """Whether it has text that may be cited."""
        return self.outcome == "ok" and bool(self.text.strip())

    @cached_property
    def chunks(self) -> tuple[Chunk, ...]:
        """Its text in short passages with their terms, made once."""
        return chunks(self.text)


@dataclass(frozen=True)
class Sufficiency:
    """The verdict of one round: whether what was gathered answers the topic, and what is missing."""

    sufficient: bool
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeepResearchResult:
    """How a bounded run ended."""

    run_id: str
    status: Status
    iterations_used: int
    sources_fetched: int
    total_cost_usd: float
    synthesis_page_id: str | None = None
    error_message: str | None = None
    stop_detail: str | None = None
    page_path: str = ""
    usage: dict[str, Any] = field(default_factory=dict[str, Any])

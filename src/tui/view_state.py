"""What the app shows of a run, as data, and what follows from it.

The models of events and records are not imported here: the first frame is painted from an empty state before they are.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deepdelve.core.events import Stage
    from deepdelve.core.records import Claim, ClaimCounts, PlanItem, Source, Task, Usage
    from deepdelve.tui.blocks import Block

QUOTA_TOOLS: dict[str, str] = {
    "web_search": "search",
    "fetch_url_to_workspace": "fetch",
    "delegate_tasks": "delegate",
}


@dataclass(frozen=True)
class Check:
    """One attempt of the completion check, as shown."""

    attempt: int
    problem: str
    active: tuple[str, ...]
    remedy: str
    detail: str
    ts: float


@dataclass(frozen=True)
class Meter:
    """A budget: what was used of what there is. ``limit`` 0 means that there is none."""

    label: str
    used: float
    limit: float
    unit: str = ""

    @property
    def share(self) -> float:
        """Used part, from 0 to 1."""
        return min(self.used / self.limit, 1.0) if self.limit > 0 else 0.0


@dataclass(frozen=True)
class ViewState:
    """Everything the research screen shows. ``used`` counts tool calls by name, ``usage`` adds model calls up by role."""

    run_id: str = ""
    session_id: str = ""
    question: str = ""
    backend: str = ""
    model: str = ""
    style: str = ""
    depth: str = ""
    stage: "Stage | None" = None
    running: bool = False
    started: float = 0.0
    seconds: float = 0.0
    waiting_since: float = 0.0
    waited: float = 0.0
    outcome: str = ""
    report: bool = False
    counts: "ClaimCounts | None" = None
    budget: dict[str, float] = field(default_factory=dict[str, float])
    used: dict[str, int] = field(default_factory=dict[str, int])
    plan: "tuple[PlanItem, ...]" = ()
    tasks: "dict[str, Task]" = field(default_factory=dict[str, Any])
    sources: "dict[str, Source]" = field(default_factory=dict[str, Any])
    dropped: frozenset[str] = frozenset()
    findings: dict[str, int] = field(default_factory=dict[str, int])
    citations: tuple[str, ...] = ()
    claims: "tuple[Claim, ...]" = ()
    checks: tuple[Check, ...] = ()
    usage: "dict[str, Usage]" = field(default_factory=dict[str, Any])
    context_tokens: int = 0
    truncated: bool = False
    blocks: "tuple[Block, ...]" = ()
    agents: dict[str, int] = field(default_factory=dict[str, int])
    calls: dict[str, int] = field(default_factory=dict[str, int])
    asks: dict[str, int] = field(default_factory=dict[str, int])
    counter: int = 0


def with_claims(state: ViewState, claims: "Iterable[Claim]") -> ViewState:
    """The view with the claim ledger of its report."""
    return replace(state, claims=tuple(claims))


def elapsed(state: ViewState, now: float) -> float:
    """Seconds that the run has taken so far, without the time that a person took to answer; ``now`` is POSIX seconds."""
    if state.running and state.started:
        return max((state.waiting_since or now) - state.started - state.waited, 0.0)
    return state.seconds


def times_cited(state: ViewState) -> dict[str, int]:
    """How many claims of the report cite each source."""
    counts: dict[str, int] = {}
    for claim in state.claims:
        for source_id in set(claim.citations):
            counts[source_id] = counts.get(source_id, 0) + 1
    return counts


def meters(state: ViewState, now: float, context_window: int) -> list[Meter]:
    """The budgets of the run, each as used and limit. Minutes, tokens and calls."""
    spent = sum(usage.tokens_in + usage.tokens_out for usage in state.usage.values())
    found = [
        Meter("time", round(elapsed(state, now) / 60, 1), round(state.budget.get("seconds", 0.0) / 60, 1), "min"),
        Meter("tokens", spent, state.budget.get("tokens", 0.0)),
        Meter("context", state.context_tokens, context_window),
    ]
    for tool, name in QUOTA_TOOLS.items():
        limit = state.budget.get(f"quota:{tool}", 0.0)
        if limit:
            found.append(Meter(name, state.used.get(tool, 0), limit))
    return found


def coverage(state: ViewState) -> dict[str, tuple[int, int]]:
    """For each facet: how many of its tasks are done, and how many there are."""
    found: dict[str, tuple[int, int]] = {}
    for task in state.tasks.values():
        if task.depth == 1:
            done, total = found.get(task.facet or task.name, (0, 0))
            found[task.facet or task.name] = (done + (task.state == "done"), total + 1)
    return found

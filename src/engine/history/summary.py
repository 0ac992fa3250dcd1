"""What a search says of itself: what it read, how far that goes, what was in the way, and what may be done next."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from deepdelve.engine.history.query import CONVERSATION_LIMIT, POLICY, Effort, HistoryQuery, Order

State = Literal["complete", "bounded", "approximate", "truncated", "cancelled", "failed"]
Outcome = Literal[
    "matches", "no_prompt_match", "no_candidate_conversation", "no_selected_conversation_match", "no_exhaustive_match", "undetermined"
]
Severity = Literal["info", "warning", "error"]

# Highest first: the state is that of the highest condition; the others are kept beside it.
CONDITIONS: Mapping[State, tuple[str, ...]] = {
    "failed": ("targeted_evidence_failure", "discovery_failed", "history_unreadable", "source_failed", "pattern_timeout"),
    "cancelled": ("caller_cancelled", "deadline", "replacement"),
    "truncated": ("response_budget",),
    "approximate": (
        "heuristic_candidate_selection",
        "history_incomplete",
        "malformed_records",
        "torn_tail",
        "encoding_replaced",
        "source_changed",
        "unsupported_source",
        "record_too_large",
    ),
    "bounded": ("result_limit", "answer_now", "source_limit"),
}
PRECEDENCE: tuple[State, ...] = (*CONDITIONS, "complete")
_CUT_SHORT = frozenset({*CONDITIONS["failed"], *CONDITIONS["cancelled"], *CONDITIONS["truncated"], "answer_now", "source_limit"})

_MEND_HISTORY = "Mend its permissions, or move it away and let 'deepdelve history rebuild' derive it again."
MESSAGES: Mapping[str, tuple[Severity, str]] = {
    "targeted_no_positive_clue": ("info", "Only words that must be absent were given, so no conversation could be chosen."),
    "targeted_evidence_unroutable": ("info", "Prompts match that name no conversation."),
    "targeted_evidence_failure": ("error", f"The prompt history could not be read, so no conversation could be chosen. {_MEND_HISTORY}"),
    "targeted_unresolved": ("info", "Chosen conversations have no readable transcript of that id."),
    "targeted_ambiguous": ("info", "Chosen conversations have more than one transcript."),
    "targeted_budget_exhausted": ("info", "Chosen conversations were not found within the limit of directory entries."),
    "discovery_failed": ("error", "A folder of conversations or runs could not be listed."),
    "history_unreadable": ("error", f"The prompt history could not be read. {_MEND_HISTORY}"),
    "source_failed": ("error", "Sources could not be read; the others were."),
    "pattern_timeout": ("error", "The pattern takes too long. Use a simpler one, or plain words."),
    "malformed_records": ("warning", "Lines are no records and were left out."),
    "torn_tail": ("info", "The last line of a file is unfinished and was left out."),
    "encoding_replaced": ("warning", "Texts hold bytes that are no UTF-8; they were replaced."),
    "source_changed": ("warning", "Files were cut or replaced while they were read."),
    "source_grew": ("info", "Files have grown since they were opened; what was added is not in this answer."),
    "source_limit": ("warning", "Files are too long and were read in part."),
    "unsupported_source": ("warning", "Entries are links or no regular files and were not opened."),
    "record_too_large": ("warning", "Records are too long for this search and were left out."),
    "header_mismatch": ("info", "Transcripts name another session than their file does, or none."),
    "history_missing": ("info", "There is no prompt history. 'deepdelve history rebuild' derives it from the conversations."),
    "history_incomplete_before": ("warning", "The prompt history was rebuilt in part; older prompts may be missing."),
    "terms_in_different_records": ("info", "The words stand in one conversation, but in different records."),
    "current_session_excluded": ("info", "Records and files of the current session were left out."),
    "index_stale": ("info", "Files that the index does not hold as they are now were read. 'deepdelve history index' updates it."),
    "index_unavailable": ("info", "The index could not be used; everything was read. 'deepdelve history index' makes it anew."),
    "index_rebuilt": ("info", "The index was made anew."),
}


@dataclass(frozen=True)
class Coverage:
    """What was read. Refuses counts that cannot be.

    Raises:
        ValueError: the counts contradict each other.
    """

    sources_discovered: int = 0
    sources_eligible: int = 0
    sources_planned: int = 0
    sources_attempted: int = 0
    sources_completed: int = 0
    sources_bounded: int = 0
    sources_skipped: int = 0
    sources_unsupported: int = 0
    sources_failed: int = 0
    sources_cancelled: int = 0
    records_seen: int = 0
    matches_seen: int = 0
    conversations_eligible: int = 0
    conversations_selected: int = 0
    conversations_completed: int = 0

    def __post_init__(self) -> None:
        ended = self.sources_completed + self.sources_bounded + self.sources_unsupported + self.sources_failed + self.sources_cancelled
        rules = (
            min(getattr(self, item.name) for item in fields(self)) >= 0,
            self.sources_discovered >= self.sources_eligible >= self.sources_planned >= self.sources_attempted,
            self.sources_attempted + self.sources_skipped == self.sources_planned,
            ended == self.sources_attempted,
            self.matches_seen <= self.records_seen,
            self.conversations_eligible >= self.conversations_selected >= self.conversations_completed,
        )
        if not all(rules):
            raise ValueError(f"impossible coverage: {asdict(self)}")


@dataclass(frozen=True)
class Diagnostic:
    """Something in the way, with a fixed message: never a term, a path or an id."""

    code: str
    severity: Severity
    message: str
    count: int = 1


@dataclass(frozen=True)
class NextAction:
    """What may be asked next: a bounded patch of the query."""

    action_id: str
    kind: str
    label: str
    reason: str
    patch: Mapping[str, Any]
    requires_confirmation: bool = False


@dataclass(frozen=True)
class Status:
    """How far the answer goes. ``reason`` is the highest of the ``conditions``; empty where the search is complete."""

    state: State = "complete"
    reason: str = ""
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """What a search says of itself."""

    request: Mapping[str, Any]
    requested_effort: Effort
    completed_effort: Effort | None
    status: Status
    outcome: Outcome
    coverage: Coverage
    diagnostics: tuple[Diagnostic, ...] = ()
    next_actions: tuple[NextAction, ...] = ()
    match_count: int = 0
    elapsed_seconds: float = 0.0
    applied_order: Order = "newest"
    limit: int | None = None
    folded: int = 0
    kinds: tuple[str, ...] = ()
    policy: str | None = None
    index: Mapping[str, Any] = field(default_factory=dict[str, Any])
    certificate: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON."""
        return asdict(self)

    @property
    def ruled_out(self) -> int:
        """How many of the completed sources were not opened, because the index proves that they hold no match."""
        return int(self.index.get("sources_ruled_out", 0))

    @property
    def sources_read(self) -> int:
        """How many sources were opened and read to their end."""
        return self.coverage.sources_completed - self.ruled_out

    @property
    def incomplete(self) -> bool:
        """Whether the search was cut short, so that an empty answer says nothing."""
        return self.completed_effort is None


def status_of(conditions: set[str]) -> Status:
    """The status that these conditions make."""
    ordered = [name for state in CONDITIONS for name in CONDITIONS[state] if name in conditions]
    states: list[State] = [state for state, names in CONDITIONS.items() if conditions & set(names)]
    state = states[0] if states else "complete"
    return Status(state, ordered[0] if ordered else "", tuple(reversed(ordered)))


def cut_short(conditions: set[str]) -> bool:
    """Whether the rung was not brought to its end."""
    return bool(_CUT_SHORT & conditions)


def outcome_of(query: HistoryQuery, conditions: set[str], matches: int, selected: int) -> Outcome:
    """What the answer means."""
    if cut_short(conditions):
        return "undetermined"
    if matches:
        return "matches"
    if query.rung == "prompt":
        return "no_prompt_match"
    if query.rung == "exhaustive":
        return "no_exhaustive_match"
    return "no_selected_conversation_match" if selected else "no_candidate_conversation"


def diagnostics_of(counts: Mapping[str, int]) -> tuple[Diagnostic, ...]:
    """The diagnostics for counted codes; a code may carry a date behind a colon."""
    found: list[Diagnostic] = []
    for code, count in counts.items():
        severity, message = MESSAGES[code.split(":")[0]]
        found.append(Diagnostic(code, severity, message, count))
    return tuple(found)


def next_actions(query: HistoryQuery, conditions: set[str], matches: int, *, across: bool) -> tuple[NextAction, ...]:
    """What may follow a rung that came to its end."""
    if cut_short(conditions):
        return ()
    found: list[NextAction] = []
    if query.rung == "prompt":
        reason = "Prompts were searched, and no answers or reports."
        limit = CONVERSATION_LIMIT
        found.append(_escalate(query, "targeted", "Search the likeliest conversations", reason, limit))
        found.append(_escalate(query, "exhaustive", "Search all conversations", reason))
    elif query.rung == "targeted":
        found.append(_escalate(query, "exhaustive", "Search all conversations", "Targeted search can omit conversations."))
    elif not matches and query.scope == "prompts":
        found.append(_escalate(query, "exhaustive", "Search all conversations", "Prompts were searched, and no answers or reports."))
    elif not matches and "source" not in query.wanted:
        patch = {"effort": "exhaustive", "scope": "all", "kinds": sorted({*query.wanted, "source"})}
        found.append(
            NextAction(
                "search.include_sources",
                "search.widen_kinds",
                "Search stored pages too",
                "Stored pages were not searched.",
                patch,
                _asks(query, patch),
            )
        )
    if across and not matches:
        reason = "No single record holds all the words; they may stand in different records of one conversation."
        label = "Match words across a conversation"
        found.append(
            NextAction("search.match_across_conversation", "search.match_unit", label, reason, {"match_unit": "conversation"}, False)
        )
    return tuple(found)


def summarize(
    query: HistoryQuery,
    conditions: set[str],
    codes: Counter[str],
    coverage: Coverage,
    *,
    emitted: int,
    elapsed: float,
    folded: int,
    index: Mapping[str, Any],
    certificate: str,
    across: bool,
) -> Summary:
    """The summary of a search that has ended, however it ended."""
    status = status_of(conditions)
    return Summary(
        request=query.echo(),
        requested_effort=query.rung,
        completed_effort=None if cut_short(conditions) else query.rung,
        status=status,
        outcome=outcome_of(query, conditions, emitted, coverage.conversations_selected),
        coverage=coverage,
        diagnostics=diagnostics_of(codes),
        next_actions=next_actions(query, conditions, emitted, across=across),
        match_count=emitted,
        elapsed_seconds=round(elapsed, 4),
        applied_order=query.order,
        limit=query.limit,
        folded=folded,
        kinds=tuple(sorted(query.wanted)),
        policy=POLICY if query.rung == "targeted" else None,
        index=index,
        certificate=certificate if status.state == "complete" else None,
    )


def _escalate(query: HistoryQuery, effort: Effort, label: str, reason: str, limit: int | None = None) -> NextAction:
    patch: dict[str, Any] = {"effort": effort}
    if query.scope == "prompts":
        patch["scope"] = "all"
    if limit is not None:
        patch["conversation_limit"] = limit
    return NextAction(f"search.{effort}", "search.escalate_effort", label, reason, patch, _asks(query, patch))


def _asks(query: HistoryQuery, patch: Mapping[str, Any]) -> bool:
    """Whether the patch widens what a person has said in so many words."""
    return query.scope_provenance == "explicit" and patch.get("scope", query.scope) != query.scope

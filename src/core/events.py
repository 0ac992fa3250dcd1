"""Everything that happens in a run, as frozen events. The journal holds them, state is their fold, every surface shows them.

``DELTA_TYPES`` are streamed to surfaces and never journaled: the ``message`` event that follows holds their whole text.
"""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from deepdelve.core.errors import SearchOutcome
from deepdelve.core.records import (
    Artifact,
    ClaimCounts,
    Depth,
    Finding,
    Outcome,
    PlanItem,
    ReadScope,
    Role,
    Source,
    Style,
    Task,
    Usage,
)

Stage = Literal["planning", "searching", "writing_findings", "writing_report", "checking", "delivering", "done"]


class Event(BaseModel):
    """Base of all events.

    ``seq`` counts from 1 in a run (0: not journaled); ``ts`` is POSIX seconds; ``dispatch`` is empty for the run itself.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seq: int = 0
    ts: float = 0.0
    dispatch: str = ""


class RunStarted(Event):
    """First event of a run; ``budget`` is the frozen budget, ``date`` the day given to every prompt, ``scope`` what may be read.

    ``search`` is what searches; ``engine`` the engine that the person named for this run, empty where the settings chose.
    """

    type: Literal["run_started"] = "run_started"
    schema_version: int = 1
    run_id: str
    session_id: str = ""
    question: str
    style: Style = "standard"
    depth: Depth = "standard"
    backend: str = ""
    model: str = ""
    search: str = ""
    engine: str = ""
    scope: ReadScope = ""
    corpus: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    seed_docs: tuple[str, ...] = ()
    date: str = ""
    language: str = ""
    facets: tuple[str, ...] = ()
    budget: dict[str, float] = Field(default_factory=dict[str, float])
    evidence_only: bool = False
    bundle_left_out: int = 0
    evidence_dir: str = ""
    mode: str = "research"


class RunResumed(Event):
    """A new process took the run up again."""

    type: Literal["run_resumed"] = "run_resumed"
    stage: Stage = "planning"
    budget: dict[str, float] = Field(default_factory=dict[str, float])


class StageChanged(Event):
    """The run entered a stage."""

    type: Literal["stage_changed"] = "stage_changed"
    stage: Stage


class PlanWritten(Event):
    """The Planner wrote, or a person edited, the plan."""

    type: Literal["plan_written"] = "plan_written"
    items: tuple[PlanItem, ...] = ()


class TaskChanged(Event):
    """A task was queued, started, ended or refused; holds the whole task as it now is."""

    type: Literal["task_changed"] = "task_changed"
    task: Task


class DispatchStarted(Event):
    """A sub-agent began; ``dispatch`` is its id, ``parent`` that of who asked for it."""

    type: Literal["dispatch_started"] = "dispatch_started"
    role: Role
    task: str = ""
    parent: str = ""
    profile: str = ""
    deadline_s: float = 0.0


class DispatchEnded(Event):
    """A sub-agent ended. ``ok`` is false when it failed; ``reason`` says why in a sentence."""

    type: Literal["dispatch_ended"] = "dispatch_ended"
    role: Role
    task: str = ""
    ok: bool = True
    reason: str = ""
    seconds: float = 0.0
    attempts: int = 1


class TextDelta(Event):
    """A piece of streamed answer; not journaled.

    ``replace``: what was streamed of this message until now has turned out to be thinking; ``text`` stands in its place.
    """

    type: Literal["text_delta"] = "text_delta"
    role: Role
    text: str
    replace: bool = False


class ThinkingDelta(Event):
    """A piece of streamed thinking; not journaled."""

    type: Literal["thinking_delta"] = "thinking_delta"
    role: Role
    text: str


class Message(Event):
    """A whole message of a conversation, as a model or person said it."""

    type: Literal["message"] = "message"
    role: Role | Literal["User"]
    text: str
    message_id: str = ""


class ToolCalled(Event):
    """An agent called a tool."""

    type: Literal["tool_called"] = "tool_called"
    role: Role
    call_id: str
    tool: str
    args: dict[str, Any] = Field(default_factory=dict[str, Any])


class ToolReturned(Event):
    """A tool answered. ``text`` is what the model was given."""

    type: Literal["tool_returned"] = "tool_returned"
    call_id: str
    tool: str
    ok: bool = True
    text: str = ""
    seconds: float = 0.0


class ToolRefused(Event):
    """The gate refused a tool call; ``rule`` names the rule, ``reason`` is what the model was told."""

    type: Literal["tool_refused"] = "tool_refused"
    role: Role
    call_id: str
    tool: str
    rule: str
    reason: str


class SearchDone(Event):
    """A search ended. ``urls`` are canonical addresses of the hits, in order."""

    type: Literal["search_done"] = "search_done"
    query: str
    backend: str
    outcome: SearchOutcome
    urls: tuple[str, ...] = ()
    detail: str = ""


class SourceAdded(Event):
    """A source was fetched (or could not be), or its record changed; the newest event of an id counts."""

    type: Literal["source_added"] = "source_added"
    source: Source


class SourceDropped(Event):
    """A person dropped a source: its findings and claims fall."""

    type: Literal["source_dropped"] = "source_dropped"
    source_id: str
    reason: str = ""


class FindingAdded(Event):
    """A finding was recorded, or its record changed; the newest event of an id counts."""

    type: Literal["finding_added"] = "finding_added"
    finding: Finding


class ArtifactWritten(Event):
    """A draft was written.

    ``citable`` is the number of citable sources at that moment (staleness stamp); ``truncated`` when its writer was cut off
    at the output limit.
    """

    type: Literal["artifact_written"] = "artifact_written"
    artifact: Artifact
    file: str
    words: int = 0
    sha256: str = ""
    by: str = ""
    citable: int = 0
    truncated: bool = False


class ArtifactRejected(Event):
    """A draft was set aside as ``file``; ``grounding`` when it was rejected for its grounding."""

    type: Literal["artifact_rejected"] = "artifact_rejected"
    artifact: Artifact
    file: str
    problem: str
    grounding: bool = False


class ReviewDone(Event):
    """A PeerReviewer answered; ``reviewed`` is false when its answer was empty."""

    type: Literal["review_done"] = "review_done"
    artifact: Artifact
    ok: bool
    reviewed: bool = True
    issues: tuple[str, ...] = ()


class CheckVerdict(Event):
    """One attempt of the completion check: the problem chosen, all active ones, and the remedy it got."""

    type: Literal["check_verdict"] = "check_verdict"
    attempt: int
    problem: str = ""
    active: tuple[str, ...] = ()
    remedy: str = ""
    detail: str = ""


class TaskLedger(Event):
    """The verification status of each top-level task after an attempt."""

    type: Literal["task_ledger"] = "task_ledger"
    entries: dict[str, dict[str, Any]] = Field(default_factory=dict[str, dict[str, Any]])


class Notice(Event):
    """Something a person should know, in one line."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"] = "info"
    text: str
    code: str = ""


class UsageReported(Event):
    """What one model call cost. ``truncated`` when fewer tokens were evaluated than sent."""

    type: Literal["usage_reported"] = "usage_reported"
    role: Role
    model: str = ""
    usage: Usage
    truncated: bool = False


class Asked(Event):
    """A person is asked: ``kind`` intake, plan or tool; all clocks stand still until ``Answered``."""

    type: Literal["asked"] = "asked"
    ask_id: str
    kind: Literal["intake", "plan", "tool"]
    text: str
    options: dict[str, Any] = Field(default_factory=dict[str, Any])


class Answered(Event):
    """A person answered."""

    type: Literal["answered"] = "answered"
    ask_id: str
    answer: dict[str, Any] = Field(default_factory=dict[str, Any])


class Steered(Event):
    """A person gave an instruction while the run went on."""

    type: Literal["steered"] = "steered"
    text: str
    kind: Literal["instruction", "drop_source", "more", "stop"] = "instruction"


class ReportDelivered(Event):
    """The delivered report stands at ``file``, relative to the run folder."""

    type: Literal["report_delivered"] = "report_delivered"
    file: str
    style: Style = "standard"
    citations: tuple[str, ...] = ()
    claims: ClaimCounts = ClaimCounts()
    sha256: str = ""


class FollowUp(Event):
    """A question on an existing report and its answer."""

    type: Literal["follow_up"] = "follow_up"
    question: str
    answer: str = ""
    citations: tuple[str, ...] = ()


class RunEnded(Event):
    """Last event of a process's work on the run."""

    type: Literal["run_ended"] = "run_ended"
    outcome: Outcome
    exit: int
    reason: str = ""
    problems: tuple[str, ...] = ()
    seconds: float = 0.0


AnyEvent: TypeAlias = Annotated[
    RunStarted
    | RunResumed
    | StageChanged
    | PlanWritten
    | TaskChanged
    | DispatchStarted
    | DispatchEnded
    | TextDelta
    | ThinkingDelta
    | Message
    | ToolCalled
    | ToolReturned
    | ToolRefused
    | SearchDone
    | SourceAdded
    | SourceDropped
    | FindingAdded
    | ArtifactWritten
    | ArtifactRejected
    | ReviewDone
    | CheckVerdict
    | TaskLedger
    | Notice
    | UsageReported
    | Asked
    | Answered
    | Steered
    | ReportDelivered
    | FollowUp
    | RunEnded,
    Field(discriminator="type"),
]

DELTA_TYPES: frozenset[str] = frozenset({"text_delta", "thinking_delta"})
_ADAPTER: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)


def parse_event(line: str | bytes) -> AnyEvent:
    """One journal line as an event.

    Raises:
        pydantic.ValidationError: the line is not an event of this version.
    """
    return _ADAPTER.validate_json(line)

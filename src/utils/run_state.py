"""The state of a run: the fold of its events. Each field says what a resume does with it; the carry-over list is derived."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar, cast, get_args

from pydantic import BaseModel, ConfigDict, Field

from deepdelve.core import events as ev
from deepdelve.core.records import Artifact, ClaimCounts, Depth, Finding, Outcome, PlanItem, ReadScope, Source, Style, Task, Usage

SCHEMA_VERSION = 1
# What each version changed; a reader knows every version listed here.
SCHEMA_VERSIONS: dict[int, str] = {1: "first layout"}

# Of an answer to a question before the start, as much is kept as a question may have.
_ANSWER_CHARS = 2_000

Resume = Literal["carry", "reset"]


def kept(resume: Resume, default: Any = None, *, factory: Any = None) -> Any:
    """A state field. ``resume`` says whether a resumed run keeps its value or starts it afresh."""
    extra: dict[str, Any] = {"resume": resume}
    return Field(default_factory=factory, json_schema_extra=extra) if factory else Field(default=default, json_schema_extra=extra)


class StateModel(BaseModel):
    """Base that refuses, when the class is made, a field that does not say what a resume does with it."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for name in cls.model_fields:
            if cls.resume_rule(name) not in get_args(Resume):
                raise TypeError(f"{cls.__name__}.{name} does not say whether a resume carries or resets it")

    @classmethod
    def resume_rule(cls, name: str) -> str:
        """``carry``, ``reset``, or an empty string where the field does not say."""
        extra = cls.model_fields[name].json_schema_extra
        return str(cast("dict[str, Any]", extra).get("resume", "")) if isinstance(extra, dict) else ""

    @classmethod
    def carried(cls) -> list[str]:
        """The fields that a resume keeps."""
        return [name for name in cls.model_fields if cls.resume_rule(name) == "carry"]


class Attempt(BaseModel):
    """One attempt of the completion check, as recorded."""

    attempt: int
    problem: str = ""
    active: tuple[str, ...] = ()
    remedy: str = ""
    process: int = 0


class DraftStamp(BaseModel):
    """The last successful writing of a draft. ``citable`` is the number of citable sources at that moment."""

    file: str
    words: int = 0
    sha256: str = ""
    by: str = ""
    citable: int = 0
    truncated: bool = False


class UsageRow(BaseModel):
    """What one model has cost in one role and step: models differ in price."""

    model: str
    role: str
    step: str
    used: Usage = Usage(calls=0)


class Intake(BaseModel):
    """What the person was asked before research began; ``answers`` is None until they answered, and an answer may be empty.

    ``stands_for``: words of the question that name nothing; the first answer takes their place.
    """

    ask_id: str
    questions: tuple[str, ...] = ()
    answers: tuple[str, ...] | None = None
    stands_for: str = ""

    @property
    def answered(self) -> bool:
        """Whether the person has answered, if only by going on without."""
        return self.answers is not None


class RunState(StateModel):
    """Everything that a run knows about itself."""

    schema_version: int = kept("carry", SCHEMA_VERSION)
    run_id: str = kept("carry", "")
    session_id: str = kept("carry", "")
    question: str = kept("carry", "")
    style: Style = kept("carry", "standard")
    depth: Depth = kept("carry", "standard")
    backend: str = kept("carry", "")
    model: str = kept("carry", "")
    search: str = kept("carry", "")
    engine: str = kept("carry", "")
    scope: ReadScope = kept("carry", "")
    corpus: tuple[str, ...] = kept("carry", ())
    seeds: tuple[str, ...] = kept("carry", ())
    seed_docs: tuple[str, ...] = kept("carry", ())
    date: str = kept("carry", "")
    language: str = kept("carry", "")
    facets: tuple[str, ...] = kept("carry", ())
    evidence_only: bool = kept("carry", False)
    bundle_left_out: int = kept("carry", 0)
    evidence_dir: str = kept("carry", "")
    started_at: float = kept("carry", 0.0)
    plan: list[PlanItem] = kept("carry", factory=list)
    tasks: dict[str, Task] = kept("carry", factory=dict)
    sources: dict[str, Source] = kept("carry", factory=dict)
    dropped_sources: list[str] = kept("carry", factory=list)
    findings: dict[str, Finding] = kept("carry", factory=dict)
    queries: list[str] = kept("carry", factory=list)
    search_health: dict[str, str] = kept("carry", factory=dict)
    attempts_log: list[Attempt] = kept("carry", factory=list)
    drafts: dict[str, DraftStamp] = kept("carry", factory=dict)
    rejected: dict[str, list[str]] = kept("carry", factory=dict)
    rejected_for_grounding: list[str] = kept("carry", factory=list)
    reviews: dict[str, bool] = kept("carry", factory=dict)
    task_ledger: dict[str, dict[str, Any]] = kept("carry", factory=dict)
    steering: list[str] = kept("carry", factory=list)
    intake: Intake | None = kept("carry")
    no_urls_count: int = kept("carry", 0)
    usage: dict[str, Usage] = kept("carry", factory=dict)
    usage_by_step: dict[str, Usage] = kept("carry", factory=dict)
    usage_rows: list[UsageRow] = kept("carry", factory=list)
    claims: ClaimCounts = kept("carry", ClaimCounts())
    citations: tuple[str, ...] = kept("carry", ())
    processes: int = kept("carry", 0)
    stage: ev.Stage = kept("reset", "planning")
    attempt: int = kept("reset", 0)
    budget: dict[str, float] = kept("reset", factory=dict)
    used: dict[str, int] = kept("reset", factory=dict)
    finished_dispatches: list[str] = kept("carry", factory=list)
    open_dispatches: dict[str, str] = kept("reset", factory=dict)
    refusals: int = kept("reset", 0)
    outcome: Outcome | None = kept("reset")
    reason: str = kept("reset", "")
    problems: tuple[str, ...] = kept("reset", ())
    seconds: float = kept("reset", 0.0)
    last_seq: int = kept("carry", 0)

    def all_tokens(self) -> int:
        """Tokens of all model calls, in and out."""
        return sum(used.tokens_in + used.tokens_out for used in self.usage.values())

    @property
    def brief(self) -> str:
        """The question as agents are given it: with what the person was asked about it, and answered."""
        asked = self.intake
        if asked is None or asked.stands_for:
            return self.question
        pairs = [(q, a) for q, a in zip(asked.questions, asked.answers or (), strict=False) if a]
        return "\n".join([self.question, *(f"The person was asked: {q}\nThe person answered: {a}" for q, a in pairs)])

    def citable_sources(self) -> list[Source]:
        """Sources that the report may cite, in order of their ids."""
        return [s for s in self.sources.values() if s.citable and s.id not in self.dropped_sources]

    def usable_sources(self) -> dict[str, Source]:
        """All sources but those that the person dropped, by id."""
        return {source_id: source for source_id, source in self.sources.items() if source_id not in self.dropped_sources}

    def top_tasks(self) -> list[Task]:
        """Tasks asked for by the Planner itself."""
        return [t for t in self.tasks.values() if t.depth == 1]


def fold(items: Iterable[ev.Event], state: RunState | None = None) -> RunState:
    """The state after these events. The given state is changed in place and returned."""
    state = state if state is not None else RunState()
    for event in items:
        apply(state, event)
    return state


def resumed(state: RunState) -> RunState:
    """The state that a new process starts from: carried fields kept, the others fresh."""
    return RunState(**{name: getattr(state, name) for name in RunState.carried()})


def apply(state: RunState, event: ev.Event) -> None:
    """Change the state by one event."""
    if event.seq:
        state.last_seq = event.seq
    handler = _HANDLERS.get(type(event))
    if handler is not None:
        handler(state, event)


def _run_started(state: RunState, e: ev.RunStarted) -> None:
    for name in ("run_id", "session_id", "question", "style", "depth", "backend", "model", "search", "corpus", "seeds", "seed_docs"):
        setattr(state, name, getattr(e, name))
    for name in ("engine", "scope", "date", "language", "facets", "evidence_only", "evidence_dir", "bundle_left_out"):
        setattr(state, name, getattr(e, name))
    state.schema_version = e.schema_version
    state.budget = dict(e.budget)
    state.started_at = e.ts
    state.processes = 1


def _run_resumed(state: RunState, e: ev.RunResumed) -> None:
    fresh = resumed(state)
    for name in RunState.model_fields:
        setattr(state, name, getattr(fresh, name))
    state.stage = e.stage
    state.budget = dict(e.budget)
    state.processes += 1


def _tool_called(state: RunState, e: ev.ToolCalled) -> None:
    state.used[e.tool] = state.used.get(e.tool, 0) + 1


def _dispatch_ended(state: RunState, e: ev.DispatchEnded) -> None:
    state.open_dispatches.pop(e.dispatch, None)
    if e.ok and e.task:
        state.finished_dispatches.append(f"{e.role}: {e.task}")


def _search_done(state: RunState, e: ev.SearchDone) -> None:
    state.queries.append(e.query)
    state.search_health[e.backend] = e.outcome


def _artifact_written(state: RunState, e: ev.ArtifactWritten) -> None:
    state.drafts[e.artifact] = DraftStamp(file=e.file, words=e.words, sha256=e.sha256, by=e.by, citable=e.citable, truncated=e.truncated)


def _verdict(state: RunState, e: ev.CheckVerdict) -> None:
    state.attempt = e.attempt
    state.attempts_log.append(Attempt(attempt=e.attempt, problem=e.problem, active=e.active, remedy=e.remedy, process=state.processes))


def _usage(state: RunState, e: ev.UsageReported) -> None:
    for rows, key in ((state.usage, e.role), (state.usage_by_step, state.stage)):
        rows[key] = _added(rows.get(key, Usage(calls=0)), e)
    named = (e.model, e.role, str(state.stage))
    row = next((row for row in state.usage_rows if (row.model, row.role, row.step) == named), None)
    if row is None:
        row = UsageRow(model=e.model, role=e.role, step=str(state.stage))
        state.usage_rows.append(row)
    row.used = _added(row.used, e)


def _added(old: Usage, e: ev.UsageReported) -> Usage:
    return Usage(
        tokens_in=old.tokens_in + e.usage.tokens_in,
        tokens_out=old.tokens_out + e.usage.tokens_out,
        seconds=old.seconds + e.usage.seconds,
        calls=old.calls + e.usage.calls,
        sent_chars=old.sent_chars + e.usage.sent_chars,
        estimated=old.estimated or e.usage.estimated,
    )


def _source_dropped(state: RunState, e: ev.SourceDropped) -> None:
    if e.source_id not in state.dropped_sources:
        state.dropped_sources.append(e.source_id)


def _delivered(state: RunState, e: ev.ReportDelivered) -> None:
    state.claims = e.claims
    state.citations = e.citations


def _ended(state: RunState, e: ev.RunEnded) -> None:
    state.outcome, state.reason, state.problems, state.seconds = e.outcome, e.reason, e.problems, e.seconds
    state.stage = "done"


def _rejected(state: RunState, e: ev.ArtifactRejected) -> None:
    state.rejected.setdefault(e.artifact, []).append(e.file)
    if e.grounding:
        state.rejected_for_grounding.append(e.file)


def _steered(state: RunState, e: ev.Steered) -> None:
    if e.kind in {"instruction", "more"}:
        state.steering.append(e.text)


def _asked(state: RunState, e: ev.Asked) -> None:
    if e.kind == "intake":
        given: dict[str, Any] = e.options
        questions = tuple(str(item) for item in _listed(given.get("questions")))
        state.intake = Intake(ask_id=e.ask_id, questions=questions, stands_for=str(given.get("stands_for", "")))


def _answered(state: RunState, e: ev.Answered) -> None:
    asked = state.intake
    if asked is None or e.ask_id != asked.ask_id:
        return
    answers = tuple(" ".join(str(item).split())[:_ANSWER_CHARS] for item in _listed(e.answer.get("answers")))
    state.intake = asked.model_copy(update={"answers": answers})
    named = next(iter(answers), "").rstrip(" .?!")
    if asked.stands_for and named:
        pattern = rf"(?<!\w){re.escape(asked.stands_for)}(?!\w)"
        state.question = re.sub(pattern, lambda _: named, state.question, count=1, flags=re.IGNORECASE)


def _listed(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


E = TypeVar("E", bound=ev.Event)


def _on(kind: type[E], handler: Callable[[RunState, E], object]) -> tuple[type[ev.Event], Callable[[RunState, Any], object]]:
    return kind, handler


_HANDLERS: dict[type[ev.Event], Callable[[RunState, Any], object]] = dict(
    [
        _on(ev.RunStarted, _run_started),
        _on(ev.RunResumed, _run_resumed),
        _on(ev.StageChanged, lambda s, e: setattr(s, "stage", e.stage)),
        _on(ev.PlanWritten, lambda s, e: setattr(s, "plan", list(e.items))),
        _on(ev.TaskChanged, lambda s, e: s.tasks.__setitem__(e.task.name, e.task)),
        _on(ev.DispatchStarted, lambda s, e: s.open_dispatches.__setitem__(e.dispatch, e.task)),
        _on(ev.DispatchEnded, _dispatch_ended),
        _on(ev.ToolCalled, _tool_called),
        _on(ev.ToolRefused, lambda s, e: setattr(s, "refusals", s.refusals + 1)),
        _on(ev.SearchDone, _search_done),
        _on(ev.SourceAdded, lambda s, e: s.sources.__setitem__(e.source.id, e.source)),
        _on(ev.SourceDropped, _source_dropped),
        _on(ev.FindingAdded, lambda s, e: s.findings.__setitem__(e.finding.id, e.finding)),
        _on(ev.ArtifactWritten, _artifact_written),
        _on(ev.ArtifactRejected, _rejected),
        _on(ev.ReviewDone, lambda s, e: s.reviews.__setitem__(e.artifact, e.reviewed)),
        _on(ev.CheckVerdict, _verdict),
        _on(ev.TaskLedger, lambda s, e: setattr(s, "task_ledger", dict(e.entries))),
        _on(ev.Steered, _steered),
        _on(ev.Asked, _asked),
        _on(ev.Answered, _answered),
        _on(ev.UsageReported, _usage),
        _on(ev.ReportDelivered, _delivered),
        _on(ev.RunEnded, _ended),
    ]
)


def artifact_file(artifact: Artifact) -> str:
    """Where the draft of an artifact stands, relative to the run folder."""
    return f"draft/{artifact}.md"

"""What goes in and out of ``/runs``."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from deepdelve.core.records import ClaimCounts, Depth, Outcome, Style
from deepdelve.core.requests import RunDetails, RunResult, RunSummary

State = Literal["running", "ended", "interrupted", "unreadable"]
Backend = Literal["auto", "ollama", "openai", "builtin"]


def _number(value: Any) -> Any:
    if isinstance(value, str | bool):
        raise ValueError("a number is wanted")
    return value


Question = Annotated[str, Field(min_length=1, max_length=20_000, pattern=r"[^\W_]")]
Model = Annotated[str, Field(max_length=200, description="The model on its server; empty takes that of the settings.")]
Minutes = Annotated[float, Field(gt=0, le=10_080), BeforeValidator(_number)]
WebAddress = Annotated[str, Field(min_length=1, max_length=2_000)]
LocalPath = Annotated[
    str, Field(min_length=1, max_length=4_096, pattern=r"^([/\\~]|[A-Za-z]:)", description="A whole path, from the root or from ~.")
]


class Body(BaseModel):
    """What a request may hold; anything else is refused."""

    model_config = ConfigDict(extra="forbid")


class StartRun(Body):
    """A question and how to research it; what is left out takes the values of the settings.

    Paths are those of the machine that the server runs on. ``pipeline_evidence_dir`` is a folder with an evidence bundle: the run
    is then written from it alone, and searches, fetches and delegates nothing.
    """

    question: Question
    style: Style | None = None
    depth: Depth | None = None
    backend: Backend | None = None
    model: Model = ""
    search: Annotated[str, Field(max_length=200, description="A search engine, or several with commas.")] = ""
    scope: Literal["auto", "web", "corpus", "both"] | None = None
    corpus: Annotated[list[LocalPath], Field(max_length=20, description="Folders or files to search.")] = []
    seed_docs: Annotated[list[LocalPath], Field(max_length=20, description="Documents to read in any case.")] = []
    seed_urls: Annotated[
        list[Annotated[str, Field(max_length=2_000)]], Field(max_length=50, description="Pages to fetch in any case.")
    ] = []
    pipeline_evidence_dir: LocalPath | None = None
    max_minutes: Minutes | None = None
    auto_approve: Annotated[bool, Field(description="Answer approvals with yes; else they are answered with no.")] = False


class ResumeRun(Body):
    """What may change when a run is taken up again."""

    instruction: Annotated[str, Field(max_length=20_000, description="What the run should heed from now on.")] = ""
    backend: Backend | None = None
    model: Model = ""
    max_minutes: Minutes | None = None


class AskRun(Body):
    """A question on a run that has a report."""

    question: Question
    backend: Backend | None = None
    model: Model = ""


class RunStarted(BaseModel):
    """The run that was started or taken up."""

    run_id: str


class RunStopped(BaseModel):
    """The run that was stopped."""

    run_id: str
    status: Literal["stopped"]


class RunRow(BaseModel):
    """A run as the list shows it; ``outcome`` is null until it has ended."""

    run_id: str
    question: str
    state: State
    outcome: Outcome | None
    style: str
    started_at: str
    seconds: float
    sources: int
    claims: int
    supported: int

    @classmethod
    def of(cls, row: RunSummary) -> "RunRow":
        """A row of the list of runs."""
        unreadable = row.outcome == "unreadable"
        state: State = "unreadable" if unreadable else "running" if row.live else "ended" if row.outcome else "interrupted"
        return cls(
            run_id=row.run_id,
            question=row.question,
            state=state,
            outcome=None if unreadable else row.outcome or None,  # type: ignore[arg-type]  # checked by the model
            style=row.style,
            started_at=_time(row.started),
            seconds=row.seconds,
            sources=row.sources,
            claims=row.claims,
            supported=row.supported,
        )


class RunPage(BaseModel):
    """One page of runs, newest first."""

    items: list[RunRow]
    total: int
    limit: int
    offset: int


class CitationView(BaseModel):
    """One numbered source of the report; ``file`` is relative to the run's folder."""

    n: int
    source_id: str
    url: str
    file: str
    title: str


class RunCounts(BaseModel):
    """What a run has done so far."""

    sources: int
    citable_sources: int
    findings: int
    tasks: int
    searches: int
    refused_calls: int


class RunView(BaseModel):
    """A run whole. ``label`` is the line that its report begins with; ``problems`` are what the completion check left open."""

    run_id: str
    question: str
    state: State
    stage: str
    outcome: Outcome | None
    exit: int | None
    label: str
    reason: str
    problems: list[str]
    style: Style
    depth: Depth
    backend: str
    model: str
    search: str
    evidence_only: bool
    started_at: str
    seconds: float
    counts: RunCounts
    claims: ClaimCounts
    citations: list[CitationView]

    @classmethod
    def of(cls, found: RunDetails, *, going: bool) -> "RunView":
        """A run as the engine tells it."""
        state: State = "running" if going else "ended" if found.outcome else "interrupted"
        citations = [vars(citation) for citation in found.citations]
        return cls.model_validate({**vars(found), "state": state, "started_at": _time(found.started), "citations": citations})


class Answer(BaseModel):
    """The answer to a question on a run, with the sources that it cites."""

    run_id: str
    question: str
    answer: str
    outcome: Outcome
    reason: str
    citations: list[CitationView]
    claims: ClaimCounts
    seconds: float

    @classmethod
    def of(cls, result: RunResult) -> "Answer":
        """The end of a follow-up."""
        return cls.model_validate({**vars(result), "citations": [vars(citation) for citation in result.citations]})


def _time(seconds: float) -> str:
    """POSIX seconds as ISO 8601 in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

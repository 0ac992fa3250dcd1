"""What surfaces and engine say to each other: a request, a handle on what goes on, and what a surface must be able to do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from deepdelve.core.events import Asked, Event
from deepdelve.core.records import ClaimCounts, Depth, Outcome, Style


@dataclass(frozen=True)
class RunRequest:
    """A question and how to research it; empty fields take the settings' values.

    Attributes:
        corpus: folders or files to search instead of, or beside, the web.
        seed_docs: local documents that are read in any case.
        seed_urls: addresses that are fetched in any case.
        evidence_dir: an evidence bundle; the run then does no research of its own.
        auto_approve: answer every approval with yes (headless).
    """

    question: str
    style: Style | None = None
    depth: Depth | None = None
    backend: str = ""
    model: str = ""
    base_url: str = ""
    search: str = ""
    scope: str = ""
    corpus: tuple[str, ...] = ()
    seed_docs: tuple[str, ...] = ()
    seed_urls: tuple[str, ...] = ()
    evidence_dir: str = ""
    max_minutes: float | None = None
    session_id: str = ""
    auto_approve: bool = False
    surface: Literal["tui", "cli", "api"] = "cli"
    record: bool = False


@dataclass(frozen=True)
class CitationRef:
    """One numbered source of a delivered report. ``file`` is relative to the run folder."""

    n: int
    source_id: str
    url: str
    file: str
    title: str = ""


@dataclass(frozen=True)
class RunResult:
    """How a run ended (the ``--json`` object of the command line)."""

    run_id: str
    dir: str
    outcome: Outcome
    exit: int
    question: str
    style: Style
    backend: str
    citations: tuple[CitationRef, ...] = ()
    claims: ClaimCounts = field(default_factory=ClaimCounts)
    problems: tuple[str, ...] = ()
    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    seconds: float = 0.0
    reason: str = ""
    answer: str = ""


@dataclass(frozen=True)
class RunSummary:
    """One row of the list of runs. ``started`` is POSIX seconds; ``outcome`` is empty while it runs or after a kill."""

    run_id: str
    question: str
    outcome: str
    started: float
    seconds: float
    sources: int
    supported: int
    claims: int
    session_id: str = ""
    style: str = ""
    live: bool = False


@dataclass(frozen=True)
class RunDetails:
    """How a run stands. ``outcome`` is None while it goes on or after a kill; ``label`` says it in words.

    ``started`` is POSIX seconds. ``counts`` holds ``sources``, ``citable_sources``, ``findings``, ``tasks``, ``searches``
    and ``refused_calls``.
    """

    run_id: str
    question: str
    outcome: Outcome | None
    exit: int | None
    label: str
    reason: str
    problems: tuple[str, ...]
    stage: str
    style: Style
    depth: Depth
    backend: str
    model: str
    search: str
    evidence_only: bool
    started: float
    seconds: float
    live: bool
    claims: ClaimCounts
    citations: tuple[CitationRef, ...]
    counts: Mapping[str, int]


@dataclass(frozen=True)
class SessionSummary:
    """One row of the list of sessions."""

    session_id: str
    started: float
    title: str
    runs: tuple[str, ...] = ()
    turns: int = 0


@dataclass(frozen=True)
class Command:
    """What a person wants of a run that goes on."""

    kind: Literal["instruction", "drop_source", "more", "stop"]
    text: str = ""


class Surface(Protocol):
    """What a surface must be able to do. It gets every event in order, on the event loop, and must not block."""

    def on_event(self, event: Event) -> None:
        """Show the event."""
        ...

    async def ask(self, asked: Asked) -> dict[str, Any]:
        """Ask the person; all clocks stand still meanwhile.

        For ``tool``: ``{"decision": "allow"|"deny"|"always"}``; for ``plan``: ``{"items": [...]}`` (empty: as it is);
        for ``intake``: ``{"answers": [...]}``. Intake is asked only of a surface with a true ``takes_questions``.
        """
        ...


SurfaceKind = Literal["tui", "cli", "api"]


def surface_kind(surface: Surface) -> SurfaceKind:
    """Which surface this is, for the prompt history; one that does not say (``kind``) counts as the command line."""
    kind = getattr(surface, "kind", "cli")
    return "tui" if kind == "tui" else "api" if kind == "api" else "cli"


class RunHandle(Protocol):
    """A run that goes on in this process."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        ...

    @property
    def dir(self) -> Path:
        """The run's folder."""
        ...

    def command(self, command: Command) -> None:
        """Queue a command: it takes effect at the Planner's (or the next writer's) next turn; ``stop`` at once."""
        ...

    async def wait(self) -> RunResult:
        """The end of the run. Cancelling this does not stop the run."""
        ...


class Engine(Protocol):
    """What surfaces may call (``engine.facade`` implements it as functions)."""

    def start(self, request: RunRequest, surface: Surface) -> RunHandle:
        """Start a run."""
        ...

    def ask(self, run_id: str, question: str, surface: Surface) -> RunHandle:
        """A question on an existing run."""
        ...

    def events(self, run_id: str) -> Sequence[Event]:
        """The journaled events of a run."""
        ...

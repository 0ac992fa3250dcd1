"""The blocks of the transcript, as data. A block changes by being replaced; ``key`` stays the same for its whole life."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    # The first frame comes before the models of events and records are imported.
    from deepdelve.core.events import Asked, Stage
    from deepdelve.core.records import ClaimCounts

ToolState = Literal["running", "ok", "failed", "refused"]


@dataclass(frozen=True)
class ToolRow:
    """One call of a tool: ``args`` and ``text`` are what the agent gave and got; ``seconds`` is 0 while it runs."""

    call_id: str
    tool: str
    args: dict[str, Any]
    state: ToolState = "running"
    text: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class UserBlock:
    """What the person said."""

    key: str
    text: str


@dataclass(frozen=True)
class AnswerBlock:
    """An answer at the level of the run; ``done`` once its whole text is known.

    ``taken_back`` counts how often streamed text of it turned out to be thinking, and was replaced.
    """

    key: str
    role: str
    text: str
    done: bool = False
    taken_back: int = 0


@dataclass(frozen=True)
class ThinkingBlock:
    """Streamed thinking at the level of the run."""

    key: str
    text: str
    done: bool = False


@dataclass(frozen=True)
class ToolBlock:
    """A tool call at the level of the run."""

    key: str
    role: str
    row: ToolRow


@dataclass(frozen=True)
class AgentBlock:
    """One sub-agent: what it was asked, what it did, what it said last."""

    key: str
    dispatch: str
    role: str
    task: str
    parent: str = ""
    profile: str = ""
    state: Literal["running", "done", "failed"] = "running"
    reason: str = ""
    started: float = 0.0
    seconds: float = 0.0
    attempts: int = 1
    tools: tuple[ToolRow, ...] = ()
    text: str = ""
    thinking: str = ""


@dataclass(frozen=True)
class NoticeBlock:
    """Something a person should know."""

    key: str
    level: Literal["info", "warning", "error"]
    text: str


@dataclass(frozen=True)
class AskBlock:
    """A question to the person; ``answer`` is None until it is answered."""

    key: str
    asked: "Asked"
    answer: dict[str, Any] | None = None


@dataclass(frozen=True)
class StageBlock:
    """A new stage of the run."""

    key: str
    stage: "Stage"


@dataclass(frozen=True)
class ReportBlock:
    """The report was delivered."""

    key: str
    claims: "ClaimCounts"
    sources: int


@dataclass(frozen=True)
class EndBlock:
    """The run ended."""

    key: str
    outcome: str
    reason: str
    problems: tuple[str, ...]
    seconds: float


Block: TypeAlias = (
    UserBlock | AnswerBlock | ThinkingBlock | ToolBlock | AgentBlock | NoticeBlock | AskBlock | StageBlock | ReportBlock | EndBlock
)

"""What every backend gives the engine: one chat client for a role, and the hooks through which it reports."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from deepdelve.core.errors import BackendError
from deepdelve.core.records import Role, Usage

if TYPE_CHECKING:
    from agent_framework import SupportsChatGetResponse

STRIKES = 3
CONNECT_SECONDS = 3.0
# Roles that run on ``api.specialist_model`` and ``api.specialist_base_url`` where those are set.
SPECIALISTS: frozenset[Role] = frozenset({"Searcher", "Analyzer"})
# Option of a single call: seconds until its first token, where the dispatch's own deadline does not apply.
FIRST_TOKEN_OPTION = "first_token_seconds"


class StrikesError(BackendError):
    """The model's tool calls could not be carried out three times; the dispatch ends with what it has."""

    def __init__(self, reason: str, *, partial: str = "") -> None:
        super().__init__(
            f"The model's tool calls could not be carried out {STRIKES} times; the last time: {reason}",
            "Choose a model that is made for tool calls.",
            cause="malformed",
            partial=partial,
        )

    @property
    def transient(self) -> bool:
        """Never: the model was already told what was wrong, and did it again."""
        return False


def _ignore_usage(role: Role, usage: Usage, truncated: bool) -> None:
    del role, usage, truncated


def _ignore_text(role: Role, text: str) -> None:
    del role, text


def _ignore_refusal(role: Role, tool: str, reason: str) -> None:
    del role, tool, reason


def _no_deadline() -> float | None:
    return None


@dataclass(frozen=True)
class Hooks:
    """Where a backend reports, and how long it may take. All are called on the event loop and must not block.

    Attributes:
        on_usage: one call for each model call, failed ones included; ``truncated`` when the server evaluated clearly
            fewer tokens than were sent.
        on_thinking: pieces of thinking; they never become text or history.
        on_notice: one sentence that a person should know, such as a reply that was capped.
        on_refused: a tool call that cannot be carried out: the tool's name as the model wrote it, and what the model is told.
        time_left: seconds until the deadline of the dispatch that the current task works for, or None for no deadline.
    """

    on_usage: Callable[[Role, Usage, bool], None] = _ignore_usage
    on_thinking: Callable[[Role, str], None] = _ignore_text
    on_notice: Callable[[Role, str], None] = _ignore_text
    on_refused: Callable[[Role, str, str], None] = _ignore_refusal
    time_left: Callable[[], float | None] = _no_deadline


class ChatFactory(Protocol):
    """A backend: makes chat clients of the agent framework.

    A client belongs to one dispatch and one event loop: its tool-call limit and its ``strikes`` count from its making.
    Clients of one factory and loop share their connections.
    """

    name: str
    model: str

    def client(self, role: Role, *, max_iterations: int) -> "SupportsChatGetResponse[Any]":
        """A fresh client for one dispatch of a role; ``max_iterations`` bounds its rounds of tool calls."""
        ...

    async def close(self) -> None:
        """Let go of the connections of the current event loop."""
        ...


class CountsStrikes(Protocol):
    """What a client tells of the tool calls that could not be carried out."""

    strikes: int


def reply_limit(num_ctx: int) -> int:
    """Characters beyond which no honest reply goes: four for every token of the context."""
    return max(20_000, 4 * num_ctx)


def quiet_framework() -> None:
    """Switch the framework's tracing off: it costs a quarter of its time and nothing here reads it.

    Without a provider of meters, each client and agent leaves some behind that wait for one for as long as the process lives.
    """
    from agent_framework.observability import disable_instrumentation
    from opentelemetry import metrics

    disable_instrumentation()
    provider = metrics.get_meter_provider()
    is_default = type(provider).__module__.startswith("opentelemetry.metrics")
    if is_default and not isinstance(provider, metrics.NoOpMeterProvider):
        metrics.set_meter_provider(metrics.NoOpMeterProvider())

"""What the loop asks of a model: one backend-neutral call, and the account of what calls cost."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from deepdelve.config import Price
from deepdelve.core.records import Usage

_MILLION = 1_000_000


@dataclass(frozen=True)
class ChatMessage:
    """One message, outside text in it already fenced."""

    role: Literal["system", "user"]
    content: str


@dataclass(frozen=True)
class Excerpt:
    """What a call may see of one source; ``n`` is the number by which it is cited."""

    n: int
    title: str
    url: str
    text: str


@dataclass(frozen=True)
class RetrievalContext:
    """What a call is about, in parts, for a provider that works by rule; the messages say the same in words."""

    task: Literal["queries", "assess", "synthesize"]
    topic: str
    excerpts: tuple[Excerpt, ...] = ()
    gaps: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    max_queries: int = 0


@dataclass
class UsageAccumulator:
    """What the calls of one run have cost."""

    price: Price = field(default_factory=Price)
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = False

    def record(self, usage: Usage) -> None:
        """Add one call."""
        self.calls += 1
        self.tokens_in += usage.tokens_in
        self.tokens_out += usage.tokens_out
        self.estimated = self.estimated or usage.estimated

    def estimate(self, tokens_in: int, tokens_out: int) -> None:
        """Add one call of which the provider said nothing."""
        self.record(Usage(tokens_in=tokens_in, tokens_out=tokens_out, estimated=True))

    @property
    def total_tokens(self) -> int:
        """Tokens of all calls, both ways."""
        return self.tokens_in + self.tokens_out

    @property
    def total_cost_usd(self) -> float:
        """What they cost by the settings' prices; 0 for a model without one."""
        return (self.tokens_in * self.price.input + self.tokens_out * self.price.output) / _MILLION


class InferenceProvider(Protocol):
    """A model, wherever it runs. It reports each call to the bound accumulator, or not at all: then the call is estimated."""

    def chat(self, messages: Sequence[ChatMessage], retrieval_context: RetrievalContext) -> AsyncIterator[str]:
        """The pieces of one reply.

        Raises:
            BackendError: the model or its server failed.
        """
        ...

    def bind_accumulator(self, accumulator: UsageAccumulator) -> None:
        """Report to this account from now on."""
        ...


@dataclass(frozen=True)
class OpenProvider:
    """A provider that is ready, which model it is and where, its price, and how to let go of it."""

    provider: InferenceProvider
    model: str
    endpoint: str
    price: Price
    line: str
    close: Callable[[], Awaitable[None]]

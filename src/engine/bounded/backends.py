"""Which provider answers: a chat backend of DeepDelve, or the one that works by rule."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from deepdelve.config import Price, Settings
from deepdelve.core.records import Role, Usage
from deepdelve.engine.backends.base import ChatFactory, Hooks
from deepdelve.engine.bounded.by_rule import RuleProvider
from deepdelve.engine.bounded.provider import ChatMessage, OpenProvider, RetrievalContext, UsageAccumulator

_ROLE: Role = "Builder"


class _Account:
    """Where a backend's usage goes: backends take their hooks before there is a run."""

    def __init__(self) -> None:
        self.accumulator = UsageAccumulator()

    def on_usage(self, role: Role, usage: Usage, truncated: bool) -> None:
        del role, truncated
        self.accumulator.record(usage)


class ChatProvider:
    """A chat backend of DeepDelve as a provider."""

    def __init__(self, factory: ChatFactory, account: _Account) -> None:
        self._factory = factory
        self._account = account

    def bind_accumulator(self, accumulator: UsageAccumulator) -> None:
        """See ``InferenceProvider``."""
        self._account.accumulator = accumulator

    async def chat(self, messages: Sequence[ChatMessage], retrieval_context: RetrievalContext) -> AsyncIterator[str]:
        """See ``InferenceProvider``."""
        del retrieval_context
        from agent_framework import Message

        client: Any = self._factory.client(_ROLE, max_iterations=1)
        sent = [Message(message.role, [message.content]) for message in messages]
        async for update in client.get_response(sent, stream=True):
            if update.text:
                yield str(update.text)


@dataclass(frozen=True)
class RuleModel:
    """Stands for no model where one is chosen: what answers then works by rule and makes no chat client."""

    name: str = "builtin"
    model: str = "extractive-1"


async def open_provider(settings: Settings) -> OpenProvider:
    """The provider that the settings ask for.

    Raises:
        BackendError: a model that was asked for cannot be reached.
        ConfigError: an address or a model is missing or wrong.
    """
    from deepdelve.engine.backends import select

    account = _Account()
    choice = await select.choose(settings, builtin=RuleModel, hooks=Hooks(on_usage=account.on_usage))
    factory = choice.factory
    if isinstance(factory, RuleModel):
        return OpenProvider(RuleProvider(), factory.model, factory.name, Price(), choice.line, _nothing_to_close)
    endpoint = settings.api.openai_base_url if factory.name == "openai" else settings.api.ollama_host
    price = settings.prices.get(factory.model, Price())
    return OpenProvider(ChatProvider(factory, account), factory.model, endpoint, price, choice.line, factory.close)


async def _nothing_to_close() -> None:
    """The provider by rule holds no connection."""

"""A model in this process that answers by rule: each role has a function from messages and options to contents."""

import inspect
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_framework import (
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
)
from agent_framework.observability import ChatTelemetryLayer

from deepdelve.core.records import Role, Usage
from deepdelve.engine.backends.base import Hooks, quiet_framework

Rule = Callable[[list[Message], dict[str, Any]], "list[Content] | Awaitable[list[Content]]"]
PIECE = 40
_ids = itertools.count(1)


def text(value: str) -> list[Content]:
    """A reply of plain text."""
    return [Content.from_text(value)]


def call(name: str, /, **arguments: Any) -> Content:
    """One tool call; a reply is a list of them."""
    return Content.from_function_call(f"call-{next(_ids)}", name, arguments=arguments)


@dataclass(frozen=True)
class ScriptedCall:
    """One model call as the model saw it; ``options`` hold ``instructions`` and ``tools``."""

    role: Role
    messages: list[Message]
    options: dict[str, Any]

    @property
    def instructions(self) -> str:
        """The system prompt."""
        return str(self.options.get("instructions") or "")

    @property
    def tools(self) -> list[str]:
        """Names of the tools on offer."""
        return [tool.name for tool in self.options.get("tools") or []]

    @property
    def last(self) -> str:
        """Text of the last message; of a tool message, its results."""
        message = self.messages[-1]
        return message.text or "\n".join(str(c.result) for c in message.contents if c.type == "function_result")


class ScriptedClient(FunctionInvocationLayer, ChatMiddlewareLayer, ChatTelemetryLayer, BaseChatClient):
    """A chat client of the framework whose replies come from a rule."""

    OTEL_PROVIDER_NAME = "scripted"

    def __init__(self, role: Role, factory: "ScriptedFactory", max_iterations: int) -> None:
        self.role, self.factory, self.model, self.strikes = role, factory, factory.model, 0
        super().__init__(function_invocation_configuration={"max_iterations": max_iterations})

    async def _reply(self, messages: Sequence[Message], options: Mapping[str, Any]) -> list[Content]:
        validated = await self._validate_options(options)
        self.factory.calls.append(ScriptedCall(self.role, list(messages), validated))
        reply = self.factory.rules[self.role](list(messages), validated)
        contents = await reply if inspect.isawaitable(reply) else reply
        sent = sum(len(m.text) for m in messages) + len(str(validated.get("instructions") or ""))
        said = sum(len(c.text or "") for c in contents)
        usage = Usage(tokens_in=sent // 4, tokens_out=max(1, said // 4), sent_chars=sent, estimated=True)
        self.factory.hooks.on_usage(self.role, usage, False)
        return contents

    def _inner_get_response(self, *, messages, stream, options, **kwargs):
        async def pieces() -> AsyncIterator[ChatResponseUpdate]:
            contents = await self._reply(messages, options)
            for content in contents:
                for piece in _pieces(content):
                    yield ChatResponseUpdate(contents=[piece], role="assistant", model=self.model)
            yield ChatResponseUpdate(contents=[], role="assistant", model=self.model, finish_reason=_finish(contents))

        async def whole() -> ChatResponse:
            contents = await self._reply(messages, options)
            return ChatResponse(messages=[Message("assistant", contents)], model=self.model, finish_reason=_finish(contents))

        return self._build_response_stream(pieces(), response_format=options.get("response_format")) if stream else whole()


@dataclass
class ScriptedFactory:
    """A backend whose model answers by rule, one rule for each role; ``calls`` logs every model call in order.

    A rule may be a coroutine function, and may raise what a backend would raise (``BackendError``).
    """

    rules: dict[Role, Rule]
    hooks: Hooks = field(default_factory=Hooks)
    name: str = "scripted"
    model: str = "scripted-1"
    calls: list[ScriptedCall] = field(default_factory=list)
    closed: bool = False

    def __post_init__(self) -> None:
        quiet_framework()

    def client(self, role: Role, *, max_iterations: int = 40) -> ScriptedClient:
        return ScriptedClient(role, self, max_iterations)

    async def close(self) -> None:
        self.closed = True


def in_turn(*replies: "list[Content] | BaseException") -> Rule:
    """A rule that gives these replies in order, raises those that are errors, and repeats the last for ever."""
    left = list(replies)

    def rule(messages: list[Message], options: dict[str, Any]) -> list[Content]:
        reply = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(reply, BaseException):
            raise reply
        return reply

    return rule


def _finish(contents: list[Content]) -> str:
    return "tool_calls" if any(c.type == "function_call" for c in contents) else "stop"


def _pieces(content: Content) -> list[Content]:
    if content.type != "text" or not content.text:
        return [content]
    starts = range(0, len(content.text), PIECE)
    return [Content.from_text(content.text[at : at + PIECE], merge_mode="append") for at in starts]

"""The built-in backend as a chat client of the agent framework: no model, a fixed policy for each role."""

import json
from collections.abc import AsyncIterable, Awaitable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from agent_framework import (
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationConfiguration,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
)
from agent_framework.observability import ChatTelemetryLayer

from deepdelve.core.records import Role, Usage
from deepdelve.engine.backends.base import Hooks, quiet_framework
from deepdelve.engine.backends.builtin.conversation import Call, Conversation, Turn, json_object
from deepdelve.engine.backends.builtin.policies import policy_for

MODEL = "extractive-1"
# Long answers come in pieces, as from a model, so that surfaces show them grow.
_PIECE_CHARS = 2_000


class BuiltinClient(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], ChatTelemetryLayer[Any], BaseChatClient[Any]):
    """Answers as one role, by rule. Nothing leaves the process."""

    OTEL_PROVIDER_NAME = "builtin"

    def __init__(self, role: Role, *, max_iterations: int, hooks: Hooks | None = None) -> None:
        self.role: Role = role
        self.model = MODEL
        self.strikes = 0
        self._hooks = hooks or Hooks()
        super().__init__(function_invocation_configuration=FunctionInvocationConfiguration(max_iterations=max_iterations))

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        del kwargs
        if stream:
            return self._build_response_stream(self._updates(messages, options))
        return self._whole(messages, options)

    async def _whole(self, messages: Sequence[Message], options: Mapping[str, Any]) -> ChatResponse[Any]:
        contents, reason = self._answer(messages, options)
        return ChatResponse(messages=[Message("assistant", contents)], model=self.model, finish_reason=reason)

    async def _updates(self, messages: Sequence[Message], options: Mapping[str, Any]) -> AsyncIterable[ChatResponseUpdate]:
        contents, reason = self._answer(messages, options)
        for content in contents:
            yield ChatResponseUpdate(contents=[content], role="assistant", model=self.model, finish_reason=reason)

    def _answer(self, messages: Sequence[Message], options: Mapping[str, Any]) -> tuple[list[Content], Any]:
        conversation = read_conversation(messages, options)
        turn = policy_for(self.role)(conversation)
        self._report(conversation, turn)
        if not turn.calls:
            pieces = [turn.text[i : i + _PIECE_CHARS] for i in range(0, len(turn.text), _PIECE_CHARS)]
            return [Content.from_text(piece) for piece in pieces], "stop"
        return [
            Content.from_function_call(f"call_{uuid4().hex[:16]}", call.tool, arguments=json.dumps(dict(call.args), ensure_ascii=False))
            for call in turn.calls
        ], "tool_calls"

    def _report(self, conversation: Conversation, turn: Turn) -> None:
        sent = sum(map(len, conversation.asked)) + sum(len(call.result or "") for call in conversation.calls)
        said = len(turn.text) + sum(len(str(call.args)) for call in turn.calls)
        self._hooks.on_usage(self.role, Usage(tokens_in=sent // 4, tokens_out=said // 4, sent_chars=sent, estimated=True), False)


class BuiltinFactory:
    """Makes built-in clients. There is nothing to connect to and nothing to configure."""

    name = "builtin"
    model = MODEL

    def __init__(self, hooks: Hooks | None = None) -> None:
        self._hooks = hooks
        quiet_framework()

    def client(self, role: Role, *, max_iterations: int) -> BuiltinClient:
        """A client for one dispatch of a role."""
        return BuiltinClient(role, max_iterations=max_iterations, hooks=self._hooks)

    async def close(self) -> None:
        """Nothing to let go of."""


def read_conversation(messages: Sequence[Message], options: Mapping[str, Any]) -> Conversation:
    """The framework's messages as a role's policy reads them."""
    asked: list[str] = []
    calls: list[tuple[str, str, Mapping[str, Any]]] = []
    results: dict[str, str] = {}
    since = 0
    for message in messages:
        if message.role == "user" and message.text:
            asked.append(message.text)
            since = len(calls)
        for content in message.contents:
            if content.type == "function_call":
                calls.append((content.call_id or "", content.name or "", _arguments(content.arguments)))
            elif content.type == "function_result":
                results[content.call_id or ""] = _result(content)
    return Conversation(
        asked=tuple(asked),
        calls=tuple(Call(name, args, results.get(call_id)) for call_id, name, args in calls),
        since=since,
        tools=_tools(options),
        instructions=str(options.get("instructions") or ""),
    )


def _arguments(given: Any) -> Mapping[str, Any]:
    if isinstance(given, str):
        return json_object(given)
    return dict(given) if isinstance(given, Mapping) else {}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _result(content: Content) -> str:
    if content.exception:
        return f"Error: {content.exception}"
    result: Any = content.result
    if isinstance(result, str):
        return result
    if isinstance(result, list):
        parts: list[Any] = result  # pyright: ignore[reportUnknownVariableType]
        return "\n".join(str(getattr(part, "text", None) or "") for part in parts)
    return "" if result is None else json.dumps(result, ensure_ascii=False, default=str)


def _tools(options: Mapping[str, Any]) -> frozenset[str]:
    if options.get("tool_choice") == "none":
        return frozenset()
    tools: Any = options.get("tools") or ()
    return frozenset(str(getattr(entry, "name", "")) for entry in tools)

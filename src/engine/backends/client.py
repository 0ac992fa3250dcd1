"""The layer between a provider's chat client and the framework's loop of tool calls, the same for every provider."""

import json
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any, cast

from agent_framework import (
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    FunctionTool,
    Message,
    ResponseStream,
    UsageDetails,
    add_usage_details,
)

from deepdelve.core.errors import BackendError
from deepdelve.core.records import Role
from deepdelve.engine.backends.base import FIRST_TOKEN_OPTION, STRIKES, StrikesError
from deepdelve.engine.backends.repair import ToolSpec
from deepdelve.engine.backends.stream import Link, Turn
from deepdelve.engine.backends.usage import sent_chars

# How often one reply is asked for while the provider refuses options that can be left out.
_TRIES = 4
# How the framework answers a call whose arguments its own check refuses.
_BAD_ARGUMENTS = "Argument parsing failed"


class GuardedClient(BaseChatClient[Any]):
    """Makes every model call a watched ``Turn``, and answers unusable tool calls with the reason.

    The provider is always asked to stream, whether or not the caller streams: only so is a silent or cut reply known.
    Mixed in before the provider's client, whose own call ``_provider_stream`` makes.

    Attributes:
        strikes: tool calls so far that could not be carried out.
    """

    role: Role
    link: Link
    strikes: int = 0
    _pending: str = ""
    _specs: tuple[tuple[int, ...], list[ToolSpec], int] | None = None

    @abstractmethod
    def _provider_stream(self, messages: Sequence[Message], options: Mapping[str, Any]) -> AsyncGenerator[ChatResponseUpdate]:
        """The provider's own stream for prepared options."""

    @abstractmethod
    async def _provider_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options as the provider takes them."""

    def _second_try(self, error: BackendError) -> bool:
        """Whether to call again at once, having changed what the provider refused."""
        del error
        return False

    def _inner_get_response(
        self, *, messages: Sequence[Message], options: Mapping[str, Any], stream: bool = False, **kwargs: Any
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        del kwargs
        answer = super()._build_response_stream(self._answer(messages, options), response_format=options.get("response_format"))
        return answer if stream else answer.get_final_response()

    def _build_response_stream(self, stream: Any, *, response_format: Any | None = None) -> Any:
        """The provider's updates as they are: to collect them a second time would cost as much as all the rest."""
        del response_format
        return stream

    async def _answer(self, messages: Sequence[Message], options: Mapping[str, Any]) -> AsyncIterator[ChatResponseUpdate]:
        conversation = [*messages, *self._reminder(messages)]
        usage: UsageDetails | None = None
        for _ in range(STRIKES):
            last: Turn | None = None
            async for turn, update in self._turn(conversation, options):
                last = turn
                if update:
                    yield update
            turn = cast("Turn", last)
            usage = add_usage_details(usage, turn.usage)
            if turn.problem:
                self._strike(turn.problem, turn.partial)
            if turn.calls or not turn.problem:
                self._pending = turn.problem
                yield turn.last_update(usage)
                return
            conversation += [Message("assistant", [turn.wrote]), Message("user", [self._nudge(turn.problem, options)])]

    async def _turn(self, messages: Sequence[Message], options: Mapping[str, Any]) -> AsyncIterator[tuple[Turn, ChatResponseUpdate | None]]:
        """One reply, asked for again where the provider refused an option that can be left out."""
        tools, tool_chars = self._tools(options)
        for attempt in range(_TRIES):
            prepared = await self._provider_options(options)
            prepared.pop(FIRST_TOKEN_OPTION, None)
            turn = Turn(self.role, self.link, tools, options, sent_chars(messages, options, tool_chars))
            turn.may_call = _may_call(options)
            try:
                async for update in turn.updates(self._provider_stream(messages, prepared)):
                    yield turn, update
            except BackendError as error:
                if attempt == _TRIES - 1 or error.partial or not self._second_try(error):
                    raise
            else:
                yield turn, None
                return

    def _tools(self, options: Mapping[str, Any]) -> tuple[list[ToolSpec], int]:
        """The tools on offer, and the characters that their description takes."""
        offered = [tool for tool in options.get("tools") or () if isinstance(tool, FunctionTool)]
        key = tuple(id(tool) for tool in offered)
        if self._specs is None or self._specs[0] != key:
            specs = [ToolSpec(tool.name, tool.parameters()) for tool in offered]
            self._specs = key, specs, sum(len(json.dumps(tool.to_json_schema_spec())) for tool in offered)
        return self._specs[1], self._specs[2]

    def _reminder(self, messages: Sequence[Message]) -> list[Message]:
        """What was wrong with calls of the last reply, where the rest of it was carried out."""
        problem, self._pending = self._pending, ""
        for message in reversed(messages):
            if message.role != "tool":
                break
            for content in message.contents:
                if content.exception and _BAD_ARGUMENTS in str(content.result):
                    problem = f"the arguments do not fit: {' '.join(str(content.exception).split())[:300]}."
                    self._strike(problem, "")
        return [Message("user", [f"One of your tool calls was not carried out: {problem}"])] if problem else []

    def _strike(self, problem: str, partial: str) -> None:
        self.strikes += 1
        if self.strikes >= STRIKES:
            raise StrikesError(problem, partial=partial)

    def _nudge(self, problem: str, options: Mapping[str, Any]) -> str:
        names = ", ".join(tool.name for tool in self._tools(options)[0])
        return (
            f"Your tool call was not carried out: {problem}\nCall one of these tools: {names}. Or, if you are done, answer in plain text."
        )


def _may_call(options: Mapping[str, Any]) -> bool:
    """Whether tools may be called: in the framework's last round they are still named, but not on offer."""
    choice: Any = options.get("tool_choice")
    return choice not in ("none", {"mode": "none"})

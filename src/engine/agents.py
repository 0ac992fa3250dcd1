"""The one place where agents are made: prompt, tools, gate, history and compaction of a role, attached together."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    CompactionStrategy,
    Content,
    ContextWindowCompactionStrategy,
    FunctionTool,
    HistoryProvider,
    Message,
    tool,
)

from deepdelve.core import events as ev
from deepdelve.engine.backends.base import ChatFactory
from deepdelve.engine.gate import Dispatch, Gate
from deepdelve.engine.roles import ROLES, instructions, tools_of
from deepdelve.engine.run import Run
from deepdelve.engine.services import Services

_OUTPUT_TOKENS = 4_096
# The backend without a model has no context window; what it has done so far is all that it knows.
BUILTIN = "builtin"


@dataclass(frozen=True)
class MadeAgent:
    """An agent ready for the loop."""

    agent: Agent[Any]
    session: AgentSession


class JournalHistory(HistoryProvider):
    """The framework's session is an id; its history is a view of the journal, tool results included."""

    def __init__(self, run: Run, dispatch_id: str) -> None:
        super().__init__("journal")
        self.run = run
        self.dispatch_id = dispatch_id

    async def get_messages(self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any) -> list[Message]:
        """Everything said and done in this dispatch so far."""
        return messages_from(self.run.conversation(self.dispatch_id))

    async def save_messages(
        self, session_id: str | None, messages: Sequence[Message], *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        """Nothing to do: loop and gate journal every message, call and result as it happens."""


def make_agent(run: Run, dispatch: Dispatch, factory: ChatFactory, services: Services, tools: Mapping[str, FunctionTool]) -> MadeAgent:
    """Make the agent of a dispatch.

    Args:
        run: the run that it works for.
        dispatch: its role, profile and place.
        factory: the backend.
        services: settings and approvals.
        tools: all tools by name; the role's own are taken.
    """
    spec = ROLES[dispatch.role]
    state = run.state
    agent = Agent(
        client=factory.client(dispatch.role, max_iterations=spec.max_iterations),
        name=dispatch.role,
        instructions=instructions(
            dispatch.role,
            date=state.date,
            language=state.language or "the language of the question",
            profile=dispatch.profile,
            style=state.style,
        ),
        tools=[tools[name] for name in tools_of(dispatch.role, dispatch.profile)],
        context_providers=[JournalHistory(run, dispatch.id)],
        middleware=[Gate(run, dispatch, services.approve)],
        compaction_strategy=_compaction(spec.compaction if factory.name != BUILTIN else "none", services.settings.settings.num_ctx),
    )
    return MadeAgent(agent, AgentSession(session_id=f"{run.run_id}:{dispatch.id or 'planner'}"))


def framework_tools(functions: Mapping[str, Callable[..., Awaitable[str]]]) -> dict[str, FunctionTool]:
    """Functions as tools of the framework, made once a run: each costs a schema of its own. The gate decides about approvals."""
    return {name: tool(function, name=name, approval_mode="never_require") for name, function in functions.items()}


def messages_from(events: Sequence[ev.Event]) -> list[Message]:
    """Journal events as chat messages. A call without a result (a kill, an abort) gets one that says so."""
    results = {e.call_id: e.text for e in events if isinstance(e, ev.ToolReturned)}
    results |= {e.call_id: f"Refused: {e.reason}" for e in events if isinstance(e, ev.ToolRefused)}
    messages: list[Message] = []
    for event in events:
        if isinstance(event, ev.Message):
            messages.append(_message("user" if event.role == "User" else "assistant", [Content.from_text(event.text)], event.seq))
        elif isinstance(event, ev.ToolCalled | ev.ToolRefused) and event.call_id:
            # Servers want each result right behind its call, also where calls ran side by side.
            args = event.args if isinstance(event, ev.ToolCalled) else {}
            messages.append(_call(event.call_id, event.tool, args, event.seq))
            messages.append(_result(event.call_id, results.get(event.call_id, "Error: interrupted before it answered."), event.seq))
    return messages


def _call(call_id: str, name: str, args: Mapping[str, Any], seq: int) -> Message:
    content = Content.from_function_call(call_id, name, arguments=json.dumps(dict(args), ensure_ascii=False, default=str))
    return _message("assistant", [content], seq)


def _result(call_id: str, text: str, seq: int) -> Message:
    return _message("tool", [Content.from_function_result(call_id, result=text)], seq)


def _message(role: str, contents: list[Content], seq: int) -> Message:
    # A unique id each: the framework would drop a repeated turn that looks the same.
    return Message(role, contents, message_id=f"e{seq}-{role}")


async def _keep_all(messages: list[Message]) -> bool:
    """No compaction: the first message is the whole evidence."""
    del messages
    return False


def _compaction(kind: str, num_ctx: int) -> CompactionStrategy:
    if kind == "none":
        return _keep_all
    return ContextWindowCompactionStrategy(
        max_context_window_tokens=num_ctx, max_output_tokens=min(_OUTPUT_TOKENS, num_ctx // 4), preserve_first_user_group=True
    )

"""The built-in backend as a chat client of the framework."""

import asyncio
from typing import Annotated, Any

import pytest
from agent_framework import Agent, Content, Message, tool

from deepdelve.core.records import Role, Usage
from deepdelve.engine.backends.base import Hooks
from deepdelve.engine.backends.builtin.client import MODEL, BuiltinClient, BuiltinFactory, read_conversation
from deepdelve.engine.roles import ROLES


def agent(role: Role, *tools: Any, factory: BuiltinFactory | None = None) -> Agent[Any]:
    client = (factory or BuiltinFactory()).client(role, max_iterations=8)
    return Agent(client=client, name=role, instructions="", tools=list(tools))


def planning() -> tuple[list[Any], list[str]]:
    made: list[str] = []

    @tool(name="write_plan", approval_mode="never_require")
    async def write_plan(items: Annotated[list[dict[str, Any]], "items"]) -> str:
        made.append(f"plan of {len(items)}")
        return '{"recorded": 1}'

    @tool(name="delegate_tasks", approval_mode="never_require")
    async def delegate_tasks(tasks: Annotated[list[dict[str, Any]], "tasks"]) -> str:
        made.append(tasks[0]["task_name"])
        return '{"tasks": [{"task": "t", "state": "done", "claims": 2, "sources": ["S1"]}]}'

    return [write_plan, delegate_tasks], made


async def test_a_role_calls_its_tools_and_ends_in_text() -> None:
    tools, made = planning()
    answer = await agent("Planner", *tools).run("Question: How do heat pumps work?")
    assert made == ["plan of 1", "How do heat pumps work"]
    assert answer.text == "Research is done. t: 2 claims."


async def test_streaming_gives_the_same() -> None:
    tools, made = planning()
    pieces: list[str] = []
    async with agent("Planner", *tools).run("Question: How do heat pumps work?", stream=True) as stream:
        async for update in stream:
            pieces += [content.text or "" for content in update.contents if content.type == "text"]
    assert len(made) == 2
    assert "".join(pieces) == "Research is done. t: 2 claims."


async def test_long_text_comes_in_pieces() -> None:
    client = BuiltinFactory().client("PeerReviewer", max_iterations=4)
    pieces = client._answer([Message("user", ["Question: q"])], {})[0]
    assert [piece.type for piece in pieces] == ["text"]


@pytest.mark.parametrize("role", sorted(ROLES))
async def test_every_role_answers_something_without_tools(role: Role) -> None:
    assert (await agent(role).run("Question: How long is the Alder?")).text


async def test_every_call_has_an_id_of_its_own() -> None:
    client = BuiltinFactory().client("Planner", max_iterations=4)

    @tool(name="write_plan")
    async def write_plan(items: list[Any]) -> str:
        return ""

    answers = [client._answer([Message("user", ["Question: q"])], {"tools": [write_plan]}) for _ in range(3)]
    ids = [content.call_id for contents, _ in answers for content in contents]
    assert len(set(ids)) == 3
    assert all(reason == "tool_calls" for _, reason in answers)


async def test_usage_is_reported_once_a_call_and_as_an_estimate() -> None:
    seen: list[tuple[Role, Usage]] = []
    hooks = Hooks(on_usage=lambda role, usage, truncated: seen.append((role, usage)))
    tools, _ = planning()
    await agent("Planner", *tools, factory=BuiltinFactory(hooks)).run("Question: How do heat pumps work?")
    assert len(seen) == 3
    assert all(role == "Planner" and usage.estimated and usage.calls == 1 for role, usage in seen)
    assert seen[0][1].tokens_in <= seen[-1][1].tokens_in


async def test_clients_side_by_side_do_not_touch_each_other() -> None:
    factory = BuiltinFactory()
    runs = [planning() for _ in range(5)]
    questions = [f"Question: How long is river number {n}?" for n in range(5)]
    await asyncio.gather(*(agent("Planner", *tools, factory=factory).run(q) for (tools, _), q in zip(runs, questions, strict=True)))
    assert [made[1] for _, made in runs] == [f"How long is river number {n}" for n in range(5)]
    await factory.close()


def test_the_factory_names_itself() -> None:
    factory = BuiltinFactory()
    assert (factory.name, factory.model) == ("builtin", MODEL)
    assert isinstance(factory.client("Builder", max_iterations=1), BuiltinClient)


# Messages


def call(call_id: str, name: str, arguments: Any) -> Message:
    return Message("assistant", [Content.from_function_call(call_id, name, arguments=arguments)])


def result(call_id: str, **given: Any) -> Message:
    return Message("tool", [Content.from_function_result(call_id, **given)])


def test_messages_become_a_conversation() -> None:
    messages = [
        Message("system", ["be good"]),
        Message("user", ["first"]),
        call("1", "web_search", '{"query": "x"}'),
        result("1", result="found"),
        Message("assistant", ["text"]),
        Message("user", ["second"]),
        call("2", "think", {"thought": "hm"}),
    ]
    found = read_conversation(messages, {"instructions": "form"})
    assert found.asked == ("first", "second")
    assert [(c.tool, c.args, c.result) for c in found.calls] == [
        ("web_search", {"query": "x"}, "found"),
        ("think", {"thought": "hm"}, None),
    ]
    assert (found.since, found.instructions, found.tools) == (1, "form", frozenset())


@pytest.mark.parametrize("arguments", ["not json", "", None, "[1]", '"x"'])
def test_odd_arguments_are_none(arguments: Any) -> None:
    found = read_conversation([call("1", "think", arguments)], {})
    assert found.calls[0].args == {}


def test_a_tool_that_failed_is_an_error() -> None:
    found = read_conversation([call("1", "think", "{}"), result("1", result="", exception="broke")], {})
    assert found.calls[0].result == "Error: broke"
    assert not found.calls[0].ok


def test_answers_in_parts_are_joined() -> None:
    parts = [Content.from_text("one"), Content.from_text("two")]
    found = read_conversation([call("1", "think", "{}"), result("1", result=parts)], {})
    assert found.calls[0].result == "one\ntwo"


def test_a_choice_of_no_tool_closes_them_all() -> None:
    tools, _ = planning()
    assert read_conversation([], {"tools": tools}).tools == {"write_plan", "delegate_tasks"}
    assert read_conversation([], {"tools": tools, "tool_choice": "none"}).tools == frozenset()

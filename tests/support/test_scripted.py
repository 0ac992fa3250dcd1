"""The scripted model behaves as a real chat client does: tools run, text streams, errors come through unchanged."""

import pytest
from agent_framework import Agent, tool

from deepdelve.core.errors import BackendError
from tests.support.scripted import ScriptedFactory, call, in_turn, text


@tool
async def add(a: int, b: int) -> str:
    """Add."""
    return str(a + b)


def agent(factory: ScriptedFactory) -> Agent:
    return Agent(factory.client("Planner"), "You add.", tools=[add])


async def run(of: Agent, stream: bool) -> None:
    if not stream:
        await of.run("x")
        return
    async for _ in of.run("x", stream=True):
        pass


@pytest.mark.parametrize("stream", [False, True])
async def test_a_tool_call_is_run_and_its_result_reaches_the_model(stream):
    factory = ScriptedFactory({"Planner": in_turn([call("add", a=2, b=3)], text("It is five. " * 20))})
    if stream:
        updates = [u.text async for u in agent(factory).run("2+3?", stream=True)]
        assert len([u for u in updates if u]) > 3
        answer = "".join(updates)
    else:
        answer = (await agent(factory).run("2+3?")).text
    assert answer == "It is five. " * 20
    assert factory.calls[1].last == "5"
    assert factory.calls[0].instructions == "You add."
    assert factory.calls[0].tools == ["add"]


@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_of_the_script_reaches_the_caller_unchanged(stream):
    error = BackendError("The model failed.", cause="server_error")
    factory = ScriptedFactory({"Planner": in_turn([call("add", a=1, b=1)], error)})
    with pytest.raises(BackendError) as caught:
        await run(agent(factory), stream)
    assert caught.value is error

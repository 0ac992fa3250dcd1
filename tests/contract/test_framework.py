"""What the engine relies on in the agent framework and the clients under it, pinned: an upgrade that breaks it fails here.

The failures stand as the framework's own clients show them; the guard around them exists because of these.
"""

import asyncio
import json
from importlib.metadata import version
from typing import Any

import httpx
import ollama
import openai
import pydantic
import pytest
from agent_framework import (
    Agent,
    AgentSession,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionMiddleware,
    Message,
    MiddlewareFailure,
    tool,
)
from agent_framework.exceptions import ChatClientException
from agent_framework.observability import disable_instrumentation
from agent_framework_ollama import OllamaChatClient
from agent_framework_openai import OpenAIChatCompletionClient

from tests.support.llm_server import Call, LlmServer, Reply
from tests.support.scripted import ScriptedFactory, call, in_turn, text

WRAPPED = ("http_500", "model_missing", "no_tools", "unauthorized", "http_429", "error_in_stream", "cut_stream", "broken_line")
OLLAMA_OPTIONS = {
    "max_tokens": 9,
    "num_ctx": 4_096,
    "temperature": 0.1,
    "think": False,
    "keep_alive": "5m",
    "response_format": {"type": "object"},
}


@tool
async def add(a: int, b: int = 1) -> str:
    """Add."""
    return str(a + b)


@tool
async def broken(a: int) -> str:
    """Fail."""
    raise ValueError(f"secret {a}")


@pytest.fixture
async def own():
    """Makes the framework's own clients, without the guard, and closes them."""
    made: list[Any] = []

    def make(protocol: str, server: LlmServer) -> Any:
        if protocol == "ollama":
            made.append(client := OllamaChatClient(host=server.url, model="m"))
            return client
        sdk = openai.AsyncOpenAI(base_url=server.openai_url, api_key="x", max_retries=0, timeout=5)
        made.append(client := OpenAIChatCompletionClient(model="m", async_client=sdk))
        return client

    yield make
    for client in made:
        await (client.client._client.aclose() if isinstance(client, OllamaChatClient) else client.client.close())


async def run(client: Any, stream: bool, tools: Any = ()) -> Any:
    agent = Agent(client, "You add.", tools=list(tools))
    if not stream:
        return await agent.run("go")
    answer = agent.run("go", stream=True)
    async for _ in answer:
        pass
    return await answer.get_final_response()


async def error_of(client: Any, stream: bool, tools: Any = ()) -> BaseException:
    try:
        await run(client, stream, tools)
    except Exception as error:
        return error
    raise AssertionError("the run gave an answer")


def test_the_pinned_versions_are_in_place():
    assert version("agent-framework-core").startswith("1.23.")
    assert version("agent-framework-openai").startswith("1.17.")
    assert version("agent-framework-ollama") == "1.0.0b261022"
    assert version("ollama").startswith("0.5.")


class TestFailures:
    @pytest.mark.parametrize(
        ("fault", "raised"),
        [
            ("http_500", ollama.ResponseError),
            ("model_missing", ollama.ResponseError),
            ("no_tools", ollama.ResponseError),
            ("unauthorized", ollama.ResponseError),
            ("http_429", ollama.ResponseError),
            ("error_in_stream", ollama.ResponseError),
            ("repeat_limit", ollama.ResponseError),
            ("cut_stream", httpx.RemoteProtocolError),
            ("broken_line", json.JSONDecodeError),
        ],
    )
    async def test_ollama_streaming_raises_what_its_sdk_raises(self, fault, raised, own):
        with LlmServer(["Hello."]) as server:
            server.fail(fault)
            assert isinstance(await error_of(own("ollama", server), True), (raised, ChatClientException))

    @pytest.mark.parametrize("fault", WRAPPED)
    async def test_openai_streaming_wraps_with_the_cause(self, fault, own):
        with LlmServer(["Hello."]) as server:
            server.fail(fault)
            error = await error_of(own("openai", server), True)
        assert isinstance(error, ChatClientException)
        assert error.__cause__ is not None

    @pytest.mark.parametrize("protocol", ["ollama", "openai"])
    async def test_a_dead_server_is_an_error_of_the_transport(self, protocol, own):
        dead = LlmServer()
        dead.port = 9
        error = await error_of(own(protocol, dead), True)
        assert isinstance(error, (httpx.ConnectError, ChatClientException))

    @pytest.mark.parametrize("args", ['{"a": 1}', '{"a": '])
    async def test_ollama_refuses_arguments_that_are_text(self, args, own):
        with LlmServer([Reply(calls=(Call("add", args),))]) as server:
            error = await error_of(own("ollama", server), True, [add])
        assert isinstance(error, pydantic.ValidationError)

    async def test_openai_passes_broken_arguments_on_and_the_tool_says_so(self, own):
        with LlmServer([Reply(calls=(Call("add", '{"a": '),)), "Done."]) as server:
            await run(own("openai", server), True, [add])
            result = server.chats()[1].last
        assert "Argument parsing failed" in result

    @pytest.mark.parametrize("protocol", ["ollama", "openai"])
    @pytest.mark.parametrize("fault", ["no_done", "empty", "length"])
    async def test_a_reply_without_its_end_empty_or_by_length_counts_as_success(self, protocol, fault, own):
        with LlmServer(["Hello."]) as server:
            server.fail(fault)
            answer = await run(own(protocol, server), True)
        assert answer.finish_reason == {"no_done": None, "empty": "stop", "length": "length"}[fault]

    async def test_a_page_of_html_is_an_empty_success_over_openai(self, own):
        with LlmServer(["Hello."]) as server:
            server.fail("html")
            assert (await run(own("openai", server), True)).text == ""


class TestWire:
    async def test_ollama_s_request(self, own):
        with LlmServer([Reply(calls=(Call("add", {"a": 1}),)), "Done."]) as server:
            client = own("ollama", server)
            await Agent(client, "Add.", tools=[add]).run("go", stream=True, options=dict(OLLAMA_OPTIONS)).get_final_response()
            first, second = (seen.body for seen in server.chats())
        assert first["options"] == {"num_predict": 9, "num_ctx": 4_096, "temperature": 0.1}
        assert (first["think"], first["keep_alive"], first["format"]) == (False, "5m", {"type": "object"})
        assert first["messages"][0] == {"role": "system", "content": "Add."}
        assert second["messages"][-1] == {"role": "tool", "content": "2", "tool_name": "add"}

    async def test_openai_s_request(self, own):
        with LlmServer(["Done."]) as server:
            client = own("openai", server)
            options = {"max_tokens": 9, "extra_body": {"own_field": 1}}
            await Agent(client, "Add.", tools=[add]).run("go", stream=True, options=options).get_final_response()
            body = server.chats()[0].body
        assert body["max_completion_tokens"] == 9
        assert "max_tokens" not in body
        assert (body["own_field"], body["tool_choice"], body["stream_options"]) == (1, "auto", {"include_usage": True})

    @pytest.mark.parametrize("protocol", ["ollama", "openai"])
    async def test_parallel_calls_arrive_whole_and_interleaved(self, protocol, own):
        calls = tuple(Call("add", {"a": n, "b": n * 10}) for n in range(4))
        with LlmServer([Reply(calls=calls), "Done."]) as server:
            await run(own(protocol, server), True, [add])
            results = [m["content"] for m in server.chats()[1].messages if m["role"] == "tool"]
        assert results == ["0", "11", "22", "33"]


class TestLoop:
    @pytest.mark.parametrize("stream", [True, False])
    async def test_unknown_tools_and_wrong_arguments_become_results(self, stream):
        factory = ScriptedFactory({"Planner": in_turn([call("absent"), call("add", a="many")], text("Done."))})
        await run(factory.client("Planner"), stream, [add])
        said = factory.calls[1].last
        assert 'Requested function "absent" not found' in said
        assert "Argument parsing failed" in said

    async def test_arguments_are_brought_to_their_types_and_extra_ones_ignored(self):
        factory = ScriptedFactory({"Planner": in_turn([call("add", a="2", c=5)], text("Done."))})
        await run(factory.client("Planner"), True, [add])
        assert factory.calls[1].last == "3"

    async def test_a_tool_s_exception_reaches_the_model_without_its_text(self):
        factory = ScriptedFactory({"Planner": in_turn([call("broken", a=7)], text("Done."))})
        await run(factory.client("Planner"), True, [broken])
        result = factory.calls[1].messages[-1].contents[0]
        assert "secret" not in str(result.result)
        assert "secret 7" in str(result.exception)

    async def test_after_the_last_round_one_more_call_is_made_without_tools(self):
        factory = ScriptedFactory({"Planner": in_turn([call("add", a=1)])})
        answer = await run(factory.client("Planner", max_iterations=3), True, [add])
        assert len(factory.calls) == 4
        assert factory.calls[-1].options["tool_choice"] == "none"
        assert factory.calls[-1].tools == ["add"], "the tools are still named in the options"
        assert answer.text.startswith("Function invocation limit reached")

    @pytest.mark.parametrize("stream", [True, False])
    async def test_only_a_middleware_failure_ends_the_run(self, stream):
        class Stop(MiddlewareFailure):
            pass

        class Gate(FunctionMiddleware):
            def __init__(self, error: Exception) -> None:
                self.error = error

            async def process(self, context, call_next):
                raise self.error

        for error, ends in ((Stop("stop"), True), (RuntimeError("other"), False)):
            factory = ScriptedFactory({"Planner": in_turn([call("add", a=1)], text("Done."))})
            agent = Agent(factory.client("Planner"), tools=[add], middleware=[Gate(error)])
            if ends:
                with pytest.raises(Stop):
                    await (agent.run("go", stream=True).get_final_response() if stream else agent.run("go"))
            else:
                answer = await (agent.run("go", stream=True).get_final_response() if stream else agent.run("go"))
                assert answer.text == "Done."

    async def test_parallel_tools_run_side_by_side(self):
        running = asyncio.Barrier(3)

        @tool
        async def meet(n: int) -> str:
            """Wait for the others."""
            async with asyncio.timeout(5):
                await running.wait()
            return str(n)

        factory = ScriptedFactory({"Planner": in_turn([call("meet", n=n) for n in range(3)], text("Done."))})
        await run(factory.client("Planner"), True, [meet])
        assert factory.calls[1].last == "0\n1\n2"

    async def test_usage_in_the_outer_stream_is_cumulative(self, own):
        with LlmServer([Reply(calls=(Call("add", {"a": 1}),)), "Done."]) as server:
            counts = []
            async for update in Agent(own("ollama", server), tools=[add]).run("go", stream=True):
                counts += [content.usage_details["input_token_count"] for content in update.contents if content.type == "usage"]
        assert counts == sorted(counts)
        assert counts[-1] > counts[0]


class TestUpdates:
    def test_an_update_can_replace_what_was_streamed(self):
        def update(said: str, mode: Any = None) -> ChatResponseUpdate:
            contents = [Content.from_text(said, merge_mode="append")]
            return ChatResponseUpdate(contents=contents, role="assistant", message_id="m", merge_mode=mode)

        response = ChatResponse.from_updates([update("thought "), update("thought"), update("answer", "replace"), update(" here")])
        assert response.text == "answer here"

    def test_what_the_guard_builds_on_exists(self):
        from agent_framework import BaseChatClient

        for name in ("_inner_get_response", "_build_response_stream", "_validate_options"):
            assert callable(getattr(BaseChatClient, name))
        assert callable(disable_instrumentation)
        spec = add.to_json_schema_spec()
        assert spec["function"]["name"] == "add"
        assert add.parameters()["required"] == ["a"]

    def test_a_session_is_an_id_and_json(self):
        session = AgentSession(session_id="s")
        assert AgentSession.from_dict(json.loads(json.dumps(session.to_dict()))).session_id == "s"

    def test_messages_keep_their_ids(self):
        assert Message("user", ["x"], message_id="m1").message_id == "m1"

"""What goes over the wire: context, limits, thinking switches, keys, histories, and what is read of a reply."""

import asyncio
import json

import pytest
from agent_framework import Content, Message

from deepdelve.core.errors import ConfigError
from deepdelve.engine.backends.base import FIRST_TOKEN_OPTION
from deepdelve.engine.backends.ollama import OllamaFactory, OllamaServer
from deepdelve.engine.backends.openai import OpenAIFactory
from tests.engine.backends.kit import PROMPT, PROTOCOLS, Log, ask, factory_for, failure_of, settings_for
from tests.support.llm_server import Call, LlmServer, Model, Reply

SEARCH = Reply(calls=(Call("web_search", {"query": "x"}),))
GO = [Message("system", [PROMPT]), Message("user", ["go"])]
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"], "additionalProperties": False}


async def bodies(protocol: str, server: LlmServer, *, settings=None, **options) -> list[dict]:
    factory = factory_for(protocol, settings or settings_for(server))
    await ask(factory.client("Planner", max_iterations=4), **options)
    await factory.close()
    return [dict(seen.body) for seen in server.chats()]


class TestOllama:
    @pytest.mark.parametrize(("context", "wanted", "sent"), [(32_768, 16_384, 16_384), (8_192, 16_384, 8_192)])
    async def test_the_context_is_always_said_and_never_more_than_the_model_has(self, context, wanted, sent):
        with LlmServer(models=[Model("m", context=context)]) as server:
            settings = settings_for(server)
            settings.settings.num_ctx = wanted
            body = (await bodies("ollama", server, settings=settings))[0]
        assert body["options"]["num_ctx"] == sent
        assert body["options"]["num_predict"] == sent
        assert body["keep_alive"] == "30m"
        assert body["options"]["temperature"] == 0.2

    @pytest.mark.parametrize(("able", "asked", "think"), [(True, False, False), (True, True, True), (False, True, False)])
    async def test_thinking_is_off_unless_asked_for_and_there(self, able, asked, think):
        with LlmServer(models=[Model("m", thinking=able)]) as server:
            body = (await bodies("ollama", server, settings=settings_for(server, thinking=asked)))[0]
        assert body["think"] is think

    async def test_a_limit_and_a_temperature_of_the_caller_are_sent(self):
        with LlmServer() as server:
            body = (await bodies("ollama", server, max_tokens=99, temperature=0.7))[0]
        assert body["options"]["num_predict"] == 99
        assert body["options"]["temperature"] == 0.7

    async def test_a_schema_is_sent_as_format(self):
        with LlmServer(['{"ok": true}']) as server:
            body = (await bodies("ollama", server, response_format=SCHEMA))[0]
        assert body["format"] == SCHEMA

    async def test_a_model_that_cannot_call_tools_is_known_before_it_is_asked(self):
        with LlmServer(models=[Model("m", tools=False)]) as server:
            factory = factory_for("ollama", settings_for(server))
            error = await failure_of(factory.client("Planner", max_iterations=4))
            assert server.chats() == []
            await factory.close()
        assert error.cause == "no_tools"

    async def test_the_model_is_looked_up_once(self):
        with LlmServer([SEARCH, "Done."]) as server:
            await bodies("ollama", server)
            shows = [seen for seen in server.seen if seen.path == "/api/show"]
        assert len(shows) == 1

    async def test_a_gateway_without_model_pages_still_works(self):
        with LlmServer(models=[]) as server:
            factory = factory_for("ollama", settings_for(server))
            error = await failure_of(factory.client("Planner", max_iterations=4))
            await factory.close()
        assert error.cause == "model_missing"
        assert error.remedy == "Run: ollama pull m"

    async def test_the_history_of_tool_calls_goes_back_in_the_server_s_own_shape(self):
        with LlmServer([SEARCH, "Done."]) as server:
            second = (await bodies("ollama", server))[1]
        call, result = second["messages"][-2:]
        assert call["tool_calls"][0]["function"]["arguments"] == {"query": "x"}
        assert "thinking" not in call
        assert (result["role"], result["tool_name"], result["content"]) == ("tool", "web_search", "web results for x")

    async def test_the_server_s_pages_are_read(self):
        models = [
            Model("old", modified="2025-01-01T00:00:00Z"),
            Model("new", context=4_096, thinking=True, modified="2026-01-01T00:00:00Z"),
        ]
        with LlmServer(models=models) as server:
            ollama = OllamaServer(server.url)
            assert await ollama.version() == "0.99.1"
            assert [name for name, _ in await ollama.tags()] == ["new", "old"]
            info = await ollama.show("new")
            await ollama.close()
        assert (info.context, info.can("tools"), info.can("thinking"), info.can("vision")) == (4_096, True, True, False)


class TestOpenAI:
    async def test_servers_of_one_s_own_get_the_old_limit_and_both_switches(self):
        with LlmServer() as server:
            body = (await bodies("openai", server, max_tokens=99))[0]
        assert body["max_tokens"] == 99
        assert "max_completion_tokens" not in body
        assert body["chat_template_kwargs"] == {"enable_thinking": False, "thinking": False}
        assert body["reasoning_effort"] == "none"
        assert body["temperature"] == 0.2
        assert body["stream_options"] == {"include_usage": True}

    async def test_no_switch_is_sent_when_thinking_is_asked_for(self):
        with LlmServer() as server:
            body = (await bodies("openai", server, settings=settings_for(server, thinking=True)))[0]
        assert "chat_template_kwargs" not in body
        assert "reasoning_effort" not in body

    async def test_a_schema_is_sent_as_a_response_format(self):
        with LlmServer(['{"ok": true}']) as server:
            body = (await bodies("openai", server, response_format=SCHEMA))[0]
        assert body["response_format"]["json_schema"]["schema"]["properties"] == SCHEMA["properties"]

    @pytest.mark.parametrize(
        ("refused", "gone", "kept"),
        [
            ("reasoning_effort: extra fields not permitted", "reasoning_effort", "chat_template_kwargs"),
            ("response_format json_schema is not supported", "response_format", "reasoning_effort"),
        ],
    )
    async def test_an_option_that_the_server_refuses_is_left_out_for_good(self, refused, gone, kept, monkeypatch):
        with LlmServer({"Planner": ['{"ok": true}']}) as server:
            monkeypatch.setitem(_status_faults(), "http_500", (400, refused, {}))
            server.fail("http_500", turns={0})
            factory = factory_for("openai", settings_for(server))
            for _ in range(2):
                await ask(factory.client("Planner", max_iterations=4), response_format=SCHEMA)
            sent = [seen.body for seen in server.chats()]
            await factory.close()
        assert [gone in body for body in sent] == [True, False, False]
        assert all(kept in body for body in sent)

    async def test_a_server_that_refuses_every_switch_gets_none(self, monkeypatch):
        with LlmServer({"Planner": ["Done."]}) as server:
            monkeypatch.setitem(_status_faults(), "http_500", (400, "unknown field", {}))
            server.fail("http_500", turns={0, 1})
            factory = factory_for("openai", settings_for(server))
            assert await ask(factory.client("Planner", max_iterations=4)) == "Done."
            last = server.chats()[-1].body
            await factory.close()
        assert "reasoning_effort" not in last
        assert "chat_template_kwargs" not in last

    async def test_the_key_is_sent_and_a_wrong_one_is_named(self):
        with LlmServer(["Done."], key="secret") as server:
            right = settings_for(server)
            right.api.openai_api_key = "secret"
            await bodies("openai", server, settings=right)
            wrong = factory_for("openai", settings_for(server))
            error = await failure_of(wrong.client("Planner", max_iterations=4))
            await wrong.close()
        assert error.cause == "unauthorized"
        assert "secret" not in error.line()

    async def test_reasoning_is_reported_and_never_sent_back(self):
        log = Log()
        with LlmServer([Reply(calls=SEARCH.calls, thinking="private thoughts"), "Done."]) as server:
            factory = factory_for("openai", settings_for(server), log)
            await ask(factory.client("Planner", max_iterations=4))
            assert "private thoughts" not in json.dumps(server.chats()[1].body)
            await factory.close()
        assert "".join(log.thoughts) == "private thoughts"

    async def test_a_whole_reply_where_a_stream_was_asked_for_is_named(self, monkeypatch):
        with LlmServer(["Done."]) as server:
            monkeypatch.setitem(_status_faults(), "http_500", (200, "not a stream", {}))
            server.fail("http_500")
            factory = factory_for("openai", settings_for(server))
            error = await failure_of(factory.client("Planner", max_iterations=4))
            await factory.close()
        assert error.cause == "server_error"
        assert "not a stream" in error.message

    def test_an_address_and_a_model_are_needed(self):
        with pytest.raises(ConfigError, match="No address"):
            OpenAIFactory(settings_for())
        with pytest.raises(ConfigError, match="No model"):
            OpenAIFactory(settings_for(openai_base_url="http://127.0.0.1:1/v1", openai_model=""))


def _status_faults() -> dict:
    from tests.support import llm_server

    return llm_server._STATUS_FAULTS


@pytest.mark.parametrize("protocol", PROTOCOLS)
class TestBoth:
    async def test_specialists_have_their_own_model_and_address(self, protocol):
        with LlmServer() as main, LlmServer() as special:
            address = special.url if protocol == "ollama" else special.openai_url
            special.models = main.models = [Model("m"), Model("small")]
            factory = factory_for(protocol, settings_for(main, specialist_model="small", specialist_base_url=address))
            for role in ("Planner", "Searcher", "Analyzer", "Builder"):
                await ask(factory.client(role, max_iterations=4))
            await factory.close()
            asked = [[seen.body["model"] for seen in server.chats()] for server in (main, special)]
        assert asked == [["m", "m"], ["small", "small"]]

    async def test_a_client_has_its_own_limit_and_strikes(self, protocol):
        with LlmServer() as server:
            factory = factory_for(protocol, settings_for(server))
            one, two = factory.client("Planner", max_iterations=3), factory.client("Planner", max_iterations=7)
            assert one is not two
            assert one.function_invocation_configuration["max_iterations"] == 3
            assert two.function_invocation_configuration["max_iterations"] == 7
            assert (one.strikes, two.strikes) == (0, 0)
            await factory.close()

    def test_one_factory_works_over_several_event_loops(self, protocol):
        with LlmServer() as server:
            factory = factory_for(protocol, settings_for(server))

            async def once() -> str:
                answer = await ask(factory.client("Planner", max_iterations=4))
                await factory.close()
                return answer

            assert [asyncio.run(once()) for _ in range(3)] == ["Done."] * 3

    async def test_many_dispatches_go_side_by_side(self, protocol):
        with LlmServer({"Planner": lambda seen: Reply(f"Answer to {seen.last}", delay=0.01, piece=4)}) as server:
            factory = factory_for(protocol, settings_for(server))
            questions = [f"Q{n}" for n in range(12)]
            answers = await asyncio.gather(*(ask(factory.client("Planner", max_iterations=4), text=q) for q in questions))
            await factory.close()
        assert answers == [f"Answer to {question}" for question in questions]

    async def test_a_wait_for_the_first_token_can_be_set_for_one_call(self, protocol):
        with LlmServer() as server:
            server.fail("stall_first")
            factory = factory_for(protocol, settings_for(server))
            error = await failure_of(factory.client("Planner", max_iterations=4), **{FIRST_TOKEN_OPTION: 0.2})
            sent = server.chats()[0].body
            await factory.close()
        assert error.cause == "timeout"
        assert FIRST_TOKEN_OPTION not in sent

    async def test_the_first_token_may_take_longer_than_silence_within_a_reply(self, protocol):
        with LlmServer(["Done."], delay=0.4) as server:
            factory = factory_for(protocol, settings_for(server, idle=0.2))
            assert await ask(factory.client("Planner", max_iterations=4)) == "Done."
            await factory.close()

    async def test_text_arrives_as_it_is_written(self, protocol):
        long = " ".join(f"word{n}" for n in range(600))
        with LlmServer([Reply("First."), Reply(long, piece=60, delay=0.015)]) as server:
            factory = factory_for(protocol, settings_for(server))
            await ask(factory.client("Planner", max_iterations=4))
            client = factory.client("Planner", max_iterations=4)
            pieces = [update.text async for update in client.get_response(GO, stream=True) if update.text]
            await factory.close()
        assert len(pieces) > 20
        assert "".join(pieces) == long

    async def test_what_was_shown_and_turns_out_to_be_thinking_is_replaced(self, protocol):
        thought = " ".join(f"thought{n}" for n in range(100))
        with LlmServer([Reply("First."), Reply(f"{thought}</think>The answer.", piece=40, delay=0.012)]) as server:
            factory = factory_for(protocol, settings_for(server))
            await ask(factory.client("Planner", max_iterations=4))
            client = factory.client("Planner", max_iterations=4)
            stream = client.get_response(GO, stream=True)
            updates = [update async for update in stream]
            final = await stream.get_final_response()
            later = factory.client("Planner", max_iterations=4)
            shown = [u.text async for u in later.get_response(GO, stream=True)]
            await factory.close()
        assert "thought0" in updates[0].text
        assert any(update.merge_mode == "replace" for update in updates)
        assert final.text == "The answer."
        assert "".join(shown) == "The answer.", "once known, such thinking is not shown at all"

    async def test_usage_of_every_call_is_reported_with_what_was_sent(self, protocol):
        log = Log()
        with LlmServer([SEARCH, "Done."]) as server:
            factory = factory_for(protocol, settings_for(server), log)
            await ask(factory.client("Searcher", max_iterations=4))
            await factory.close()
        assert [role for role, _, _ in log.usage] == ["Searcher", "Searcher"]
        for _, usage, truncated in log.usage:
            assert usage.tokens_in > 0
            assert usage.tokens_out > 0
            assert usage.seconds > 0
            assert usage.sent_chars > 300
            assert not usage.estimated
            assert not truncated

    async def test_a_server_that_reads_less_than_was_sent_raises_the_alarm(self, protocol):
        log = Log()
        with LlmServer(["Done."]) as server:
            server.fail("cut_context", turns={1})
            factory = factory_for(protocol, settings_for(server), log)
            for _ in range(2):
                await ask(factory.client("Planner", max_iterations=4), text="A long question about old harbours. " * 200)
            await factory.close()
        assert [truncated for _, _, truncated in log.usage] == [False, True]

    async def test_a_history_of_another_backend_can_be_sent(self, protocol):
        history = [
            Message("user", ["Q?"]),
            Message("assistant", [Content.from_function_call("c1", "web_search", arguments='{"query": "x"}')]),
            Message("tool", [Content.from_function_result("c1", result="found")]),
            Message("user", ["And?"]),
        ]
        with LlmServer() as server:
            factory = factory_for(protocol, settings_for(server))
            answer = await factory.client("Planner", max_iterations=4).get_response(history)
            await factory.close()
        assert answer.text == "Done."

    async def test_a_wrong_address_is_refused_with_its_key(self, protocol):
        key = "ollama_host" if protocol == "ollama" else "openai_base_url"
        with pytest.raises(ConfigError, match=f"api.{key}"):
            factory_for(protocol, settings_for(**{key: "ftp://nowhere"}))

    async def test_arguments_that_the_framework_refuses_are_strikes_with_the_reason(self, protocol):
        from typing import Annotated

        from agent_framework import tool
        from pydantic import Field

        @tool
        async def rate(stars: Annotated[int, Field(ge=1, le=5)]) -> str:
            """Rate."""
            return str(stars)

        with LlmServer([Reply(calls=(Call("rate", {"stars": 9}),)), "Done."]) as server:
            factory = factory_for(protocol, settings_for(server))
            client = factory.client("Planner", max_iterations=4)
            assert await ask(client, tools=[rate]) == "Done."
            told = server.chats()[1].last
            await factory.close()
        assert client.strikes == 1
        assert "do not fit" in told
        assert "less than or equal to 5" in told


def test_both_factories_carry_their_names():
    settings = settings_for(openai_base_url="127.0.0.1:1/v1")
    assert (OllamaFactory(settings).name, OpenAIFactory(settings).name) == ("ollama", "openai")
    assert OllamaFactory(settings, model="other").model == "other"

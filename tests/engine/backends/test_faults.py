"""Every fault of a model or its server, on both protocols, streaming and not, at first and later turns, ends as it should.

A fault is mended (the run gives its answer), or it is one ``BackendError`` with its cause and a sentence that says what to
do. No fault hangs, is taken for an answer, or leaks thinking, tokens or markup into the text.
"""

import asyncio

import pytest

from deepdelve.core.errors import BackendError
from deepdelve.engine.backends.base import StrikesError
from tests.engine.backends.kit import PROTOCOLS, Log, ask, choose_action, factory_for, failure_of, settings_for, think, web_search
from tests.support.llm_replies import FAULTS, MODEL_FAULTS
from tests.support.llm_server import Call, LlmServer, Reply

ANSWER = "The harbour was built of grey stone [S1]. It is old [S2]."
SCRIPT = [
    Reply(calls=(Call("web_search", {"query": 'harbour "grey stone"'}), Call("think", {"thought": "hm"}))),
    Reply(calls=(Call("web_search", {"query": "age", "profile": "academic"}),)),
    ANSWER,
]
# Faults that leave the reply usable: the run goes on to its answer.
MENDED = {
    "call_as_json",
    "call_in_fence",
    "call_in_tag",
    "call_in_function_tag",
    "call_in_mistral_tag",
    "call_in_channel",
    "near_name",
    "missing_bracket",
    "args_as_string",
    "args_nested",
    "bad_escape",
    "thinking_closed",
    "thinking_only_closed",
    "thinking_field",
    "channel_in_name",
    "channel_text",
    "cut_context",
}
# Faults of a call that cannot be guessed: the model is told why, and does better.
NUDGED = {"unknown_name", "broken_json"}
CAUSES = {
    "only_thinking": "empty",
    "empty": "empty",
    "repetition": "repeat",
    "length": "length",
    "http_500": "server_error",
    "http_503": "server_error",
    "http_429": "rate_limited",
    "http_429_wait": "rate_limited",
    "no_tools": "no_tools",
    "model_missing": "model_missing",
    "unauthorized": "unauthorized",
    "html": "not_a_model_server",
    "stall_first": "timeout",
    "stall_stream": "timeout",
    "slow_drip": "timeout",
    "cut_stream": "cut_stream",
    "no_done": "cut_stream",
    "broken_line": "malformed",
    "error_in_stream": "server_error",
    "repeat_limit": "repeat",
}
# What only a reader of the answer can tell: prose instead of a call, another language, too much; and thinking that swallows.
PLAIN_TEXT = {"prose", "wrong_language", "huge"}
BY_TURN = {"thinking_unclosed", "outside_enum", "half_character"}
pytestmark = pytest.mark.parametrize("protocol", PROTOCOLS)


def test_every_fault_is_sorted(protocol):
    assert MENDED | NUDGED | set(CAUSES) | PLAIN_TEXT | BY_TURN == set(FAULTS)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("fault", sorted(MENDED - {"thinking_closed", "thinking_only_closed", "channel_text"}))
async def test_a_call_whose_meaning_is_plain_is_carried_out(protocol, fault, turn, stream):
    with LlmServer({"Planner": SCRIPT}) as server:
        server.fail(fault, turns={turn})
        factory = factory_for(protocol, settings_for(server))
        client = factory.client("Planner", max_iterations=6)
        assert await ask(client, stream=stream) == ANSWER
        results = [m["content"] for m in server.chats()[-1].messages if m["role"] == "tool"]
        await factory.close()
    assert client.strikes == 0
    assert 'web results for harbour "grey stone"' in results
    assert "academic results for age" in results


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("earlier", [0, 2])
@pytest.mark.parametrize("fault", ["thinking_closed", "thinking_only_closed", "thinking_field", "channel_text"])
async def test_thinking_never_reaches_the_text_or_the_next_request(protocol, fault, earlier, stream):
    log = Log()
    with LlmServer({"Planner": [ANSWER]}) as server:
        server.fail(fault, turns={earlier, earlier + 1})
        factory = factory_for(protocol, settings_for(server), log)
        client = factory.client("Planner", max_iterations=6)
        answers = [await ask(client, stream=stream, text=f"Question {n}?") for n in range(earlier + 2)]
        sent = str([seen.body for seen in server.chats()])
        await factory.close()
    assert answers == [ANSWER] * (earlier + 2)
    assert "I am thinking" not in sent
    assert "Let me see" not in sent
    # A short thought may already have been shown when its closing tag reveals it; then it was not reported as one.
    assert log.thoughts or (fault == "thinking_only_closed" and earlier)


async def test_thinking_without_an_end_is_no_answer(protocol):
    with LlmServer({"Planner": [Reply("<think>I wonder, and wonder")]}) as server:
        factory = factory_for(protocol, settings_for(server))
        error = await failure_of(factory.client("Planner", max_iterations=6))
        await factory.close()
    assert error.cause == "empty"
    assert error.partial == ""


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("turn", [0, 2])
@pytest.mark.parametrize("fault", sorted(CAUSES))
async def test_a_failure_is_one_error_with_its_cause_and_a_remedy(protocol, fault, turn, stream):
    log = Log()
    with LlmServer({"Planner": SCRIPT}) as server:
        server.fail(fault, turns=None if fault == "slow_drip" else {turn})
        factory = factory_for(protocol, settings_for(server, idle=0.3 if fault == "stall_stream" else 10), log)
        if fault in ("stall_first", "slow_drip"):
            log.give(0.6)
        error = await failure_of(factory.client("Planner", max_iterations=6), stream=stream)
        asked = len(server.chats())
        await factory.close()
    assert error.cause == CAUSES[fault]
    assert asked == (1 if fault == "slow_drip" else turn + 1), "a backend does not retry by itself: the dispatch does"
    assert error.message.endswith(".")
    assert error.remedy
    assert "\n" not in error.line()
    assert len(error.line()) < 400
    for jargon in ("<class", "Traceback", "Exception", "object at 0x", "httpx"):
        assert jargon not in error.line()


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("fault", sorted(NUDGED))
async def test_the_model_is_told_why_its_call_was_not_carried_out(protocol, fault, turn, stream):
    with LlmServer({"Planner": [SCRIPT[0], SCRIPT[0], ANSWER]}) as server:
        server.fail(fault, turns={turn})
        factory = factory_for(protocol, settings_for(server))
        client = factory.client("Planner", max_iterations=6)
        assert await ask(client, stream=stream) == ANSWER
        nudge = server.chats()[turn + 1].last
        await factory.close()
    assert client.strikes == 1
    reason = "there is no tool named" if fault == "unknown_name" else "cannot be read"
    assert reason in nudge
    assert "web_search, think" in nudge


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("fault", sorted(NUDGED))
async def test_three_strikes_end_the_dispatch(protocol, fault, stream):
    with LlmServer({"Planner": SCRIPT}) as server:
        server.fail(fault)
        factory = factory_for(protocol, settings_for(server))
        client = factory.client("Planner", max_iterations=40)
        error = await failure_of(client, stream=stream)
        asked = len(server.chats())
        await factory.close()
    assert isinstance(error, StrikesError)
    assert (error.cause, error.transient) == ("malformed", False)
    assert client.strikes == asked == 3


async def test_strikes_are_counted_across_good_turns(protocol):
    good = Reply(calls=(Call("think", {"thought": "x"}),))
    bad = Reply(calls=(Call("summon_dragon", {}),))
    with LlmServer({"Planner": [bad, good, bad, good, bad, ANSWER]}) as server:
        factory = factory_for(protocol, settings_for(server))
        error = await failure_of(factory.client("Planner", max_iterations=40))
        asked = len(server.chats())
        await factory.close()
    assert isinstance(error, StrikesError)
    assert asked == 5


async def test_a_bad_call_beside_a_good_one_costs_a_strike_and_is_explained(protocol):
    both = Reply(calls=(Call("think", {"thought": "x"}), Call("summon_dragon", {})))
    with LlmServer({"Planner": [both, ANSWER]}) as server:
        factory = factory_for(protocol, settings_for(server))
        client = factory.client("Planner", max_iterations=6)
        assert await ask(client) == ANSWER
        second = server.chats()[1]
        await factory.close()
    assert client.strikes == 1
    assert "summon_dragon" in second.last
    assert "Noted." in [m["content"] for m in second.messages if m["role"] == "tool"]


async def test_an_action_outside_its_enumeration_is_refused_with_the_list(protocol):
    with LlmServer({"Planner": [Reply(calls=(Call("choose_action", {"action": "search"}),)), ANSWER]}) as server:
        server.fail("outside_enum", turns={0})
        factory = factory_for(protocol, settings_for(server))
        client = factory.client("Planner", max_iterations=6)
        await ask(client, tools=[choose_action])
        nudge = server.chats()[1].last
        await factory.close()
    assert client.strikes == 1
    assert "must be one of search, stop" in nudge


async def test_an_action_near_its_enumeration_is_taken(protocol):
    with LlmServer({"Planner": [Reply(calls=(Call("choose_action", {"action": "Searching"}),)), ANSWER]}) as server:
        factory = factory_for(protocol, settings_for(server))
        assert await ask(factory.client("Planner", max_iterations=6), tools=[choose_action]) == ANSWER
        results = [m["content"] for m in server.chats()[-1].messages if m["role"] == "tool"]
        await factory.close()
    assert results == ["doing search"]


async def test_a_reply_of_a_megabyte_is_capped_used_and_said(protocol):
    log = Log()
    with LlmServer({"Planner": [ANSWER]}) as server:
        server.fail("huge")
        settings = settings_for(server)
        factory = factory_for(protocol, settings, log)
        text = await ask(factory.client("Planner", max_iterations=6))
        await factory.close()
    assert 60_000 < len(text) < 80_000
    assert text.startswith("Sentence number 0")
    assert len(log.notices) == 1
    assert "cut at" in log.notices[0]


@pytest.mark.parametrize("fault", ["cut_stream", "stall_stream", "no_done", "error_in_stream"])
async def test_what_was_said_before_the_failure_is_kept_but_is_no_answer(protocol, fault):
    with LlmServer({"Planner": ["The harbour is old, and so is the town around it. " * 3]}) as server:
        server.fail(fault)
        factory = factory_for(protocol, settings_for(server, idle=0.3 if fault == "stall_stream" else 10))
        error = await failure_of(factory.client("Planner", max_iterations=6))
        await factory.close()
    assert error.partial.startswith("The harbour is old")


async def test_the_wait_that_a_server_asks_for_is_known(protocol):
    with LlmServer({"Planner": [ANSWER]}) as server:
        server.fail("http_429_wait")
        factory = factory_for(protocol, settings_for(server))
        error = await failure_of(factory.client("Planner", max_iterations=6))
        await factory.close()
    assert error.retry_after == 7
    assert error.transient


async def test_a_dead_server_is_known_at_once(protocol):
    settings = settings_for(ollama_host="http://127.0.0.1:9", openai_base_url="http://127.0.0.1:9/v1")
    factory = factory_for(protocol, settings)
    error = await failure_of(factory.client("Planner", max_iterations=6))
    await factory.close()
    assert error.cause == "unreachable"
    assert "127.0.0.1:9" in error.message


@pytest.mark.parametrize("fault", ["stall_first", "stall_stream"])
async def test_stopping_a_stalled_call_is_immediate(protocol, fault):
    with LlmServer({"Planner": [ANSWER]}) as server:
        server.fail(fault)
        settings = settings_for(server)
        settings.settings.idle_seconds = 60
        factory = factory_for(protocol, settings)
        run = asyncio.create_task(ask(factory.client("Planner", max_iterations=6)))
        while not server.chats():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        await factory.close()


async def test_after_the_last_round_a_model_that_goes_on_calling_is_a_failure(protocol):
    endless = Reply(calls=(Call("think", {"thought": "again"}),))
    with LlmServer({"Planner": [endless]}) as server:
        factory = factory_for(protocol, settings_for(server))
        error = await failure_of(factory.client("Planner", max_iterations=2))
        asked = len(server.chats())
        await factory.close()
    assert error.cause == "empty"
    assert asked == 3


@pytest.mark.parametrize("fault", sorted(set(MODEL_FAULTS) - {"huge", "repetition"}))
async def test_no_fault_leaks_marks_of_the_machine_into_the_text(protocol, fault):
    with LlmServer({"Planner": [SCRIPT[0], ANSWER]}) as server:
        server.fail(fault)
        factory = factory_for(protocol, settings_for(server))
        try:
            text = await ask(factory.client("Planner", max_iterations=3), tools=[web_search, think])
        except BackendError as error:
            text = error.partial
        await factory.close()
    for mark in ("<think", "</think", "<|", "tool_call", "TOOL_CALLS", "<function", '"arguments"', "I am thinking"):
        assert mark not in text

"""The fake model server speaks both protocols, keeps a log by role and turn, and carries out every fault."""

import json

import httpx
import pytest

from tests.support.llm_replies import FAULTS, Reply, Seen, faulty
from tests.support.llm_server import Call, LlmServer, Model

SYSTEM = {"role": "system", "content": "Role: Searcher\nYou search."}


def chat(server: LlmServer, path: str = "/api/chat", *messages: dict, **extra) -> httpx.Response:
    body = {"model": "m", "messages": list(messages) or [{"role": "user", "content": "hi"}], **extra}
    return httpx.post(server.url + path, json=body, timeout=60)


def test_ollama_s_stream_ends_with_done_and_counts():
    with LlmServer([Reply("Hello there.", piece=4, thinking="Hm.", calls=(Call("t", {"a": 1}),))]) as server:
        lines = [json.loads(line) for line in chat(server).text.splitlines()]
    assert "".join(line["message"]["content"] for line in lines) == "Hello there."
    assert lines[0]["message"]["thinking"] == "Hm."
    assert lines[-2]["message"]["tool_calls"] == [{"function": {"name": "t", "arguments": {"a": 1}}}]
    assert (lines[-1]["done"], lines[-1]["done_reason"]) == (True, "stop")
    assert lines[-1]["prompt_eval_count"] > 0


def test_openai_s_stream_interleaves_calls_and_ends_with_done():
    calls = (Call("one", {"text": "a long argument"}), Call("two", {"text": "another long argument"}))
    with LlmServer([Reply("Hi", calls=calls)]) as server:
        text = chat(server, "/v1/chat/completions", stream=True, stream_options={"include_usage": True}).text
    assert text.endswith("data: [DONE]\n\n")
    chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
    deltas = [d for c in chunks for choice in c["choices"] for d in choice["delta"].get("tool_calls", [])]
    assert [delta["index"] for delta in deltas[:6]] == [0, 1, 0, 1, 0, 1]
    assert chunks[-1]["usage"]["total_tokens"] > 0
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"


def said(response: httpx.Response) -> str:
    return "".join(json.loads(line)["message"]["content"] for line in response.text.splitlines())


def test_rules_are_looked_up_by_the_role_in_the_system_prompt():
    with LlmServer({"Searcher": lambda seen: f"{seen.role} turn {seen.turn}: {seen.last}", "": ["someone else"]}) as server:
        user = {"role": "user", "content": "find"}
        assert said(chat(server, "/api/chat", SYSTEM, user)) == "Searcher turn 0: find"
        assert said(chat(server, "/api/chat", SYSTEM, user)) == "Searcher turn 1: find"
        assert said(chat(server)) == "someone else"
        assert [(seen.role, seen.turn) for seen in server.chats()] == [("Searcher", 0), ("Searcher", 1), ("", 0)]
        assert server.chats("Searcher")[0].system == SYSTEM["content"]


def test_a_script_goes_on_with_its_last_reply():
    with LlmServer(["one", "two"]) as server:
        assert [said(chat(server)) for _ in range(3)] == ["one", "two", "two"]


def test_faults_are_given_to_their_role_and_turns_only():
    with LlmServer() as server:
        server.fail("http_500", role="Searcher", turns={1})
        assert [chat(server, "/api/chat", SYSTEM).status_code for _ in range(3)] == [200, 500, 200]
        assert chat(server).status_code == 200


def test_an_unknown_fault_is_a_mistake_of_the_test():
    with LlmServer() as server, pytest.raises(ValueError, match="no such fault"):
        server.fail("http_418")


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_changes_something(fault):
    reply = Reply("Text.", calls=(Call("t", {"a": "b"}),))
    tools = [{"function": {"name": "t", "parameters": {"properties": {"a": {"enum": ["b"]}}}}}]
    assert faulty(reply, Seen("POST", "/api/chat", {}, {"tools": tools}), fault) != reply


def test_pages_about_models():
    with LlmServer(models=[Model("a", tools=False, context=99), Model("b")]) as server:
        assert [m["name"] for m in httpx.get(f"{server.url}/api/tags").json()["models"]] == ["a", "b"]
        shown = httpx.post(f"{server.url}/api/show", json={"model": "a"}).json()
        assert shown["capabilities"] == ["completion"]
        assert shown["model_info"]["llama.context_length"] == 99
        assert httpx.post(f"{server.url}/api/show", json={"model": "c"}).status_code == 404
        assert [m["id"] for m in httpx.get(f"{server.openai_url}/models").json()["data"]] == ["a", "b"]
        assert httpx.get(f"{server.url}/elsewhere").status_code == 404


def test_a_key_can_be_demanded_and_a_web_page_given():
    with LlmServer(key="k") as server:
        assert chat(server).status_code == 401
    with LlmServer(web_page=True) as server:
        assert chat(server).headers["content-type"] == "text/html"


def test_stopping_ends_stalled_connections():
    server = LlmServer().start()
    server.fail("stall_first")
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.url}/api/chat", json={"messages": []}, timeout=0.2)
    server.stop()
    with pytest.raises(httpx.ConnectError):
        chat(server)

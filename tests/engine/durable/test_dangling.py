"""A conversation that was cut within a tool call is one that every server takes: each call has its answer right behind it."""

from deepdelve.core import events as ev
from deepdelve.engine.agents import messages_from


def contents(messages):
    return [(str(m.role), c.type, getattr(c, "call_id", "") or "") for m in messages for c in m.contents]


def called(seq, call_id, tool="web_search"):
    return ev.ToolCalled(seq=seq, role="Searcher", call_id=call_id, tool=tool, args={"query": "q"})


def test_a_call_without_an_answer_gets_one_that_says_so():
    messages = messages_from([ev.Message(seq=1, role="User", text="Go."), called(2, "c1")])
    assert contents(messages) == [("user", "text", ""), ("assistant", "function_call", "c1"), ("tool", "function_result", "c1")]
    assert "interrupted" in str(messages[-1].contents[0].result)


def test_of_several_calls_the_answered_keep_their_answers():
    events = [called(1, "c1"), called(2, "c2"), ev.ToolReturned(seq=3, call_id="c2", tool="web_search", text="found")]
    results = {c.call_id: str(c.result) for m in messages_from(events) for c in m.contents if c.type == "function_result"}
    assert results["c2"] == "found"
    assert "interrupted" in results["c1"]


def test_an_answer_without_a_call_is_left_out():
    events = [ev.Message(seq=1, role="User", text="Go."), ev.ToolReturned(seq=2, call_id="lost", tool="think", text="Noted.")]
    assert contents(messages_from(events)) == [("user", "text", "")]


def test_a_refused_call_has_its_refusal_behind_it():
    refused = ev.ToolRefused(seq=1, role="Searcher", call_id="c1", tool="web_search", rule="quota", reason="used up")
    messages = messages_from([refused, ev.Message(seq=2, role="User", text="Go on.")])
    assert contents(messages)[:2] == [("assistant", "function_call", "c1"), ("tool", "function_result", "c1")]
    assert "used up" in str(messages[1].contents[0].result)


def test_turns_that_look_alike_are_all_kept():
    events = [ev.Message(seq=n, role="User", text="Go on.") for n in (1, 2, 3)]
    ids = [m.message_id for m in messages_from(events)]
    assert len(set(ids)) == 3

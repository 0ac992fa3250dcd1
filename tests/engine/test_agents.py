"""The one factory of agents, and the journal as their history."""

import ast
import json
from pathlib import Path

from deepdelve.core import events as ev
from deepdelve.engine.agents import messages_from

SRC = Path(__file__).resolve().parents[2] / "src"


def called(seq, call_id, tool="think", **args):
    return ev.ToolCalled(seq=seq, role="Planner", call_id=call_id, tool=tool, args=args)


def returned(seq, call_id, text):
    return ev.ToolReturned(seq=seq, call_id=call_id, tool="think", ok=True, text=text)


def shown(events):
    rows = []
    for message in messages_from(events):
        for content in message.contents:
            rows.append((str(message.role), content.text if content.type == "text" else content.result or content.arguments))
    return rows


def test_history_is_what_was_said_called_and_answered_in_order():
    events = [
        ev.Message(seq=1, role="User", text="Question"),
        called(2, "a", thought="hm"),
        returned(3, "a", "Noted."),
        ev.Message(seq=4, role="Planner", text="Done."),
    ]
    assert shown(events) == [("user", "Question"), ("assistant", json.dumps({"thought": "hm"})), ("tool", "Noted."), ("assistant", "Done.")]


def test_each_answer_stands_right_behind_its_call_also_where_calls_ran_side_by_side():
    events = [called(1, "a"), called(2, "b"), returned(3, "b", "second"), returned(4, "a", "first")]
    assert [text for role, text in shown(events) if role == "tool"] == ["first", "second"]


def test_a_call_that_was_never_answered_says_so():
    assert shown([called(1, "a")])[-1] == ("tool", "Error: interrupted before it answered.")


def test_a_refusal_is_an_answer():
    events = [ev.ToolRefused(seq=1, role="Searcher", call_id="a", tool="web_search", rule="quota", reason="Used up.")]
    assert shown(events)[-1] == ("tool", "Refused: Used up.")


def test_messages_that_look_the_same_have_ids_of_their_own():
    messages = messages_from([ev.Message(seq=n, role="User", text="Go on.") for n in (1, 2)])
    assert messages[0].message_id != messages[1].message_id


def test_agents_are_made_in_one_place_only():
    """A gate that another constructor call forgets is no gate."""
    made = []
    for path in sorted(SRC.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = ast.unparse(node.func).split("[")[0].rsplit(".", 1)[-1] if isinstance(node, ast.Call) else ""
            if name in {"Agent", "ChatAgent", "RawAgent", "as_agent", "create_agent"}:
                made.append(path.relative_to(SRC).as_posix())
    assert made == ["engine/agents.py"]

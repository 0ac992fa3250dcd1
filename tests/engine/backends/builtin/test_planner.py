"""The Planner: plan, delegate, end."""

import json

import pytest

from deepdelve.engine.backends.builtin.conversation import Call, Conversation
from deepdelve.engine.backends.builtin.planner import planner
from deepdelve.engine.delegation_rules import Asker, Limits, Request, judge
from tests.engine.backends.builtin.build import args_of, conversation, reading, refused

QUESTION = "Question: Which plant is larger, the Pterocarya or the Cotula?"
PLANNED = Call("write_plan", {"items": []}, '{"recorded": 2}')


def test_it_writes_the_plan_first() -> None:
    (call,) = planner(conversation(QUESTION)).calls
    assert call.tool == "write_plan"
    assert [item["facet"] for item in call.args["items"]] == ["Pterocarya", "Cotula"]


def test_what_a_resumed_run_is_told_is_no_part_of_the_question() -> None:
    told = f"{QUESTION}\n\nThis run was interrupted and goes on now. What was done stands; do not ask for it again."
    (call,) = planner(conversation(told)).calls
    assert [item["facet"] for item in call.args["items"]] == ["Pterocarya", "Cotula"]


def test_then_it_delegates_each_facet_with_instructions_that_stand_alone() -> None:
    (call,) = planner(conversation(QUESTION, calls=[PLANNED])).calls
    assert call.tool == "delegate_tasks"
    first, second = call.args["tasks"]
    assert first["task_name"] == "Pterocarya"
    assert "Which plant is larger, the Pterocarya?" in first["instructions"]
    assert "Cotula" not in first["instructions"]
    assert second["facet"] == "Cotula"


@pytest.mark.parametrize(
    "question", ["Is it Rhine, Elbe, Rhone or Danube?", "How do vaccines work? Who founded Oslo?", "Is Alder or Birch longer?"]
)
def test_its_tasks_pass_the_rules_of_delegation(question: str) -> None:
    (call,) = planner(conversation(f"Question: {question}", calls=[PLANNED])).calls
    requests = [Request(task["task_name"], task["instructions"], task["facet"]) for task in call.args["tasks"]]
    assert len(requests) > 1
    assert [judged.refusal for judged in judge(requests, Asker(), Limits())] == [None] * len(requests)


def test_then_it_ends_and_says_what_came_of_it() -> None:
    turn = planner(conversation(QUESTION, calls=[PLANNED, reading(["S1"], claims=3)]))
    assert turn.calls == ()
    assert "t: 3 claims" in turn.text
    led = planner(conversation(QUESTION, calls=[PLANNED, reading(["S1"], claims=1, leads=["the Birch"])]))
    assert led.text == "Research is done. t: 1 claim."


@pytest.mark.parametrize("nudge", ["Nothing was delegated.", "Task X has no evidence. Delegate again."])
def test_told_again_after_its_delegation_it_ends_again(nudge: str) -> None:
    asked = Conversation((QUESTION, nudge), (PLANNED, reading([], claims=0)), 2, frozenset({"delegate_tasks", "write_plan"}))
    assert planner(asked).text


def test_without_tools_or_after_a_refusal_it_ends_in_words() -> None:
    assert planner(conversation(QUESTION, tools=frozenset())).text == "Nothing could be researched."
    assert planner(conversation(QUESTION, calls=[PLANNED, refused("delegate_tasks")])).text


@pytest.mark.parametrize("question", ["", "?", "x", "Question: ", "東京の人口は?", "a\n\nb\n\nc"])
def test_any_question_gives_a_plan_that_is_json(question: str) -> None:
    turn = planner(conversation(question))
    assert args_of(turn.calls, "items")
    json.dumps(turn.calls[0].args)

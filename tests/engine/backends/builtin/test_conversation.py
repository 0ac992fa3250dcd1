"""What tools answered, taken apart."""

import pytest

from deepdelve.engine.backends.builtin.conversation import Call, json_object, objects, split_fence, texts
from tests.engine.backends.builtin.build import conversation, read, refused, search


def test_a_fenced_answer_is_head_and_inside() -> None:
    call = read("S1", "line one\nline two")
    assert call.head["name"] == "S1"
    assert call.fenced == "line one\nline two"
    assert call.ok


def test_a_fence_ends_at_its_own_mark_only() -> None:
    text = "head\n<<<untrusted aa11>>>\nreal\n<<<end ffff>>>\nstill inside\n<<<end aa11>>>\nafter"
    assert split_fence(text) == ("head", "real\n<<<end ffff>>>\nstill inside")


@pytest.mark.parametrize(("text", "expected"), [("", ("", "")), ("no fence", ("no fence", "")), ("<<<untrusted a>>>\nopen", ("", "open"))])
def test_text_without_a_whole_fence_does_not_break(text: str, expected: tuple[str, str]) -> None:
    assert split_fence(text) == expected


def test_refusals_and_errors_are_told_from_answers() -> None:
    assert refused("web_search").refused
    assert not refused("web_search").ok
    assert not Call("web_search", {}, "Error: The query is empty.").ok
    assert not Call("web_search", {}, "Error: The query is empty.").refused
    assert not Call("web_search").ok


def test_a_tool_that_was_refused_is_not_asked_again() -> None:
    asked = conversation("q", calls=[search("x"), refused("web_search")])
    assert not asked.may("web_search")
    assert asked.may("fetch_url_to_workspace")
    assert not conversation("q", tools=frozenset()).may("web_search")


def test_calls_are_counted_from_the_newest_message() -> None:
    asked = conversation("first", "second", calls=[search("a"), search("b"), search("c")], since=2)
    assert [call.text("query") for call in asked.recent] == ["c"]
    assert (asked.task, asked.latest) == ("first", "second")
    assert len(asked.tried("web_search")) == len(asked.done("web_search")) == 3


@pytest.mark.parametrize("text", ["", "nonsense", "[1]", '"x"', "null", "{" * 10_000])
def test_what_is_no_json_object_is_an_empty_one(text: str) -> None:
    assert json_object(text) == {}


def test_lists_are_read_leniently() -> None:
    assert objects([{"a": 1}, "x", None, {"b": 2}]) == [{"a": 1}, {"b": 2}]
    assert texts(["a", 1, None, "b"]) == ["a", "b"]
    assert objects("no list") == texts(None) == []

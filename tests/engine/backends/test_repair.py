"""A call is mended where its meaning is plain; else the model is told what is wrong in words that it can act on."""

from typing import Any, Literal

import pytest
from agent_framework import tool
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from deepdelve.engine.backends.repair import RepairedCall, ToolSpec, Unrepairable, clean_name, nearest_tool, repair_call

NAMES = [
    "write_plan",
    "delegate_tasks",
    "think",
    "web_search",
    "fetch_url_to_workspace",
    "read_workspace_file",
    "grep_workspace_file",
    "write_workspace_file",
    "edit_workspace_file",
    "extract_structured_data",
    "search_verified_findings",
]
ALL = [ToolSpec(name) for name in NAMES]


class TaskItem(BaseModel):
    task_name: str
    instructions: str
    facet: str = ""
    role: Literal["Searcher", "Analyzer"] = "Searcher"
    source_ids: list[str] | None = None


@tool
async def delegate_tasks(tasks: list[TaskItem]) -> str:
    """Delegate."""
    return str(tasks)


@tool
async def web_search(query: str, profile: Literal["web", "academic"] | None = None) -> str:
    """Search."""
    return query


@tool
async def read_workspace_file(name: str, start_line: int = 1, max_lines: int = 400, more: bool = False) -> str:
    """Read."""
    return name


@tool
async def choose(action: Literal["search", "stop"], score: float = 0.0) -> str:
    """Choose."""
    return action


TOOLS = [ToolSpec(item.name, item.parameters()) for item in (delegate_tasks, web_search, read_workspace_file, choose)]


def arguments(name: str, args: Any) -> dict[str, Any]:
    call = repair_call(name, args, TOOLS)
    assert isinstance(call, RepairedCall), call
    return call.arguments


def reason(name: str, args: Any) -> str:
    call = repair_call(name, args, TOOLS)
    assert isinstance(call, Unrepairable), call
    return call.reason


@pytest.mark.parametrize("name", NAMES)
def test_a_right_name_is_left_alone(name):
    assert nearest_tool(name, ALL) == ToolSpec(name)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("search", "web_search"),
        ("websearch", "web_search"),
        ("web-search", "web_search"),
        ("WebSearch", "web_search"),
        ("Web Search", "web_search"),
        ("search_web", "web_search"),
        ("web_serach", "web_search"),
        ("google", "web_search"),
        ("browser.search", "web_search"),
        ("functions.web_search", "web_search"),
        ("functions.web_search:0", "web_search"),
        ("default_api:web_search", "web_search"),
        ("web_search()", "web_search"),
        ("web_search<|channel|>commentary", "web_search"),
        ("<|constrain|>web_search", "web_search"),
        ("<|channel|>commentary to=functions.web_search", "web_search"),
        ("fetch", "fetch_url_to_workspace"),
        ("fetch_url", "fetch_url_to_workspace"),
        ("open_url", "fetch_url_to_workspace"),
        ("read_file", "read_workspace_file"),
        ("readFile", "read_workspace_file"),
        ("grep", "grep_workspace_file"),
        ("write_file", "write_workspace_file"),
        ("plan", "write_plan"),
        ("delegate_task", "delegate_tasks"),
        ("extract_data", "extract_structured_data"),
        ("delete_file", None),
        ("run_python", None),
        ("workspace_file", None),
        ("", None),
        ("<|channel|>", None),
        ("日本語", None),
    ],
)
def test_a_name_is_taken_for_the_one_tool_that_it_can_mean(written, meant):
    found = nearest_tool(written, ALL)
    assert (found.name if found else None) == meant


def test_a_name_is_sought_among_the_tools_of_the_role_only():
    assert nearest_tool("search", [ToolSpec("think")]) is None
    assert reason("summon_dragon", {}) == (
        'there is no tool named "summon_dragon"; the tools are: delegate_tasks, web_search, read_workspace_file, choose.'
    )


def test_a_name_is_shown_as_data_on_one_line():
    assert '"a b ' in reason("a\nb " + "x" * 500, {})
    assert len(reason("a\nb " + "x" * 500, {})) < 250


@pytest.mark.parametrize(
    "args",
    [
        {"query": "cats"},
        '{"query": "cats"}',
        "{'query': 'cats'}",
        '"{\\"query\\": \\"cats\\"}"',
        '{"query": "cats"',
        {"arguments": {"query": "cats"}},
        {"parameters": {"query": "cats"}},
        {"arguments": '{"query": "cats"}'},
        {"raw": '{"query": "cats",}'},
        {"name": "web_search", "arguments": {"query": "cats"}},
        {"web_search": {"query": "cats"}},
        {"input": "cats"},
        {"input": {"arguments": {"query": "cats"}}},
        [{"query": "cats"}],
        "cats",
        {"q": "cats"},
        {"search_query": "cats"},
        {"text": "cats"},
        {"query": ["cats"]},
        {"query": "cats", "num_results": 5},
    ],
)
def test_arguments_are_found_in_any_wrapping(args):
    assert arguments("web_search", args) == {"query": "cats"}


@pytest.mark.parametrize(
    ("args", "fitted"),
    [
        ({"name": "S3", "start_line": "5"}, {"name": "S3", "start_line": 5}),
        ({"name": "S3", "start_line": 5.0}, {"name": "S3", "start_line": 5}),
        ({"file_name": "S3", "start": 2}, {"name": "S3", "start_line": 2}),
        ({"name": "S3", "more": "yes"}, {"name": "S3", "more": True}),
        ({"name": 3}, {"name": "3"}),
        ({"name": "S3", "max_lines": None}, {"name": "S3"}),
    ],
)
def test_values_are_brought_to_their_types(args, fitted):
    assert arguments("read_workspace_file", args) == fitted


@pytest.mark.parametrize(
    "args",
    [
        {"tasks": [{"task_name": "Age", "instructions": "Find its age"}]},
        {"tasks": {"task_name": "Age", "instructions": "Find its age"}},
        {"tasks": '[{"task_name": "Age", "instructions": "Find its age"}]'},
        {"tasks": ['{"task_name": "Age", "instructions": "Find its age"}']},
        [{"task_name": "Age", "instructions": "Find its age"}],
        {"task_name": "Age", "instructions": "Find its age"},
    ],
)
def test_a_list_is_found_in_any_wrapping(args):
    assert arguments("delegate_tasks", args) == {"tasks": [{"task_name": "Age", "instructions": "Find its age"}]}


def test_missing_fields_of_list_items_are_filled_from_their_neighbours():
    long = "Find out when the harbour was built, and by whom, and of what kind of stone it was built"
    only_instructions = arguments("delegate_tasks", {"tasks": [{"instructions": long}]})["tasks"][0]
    assert only_instructions["instructions"] == long
    assert long.startswith(only_instructions["task_name"])
    assert len(only_instructions["task_name"]) <= 60
    only_name = arguments("delegate_tasks", {"tasks": [{"task_name": "Age"}]})["tasks"][0]
    assert only_name == {"task_name": "Age", "instructions": "Age"}
    plain = arguments("delegate_tasks", {"tasks": ["Find its age"]})["tasks"][0]
    assert plain == {"task_name": "Find its age", "instructions": "Find its age"}


def test_an_enumerated_value_is_taken_for_its_nearest_or_left_out_where_it_may_be():
    assert arguments("web_search", {"query": "x", "profile": "Academic "})["profile"] == "academic"
    assert arguments("web_search", {"query": "x", "profile": "newspapers"})["profile"] is None
    assert arguments("choose", {"action": "Searching"}) == {"action": "search"}
    assert "must be one of search, stop" in reason("choose", {"action": "conquer"})


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("web_search", {}, "the argument query is missing"),
        ("web_search", None, "the argument query is missing"),
        ("web_search", '{"query": "cut', "cannot be read: it is not valid JSON"),
        ("web_search", {"query": {"deep": 1}}, "query must be text"),
        ("web_search", 5, "not an object"),
        ("read_workspace_file", {"name": "S3", "start_line": "many"}, "start_line must be a number"),
        ("read_workspace_file", {"name": "S3", "start_line": "inf"}, "start_line must be a whole number"),
        ("read_workspace_file", {"name": "S3", "more": "perhaps"}, "more must be true or false"),
        ("delegate_tasks", {"tasks": 5}, "tasks must be a list"),
        ("delegate_tasks", {"tasks": [5]}, "tasks[0] must be an object"),
        ("delegate_tasks", {"tasks": [{"facet": ""}]}, "tasks[0].task_name is missing"),
        ("choose", {"action": "search", "score": []}, "score must be a number"),
    ],
)
def test_what_cannot_be_mended_is_named(name, args, said):
    assert said in reason(name, args)


def test_an_earlier_problem_is_not_forgotten_over_a_later_choice():
    assert "query must be text" in reason("web_search", {"query": {"a": 1}, "profile": "newspapers"})


def test_what_was_mended_is_told():
    call = repair_call("search", '{"q": "x"}', TOOLS)
    assert isinstance(call, RepairedCall)
    assert call.changes == ('name "search" taken as web_search', "arguments read from text", '"q" taken as query')
    right = repair_call("web_search", {"query": "x"}, TOOLS)
    assert isinstance(right, RepairedCall)
    assert right.changes == ()


ARGUMENTS = st.dictionaries(st.text(max_size=6), st.text(max_size=6) | st.lists(st.integers()), max_size=3)


@given(st.text(max_size=40), st.text(max_size=60) | ARGUMENTS)
def test_whatever_a_model_writes_is_a_call_that_fits_or_a_reason(name, args):
    call = repair_call(name, args, TOOLS)
    if isinstance(call, Unrepairable):
        assert call.reason.endswith(".")
        assert "\n" not in call.reason
    else:
        spec = next(item for item in TOOLS if item.name == call.name)
        assert set(spec.required) <= set(call.arguments) <= set(spec.properties)


@given(st.text(max_size=80))
def test_a_clean_name_is_an_identifier_or_nothing(name):
    cleaned = clean_name(name)
    assert cleaned == "" or cleaned.isascii()

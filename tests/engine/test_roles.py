"""The roles as data, and their prompts: rendered strictly, short, and naming no tool that the role lacks."""

import json
import re
from itertools import product

import pytest
from jinja2 import UndefinedError

from deepdelve.engine.agents import framework_tools
from deepdelve.engine.history_tool import history_tool
from deepdelve.engine.roles import ACTING_TOOLS, READING_TOOLS, ROLES, instructions, tools_of
from deepdelve.tools.intake import fetch_tool, findings_tool, search_tool
from deepdelve.tools.notes import think, write_plan
from deepdelve.tools.structured import extract_structured_data
from deepdelve.tools.workspace import workspace_tools

DATE, LANGUAGE = "Thursday, 01 January 2026", "Portuguese"
FIXED_CHARS = 6_000
PROFILES = {"Searcher": ("web", "academic"), "Analyzer": ("prose", "data")}
STYLES = ("standard", "academic", "answer")
CASES = [(role, profile, style) for role in ROLES for profile, style in product(PROFILES.get(role, ("",)), STYLES)]
EVERY_TOOL = {tool for spec in ROLES.values() for tool in spec.tools}


def prompt(role, profile="", style="standard"):
    return instructions(role, date=DATE, language=LANGUAGE, profile=profile, style=style)


@pytest.fixture(scope="module")
def schemas():
    """What a server is sent for each tool."""
    from deepdelve.engine.delegation import delegate_tool

    functions = {
        "write_plan": write_plan,
        "think": think,
        "delegate_tasks": delegate_tool(None, None, None),
        "web_search": search_tool(None, 10),
        "fetch_url_to_workspace": fetch_tool(None),
        "search_verified_findings": findings_tool(None),
        "search_history": history_tool(None),
        "extract_structured_data": extract_structured_data,
        **workspace_tools(1_000),
    }
    return {name: json.dumps(tool.to_json_schema_spec()) for name, tool in framework_tools(functions).items()}


@pytest.mark.parametrize(("role", "profile", "style"), CASES)
def test_each_prompt_renders_with_date_language_and_role(role, profile, style):
    text = prompt(role, profile, style)
    assert text.startswith(f"Role: {role}\n")
    assert DATE in text
    assert LANGUAGE in text
    assert "{{" not in text
    assert "{%" not in text


@pytest.mark.parametrize(("role", "profile", "style"), CASES)
def test_no_prompt_names_a_tool_that_its_role_lacks(role, profile, style):
    text = prompt(role, profile, style)
    named = {word for word in re.findall(r"[a-z]+(?:_[a-z]+)+", text) if word in EVERY_TOOL}
    assert named <= set(tools_of(role, profile))
    assert set(re.search(r"Your tools: (.*)\.", text)[1].split(", ")) == set(tools_of(role, profile))


@pytest.mark.parametrize(("role", "profile", "style"), CASES)
def test_no_prompt_names_a_role_that_it_may_not_delegate_to(role, profile, style):
    others = {name for name in ROLES if re.search(rf"\b{name}\b", prompt(role, profile, style))}
    assert others <= {role, ROLES[role].delegates_to}


@pytest.mark.parametrize(("role", "profile", "style"), CASES)
def test_the_fixed_text_of_a_role_leaves_room_in_a_small_context(role, profile, style, schemas):
    fixed = len(prompt(role, profile, style)) + sum(len(schemas[tool]) for tool in tools_of(role, profile))
    assert fixed <= FIXED_CHARS


# The Builder reads what the FindingsWriter wrote, so no outside text in a fence meets it.
OUTSIDE_TEXT = [role for role in ROLES if role != "Builder" and (READING_TOOLS & set(ROLES[role].tools) or role == "Searcher")]


@pytest.mark.parametrize("role", OUTSIDE_TEXT)
def test_roles_that_meet_outside_text_are_told_that_it_is_data(role):
    assert "untrusted" in prompt(role)
    assert re.search(r"[Nn]ever follow instructions", prompt(role))


def test_a_prompt_that_names_what_is_not_given_is_an_error(monkeypatch):
    from jinja2 import Environment, StrictUndefined

    from deepdelve.engine import roles

    broken = Environment(undefined=StrictUndefined).from_string("Role: {{ role }} {{ nothing }}")
    monkeypatch.setattr(roles, "_template", lambda role: broken)
    with pytest.raises(UndefinedError, match="nothing"):
        prompt("Planner")


def test_each_style_and_profile_changes_the_prompt_that_it_is_about():
    assert len({prompt("Builder", style=style) for style in STYLES}) == 3
    assert len({prompt("Searcher", profile) for profile in PROFILES["Searcher"]}) == 2
    assert len({prompt("Analyzer", profile) for profile in PROFILES["Analyzer"]}) == 2


def test_no_role_that_reads_raw_pages_holds_an_acting_tool():
    for role, spec in ROLES.items():
        if READING_TOOLS & set(spec.tools):
            assert not ACTING_TOOLS & set(spec.tools), role


def test_the_planner_cannot_write_search_fetch_or_read():
    assert set(ROLES["Planner"].tools) == {"write_plan", "delegate_tasks", "search_history", "think"}


def test_only_writers_write_and_only_they():
    writing = {role for role, spec in ROLES.items() if any(tool.startswith(("write_work", "edit_work")) for tool in spec.tools)}
    assert writing == {"FindingsWriter", "Builder"}


def test_delegation_goes_down_and_never_in_a_circle():
    for spec in ROLES.values():
        assert ("delegate_tasks" in spec.tools) == (spec.delegates_to is not None)
        seen, role = set(), spec.delegates_to
        while role is not None and role not in seen:
            seen.add(role)
            role = ROLES[role].delegates_to
        assert role is None


def test_the_table_tool_belongs_to_readers_of_data_alone():
    assert "extract_structured_data" in tools_of("Analyzer", "data")
    assert "extract_structured_data" not in tools_of("Analyzer", "prose")


def test_every_cap_is_of_a_tool_that_the_role_has():
    for spec in ROLES.values():
        assert set(spec.caps) <= set(spec.tools)
        assert all(limit > 0 for limit in spec.caps.values())
        assert spec.max_iterations > 1

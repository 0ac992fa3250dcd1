"""Tool calls that a model printed as text, read back into names and arguments; pure.

Read are: JSON objects and lists in any of the usual spellings, ``<function=…>``, ``<invoke …>`` and ``<arg_key>`` tags,
``name[ARGS]{…}``, special tokens around any of these, ``Action: … / Action Input: …``, and ``name(argument="…")``.
"""

import ast
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from deepdelve.engine.backends.fit import mapping
from deepdelve.engine.backends.lenient import first_value
from deepdelve.engine.backends.repair import ToolSpec, clean_name, nearest_tool

_NAMES = ("name", "tool_name", "tool", "function_name", "function", "action", "recipient_name")
_ARGUMENTS = ("arguments", "args", "parameters", "params", "tool_input", "action_input", "input", "kwargs")
_LISTS = ("tool_calls", "calls", "function_calls", "tools", "tool_uses")
_SPECIAL = re.compile(r"<[|｜][^<>|｜]{0,60}[|｜]>|\[/?(?:ARGS|CALL_ID|TOOL_CALLS?|TOOL_REQUEST|END_TOOL_REQUEST)\]")
_TAGS = re.compile(r"</?(?:minimax:)?(?:tool_calls?|toolcall|function_calls?|tools?)>|<\|tool_call>|<tool_call\|>")
_NOISE = frozenset(
    {
        "function",
        "functions",
        "json",
        "args",
        "arguments",
        "tool_call",
        "tool_calls",
        "call",
        "call_id",
        "type",
        "name",
        "tool",
        "commentary",
        "constrain",
        "to",
        "assistant",
    }
)
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.\-]*")
_PARAMETER = re.compile(r"<(?:parameter|param)(?:=|\s+name\s*=\s*)[\"']?([\w\-]{1,80})[\"']?\s*>")
_FUNCTION = re.compile(r"<(?:function|invoke)(?:=|\s+name\s*=\s*)[\"']?([\w.\-]{1,80})[\"']?\s*>")
_PARAMETER_END = ("</parameter>", "</param>", "</function>", "</invoke>", "<parameter", "<param ")
_MAX_CALLS = 32


@dataclass(frozen=True)
class TextCall:
    """A call as printed: ``args`` is a mapping, or text that should write one."""

    name: str
    args: object


def parse_calls(text: str, tools: Sequence[ToolSpec], *, sure: bool) -> list[TextCall]:
    """The calls that a piece of text holds, in order; empty where it holds none.

    Args:
        text: the piece, without the surrounding tag or fence if it had one.
        tools: the role's tools.
        sure: the surroundings say that this is a call (a tag, a token); else only what fits a tool counts.
    """
    quoted = text.replace('<|"|>', '"')
    bare = _TAGS.sub("\n", _SPECIAL.sub("\n", quoted)).strip()
    calls = _tagged(bare) or _action(bare) or _from_json(bare, tools, sure)
    if not calls and sure:
        calls = _python(bare)
    return calls[:_MAX_CALLS]


def python_call(text: str) -> list[TextCall]:
    """A call in the manner of Python, ``name(argument="…")``, or nothing."""
    return _python(text.strip())


def _from_json(text: str, tools: Sequence[ToolSpec], sure: bool) -> list[TextCall]:
    calls: list[TextCall] = []
    rest = text
    for _ in range(_MAX_CALLS):
        found = first_value(rest)
        if found is None:
            return calls
        value, start, end = found
        named = _read(value, tools, sure) or (_named_before(rest[:start], value, tools) if sure else [])
        if not named and not sure:
            return []
        calls += named
        rest = rest[end:]
    return calls


def _read(value: Any, tools: Sequence[ToolSpec], sure: bool, depth: int = 0) -> list[TextCall]:
    if depth > 3:
        return []
    if isinstance(value, list):
        inner = [_read(item, tools, sure, depth + 1) for item in cast("list[Any]", value)]
        return [call for calls in inner for call in calls] if all(inner) else []
    if not isinstance(value, dict):
        return []
    given = cast("dict[str, Any]", value)
    for key in _LISTS:
        if isinstance(given.get(key), list):
            return _read(given[key], tools, sure, depth + 1)
    if isinstance(given.get("function"), dict):
        return _read(given["function"], tools, sure, depth + 1)
    call = _named(given, tools, sure) or _keyed(given, tools)
    return [call] if call else []


def _named(given: Mapping[str, Any], tools: Sequence[ToolSpec], sure: bool) -> TextCall | None:
    """An object with the tool's name in one field and its arguments in another, or beside it."""
    key = next((name for name in _NAMES if isinstance(given.get(name), str) and given[name].strip()), None)
    if key is None:
        return None
    name = str(given[key])
    holder = next((field for field in _ARGUMENTS if isinstance(given.get(field), (dict, str, list))), None)
    args: Any = given[holder] if holder else {k: v for k, v in given.items() if k not in (key, "type", "id")}
    tool = nearest_tool(name, tools)
    if sure:
        return TextCall(name, args)
    if tool is None:
        return None
    beside = cast("dict[str, Any]", args)
    fits = holder is not None or (clean_name(name) == tool.name and beside.keys() <= set(tool.properties))
    return TextCall(name, args) if fits else None


def _keyed(given: Mapping[str, Any], tools: Sequence[ToolSpec]) -> TextCall | None:
    """An object whose one key is a tool's name and whose value is its arguments."""
    if len(given) != 1:
        return None
    (key, value), *_ = given.items()
    exact = any(clean_name(key) == tool.name for tool in tools)
    return TextCall(key, mapping(value)) if exact and isinstance(value, dict) else None


def _named_before(before: str, value: Any, tools: Sequence[ToolSpec]) -> list[TextCall]:
    """Arguments whose tool stands in the text before them."""
    words = [word for word in _IDENTIFIER.findall(before[-400:]) if word.lower() not in _NOISE]
    near = [word for word in words if nearest_tool(word, tools)]
    name = (near or words)[-1] if words else ""
    return [TextCall(name, cast("object", value))] if name and isinstance(value, (dict, list)) else []


def _tagged(text: str) -> list[TextCall]:
    """``<function=name>`` and ``<invoke name="…">`` with parameter tags or JSON, and ``<arg_key>`` lists."""
    if "<arg_key>" in text:
        return _key_value(text)
    starts = list(_FUNCTION.finditer(text))[:_MAX_CALLS]
    calls: list[TextCall] = []
    for at, start in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        body = text[start.end() : end]
        found = first_value(body)
        parameters = _parameters(body)
        args: object = parameters or (found[0] if found else _plain(body))
        calls.append(TextCall(start.group(1), args))
    return calls


def _plain(body: str) -> str:
    for tag in ("</function>", "</invoke>"):
        body = body.partition(tag)[0]
    return body.strip()


def _parameters(body: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for start in _PARAMETER.finditer(body):
        ends = [end for tag in _PARAMETER_END if (end := body.find(tag, start.end())) >= 0]
        values[start.group(1)] = body[start.end() : min(ends, default=len(body))].strip()
        if len(values) >= _MAX_CALLS:
            return values
    return values


def _key_value(text: str) -> list[TextCall]:
    head, _, _ = text.partition("<arg_key>")
    names = _IDENTIFIER.findall(head)
    values: dict[str, Any] = {}
    for piece in text.split("<arg_key>")[1 : _MAX_CALLS + 1]:
        key, _, rest = piece.partition("</arg_key>")
        value = rest.partition("<arg_value>")[2].partition("</arg_value>")[0]
        values[key.strip()] = value.strip()
    return [TextCall(names[-1], values)] if names else []


def _action(text: str) -> list[TextCall]:
    """``Action: name`` and ``Action Input: …`` on lines of their own."""
    if not text.startswith("Action:"):
        return []
    name, _, rest = text[len("Action:") :].partition("\n")
    _, mark, given = rest.partition("Action Input:")
    given = given.partition("\nObservation:")[0].strip()
    if not mark:
        return _python(name.strip())
    found = first_value(given) if given[:1] in ("{", "[") else None
    return [TextCall(name.strip(), found[0] if found else given)]


def _python(text: str) -> list[TextCall]:
    if len(text) > 20_000 or text.count("(") > 200 or text.count("[") > 200:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip("` \n"), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = tree.body.elts if isinstance(tree.body, (ast.List, ast.Tuple)) else [tree.body]
    return [call for node in nodes if (call := _call_node(node))]


def _call_node(node: ast.expr) -> TextCall | None:
    if not isinstance(node, ast.Call):
        return None
    name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
    try:
        named = {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg}
        plain = [ast.literal_eval(argument) for argument in node.args]
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None
    if not name or (plain and named) or len(plain) > 1:
        return None
    return TextCall(name, cast("object", plain[0]) if plain else named)

"""Tool calls as a model wrote them, made into calls that the role's tools can carry out; pure.

Only what is plain is mended: a name that can mean one tool, arguments that hold the right values in the wrong wrapping,
fields that have a harmless default. Anything else is ``Unrepairable`` with the reason, for the model to do better.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from deepdelve.engine.backends.fit import Fitter, fits, kind_of, mapping, shown
from deepdelve.engine.backends.lenient import load_object

NEAR = 0.75
_APART = 0.04
_WRAPPERS = ("arguments", "args", "parameters", "params", "input", "tool_input", "action_input", "kwargs", "raw", "json", "data")
_TOKEN = re.compile(r"<[|｜][^|｜>]{0,60}[|｜]?>?")
_NAME = re.compile(r"[A-Za-z0-9_]+")
# What other systems call the same thing.
_SAME = {"google": "search", "bing": "search", "lookup": "search", "browse": "fetch", "open": "fetch", "visit": "fetch", "scrape": "fetch"}


@dataclass(frozen=True)
class ToolSpec:
    """A tool on offer: its name and the JSON schema of its arguments."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def properties(self) -> Mapping[str, Any]:
        """Schema of each argument."""
        return mapping(self.schema.get("properties"))

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the arguments that must be given."""
        return tuple(self.schema.get("required") or ())


@dataclass(frozen=True)
class RepairedCall:
    """A call that fits its tool; ``changes`` names what was mended, empty for a call that was right."""

    name: str
    arguments: dict[str, Any]
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unrepairable:
    """Why a call cannot be carried out, in a sentence for the model."""

    reason: str


def repair_call(name: str, args: object, tools: Sequence[ToolSpec]) -> RepairedCall | Unrepairable:
    """The call that was meant.

    Args:
        name: the tool's name as written.
        args: its arguments: a mapping, or text that writes one.
        tools: the tools of the role.
    """
    changes: list[str] = []
    found = nearest_tool(name, tools)
    if found is None:
        known = ", ".join(tool.name for tool in tools) or "none"
        return Unrepairable(f"there is no tool named {shown(name)}; the tools are: {known}.")
    if found.name != name:
        changes.append(f"name {shown(name)} taken as {found.name}")
    try:
        given = _as_object(args, found, changes)
    except ValueError as error:
        return Unrepairable(f"the arguments of {found.name} cannot be read: {error}.")
    values = _renamed(given, found, changes)
    fitter = Fitter(found.schema, changes)
    fitted = fitter.object(values, found.schema, "", top=True)
    if fitter.problem:
        return Unrepairable(f"{found.name}: {fitter.problem}.")
    return RepairedCall(found.name, fitted, tuple(changes))


def nearest_tool(name: str, tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """The one tool that the name can mean, or None where none is near or two are equally near."""
    cleaned = clean_name(name)
    for tool in tools:
        if tool.name == cleaned:
            return tool
    ranked = sorted(((_likeness(cleaned, tool.name), tool) for tool in tools), key=lambda pair: -pair[0])
    if not ranked or ranked[0][0] < NEAR:
        return None
    if len(ranked) > 1 and ranked[0][0] - ranked[1][0] < _APART:
        return None
    return ranked[0][1]


def clean_name(name: str) -> str:
    """A tool name without channel tokens, prefixes such as ``functions.`` and call marks such as ``:0`` or ``()``."""
    bare = name.strip()
    at = _TOKEN.search(bare)
    while at and at.start() == 0:
        bare = bare[at.end() :].strip()
        at = _TOKEN.search(bare)
    bare = bare[: at.start()] if at else bare
    parts = [part for part in re.split(r"[.:/]", bare.replace("-", "_").replace(" ", "_")) if part.strip("_") and not part.isdigit()]
    words = _NAME.findall(parts[-1]) if parts else []
    return words[0] if words else ""


def _likeness(name: str, tool: str) -> float:
    """1 for the same words, down to 0; shared whole words count more than shared letters."""
    if not name:
        return 0.0
    mine, theirs = _words(name), _words(tool)
    letters = difflib.SequenceMatcher(None, name.lower(), tool.lower()).ratio()
    if mine and mine <= theirs:
        return max(letters, 0.75 + 0.25 * len(mine) / len(theirs))
    if theirs <= mine:
        return max(letters, 0.8)
    return letters


def _words(name: str) -> set[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    return {_SAME.get(word, word.rstrip("s")) for word in re.split(r"[_\W]+", spaced) if word}


def _as_object(args: object, tool: ToolSpec, changes: list[str]) -> dict[str, Any]:
    """The arguments as a mapping, out of text and out of wrappers around them."""
    value: object = args
    for _ in range(4):
        if value is None or value == "":
            return {}
        if isinstance(value, str):
            value = _from_text(value, tool, changes)
        if isinstance(value, list):
            value = _from_list(cast("list[Any]", value), tool)
            changes.append("arguments taken out of a list")
        if not isinstance(value, dict):
            raise ValueError("they are not an object")
        given = cast("dict[str, Any]", value)
        inner = _unwrapped(given, tool)
        if inner is None:
            return given
        changes.append("arguments taken out of a wrapper")
        value = inner
    raise ValueError("they are nested too deeply")


def _from_text(text: str, tool: ToolSpec, changes: list[str]) -> object:
    try:
        value = load_object(text)
    except ValueError:
        only = _only_text(tool)
        if not only or text.lstrip()[:1] in "{[":
            raise
        changes.append(f"text taken as {only}")
        return {only: text.strip()}
    changes.append("arguments read from text")
    return value


def _from_list(items: list[Any], tool: ToolSpec) -> object:
    """A list of arguments: one object, or the value of the tool's only list."""
    lists = [name for name, schema in tool.properties.items() if kind_of(schema) == "array"]
    if len(lists) == 1:
        return {lists[0]: items}
    if len(items) == 1:
        return items[0]
    raise ValueError("they are a list")


def _unwrapped(given: dict[str, Any], tool: ToolSpec) -> object | None:
    known = tool.properties
    for key in _WRAPPERS:
        if key in given and key not in known and isinstance(given[key], (dict, str, list)) and len(given) <= 3:
            others = [name for name in given if name != key and name in known]
            if not others:
                return given[key]
    fields = _item_fields(tool)
    if fields and len(given) > 1 and given.keys() <= fields:
        return [given]
    if len(given) == 1:
        (key, value), *_ = given.items()
        if (
            key not in known
            and isinstance(value, dict)
            and (clean_name(key) == tool.name or set(cast("dict[str, Any]", value)) & set(known))
        ):
            return cast("dict[str, Any]", value)
    return None


def _item_fields(tool: ToolSpec) -> set[str]:
    """Fields of the objects in the tool's one required list, for calls that give such an object bare."""
    if len(tool.required) != 1:
        return set()
    schema = tool.properties.get(tool.required[0])
    items = Fitter(tool.schema, []).resolved(mapping(mapping(schema).get("items")))
    return set(mapping(items.get("properties"))) - set(tool.properties)


def _renamed(given: dict[str, Any], tool: ToolSpec, changes: list[str]) -> dict[str, Any]:
    """The arguments under the names that the tool knows; what it does not know is left out."""
    known = tool.properties
    if not known:
        return given
    values = {key: value for key, value in given.items() if key in known}
    for key in [key for key in given if key not in known]:
        missing = [name for name in known if name not in values]
        meant = _meant(key, missing)
        required = [name for name in missing if name in tool.required]
        strays = [name for name in given if name not in known]
        if not meant and len(required) == 1 and len(strays) == 1 and fits(given[key], known[required[0]]):
            meant = required[0]
        if meant:
            values[meant] = given[key]
            changes.append(f"{shown(key)} taken as {meant}")
        else:
            changes.append(f"{shown(key)} left out")
    return values


def _meant(key: str, names: Sequence[str]) -> str:
    words = _words(key)
    for name in names:
        if words == _words(name):
            return name
    close = difflib.get_close_matches(key.lower(), list(names), n=1, cutoff=NEAR)
    if close:
        return close[0]
    part = [name for name in names if words & _words(name)]
    return part[0] if len(part) == 1 else ""


def _only_text(tool: ToolSpec) -> str:
    """The one argument that must be given, if it is text."""
    required = tool.required or tuple(tool.properties)[:1]
    return required[0] if len(required) == 1 and kind_of(tool.properties.get(required[0])) == "string" else ""

"""Values as a model wrote them, fitted to the JSON schema of a tool's arguments; pure."""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from deepdelve.engine.backends.lenient import loads

_TITLES = ("task_name", "name", "title", "id")
_MAX_TITLE = 60
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass
class Fitter:
    """Fits values to a schema; the first thing that cannot be fitted is ``problem``."""

    root: Mapping[str, Any]
    changes: list[str]
    problem: str = ""

    def object(self, given: dict[str, Any], schema: Mapping[str, Any], where: str, *, top: bool = False) -> dict[str, Any]:
        """The given fields, each fitted; missing ones filled where that is harmless. ``where`` is the path for messages."""
        properties = mapping(schema.get("properties"))
        required = set(cast("list[str]", schema.get("required") or []))
        fitted: dict[str, Any] = {}
        for key, value in given.items():
            path = f"{where}.{key}" if where else key
            if not properties:
                fitted[key] = value
            elif key in properties:
                fitted[key] = self._field(value, mapping(properties[key]), path, key in required)
        for name in schema.get("required") or ():
            if fitted.get(name) is None:
                self._fill(fitted, str(name), mapping(properties.get(name)), where, top)
        # An optional argument that is null means that it is not given.
        return {key: value for key, value in fitted.items() if value is not None or key in required or _allows_null(properties.get(key))}

    def _field(self, value: Any, schema: Mapping[str, Any], where: str, required: bool) -> Any:
        """A field's value; one outside an enumeration that need not be given is left out."""
        before = self.problem
        fitted = self.value(value, schema, where)
        if fitted is None and self.problem != before and not required and _choices(self.resolved(schema)) and "default" in schema:
            self.changes.append(f"{where} left out")
            self.problem = before
            return schema["default"]
        return fitted

    def value(self, value: Any, schema: Mapping[str, Any], where: str) -> Any:
        """One value, fitted; None (with ``problem`` set) where it cannot be."""
        schema = self.resolved(schema)
        kind = kind_of(schema)
        if value is None:
            return None
        if kind == "array":
            return self._array(value, schema, where)
        if kind == "object":
            if isinstance(value, str):
                value = self._parsed(value, where)
            return self.object(cast("dict[str, Any]", value), schema, where) if isinstance(value, dict) else self._wrong(where, "an object")
        if kind in ("integer", "number"):
            return self._number(value, kind, where)
        if kind == "boolean":
            return self._boolean(value, where)
        if kind == "string":
            return self._text(value, schema, where)
        return self._one_of(value, schema, where)

    def _array(self, value: Any, schema: Mapping[str, Any], where: str) -> list[Any]:
        items = self.resolved(mapping(schema.get("items")))
        if isinstance(value, str):
            value = self._parsed(value, where) if value.lstrip()[:1] in ("[", "{") else [value]
        if isinstance(value, dict):
            value = [cast("dict[str, Any]", value)]
            self.changes.append(f"{where} taken as a list of one")
        if not isinstance(value, list):
            return self._wrong(where, "a list")
        return [self.value(self._item(item, items), items, f"{where}[{at}]") for at, item in enumerate(cast("list[Any]", value))]

    def _item(self, item: Any, schema: Mapping[str, Any]) -> Any:
        """A list item; text where an object is meant becomes the object's main text."""
        if not isinstance(item, str) or kind_of(schema) != "object" or item.lstrip()[:1] == "{":
            return item
        properties = mapping(schema.get("properties"))
        main = next((name for name in ("instructions", "text", "query", *schema.get("required", ())) if name in properties), "")
        self.changes.append(f"text taken as {main}")
        return {main: item} if main else item

    def _number(self, value: Any, kind: str, where: str) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            return self._wrong(where, "a number")
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return self._wrong(where, "a number")
        if kind == "number":
            return number
        return int(number) if math.isfinite(number) and abs(number) < 1e15 else self._wrong(where, "a whole number")

    def _boolean(self, value: Any, where: str) -> Any:
        word = str(value).strip().lower()
        return _TRUTH[word] if word in _TRUTH else self._wrong(where, "true or false")

    def _text(self, value: Any, schema: Mapping[str, Any], where: str) -> Any:
        if isinstance(value, list):
            parts = cast("list[Any]", value)
            if len(parts) != 1 or not isinstance(parts[0], str):
                return self._wrong(where, "text")
            value = parts[0]
        if isinstance(value, dict):
            return self._wrong(where, "text")
        text = value if isinstance(value, str) else str(value)
        return self._one_of(text, schema, where)

    def _one_of(self, value: Any, schema: Mapping[str, Any], where: str) -> Any:
        allowed = _choices(schema)
        if not allowed or value in allowed:
            return value
        by_text = {str(item).lower(): item for item in allowed}
        close = difflib.get_close_matches(str(value).strip().lower(), list(by_text), n=1, cutoff=0.6)
        if close:
            self.changes.append(f"{where} {shown(str(value))} taken as {by_text[close[0]]}")
            return by_text[close[0]]
        self._note(f"{where} must be one of {', '.join(by_text)}, not {shown(str(value))}")
        return None

    def _fill(self, fitted: dict[str, Any], name: str, schema: Mapping[str, Any], where: str, top: bool) -> None:
        """A missing field: its default, else (inside lists) what its neighbours say, else a problem."""
        path = f"{where}.{name}" if where else name
        texts = [value for value in fitted.values() if isinstance(value, str) and value.strip()]
        if "default" in schema:
            fitted[name] = schema["default"]
        elif not top and kind_of(self.resolved(schema)) == "string" and texts:
            longest = max(texts, key=len)
            fitted[name] = longest if name == "instructions" else _title(longest) if name in _TITLES else ""
        else:
            self._note(f"the argument {path} is missing")
            return
        self.changes.append(f"{path} filled in")

    def _parsed(self, text: str, where: str) -> Any:
        try:
            value = loads(text)
        except ValueError as error:
            self._note(f"{where} cannot be read: {error}")
            return None
        self.changes.append(f"{where} read from text")
        return value

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema that a reference or a choice with null stands for."""
        for _ in range(8):
            reference = schema.get("$ref")
            options = [mapping(o) for o in schema.get("anyOf") or schema.get("oneOf") or ()]
            real = [option for option in options if option.get("type") != "null"]
            if isinstance(reference, str) and reference.startswith("#/"):
                node: Any = self.root
                for part in reference[2:].split("/"):
                    node = mapping(node).get(part)
                schema = mapping(node)
            elif len(real) == 1:
                schema = real[0]
            else:
                return schema
        return schema

    def _wrong(self, where: str, wanted: str) -> Any:
        self._note(f"{where} must be {wanted}")
        return None

    def _note(self, problem: str) -> None:
        self.problem = self.problem or problem


def kind_of(schema: Any) -> str:
    """The type that a schema asks for, null left aside, or an empty string."""
    kind = mapping(schema).get("type")
    if isinstance(kind, list):
        kinds = [item for item in cast("list[Any]", kind) if item != "null"]
        return str(kinds[0]) if len(kinds) == 1 else ""
    return str(kind or "")


def _choices(schema: Mapping[str, Any]) -> list[Any]:
    return cast("list[Any]", schema.get("enum") or ([schema["const"]] if "const" in schema else []))


def _allows_null(schema: Any) -> bool:
    options = mapping(schema)
    kinds: Any = options.get("type")
    return any(mapping(o).get("type") == "null" for o in options.get("anyOf") or ()) or (isinstance(kinds, list) and "null" in kinds)


def fits(value: Any, schema: Any) -> bool:
    """Whether a value is of the type that a schema asks for."""
    kind = kind_of(schema)
    kinds: dict[str, type | tuple[type, ...]] = {
        "string": str,
        "array": (list, dict),
        "object": dict,
        "integer": int,
        "number": (int, float),
        "boolean": bool,
    }
    return kind in kinds and isinstance(value, kinds[kind])


def _title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_TITLE else line[:_MAX_TITLE].rsplit(" ", 1)[0]


def shown(name: str) -> str:
    """Outside text within a sentence: one line, short, in quotes."""
    return '"' + " ".join(name.split())[:60] + '"'


def mapping(value: Any) -> Mapping[str, Any]:
    """The value, or an empty mapping where it is none."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}

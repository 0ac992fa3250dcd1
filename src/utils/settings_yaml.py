"""Reads a settings file into plain values and the line of every key.

The file is text from outside: whatever it holds, the cost is bounded, no tag makes an object, and no error shows a value, which
may be a key.
"""

from pathlib import Path
from typing import Any

from deepdelve.core.errors import ConfigError
from deepdelve.utils.files import read_bounded

MAX_BYTES = 100_000
# An alias counts each time it is used, so that a few lines of aliases cannot stand for billions of values.
MAX_NODES = 20_000
MAX_DEPTH = 20
_TAGS = "tag:yaml.org,2002:"
_FORM = "Mend that line; config_template.yaml shows the form."


def read_mapping(file: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """The file's mapping, and for each dotted key the place where it stands.

    Raises:
        ConfigError: it cannot be read, is not YAML, or holds what no settings file needs.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml: Any = YAML(typ="safe", pure=True)
    try:
        root = yaml.compose(_text(file))
    except RecursionError:
        raise ConfigError(f"{file}: the groups are nested too deeply.", "See config_template.yaml.") from None
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", "") or "not valid YAML"
        raise ConfigError(f"{file}{line}: {' '.join(str(problem).split())}.", _FORM) from None
    if root is None or (root.id == "scalar" and not root.value):
        return {}, {}
    if root.id != "mapping":
        raise ConfigError(
            f"{file}, line {root.start_mark.line + 1}: expected groups such as 'api:', found a {_kind(root)}.", "See config_template.yaml."
        )
    reader = _Reader(file, yaml.constructor)
    try:
        return reader.mapping(root, ""), reader.where
    except RecursionError:
        raise ConfigError(f"{file}: a group is part of itself.", "See config_template.yaml.") from None


class _Reader:
    """Turns nodes into plain values; ``where`` holds the place of each dotted key."""

    def __init__(self, file: Path, constructor: Any) -> None:
        self.where: dict[str, str] = {}
        self._file = file
        self._constructor = constructor
        self._nodes = 0

    def mapping(self, node: Any, prefix: str) -> dict[str, Any]:
        """A mapping as a dict; what it merges in with ``<<`` gives way to its own keys."""
        self._count(node, prefix)
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, value in node.value:
            if _tag(key) == "merge":
                for part in value.value if value.id == "sequence" else [value]:
                    merged = self._merged(part, prefix) | merged
                continue
            name = self._name(key)
            if name in own:
                raise self._fault(key, f"the key '{name}' is there twice", "Take one of them out.")
            # What a person wrote here is pointed at, not what an alias brought along.
            self.where[prefix + name] = self._place(key)
            own[name] = self._value(value, prefix + name)
        return merged | own

    def _merged(self, node: Any, prefix: str) -> dict[str, Any]:
        if node.id != "mapping":
            raise self._fault(node, "'<<' takes groups only")
        return self.mapping(node, prefix)

    def _value(self, node: Any, dotted: str) -> Any:
        self._count(node, dotted)
        if node.id == "mapping":
            # A group whose keys are all left out counts as left out itself.
            return self.mapping(node, dotted + ".")
        if node.id == "sequence":
            return [self._value(part, dotted) for part in node.value]
        if _tag(node) in {"str", "timestamp"}:
            return str(node.value)
        try:
            return self._constructor.construct_object(node)
        except (ValueError, OverflowError):
            raise self._fault(node, f"{dotted}: this is no {_kind(node)} that can be used") from None

    def _name(self, key: Any) -> str:
        if key.id != "scalar" or not key.value.isprintable() or not 0 < len(key.value) <= 200:
            raise self._fault(key, "a key must be a short word")
        return str(key.value)

    def _count(self, node: Any, dotted: str) -> None:
        self._nodes += 1
        if dotted.count(".") > MAX_DEPTH or self._nodes > MAX_NODES:
            raise self._fault(node, "the groups are nested too deeply, or aliases stand for too much")
        if _tag(node) not in {"map", "seq", "str", "int", "float", "bool", "null", "timestamp"}:
            raise self._fault(node, f"the tag of {dotted or 'the file'} is none that settings have", "Take the '!…' out.")

    def _place(self, node: Any) -> str:
        return f"{self._file}, line {node.start_mark.line + 1}"

    def _fault(self, node: Any, problem: str, remedy: str = _FORM) -> ConfigError:
        return ConfigError(f"{self._place(node)}: {problem}.", remedy)


def _text(file: Path) -> str:
    try:
        data = read_bounded(file, MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror or error}).", "Mend or remove the file.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{file}, line {line}: this is not UTF-8 text.", "Save the file as UTF-8, or remove it.") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{file} is larger than {MAX_BYTES:,} bytes, so it is no settings file.", "Give another file.")
    return text


def _tag(node: Any) -> str:
    return str(node.tag).removeprefix(_TAGS)


def _kind(node: Any) -> str:
    named = {"seq": "list", "str": "text", "int": "number", "float": "number", "timestamp": "date"}
    return named.get(_tag(node), "single value" if node.id == "scalar" else node.id)

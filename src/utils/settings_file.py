"""Settings from the user's file, then ``DEEPDELVE_*`` variables, then flags; and changing one without losing comments."""

import os
import re
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from deepdelve.config import Settings, config_path, known_keys, nearest
from deepdelve.core.errors import ConfigError
from deepdelve.utils.files import write_text_atomic
from deepdelve.utils.settings_yaml import read_mapping
from deepdelve.utils.words import one_line

ENV_PREFIX = "DEEPDELVE_"
# Variables that steer where things are, not settings.
_ENV_APART = frozenset({"DEEPDELVE_HOME", "DEEPDELVE_TEST_BASE_URL"})


def load(path: Path | None = None, env: Mapping[str, str] | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
    """The settings in force.

    Args:
        path: a settings file that must exist (``--config``); None takes the user's own, if there is one.
        env: the environment; None takes the process's own.
        flags: dotted key to value; None values are left out.

    Raises:
        ConfigError: names the file (or variable, or flag), the line, the key and the nearest key that exists.
    """
    given = [(dotted, value, f"flag for {dotted}") for dotted, value in (flags or {}).items() if value is not None]
    return _load(path, os.environ if env is None else env, given)


def set_value(dotted: str, value: Any, path: Path | None = None) -> Settings:
    """Change one key of the user's file, keeping comments and unknown parts, and return the settings in force.

    Raises:
        ConfigError: the key or the value is wrong; the file is left as it was.
    """
    from ruamel.yaml import YAML

    file = path or config_path()
    settings = _load(file if file.is_file() else None, os.environ, [(dotted, value, "the new value")])
    yaml: Any = YAML()
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    document: Any = yaml.load(text) or {}
    # A document of comments alone is parsed as nothing, comments included: they are kept as text.
    kept = "" if document or not _only_comments(text) else text.rstrip("\n") + "\n"
    node = document
    *parents, leaf = dotted.split(".")
    for name in parents:
        if not isinstance(node.get(name), dict):
            node[name] = {}
        node = node[name]
    node[leaf] = value
    out = StringIO()
    yaml.dump(document, out)
    write_text_atomic(file.resolve(), kept + out.getvalue(), mode=0o600)
    return settings


def _load(path: Path | None, env: Mapping[str, str], given: list[tuple[str, Any, str]]) -> Settings:
    """As ``load``; ``given`` holds (dotted key, value, origin) and counts most."""
    data: dict[str, Any] = {}
    where: dict[str, str] = {}
    file = path or config_path()
    if path is not None and not _is_file(path):
        raise ConfigError(f"There is no settings file at {one_line(str(path), 200)}.", "Give --config a file that exists, or leave it out.")
    if path is not None or os.path.lexists(file):
        data, where = read_mapping(file)
        # A group with nothing under it counts as left out.
        data = {name: value for name, value in data.items() if value is not None or name not in Settings.model_fields}
    for dotted, value, origin in [*_env_items(env), *given]:
        _put(data, dotted.split("."), value, origin)
        where[dotted] = origin
    try:
        return Settings.model_validate(_merged(Settings().model_dump(), data))
    except ValidationError as error:
        raise _config_error(error, where, str(file)) from None


def _merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """The second mapping laid over the first, so that a group may be given in part."""
    result = dict(under)
    for name, value in over.items():
        below = result.get(name)
        result[name] = _merged(cast("Any", below), cast("Any", value)) if isinstance(below, dict) and isinstance(value, dict) else value
    return result


def _only_comments(text: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") or line.strip() == "---" for line in text.splitlines())


def _env_items(env: Mapping[str, str]) -> list[tuple[str, Any, str]]:
    """``DEEPDELVE_API__BACKEND=ollama`` as (dotted key, value, origin)."""
    items: list[tuple[str, Any, str]] = []
    for name, value in sorted(env.items()):
        if name.startswith(ENV_PREFIX) and name not in _ENV_APART and value != "":
            dotted = name[len(ENV_PREFIX) :].lower().replace("__", ".")
            items.append((dotted, _typed(dotted, value), f"environment variable {name}"))
    return items


def _typed(dotted: str, text: str) -> Any:
    """Lists and mappings come from the environment as comma-separated text; everything else pydantic parses itself."""
    if dotted in {"search.corpus", "search.blocked_domains"}:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _put(data: dict[str, Any], path: list[str], value: Any, origin: str) -> None:
    node = data
    for depth, name in enumerate(path[:-1], start=1):
        child = node.setdefault(name, {})
        if not isinstance(child, dict):
            # Written over, the wrong value below would go unsaid.
            raise ConfigError(f"{origin}: '{'.'.join(path[:depth])}' has a value of its own already.", "Make it a group, or take it out.")
        node = cast("dict[str, Any]", child)
    node[path[-1]] = value


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _config_error(error: ValidationError, where: dict[str, str], file: str) -> Exception:
    """The first fault of a validation as one line with place, key and way out."""
    first = error.errors()[0]
    dotted = ".".join(str(part) for part in first["loc"] if not re.fullmatch(r"literal\[.*\]|\[key\]|float|int|bool|str", str(part)))
    place = _place(dotted, where, file)
    if first["type"] == "extra_forbidden":
        return _unknown_key(dotted, place)
    value = first["input"]
    # A key may stand where a group is expected, or beside its own; only a single value of another key is shown.
    leaf = dotted not in _GROUPS and "key" not in dotted.rsplit(".", 1)[-1] and not isinstance(value, (dict, list))
    shown = f" (found {_shown(value)})" if leaf else ""
    message = _EXPECTED.get(first["type"]) or first["msg"].removeprefix("Value error, ")
    return ConfigError(f"{place}: {dotted}: {message[0].lower()}{message[1:]}{shown}.", "config_template.yaml shows what each key takes.")


def _unknown_key(dotted: str, place: str) -> ConfigError:
    near = nearest(dotted, known_keys() if "." in dotted else [*known_keys(), *Settings.model_fields])
    hint = f"Did you mean '{near}'?" if near else "config_template.yaml lists every key."
    if near and near == dotted:
        group, _, leaf = dotted.rpartition(".")
        hint = f"Write '{group}:' on a line, and '{leaf}: …' indented below it."
    return ConfigError(f"{place}: unknown key '{dotted}'.", hint)


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value).lower() if isinstance(value, bool) else f"'{one_line(str(value), 60)}'"


_GROUPS = frozenset(key.rpartition(".")[0] for key in known_keys()) | frozenset(Settings.model_fields)
_EXPECTED = {
    "model_type": "expected a group of keys",
    "model_attributes_type": "expected a group of keys",
    "dict_type": "expected a group of keys",
    "list_type": "expected a list, such as [one, two]",
    "string_type": "expected text",
    "string_unicode": "expected text",
    "bool_type": "expected true or false",
    "bool_parsing": "expected true or false",
    "int_type": "expected a whole number",
    "int_parsing": "expected a whole number",
    "int_parsing_size": "expected a whole number of fewer digits",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "float_parsing": "expected a number",
    "finite_number": "expected a finite number",
}


def _place(dotted: str, where: Mapping[str, str], file: str) -> str:
    """Where a key stands: itself, else the nearest group around it, else the first key inside it."""
    around = dotted
    while around:
        if around in where:
            return where[around]
        around = around.rpartition(".")[0]
    return next((at for key, at in where.items() if key.startswith(dotted + ".")), file)

"""YAML frontmatter: written by a YAML library only and read back before it is believed; read without trust."""

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, cast

import yaml

from deepdelve.core.errors import StateError
from deepdelve.utils.fence import clean

MAX_CHARS = 65_536
_MARK = "---"


@dataclass(frozen=True)
class Document:
    """A Markdown file taken apart. ``error`` says why its frontmatter cannot be read; ``fields`` is then empty."""

    fields: dict[str, Any] = field(default_factory=dict[str, Any])
    body: str = ""
    error: str = ""


def dump(fields: Mapping[str, Any], body: str) -> str:
    """A Markdown file with frontmatter.

    Raises:
        StateError: the fields do not come back from YAML as they are.
    """
    plain = {key: _plain(value) for key, value in fields.items()}
    text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, default_flow_style=False, width=100_000)
    if yaml.safe_load(text) != plain or f"\n{_MARK}\n" in f"\n{text}":
        raise StateError("The frontmatter of a page cannot be written as YAML.", "Please report the topic that led to it.")
    return f"{_MARK}\n{text}{_MARK}\n\n{body.strip()}\n"


def parse(text: str) -> Document:
    """A file as fields and body. A file without frontmatter is all body."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.startswith(f"{_MARK}\n"):
        return Document(body=text)
    end = text.find(f"\n{_MARK}", len(_MARK))
    closed = end >= 0 and text[end + 1 + len(_MARK) : end + 2 + len(_MARK)] in {"\n", ""}
    if not closed:
        return Document(body=text, error="the frontmatter is not closed")
    block, body = text[len(_MARK) + 1 : end + 1], text[end + 2 + len(_MARK) :]
    if len(block) > MAX_CHARS:
        return Document(body=body, error="the frontmatter is too long")
    try:
        data: Any = yaml.load(block, Loader=_loader())
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return Document(body=body, error=str(error).splitlines()[0][:200])
    if data is None:
        return Document(body=body)
    if not isinstance(data, dict):
        return Document(body=body, error="the frontmatter is no mapping")
    return Document(cast("dict[str, Any]", data), body)


def text_list(value: object) -> list[str]:
    """A field that should be a list of texts, as one."""
    if isinstance(value, str):
        return [value]
    return [str(item) for item in cast("list[object]", value) if isinstance(item, str | int | float)] if isinstance(value, list) else []


@functools.cache
def _loader() -> Any:
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _plain(value: Any) -> Any:
    """A value of YAML's plain types, its texts without what no reader sees."""
    if isinstance(value, str):
        return " ".join(clean(value).split())
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in cast("list[Any]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | date | datetime):
        return value
    return str(value)

"""What engines answer, taken apart without trust: any part may be missing, of another type, or marked up."""

import html
import json
import re
from collections.abc import Sequence
from typing import Any, cast

from deepdelve.core.errors import SearchError
from deepdelve.core.records import Hit
from deepdelve.utils.fence import clean
from deepdelve.utils.urls import canonical, is_web

QUERY_CHARS = 400
_TITLE_CHARS = 300
_SNIPPET_CHARS = 1000
_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,500}>")
# Where engines put the words of an error.
_ERRORS = (("error", "code"), ("error", "message"), ("error",), ("message",), ("detail",), ("detail", "error"))
_DATE = re.compile(r"[12][0-9]{3}(?:-[0-9]{2}(?:-[0-9]{2})?)?")


def query_line(text: str) -> str:
    """A query as engines take it: one line of at most 400 characters."""
    return " ".join(clean(text).split())[:QUERY_CHARS].strip()


def parse_json(body: bytes, engine: str) -> object:
    """The body as JSON.

    Raises:
        SearchError: outcome ``unavailable``; the engine answered something else.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        message = f"{engine} answered something that is not JSON."
        raise SearchError(message, "Try again later, or use another engine.", outcome="unavailable") from error


def part(value: object, *path: str | int) -> object:
    """The part of nested objects and lists at a path, or None."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = cast(dict[str, Any], value).get(step)
        elif isinstance(value, list) and isinstance(step, int):
            items = cast(list[object], value)
            value = items[step] if -len(items) <= step < len(items) else None
        else:
            return None
    return value


def text(value: object, *path: str | int) -> str:
    """The text (or number) at a path, or an empty string."""
    found = part(value, *path)
    return str(found) if isinstance(found, str | int | float) and not isinstance(found, bool) else ""


def rows(value: object, *path: str | int) -> list[object]:
    """The list at a path, or an empty one."""
    found = part(value, *path)
    return cast(list[object], found) if isinstance(found, list) else []


def results(answer: object, engine: str, *path: str, optional: bool = False) -> list[object]:
    """The list of results in an engine's answer.

    Args:
        answer: the JSON that came.
        engine: its name.
        path: where the list stands.
        optional: the engine leaves the list out where it found nothing.

    Raises:
        SearchError: there is none: the engine told of an error under a status of success, or answered something else.
    """
    found = part(answer, *path)
    if isinstance(found, list):
        return cast(list[object], found)
    said = next((words for place in _ERRORS if (words := plain(text(answer, *place))[:200])), "")
    if optional and found is None and not said and mapping(answer):
        return []
    slow = "ratelimit" in re.sub(r"[\s_-]", "", said.lower())
    message = f"{engine} told of an error ({said})." if said else f"{engine} answered JSON of another shape."
    raise SearchError(message, "Try again later, or use another engine.", outcome="rate_limited" if slow else "unavailable")


def mapping(value: object, *path: str | int) -> dict[str, object]:
    """The object at a path, or an empty one."""
    found = part(value, *path)
    return cast(dict[str, object], found) if isinstance(found, dict) else {}


def plain(markup: str) -> str:
    """Text of a title or snippet that may hold tags and entities."""
    return " ".join(clean(html.unescape(_TAG.sub("", markup[:20_000]))).split())


def hit(url: str, title: str, snippet: str, *, engine: str, date: str = "") -> Hit | None:
    """A hit without rank, or None where the address is not one of the web. ``date`` is kept where it begins as ISO 8601."""
    if not is_web(url):
        return None
    day = _DATE.match(date)
    return Hit(
        url=canonical(url),
        title=plain(title)[:_TITLE_CHARS],
        snippet=plain(snippet)[:_SNIPPET_CHARS],
        engine=engine,
        date=day[0] if day else "",
    )


def ranked(hits: Sequence[Hit | None], limit: int) -> tuple[Hit, ...]:
    """The first ``limit`` hits, each address once, ranked from 1."""
    first: dict[str, Hit] = {}
    for found in hits:
        if found is not None:
            first.setdefault(found.url, found)
    return tuple(found.model_copy(update={"rank": rank}) for rank, found in enumerate(list(first.values())[:limit], 1))

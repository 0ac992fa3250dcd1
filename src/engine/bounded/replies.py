"""What a model's reply says, whatever it is wrapped in: thinking, code fences, list marks, bold, JSON."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from deepdelve.engine.bounded.records import Sufficiency
from deepdelve.tools.searxng import clean_query
from deepdelve.utils.text import squash, telling_words, terms

QUERY_CHARS = 400
MAX_GAPS = 8
_GAP_CHARS = 240
_OPEN = re.compile(r"<(?:think|thinking|reasoning)>", re.I)
_CLOSE = re.compile(r"</(?:think|thinking|reasoning)>", re.I)
_FENCE_LINE = re.compile(r"(?m)^[ \t]{0,3}(?:```|~~~)[^\n]*\n?")
_MARK = re.compile(r"^\s{0,8}(?:[-*+•>]+\s+|\(?\d{1,3}[.):]\s+|#{1,6}\s+|(?:query|search)\s{0,2}\d{0,2}\s{0,2}:\s*)", re.I)
_EMPHASIS = re.compile(r"\*\*|__|`")
_VERDICT = re.compile(r"\W*(?:verdict\W{1,4})?(in)?sufficient\b", re.I)


def cleaned(reply: str) -> str:
    """A reply without thinking, closed or not, and without the fences around it."""
    return _FENCE_LINE.sub("", without_thinking(reply)).strip()


def without_thinking(reply: str) -> str:
    """A reply without thinking. An end without a beginning ends thinking that the server began; a beginning without an end runs on."""
    kept: list[str] = []
    rest = reply
    first = _CLOSE.search(rest)
    opening = _OPEN.search(rest)
    if first and (opening is None or first.start() < opening.start()):
        rest = rest[first.end() :]
    for _ in range(len(reply)):
        opening = _OPEN.search(rest)
        if opening is None:
            kept.append(rest)
            break
        kept.append(rest[: opening.start()])
        closing = _CLOSE.search(rest, opening.end())
        if closing is None:
            break
        rest = rest[closing.end() :]
    return "".join(kept).strip()


def parse_queries(reply: str, used: Iterable[str], most: int) -> list[str]:
    """The queries of a reply, cleaned of what SearXNG would take for its own syntax, without those that were used; at most ``most``."""
    known = {_key(query) for query in used}
    found: list[str] = []
    for line in _listed(cleaned(reply)):
        query = clean_query(_EMPHASIS.sub("", _MARK.sub("", line)).strip().strip("\"'“”«»").strip())[:QUERY_CHARS]
        if len(found) < most and terms(query) and _key(query) not in known and not query.endswith(":"):
            known.add(_key(query))
            found.append(query)
    return found


def topped_up(queries: Sequence[str], topic: str, used: Iterable[str], least: int) -> list[str]:
    """The queries, with the topic itself and its words added until there are enough; used ones only where nothing else is left."""
    found = list(queries)
    known = {_key(query) for query in (*used, *found)}
    words = " ".join(telling_words(topic))
    spare = [clean_query(topic), words, f"{words} overview", f"{words} facts", f"{words} details"]
    for query in spare:
        if len(found) < least and query and _key(query) not in known:
            known.add(_key(query))
            found.append(query)
    for query in spare:
        if len(found) < least and query and query not in found:
            found.append(query)
    return found


def parse_verdict(reply: str) -> Sufficiency:
    """The verdict of a reply: its first line, or a JSON object; what cannot be read is insufficient."""
    text = cleaned(reply)
    data = _json_object(text)
    if data is not None:
        raw: Any = data.get("gaps")
        gaps = [str(gap) for gap in cast("list[Any]", raw)] if isinstance(raw, list) else []
        return Sufficiency(data.get("sufficient") is True, _gaps(gaps))
    lines = [line for line in text.splitlines() if line.strip()]
    verdict = _VERDICT.match(_EMPHASIS.sub("", _MARK.sub("", lines[0]))) if lines else None
    if verdict is None:
        return Sufficiency(False, _gaps(lines))
    return Sufficiency(verdict[1] is None, () if verdict[1] is None else _gaps(lines[1:]))


def _gaps(lines: Iterable[str]) -> tuple[str, ...]:
    found = (squash(_EMPHASIS.sub("", _MARK.sub("", line)))[:_GAP_CHARS] for line in lines)
    return tuple(line for line in found if any(char.isalnum() for char in line))[:MAX_GAPS]


def _json_object(text: str) -> dict[str, Any] | None:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start or text[:start].strip():
        return None
    try:
        data = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", data) if isinstance(data, dict) and "sufficient" in data else None


def _listed(text: str) -> list[str]:
    """The lines of a text, or the items of a JSON list."""
    if text.startswith(("[", "{")):
        try:
            data: Any = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict):
            data = cast("dict[str, Any]", data).get("queries")
        if isinstance(data, list):
            return [item for item in cast("list[Any]", data) if isinstance(item, str)]
    return text.splitlines()


def _key(query: str) -> str:
    return " ".join(sorted(set(terms(query)))) or query.casefold()

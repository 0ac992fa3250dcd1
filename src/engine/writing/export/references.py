"""The cited sources as BibTeX, RIS and CSL-JSON, in the order of the report's numbers."""

import json
import re
from collections.abc import Sequence
from typing import Any

from deepdelve.core.records import Source
from deepdelve.engine.writing.export.document import clean, web_address
from deepdelve.utils.grounding import render
from deepdelve.utils.text import squash

_DATE = re.compile(r"\b((?:1[5-9]|20)\d\d)(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?")
_AUTHORS = re.compile(r"\s*;\s*|\s+and\s+|\s+&\s+")


def tidy(source: Source) -> Source:
    """The record with its texts on one line each, and nothing in them that could end a field."""
    names = ("title", "author", "date", "url", "final_url", "fetched_at")
    return source.model_copy(update={name: squash(clean(getattr(source, name))) for name in names})


def bibtex(sources: Sequence[Source]) -> str:
    """The sources as BibTeX entries."""
    known = {source.id: tidy(source) for source in sources}
    return render.bibtex(known, list(known))


def ris(sources: Sequence[Source]) -> str:
    """The sources as RIS records; each field is one line."""
    lines: list[str] = []
    for source in map(tidy, sources):
        date, read = _date(source.date), _date(source.fetched_at)
        fields = [
            ("TY", "ELEC" if web_address(source.url) else "GEN"),
            ("ID", source.id),
            ("TI", source.title),
            *[("AU", author) for author in _authors(source)],
            ("PY", f"{date[0]}" if date else ""),
            ("DA", _slashed(date)),
            ("UR" if web_address(source.url) else "N1", source.url),
            ("Y2", _slashed(read)),
        ]
        lines += [f"{tag}  - {value}" for tag, value in fields if value]
        lines += ["ER  - ", ""]
    return "\r\n".join(lines)


def csl_json(sources: Sequence[Source]) -> str:
    """The sources as a list of CSL-JSON items."""
    items: list[dict[str, Any]] = []
    for source in map(tidy, sources):
        date, read = _date(source.date), _date(source.fetched_at)
        item: dict[str, Any] = {"id": source.id, "type": "webpage" if web_address(source.url) else "document", "title": source.title}
        if authors := _authors(source):
            item["author"] = [_name(author) for author in authors]
        if date:
            item["issued"] = {"date-parts": [date]}
        if read:
            item["accessed"] = {"date-parts": [read]}
        if source.url:
            item["URL" if web_address(source.url) else "note"] = source.url
        items.append(item)
    return json.dumps(items, ensure_ascii=False, indent=2) + "\n"


def _authors(source: Source) -> list[str]:
    return [author for author in _AUTHORS.split(source.author) if author]


def _name(author: str) -> dict[str, str]:
    """``Family, Given`` is taken apart; any other name is kept whole, because which part is the family's is not known."""
    family, comma, given = author.partition(", ")
    return {"family": family, "given": given} if comma and given else {"literal": author}


def _date(text: str) -> list[int]:
    found = _DATE.search(text)
    return [int(part) for part in found.groups() if part] if found is not None else []


def _slashed(date: Sequence[int]) -> str:
    """A date as RIS writes it: year, month and day, each followed by a slash."""
    if not date:
        return ""
    parts = [f"{date[0]}", *(f"{part:02}" for part in date[1:])]
    return "/".join([*parts, *[""] * (3 - len(parts))]) + "/"

"""Formats that are text already: plain text, Markdown, CSV, JSON, notebooks, XML and RTF."""

import csv
import io
import json
import re
from typing import Any, cast

from deepdelve.tools.web.documents.charset import decode
from deepdelve.tools.web.documents.extracted import LINK_LIMIT, TEXT_LIMIT, Extracted, no_text, unreadable
from deepdelve.tools.web.documents.markdown import code_block, pipe_table
from deepdelve.tools.web.documents.sniff import Family

_ROW_LIMIT = 20_000
_JSON_LIMIT = 8_000_000
_FIELD_LIMIT = 1_000_000
_LINK = re.compile(r"https?://[^\s<>()\[\]{}\"'`|\\^]{3,500}")
_MARKDOWN_TITLE = re.compile(r"(?m)^# +(\S.*)$")


def read_plain(data: bytes, kind: Family, *, url: str = "", charset: str = "") -> Extracted:
    """Read a document whose bytes are text; ``kind`` is the family found by ``sniff``.

    Raises:
        FetchError: ``unreadable`` or ``no_text``.
    """
    if kind == "rtf":
        from deepdelve.tools.web.documents.rtf import read_rtf

        return read_rtf(data)
    if kind == "xml":
        from deepdelve.tools.web.documents.xml_text import read_xml

        return read_xml(data, url=url)
    text = decode(data, charset)
    if kind == "csv":
        return _csv(text)
    if kind == "json":
        return _json(text)
    if not text.strip():
        raise no_text("The file holds nothing but white space.")
    title = match[1].strip() if (match := _MARKDOWN_TITLE.search(text)) and kind == "markdown" else ""
    return Extracted(text, title=title, kind="markdown" if kind == "markdown" else "text", links=links_in(text))


def links_in(text: str) -> tuple[str, ...]:
    """Addresses written out in a text, each once, without the punctuation that follows them."""
    return tuple(dict.fromkeys(match[0].rstrip(".,;:!?") for match in _LINK.finditer(text[:TEXT_LIMIT])))[:LINK_LIMIT]


def _csv(text: str) -> Extracted:
    delimiter = _delimiter([line for line in text[:20_000].splitlines()[:20] if line.strip()])
    csv.field_size_limit(_FIELD_LIMIT)
    rows: list[list[str]] = []
    reason = ""
    try:
        for row in csv.reader(io.StringIO(text.replace("\x00", "")), delimiter=delimiter):
            if len(rows) >= _ROW_LIMIT:
                reason = f"Only the first {_ROW_LIMIT:,} rows were read."
                break
            rows.append(row)
    except csv.Error as error:
        raise unreadable(f"The table cannot be split into rows: {error}.") from error
    table = pipe_table(rows)
    if not table:
        raise no_text("The table has no filled cell.")
    return Extracted(table, kind="csv", reason=reason, links=links_in(table))


def _delimiter(lines: list[str]) -> str:
    """The mark that every line has most of, or, where fields run over lines, the most frequent one."""
    return max("\t;,|", key=lambda mark: (min((line.count(mark) for line in lines), default=0), sum(line.count(mark) for line in lines)))


def _json(text: str) -> Extracted:
    if len(text) > _JSON_LIMIT:
        reason = f"Only the first {TEXT_LIMIT:,} characters were read."
        return Extracted(code_block(text[:TEXT_LIMIT], "json"), kind="json", reason=reason)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Extracted(code_block(text, "json"), kind="json", links=links_in(text))
    if isinstance(value, dict):
        document = cast(dict[str, Any], value)
        if isinstance(document.get("cells"), list) and ("nbformat" in document or "metadata" in document):
            return _notebook(document)
    return Extracted(code_block(_pretty(value, text), "json"), kind="json", links=links_in(text))


def _pretty(value: Any, text: str) -> str:
    """One value per line, so that passages can be cited by line; text that is laid out already is kept."""
    if text.count("\n") > 5 and max(map(len, text.splitlines())) < 400:
        return text
    return json.dumps(value, ensure_ascii=False, indent=1)


def _notebook(document: dict[str, Any]) -> Extracted:
    metadata = cast(dict[str, Any], document.get("metadata") or {})
    language = str(_at(metadata, "kernelspec", "language") or _at(metadata, "language_info", "name") or "")
    blocks: list[str] = []
    for cell in cast(list[Any], document["cells"]):
        if not isinstance(cell, dict):
            continue
        fields = cast(dict[str, Any], cell)
        source = _joined(fields.get("source"))
        if fields.get("cell_type") == "code":
            blocks.append(code_block(source, language))
            blocks += [code_block(output) for output in _outputs(fields)]
        else:
            blocks.append(source)
    text = "\n\n".join(block for block in blocks if block.strip())
    if not text:
        raise no_text("The notebook has no filled cell.")
    stated = metadata.get("title")
    heading = _MARKDOWN_TITLE.search(text)
    title = stated if isinstance(stated, str) else heading[1].strip() if heading else ""
    authors = ", ".join(str(_at(author, "name") or author) for author in _list(metadata.get("authors")))
    return Extracted(text, title=title, author=authors, kind="notebook", links=links_in(text))


def _outputs(cell: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for output in _list(cell.get("outputs")):
        text = _joined(_at(output, "text")) or _joined(_at(output, "data", "text/markdown")) or _joined(_at(output, "data", "text/plain"))
        if not text and _at(output, "output_type") == "error":
            text = f"{_at(output, 'ename')}: {_at(output, 'evalue')}"
        found.append(text)
    return found


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "".join(str(part) for part in cast(list[Any], value))
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = cast(dict[str, Any], value).get(key) if isinstance(value, dict) else None
    return value

"""Tables of a source as data, so that a model reads figures by row and column and not out of running text."""

import json
from itertools import accumulate
from typing import Annotated

from deepdelve.core.errors import ToolError
from deepdelve.core.scope import current_scope
from deepdelve.tools.workspace import read_text
from deepdelve.utils.fence import fence

MAX_TABLES = 12
MAX_ROWS = 200
MAX_COLUMNS = 60
MAX_CHARS = 12_000
MAX_CELL_CHARS = 400


async def extract_structured_data(name: Annotated[str, "a source id such as S3"]) -> str:
    """The tables of a source, each with its header and rows."""
    tables = tables_in(read_text(name))
    if not tables:
        raise ToolError(f"{name} holds no table. Read it with read_workspace_file.")
    return fence(json.dumps({"tables": tables}, ensure_ascii=False), current_scope().run.nonce)


def tables_in(text: str) -> list[dict[str, object]]:
    """Markdown pipe tables as ``{"title", "line", "header": [...], "rows": [[...]], "more": rows left out}``."""
    tables: list[dict[str, object]] = []
    lines = text.split("\n")
    heading, used, at = "", 0, 0
    for _ in range(len(lines)):
        if at >= len(lines) or len(tables) >= MAX_TABLES or used >= MAX_CHARS:
            break
        line = lines[at].strip()
        if line.startswith("#"):
            heading = line.strip("# ")
        if _is_row(line) and at + 1 < len(lines) and _is_rule(lines[at + 1]):
            body, header = _rows_from(lines, at + 2), _cells(line)[:MAX_COLUMNS]
            kept = _within([_cells(row)[:MAX_COLUMNS] for row in body[:MAX_ROWS]], MAX_CHARS - used)
            used += _size(header) + sum(_size(row) for row in kept)
            tables.append(
                {"title": heading[:MAX_CELL_CHARS], "line": at + 1, "header": header, "rows": kept, "more": len(body) - len(kept)}
            )
            at += 2 + len(body)
        else:
            at += 1
    return tables


def _rows_from(lines: list[str], start: int) -> list[str]:
    stop = next((i for i in range(start, len(lines)) if not _is_row(lines[i].strip())), len(lines))
    return lines[start:stop]


def _within(rows: list[list[str]], budget: int) -> list[list[str]]:
    """As many whole rows as fit, from the first on."""
    sizes = accumulate(_size(row) for row in rows)
    return [row for row, size in zip(rows, sizes, strict=True) if size <= budget]


def _size(row: list[str]) -> int:
    """Characters of a row as JSON, nearly."""
    return sum(len(cell) + 4 for cell in row)


def _is_row(line: str) -> bool:
    return line.startswith("|") and line.count("|") >= 2


def _is_rule(line: str) -> bool:
    bare = line.strip()
    return _is_row(bare) and "-" in bare and set(bare) <= set("|-: \t")


def _cells(line: str) -> list[str]:
    parted = line.strip().replace("\\|", "\x00").removeprefix("|").removesuffix("|").split("|")
    return [cell.strip().replace("\x00", "|")[:MAX_CELL_CHARS] for cell in parted]

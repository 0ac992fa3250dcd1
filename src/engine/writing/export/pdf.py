"""A report as PDF, laid out by Typst: letters of all scripts are shaped, from either side, with the fonts that the machine has.

The text goes to the typesetter as JSON data, never as source, so that nothing in it can be markup.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from deepdelve.config import home
from deepdelve.core.errors import UsageError
from deepdelve.engine.writing.export.document import Block, Document, Evidence, Run, right_to_left, web_address
from deepdelve.utils.phrases import say

WIDE_COLUMNS = 6
FONTS = "fonts"
_TEMPLATE = Path(__file__).with_name("report.typ")
# A word as long as this gets places where a line may end; they are not seen, and no letter is added.
_LONG_WORD = 28
_BREAK = "\u200b"


def write(document: Document) -> tuple[bytes, str]:
    """The document as the bytes of a PDF file, and the letters for which no font was found (they show as boxes).

    Raises:
        UsageError: the typesetter is not installed, or most letters have no font.
    """
    try:
        import typst
    except ImportError:
        raise UsageError(
            "PDF needs the typesetter of the extra 'export'.",
            "Install it with: pip install 'deepdelve[export]'. Or export as html and print that from a browser.",
        ) from None
    data = as_data(document)
    fonts = [home() / FONTS] if (home() / FONTS).is_dir() else []
    compiler = typst.Compiler(_TEMPLATE, root=_TEMPLATE.parent, font_paths=fonts, sys_inputs={"data": json.dumps(data)})
    missing = str(json.loads(compiler.query("<missing>", field="value", one=True)) or "")
    letters = [char for text in _texts(document) for char in text if char.isalpha()]
    if sum(char in missing for char in letters) * 2 > len(letters):
        raise UsageError(
            f"This machine has no font for most letters of this report ({missing[:12]} …).",
            f"Install one, such as Noto Sans CJK, or put it into {home() / FONTS}; html and docx need none.",
        )
    pdf = compiler.compile(format="pdf")
    assert isinstance(pdf, bytes)
    return pdf, missing


def as_data(document: Document) -> dict[str, Any]:
    """What the template reads."""
    seen: set[int] = set()
    blocks = [_block(block, seen) for block in document.blocks]
    evidence = [_evidence(item, document.language) for item in document.evidence]
    language = document.language.partition("-")[0]
    return {
        "title": document.title,
        "lang": language or "en",
        "carries": say("carries", document.language),
        "blocks": blocks,
        "evidence": evidence,
        "letters": "".join(sorted({char for text in _texts(document) for char in text if ord(char) > 126 and char != _BREAK})),
    }


def _texts(document: Document) -> Iterator[str]:
    for block in document.blocks:
        yield block.text
        yield from (run.text for row in block.rows for cell in row for run in cell)
    if document.evidence:
        yield say("carries", document.language)
    for item in document.evidence:
        yield say(f"status_{item.status}", document.language)
        yield from (item.text, item.reason, item.title, item.before, item.quote, item.after, item.sign)


def _block(block: Block, seen: set[int]) -> dict[str, Any]:
    rows = [[{"runs": _runs(cell, seen), "rtl": right_to_left("".join(run.text for run in cell))} for cell in row] for row in block.rows]
    return {
        "kind": block.kind,
        "level": block.level,
        "marker": block.marker,
        "source": block.source,
        "rtl": right_to_left(block.text),
        "runs": _runs(block.runs, seen),
        "rows": rows,
        "widths": _widths(block),
        "wide": max((len(row) for row in block.rows), default=0) > WIDE_COLUMNS,
    }


def _widths(block: Block) -> list[int]:
    """The share of each column: its longest cell counts, within bounds, so that no column is crushed."""
    columns = max((len(row) for row in block.rows), default=0)
    longest = [max(len("".join(run.text for run in row[place])) for row in block.rows if place < len(row)) for place in range(columns)]
    return [min(max(length, 6), 40) for length in longest]


def _runs(runs: Sequence[Run], seen: set[int]) -> list[dict[str, Any]]:
    """The runs; the first of each claim says that the claim begins there."""
    found: list[dict[str, Any]] = []
    for run in runs:
        begins = run.claim if run.claim and run.claim not in seen else 0
        seen.add(run.claim)
        found.append({**asdict(run), "text": breakable(run.text), "begins": begins})
    return found


def _evidence(item: Evidence, language: str) -> dict[str, Any]:
    texts = {name: breakable(str(getattr(item, name))) for name in ("text", "reason", "title", "before", "quote", "after")}
    return {
        "number": item.number,
        "status": say(f"status_{item.status}", language),
        "sign": item.sign,
        "placed": item.placed,
        "url": web_address(item.url),
        "rtl": right_to_left(item.quote),
        "said_rtl": right_to_left(item.text),
        **texts,
    }


def breakable(text: str) -> str:
    """The text with places to end a line in very long words, such as addresses."""
    if len(text) < _LONG_WORD:
        return text
    parts: list[str] = []
    for word in text.split(" "):
        pieces = [word[at : at + _LONG_WORD] for at in range(0, len(word), _LONG_WORD)]
        parts.append(_BREAK.join(pieces))
    return " ".join(parts)

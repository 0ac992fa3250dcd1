"""Quality and speed of extraction over annotated pages and documents.

Run ``python -m benchmarks.extraction [--data DIR] [--json]``. DIR holds ``scrapinghub.json``, ``trafilatura.json`` and
``readability.json``, each a list of rows whose ``file`` is a gzipped page; beside it a folder ``documents`` with a
``manifest.json`` may stand.

- F1: per page over multisets of 4-word shingles of the main text, then the mean. Markdown is taken to plain text
  first, and a first heading that repeats the title is left out: the title is a field of its own.
- kept, leaked: share of the strings that must, or must not, appear; white space and soft hyphens do not count.
- CPU per page: process time of parsing in this process, each page once, libraries loaded before.
"""

import argparse
import asyncio
import gzip
import importlib
import json
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.extracted import Extracted
from deepdelve.tools.web.documents.parse import parse
from deepdelve.tools.web.extract import extract

_DEFAULT = Path(__file__).parents[2] / "shared" / "data" / "extraction"
_LINK = re.compile(r"\[([^\[\]\n]*)\]\(https?://[^()\s]*\)")
_MARKS = re.compile(r"(?m)^(?:\s*(?:#{1,6} |[-*] |\d+\. |(?:> ?)+|```\w*$)|\|(?: --- \|)+$)+")
_TRUE_REFUSALS = {"encrypted", "unreadable", "no_text", "unsupported_type"}


def plain_text(markdown: str, title: str = "") -> str:
    """The words of a Markdown text, without its marks and without a headline that repeats the title."""
    first, _, rest = markdown.partition("\n")
    if first.startswith("#") and title and _key(first) and _key(first) in _key(title):
        markdown = rest
    text = _MARKS.sub("", _LINK.sub(r"\1", markdown))
    return text.replace("\\|", "|").replace("|", " ").replace("`", "").replace("\xad", "")


def f1_of(expected: str, found: str) -> float:
    """Harmonic mean of precision and recall over 4-word shingles."""
    wanted, got = _shingles(expected.replace("\xad", "")), _shingles(found)
    common = sum((wanted & got).values())
    if not common:
        return 0.0
    precision, recall = common / sum(got.values()), common / sum(wanted.values())
    return 2 * precision * recall / (precision + recall)


def _shingles(text: str, size: int = 4) -> Counter[tuple[str, ...]]:
    words = re.findall(r"\w+", text)
    return Counter(tuple(words[i : i + size]) for i in range(max(1, len(words) - size + 1)))


def _key(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _one_line(text: str) -> str:
    return " ".join(text.replace("\xad", "").split())


def _read(data: bytes, url: str) -> Extracted:
    try:
        return parse(data, url=url, content_type="text/html")
    except FetchError as error:
        return Extracted("", reason=error.message)


def _pages(folder: Path, name: str) -> list[tuple[dict[str, Any], bytes]]:
    listing = folder / f"{name}.json"
    rows = json.loads(listing.read_text("utf-8")) if listing.is_file() else []
    return [(row, gzip.decompress((folder / row["file"]).read_bytes())) for row in rows]


def measure_pages(folder: Path) -> dict[str, float]:
    """The figures over the annotated pages of a folder."""
    importlib.import_module("justext")
    _read(b"<html><body><article><p>Loads the libraries before the clock starts.</p></article></body></html>", "")
    figures: dict[str, float] = {}
    seconds, count = 0.0, 0
    kept, wanted, leaked, unwanted = 0, 0, 0, 0
    for name in ("scrapinghub", "readability", "trafilatura"):
        scores: list[float] = []
        for row, data in _pages(folder, name):
            start = time.process_time()
            result = _read(data, row.get("url") or "")
            seconds += time.process_time() - start
            count += 1
            if "expected_text" in row:
                scores.append(f1_of(row["expected_text"], plain_text(result.text, result.title)))
            else:
                text = _one_line(plain_text(result.text))
                kept += sum(_one_line(part) in text for part in row["must_contain"])
                leaked += sum(_one_line(part) in text for part in row["must_not_contain"])
                wanted += len(row["must_contain"])
                unwanted += len(row["must_not_contain"])
        if scores:
            figures[f"{name}_f1"] = round(sum(scores) / len(scores), 4)
    if wanted:
        figures |= {"trafilatura_kept": round(kept / wanted, 4), "trafilatura_leaked": round(leaked / max(unwanted, 1), 4)}
    return figures | ({"pages": count, "cpu_per_page": round(seconds / count, 4)} if count else {})


async def measure_documents(folder: Path) -> dict[str, int]:
    """How many documents of a folder were opened, refused with a reason, or neither."""
    opened = refused = failed = 0
    for row in json.loads((folder / "manifest.json").read_text("utf-8")):
        try:
            result = await extract((folder / row["file"]).read_bytes())
            opened += bool(result.text.strip())
            failed += not result.text.strip()
        except FetchError as error:
            refused += error.cause in _TRUE_REFUSALS
            failed += error.cause not in _TRUE_REFUSALS
    return {"documents": opened + refused + failed, "documents_opened": opened, "documents_refused": refused, "documents_failed": failed}


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; exit code 2 if there is nothing to measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extraction", description="Measure extraction over annotated pages.")
    parser.add_argument("--data", type=Path, default=_DEFAULT, help="folder with scrapinghub.json, trafilatura.json, readability.json")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    figures: dict[str, float] = measure_pages(options.data) if options.data.is_dir() else {}
    documents = next((folder for folder in (options.data, options.data.parent / "documents") if (folder / "manifest.json").is_file()), None)
    if documents is not None:
        figures |= asyncio.run(measure_documents(documents))
    if not figures:
        print(f"Nothing to measure in {options.data}: name a folder with --data.", file=sys.stderr)
        return 2
    print(json.dumps(figures) if options.json else "\n".join(f"{name:20} {value}" for name, value in figures.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

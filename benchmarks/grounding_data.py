"""Reads the handed data (or any folder of that layout) into rows that the benchmark scores."""

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPORT_LIKE = ("wice", "attrbench", "drb_fact", "expertqa")
_HEAD = re.compile(r"^\[\d+\]\s*https?://\S+\s*", re.M)


@dataclass(frozen=True)
class ClaimRow:
    """A claim, the text of its source, and whether the source carries it."""

    id: str
    claim: str
    source: str
    supported: bool


def jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a (gzipped) JSON-lines file."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    for line in data.decode("utf-8").split("\n"):
        if line.strip():
            yield json.loads(line)


def claim_sets(data: Path) -> dict[str, list[ClaimRow]]:
    """Set name to its rows: every ``claims/*.jsonl``, ``drb_fact`` and the cited sentences of ``expertqa``."""
    sets: dict[str, list[ClaimRow]] = {}
    for path in sorted((data / "claims").glob("*.jsonl")):
        name = path.name.split(".")[0].replace("_dev", "").replace("_test500", "")
        sets[name] = [ClaimRow(row["id"], row["claim"], _source(row["source_text"]), row["label"] == "supported") for row in jsonl(path)]
    if (data / "drb_fact" / "claims.jsonl").is_file():
        folder = data / "drb_fact"
        sets["drb_fact"] = [
            ClaimRow(
                row["id"], row["claim"], (folder / row["page"]).read_text(encoding="utf-8", errors="replace"), row["label"] == "supported"
            )
            for row in jsonl(folder / "claims.jsonl")
        ]
    if (data / "expertqa" / "claims.jsonl").is_file():
        sets["expertqa"] = [
            ClaimRow(row["id"], row["claim"], _source(row["source_text"]), row["label"] == "supported")
            for row in jsonl(data / "expertqa" / "claims.jsonl")
            if row["has_source_text"] and row["label"] in ("supported", "partial", "unsupported")
        ]
    return sets


def _source(text: str) -> str:
    """A source's text without the ``[n] address`` line that these sets put before it."""
    return _HEAD.sub("", text)


def balanced_accuracy(labels: list[bool], calls: list[bool]) -> float:
    """The mean of the shares of true and of false rows that are called right; NaN-free: an absent label counts 0.5."""
    positive = [call for label, call in zip(labels, calls, strict=True) if label]
    negative = [not call for label, call in zip(labels, calls, strict=True) if not label]
    shares = [sum(part) / len(part) if part else 0.5 for part in (positive, negative)]
    return sum(shares) / 2

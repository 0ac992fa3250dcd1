"""Scores the checks other than support: need of a citation, quotations, stub pages, markers of reports, copied sentences."""

import gzip
import json
from pathlib import Path

from benchmarks.grounding_data import balanced_accuracy, jsonl
from deepdelve.core.records import Claim
from deepdelve.utils.grounding import citations, claims, quotes, sentences, stubs, worthiness
from deepdelve.utils.grounding.index import SourceIndex
from deepdelve.utils.grounding.support import LexicalVerifier
from deepdelve.utils.grounding.text import normalise

LABELS = Path(__file__).with_name("labels") / "citations.json"
_COPIED_LENGTHS = range(60, 400)


def need(data: Path) -> dict[str, float]:
    """Whether a sentence needs a citation, against the judgement of experts."""
    folder = data / "expertqa"
    if not (folder / "claims.jsonl").is_file():
        return {}
    questions = {row["id"]: row["question"] for row in jsonl(folder / "answers.jsonl")}
    labels: list[bool] = []
    calls: list[bool] = []
    for row in jsonl(folder / "claims.jsonl"):
        text = claims.clean_text(row["claim"], citations.parse(row["claim"]), 0, len(row["claim"])) or row["claim"]
        labels.append(row["worthiness"] == "Yes")
        calls.append(worthiness.needs_citation(text, question=questions.get(row["answer_id"], "")))
    return {"worthiness_balanced_accuracy": balanced_accuracy(labels, calls)}


def quotations(data: Path) -> dict[str, float]:
    """Altered against exact quotations; one that differs in typography or case only counts as exact."""
    path = data / "quotes" / "quotesum.jsonl"
    if not path.is_file():
        return {}
    labels: list[bool] = []
    calls: list[bool] = []
    for row in jsonl(path):
        bodies = {number: normalise(text) for number, text in row["sources"].items()}
        for quote in row["quotes"]:
            labels.append(quote["exact"] or quote["normalised"])
            calls.append(quotes.is_verbatim(quote["quote"], bodies.get(quote["source"], "")))
    return {"quotes_balanced_accuracy": balanced_accuracy(labels, calls)}


def stub_pages(data: Path) -> dict[str, float]:
    """The share of stubs found, and of true pages called stubs."""
    folder = data / "stubs"
    if not (folder / "index.jsonl").is_file():
        return {}
    found = [_is_stub(folder, row) for row in jsonl(folder / "index.jsonl") if row["label"] == "stub"]
    true_pages = [row for row in jsonl(folder / "index.jsonl") if row["label"] == "content"] + list(jsonl(folder / "negatives.jsonl"))
    wrong = [_is_stub(folder, row) for row in true_pages]
    return {"stubs_found": sum(found) / len(found), "true_pages_called_stubs": sum(wrong) / len(wrong)}


def markers(data: Path) -> dict[str, float]:
    """Labelled markers that the parser resolves or reports as the label says; no marker where the label says none."""
    path = data / "reports" / "reports.jsonl.gz"
    if not path.is_file():
        return {}
    labels = json.loads(LABELS.read_text(encoding="utf-8"))["reports"]
    right = total = reports = 0
    for row in jsonl(path):
        offsets = {offset: state for state, places in labels.get(row["id"], {}).items() for offset in places}
        if not offsets:
            continue
        reports += 1
        parsed = citations.parse(row["report"])
        for offset, state in offsets.items():
            total += 1
            right += state_at(parsed, offset) == state
    if not total:
        return {}
    return {"markers_resolved_or_reported": right / total, "marker_reports": float(reports)}


def state_at(parsed: citations.ParsedReport, offset: int) -> str:
    """What the parser makes of a place: ``resolved``, ``dangling`` or ``none``."""
    marker = next((each for each in parsed.markers if each.start <= offset < each.end), None)
    if marker is None:
        return "none"
    return "resolved" if all(target in parsed.references for target in marker.targets) else "dangling"


def copied_sentences(data: Path) -> dict[str, float]:
    """The share of sentences, copied from encyclopedia articles, that their own article is found to support."""
    path = next(iter(sorted((data / "localweb").glob("freshwiki/**/*.jsonl*"))), None) if (data / "localweb").is_dir() else None
    texts = [text for row in jsonl(path) if len(text := str(row.get("text") or row.get("content") or "")) > 2000][:20] if path else []
    if not texts:
        texts = [page.read_text(encoding="utf-8", errors="replace") for page in sorted((data / "drb_fact" / "pages").glob("*.md"))[:20]]
    calls = [call for text in texts for call in _copied(text)]
    return {"copied_sentences_supported": sum(calls) / len(calls)} if calls else {}


def _copied(text: str) -> list[bool]:
    source = SourceIndex("S1", text)
    cut = [text[start:end] for start, end in sentences.split(text) if end - start in _COPIED_LENGTHS][::5][:20]
    rows: list[Claim] = []
    for sentence in cut:
        report = f"{sentence} [S1]"
        rows += [row for row in claims.extract_claims(report, citations.parse(report, known=("S1",))) if row.citations]
    return [found.status == "supported" for found in LexicalVerifier().score(rows, {"S1": source})]


def _is_stub(folder: Path, row: dict[str, str]) -> bool:
    path = folder / row["file"]
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    page = data.decode("utf-8", "replace")
    html = page if ".html" in path.name else ""
    return stubs.detect("" if html else page, html=html, url=row.get("url") or "", title=row.get("title") or "").state != "ok"

"""The claim ledger: every sentence of a report, what it cites, what carries it, and with what result."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from deepdelve.core.records import Claim, ClaimCounts, Source
from deepdelve.utils.grounding import citations, claims
from deepdelve.utils.grounding.index import SourceIndex
from deepdelve.utils.grounding.support import Verifier
from deepdelve.utils.phrases import say

VERSION = 1


def build_ledger(
    draft: str,
    sources: Mapping[str, Source],
    texts: Mapping[str, SourceIndex | str],
    verifier: Verifier,
    question: str = "",
    parsed: citations.ParsedReport | None = None,
) -> list[Claim]:
    """Check a draft that cites source ids.

    Args:
        draft: the draft's text, with ``[S12]`` citations.
        sources: id to record; a source that is not citable is never evidence.
        texts: id to the source's text, or to its ready index.
        verifier: decides whether a passage carries a claim.
        question: what was asked; a sentence that only restates it needs no citation.
        parsed: the draft as parsed already, to save the second parse.
    """
    parsed = parsed or citations.parse(draft, known=sources.keys())
    found = claims.extract_claims(draft, parsed, question)
    return check(found, sources, texts, verifier)


def check(found: Sequence[Claim], sources: Mapping[str, Source], texts: Mapping[str, SourceIndex | str], verifier: Verifier) -> list[Claim]:
    """Claims with their status, score, passage and reason filled in."""
    cited = {label for claim in found for label in claim.citations}
    indexes = {
        label: text if isinstance(text, SourceIndex) else SourceIndex(label, text)
        for label in cited
        if (text := texts.get(label)) is not None and (label not in sources or sources[label].citable)
    }
    results = verifier.score(found, indexes)
    checked: list[Claim] = []
    for claim, support in zip(found, results, strict=True):
        passage = support.passage
        if passage is not None and passage.source_id in sources:
            passage = passage.model_copy(update={"file": sources[passage.source_id].file})
        status, reason = support.status, support.reason
        if status == "unchecked" and claim.citations:
            status = "unsupported" if all(label not in sources for label in claim.citations) else "unchecked"
            reason = "; ".join(_why_unread(label, sources) for label in claim.citations)
        checked.append(
            claim.model_copy(update={"status": status, "score": support.score, "passage": passage, "reason": reason, "kind": support.kind})
        )
    return checked


def counts(found: Iterable[Claim]) -> ClaimCounts:
    """How many claims that need a source have each status."""
    totals: dict[str, int] = {}
    for claim in found:
        if claim.needs_citation:
            totals[claim.status] = totals.get(claim.status, 0) + 1
    return ClaimCounts(**totals)


def counts_line(number: ClaimCounts, language: str = "") -> str:
    """One sentence without its end: ``41 of 44 claims supported, 2 partly, 1 not``."""
    parts = [say("count_supported", language, n=number.supported, total=number.total)]
    parts += [
        say(f"count_{status}", language, n=count)
        for status in ("partial", "contradicted", "unsupported", "unchecked")
        if (count := getattr(number, status))
    ]
    return say("comma", language).join(parts)


def to_json(found: Sequence[Claim]) -> str:
    """The ledger as the text of ``final_report.claims.json``."""
    body: dict[str, Any] = {
        "version": VERSION,
        "counts": counts(found).model_dump(),
        "claims": [claim.model_dump(mode="json") for claim in found],
    }
    return json.dumps(body, ensure_ascii=False, indent=1)


def from_json(text: str) -> list[Claim]:
    """The claims of a ledger file.

    Raises:
        ValueError: the text is not a ledger.
    """
    body: Any = json.loads(text)
    if not isinstance(body, dict) or "claims" not in body:
        raise ValueError("not a claim ledger")
    return [Claim.model_validate(row) for row in body["claims"]]  # pyright: ignore


def _why_unread(label: str, sources: Mapping[str, Source]) -> str:
    source = sources.get(label)
    if source is None:
        return f"{label} is no source of this report"
    return f"{label} cannot be read: {source.reason or source.state}"

"""From a record to what carries it: the claim, the finding, the passage in the stored page, the address."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from deepdelve.engine.history import refs
from deepdelve.engine.history.files import Notes, read_text, sound
from deepdelve.engine.history.match import norm
from deepdelve.engine.history.records import Record
from deepdelve.engine.history.runfiles import RunFacts, load_run, text_of
from deepdelve.engine.history.sources import Roots

LEDGER = "final_report.claims.json"
_AROUND = 300

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Passage:
    """Characters ``start`` to ``end`` of a stored page, with what stands around them."""

    source_id: str
    url: str
    title: str
    start: int
    end: int
    text: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Jump:
    """A record and what carries it; parts that there are none of are empty."""

    record: Record
    claim_id: str = ""
    claim: str = ""
    claim_status: str = ""
    finding_id: str = ""
    finding: str = ""
    passage: Passage | None = None

    def to_dict(self) -> dict[str, Any]:
        """The jump as JSON."""
        passage = self.passage.__dict__ if self.passage is not None else None
        claim = {"id": self.claim_id, "text": self.claim, "status": self.claim_status} if self.claim_id else None
        finding = {"id": self.finding_id, "text": self.finding} if self.finding_id else None
        return {"record": self.record.to_dict(), "claim": claim, "finding": finding, "passage": passage}


def follow(ref: str, roots: Roots) -> Jump:
    """What a reference leads to.

    Raises:
        UsageError: it is no reference.
        StateError: the record is gone or has changed.
    """
    record = refs.inspect(ref, roots)
    if record.kind not in {"report", "finding", "source"}:
        return Jump(record)
    folder = roots.runs / record.run_id
    try:
        facts = load_run(folder, Notes(), lambda: None)
    except OSError:
        return Jump(record)
    if record.kind == "source":
        source = facts.sources.get(f"S{record.ordinal}", {})
        return Jump(record, passage=_passage(folder, source, *record.span))
    if record.kind == "finding":
        row = facts.findings.get(f"F{record.ordinal}", {})
        return _of_finding(record, folder, facts, row)
    return _of_report(record, folder, facts)


def _of_report(record: Record, folder: Path, facts: RunFacts) -> Jump:
    claim = _claim_at(_ledger(folder), record.text, record.span)
    if claim is None:
        return Jump(record, passage=_passage(folder, _listed_at(record, facts), 0, 0))
    found = _object(claim.get("passage"))
    source_id, start, end = text_of(found, "source_id"), _number(found, "start"), _number(found, "end")
    cited = claim.get("citations")
    if not source_id and isinstance(cited, list | tuple) and cited:
        source_id = str(cast("list[Any]", cited)[0])
    row = _finding_of(facts, source_id, start, end)
    return Jump(
        record,
        claim_id=text_of(claim, "id"),
        claim=sound(text_of(claim, "text")),
        claim_status=text_of(claim, "status"),
        finding_id=text_of(row, "id"),
        finding=sound(next(iter(_claims_at(row, start, end)), "")),
        passage=_passage(folder, facts.sources.get(source_id, {}), start, end),
    )


def _of_finding(record: Record, folder: Path, facts: RunFacts, row: Object) -> Jump:
    claims = _objects(row.get("claims"))
    place, at = record.span[0], 0
    chosen: Object = claims[0] if claims else {}
    for claim in claims:
        if at <= place:
            chosen = claim
        at += len(text_of(claim, "text")) + 1
    source = facts.sources.get(text_of(row, "source_id"), {})
    passage = _passage(folder, source, _number(chosen, "start"), _number(chosen, "end"))
    return Jump(record, finding_id=text_of(row, "id"), finding=sound(text_of(chosen, "text")), passage=passage)


def _passage(folder: Path, source: Object, start: int, end: int) -> Passage | None:
    """The place in a stored page; its beginning where the offsets are not known. None where the page is not stored."""
    source_id, file = text_of(source, "id"), text_of(source, "file")
    number = source_id.removeprefix("S")
    if not (number.isascii() and number.isdigit()) or file != f"sources/{source_id}.md" or (folder / "sources").is_symlink():
        return None
    try:
        text = sound(read_text(folder / file, Notes()))
    except OSError:
        return None
    if not 0 <= start < end <= len(text):
        start = end = 0
    url = text_of(source, "final_url") or text_of(source, "url")
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return Passage(source_id, sound(url), sound(text_of(source, "title")), start, end, text[start:end], before, after)


def _ledger(folder: Path) -> list[Object]:
    try:
        data: Any = json.loads(read_text(folder / LEDGER, Notes()))
    except (OSError, ValueError, RecursionError):
        return []
    return _objects(cast("dict[str, Any]", data).get("claims") if isinstance(data, dict) else data)


def _claim_at(claims: Iterable[Object], text: str, span: tuple[int, int]) -> Object | None:
    """The claim of the delivered report to which a place belongs.

    It is the claim in which the place stands, or in whose citations; for a heading, or a sentence that claims nothing, the next claim
    that says the words found there. Where none does there is none.
    """
    placed: list[tuple[int, int, Object]] = []
    for claim in claims:
        where = claim.get("delivered_span")
        if isinstance(where, list) and len(cast("list[Any]", where)) == 2:
            start, end = cast("list[Any]", where)
            if isinstance(start, int) and isinstance(end, int) and claim.get("needs_citation", True):
                placed.append((start, end, claim))
    placed.sort(key=lambda row: row[0])
    if span[0] >= span[1]:
        # Where in the report is not known: its first claim.
        return placed[0][2] if placed else None
    before = [row for row in placed if row[0] < span[1]]
    if before and (span[0] < before[-1][1] or _cites(text[before[-1][1] : span[1]])):
        return before[-1][2]
    words = norm(text[slice(*span)])
    return next((claim for start, end, claim in placed if start >= span[1] and words in norm(text[start:end])), None)


def _cites(text: str) -> bool:
    """Whether a text behind a claim begins with its citations and has not left them."""
    rest = text.lstrip(" .,;*_")
    closed = max(rest.rfind("]"), rest.rfind(")"))
    return rest[:1] in {"[", "("} and "\n" not in rest and not any(char.isalnum() for char in rest[closed + 1 :])


def _listed_at(record: Record, facts: RunFacts) -> Object:
    """The source whose address stands in the line of the hit, as in a list of sources; of several the one with the longest address."""
    start = record.text.rfind("\n", 0, record.span[0]) + 1
    line = record.text[start:].split("\n", 1)[0]
    named = [(url, row) for row in facts.sources.values() if (url := text_of(row, "final_url") or text_of(row, "url")) and url in line]
    return max(named, key=lambda pair: len(pair[0]))[1] if named else {}


def _finding_of(facts: RunFacts, source_id: str, start: int, end: int) -> Object:
    """The finding of this source that speaks of the passage, else its first one."""
    of_source = [row for row in facts.findings.values() if source_id and text_of(row, "source_id") == source_id]
    return next((row for row in of_source if _claims_at(row, start, end)), of_source[0] if of_source else {})


def _claims_at(row: Object, start: int, end: int) -> list[str]:
    """The claims of a finding whose passage overlaps this one."""
    return [
        text_of(claim, "text")
        for claim in _objects(row.get("claims"))
        if _number(claim, "start") < end and start < _number(claim, "end") and _number(claim, "start") >= 0
    ]


def _object(value: Any) -> Object:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _objects(value: Any) -> list[Object]:
    return [cast("dict[str, Any]", item) for item in cast("list[Any]", value) if isinstance(item, dict)] if isinstance(value, list) else []


def _number(row: Object, name: str) -> int:
    value = row.get(name)
    return value if isinstance(value, int) else -1


def masked(jump: Jump, mask: Callable[[str], str]) -> Jump:
    """The jump without secrets."""
    passage = jump.passage
    if passage is not None:
        told = {name: mask(getattr(passage, name)) for name in ("url", "title", "text", "before", "after")}
        passage = replace(passage, **told)
    record = replace(jump.record, text=mask(jump.record.text), title=mask(jump.record.title), url=mask(jump.record.url))
    return replace(jump, record=record, claim=mask(jump.claim), finding=mask(jump.finding), passage=passage)

"""Check any report, by any system, against its sources; say what could not be checked and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from deepdelve.core.records import Claim, ClaimCounts, Source, SourceState
from deepdelve.utils.grounding import citations, claims, contradictions, ledger, references, sources
from deepdelve.utils.grounding.support import LexicalVerifier, Verifier

LONGEST_REPORT = 4_000_000
NOT_GIVEN = "not among the sources given"
_HOW_FOUND = (
    "A source is found by its address (a line 'URL: https://…' or an index file in the folder), by its number (1.md), by its file name"
    " or by its title."
)


@dataclass(frozen=True)
class VerifyResult:
    """What was found.

    Attributes:
        claims: every sentence that states something, with its status.
        counts: how many have each status; only those that need a source.
        problems: what is wrong with the citations.
        unread: label or file, and why it could not be read.
        conflicts: lines that name two sources which differ on one figure.
        notes: what was not checked at all.
    """

    claims: tuple[Claim, ...]
    counts: ClaimCounts
    problems: tuple[citations.CitationProblem, ...]
    unread: tuple[tuple[str, str], ...]
    conflicts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The share of the claims that need a source and are supported, 0 to 1; 0 where there is none."""
        return self.counts.supported / self.counts.total if self.counts.total else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data for ``--json``."""
        return {
            "counts": self.counts.model_dump(),
            "share_supported": round(self.share, 4),
            "claims": [claim.model_dump(mode="json") for claim in self.claims],
            "problems": [{"kind": p.kind, "detail": p.detail, "start": p.start, "end": p.end} for p in self.problems],
            "unread": [{"source": label, "reason": reason} for label, reason in self.unread],
            "conflicts": list(self.conflicts),
            "notes": list(self.notes),
        }


def verify_report(text: str, given: Path | Mapping[str, str] | sources.Sources, verifier: Verifier | None = None) -> VerifyResult:
    """Verify a report.

    Args:
        text: the report; NUL bytes are dropped, and what is longer than ``LONGEST_REPORT`` characters is cut with a note.
        given: a folder of source files, a mapping of label (``3``, ``S3``) or address to text, or sources read already.
        verifier: the built-in lexical verifier unless another is given.
    """
    notes: list[str] = []
    text = text.replace("\x00", "")
    if len(text) > LONGEST_REPORT:
        notes.append(f"The report has {len(text):,} characters; only the first {LONGEST_REPORT:,} were checked.")
        text = _cut(text)
    held = (
        given
        if isinstance(given, sources.Sources)
        else sources.from_folder(given)
        if isinstance(given, Path)
        else sources.from_mapping(given)
    )
    parsed = citations.parse(text, known=held.known())
    records, texts = _records(parsed, held)
    found = claims.extract_claims(text, parsed)
    invented = {problem.start for problem in parsed.problems if problem.kind == "invented_subpage"}
    never = {target for marker in parsed.markers if marker.start in invented for target in marker.targets}
    checked = ledger.check(
        found, {label: record for label, record in records.items() if label not in never}, texts, verifier or LexicalVerifier()
    )
    if not parsed.markers and not any(claim.citations for claim in found):
        notes.append("The report cites nothing, so no claim can be traced to a source.")
    if not held.by_label:
        notes.append("No source could be read.")
    elif any(record.reason == NOT_GIVEN for record in records.values()):
        notes.append(_HOW_FOUND)
    unread = [(label, record.reason) for label, record in records.items() if record.state != "ok"]
    told = {(name, record.reason) for record in records.values() for name in (record.id, record.url)}
    unread += [each for each in held.unread if each not in told]
    conflicts = tuple(conflict.reason for conflict in contradictions.among(checked))
    return VerifyResult(tuple(checked), ledger.counts(checked), parsed.problems, tuple(dict.fromkeys(unread)), conflicts, tuple(notes))


def _cut(text: str) -> str:
    """The beginning of a report that is too long, and its sources list from the end."""
    line_end = text.rfind("\n", 0, LONGEST_REPORT) + 1
    cut = line_end if line_end > LONGEST_REPORT // 2 else LONGEST_REPORT
    at = max(cut, len(text) - LONGEST_REPORT // 4)
    listed = [text[at + start : at + end] for start, end in references.find(text[at:]).spans]
    return "\n\n".join([text[:cut], *listed])


def _records(parsed: citations.ParsedReport, held: sources.Sources) -> tuple[dict[str, Source], dict[str, str]]:
    """A record and a text for each reference that is cited."""
    cited = {target for marker in parsed.markers for target in marker.targets} | {entry.label for entry in parsed.listed}
    records: dict[str, Source] = {}
    texts: dict[str, str] = {}
    for label, entry in parsed.references.items():
        if label not in cited:
            continue
        source = held.find(entry)
        if source is None:
            records[label] = Source(
                id=label, url=entry.url, title=entry.title, state="unreachable", reason=held.why_unread(entry) or NOT_GIVEN
            )
            continue
        state = cast(SourceState, source.state)
        records[label] = Source(
            id=label,
            url=entry.url or source.url,
            title=entry.title or source.title,
            file=source.file or source.key,
            state=state,
            reason=source.reason,
        )
        texts[label] = source.text
    return records, texts

"""An Analyzer's text as findings: one record a source, claims with offsets found by code, leads kept apart, doubts as flags."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from deepdelve.core.records import ClaimStatus, ClaimText, Finding, Flag, Source
from deepdelve.engine.gate import Dispatch
from deepdelve.utils.fence import clean
from deepdelve.utils.locate import Locator

LEADS = re.compile(r"^[\s#*_>-]{0,8}follow[ -]?up directions?[*_\s]{0,4}:?[*_\s]{0,4}$", re.IGNORECASE)
_BULLET = re.compile(r"^\s{0,12}(?:[-*•·]|\d{1,3}[.)])\s+(?=\S)")
_IDS = re.compile(r"\[\s{0,2}(S\d{1,6}(?:\s{0,2}[,;]\s{0,2}S\d{1,6})*)\s{0,2}\]", re.IGNORECASE)
_OPENING, _CLOSING = '"“„«', '"”“»'
_QUOTE_CHARS = range(3, 2_001)
MAX_REPLY_CHARS = 120_000
MAX_LEADS = 8
_LEAD_CHARS = 300

# Whether a claim is carried by the text of its source.
Judge = Callable[[str, str], ClaimStatus]


@dataclass(frozen=True)
class Analysis:
    """What an Analyzer's reply holds. ``capped`` is the number of characters left out."""

    claims: dict[str, list[ClaimText]] = field(default_factory=dict[str, list[ClaimText]])
    leads: list[str] = field(default_factory=list[str])
    unattributed: list[str] = field(default_factory=list[str])
    capped: int = 0


def parse_analysis(text: str, sources: Sequence[str]) -> Analysis:
    """Read bullets, ids, quotes and leads out of a reply.

    Args:
        text: the reply; what is over a bound is left out and counted.
        sources: ids that the dispatch was given; a claim without an id belongs to the only one, if there is one.
    """
    capped = max(0, len(text) - MAX_REPLY_CHARS)
    result = Analysis(capped=capped)
    in_leads = False
    for line in clean(text[:MAX_REPLY_CHARS]).split("\n"):
        if LEADS.match(line):
            in_leads = True
            continue
        bullet = _BULLET.match(line)
        if in_leads:
            lead = line[bullet.end() :].strip() if bullet else line.strip()
            if lead and len(result.leads) < MAX_LEADS:
                result.leads.append(lead[:_LEAD_CHARS])
            continue
        ids = _ids_in(line)
        if bullet or ids:
            _add_claim(result, line[bullet.end() :] if bullet else line, ids or list(sources if len(sources) == 1 else ()))
    return result


def _ids_in(line: str) -> list[str]:
    found = [part.strip().upper() for match in _IDS.finditer(line) for part in re.split(r"[,;]", match.group(1))]
    return list(dict.fromkeys(found))


def _add_claim(result: Analysis, line: str, ids: list[str]) -> None:
    marker = _IDS.search(line)
    # The quote stands behind the id; quotation marks before it belong to the claim itself.
    tail = line[marker.end() :] if marker else line
    start, words = _quote_in(tail)
    body = line[: marker.start()] if marker else line[:start]
    body = _IDS.sub("", body).strip(" \t-–—:*")
    claim = body or words
    if len(claim) < 3:
        return
    if not ids:
        result.unattributed.append(claim)
    for source_id in ids:
        result.claims.setdefault(source_id, []).append(ClaimText(text=claim, quote=words))


def _quote_in(line: str) -> tuple[int, str]:
    """Where a quote starts and its words, from the first mark to the last: it may hold quotations of its own."""
    start = next((at for at, char in enumerate(line) if char in _OPENING), len(line))
    words = line[start + 1 : start + _QUOTE_CHARS.stop + 1]
    end = max(words.rfind(mark) for mark in _CLOSING)
    return (start, words[:end].strip()) if end in _QUOTE_CHARS else (len(line), "")


def findings_from(
    analysis: Analysis, dispatch: Dispatch, sources: Mapping[str, Source], texts: Mapping[str, str], judge: Judge, summary: str = ""
) -> list[Finding]:
    """Findings without ids, ready to be recorded: per source one of carried claims and one of doubtful ones, and the leads.

    Args:
        analysis: the parsed reply.
        dispatch: who found them.
        sources: sources by id.
        texts: their stored texts.
        judge: says whether a claim without a verbatim quote is carried.
        summary: a line on the whole.
    """
    findings: list[Finding] = []
    for source_id, claims in analysis.claims.items():
        source = sources.get(source_id)
        if source is None or not texts.get(source_id):
            state = "unknown_source" if source is None else source.state
            findings.append(_finding(dispatch, source_id if source else "", claims, summary, (Flag(kind=state, detail=source_id),)))
            continue
        good, doubtful = _located(claims, texts[source_id], judge)
        if good:
            findings.append(_finding(dispatch, source_id, good, summary, ()))
        if doubtful:
            flag = Flag(kind="claim_unsupported", urls=(source.url,), detail="the source does not carry it")
            findings.append(_finding(dispatch, source_id, doubtful, summary, (flag,)))
    if analysis.unattributed:
        claims = [ClaimText(text=text) for text in analysis.unattributed]
        findings.append(_finding(dispatch, "", claims, summary, (Flag(kind="no_source", detail="no source id given"),)))
    findings += [_lead(dispatch, lead) for lead in analysis.leads]
    return findings


def _located(claims: Sequence[ClaimText], text: str, judge: Judge) -> tuple[list[ClaimText], list[ClaimText]]:
    """Claims whose quote stands in the source or that the source carries, with offsets; and the others."""
    locator = Locator(text)
    good: list[ClaimText] = []
    doubtful: list[ClaimText] = []
    for claim in claims:
        place = locator.find(claim.quote) if claim.quote else locator.find(claim.text)
        if place:
            start, end = place
            found = ClaimText(text=claim.text, quote=text[start:end], start=start, end=end)
            (good if judge(claim.text, text) in {"supported", "partial", "unchecked"} else doubtful).append(found)
        else:
            carried = judge(claim.text, text) == "supported"
            (good if carried else doubtful).append(ClaimText(text=claim.text))
    return good, doubtful


def _finding(dispatch: Dispatch, source_id: str, claims: Sequence[ClaimText], summary: str, flags: tuple[Flag, ...]) -> Finding:
    return Finding(
        id="",
        source_id=source_id,
        task=dispatch.task,
        top_task=dispatch.top_task,
        facet=dispatch.facet,
        depth=dispatch.depth,
        role=dispatch.role,
        summary=summary[:500],
        claims=tuple(claims),
        flags=flags,
    )


def _lead(dispatch: Dispatch, text: str) -> Finding:
    return _finding(dispatch, "", (), text, ()).model_copy(update={"kind": "lead"})

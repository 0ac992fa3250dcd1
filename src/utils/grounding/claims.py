"""The sentences of a report: which are claims, which need a citation, and which citation covers which."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from deepdelve.core.records import Claim
from deepdelve.utils.grounding import frame, worthiness
from deepdelve.utils.grounding import sentences as boundaries
from deepdelve.utils.grounding.citations import ParsedReport
from deepdelve.utils.grounding.markers import Marker

_TITLE_LINE = 260
SentenceKind = Literal["prose", "heading", "list", "table", "quote", "code"]
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S")
_LIST = re.compile(r"\s*(?:[-*+•▪◦]|\d{1,3}[.)]|[a-zA-Z][.)]|（\d{1,2}）)\s+")
_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)[^*_\n]{1,120}(?:\*\*|__):?\s*$")
_SOURCE_LINE = re.compile(
    r"[\s>*_(\[（-]*(?:sources?|references?|quellen?|fuentes?|via|see|来源|參考|参考|出典|citation)s?[\s*_]*[:：]", re.I
)
_TABLE_RULE = frozenset(" \t\r|:-")
_MARKUP = re.compile(r"\*\*|__|~~|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|^#{1,6}\s+")
_EMPTIED = re.compile(r"\(\s*(?:[,;]\s*)*\)|\[\s*\]|（\s*）")
_SPACED = re.compile(r" ([.,;:!?。，])")
_FRONT = re.compile(r"[\s>]*(?:(?:[-*+•▪◦]|\d{1,3}[.)])\s+)*(?:\[[ xX]\]\s+)?")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a report. ``text`` is clean of markup and markers; ``start``/``end`` are offsets of the raw sentence.

    ``section`` is the heading it stands under; ``block`` numbers its paragraph, list item or table row.
    """

    text: str
    start: int
    end: int
    section: str
    kind: SentenceKind
    block: int = 0


@dataclass(frozen=True)
class _Block:
    start: int
    end: int
    kind: SentenceKind
    section: str


def segment(text: str, parsed: ParsedReport | None = None) -> list[Sentence]:
    """The sentences of a report, headings included, code and sources lists left out. Linear in the text."""
    from deepdelve.utils.grounding import citations

    parsed = parsed or citations.parse(text)
    blanked = _blank_markers(parsed)
    found: list[Sentence] = []
    for number, block in enumerate(_blocks(parsed)):
        part = blanked[block.start : block.end]
        spans = [(0, len(part))] if block.kind in ("heading", "table") else boundaries.split(part, longest=2000)
        for start, end in spans:
            clean = clean_text(text, parsed, start + block.start, end + block.start)
            if any(char.isalnum() for char in clean):
                found.append(Sentence(clean, start + block.start, end + block.start, block.section, block.kind, number))
    return found


def extract_claims(text: str, parsed: ParsedReport, question: str = "") -> list[Claim]:
    """The claims of a report, unchecked, each with the labels of the citations that cover it.

    Headings, code and what a delivered report says of itself are no claims. ``needs_citation`` is false for framing, transitions,
    gap disclosures and the question restated.
    """
    sentences = segment(text, parsed)
    own = own_citations(sentences, parsed)
    covered = inherit(sentences, own, parsed)
    claims: list[Claim] = []
    top = frame.top_end(text)
    for number, sentence in enumerate(sentences):
        if sentence.kind in ("heading", "code") or not sentence.text:
            continue
        if sentence.start < top or (frame.is_notes(sentence.section) and not own[number]):
            continue
        labels = covered[number]
        needs = bool(own[number]) or worthiness.needs_citation(sentence.text, question=question, kind=sentence.kind)
        claims.append(
            Claim(
                id=f"c{len(claims) + 1}",
                text=sentence.text,
                span=(sentence.start, sentence.end),
                citations=labels,
                needs_citation=needs,
                facet=sentence.section,
            )
        )
    return claims


def own_citations(sentences: Sequence[Sentence], parsed: ParsedReport) -> list[tuple[str, ...]]:
    """For each sentence the labels of the markers that cover it directly.

    A marker covers the sentence it stands in or directly behind; one on a line of its own, or on a "Source:" line, covers the block above.
    """
    starts = [sentence.start for sentence in sentences]
    own: list[list[str]] = [[] for _ in sentences]
    for marker in parsed.markers:
        for number in _owners(marker, sentences, starts, parsed):
            own[number] += marker.targets
    return [tuple(dict.fromkeys(labels)) for labels in own]


def inherit(sentences: Sequence[Sentence], own: Sequence[tuple[str, ...]], parsed: ParsedReport) -> list[tuple[str, ...]]:
    """Citations with borrowed ones: the next of the paragraph, a section's leading work, or, where no marker cites, the list below."""
    result = list(own)
    for number in range(len(sentences) - 2, -1, -1):
        following = sentences[number + 1]
        if not result[number] and following.block == sentences[number].block and sentences[number].kind == "prose":
            result[number] = result[number + 1]
    _lead_citations(sentences, own, result, parsed)
    if parsed.listed and not any(own):
        result = [labels or _list_below(sentence, parsed) for sentence, labels in zip(sentences, result, strict=True)]
    return result


def _lead_citations(
    sentences: Sequence[Sentence], own: Sequence[tuple[str, ...]], result: list[tuple[str, ...]], parsed: ParsedReport
) -> None:
    """A section about one work: its heading or first line names the work by link or identifier, and the uncited rest speaks of it."""
    lead: tuple[str, ...] = ()
    fresh = False
    titles = {marker.start for marker in parsed.markers if marker.dialect in ("identifier", "link", "bare")}
    starts = sorted(titles)
    for number, sentence in enumerate(sentences):
        if sentence.kind == "heading" and parsed.text[sentence.start : sentence.end].lstrip().startswith("#"):
            lead, fresh = own[number], True
        elif sentence.kind != "heading" and fresh:
            fresh = False
            named = bisect_left(starts, sentence.start) < bisect_left(starts, sentence.end + 4) and len(sentence.text) < _TITLE_LINE
            lead = lead or (own[number] if named else ())
        elif lead and not result[number]:
            result[number] = lead


def _list_below(sentence: Sentence, parsed: ParsedReport) -> tuple[str, ...]:
    """The entries of the first unnumbered sources list behind a sentence."""
    if any(entry.label != entry.url for entry in parsed.listed):
        return ()
    ends = [end for _, end in parsed.body_spans]
    place = bisect_left(ends, sentence.end)
    start = ends[place] if place < len(ends) else len(parsed.text)
    stop = parsed.body_spans[place + 1][0] if place + 1 < len(parsed.body_spans) else len(parsed.text)
    return tuple(dict.fromkeys(entry.label for entry in parsed.listed if start <= entry.start < stop))


def clean_text(text: str, parsed: ParsedReport, start: int, end: int) -> str:
    """The words of a span: markers and markup gone, link texts kept, table cells joined."""
    starts = parsed.starts
    pieces: list[str] = []
    at = start
    for marker in parsed.markers[bisect_left(starts, start) : bisect_left(starts, end)]:
        pieces.append(text[at : marker.start])
        if marker.dialect == "link" and not _is_aside(text, marker):
            pieces.append(marker.label)
        at = max(at, marker.end)
    pieces.append(text[at:end])
    plain = _FRONT.sub("", "".join(pieces), count=1)
    if any(mark in plain for mark in "*_~`#"):
        plain = _MARKUP.sub("", plain)
    if any(mark in plain for mark in "([（"):
        plain = _EMPTIED.sub("", plain)
    plain = re.sub(r"\s*\|\s*", " | ", plain).strip(" |\n\t") if "|" in plain else plain
    return _SPACED.sub(r"\1", " ".join(plain.split())).strip()


def _is_aside(text: str, marker: Marker) -> bool:
    """Whether a link is a citation in brackets and no part of the sentence: ``([Site](url))``, ``[[name](url)]``."""
    before, after = text[max(0, marker.start - 2) : marker.start].rstrip(), text[marker.end : marker.end + 2].lstrip()
    return (before[-1:] in "([;（" and before != "" and after[:1] in ")];）") or marker.raw.startswith(("\\[[", "[["))


def _blank_markers(parsed: ParsedReport) -> str:
    """The text for splitting: markers become spaces, save link texts that belong to the sentence."""
    pieces: list[str] = []
    at = 0
    for marker in parsed.markers:
        pieces.append(parsed.masked[at : marker.start])
        keep = marker.dialect == "link" and not _is_aside(parsed.text, marker)
        pieces.append(
            f"[{marker.label}]".replace("\n", " ").ljust(marker.end - marker.start, "~") if keep else " " * (marker.end - marker.start)
        )
        at = marker.end
    pieces.append(parsed.masked[at:])
    return "".join(pieces)


def _blocks(parsed: ParsedReport) -> list[_Block]:
    """The paragraphs, list items, table rows and headings of the body. A source line is a block of no kind: it holds no sentence."""
    blocks: list[_Block] = []
    section = ""
    for start, end in parsed.body_spans:
        at, paragraph = start, -1
        lines = parsed.masked[start:end].split("\n")
        rows = _table_rows(lines)
        for number, line in enumerate(lines):
            stop = at + len(line)
            kind = "table" if number in rows else _line_kind(line)
            if kind == "heading":
                section = line.strip().strip("#*_ :")
            if not line.strip():
                paragraph = -1
            elif kind == "table" and _is_rule(line):
                if blocks and blocks[-1].kind == "table":
                    blocks[-1] = replace(blocks[-1], kind="heading")
                paragraph = -1
            elif _SOURCE_LINE.match(line) and ("http" in line or _cites(line)):
                paragraph = -1
            elif kind in ("prose", "quote") and paragraph >= 0:
                blocks[paragraph] = replace(blocks[paragraph], end=stop)
            else:
                blocks.append(_Block(at, stop, kind, section))
                paragraph = len(blocks) - 1 if kind in ("prose", "list", "quote") else -1
            at = stop + 1
    return blocks


def _cites(line: str) -> bool:
    """Whether a source line says nothing but which numbers it means."""
    return re.fullmatch(r"[^:：]{1,20}[:：][\s\[\]\d,;S()*_.–-]{1,200}", line) is not None


def _table_rows(lines: Sequence[str]) -> set[int]:
    """The lines of tables: those that begin with a bar, and those with a bar around a rule. Elsewhere a bar is part of a sentence."""
    rows = {number for number, line in enumerate(lines) if line.lstrip().startswith("|")}
    for number, line in enumerate(lines):
        if "|" not in line or not _is_rule(line):
            continue
        rows.add(number)
        if number and "|" in lines[number - 1]:
            rows.add(number - 1)
        below = number + 1
        while below < len(lines) and below not in rows and "|" in lines[below]:
            rows.add(below)
            below += 1
    return rows


def _is_rule(line: str) -> bool:
    return "---" in line and _TABLE_RULE.issuperset(line)


def _line_kind(line: str) -> SentenceKind:
    if _HEADING.match(line) or _BOLD_LINE.match(line):
        return "heading"
    stripped = line.strip()
    if stripped.startswith(">"):
        return "quote"
    return "list" if _LIST.match(line) else "prose"


def _owners(marker: Marker, sentences: Sequence[Sentence], starts: Sequence[int], parsed: ParsedReport) -> list[int]:
    """The sentences that a marker covers."""
    number = bisect_right(starts, marker.start) - 1
    if number < 0:
        return [0] if sentences and sentences[0].start - marker.end < 3 else []
    sentence = sentences[number]
    if marker.start < sentence.end:
        return [number]
    between = parsed.text[sentence.end : marker.start]
    following = sentences[number + 1] if number + 1 < len(sentences) else None
    if "\n" not in between:
        leads = following is not None and "\n" not in parsed.text[marker.end : following.start] and following.text[:1].islower()
        return [number + 1] if leads else [number]
    line_start = parsed.text.rfind("\n", 0, marker.start) + 1
    line_end = parsed.text.find("\n", marker.end)
    line_end = len(parsed.text) if line_end < 0 else line_end
    if following is not None and following.start < line_end:
        return [number + 1]
    if sentence.kind == "heading" or (_SOURCE_LINE.match(parsed.text[line_start:line_end]) is None and between.count("\n") > 3):
        return [] if sentence.kind == "heading" else [number]
    return _block_above(number, sentences)


def _block_above(number: int, sentences: Sequence[Sentence]) -> list[int]:
    """The whole paragraph or the whole table (or list) that ends at a sentence."""
    kind, block = sentences[number].kind, sentences[number].block
    first = number
    while first > 0 and (
        sentences[first - 1].block == block
        or (kind in ("table", "list") and sentences[first - 1].kind == kind and sentences[first - 1].section == sentences[number].section)
    ):
        first -= 1
    return list(range(first, number + 1))

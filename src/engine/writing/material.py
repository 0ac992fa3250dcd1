"""Evidence for FindingsWriter, within one budget for all its parts; and findings written by code from the records."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from deepdelve.core.records import Finding, Source
from deepdelve.engine.evidence import evidence, facet_of, source_order
from deepdelve.utils.phrases import say
from deepdelve.utils.run_state import RunState
from deepdelve.utils.words import content_words, one_line, overlap, sentences

# Two excerpts that share so many of their words say the same.
SAME_EXCERPT = 0.85
_QUOTE_CHARS = 400
_EXCERPT_CHARS = 700
_SHARE_FOR_NOTE = 200


@dataclass(frozen=True, slots=True)
class Material:
    """What FindingsWriter is given. ``source_ids`` are those in ``text``; ``omitted`` counts excerpts left out for room."""

    text: str
    source_ids: tuple[str, ...] = ()
    omitted: int = 0


@dataclass
class _Entry:
    """One source with all that was found in it for one facet."""

    source: Source
    facet: str
    lines: list[str] = field(default_factory=list[str])
    claims: int = 0

    def render(self) -> str:
        title = one_line(self.source.title) or one_line(self.source.url)
        dated = f", {one_line(self.source.date)}" if self.source.date else ""
        return "\n".join([f"[{self.source.id}] {title}{dated}", *(f"- {line}" for line in self.lines)])


def build(
    state: RunState,
    texts: Mapping[str, str] | None = None,
    budget_chars: int = 24_000,
    only_facet: str | None = None,
) -> Material:
    """The evidence as one text of at most ``budget_chars`` characters.

    Under each facet, a source has one entry with all its excerpts on it, deduplicated; the best entry stands first and the
    next best last, since a reader attends to both ends. Flags and their wording never appear.

    Args:
        state: the run's state.
        texts: source id to its stored text; sources whose finding says nothing of its own get an excerpt from it.
        budget_chars: room for everything, the note on omissions included.
        only_facet: evidence of this facet alone.
    """
    entries = _entries(state, texts or {}, only_facet)
    groups: dict[str, list[_Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.facet, []).append(entry)
    room = max(0, budget_chars - _SHARE_FOR_NOTE)
    parts, ids, omitted = _fill({facet: _ranked(group) for facet, group in groups.items()}, room)
    if omitted:
        parts.append(f"Left out for lack of room: {omitted} further {'excerpt' if omitted == 1 else 'excerpts'}.")
    return Material("\n\n".join(parts)[:budget_chars], tuple(source_order(ids)), omitted)


def deterministic_findings(state: RunState, *, without: Collection[str] = (), facets: Collection[str] | None = None) -> str:
    """``findings.md`` from the records alone: a section for each facet, a bullet for each claim, cited by id.

    Args:
        state: the run's state.
        without: ids of sources to leave out, since they are cited already.
        facets: only these; None for all.
    """
    groups: dict[str, dict[str, str]] = {}
    for finding in evidence(state):
        if finding.source_id in without or (facets is not None and facet_of(finding, state) not in facets):
            continue
        for line in _claim_lines(finding):
            groups.setdefault(facet_of(finding, state), {}).setdefault(line.casefold(), f"- {line.rstrip(' .')} [{finding.source_id}]")
    other = say("findings", state.language)
    return "\n\n".join(f"## {one_line(facet) or other}\n\n" + "\n".join(lines.values()) for facet, lines in groups.items())


def _entries(state: RunState, texts: Mapping[str, str], only_facet: str | None) -> list[_Entry]:
    found: dict[tuple[str, str], _Entry] = {}
    spoken: set[str] = set()
    for finding in evidence(state):
        facet = facet_of(finding, state)
        spoken.add(finding.source_id)
        if only_facet is not None and facet.casefold() != only_facet.casefold():
            continue
        entry = found.setdefault((facet, finding.source_id), _Entry(state.sources[finding.source_id], facet))
        _add(entry, finding)
    for source_id, facet in _silent(state, spoken).items():
        wanted = only_facet is None or facet.casefold() == only_facet.casefold()
        excerpt = _excerpt(texts.get(source_id, ""), f"{facet} {state.question}") if wanted else ""
        if excerpt:
            found[facet, source_id] = _Entry(state.sources[source_id], facet, [excerpt])
    return list(found.values())


def _silent(state: RunState, spoken: set[str]) -> dict[str, str]:
    """Citable sources of which no finding says anything, with the facet they were read for; flagged ones stay out."""
    readable = {source.id for source in state.citable_sources()} - spoken
    own = [f for f in state.findings.values() if f.kind == "claim" and f.source_id in readable]
    flagged = {finding.source_id for finding in own if finding.flags}
    return {finding.source_id: facet_of(finding, state) for finding in own if finding.source_id not in flagged}


def _add(entry: _Entry, finding: Finding) -> None:
    for claim in finding.claims:
        words = one_line(claim.quote, _QUOTE_CHARS).replace('"', "”")
        quote = f' "{words}"' if words else ""
        _put(entry, one_line(claim.text) + quote)
        entry.claims += 1
    if not finding.claims:
        _put(entry, one_line(finding.summary))


def _put(entry: _Entry, line: str) -> None:
    new = content_words(line)
    if line and not any(line == old or overlap(new, content_words(old)) >= SAME_EXCERPT for old in entry.lines):
        entry.lines.append(line)


def _claim_lines(finding: Finding) -> list[str]:
    if finding.claims:
        return [one_line(claim.text) for claim in finding.claims if claim.text.strip()]
    return [one_line(sentence) for sentence in sentences(finding.summary)]


def _ranked(entries: list[_Entry]) -> list[_Entry]:
    """Best first and next best last: the richest entries stand at both ends."""
    best = sorted(entries, key=lambda entry: (-entry.claims, -len(entry.lines)))
    return [*best[0::2], *reversed(best[1::2])]


def _fill(groups: Mapping[str, list[_Entry]], room: int) -> tuple[list[str], set[str], int]:
    """Facets share the room evenly; what one does not need goes to the next. Whole excerpts are left out, the last first."""
    parts: list[str] = []
    ids: set[str] = set()
    omitted = 0
    left = room
    for index, (facet, entries) in enumerate(sorted(groups.items(), key=lambda item: sum(len(e.render()) for e in item[1]))):
        share = left // (len(groups) - index)
        head = f"## {one_line(facet) or 'Findings'}"
        kept, dropped = _fit(entries, share - len(head) - 4)
        omitted += dropped
        if kept:
            text = "\n\n".join([head, *(entry.render() for entry in kept)])
            parts.append(text)
            ids |= {entry.source.id for entry in kept}
            left -= len(text) + 2
    return parts, ids, omitted


def _fit(entries: list[_Entry], room: int) -> tuple[list[_Entry], int]:
    """As many excerpts as fit: every source keeps its first before any keeps its last."""
    kept = [_Entry(entry.source, entry.facet, list(entry.lines), entry.claims) for entry in entries]
    total = sum(len(entry.render()) + 2 for entry in kept)
    dropped = 0
    while total > room and kept:
        longest = max(kept, key=lambda entry: (len(entry.lines), -entry.claims))
        if len(longest.lines) > 1:
            total -= len(longest.lines.pop()) + 3
        else:
            total -= len(longest.render()) + 2
            kept.remove(longest)
        dropped += 1
    return kept, dropped


def _excerpt(text: str, about: str) -> str:
    """The sentences at the start of a text that speak of what was asked, in 700 characters."""
    wanted = content_words(about)
    chosen = [s for s in sentences(text[:20_000]) if len(content_words(s) & wanted) >= 2]
    return one_line(" ".join(chosen))[:_EXCERPT_CHARS].rstrip()

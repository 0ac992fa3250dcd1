"""Grounding checks: is what the draft report says carried by sources that can be read. Pure: context in, facts or None out."""

from collections.abc import Callable, Iterable

import regex

from deepdelve.core.records import Claim, ClaimKind
from deepdelve.engine.completion.context import CheckContext
from deepdelve.engine.completion.draft import MARKER, Sentence
from deepdelve.engine.completion.gaps import discloses
from deepdelve.engine.completion.raised import raised_notes
from deepdelve.engine.completion.verdict import ClaimFact, Facts
from deepdelve.utils.words import content_words

# What the citation parser calls an unresolved citation, and a placeholder.
UNRESOLVED_KINDS = frozenset({"dangling", "duplicate", "runaway", "invented_subpage", "unknown", "unresolved"})
NON_URL_KINDS = frozenset({"author_year", "attribution", "non_url"})
_MAX_ITEMS = 20
_RUNAWAY = 12
_NOT_CARRIED = frozenset({"unsupported", "contradicted"})
_FIGURE = regex.compile(r"\d")
_DOUBLED = regex.compile(r"\[(S\d{1,6})\]\s?\[\1\]")
_NAMED_IN_WORDS = regex.compile(
    r"^[\s>*_(-]*(?:sources?|quellen?|fuentes?|fontes?|fonti|bron(?:nen)?|来源|出典)\s{0,3}[*_]{0,2}\s?[:：]\s*\S", regex.IGNORECASE
)
# Numbers, links and addresses are the citation parser's to resolve.
_OTHER_DIALECT = regex.compile(r"\[\^?\d{1,4}\]|\]\(|://")
_NAME = r"\p{Lu}[\p{L}'’.-]{1,40}"
_AUTHOR_YEAR = regex.compile(
    rf"\((?:[Ss]ee |[Cc]f\. )?(?!(?:January|February|March|April|May|June|July|August|September|October|November|December)\b)"
    rf"{_NAME}(?: {_NAME}){{0,4}}(?:,|(?: (?:and|&|und|et|y) {_NAME}),?| et al\.?,?) (?:1[89]|20)\d\d[a-z]?\)"
)
_PLACE = regex.compile(
    r"\[(?:please )?(?:insert|(?:add|your) (?:a |an |the )?(?:source|citation|reference|link|text|detail|name|date|figure|"
    r"content|title)|placeholder|todo|tbd|to be (?:added|determined|completed)|citation needed|source needed|"
    r"reference needed|einfügen|quelle einfügen|insérer|insertar|插入|待补充)[^\]\n]{0,80}\](?!\()|\[(?:\?+|x{2,}|\.{3}|"
    r"…)\](?!\()|\blorem ipsum\b|\{\{[^{}\n]{1,80}\}\}|<(?:insert|your|placeholder)\b[^<>\n]{0,60}>",
    regex.IGNORECASE,
)
# In small letters these are words of some language.
_CAPITAL_PLACE = regex.compile(r"\b(?:TODO|FIXME)\b|(?<![\p{L}\d])X{2,4}(?:[.,]X{1,3})? ?(?:%|€|\$|EUR|USD|million|billion)")
_DIFFERS = regex.compile(
    r"\b(?:differ|differs|disagree|disagrees|conflict|conflicts|conflicting|contradict|contradicts|contradictory|"
    r"inconsistent|discrepancy|diverge|diverges|whereas|by contrast|in contrast|widersprech\w*|widerspricht|abweich\w*|"
    r"hingegen|divergent|contredi\w*|tandis que|difieren|contradic\w*|mientras que|discordan\w*|mentre|verschillen|"
    r"terwijl)\b|不一致|矛盾|相违|異なる",
    regex.IGNORECASE,
)
# A line that is no sentence need not end like one.
_NOT_PROSE = regex.compile(r"^\s*(?:#{1,6}\s|\||[-*_]{3,}\s*$|```|>|!?\[[^\]\n]{0,200}\]\()|://")
_ENDS_WELL = regex.compile(r"[.!?…。！？।؟:：;)\]}\"'”’»」』*_`|>]\s*$")
_CONNECTIVE = regex.compile(
    r"\b(?:and|or|but|the|a|an|of|in|on|to|for|with|by|from|that|which|as|is|are|was|were|und|oder|der|die|das|von|mit|et|"
    r"ou|le|la|les|de|y|o|el|los|con)\W*$",
    regex.IGNORECASE,
)


def not_grounded(ctx: CheckContext) -> Facts | None:
    """The report cites nothing, or nothing that can be read."""
    if not ctx.report.exists or any(i in ctx.readable for i in ctx.report.cited):
        return None
    return Facts(count=len(ctx.report.cited), source_ids=ctx.report.cited, detail="unreadable" if ctx.report.cited else "uncited")


def no_urls(ctx: CheckContext) -> Facts | None:
    """Cited sources have no address that a reader could open."""
    bare = tuple(i for i in ctx.report.cited if i in ctx.sources and not (ctx.sources[i].url or ctx.sources[i].final_url).strip())
    return Facts(count=len(bare), source_ids=bare) if bare else None


def non_url_citation(ctx: CheckContext) -> Facts | None:
    """A statement is attributed in words alone: a name and a year, or "Source: …", with no id."""
    told = [s.text for s in ctx.report.sentences if not s.citations and not _OTHER_DIALECT.search(s.text)]
    loose = [text for text in told if _NAMED_IN_WORDS.search(text) or _AUTHOR_YEAR.search(text)]
    loose += [problem.detail for problem in ctx.facts.citation_problems if problem.kind in NON_URL_KINDS]
    return Facts(count=len(loose), quotes=_some(loose)) if loose else None


def unresolved_citation(ctx: CheckContext) -> Facts | None:
    """Citations that name no source of the run, name one twice at one place, run on without end, or are raised figures."""
    unknown = tuple(i for i in ctx.report.cited if i not in ctx.sources)
    named = [p for p in ctx.facts.citation_problems if p.kind in UNRESOLVED_KINDS]
    runaway = [s.text for s in ctx.report.sentences if len(s.citations) > _RUNAWAY]
    doubled = [s.text for s in ctx.report.sentences if _DOUBLED.search(s.text)]
    raised = raised_notes(ctx.report.text)
    if not (unknown or named or runaway or doubled or raised):
        return None
    ids = dict.fromkeys([*unknown, *(i for problem in named for i in problem.ids)])
    return Facts(source_ids=tuple(ids), quotes=_some([*(p.detail for p in named), *runaway, *doubled, *raised]))


def stub_source(ctx: CheckContext) -> Facts | None:
    """The report cites a page that was never read: a stub, a wall, an unreachable address, or a source that was dropped."""
    bad = tuple(i for i in ctx.report.cited if i in ctx.sources and i not in ctx.readable)
    if not bad:
        return None
    return Facts(count=len(bad), source_ids=bad, quotes=tuple(f"{i}: {ctx.sources[i].reason or ctx.sources[i].state}" for i in bad))


def unsupported(kind: ClaimKind) -> Callable[[CheckContext], Facts | None]:
    """The check for cited claims of one kind that their sources do not carry."""

    def check(ctx: CheckContext) -> Facts | None:
        bad = [c for c in ctx.claims if c.kind == kind and c.citations and c.status in _NOT_CARRIED]
        return Facts(count=len(bad), claims=tuple(claim_fact(c) for c in bad[:_MAX_ITEMS])) if bad else None

    check.__name__ = f"unsupported_{kind}"
    check.__doc__ = f"Cited claims decided by {kind} that their sources do not carry."
    return check


def cross_source_contradiction(ctx: CheckContext) -> Facts | None:
    """Two sources differ on one quantity, and no sentence or section sets them side by side."""
    hidden = [c for c in ctx.contradictions if not _said(ctx, frozenset(c.source_ids))]
    if not ctx.report.exists or not hidden:
        return None
    ids = dict.fromkeys(i for contradiction in hidden for i in contradiction.source_ids)
    return Facts(count=len(hidden), source_ids=tuple(ids), quotes=_some(f"{c.quantity}: {c.detail}" for c in hidden))


def excluded_topic(ctx: CheckContext) -> Facts | None:
    """The report treats what the question leaves out: under a heading of its own, or in three sentences or more."""
    found: dict[str, list[str]] = {}
    for topic in ctx.asked.excluded:
        wanted = content_words(topic)
        headings = [section.title for section in ctx.report.body if section.level > 1 and wanted <= content_words(section.title)]
        told = [s.text for s in ctx.report.sentences if s.citations and wanted <= s.words and not discloses(s)]
        if headings or len(told) >= 3:
            found[topic] = [*headings, *told]
    for topic, sentence in ctx.facts.excluded:
        found.setdefault(topic, []).append(sentence)
    if not ctx.report.exists or not found:
        return None
    return Facts(count=len(found), facets=tuple(found), quotes=_some(text for texts in found.values() for text in texts))


def off_topic_source(ctx: CheckContext) -> Facts | None:
    """A cited source does not speak of what it is cited for."""
    cited = tuple(i for i in ctx.off_topic if i in ctx.report.cited)
    return Facts(count=len(cited), source_ids=cited) if cited else None


def propagated_ungrounded_content(ctx: CheckContext) -> Facts | None:
    """The report repeats sentences of a rejected draft that had no readable source there, need one, and are not carried now either."""
    if not ctx.facts.rejected:
        return None
    wanting = {_key(claim.text) for claim in ctx.claims if claim.needs_citation and claim.status not in {"supported", "partial"}}
    before = {_key(s.text) for draft in ctx.rejected_drafts for s in draft.sentences if _loose(s, ctx) and len(s.words) >= 5}
    again = [s.text for s in ctx.report.sentences if (key := _key(s.text)) in before and key in wanting and not discloses(s)]
    return Facts(count=len(again), quotes=_some(again)) if again else None


def uncited_claims(ctx: CheckContext) -> Facts | None:
    """Sentences that need support and have none: as many as the limit, or any with a figure."""
    bare = [c for c in ctx.claims if c.needs_citation and not c.citations]
    if not bare or (len(bare) < ctx.limits.uncited_limit and not any(_FIGURE.search(c.text) for c in bare)):
        return None
    return Facts(count=len(bare), claims=tuple(claim_fact(c) for c in bare[:_MAX_ITEMS]))


def placeholder_text(ctx: CheckContext) -> Facts | None:
    """The report holds places that were meant to be filled in."""
    found = [m.group() for pattern in (_PLACE, _CAPITAL_PLACE) for m in pattern.finditer(ctx.report.text)]
    found += [problem.detail for problem in ctx.facts.citation_problems if problem.kind == "placeholder"]
    return Facts(count=len(set(found)), quotes=_some(found)) if found else None


def truncated_ending(ctx: CheckContext) -> Facts | None:
    """The report ends in mid-sentence, under a bare heading, or because the model ran out of room."""
    body = [section for section in ctx.report.body if section.level or section.text.strip()]
    if not ctx.report.exists or not body:
        return None
    last = next((line for line in reversed(body[-1].text.splitlines()) if line.strip()), "")
    cut = any(problem.kind == "truncated" for problem in ctx.facts.citation_problems)
    if ctx.facts.truncated or cut or not last or _cut(last):
        return Facts(quotes=((last or body[-1].title)[-200:],), detail="length" if ctx.facts.truncated else "")
    return None


def claim_fact(claim: Claim) -> ClaimFact:
    """A claim of the ledger as a fact of a verdict."""
    passage = claim.passage
    return ClaimFact(
        text=claim.text,
        status=claim.status,
        citations=claim.citations,
        reason=claim.reason,
        source_id=passage.source_id if passage else "",
        passage=passage.quote[:400] if passage else "",
    )


def _said(ctx: CheckContext, ids: frozenset[str]) -> bool:
    """Whether a sentence cites both sources, or one section cites both and says that they differ."""
    if any(ids <= set(s.citations) for s in ctx.report.sentences):
        return True
    for section in ctx.report.body:
        cited = {i for s in section.sentences for i in s.citations}
        if ids <= cited and _DIFFERS.search(section.text):
            return True
    return False


def _loose(sentence: Sentence, ctx: CheckContext) -> bool:
    """Whether a sentence of a rejected draft had no readable source."""
    return not any(i in ctx.readable for i in sentence.citations)


def _key(text: str) -> str:
    """A sentence as it compares: without markers, marks of emphasis, case and spacing."""
    return " ".join(MARKER.sub(" ", text).replace("*", "").casefold().split()).strip(" ._")


def _cut(line: str) -> bool:
    if _NOT_PROSE.search(line) or _ENDS_WELL.search(line):
        return False
    listed = regex.match(r"\s*(?:[-*+•]|\d{1,3}[.)])\s", line) is not None
    return bool(_CONNECTIVE.search(line)) or line.rstrip().endswith((",", "，", "、")) or (not listed and len(content_words(line)) >= 4)


def _some(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for item in items if item))[:_MAX_ITEMS]

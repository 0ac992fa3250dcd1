"""Coverage checks: does the work reach what was asked, and do the drafts use what was found. Pure: context in, facts or None out."""

import regex

from deepdelve.engine.completion.context import CheckContext
from deepdelve.engine.completion.draft import Draft, Section, Sentence
from deepdelve.engine.completion.gaps import discloses, undisclosed
from deepdelve.engine.completion.verdict import Facts
from deepdelve.engine.facets import mentions
from deepdelve.utils.words import content_words, count_words, words

_LIST_LINE = regex.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+\S")
_TABLE_LINE = regex.compile(r"^\s{0,3}\|.*\|\s*$")
_TABLE_RULE = regex.compile(r"^\s{0,3}\|[\s:|-]+\|\s*$")
_COMMA = regex.compile(r"[,;](?=\s)|[、，；]")
_LAST_OF_LIST = regex.compile(r"\b(?:and|or|und|oder|et|ou|y|o|e|en|of)\b|[和与及]", regex.IGNORECASE)
_FIGURE = regex.compile(r"\d")
_MARKER_DIGITS = regex.compile(r"\[[^\]\n]{0,80}\]")
_ITEM_ASKED = regex.compile(
    r"\b(?:how much|how many|how long|how old|how far|how large|how high|price|prices|cost|costs|fee|fees|rate|rates|figure|"
    r"figures|number|numbers|amount|percentage|share|date|dates|when|year|deadline|deadlines|rent|rents|salary|salaries|"
    r"capacity|population|wie viel|wie viele|wann|preis|preise|kosten|combien|quand|prix|cuánto|cuántos|cuándo|precio|"
    r"quanto|quanti|prezzo|hoeveel|wanneer|prijs)\b|多少|几|价格|いくら|いつ",
    regex.IGNORECASE,
)
# A longer facet is a question of its own, and asks for what it asks.
_NAME_WORDS = 6
# In a longer brief, a word for a figure need not concern every facet.
_PLAIN_QUESTION = 60
_ITEM_WORDS = 5
_MANY_SOURCES = 4
_FEW_SOURCES = 3


def findings_underuses_evidence(ctx: CheckContext) -> Facts | None:
    """A facet with evidence has no entry in the findings."""
    return _unused(ctx, ctx.findings) if ctx.findings.exists else None


def report_underuses_evidence(ctx: CheckContext) -> Facts | None:
    """The report cites none of the sources of a facet with evidence that speaks of it; else the facet is a gap."""
    return _unused(ctx, ctx.report, ctx.beside) if ctx.report.cited else None


def report_underuses_findings(ctx: CheckContext) -> Facts | None:
    """The report cites less than the set share of the findings' sources. A short answer need not cite widely."""
    usable = [i for i in ctx.findings.cited if i in ctx.readable]
    if ctx.style == "answer" or not ctx.report.exists or len(usable) < _FEW_SOURCES:
        return None
    used = [i for i in usable if i in ctx.report.cited]
    if len(used) >= ctx.limits.underuse_share * len(usable):
        return None
    return Facts(count=len(used), wanted=len(usable), source_ids=tuple(i for i in usable if i not in ctx.report.cited))


def missing_query_facet(ctx: CheckContext) -> Facts | None:
    """A part of the question is nowhere in the report, not even as a gap."""
    if not ctx.report.exists:
        return None
    told = ctx.report.words
    missing = tuple(facet for facet in ctx.facets if not mentions(facet, told, (other for other in ctx.facets if other != facet)))
    return Facts(facets=missing) if missing else None


def requested_count_shortfall(ctx: CheckContext) -> Facts | None:
    """The question asks for a number of items, and the report gives fewer and does not say so."""
    wanted = ctx.asked.requested
    if wanted is None or not ctx.report.exists:
        return None
    given = most_items(ctx.report)
    owned_up = any(discloses(s) or (str(given) in s.text and str(wanted.count) in s.text) for s in ctx.report.sentences)
    if given >= wanted.count or (given and owned_up):
        return None
    return Facts(count=given, wanted=wanted.count, detail=wanted.noun)


def thin_coverage(ctx: CheckContext) -> Facts | None:
    """Too few of the top-level tasks brought evidence."""
    found = ctx.coverage
    if found.total < 2 or found.share >= ctx.limits.thin_coverage:
        return None
    return Facts(count=len(found.covered), wanted=found.total, tasks=found.uncovered)


def task_verification_flagged(ctx: CheckContext) -> Facts | None:
    """A task brought nothing that can be cited, and its gap is not acknowledged."""
    flagged = {n: e for n, e in ctx.entries.items() if e.get("status") == "flagged" and not e.get("gap_acknowledged")}
    if not flagged:
        return None
    reasons = tuple(f"{name}: {entry.get('reason', '')}" for name, entry in flagged.items())
    return Facts(count=len(flagged), tasks=tuple(flagged), quotes=reasons)


def uneven_task_investment(ctx: CheckContext) -> Facts | None:
    """A covered task has far fewer sources than the richest one. Said once a run: nothing blocks on it, so that a second word is no use."""
    if ctx.fired.get("uneven_task_investment"):
        return None
    counts = {name: len(ctx.by_task.get(name, ())) for name in ctx.coverage.covered}
    richest = max(counts.values(), default=0)
    if len({i for ids in ctx.by_task.values() for i in ids}) < _MANY_SOURCES:
        return None
    poor = tuple(name for name, count in counts.items() if count < ctx.limits.uneven_share * richest)
    return Facts(count=min(counts[n] for n in poor), wanted=richest, tasks=poor) if poor else None


def undisclosed_evidence_gap(ctx: CheckContext) -> Facts | None:
    """Something asked could not be answered, and the report does not say so."""
    hidden = undisclosed(ctx.gaps, ctx.report) if ctx.report.exists else ()
    return Facts(count=len(hidden), wanted=len(ctx.gaps), gaps=hidden) if hidden else None


def missing_specific_item_per_facet(ctx: CheckContext) -> Facts | None:
    """The question asks for a figure or a date of each facet, and the report gives none for one that has evidence."""
    asks = _ITEM_ASKED.search(ctx.question) and len(words(ctx.question)) <= _PLAIN_QUESTION
    if not ctx.report.exists or len(ctx.facets) < 2 or not asks:
        return None
    treated = {facet: _about(facet, ctx.report) for facet in ctx.facets if len(words(facet)) <= _NAME_WORDS}
    bare = tuple(facet for facet, found in treated.items() if found and not any(_names_item(s) for s in found))
    return Facts(facets=bare) if bare and len(bare) < len(treated) else None


def most_items(report: Draft) -> int:
    """The largest number of items that any list, table, row of sibling sections, or enumeration in a sentence holds."""
    body = report.body
    levels = [section.level for section in body if section.level > 1 and section.text.strip()]
    siblings = max((levels.count(level) for level in set(levels)), default=0)
    told = max((_enumerated(sentence.text) for sentence in report.sentences), default=0)
    return max([siblings, told, *(_items(section) for section in body)])


def _items(section: Section) -> int:
    best = listed = rows = led = 0
    for line in section.text.splitlines():
        if _TABLE_RULE.match(line):
            rows = 0
        elif _TABLE_LINE.match(line):
            rows += 1
        elif _LIST_LINE.match(line):
            listed, rows = listed + 1, 0
        elif line.strip() and not line.startswith((" ", "\t")):
            listed = rows = 0
            led += line.startswith("**")
        best = max(best, listed, rows, led)
    return best


def _enumerated(text: str) -> int:
    """The items of the longest row of short pieces between commas: "A, B, C and D" gives 4; clauses are no items."""
    best = run = 0
    pieces = _COMMA.split(text)
    for index, piece in enumerate(pieces):
        run = run + 1 if count_words(piece) <= _ITEM_WORDS else 0
        # The first item may close a longer piece, and the last piece hold two.
        before, after = index >= run, _LAST_OF_LIST.search(piece) is not None
        best = max(best, run + before + after if run >= 2 else 0)
    return best


def _unused(ctx: CheckContext, draft: Draft, beside: frozenset[str] = frozenset()) -> Facts | None:
    unused = {facet: ids for facet, ids in ctx.by_facet.items() if not set(ids) & set(draft.cited) and not set(ids) <= beside}
    if not unused:
        return None
    ids = dict.fromkeys(i for own in unused.values() for i in own)
    return Facts(count=len(ctx.by_facet) - len(unused), wanted=len(ctx.by_facet), facets=tuple(unused), source_ids=tuple(ids))


def _about(facet: str, report: Draft) -> list[Sentence]:
    """What the report says of a facet: the sections under its name, else the sentences that name it."""
    own = [section for section in report.body if section.level and mentions(facet, content_words(section.title))]
    return [s for section in own for s in section.sentences] or [s for s in report.sentences if mentions(facet, s.words)]


def _names_item(sentence: Sentence) -> bool:
    """Whether it holds a figure, or says that there is none to give."""
    return bool(_FIGURE.search(_MARKER_DIGITS.sub(" ", sentence.text))) or discloses(sentence)

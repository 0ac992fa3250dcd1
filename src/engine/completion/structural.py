"""Structural checks: was research done, were the drafts written, are they fresh and well formed. Pure: context in, facts or None out."""

from collections import Counter, defaultdict
from itertools import chain, combinations, pairwise

import regex

from deepdelve.engine.completion.context import CheckContext
from deepdelve.engine.completion.draft import Section
from deepdelve.engine.completion.verdict import Facts
from deepdelve.engine.subjects import same_task
from deepdelve.utils.words import words

_SHINGLE = 3
_MIN_SHINGLES = 20
# Of a run of words that more sections share, only neighbours are compared: all pairs would be quadratic.
_ALL_PAIRS = 6
_META = regex.compile(
    r"\b(?:findings\.md|final_report(?:\.md)?|findings file|findings document|workspace files?|working files?|source material provided|"
    r"FindingsWriter|PeerReviewer|the (?:Searcher|Analyzer|Planner|Builder|Reviewer) (?:agent|role|specialist)|delegate_tasks|web_search|"
    r"(?:write|edit|read|grep)_workspace_file|(?:as|per) (?:you instructed|your instructions?|the (?:task|user)'?s? instructions?)|"
    r"(?:your|the user's) (?:prompt|instructions)|as an ai(?: language)? model|evidence gaps? section (?:in|of) the findings|"
    r"the findings provided|the provided (?:findings|evidence)|the completion check)\b",
    regex.IGNORECASE,
)
_ADDRESS = regex.compile(r"https?://\S+")


def not_delegated(ctx: CheckContext) -> Facts | None:
    """No dispatch ran in any process of the run, and no evidence came in another way."""
    if ctx.dispatched or ctx.readable or ctx.evidence_ids or ctx.evidence_only:
        return None
    return Facts(tasks=tuple(item.name for item in ctx.plan))


def missing_findings(ctx: CheckContext) -> Facts | None:
    """There is evidence to cite, and no findings after their stage."""
    if not ctx.findings_due or ctx.findings.exists or not ctx.evidence_ids:
        return None
    return Facts(count=len(ctx.evidence_ids), facets=tuple(ctx.by_facet))


def findings_ungrounded(ctx: CheckContext) -> Facts | None:
    """The findings cite an id that is unknown, unreadable, or that only flagged findings speak of."""
    bad = tuple(i for i in ctx.findings.cited if i not in ctx.readable or i in ctx.flagged_ids)
    if not ctx.findings.exists or not bad:
        return None
    entries = tuple(s.text for s in ctx.findings.sentences if set(s.citations) & set(bad))
    return Facts(source_ids=bad, quotes=entries[:20])


def stale_findings(ctx: CheckContext) -> Facts | None:
    """More sources can be cited now than when the findings were last written."""
    if not ctx.findings.exists or ctx.stamped_citable is None or ctx.citable <= ctx.stamped_citable:
        return None
    fresh = tuple(i for i in ctx.evidence_ids if i not in ctx.findings.cited)
    return Facts(count=ctx.stamped_citable, wanted=ctx.citable, source_ids=tuple(sorted(fresh)))


def missing_artifact(ctx: CheckContext) -> Facts | None:
    """No draft report after its stage, though there is something to write from."""
    if not ctx.report_due or ctx.report.exists or not (ctx.findings.exists or ctx.evidence_ids):
        return None
    return Facts(facets=tuple(ctx.by_facet))


def duplicate_report_sections(ctx: CheckContext) -> Facts | None:
    """Two sections of the report say the same in the same words."""
    sections = [section for section in ctx.report.body if section.level]
    shingles = [_shingles(section) for section in sections]
    shared: dict[tuple[int, int], int] = defaultdict(int)
    where: dict[tuple[str, ...], list[int]] = defaultdict(list)
    several = {shingle for shingle, count in Counter(chain.from_iterable(shingles)).items() if count > 1}
    for index, own in enumerate(shingles):
        for shingle in own & several:
            where[shingle].append(index)
    for holders in where.values():
        for pair in combinations(holders, 2) if len(holders) <= _ALL_PAIRS else pairwise(holders):
            shared[pair] += 1
    pairs = [pair for pair, count in shared.items() if _overlaps(count, shingles, pair, ctx.limits.duplicate_overlap)]
    if not pairs:
        return None
    return Facts(count=len(pairs), sections=tuple(dict.fromkeys(sections[i].title for pair in sorted(pairs) for i in pair)))


def report_meta_language(ctx: CheckContext) -> Facts | None:
    """The report speaks of working files, roles or instructions instead of its subject."""
    asked = ctx.question.casefold()
    bad = [s.text for s in ctx.report.sentences if (m := _META.search(s.text)) is not None and m.group().casefold() not in asked]
    return Facts(count=len(bad), quotes=tuple(bad[:10])) if bad else None


def untracked_delegation(ctx: CheckContext) -> Facts | None:
    """A top-level task is not in the plan. Said at most once a run."""
    if not ctx.plan or ctx.fired.get("untracked_delegation"):
        return None
    planned = {item.name.casefold().strip() for item in ctx.plan}
    extra = [t for t in ctx.top_tasks if t.name.casefold().strip() not in planned and t.state != "refused"]
    untracked = tuple(task.name for task in extra if not any(same_task(item, task) for item in ctx.plan))
    return Facts(tasks=untracked) if untracked else None


def _shingles(section: Section) -> frozenset[tuple[str, ...]]:
    told = [word for sentence in section.sentences for word in words(_without_addresses(sentence.key))]
    return frozenset(zip(*(told[i:] for i in range(_SHINGLE)), strict=False))


def _without_addresses(text: str) -> str:
    return _ADDRESS.sub(" ", text) if "://" in text else text


def _overlaps(count: int, shingles: list[frozenset[tuple[str, ...]]], pair: tuple[int, int], limit: float) -> bool:
    smaller = min(len(shingles[pair[0]]), len(shingles[pair[1]]))
    return smaller >= _MIN_SHINGLES and count / smaller > limit

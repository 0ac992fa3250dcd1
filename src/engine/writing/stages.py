"""The two writing stages: findings from the evidence, the report from the findings. A fix is the same with a directive."""

import asyncio
import re
from collections.abc import Sequence

from deepdelve.core import events as ev
from deepdelve.core.records import Artifact
from deepdelve.engine.completion.directives import StandingRequirements, standing_text
from deepdelve.engine.completion.draft import parse_draft
from deepdelve.engine.completion.gaps import as_words, gap_sentence
from deepdelve.engine.completion.verdict import Gap
from deepdelve.engine.context import RunContext
from deepdelve.engine.evidence import evidence
from deepdelve.engine.writing import material, salvage
from deepdelve.engine.writing.review_fix import Written, stamp, write_review_fix
from deepdelve.utils.fence import fence
from deepdelve.utils.files import write_text_atomic
from deepdelve.utils.grounding import ledger
from deepdelve.utils.run_state import artifact_file

# Drafts that were set aside and are looked at again at the end: the newest.
MOST_LOOKED_AT = 6
REPORT_BY_CODE = "code, from the findings"
_SECTION = re.compile(r"^#{1,6}\s", re.MULTILINE)


async def write_findings(ctx: RunContext, directive: str = "", facet: str | None = None, *, review: bool = True) -> Written:
    """Have findings.md written from the evidence, or mended.

    Args:
        ctx: the run.
        directive: what is wrong with it, for a fix.
        facet: only this facet's evidence is shown; then the file is edited and never replaced by code.
        review: whether a reviewer looks at it.
    """
    settings = ctx.services.settings.settings
    known = ctx.run.texts(s.id for s in ctx.run.state.citable_sources())
    found = material.build(ctx.run.state, known, settings.context_budget_chars, only_facet=facet)
    parts = [f"Question: {ctx.run.state.brief}"]
    draft = ctx.draft("findings")
    if directive:
        parts.append(directive)
    if facet is not None:
        parts.append(f"Work on the facet '{facet}' only, with edit_workspace_file; leave every other part of the file as it is.")
    if draft.strip():
        parts.append(f"findings.md now:\n{fence(draft, ctx.run.nonce)}")
    parts.append(f"The evidence:\n{fence(found.text, ctx.run.nonce)}")
    written = await write_review_fix(ctx, "findings", "\n\n".join(parts), review=review)
    if not written.ok and facet is None:
        return await _findings_by_code(ctx, written)
    return written


async def write_report(ctx: RunContext, directive: str = "", *, gaps: Sequence[Gap] = (), review: bool = True) -> Written:
    """Have final_report.md written from findings.md, or mended.

    Args:
        ctx: the run.
        directive: what is wrong with it, for a fix; it holds the standing requirements.
        gaps: what a first writing has to disclose.
        review: whether a reviewer looks at it.
    """
    state = ctx.run.state
    parts = [f"Question: {state.brief}"]
    if state.facets:
        parts.append("Parts of the question: " + "; ".join(state.facets))
    parts.append(directive or standing_text(standing(ctx, gaps), "Builder"))
    return await write_review_fix(ctx, "final_report", "\n\n".join(parts), review=review)


def standing(ctx: RunContext, gaps: Sequence[Gap]) -> StandingRequirements:
    """What every writer is told, whatever it writes or mends."""
    state = ctx.run.state
    return StandingRequirements(gaps=tuple(gaps), steering=tuple(ctx.late_instructions), language=state.language, nonce=ctx.run.nonce)


async def quarantine(ctx: RunContext, artifact: Artifact, problem: str, *, grounding: bool) -> str:
    """Set a draft aside under the next number; it is kept. Returns its file, or an empty string where there was none."""
    text = ctx.draft(artifact)
    if not text.strip():
        return ""
    number = len(ctx.run.state.rejected.get(artifact, [])) + 1
    name = f"draft/rejected/{artifact}_{number}.md"
    await ctx.run.keep(write_text_atomic, ctx.run.dir / name, text)
    (ctx.run.dir / artifact_file(artifact)).unlink(missing_ok=True)
    ctx.run.emit(ev.ArtifactRejected(artifact=artifact, file=name, problem=problem, grounding=grounding))
    return name


async def restore_best(ctx: RunContext, artifact: Artifact) -> bool:
    """Where no draft stands, bring back the newest rejected one that is not shorter than half of the longest."""
    if ctx.draft(artifact).strip() or not ctx.services.runs("restore"):
        return False
    names = ctx.run.state.rejected.get(artifact, [])
    texts = {name: ctx.run.read_file(name) for name in names}
    # A draft of headings alone says nothing: the findings themselves say more.
    best = salvage.best_snapshot({name: text for name, text in texts.items() if artifact == "findings" or parse_draft(text).sentences})
    if best is None:
        return False
    await ctx.run.keep(write_text_atomic, ctx.run.dir / artifact_file(artifact), ctx.run.read_file(best))
    stamp(ctx, artifact, f"restored from {best}")
    ctx.run.notice(f"The best earlier draft is restored ({best}).", code="restored")
    return True


async def hold_the_rest(ctx: RunContext, artifact: Artifact, before: str) -> bool:
    """Where a pass that was to mend one part lost sources that the draft cited, the draft from before stands again.

    Args:
        ctx: the run.
        artifact: what was mended.
        before: its draft before the pass; the pass itself is set aside.
    """
    if not _lost_sources(ctx, artifact, before) or not ctx.services.runs("hold_parts"):
        return False
    return await _put_back(ctx, artifact, before, "A pass that was to mend one part lost others")


async def hold_the_report(ctx: RunContext, before: str) -> bool:
    """Where mending left less than half of the claims that the report carried, the report from before stands again."""
    if not _lost_sources(ctx, "final_report", before) or not ctx.services.runs("hold_parts"):
        return False
    (had, _), (has, _) = await asyncio.to_thread(lambda: (carried(ctx, before), carried(ctx, ctx.draft("final_report"))))
    return 2 * has < had and await _put_back(ctx, "final_report", before, "Mending lost most of the report")


def carried(ctx: RunContext, text: str) -> tuple[int, int]:
    """How many different claims of a draft its sources carry, and how many it makes. Blocking: a second for a long report."""
    usable = ctx.run.state.usable_sources()
    claims = ledger.build_ledger(text, usable, ctx.indexes(), ctx.verifier, ctx.run.state.question)
    return len({claim.text.casefold() for claim in claims if claim.status == "supported"}), ledger.counts(claims).total


async def bring_back_better(ctx: RunContext) -> bool:
    """Where a run ends with problems left: a draft that was set aside and carries more than twice the claims of the one that stands.

    Where none does, and the one that stands claims nothing, a report is put together from the findings.
    """
    names = ctx.run.state.rejected.get("final_report", [])[-MOST_LOOKED_AT:]
    texts = {name: ctx.run.read_file(name) for name in names}
    if not ctx.draft("final_report").strip() or not ctx.services.runs("restore"):
        return False
    stands, claimed = await asyncio.to_thread(carried, ctx, ctx.draft("final_report"))
    worth = {name: (await asyncio.to_thread(carried, ctx, text))[0] for name, text in texts.items()}
    best = max(names, key=lambda name: worth[name], default="")
    if best and worth[best] > 2 * stands:
        await quarantine(ctx, "final_report", "less_carried", grounding=False)
        await ctx.run.keep(write_text_atomic, ctx.run.dir / artifact_file("final_report"), texts[best])
        stamp(ctx, "final_report", f"restored from {best}")
        ctx.run.notice(f"An earlier draft of which more is carried stands again ({best}).", code="restored")
        return True
    if claimed or not evidence(ctx.run.state) or not ctx.services.runs("report_by_code"):
        return False
    await quarantine(ctx, "final_report", "nothing_claimed", grounding=False)
    return await report_by_code(ctx)


def _lost_sources(ctx: RunContext, artifact: Artifact, before: str) -> bool:
    citable = {source.id for source in ctx.run.state.citable_sources()}
    return bool(set(parse_draft(before).cited) & citable - set(parse_draft(ctx.draft(artifact)).cited))


async def _put_back(ctx: RunContext, artifact: Artifact, before: str, what: str) -> bool:
    aside = await quarantine(ctx, artifact, "lost_parts", grounding=False)
    await ctx.run.keep(write_text_atomic, ctx.run.dir / artifact_file(artifact), before)
    stamp(ctx, artifact, "restored, as a pass lost parts of it")
    where = f" ({aside})" if aside else ""
    ctx.run.notice(f"{what}; the draft from before it stands again{where}.", code="restored")
    return True


async def report_by_code(ctx: RunContext) -> bool:
    """The last resort when no writer has written: the findings themselves as a report, each claim with its source."""
    state = ctx.run.state
    if not evidence(state) or not ctx.services.runs("report_by_code"):
        return False
    # Findings that a writer wrote may have left sources out: what the records hold of those stands below.
    written = ctx.draft("findings").strip()
    left_out = material.deterministic_findings(state, without=parse_draft(written).cited)
    body = "\n\n".join(part for part in (written, left_out) if part.strip())
    if not body.strip():
        return False
    lines = [f"# {as_words(state.question)[:200]}", "", _without_title(body)]
    covered = {f.top_task for f in evidence(state)}
    open_tasks = [task for task in state.top_tasks() if task.name not in covered]
    lines += ["", *(gap_sentence(task.facet or task.name, state.language) for task in open_tasks)]
    await ctx.run.keep(write_text_atomic, ctx.run.dir / artifact_file("final_report"), "\n".join(lines).rstrip() + "\n")
    stamp(ctx, "final_report", REPORT_BY_CODE)
    ctx.run.notice("No writer finished a report; it is put together from the findings by code.", level="warning", code="report_by_code")
    return True


async def entries_by_code(ctx: RunContext, facets: Sequence[str]) -> bool:
    """Add to findings.md what the records hold of facets that it leaves out; what stands there is kept as it is."""
    draft = ctx.draft("findings")
    added = material.deterministic_findings(ctx.run.state, facets=facets)
    if not added.strip() or not ctx.services.runs("findings_by_code"):
        return False
    await ctx.run.keep(write_text_atomic, ctx.run.dir / artifact_file("findings"), f"{draft.rstrip()}\n\n{added}\n")
    stamp(ctx, "findings", "code, facets from the records")
    named = "; ".join(facets)[:200]
    ctx.run.notice(f"FindingsWriter left facets out; they are added from the records: {named}.", level="warning", code="entries_by_code")
    return True


async def _findings_by_code(ctx: RunContext, written: Written) -> Written:
    text = material.deterministic_findings(ctx.run.state)
    if not text.strip() or not ctx.services.runs("findings_by_code"):
        return written
    await ctx.run.keep(write_text_atomic, ctx.run.dir / artifact_file("findings"), text.rstrip() + "\n")
    stamp(ctx, "findings", "code, from the records")
    why = f": {written.reason}" if written.reason else ""
    ctx.run.notice(f"FindingsWriter did not write{why}. The findings are taken from the records.", level="warning", code="findings_by_code")
    return Written(True, True, "", written.reason)


def _without_title(body: str) -> str:
    """The findings without a title of their own: the report has one."""
    first, _, rest = body.partition("\n")
    return rest.lstrip() if first.startswith("# ") and _SECTION.search(rest) else body

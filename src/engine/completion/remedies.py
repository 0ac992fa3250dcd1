"""What is done about a problem: one named function a remedy. A remedy returns a directive for the Planner, or None when it is done."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from deepdelve.core import events as ev
from deepdelve.core.records import PlanItem
from deepdelve.engine.completion import directives
from deepdelve.engine.completion.gaps import gap_sentence
from deepdelve.engine.completion.table import CheckSpec, Remedy
from deepdelve.engine.completion.verdict import Gap, Verdict
from deepdelve.engine.context import RunContext
from deepdelve.engine.research import TaskAsk
from deepdelve.engine.writing import stages
from deepdelve.engine.writing.citation_fix import mend_citations
from deepdelve.engine.writing.review_fix import stamp
from deepdelve.utils.files import write_text_atomic
from deepdelve.utils.phrases import say
from deepdelve.utils.run_state import artifact_file

DEEPENING_TASKS = 3
_LEADS = 4


@dataclass(frozen=True)
class Due:
    """A remedy that is due: the problem's row and facts, the gaps that every report must keep disclosing, and whether to rebuild."""

    ctx: RunContext
    spec: CheckSpec
    verdict: Verdict
    gaps: tuple[Gap, ...] = ()
    rebuild: bool = False

    @property
    def standing(self) -> directives.StandingRequirements:
        """What every writer is told again, whatever it mends."""
        return stages.standing(self.ctx, self.gaps)


async def planner_nudge(due: Due) -> str | None:
    """Say to the Planner what is missing. One that was told to delegate and did not is helped: the question becomes the one task."""
    run = due.ctx.run
    told = sum(attempt.problem == "not_delegated" for attempt in run.state.attempts_log)
    if due.spec.problem == "not_delegated" and told > 1 and due.ctx.services.runs("question_as_task"):
        await delegate_question(due.ctx)
        return None
    return directives.render(due.verdict, "Planner", due.standing)


async def delegate_question(ctx: RunContext) -> None:
    """Research the question itself as one task: a Planner that cannot be parsed costs no run."""
    ctx.run.notice(
        "The Planner delegated nothing; the question itself is researched as one task.", level="warning", code="question_as_task"
    )
    title = " ".join(ctx.run.state.question.split())[:100]
    ctx.run.planner_rounds += 1
    await ctx.researcher.search_task(TaskAsk(title, ctx.run.state.question, title), 1, "")


async def plan_note(due: Due) -> str | None:
    """Add tasks that the plan did not hold."""
    run = due.ctx.run
    items = [*run.state.plan, *(PlanItem(name=name, facet=run.state.tasks[name].facet) for name in due.verdict.facts.tasks)]
    run.emit(ev.PlanWritten(items=tuple(items)))
    return None


async def deepening(due: Due) -> str | None:
    """One round of research without the Planner: leads of thin tasks first, else the missing facets themselves."""
    ctx, facts = due.ctx, due.verdict.facts
    asks: list[TaskAsk] = []
    wanted = [*facts.facets, *facts.tasks]
    for name in wanted:
        task = ctx.run.state.tasks.get(name)
        facet = (task.facet or task.name) if task else name
        leads = [f.summary for f in ctx.run.state.findings.values() if f.kind == "lead" and f.top_task == name]
        title = _fresh_name(ctx, f"{facet}: deeper")
        told = task.instructions if task else f"{facet} (a part of the question: {ctx.run.state.question})"
        asks.append(TaskAsk(title, told, facet, directions=tuple(leads[:_LEADS])))
    if not asks:
        return directives.render(due.verdict, "Planner", due.standing)
    for ask in asks[:DEEPENING_TASKS]:
        await ctx.researcher.search_task(ask, 1, "")
    return None


async def acknowledge_gap(due: Due) -> str | None:
    """Stop asking for what cannot be found; from now on it is a gap to be disclosed."""
    entries = {name: dict(entry) for name, entry in due.ctx.run.state.task_ledger.items()}
    for name in due.verdict.facts.tasks:
        entries.setdefault(name, {"status": "flagged"})["gap_acknowledged"] = True
    due.ctx.run.emit(ev.TaskLedger(entries=entries))
    return None


async def findings_writer(due: Due) -> str | None:
    """FindingsWriter writes findings.md anew or mends it."""
    await stages.write_findings(due.ctx, directives.render(due.verdict, "FindingsWriter", due.standing))
    return None


async def findings_facets(due: Due) -> str | None:
    """One pass a facet, in turn: each sees its own facet's evidence and edits only its own part."""
    for facet in due.verdict.facts.facets[: _facet_limit(due)]:
        before = due.ctx.draft("findings")
        await stages.write_findings(due.ctx, directives.render(due.verdict, "FindingsWriter", due.standing), facet=facet, review=False)
        if await stages.hold_the_rest(due.ctx, "findings", before):
            await stages.entries_by_code(due.ctx, [facet])
    return None


async def findings_entries(due: Due) -> str | None:
    """Facets that FindingsWriter goes on leaving out are added by code, from the records."""
    await stages.entries_by_code(due.ctx, due.verdict.facts.facets)
    return None


async def builder(due: Due) -> str | None:
    """Builder mends the report, or writes it anew where mending has failed in a row."""
    before = due.ctx.draft("final_report")
    rebuild = due.rebuild and due.ctx.services.runs("rebuild")
    if rebuild:
        await stages.quarantine(due.ctx, "final_report", due.spec.problem, grounding=due.spec.tier == "grounding")
    await stages.write_report(due.ctx, directives.render(due.verdict, "Builder", due.standing))
    if not await stages.restore_best(due.ctx, "final_report") and not rebuild:
        await stages.hold_the_report(due.ctx, before)
    return None


async def builder_facets(due: Due) -> str | None:
    """One Builder pass a facet, in turn: asked for all at once, a model crowds the harder facets out."""
    base = directives.render(due.verdict, "Builder", due.standing)
    for facet in due.verdict.facts.facets[: _facet_limit(due)]:
        directive = f"{base}\n\nThis time mend the facet '{facet}' only, with edit_workspace_file; leave the rest as it is."
        before = due.ctx.draft("final_report")
        await stages.write_report(due.ctx, directive, review=False)
        await stages.hold_the_rest(due.ctx, "final_report", before)
    return None


async def report_by_code(due: Due) -> str | None:
    """A report that the Builder goes on not writing is put together from the findings, so that the checks have one to look at."""
    if not due.ctx.draft("final_report").strip():
        await stages.report_by_code(due.ctx)
    return None


async def gap_section(due: Due) -> str | None:
    """Disclose the gaps by code: it does not depend on a writer."""
    ctx = due.ctx
    draft = ctx.draft("final_report")
    language = ctx.run.state.language
    sentences = [gap_sentence(q, language) for gap in due.verdict.facts.gaps for q in (gap.questions or (gap.facet,))]
    new = [sentence for sentence in dict.fromkeys(sentences) if sentence not in draft]
    if new:
        text = f"{draft.rstrip()}\n\n## {say('evidence_gaps', language)}\n\n" + "\n\n".join(new) + "\n"
        await ctx.run.keep(write_text_atomic, ctx.run.dir / artifact_file("final_report"), text)
        stamp(ctx, "final_report", "code, gap section")
    return None


async def citation_repair(due: Due) -> str | None:
    """Map citations typed in another form to ids where that is unambiguous, and drop ids that no source has."""
    ctx = due.ctx
    draft = ctx.draft("final_report")
    mended = mend_citations(draft, ctx.run.state.sources)
    if mended != draft and mended.strip():
        await ctx.run.keep(write_text_atomic, ctx.run.dir / artifact_file("final_report"), mended)
        stamp(ctx, "final_report", "code, citations mended")
    return None


REMEDIES: Mapping[Remedy, Callable[[Due], Awaitable[str | None]]] = {
    "planner_nudge": planner_nudge,
    "plan_note": plan_note,
    "deepening": deepening,
    "acknowledge_gap": acknowledge_gap,
    "findings_writer": findings_writer,
    "findings_facets": findings_facets,
    "findings_entries": findings_entries,
    "builder": builder,
    "builder_facets": builder_facets,
    "report_by_code": report_by_code,
    "gap_section": gap_section,
    "citation_repair": citation_repair,
}


def _facet_limit(due: Due) -> int:
    return due.ctx.services.settings.settings.completion.facet_dispatches


def _fresh_name(ctx: RunContext, name: str) -> str:
    taken = ctx.run.state.tasks
    return name if name not in taken else f"{name} ({sum(other.startswith(name) for other in taken) + 1})"

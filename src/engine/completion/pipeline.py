"""The completion check: both first writings as stages, then attempts: all checks, one verdict, its remedy, within a frozen budget."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from deepdelve.core import events as ev
from deepdelve.core.records import Artifact, Claim, Outcome
from deepdelve.engine.completion import directives
from deepdelve.engine.completion.context import CheckContext, CitationProblem, ReportFacts, open_gaps, prepare
from deepdelve.engine.completion.draft import parse_draft
from deepdelve.engine.completion.relations import nothing_to_the_point
from deepdelve.engine.completion.remedies import REMEDIES, Due
from deepdelve.engine.completion.schedule import Decision, Firing, active_facts, choose, firings, force_rebuild
from deepdelve.engine.completion.table import RESEARCH_REMEDIES, CheckSpec, active_table, by_problem, evaluate
from deepdelve.engine.completion.verdict import Gap, Verdict
from deepdelve.engine.context import RunContext
from deepdelve.engine.evidence import evidence
from deepdelve.engine.task_ledger import coverage, recompute
from deepdelve.engine.writing import delivery, stages
from deepdelve.utils.grounding import citations, ledger

OUT_OF_TIME = "the time of the run was used up. Give it more (settings.max_run_minutes), or choose a faster model"
OUT_OF_TOKENS = "the token budget of the run was used up. Give it more (settings.max_tokens)"
NO_WRITER = "no writer finished a report"
# Without progress for this many rounds in a row, research ends.
STALLED_ROUNDS = 2


@dataclass(frozen=True)
class Ending:
    """How the run ends."""

    outcome: Outcome
    problems: tuple[str, ...] = ()
    reason: str = ""


@dataclass
class CompletionCheck:
    """The check of one run in this process. ``step`` is called after each turn of the Planner."""

    ctx: RunContext
    history: list[Firing] = field(default_factory=list[Firing])
    attempt: int = 0
    ending: Ending | None = None
    stalled: int = 0
    staged: set[Artifact] = field(default_factory=set[Artifact])
    _seen: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        self.ablation = self.ctx.services.ablation
        self.table = active_table(disabled=self.ablation.checks)
        self.attempts = self.ctx.run.budget.attempts
        self.threshold = self.ctx.services.settings.settings.completion_check_escalation_threshold

    async def step(self) -> str | None:
        """Go as far as possible without the Planner. Returns what to say to it, or None when the run may end."""
        self._note_progress()
        for _ in range(self.attempts + 1 - self.attempt):
            if self._out_of_time():
                break
            await self._late_steering()
            await self._first_writings()
            self.attempt += 1
            directive, decision = await self._attempt()
            if decision.problem is None and self.ctx.run.commands and self.attempt <= self.attempts:
                continue
            if decision.problem is None:
                self.ending = self._ended(decision)
                return None
            if directive is not None:
                return directive
        self.ending = self.ending or Ending("partial", self._active_problems(), OUT_OF_TIME)
        return None

    async def _late_steering(self) -> None:
        """What the person said after research ended, or while the last look was taken: it holds for every writing from now on."""
        ctx = self.ctx
        looked = any(firing.process == ctx.run.state.processes and not firing.problem for firing in ctx.run.state.attempts_log)
        if not (self.research_over() or looked):
            return
        new = ctx.run.take_commands()
        ctx.late_instructions += new
        if new and ctx.draft("final_report").strip():
            told = directives.standing_text(stages.standing(ctx, await self._gaps()), "Builder")
            await stages.write_report(ctx, f"The person asks for a change of the report: {' '.join(new)}\n\n{told}")

    async def _gaps(self) -> tuple[Gap, ...]:
        """What was asked and the evidence does not answer."""
        state, findings = self.ctx.run.state, self.ctx.draft("findings")
        return await asyncio.to_thread(lambda: open_gaps(state, coverage(state).uncovered, parse_draft(findings)))

    def _out_of_time(self) -> bool:
        return self.ctx.run.clock.remaining() <= 0

    def _note_progress(self) -> None:
        """Rounds that bring no new page and no new query end research, with that reason."""
        run = self.ctx.run
        now = (len(run.state.sources), len(set(run.state.queries)))
        if run.planner_rounds:
            self.stalled = self.stalled + 1 if now == self._seen else 0
        self._seen = now
        if self.stalled >= STALLED_ROUNDS and not run.research_closed and self.ctx.services.runs("no_progress"):
            run.research_closed = f"{STALLED_ROUNDS} rounds in a row brought no new page and no new query"
            run.notice(f"Research ends: {run.research_closed}.", code="no_progress")

    async def _first_writings(self) -> None:
        """The first writing of each artifact is a stage, not a failed check."""
        run = self.ctx.run
        if not self._to_write_from():
            return
        if self._stage_is_due("findings"):
            run.emit(ev.StageChanged(stage="writing_findings"))
            await stages.write_findings(self.ctx)
            run.checkpoint()
        if self.ctx.draft("findings").strip() and not self._out_of_time() and self._stage_is_due("final_report"):
            run.emit(ev.StageChanged(stage="writing_report"))
            gaps = await self._gaps() if self.ctx.services.runs("standing_gaps") else ()
            await stages.write_report(self.ctx, gaps=gaps)
            run.checkpoint()

    def _to_write_from(self) -> bool:
        """Whether there is evidence that speaks of what was asked. What has been written already is looked at in any case."""
        state = self.ctx.run.state
        return bool(evidence(state)) and (bool(state.drafts) or not nothing_to_the_point(state))

    def _stage_is_due(self, artifact: Artifact) -> bool:
        """Whether an artifact is still to be written for the first time; once tried, its absence is for the checks."""
        due = artifact not in self.ctx.run.state.drafts and artifact not in self.staged
        self.staged.add(artifact)
        return due

    async def _attempt(self) -> tuple[str | None, Decision]:
        run = self.ctx.run
        if run.state.stage != "checking" and self._to_write_from():
            run.emit(ev.StageChanged(stage="checking"))
        run.emit(ev.TaskLedger(entries=await asyncio.to_thread(recompute, run.state)))
        context, verdicts = await self._look()
        facts = active_facts(verdicts, self._hashes())
        decision = choose(self.history, facts, self.attempt, self.attempts, self.threshold, self._rows())
        if decision.problem is not None and run.out_of_tokens():
            # What is left of the budget is nothing: the drafts stand as they are, and what is wrong with them is named.
            blocked = any(by_problem(self.table)[name].blocks for name in decision.named)
            decision = Decision(None, "unverified" if blocked else "verified", decision.named)
        if decision.problem is None:
            run.emit(ev.CheckVerdict(attempt=self.attempt, active=tuple(verdicts), detail=decision.outcome))
            return None, decision
        spec = by_problem(self.table)[decision.problem]
        fired = firings((a.problem for a in run.state.attempts_log), spec.problem)
        remedy = spec.remedy_at(fired, run.state.evidence_only, self.ablation.remedies)
        self.history.append(Firing(spec.problem, tuple(verdicts), facts[spec.problem]))
        verdict = verdicts[spec.problem]
        detail = verdict.facts.detail or _named(verdict)
        run.emit(ev.CheckVerdict(attempt=self.attempt, problem=spec.problem, active=tuple(verdicts), remedy=remedy or "", detail=detail))
        if remedy is None:
            return None, decision
        rebuild = force_rebuild(self.history, spec, self.threshold)
        if spec.quarantine is not None:
            await stages.quarantine(self.ctx, spec.quarantine, spec.problem, grounding=spec.tier == "grounding")
        directive = await REMEDIES[remedy](Due(self.ctx, spec, verdict, context.gaps, rebuild))
        if spec.quarantine is not None:
            await stages.restore_best(self.ctx, spec.quarantine)
        run.checkpoint()
        return directive, decision

    def research_over(self) -> bool:
        """Whether no more research can follow."""
        run = self.ctx.run
        return bool(run.state.evidence_only or run.research_closed or run.planner_rounds >= run.budget.planner_rounds)

    def _rows(self) -> Sequence[CheckSpec]:
        """The rows in force: what only research can mend is left out once research is closed, and then makes the run partial."""
        run = self.ctx.run
        if run.state.evidence_only:
            return tuple(spec for spec in self.table if not spec.needs_research)
        if self.research_over():
            return tuple(spec for spec in self.table if spec.problem == "not_delegated" or not set(spec.remedy) <= RESEARCH_REMEDIES)
        return self.table

    async def _look(self) -> tuple[CheckContext, dict[str, Verdict]]:
        """Ledger, context and verdicts: everything costly, once, off the event loop, which changes no state meanwhile."""
        ctx, state = self.ctx, self.ctx.run.state
        drafts = {name: ctx.draft(name) for name in ("findings", "final_report")}
        rejected = tuple(ctx.run.read_file(name) for name in state.rejected.get("final_report", []) if name in state.rejected_for_grounding)
        rows, limits, due = self._rows(), ctx.services.settings.settings.completion, self._to_write_from()

        def costly() -> tuple[list[Claim], CheckContext, dict[str, Verdict]]:
            claims, facts = _report_facts(ctx, drafts["final_report"], rejected)
            context = prepare(state, drafts, claims, facts=facts, limits=limits, findings_due=due, report_due=due)
            return claims, context, evaluate(context, rows)

        ctx.ledger, context, verdicts = await asyncio.to_thread(costly)
        return context, verdicts

    def _why_nothing(self) -> str:
        """Whether nothing was found, nothing could be searched, or nothing was carried through."""
        if evidence(self.ctx.run.state):
            return "what was read speaks of something else than the question"
        health = self.ctx.run.state.search_health
        ill = {engine: outcome for engine, outcome in health.items() if outcome not in {"ok", "empty"}}
        if ill and len(ill) == len(health):
            named = "; ".join(f"{engine}: {outcome.replace('_', ' ')}" for engine, outcome in ill.items())
            return f"no search engine answered ({named[:200]})"
        top = self.ctx.run.state.top_tasks()
        if top and all(task.state == "failed" for task in top):
            return f"every research task failed. {top[0].reason}"
        if self.ctx.run.research_closed and self.ctx.run.budget.tokens:
            return f"{self.ctx.run.research_closed} before anything was found. Give it more (settings.max_tokens)"
        return "no source that could be read answers the question"

    def _hashes(self) -> dict[str, str]:
        return {name: hashlib.sha256(self.ctx.draft(name).encode()).hexdigest()[:16] for name in ("findings", "final_report")}

    def _active_problems(self) -> tuple[str, ...]:
        log = self.ctx.run.state.attempts_log
        return log[-1].active if log else ()

    def _ended(self, decision: Decision) -> Ending:
        """The outcome: verified only where nothing blocks, every top-level task was carried through, and there is a report."""
        state = self.ctx.run.state
        if not self._to_write_from():
            return Ending("no_evidence", (), self._why_nothing())
        if decision.outcome == "unverified":
            why = OUT_OF_TOKENS if self.ctx.run.out_of_tokens() else "problems remain that could not be mended"
            return Ending("unverified", decision.named, why)
        written = state.drafts.get("final_report")
        if written is not None and written.by == stages.REPORT_BY_CODE:
            return Ending("partial", (), NO_WRITER)
        stood_for = {name for name, entry in state.task_ledger.items() if entry.get("status") == "superseded"}
        broken = [task for task in state.top_tasks() if task.state in {"failed", "refused"} and task.name not in stood_for]
        failed = [task for task in broken if not _has_evidence(self.ctx, task.name)]
        if failed:
            why = f". {failed[0].reason}" if failed[0].reason else ""
            named = "; ".join(task.name for task in failed)[:200]
            return Ending("partial", (), f"{len(failed)} of {len(state.top_tasks())} research tasks failed: {named}{why}")
        return Ending("verified")


def _report_facts(ctx: RunContext, report: str, rejected: tuple[str, ...]) -> tuple[list[Claim], ReportFacts]:
    """The claim ledger of the report draft, and what else is known of it."""
    state = ctx.run.state
    if not report.strip():
        return [], ReportFacts()
    usable = state.usable_sources()
    parsed = citations.parse(report, known=set(usable))
    claims = ledger.build_ledger(report, usable, ctx.indexes(), ctx.verifier, state.question, parsed=parsed)
    problems = tuple(CitationProblem(p.kind, p.detail) for p in parsed.problems)
    stamped = state.drafts.get("final_report")
    return claims, ReportFacts(problems, rejected=rejected, truncated=stamped is not None and stamped.truncated)


async def conclude(ctx: RunContext, ending: Ending) -> Ending:
    """Deliver what there is: the report, or the short report that says there is none."""
    run, stand_in = ctx.run, ""
    run.emit(ev.StageChanged(stage="delivering"))
    if ending.outcome != "verified" and not parse_draft(ctx.draft("final_report")).sentences:
        # Headings alone are no report: an earlier draft, or the findings, say more.
        await stages.quarantine(ctx, "final_report", "hollow", grounding=False)
    if (not evidence(run.state) or nothing_to_the_point(run.state)) and not ctx.draft("final_report").strip():
        stand_in = delivery.no_evidence_report(run.state)
        if ending.outcome in {"verified", "partial", "unverified"}:
            ending = Ending("no_evidence", ending.problems, ending.reason)
    elif not ctx.draft("final_report").strip() and not await stages.restore_best(ctx, "final_report"):
        outcome: Outcome = "partial" if await stages.report_by_code(ctx) else "no_report"
        if ending.outcome in {"verified", "unverified", "partial"}:
            ending = Ending(outcome, ending.problems, ending.reason or NO_WRITER)
    if ending.outcome == "verified":
        ending = await asyncio.to_thread(_borne_out, ctx)
    elif ending.outcome in {"unverified", "partial"} and await stages.bring_back_better(ctx):
        ending = await _of_an_earlier_draft(ctx, ending)
    await run.keep_in_thread(delivery.deliver, ctx, ending.outcome, ending.problems, ending.reason, stand_in)
    return ending


async def _of_an_earlier_draft(ctx: RunContext, ending: Ending) -> Ending:
    """What was left open was left open of another draft; of this one its claims tell."""
    borne_out = await asyncio.to_thread(_borne_out, ctx)
    stamped = ctx.run.state.drafts.get("final_report")
    by_code = stamped is not None and stamped.by == stages.REPORT_BY_CODE
    return Ending("partial" if by_code else ending.outcome, borne_out.problems, NO_WRITER if by_code else ending.reason)


def _borne_out(ctx: RunContext) -> Ending:
    """Verified, where the claims of the report as it will be delivered bear it out: checks let a few uncited sentences pass."""
    claims, _ = _report_facts(ctx, ctx.draft("final_report"), ())
    number = ledger.counts(claims)
    left = number.unsupported + number.contradicted
    if not left and number.supported:
        return Ending("verified")
    why = f"{left} of {number.total} claims {'is' if left == 1 else 'are'} not carried by a source" if left else "no claim of it is carried"
    return Ending("unverified", ("claim_unsupported",), why)


def _has_evidence(ctx: RunContext, task: str) -> bool:
    return any(finding.top_task == task for finding in evidence(ctx.run.state))


def _named(verdict: Verdict) -> str:
    facts = verdict.facts
    return "; ".join([*facts.facets, *facts.tasks, *facts.source_ids, *(claim.text[:80] for claim in facts.claims)])[:300]

"""How a run goes from its first event to its last: seeds, Planner, completion check, delivery; and how it ends when it breaks off."""

import asyncio
import logging
from dataclasses import replace

from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError, DeepDelveError, DiskError
from deepdelve.core.records import EXIT_CODES, Outcome
from deepdelve.core.requests import RunResult
from deepdelve.engine import store, usage
from deepdelve.engine.agents import make_agent
from deepdelve.engine.budget import RESEARCH_SHARE
from deepdelve.engine.completion.pipeline import OUT_OF_TIME, CompletionCheck, Ending, conclude
from deepdelve.engine.context import RunContext
from deepdelve.engine.dispatch import SHORTER
from deepdelve.engine.evidence import evidence
from deepdelve.engine.evidence_bundle import record as record_bundle
from deepdelve.engine.gate import Dispatch, DispatchAbort, RunAbort
from deepdelve.engine.intake import intake
from deepdelve.engine.loop import run_agent_loop
from deepdelve.engine.outage import MAX_OUTAGES, WAITS
from deepdelve.engine.research import TaskAsk
from deepdelve.engine.surface import RunLoopSurface, TurnResult
from deepdelve.engine.writing.delivery import citation_refs
from deepdelve.tools.intake import fetch_source

log = logging.getLogger(__name__)

SEED_TASK = "What the given documents say"
_PLANNER_RETRIES = 1
# Turns of the Planner that steering may add.
_STEERED_TURNS = 8


async def conduct(ctx: RunContext) -> RunResult:
    """Run to the end. Whatever happens, the run ends with an outcome and what it has.

    Raises:
        asyncio.CancelledError: only if it is cancelled a second time while it saves.
    """
    try:
        ending = await _research_and_check(ctx)
        ending = await conclude(ctx, _masked(ctx, ending))
    except asyncio.CancelledError:
        ending = Ending("stopped", (), "stopped by the person")
    except DiskError as error:
        ending = Ending("failed", (), error.line())
    except RunAbort as abort:
        ending = Ending("failed", (), abort.reason)
    except DispatchAbort as abort:
        ending = await _broken(ctx, abort.reason)
    except DeepDelveError as error:
        ending = await _broken(ctx, error.line())
    except Exception as error:
        log.exception("run %s failed", ctx.run.run_id)
        ending = await _broken(ctx, f"an error in the product itself ({type(error).__name__}); the log file tells more")
    return await finish(ctx, ending)


async def _research_and_check(ctx: RunContext) -> Ending:
    run = ctx.run
    check = CompletionCheck(ctx)
    await intake(ctx)
    await _seeds(ctx)
    if run.state.evidence_only:
        if ctx.bundle is not None:
            await record_bundle(run, ctx.bundle, ctx.researcher.judge)
        await check.step()
        return check.ending or Ending("unverified")
    if run.research_closed:
        # A report exists: only writers and checks have work left.
        await check.step()
        return check.ending or Ending("unverified")
    run.emit(ev.StageChanged(stage="planning"))
    failure = run.masked(await _plan(ctx, check))
    if check.ending is None:
        # The Planner broke off, or its turns are used up: what was found is still written and checked.
        run.research_closed = run.research_closed or failure or "the Planner's turns are used up"
        if failure and not run.state.tasks:
            raise BackendError(failure, cause="bad_request")
        await check.step()
        if check.ending is None:
            check.ending = Ending("partial", (), failure)
    if failure and check.ending.outcome == "verified":
        return Ending("partial", (), failure)
    return check.ending


async def _plan(ctx: RunContext, check: CompletionCheck) -> str:
    """The Planner's conversation. Returns why it broke off, or an empty string."""
    run = ctx.run
    entry = Dispatch(id="", role="Planner")

    async def after_turn(result: TurnResult) -> str | None:
        del result
        new = [] if check.research_over() else run.take_commands()
        if new:
            return "The person adds: " + " ".join(new)
        return await check.step()

    surface = RunLoopSurface(run, entry, after_turn, max_turns=run.budget.attempts + run.budget.planner_rounds + 1 + _STEERED_TURNS)
    said = _opening(ctx)
    left = _PLANNER_RETRIES
    for _ in range(_PLANNER_RETRIES + 1 + MAX_OUTAGES * len(WAITS)):
        made = make_agent(run, entry, ctx.services.backend, ctx.services, ctx.dispatcher.tools)
        try:
            async with run.clock.limit(run.clock.remaining() if run.state.tasks else run.budget.seconds * RESEARCH_SHARE):
                await run_agent_loop(made.agent, made.session, said, surface)
            return ""
        except TimeoutError:
            return OUT_OF_TIME
        except RunAbort:
            raise
        except DispatchAbort as abort:
            return abort.reason
        except BackendError as error:
            said = SHORTER if error.cause == "length" else "The last reply broke off. Go on from where you are."
            if error.cause == "unreachable" and await ctx.services.outage.wait(entry.role):
                continue
            if not (error.transient or error.cause in {"empty", "length"}) or not left:
                return error.line()
            left -= 1
            await asyncio.sleep(min(error.retry_after if error.retry_after is not None else 1.0, 30.0))
    return ""


def _opening(ctx: RunContext) -> str:
    state = ctx.run.state
    parts = [f"Question: {state.brief}"]
    if ctx.stage_note:
        parts.append(ctx.stage_note)
    if state.facets:
        parts.append("It asks for these parts: " + "; ".join(state.facets))
    if state.steering:
        parts.append("The person adds: " + " ".join(state.steering))
    return "\n\n".join(parts)


async def _seeds(ctx: RunContext) -> None:
    """Documents and addresses that the person gave are read in any case, before anything else."""
    run = ctx.run
    if run.state.evidence_only or not run.state.seeds:
        return
    sources = [run.source_by_url(url) or await fetch_source(run, ctx.services.fetcher, url, origin="seed") for url in run.state.seeds]
    for source in sources:
        if not source.citable:
            run.notice(f"{source.url} could not be read: {source.reason or source.state}.", level="warning", code="seed_unreadable")
    ids = tuple(source.id for source in sources if source.citable)
    if ids:
        reader = Dispatch(id="seeds", role="Searcher", task=SEED_TASK, top_task=SEED_TASK, facet="", depth=0, sources=list(ids))
        await ctx.researcher.read_task(TaskAsk(SEED_TASK, run.state.question, "", "", ids), reader)


async def _broken(ctx: RunContext, reason: str) -> Ending:
    """A run that broke off still delivers what it has, labelled."""
    outcome: Outcome = "partial" if evidence(ctx.run.state) else "failed"
    reason = ctx.run.masked(reason)
    try:
        return await conclude(ctx, Ending(outcome, (), reason))
    except DeepDelveError as error:
        return Ending("failed", (), f"{reason}; and then: {error.line()}")


def _masked(ctx: RunContext, ending: Ending) -> Ending:
    """The ending without a key that a server may have repeated in its error."""
    return replace(ending, reason=ctx.run.masked(ending.reason))


async def finish(ctx: RunContext, ending: Ending) -> RunResult:
    """Record the end, let go of the run, and say how it ended."""
    run, ending = ctx.run, _masked(ctx, ending)
    ended = ev.RunEnded(
        outcome=ending.outcome,
        exit=EXIT_CODES[ending.outcome],
        reason=ending.reason,
        problems=ending.problems,
        seconds=round(run.clock.elapsed(), 3),
    )
    told = run.state.last_seq
    try:
        if run.take_commands():
            run.notice("An instruction came too late for this run. Ask it of the finished run.", level="warning", code="too_late")
        told = run.state.last_seq
        run.emit(ended)
        if ending.outcome != "stopped":
            await run.room()
        run.checkpoint()
        if run.state.session_id and ending.outcome not in {"stopped", "failed"}:
            store.add_turn(run.state.session_id, "assistant", run.read_file("final_report.md"), run.run_id)
    except DiskError as error:
        log.warning("%s", error.line())
        if run.state.last_seq == told:
            run.tell(ended)
    finally:
        run.close()
    return _result(ctx, ending)


def _result(ctx: RunContext, ending: Ending) -> RunResult:
    run = ctx.run
    return RunResult(
        run_id=run.run_id,
        dir=str(run.dir),
        outcome=ending.outcome,
        exit=EXIT_CODES[ending.outcome],
        question=run.state.question,
        style=run.state.style,
        backend=run.state.backend,
        citations=citation_refs(run.state),
        claims=run.state.claims,
        problems=ending.problems,
        usage=usage.summary(run.state, ctx.services.settings),
        seconds=round(run.clock.elapsed(), 3),
        reason=ending.reason,
    )

"""Taking an interrupted run up again: finished work is kept, the Planner starts a new conversation and is told the stage."""

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import StateError, UsageError
from deepdelve.core.requests import Command, RunRequest, RunResult, Surface, SurfaceKind, surface_kind
from deepdelve.engine import store
from deepdelve.engine.budget import budget_for
from deepdelve.engine.completion.pipeline import Ending, conclude
from deepdelve.engine.conduct import finish
from deepdelve.engine.context import RunContext
from deepdelve.engine.evidence import evidence
from deepdelve.engine.prepare import Choose, prepare
from deepdelve.engine.run import Run, leased
from deepdelve.engine.setup import checked_question, context_for
from deepdelve.engine.writing import stages
from deepdelve.engine.writing.delivery import REPORT
from deepdelve.engine.writing.review_fix import stamp
from deepdelve.utils.run_state import RunState
from deepdelve.utils.urls import is_web

INTERRUPTED = "interrupted before it ended"
BARREN = "it brought nothing that can be cited"


async def open_run(run_id: str, settings: Settings, surface: Surface, *, choose: Choose | None = None, instruction: str = "") -> RunContext:
    """An interrupted run with everything that works on it; nothing of it is done yet.

    Args:
        run_id: the run.
        settings: the settings in force.
        surface: sees its events.
        choose: replaces the choice of a backend (tests).
        instruction: what the person adds; the run goes on with it.

    Raises:
        RunNotFoundError: there is no such run.
        RunBusyError: another process works on it.
        UsageError: it has ended as verified: there is nothing left to do.
        SchemaError: another version wrote it.
    """
    folder = store.find_run(run_id)
    state = store.load_state(folder)
    if state.outcome == "verified" and (folder / REPORT).is_file():
        raise UsageError(f"Run {folder.name} is finished and verified.", f'Ask it something: deepdelve ask {folder.name} "…"')
    request = RunRequest(
        question=state.question,
        style=state.style,
        depth=state.depth,
        search=state.engine,
        scope=state.scope,
        corpus=state.corpus,
        seed_docs=state.seed_docs,
        seed_urls=tuple(url for url in state.seeds if is_web(url)),
        session_id=state.session_id,
        evidence_dir=_unrecorded_bundle(state),
    )
    prepared = await prepare(request, settings, choose)
    try:
        run = leased(folder, budget_for(settings, state.depth, resumed=True))
    except StateError:
        await prepared.close()
        raise
    run.listen(surface.on_event)
    prepared.hooks.bind(run)
    _take_up(run)
    lost = store.unreadable_lines(folder)
    if lost:
        what = "1 line of the journal cannot be read and is" if lost == 1 else f"{lost} lines of the journal cannot be read and are"
        run.notice(f"{what} left out; the rest stands.", level="warning", code="unreadable_lines")
    state = run.state
    run.allow([*state.seeds, *prepared.seeds])
    ctx = context_for(run, prepared, surface, auto_approve=False)
    ctx.stage_note = stage_note(state)
    ctx.late_instructions = list(state.steering) if run.research_closed else []
    if instruction:
        _steer(run, checked_question(instruction), surface_kind(surface))
    _stamp_unrecorded(ctx)
    return ctx


def stage_note(state: RunState) -> str:
    """What a resumed Planner is told: how far the run has come, and what not to do again."""
    if state.processes < 2:
        return ""
    done = [task.name for task in state.top_tasks() if task.state == "done"]
    broken = [task.name for task in state.top_tasks() if task.state == "failed"]
    parts = ["This run was interrupted and goes on now. What was done stands; do not ask for it again."]
    if done:
        parts.append("Finished tasks: " + "; ".join(done) + ".")
    if broken:
        parts.append("Interrupted or failed tasks, to be asked for again under the same name: " + "; ".join(broken) + ".")
    if "findings" in state.drafts:
        parts.append("The findings are written.")
    return " ".join(parts)


async def finish_by_code(run_id: str, settings: Settings, surface: Surface) -> RunResult:
    """An honest partial report from what a run has, by code alone: no model, no search.

    Raises:
        RunNotFoundError: there is no such run.
        RunBusyError: another process works on it.
    """
    quiet = settings.model_copy(deep=True)
    quiet.api.backend = "builtin"
    ctx = await open_run(run_id, quiet, surface)
    ctx.run.research_closed = "the run is being finished from what it has"
    try:
        await stages.restore_best(ctx, "final_report")
        ending = await conclude(ctx, Ending("partial", (), "finished from what was there, without further research"))
        return await finish(ctx, ending)
    finally:
        await ctx.services.close()


def _steer(run: Run, instruction: str, surface: SurfaceKind) -> None:
    """Hand an instruction to a run that is about to go on: to its Planner, or to its writers where research is closed."""
    if run.research_closed:
        run.command(Command("instruction", instruction))
    else:
        run.emit(ev.Steered(text=instruction))
    if run.state.session_id:
        state, text = run.state, run.masked(instruction)
        store.add_turn(state.session_id, "user", text, run.run_id)
        meta = {"model": state.model, "depth": state.depth, "style": state.style}
        store.add_prompt(text, session_id=state.session_id, run_id=run.run_id, surface=surface, kind="resume", meta=meta)


def _unrecorded_bundle(state: RunState) -> str:
    """The bundle of a run that was killed before all of it was recorded; empty once there is a draft."""
    return state.evidence_dir if state.evidence_only and not state.drafts else ""


def _take_up(run: Run) -> None:
    """Record the new process; what was under way is marked as broken off; where a report exists, research stays closed."""
    state = run.state
    stage, ended = state.stage, state.outcome not in {None, "stopped"}
    run.emit(ev.RunResumed(stage=stage, budget=run.budget.as_dict()))
    covered = {finding.top_task for finding in evidence(state)}
    for task in list(state.tasks.values()):
        if task.state in {"running", "queued"}:
            # Killed between the end of its dispatch and the record of the task: the work itself is whole.
            whole = f"{task.role}: {task.name}" in state.finished_dispatches and task.top in covered
            update = {"state": "done"} if whole else {"state": "failed", "reason": INTERRUPTED}
            run.emit(ev.TaskChanged(task=task.model_copy(update=update)))
    run.read_before = frozenset((f.top_task, f.source_id) for f in state.findings.values() if f.source_id)
    if run.read_file("draft/final_report.md").strip() or state.rejected.get("final_report"):
        run.research_closed = "the report is written; only mending is left"
        run.planner_rounds = run.budget.planner_rounds
    elif ended and not covered:
        _ask_again(run)


def _ask_again(run: Run) -> None:
    """A run that ended with nothing to write from is taken up to look once more: what was asked in vain may be asked again."""
    state = run.state
    for task in state.top_tasks():
        if task.state == "done":
            run.emit(ev.TaskChanged(task=task.model_copy(update={"state": "failed", "reason": BARREN})))
    run.emit(ev.TaskLedger(entries={name: {**entry, "gap_acknowledged": False} for name, entry in state.task_ledger.items()}))


def _stamp_unrecorded(ctx: RunContext) -> None:
    """A draft that was written in the moment before the kill is on the disk and not in the log."""
    for artifact in ("findings", "final_report"):
        if ctx.draft(artifact).strip() and artifact not in ctx.run.state.drafts:
            stamp(ctx, artifact, "found on the disk")

"""A question on an existing run: answered from its report, findings and sources, with citations. Its files stay as they are."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import StateError, UsageError
from deepdelve.core.records import EXIT_CODES, ClaimCounts, Outcome
from deepdelve.core.requests import RunRequest, RunResult, Surface, surface_kind
from deepdelve.engine import store, usage
from deepdelve.engine.budget import budget_for
from deepdelve.engine.completion.gaps import gap_sentence
from deepdelve.engine.context import RunContext
from deepdelve.engine.dispatch import Request
from deepdelve.engine.findings import parse_analysis
from deepdelve.engine.prepare import Choose
from deepdelve.engine.run import leased
from deepdelve.engine.writing.delivery import REPORT, citation_refs
from deepdelve.utils.fence import fence
from deepdelve.utils.grounding import ledger, render

MAX_SOURCES = 8
# How much of the earlier conversation a question is shown.
EARLIER = 6
EARLIER_CHARS = 1_500
_NUMBER = re.compile(r"\[(\d{1,4})\]")


def has_report(run_id: str) -> bool:
    """Whether a question on the run is answered from its report. Without one it goes on with the research.

    Raises:
        RunNotFoundError: there is no such run.
    """
    return (store.find_run(run_id) / REPORT).is_file()


async def open_run(run_id: str, question: str, settings: Settings, surface: Surface, *, choose: Choose | None = None) -> RunContext:
    """The run with everything that an answer needs.

    Raises:
        RunNotFoundError: there is no such run.
        UsageError: it has no report yet, or the question is empty.
    """
    from deepdelve.engine import prepare, setup

    folder = store.find_run(run_id)
    state = store.load_state(folder)
    if not (folder / REPORT).is_file():
        raise UsageError(f"Run {folder.name} has no report yet.", f"Resume it first: deepdelve --resume-run {folder.name}")
    asked = setup.checked_question(question)
    request = RunRequest(question=asked, corpus=state.corpus)
    prepared = await prepare.prepare(request, settings, choose)
    budget = budget_for(settings, "quick")
    # Each question has a budget of its own; what research and earlier questions have used does not count.
    quotas = {tool: limit + state.used.get(tool, 0) for tool, limit in budget.quotas.items()}
    try:
        run = leased(folder, replace(budget, quotas=quotas))
    except StateError:
        await prepared.close()
        raise
    prepared.hooks.bind(run)
    run.listen(surface.on_event)
    ctx = setup.context_for(run, prepared, surface, auto_approve=False)
    ctx.earlier = earlier(folder)
    ctx.dispatcher.prefix = f"Q{len(ctx.earlier) + 1}."
    return ctx


def earlier(folder: Path) -> list[ev.FollowUp]:
    """The questions that were put to the run before, with their answers, from its journal."""
    return [event for event in store.load_events(folder) if isinstance(event, ev.FollowUp)]


async def answer(ctx: RunContext, question: str) -> RunResult:
    """Answer from what the run has: an Analyzer reads the sources, and every sentence keeps its citation and is checked."""
    run = ctx.run
    state = run.state
    usable = state.usable_sources()
    ids = [source_id for source_id in state.citations if source_id in usable] or [s.id for s in state.citable_sources()]
    gone = [source_id for source_id in ids if not (run.dir / state.sources[source_id].file).is_file()]
    if gone:
        told = f"The stored text of {', '.join(gone[:MAX_SOURCES])} is gone from the run's folder."
        if gone == ids:
            return _result(ctx, question, "failed", reason=f"{told} Put it back, or research the question anew.")
        run.notice(f"{told} The answer is made without it.", level="warning", code="texts_gone")
    run.emit(ev.Message(role="User", text=question, dispatch="ask"))
    shown = fence(run.read_file("final_report.md")[: ctx.services.settings.settings.context_budget_chars // 2], run.nonce)
    message = "\n".join(
        [
            "Answer the question below from the report and its sources, and from nothing else.",
            f"Question of the whole run: {state.brief}",
            f"Your task: {question}",
            "Sources to read: " + ", ".join(ids[:MAX_SOURCES]),
            f"The report:\n{shown}",
            *_conversation(ctx.earlier, run.nonce),
        ]
    )
    result = await ctx.dispatcher.dispatch(Request(role="Analyzer", message=message, task=question[:120], depth=1))
    if result.error is not None and not result.text.strip():
        return _result(ctx, question, "failed", reason=result.reason)
    draft = _answer_text(result.text, ids, gap_sentence(question, state.language))
    claims = await asyncio.to_thread(ledger.build_ledger, draft, state.usable_sources(), ctx.indexes(), ctx.verifier, question)
    rendered = render.render(draft, claims, state.usable_sources(), "answer", language=state.language)
    run.emit(ev.FollowUp(question=question, answer=rendered.text, citations=tuple(rendered.order)))
    await run.room()
    run.checkpoint()
    if state.session_id:
        store.add_turn(state.session_id, "user", question, run.run_id)
        store.add_turn(state.session_id, "assistant", rendered.text, run.run_id)
        surface, meta = surface_kind(ctx.services.surface), {"model": state.model, "depth": state.depth, "style": state.style}
        store.add_prompt(question, session_id=state.session_id, run_id=run.run_id, surface=surface, kind="followup", meta=meta)
    counts = ledger.counts(claims)
    carried = "unverified" if counts.unsupported or counts.contradicted else "verified"
    return _result(ctx, question, carried if rendered.order else "no_evidence", rendered, counts)


def _conversation(past: Sequence[ev.FollowUp], nonce: str) -> list[str]:
    """The last questions and answers, their citations as source ids."""
    if not past:
        return []
    told = "\n\n".join(f"Question: {event.question}\nAnswer: {_with_ids(event)[:EARLIER_CHARS]}" for event in past[-EARLIER:])
    return [f"What was asked before, for what the question refers to:\n{fence(told, nonce)}"]


def _with_ids(event: ev.FollowUp) -> str:
    ids = dict(enumerate(event.citations, 1))
    return _NUMBER.sub(lambda found: f"[{ids.get(int(found[1]), found[1])}]", event.answer)


def _result(
    ctx: RunContext,
    question: str,
    outcome: Outcome,
    rendered: render.Rendered | None = None,
    counts: ClaimCounts | None = None,
    *,
    reason: str = "",
) -> RunResult:
    run = ctx.run
    cited = run.state.model_copy(update={"citations": rendered.order if rendered else ()})
    return RunResult(
        run_id=run.run_id,
        dir=str(run.dir),
        outcome=outcome,
        exit=EXIT_CODES[outcome],
        question=question,
        style="answer",
        backend=ctx.services.backend.name,
        citations=citation_refs(cited),
        claims=counts or ClaimCounts(),
        usage=usage.summary(run.state, ctx.services.settings),
        seconds=round(run.clock.elapsed(), 3),
        reason=reason,
        answer=rendered.text if rendered else reason,
    )


def _answer_text(text: str, ids: list[str], gap: str) -> str:
    """An Analyzer's bullets as sentences with ids; where it found nothing, the sentence that says so."""
    analysis = parse_analysis(text, ids)
    claims: dict[str, list[str]] = {}
    for source_id, found in analysis.claims.items():
        for claim in found:
            claims.setdefault(claim.text.rstrip(" ."), []).append(source_id)
    if not claims:
        return f"{gap}\n"
    return "\n".join(f"- {claim} [{', '.join(sources)}]." for claim, sources in claims.items()) + "\n"

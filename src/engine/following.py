"""A run as others see it while it goes on, also one of another process: its events as they come, and how it stands."""

import asyncio
from collections.abc import AsyncIterator

from deepdelve.core.events import AnyEvent
from deepdelve.core.records import EXIT_CODES
from deepdelve.core.requests import RunDetails
from deepdelve.engine import journal, store
from deepdelve.engine.evidence import evidence
from deepdelve.engine.lease import is_live
from deepdelve.engine.writing.delivery import citation_refs
from deepdelve.utils.grounding import frame, ledger
from deepdelve.utils.run_state import RunState

_LOOK_AGAIN = 0.2


async def follow(run_id: str, after: int = 0) -> AsyncIterator[AnyEvent]:
    """The journaled events of a run in order, until it is over.

    Args:
        run_id: the run.
        after: leave out the events up to this number.

    Raises:
        RunNotFoundError: there is no such run.
    """
    folder = await asyncio.to_thread(store.find_run, run_id)
    offset, over = 0, False
    while not over:
        # Looked at before the reading: what is written until a run lets go of its lease is read as well.
        over = not await asyncio.to_thread(is_live, folder)
        events, last = await asyncio.to_thread(journal.read_piece, folder / journal.JOURNAL, offset)
        over = over and last == offset
        offset = last
        for event in events:
            if event.seq > after:
                yield event
        if not events and not over:
            await asyncio.sleep(_LOOK_AGAIN)


def details(run_id: str) -> RunDetails:
    """How a run stands. Blocking.

    Raises:
        RunNotFoundError: there is no such run.
        StateError: it cannot be read.
    """
    folder = store.find_run(run_id)
    state = store.load_state(folder)
    outcome = state.outcome
    return RunDetails(
        run_id=folder.name,
        question=state.question,
        outcome=outcome,
        exit=None if outcome is None else EXIT_CODES[outcome],
        label=_label(state),
        reason=state.reason,
        problems=state.problems,
        stage=state.stage,
        style=state.style,
        depth=state.depth,
        backend=state.backend,
        model=state.model,
        search=state.search,
        evidence_only=state.evidence_only,
        started=state.started_at,
        seconds=state.seconds,
        live=is_live(folder),
        claims=state.claims,
        citations=citation_refs(state),
        counts={
            "sources": len(state.sources),
            "citable_sources": len(state.citable_sources()),
            "findings": len(evidence(state)),
            "tasks": len(state.top_tasks()),
            "searches": len(state.queries),
            "refused_calls": state.refusals,
        },
    )


def _label(state: RunState) -> str:
    """How a run ended, in words; empty before it has."""
    if state.outcome is None:
        return ""
    counted = f" {ledger.counts_line(state.claims)}." if state.claims.total else ""
    why = f" {state.reason[:1].upper()}{state.reason[1:].rstrip('.')}." if state.reason else ""
    return f"{frame.label(state.outcome)}{counted}{why}"

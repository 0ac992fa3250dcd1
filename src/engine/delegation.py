"""The ``delegate_tasks`` tool: repair what was asked, refuse by rule, dispatch the rest side by side, answer with facts."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

from deepdelve.core import events as ev
from deepdelve.core.errors import ToolError
from deepdelve.core.records import PlanItem, Task
from deepdelve.core.scope import current_scope
from deepdelve.engine.delegation_rules import DELEGATES, Asker, Judged, Limits, Request, judge
from deepdelve.engine.gate import Dispatch
from deepdelve.engine.plan_approval import PlanApproval
from deepdelve.engine.research import Researcher, TaskAsk, TaskOutcome
from deepdelve.engine.run import Run
from deepdelve.utils.fence import fence

MAX_TASKS = 6
SPECIALIST_CAP = 12
READING_CAP = 8

Tool = Callable[..., Awaitable[str]]


def delegate_tool(run: Run, researcher: Researcher, approval: PlanApproval) -> Tool:
    """The tool for one run. A plan that the person has changed is carried out in place of the Planner's first delegation."""

    async def delegate_tasks(
        tasks: Annotated[list[dict[str, Any]], "one object a task: task_name, instructions, facet, profile, source_ids"],
    ) -> str:
        """Have tasks carried out by specialists, side by side. Each knows nothing but its instructions."""
        caller = current_scope().dispatch
        assert isinstance(caller, Dispatch)
        requests = [_request(item, caller) for item in tasks]
        if not requests:
            raise ToolError('There is no task. Give tasks such as {"task_name": "rents in Oslo", "instructions": "find …"}.')
        if caller.depth == 0:
            asked = tuple(PlanItem(name=item.name, facet=item.facet, instructions=item.instructions) for item in requests if item.name)
            requests = _planned(requests, await approval.before_delegation(asked))
        judged = judge(requests, _asker(run, caller), _limits(run, caller))
        for item in judged:
            if item.refusal is not None:
                _refuse(run, caller, item)
        if caller.depth == 0 and any(item.refusal is None for item in judged):
            run.planner_rounds += 1
        outcomes = await asyncio.gather(*(_carry_out(researcher, caller, item) for item in judged))
        return answer_of(outcomes, run.nonce)

    return delegate_tasks


def _planned(requests: list[Request], plan: Sequence[PlanItem]) -> list[Request]:
    """The person's plan as requests, with the profile that the Planner gave a task of the name; without a plan the requests themselves."""
    profiles = {request.name: request.profile for request in requests}
    made = [Request(item.name, item.instructions or item.name, item.facet, "", profiles.get(item.name, "")) for item in plan]
    return made or requests


def answer_of(outcomes: Sequence[TaskOutcome], nonce: str) -> str:
    """The tool's answer: a line with what came of each task; below it, fenced, the leads, whose words come from pages."""
    head = json.dumps({"tasks": [outcome.as_dict() for outcome in outcomes]}, ensure_ascii=False)
    leads = [{"task": outcome.name, "leads": list(outcome.leads)} for outcome in outcomes if outcome.leads]
    return f"{head}\n{fence(json.dumps({'leads': leads}, ensure_ascii=False), nonce)}" if leads else head


async def _carry_out(researcher: Researcher, caller: Dispatch, item: Judged) -> TaskOutcome:
    request = item.request
    if item.refusal is not None:
        return TaskOutcome(request.name, "refused", item.refusal.reason)
    ask = TaskAsk(request.name.strip()[:120], request.instructions, request.facet, request.profile, request.source_ids)
    if DELEGATES[caller.role] == "Analyzer":
        return await researcher.read_task(ask, caller)
    return await researcher.search_task(ask, caller.depth + 1, caller.id)


def _refuse(run: Run, caller: Dispatch, item: Judged) -> None:
    """A refusal is always visible: as an event, and, where the name is free, as a task of its own."""
    assert item.refusal is not None
    name = item.request.name.strip()[:120]
    if name and name not in run.state.tasks:
        task = Task(
            name=name, top=name if caller.depth == 0 else caller.top_task, depth=caller.depth + 1, instructions=item.request.instructions
        )
        update = {
            "role": DELEGATES.get(caller.role, "Searcher"),
            "facet": item.request.facet,
            "state": "refused",
            "reason": item.refusal.reason,
        }
        run.emit(ev.TaskChanged(task=task.model_copy(update=update)))
    run.notice(f"Task refused ({item.refusal.rule}): {name or 'without a name'}. {item.refusal.reason}", code="task_refused")


def _asker(run: Run, caller: Dispatch) -> Asker:
    # A Searcher may have the same question read in several sources: only the Planner's tasks are compared with one another.
    earlier = tuple(run.state.top_tasks()) if caller.depth == 0 else ()
    retry = frozenset(name for name, entry in run.state.task_ledger.items() if entry.get("status") == "flagged")
    known = frozenset(run.state.sources)
    return Asker(role=caller.role, depth=caller.depth, earlier=earlier, known_sources=known, retry=retry)


def _limits(run: Run, caller: Dispatch) -> Limits:
    if caller.depth == 0:
        left = max(0, run.budget.planner_rounds - run.planner_rounds)
        return Limits(round_cap=MAX_TASKS, specialist_cap=SPECIALIST_CAP, rounds_left=left)
    return Limits(round_cap=READING_CAP)


def _request(item: Mapping[str, Any], caller: Dispatch) -> Request:
    """A request from whatever a model gave; a Searcher that names no sources means those it has fetched."""
    name = _text(item, "task_name", "name", "task", "title")[:120]
    instructions = _text(item, "instructions", "instruction", "description", "query", "prompt")[:4000]
    facet = _text(item, "facet")[:120]
    role = _text(item, "role", "agent")
    profile: Any = _text(item, "profile").lower()
    ids: Any = item.get("source_ids") or item.get("sources") or []
    listed = [ids] if isinstance(ids, str) else list(ids)
    source_ids = tuple(str(part).strip().strip("[]").upper() for entry in listed for part in str(entry).split(",") if str(part).strip())
    if caller.role == "Searcher" and not source_ids:
        source_ids = tuple(caller.sources)
    known = profile if profile in {"web", "academic", "prose", "data"} else ""
    return Request(name=name or instructions[:60], instructions=instructions, facet=facet, role=role, profile=known, source_ids=source_ids)


def _text(item: Mapping[str, Any], *keys: str) -> str:
    return next((str(item[key]).strip() for key in keys if item.get(key)), "")

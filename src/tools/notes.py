"""Tools that record what an agent intends: the plan and a thought."""

from collections.abc import Sequence
from typing import Annotated, Any

from deepdelve.core.errors import ToolError
from deepdelve.core.events import PlanWritten
from deepdelve.core.records import PlanItem
from deepdelve.core.scope import current_scope

MAX_ITEMS = 12


async def write_plan(items: Annotated[list[dict[str, Any]], "one object a task: name, facet, instructions"]) -> str:
    """Record the plan: the tasks that together answer the question."""
    plan = plan_of(items)
    record_plan(plan)
    return f'{{"recorded": {len(plan)}}}'


def plan_of(items: Sequence[dict[str, Any]]) -> tuple[PlanItem, ...]:
    """The plan from whatever a model gave.

    Raises:
        ToolError: nothing of it is a task.
    """
    plan = tuple(item for item in map(plan_item, items[:MAX_ITEMS]) if item.name)
    if not plan:
        raise ToolError('The plan is empty. Give items such as {"name": "rents in Oslo", "facet": "Oslo", "instructions": "find …"}.')
    return plan


def record_plan(plan: tuple[PlanItem, ...]) -> None:
    """Make this the plan of the run that the tool is called in."""
    current_scope().run.emit(PlanWritten(items=plan))


async def think(thought: Annotated[str, "what you consider"]) -> str:
    """Consider before you act; nothing happens."""
    del thought
    return "Noted."


def plan_item(item: dict[str, Any]) -> PlanItem:
    """A plan item from whatever a model gave, with safe defaults."""
    name = str(item.get("name") or item.get("task_name") or item.get("task") or item.get("facet") or "").strip()[:120]
    instructions = str(item.get("instructions") or item.get("description") or "").strip()[:4000]
    return PlanItem(name=name or instructions[:60], facet=str(item.get("facet") or name).strip()[:120], instructions=instructions)

"""The plan before the person, where the settings ask for it: shown before anything is delegated, and carried out as the person left it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, cast

from deepdelve.core.records import PlanItem
from deepdelve.engine.services import Services
from deepdelve.tools.notes import MAX_ITEMS, plan_item, plan_of, record_plan

Plan = tuple[PlanItem, ...]


class PlanApproval:
    """One a run. A plan is shown once; a delegation waits until it is answered, since models often send both in one reply."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._open = asyncio.Lock()
        self._settled: dict[tuple[str, ...], Plan] = {}
        self._changed: Plan = ()

    @property
    def wanted(self) -> bool:
        """Whether the person is asked: as long as nothing of a plan has been carried out."""
        services = self.services
        return services.settings.settings.human_in_the_loop and not services.auto_approve and not services.run.planner_rounds

    def tool(self) -> Callable[..., Awaitable[str]]:
        """The ``write_plan`` tool."""

        async def write_plan(items: Annotated[list[dict[str, Any]], "one object a task: name, facet, instructions"]) -> str:
            """Record the plan: the tasks that together answer the question."""
            written = plan_of(items)
            plan = await self._settle(written) if self.wanted else written
            record_plan(plan)
            answer: dict[str, Any] = {"recorded": len(plan)}
            if plan != written:
                answer |= {"changed_by_the_person": "delegate these tasks instead", "plan": [item.model_dump() for item in plan]}
            return json.dumps(answer, ensure_ascii=False)

        return write_plan

    async def before_delegation(self, asked: Plan) -> Plan:
        """The tasks that the Planner's delegation carries out in place of those it asks for; empty where the person changed nothing.

        Where no plan was written, what is asked for is shown as the plan.
        """
        if not self.wanted:
            return ()
        async with self._open:
            unseen = bool(asked) and not self.services.run.state.plan
        if unseen:
            record_plan(await self._settle(asked))
        changed, self._changed = self._changed, ()
        return changed

    async def _settle(self, written: Plan) -> Plan:
        """The plan as the person leaves it."""
        async with self._open:
            names = tuple(item.name for item in written)
            if names not in self._settled:
                plan = await self._asked(written)
                self._settled[names] = self._settled[tuple(item.name for item in plan)] = plan
                self._changed = plan if plan != written else ()
            return self._settled[names]

    async def _asked(self, plan: Plan) -> Plan:
        rows = [item.model_dump() for item in plan]
        answer = await self.services.ask("plan", "It is carried out as you leave it.", {"items": rows})
        given = answer.get("items")
        listed = cast("list[Any]", given) if isinstance(given, list) else []
        changed = [plan_item(cast("dict[str, Any]", row)) for row in listed[:MAX_ITEMS] if isinstance(row, dict)]
        return tuple(item for item in changed if item.name) or plan

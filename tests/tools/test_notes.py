"""The plan and a thought: recorded in events, with safe defaults for what a model leaves out."""

import pytest

from deepdelve.core.errors import ToolError
from deepdelve.core.records import PlanItem
from deepdelve.engine.gate import Dispatch
from deepdelve.tools.notes import MAX_ITEMS, plan_item, think, write_plan
from tests.support.runs import make_run, within

PLANNER = Dispatch("", "Planner")


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path)


async def test_a_plan_is_recorded_and_counted(run):
    items = [{"name": "Alder", "facet": "length", "instructions": "find it"}, {"name": "Birch"}]
    assert await within(run, PLANNER, lambda: write_plan(items)) == '{"recorded": 2}'
    assert run.state.plan == [PlanItem(name="Alder", facet="length", instructions="find it"), PlanItem(name="Birch", facet="Birch")]


@pytest.mark.parametrize("items", [[], [{}], [{"name": "  "}], [{"other": "x"}]])
async def test_an_empty_plan_is_refused_with_an_example(run, items):
    with pytest.raises(ToolError, match="Give items such as"):
        await within(run, PLANNER, lambda: write_plan(items))
    assert run.state.plan == []


async def test_a_plan_without_end_is_cut(run):
    await within(run, PLANNER, lambda: write_plan([{"name": f"task {n}"} for n in range(100)]))
    assert len(run.state.plan) == MAX_ITEMS


async def test_a_new_plan_takes_the_place_of_the_old(run):
    for name in ("first", "second"):
        await within(run, PLANNER, lambda name=name: write_plan([{"name": name}]))
    assert [item.name for item in run.state.plan] == ["second"]


@pytest.mark.parametrize(
    ("given", "item"),
    [
        ({"task_name": "Alder"}, PlanItem(name="Alder", facet="Alder")),
        ({"task": "Alder", "description": "find it"}, PlanItem(name="Alder", facet="Alder", instructions="find it")),
        ({"facet": "length"}, PlanItem(name="length", facet="length")),
        ({"instructions": "find the length"}, PlanItem(name="find the length", instructions="find the length")),
        ({"name": 7, "instructions": None}, PlanItem(name="7", facet="7")),
    ],
)
def test_what_an_item_lacks_is_taken_from_what_it_has(given, item):
    assert plan_item(given) == item


def test_names_and_instructions_are_bounded():
    item = plan_item({"name": "n" * 500, "instructions": "i" * 9000})
    assert (len(item.name), len(item.facet), len(item.instructions)) == (120, 120, 4000)


async def test_a_thought_changes_nothing(run):
    before = run.state.model_copy(deep=True)
    assert await within(run, PLANNER, lambda: think("hm")) == "Noted."
    assert run.state == before

"""The plan before the person, where the settings ask for it: shown once, waited for, and carried out as it was left."""

import asyncio

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from tests.engine.test_approvals import Person
from tests.support.scripted import call, text
from tests.support.whole_run import RIVERS, good_planner, good_rules, results, start_scripted, write_corpus

ALDER = ("Length of the Alder", "How long is the river Alder?")
BIRCH = ("Length of the Birch", "How long is the river Birch?")
BOTH = [{"name": name, "facet": name, "instructions": asked} for name, asked in (ALDER, BIRCH)]


async def run_with(tmp_path, person, *, planner=None, wanted=True, auto=False):
    settings = Settings()
    settings.settings.human_in_the_loop = wanted
    rules = {**good_rules(), "Planner": planner or good_planner(ALDER, BIRCH)}
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    going = await start_scripted(rules, corpus, person, settings=settings, approve_all=auto)
    return await asyncio.wait_for(going.task, 60), going.run


def delegated(run):
    """What the Planner had researched; tasks of the remedies are not among them."""
    return [task.name for task in run.state.top_tasks() if task.depth == 1]


async def test_the_plan_is_shown_before_anything_is_carried_out(tmp_path):
    person = Person({"items": []})
    result, run = await run_with(tmp_path, person)
    assert [asked.kind for asked in person.asked] == ["plan"]
    assert person.asked[0].options["items"] == BOTH
    kinds = [type(event) for event in person.events]
    assert kinds.index(ev.Answered) < kinds.index(ev.TaskChanged)
    assert (result.outcome, delegated(run)) == ("verified", [ALDER[0], BIRCH[0]])


async def test_a_plan_that_the_person_shortens_is_carried_out_so(tmp_path):
    person = Person({"items": BOTH[:1]})
    await run_with(tmp_path, person)
    assert person.of(ev.PlanWritten)[0].items[0].name == ALDER[0]
    assert len(person.of(ev.PlanWritten)[0].items) == 1
    first = next(event for event in person.of(ev.ToolReturned) if event.tool == "delegate_tasks")
    assert ALDER[0] in first.text
    assert BIRCH[0] not in first.text
    assert len(person.asked) == 1


async def test_a_task_that_the_person_writes_is_researched_though_the_model_asks_for_others(tmp_path):
    own = {"name": "The dam of the Birch", "facet": "", "instructions": "When was the river Birch dammed?"}
    person = Person({"items": [*BOTH, own]})
    _, run = await run_with(tmp_path, person)
    assert delegated(run)[:3] == [ALDER[0], BIRCH[0], own["name"]]
    assert run.state.tasks[own["name"]].instructions == own["instructions"]


async def test_a_planner_that_delegates_without_a_plan_has_its_tasks_shown_as_one(tmp_path):
    def rule(messages, options):
        if results(messages):
            return text("Done.")
        return [call("delegate_tasks", tasks=[{"task_name": n, "facet": n, "instructions": i} for n, i in (ALDER, BIRCH)])]

    person = Person({"items": []})
    _, run = await run_with(tmp_path, person, planner=rule)
    assert [asked.options["items"] for asked in person.asked] == [BOTH]
    assert [item.name for item in run.state.plan] == [ALDER[0], BIRCH[0]]


@pytest.mark.parametrize("answer", [{}, {"items": "x"}, {"items": [1, {}, {"name": " "}]}])
async def test_an_answer_that_is_no_plan_leaves_it_as_it_was(tmp_path, answer):
    result, run = await run_with(tmp_path, Person(answer))
    assert (result.outcome, delegated(run)) == ("verified", [ALDER[0], BIRCH[0]])


@pytest.mark.parametrize(("wanted", "auto"), [(False, False), (True, True)])
async def test_nobody_is_asked_who_did_not_want_to_be(tmp_path, wanted, auto):
    person = Person({"items": []})
    result, _ = await run_with(tmp_path, person, wanted=wanted, auto=auto)
    assert (result.outcome, person.asked) == ("verified", [])

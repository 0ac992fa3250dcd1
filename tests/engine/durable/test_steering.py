"""A person steers a run at each of its stages: an instruction is followed, a dropped source falls with its claims, a stop is at once."""

import asyncio
import re

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.requests import Command, RunRequest
from deepdelve.engine import facade, store
from tests.support.llm_replies import Reply
from tests.support.llm_server import LlmServer
from tests.support.scripted import call, text
from tests.support.whole_run import (
    RIVERS,
    RecordingSurface,
    good_builder,
    good_planner,
    good_reviewer,
    good_rules,
    results,
    said,
    start_scripted,
    write_corpus,
)


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(
        tmp_path / "rivers", {**RIVERS, "Cedar": "# The Cedar\n\nThe Cedar is a river in the west. The Cedar is 55 kilometres long.\n"}
    )


async def steered(rules, corpus, when, command, question="How long are the rivers Alder and Birch?"):
    """A run that gets a command at the first event that fits."""
    surface = RecordingSurface()
    original = surface.on_event
    given = []

    def listen(event):
        original(event)
        if not given and when(event):
            given.append(event)
            going.run.command(command)

    surface.on_event = listen
    going = await start_scripted(rules, corpus, surface, question=question)
    result = await going.task
    assert given, "the moment to steer never came"
    return result, going, surface


def at_stage(stage):
    return lambda event: isinstance(event, ev.StageChanged) and event.stage == stage


def heard(factory, words):
    return [c.role for c in factory.calls if any(words in (m.text or "") for m in c.messages)]


async def test_an_instruction_while_planning_reaches_the_planner_and_its_research(rivers):
    inner = good_planner(("river Alder", "How long is the river Alder?"), ("river Birch", "How long is the river Birch?"))

    def planner(messages, options):
        last = messages[-1].text or ""
        if "also the Cedar" in last:
            return [
                call(
                    "delegate_tasks", tasks=[{"task_name": "river Cedar", "facet": "river Cedar", "instructions": "How long is the Cedar?"}]
                )
            ]
        return inner(messages, options)

    result, going, surface = await steered(
        good_rules(Planner=planner), rivers, at_stage("planning"), Command("instruction", "also the Cedar")
    )
    assert result.outcome == "verified"
    assert "55 kilometres" in going.run.read_file("final_report.md")
    assert [e.text for e in surface.of(ev.Steered)] == ["also the Cedar"]


@pytest.mark.parametrize("stage", ["writing_findings", "writing_report", "checking"])
async def test_an_instruction_after_that_still_changes_the_run(stage, rivers):
    result, going, _ = await steered(good_rules(), rivers, at_stage(stage), Command("instruction", "Write for a child."))
    assert result.outcome == "verified"
    assert set(heard(going.factory, "Write for a child.")) & {"Planner", "Builder"}
    assert going.run.state.steering == ["Write for a child."]


async def test_more_on_a_section_is_an_instruction_of_its_own(rivers):
    result, going, _ = await steered(good_rules(), rivers, at_stage("checking"), Command("more", "the Birch"))
    assert result.outcome == "verified"
    assert heard(going.factory, "Say more about: the Birch")


async def test_an_instruction_that_comes_too_late_is_said(rivers):
    _, _, surface = await steered(good_rules(), rivers, lambda e: isinstance(e, ev.ReportDelivered), Command("instruction", "Shorter."))
    assert [n.code for n in surface.of(ev.Notice) if n.code == "too_late"] == ["too_late"]


def careful_builder(messages, options):
    """Mends by taking out what it is told about, as a model does."""
    told = said(messages)
    if "final_report.md" in told and "dropped" in told.lower() and not results(messages):
        return [call("read_workspace_file", name="final_report.md")]
    return good_builder(messages, options)


@pytest.mark.parametrize("stage", ["writing_findings", "writing_report", "checking"])
async def test_a_dropped_source_falls_with_its_claims_which_are_named(stage, rivers):
    result, going, surface = await steered(good_rules(), rivers, at_stage(stage), Command("drop_source", "S1"))
    state = going.run.state
    fallen = state.sources["S1"]
    report = going.run.read_file("final_report.md")
    told = next(n.text for n in surface.of(ev.Notice) if n.code == "source_dropped")
    assert "S1" in told
    assert re.search(r"kilometres long", told), "the claims that fall are named"
    assert "S1" not in state.citations
    assert fallen.url not in going.run.read_file("references.bib")
    assert f"{fallen.url}" not in report
    lost = next(f for f in state.findings.values() if f.source_id == "S1").claims[0].text
    assert result.outcome != "verified" or lost not in report
    claims = facade.claims(going.run.run_id)
    assert not [c for c in claims if c.status == "supported" and "S1" in c.citations]


async def test_a_source_that_is_not_there_is_said_and_nothing_falls(rivers):
    result, going, surface = await steered(good_rules(), rivers, at_stage("checking"), Command("drop_source", "S99"))
    assert result.outcome == "verified"
    assert [n.code for n in surface.of(ev.Notice) if n.code == "unknown_source"]
    assert going.run.state.dropped_sources == []


# Stop


@pytest.mark.parametrize("role", ["Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder", "PeerReviewer"])
async def test_a_stop_ends_the_run_whoever_works(role, rivers):
    async def slow(messages, options):
        going.stop()
        await asyncio.sleep(60)
        return text("late")

    going = await start_scripted({**good_rules(), role: slow}, rivers, RecordingSurface())
    result = await asyncio.wait_for(going.task, 30)
    assert (result.outcome, result.exit) == ("stopped", 130)
    state = store.load_state(going.run.dir)
    assert state.outcome == "stopped"
    assert state == going.run.state


@pytest.mark.parametrize("fault", ["stall_first", "stall_stream", "slow_drip"])
async def test_a_stop_cuts_a_request_that_hangs(fault, rivers):
    with LlmServer({"": lambda seen: Reply(text="Done. " * 500)}) as server:
        server.fail(fault, role="Planner")
        settings = Settings()
        settings.api.ollama_host = server.url
        request = RunRequest(question="How long is the Alder?", corpus=(str(rivers),), backend="ollama", model="m")
        handle = await facade.start(request, settings, RecordingSurface())
        for _ in range(500):
            if server.chats("Planner"):
                break
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)
        handle.command(Command("stop"))
        result = await handle.wait()
    assert server.chats("Planner")
    assert result.outcome == "stopped"
    assert store.load_state(handle.dir).outcome == "stopped"


async def test_a_run_is_steered_from_a_second_reviewer_pass_without_harm(rivers):
    result, _, surface = await steered(
        good_rules(PeerReviewer=good_reviewer), rivers, lambda e: isinstance(e, ev.ReviewDone), Command("instruction", "Name the year.")
    )
    assert result.outcome == "verified"
    assert len(surface.of(ev.RunEnded)) == 1

"""Questions to the person, in place."""

from typing import Any

import pytest
from textual.widgets import Input, TextArea

from deepdelve.core import events as ev
from deepdelve.tui import blocks as bl
from deepdelve.tui.widgets.approval import Ask, Intake, PlanApproval, ToolApproval, edited_plan, parse_plan, plan_lines

from .fake_engine import FakeEngine
from .support import Driven, driven

PLAN = {"items": [{"name": "cost", "facet": "money", "instructions": "look at prices"}, {"name": "noise"}]}
ASKS = {
    "tool": ev.Asked(
        ask_id="a1", kind="tool", text="Searcher wants to call fetch", options={"tool": "fetch", "args": {"url": "https://x"}}
    ),
    "plan": ev.Asked(ask_id="a2", kind="plan", text="Is this right?", options=PLAN),
    "intake": ev.Asked(ask_id="a3", kind="intake", text="Two things.", options={"questions": ["Which country?", "Since when?", "c", "d"]}),
}


def engine(kind: str) -> FakeEngine:
    def script(run_id: str, question: str, session: str) -> list[ev.Event]:
        return [ev.RunStarted(run_id=run_id, question=question), ASKS[kind], ev.RunEnded(outcome="no_evidence", exit=3, seconds=1)]

    return FakeEngine(script)


async def asked(d: Driven, grace: bool = False) -> Ask:
    """Asks, and lets the grace time pass unless told otherwise."""
    await d.say("Q?")
    await d.until(lambda: d.app.research.query(Ask))
    await d.settle()
    card = d.app.research.query_one(Ask)
    now = card.shown_at
    card.clock = lambda: now + (0.1 if grace else 1.0)
    return card


@pytest.mark.parametrize(("key", "decision"), [("a", "allow"), ("d", "deny"), ("A", "always")])
async def test_a_tool_is_decided_by_one_key(key: str, decision: str) -> None:
    async with driven(engine("tool")) as d:
        card = await asked(d)
        assert card.has_focus
        await d.pilot.press(key)
        await d.finished()
        assert d.engine.answers == [{"decision": decision}]
        assert card.has_class("-answered")
        assert d.app.research.prompt.has_focus


async def test_keys_typed_ahead_go_to_the_prompt_not_to_the_card() -> None:
    async with driven(engine("tool")) as d:
        card = await asked(d, grace=True)
        await d.pilot.press("a", "d", "x")
        assert d.engine.answers == []
        assert d.app.research.prompt.text == "adx"
        card.clock = lambda: card.shown_at + 1
        await d.pilot.press("a")
        await d.finished()
        assert d.engine.answers == [{"decision": "allow"}]


async def test_the_card_shows_tool_and_arguments() -> None:
    async with driven(engine("tool")) as d:
        card = await asked(d)
        shown = "\n".join(str(static.render()) for static in card.query("Static"))
        assert "Searcher wants to call fetch" in shown
        assert "https://x" in shown
        assert "a allow · d deny · A always" in shown
        await d.pilot.press("d")
        await d.finished()


@pytest.mark.parametrize("kind", ["tool", "plan", "intake"])
async def test_a_stop_while_a_question_is_open_gives_the_keys_back_to_the_prompt(kind: str) -> None:
    async with driven(engine(kind)) as d:
        await asked(d)
        d.app.controller.stop()
        await d.finished()
        await d.pilot.press("h", "i")
        assert d.app.research.prompt.text == "hi"


async def test_stopping_closes_an_open_question() -> None:
    async with driven(engine("tool")) as d:
        card = await asked(d)
        d.app.controller.stop()
        await d.finished()
        assert d.app.controller.state.outcome == "stopped"
        assert card.has_class("-answered")


async def test_a_plan_is_edited_as_a_list() -> None:
    async with driven(engine("plan")) as d:
        card = await asked(d)
        area = card.query_one(TextArea)
        assert area.text == "cost | money | look at prices\nnoise"
        area.text += "\nefficiency | physics"
        await d.pilot.press("ctrl+s")
        await d.finished()
        assert [item["name"] for item in d.engine.answers[0]["items"]] == ["cost", "noise", "efficiency"]


async def test_a_line_that_is_left_alone_means_its_whole_item() -> None:
    long = {"name": "cost", "facet": "a|b", "instructions": "first\n\n" + "word " * 600}
    question = ev.Asked(ask_id="a", kind="plan", text="", options={"items": [long, {"name": "noise"}]})
    shown = plan_lines(question)
    assert edited_plan(question, "\n".join(shown)) == [long, {"name": "noise"}]
    assert edited_plan(question, f"{shown[0]}\nsound | physics") == [long, {"name": "sound", "facet": "physics", "instructions": ""}]
    assert edited_plan(question, " \n") == []


async def test_an_empty_list_is_no_plan_and_says_what_to_do() -> None:
    async with driven(engine("plan")) as d:
        card = await asked(d)
        card.query_one(TextArea).text = "\n"
        await d.pilot.press("ctrl+s")
        await d.settle()
        assert d.engine.answers == []
        assert not card.has_class("-answered")
        await d.pilot.press("escape")
        await d.finished()


@pytest.mark.parametrize("kind", ["plan", "intake"])
async def test_keys_typed_ahead_go_into_no_field(kind: str) -> None:
    async with driven(engine(kind)) as d:
        card = await asked(d, grace=True)
        before = [field.text for field in card.query(TextArea)]
        await d.pilot.press("a", "enter", "x", "ctrl+s")
        assert d.engine.answers == []
        assert [field.text for field in card.query(TextArea)] == before
        assert [field.value for field in card.query(Input)] == [""] * len(card.query(Input))
        assert d.app.research.prompt.text == "ax"
        card.clock = lambda: card.shown_at + 1
        await d.pilot.press("escape")
        await d.finished()


async def test_escape_starts_with_the_plan_as_it_was() -> None:
    async with driven(engine("plan")) as d:
        await asked(d)
        await d.pilot.press("escape")
        await d.finished()
        assert d.engine.answers == [{"items": []}]
        assert d.app.controller.state.outcome == "no_evidence"


async def test_intake_asks_at_most_three_questions() -> None:
    async with driven(engine("intake")) as d:
        card = await asked(d)
        assert isinstance(card, Intake)
        assert len(card.query(Input)) == 3
        await d.pilot.press(*"NO", "enter", *"1990", "enter", "enter")
        await d.finished()
        assert d.engine.answers == [{"answers": ["NO", "1990", ""]}]


async def test_intake_can_be_skipped() -> None:
    async with driven(engine("intake")) as d:
        await asked(d)
        await d.pilot.press("escape")
        await d.finished()
        assert d.engine.answers == [{"answers": []}]


async def test_an_answered_question_of_a_saved_run_takes_no_keys() -> None:
    made = engine("tool")
    events = [*made.script("r1", "Q?", "")[:2], ev.Answered(ask_id="a1", answer={"decision": "deny"})]
    made.saved("r1", events=events)
    async with driven(made) as d:
        await d.app.controller.show_run("r1")
        await d.settle()
        card = d.app.research.query_one(ToolApproval)
        assert card.has_class("-answered")
        assert not card.can_focus


def test_an_answer_is_sent_once() -> None:
    card = ToolApproval(bl.AskBlock("b1", ASKS["tool"]))
    sent: list[Any] = []
    card.post_message = sent.append  # type: ignore[assignment]
    card.answer({"decision": "allow"})
    card.add_class("-answered")
    card.answer({"decision": "deny"})
    assert len(sent) == 1


@pytest.mark.parametrize("options", [{}, {"items": "nonsense"}, {"items": [1, None, {"x": 1}]}])
def test_odd_plans_do_no_harm(options: dict[str, Any]) -> None:
    odd = ev.Asked(ask_id="x", kind="plan", text="", options=options)
    assert all(isinstance(line, str) for line in plan_lines(odd))
    assert PlanApproval(bl.AskBlock("b1", odd)).block.asked is odd


def test_plan_lines_go_there_and_back() -> None:
    items = parse_plan("\n".join(plan_lines(ASKS["plan"])))
    assert items == [
        {"name": "cost", "facet": "money", "instructions": "look at prices"},
        {"name": "noise", "facet": "", "instructions": ""},
    ]
    assert parse_plan("\n | x\n  \n") == []

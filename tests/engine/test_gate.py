"""The one gate: the first rule that objects wins, each refusal is journaled and says what to do, and refusals are counted."""

from types import SimpleNamespace

import pytest
from agent_framework import Content, MiddlewareFailure

from deepdelve.core import events as ev
from deepdelve.core.errors import DiskError, ToolError
from deepdelve.engine.gate import REPEATS, RULES, STRIKES, Call, Dispatch, Gate, QuotaAbort, RunAbort
from deepdelve.engine.roles import READING_TOOLS, RESEARCH_TOOLS, ROLES
from tests.support.runs import events_of, make_run


async def no_objection(call):
    return ""


class Door:
    """A gate with a tool behind it that counts how often it was reached."""

    def __init__(self, run, dispatch, answer="fine", approve=no_objection):
        self.run, self.dispatch, self.answer, self.reached = run, dispatch, answer, 0
        self.gate = Gate(run, dispatch, approve)
        self.events = events_of(run)

    async def call(self, tool, **args):
        function = SimpleNamespace(name=tool, parameters=lambda: {"properties": {"name": {}, "text": {}}})
        context = SimpleNamespace(function=function, arguments=args, metadata={"call_id": "call_0"}, result=None)

        async def behind():
            self.reached += 1
            if isinstance(self.answer, Exception):
                raise self.answer
            context.result = [Content.from_text(self.answer)]

        await self.gate.process(context, behind)
        return context.result[0].text

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path)


def door(run, role="Searcher", **more):
    return Door(run, Dispatch("D1", role), **more)


async def test_a_call_that_nothing_objects_to_is_carried_out_and_journaled(run):
    made = door(run)
    assert await made.call("web_search", query="x") == "fine"
    called, returned = made.of(ev.ToolCalled)[0], made.of(ev.ToolReturned)[0]
    assert (called.tool, called.args, called.role) == ("web_search", {"query": "x"}, "Searcher")
    assert (returned.ok, returned.text, returned.call_id) == (True, "fine", called.call_id)
    assert run.state.used == {"web_search": 1}


async def test_ids_that_a_server_gives_twice_are_told_apart(run):
    made = door(run)
    for query in ("one", "two"):
        await made.call("web_search", query=query)
    ids = [event.call_id for event in made.of(ev.ToolCalled)]
    assert len(set(ids)) == 2
    assert [event.call_id for event in made.of(ev.ToolReturned)] == ids


async def test_an_evidence_only_run_does_no_research(run):
    run.state.evidence_only = True
    made = door(run)
    for tool in sorted(RESEARCH_TOOLS):
        assert "Use the evidence you have" in await made.call(tool)
    assert made.reached == 0
    assert {event.rule for event in made.of(ev.ToolRefused)} == {"evidence_only"}


async def test_closed_research_is_refused_with_the_reason_and_reading_goes_on(run):
    run.research_closed = "the token budget is used up"
    made = door(run, "Analyzer")
    assert "token budget" in await made.call("web_search", query="x")
    assert await made.call("read_workspace_file", name="S1") == "fine"


async def test_a_quota_belongs_to_the_run_and_not_to_the_dispatch(run):
    run.budget.quotas["web_search"] = 2
    for number in range(3):
        made = Door(run, Dispatch(f"D{number}", "Searcher"))
        answer = await made.call("web_search", query=str(number))
    assert "run's 2 calls" in answer
    assert made.reached == 0


async def test_a_tool_without_a_quota_is_never_reached(run):
    made = door(run)
    assert "Refused" in await made.call("format_disk")
    assert made.reached == 0


async def test_a_cap_belongs_to_the_dispatch(run):
    first, second = door(run, "Builder"), Door(run, Dispatch("D2", "Builder"))
    limit = ROLES["Builder"].caps["think"]
    for number in range(limit):
        await first.call("think", thought=str(number))
    assert f"your {limit} calls of think" in await first.call("think", thought="more")
    assert await second.call("think", thought="more") == "fine"


async def test_the_same_call_over_and_over_is_refused_and_another_is_not(run):
    made = door(run)
    answers = [await made.call("web_search", query="x", profile="web") for _ in range(REPEATS + 1)]
    assert answers[:REPEATS] == ["fine"] * REPEATS
    assert "same call" in answers[-1]
    assert await made.call("web_search", profile="web", query="y") == "fine"


async def test_a_findings_writer_writes_before_it_reads(run):
    made = door(run, "FindingsWriter")
    for tool in sorted(READING_TOOLS & set(ROLES["FindingsWriter"].tools)):
        assert "Call write_workspace_file first" in await made.call(tool, name="S1")
    await made.call("write_workspace_file", name="findings.md", text="x")
    assert await made.call("read_workspace_file", name="S1") == "fine"


async def test_a_writing_that_failed_opens_no_reading(run):
    made = door(run, "FindingsWriter", answer=ToolError("The text is empty."))
    assert "empty" in await made.call("write_workspace_file", name="findings.md", text="")
    made.answer = "fine"
    assert "Refused" in await made.call("read_workspace_file", name="S1")


async def test_the_gate_names_the_edit_where_findings_exist(run):
    (run.dir / "draft").mkdir()
    (run.dir / "draft/findings.md").write_text("- x [S1]")
    assert "edit_workspace_file" in await door(run, "FindingsWriter").call("read_workspace_file", name="S1")


async def test_the_first_rule_that_objects_wins(run):
    run.state.evidence_only, run.research_closed = True, "time is up"
    run.budget.quotas["web_search"] = 0
    made = door(run)
    await made.call("web_search", query="x")
    assert [event.rule for event in made.of(ev.ToolRefused)] == [RULES[0].__name__]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_each_rule_is_silent_about_an_ordinary_call(run, rule):
    assert rule(Call(run, Dispatch("D1", "Searcher"), "web_search", {"query": "x"})) == ""


async def test_an_agent_that_goes_on_after_refusals_ends_with_the_last_reason(run):
    run.research_closed = "time is up"
    made = door(run)
    for number in range(STRIKES - 1):
        await made.call("web_search", query=str(number))
    with pytest.raises(QuotaAbort, match="time is up"):
        await made.call("web_search", query="last")
    assert len(made.of(ev.ToolRefused)) == STRIKES


async def test_a_denied_call_is_a_refusal_and_never_reaches_the_tool(run):
    async def deny(call):
        return "A person denied this call."

    made = door(run, approve=deny)
    assert "denied" in await made.call("web_search", query="x")
    assert made.reached == 0
    assert made.of(ev.ToolRefused)[0].rule == "approval"


async def test_nobody_is_asked_about_a_call_that_a_rule_refuses(run):
    asked = []

    async def ask(call):
        asked.append(call.tool)
        return ""

    run.research_closed = "time is up"
    await door(run, approve=ask).call("web_search", query="x")
    assert asked == []


async def test_a_wrong_use_comes_back_as_a_text_with_what_to_do(run):
    made = door(run, answer=ToolError("There is no file S9.", "Give another."))
    assert await made.call("read_workspace_file", name="S9") == "Error: There is no file S9. Give another."
    assert made.of(ev.ToolReturned)[0].ok is False


async def test_arguments_that_do_not_fit_are_answered_with_those_that_do(run):
    answer = await door(run, answer=TypeError("unexpected keyword 'nam'")).call("read_workspace_file", nam="S1")
    assert "Its arguments are: name, text" in answer


async def test_a_full_disk_ends_the_run_and_is_no_tool_answer(run):
    with pytest.raises(RunAbort, match="no room"):
        await door(run, answer=DiskError("There is no room.", "Make some.")).call("write_workspace_file", name="x", text="y")


async def test_an_abort_within_a_tool_is_no_tool_answer(run):
    with pytest.raises(MiddlewareFailure):
        await door(run, answer=QuotaAbort("enough")).call("delegate_tasks", tasks=[])

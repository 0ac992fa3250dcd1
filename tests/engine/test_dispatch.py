"""One dispatch: what is tried again and how often, what a broken one still gives, and how long it may take."""

import asyncio

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError
from deepdelve.engine import dispatch as module
from deepdelve.engine.agents import framework_tools
from deepdelve.engine.dispatch import MAX_WAIT_SECONDS, NUDGE, UNREAD, Dispatcher, Request
from deepdelve.engine.gate import QuotaAbort, RunAbort
from deepdelve.engine.roles import ROLES
from deepdelve.engine.services import Services
from tests.support.runs import events_of, make_run
from tests.support.scripted import ScriptedFactory, call, text
from tests.support.whole_run import RecordingSurface, results


class Bench:
    """A dispatcher whose model is a rule, and whose waits are noted instead of taken."""

    def __init__(self, folder, monkeypatch, rule, tools=None):
        self.run = make_run(folder)
        self.events = events_of(self.run)
        self.factory = ScriptedFactory(dict.fromkeys(ROLES, rule))
        services = Services(Settings(), self.run, self.factory, None, None, RecordingSurface(), True)
        self.dispatcher = Dispatcher(self.run, services, tools or _tools())
        self.waits = []

        async def wait(seconds):
            self.waits.append(seconds)

        class Waiting:
            def __getattr__(self, name):
                return wait if name == "sleep" else getattr(asyncio, name)

        monkeypatch.setattr(module, "asyncio", Waiting())

    async def go(self, role="Searcher", **more):
        return await self.dispatcher.dispatch(Request(role=role, message="Do it.", task="a task", **more))

    @property
    def asked(self):
        return [said.text for said in self.events if isinstance(said, ev.Message) and said.role == "User"]

    @property
    def ended(self):
        return [event for event in self.events if isinstance(event, ev.DispatchEnded)]


def _tools():
    async def answers(name: str = "", query: str = "", thought: str = "", text: str = "") -> str:
        """Answer."""
        return "An answer."

    return framework_tools({tool: answers for spec in ROLES.values() for tool in spec.tools})


@pytest.fixture
def bench(tmp_path, monkeypatch):
    return lambda rule: Bench(tmp_path, monkeypatch, rule)


def failing(cause, **more):
    def rule(messages, options):
        raise BackendError("It failed.", "Mend it.", cause=cause, **more)

    return rule


def once(error, then="Found it."):
    told = []

    def rule(messages, options):
        if not told:
            told.append(1)
            raise error
        return text(then)

    return rule


TRANSIENT = ["rate_limited", "server_error", "malformed", "cut_stream", "repeat", "timeout"]
FINAL = ["unreachable", "model_missing", "no_tools", "unauthorized", "not_a_model_server", "bad_request"]


async def test_a_dispatch_that_answers_is_done_and_journaled(bench):
    made = bench(lambda m, o: text("Found it."))
    result = await made.go()
    assert (result.ok, result.text, result.reason) == (True, "Found it.", "")
    assert (made.ended[0].ok, made.ended[0].attempts) == (True, 1)
    assert made.run.conversation(result.dispatch.id) == []


@pytest.mark.parametrize("cause", TRANSIENT)
async def test_what_passes_is_tried_once_more_and_goes_on_from_where_it_was(bench, cause):
    made = bench(once(BackendError("It failed.", cause=cause)))
    result = await made.go()
    assert result.ok
    assert "Go on from where you are" in made.asked[1]
    assert (len(made.waits), made.ended[0].attempts) == (1, 2)


@pytest.mark.parametrize("cause", TRANSIENT)
async def test_it_is_tried_once_more_and_not_for_ever(bench, cause):
    made = bench(failing(cause))
    result = await made.go()
    assert (result.ok, result.reason, result.error.cause) == (False, "It failed. Mend it.", cause)
    assert len(made.factory.calls) == 2


@pytest.mark.parametrize("cause", FINAL)
async def test_what_does_not_pass_is_not_tried_again(bench, cause):
    made = bench(failing(cause))
    assert not (await made.go()).ok
    assert (len(made.factory.calls), made.waits) == (1, [])


@pytest.mark.parametrize(("asked", "waited"), [(None, 1.0), (0, 0), (7, 7), (3600, MAX_WAIT_SECONDS)])
async def test_the_wait_is_what_the_server_asks_for_within_a_bound(bench, asked, waited):
    made = bench(once(BackendError("Slow down.", cause="rate_limited", retry_after=asked)))
    await made.go()
    assert made.waits == [waited]


async def test_a_reply_cut_by_length_is_asked_for_once_more_and_shorter(bench):
    made = bench(once(BackendError("Too long.", cause="length")))
    assert (await made.go("Builder")).ok
    assert "less than half the length" in made.asked[1]


async def test_a_reply_that_is_always_too_long_ends_the_dispatch(bench):
    made = bench(failing("length", partial="# Report\n\nA whole line.\nHalf a li"))
    result = await made.go("Builder")
    assert (result.ok, len(made.factory.calls)) == (False, 2)
    assert result.text == "# Report\n\nA whole line."


@pytest.mark.parametrize(("role", "calls"), [("Searcher", 2), ("PeerReviewer", 1)])
async def test_an_empty_reply_of_a_research_role_is_nudged_once(bench, role, calls):
    made = bench(failing("empty"))
    assert not (await made.go(role)).ok
    assert len(made.factory.calls) == calls
    assert made.asked[1:] == [NUDGE][: calls - 1]


async def test_a_researcher_that_calls_tools_and_writes_nothing_is_nudged_once(bench):
    def rule(messages, options):
        return [call("think", thought="x")] if not results(messages) else text("Found it." if NUDGE in str(messages[-1].text) else " ")

    made = bench(rule)
    assert (await made.go()).text == "Found it."
    assert made.asked.count(NUDGE) == 1


async def test_a_reader_that_reads_nothing_is_told_once_and_then_has_failed(bench):
    made = bench(lambda m, o: text("I would now read."))
    result = await made.go("Analyzer")
    assert (result.ok, result.reason) == (False, "it read none of its sources")
    assert made.asked.count(UNREAD) == 1


async def test_a_reader_that_reads_when_told_is_fine(bench):
    def rule(messages, options):
        told = any(UNREAD in message.text for message in messages)
        return [call("read_workspace_file", name="S1")] if told and not results(messages) else text("- Long. [S1]")

    assert (await bench(rule).go("Analyzer")).ok


async def test_what_a_model_said_before_it_broke_is_kept(bench):
    def rule(messages, options):
        if results(messages):
            raise BackendError("Down.", cause="unreachable")
        return [*text("- Long. [S1]"), call("think", thought="x")]

    result = await bench(rule).go()
    assert (result.ok, result.text) == (False, "- Long. [S1]")


async def test_an_abort_of_the_gate_ends_the_dispatch_with_its_reason(bench):
    def rule(messages, options):
        raise QuotaAbort("It went on after 6 refusals.")

    result = await bench(rule).go()
    assert (result.ok, result.reason) == (False, "It went on after 6 refusals.")


async def test_an_abort_of_the_run_is_no_result(bench):
    def rule(messages, options):
        raise RunAbort("The disk is full.")

    with pytest.raises(RunAbort):
        await bench(rule).go()


async def test_its_time_used_up_is_a_reason_and_not_an_exception(bench):
    async def rule(messages, options):
        await asyncio.Event().wait()

    result = await bench(rule).go(seconds=0.05)
    assert (result.ok, "seconds were used up" in result.reason) == (False, True)


async def test_a_stop_is_journaled_and_goes_on_up(bench):
    begun = asyncio.Event()

    async def rule(messages, options):
        begun.set()
        await asyncio.Event().wait()

    made = bench(rule)
    task = asyncio.create_task(made.go())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert [event.reason for event in made.ended] == ["stopped"]


def test_research_leaves_the_writers_their_share_of_the_time(tmp_path, monkeypatch):
    made = Bench(tmp_path, monkeypatch, lambda m, o: text("x"))
    seconds = made.run.budget.seconds
    assert made.dispatcher.seconds_for("Builder", 10_000) == pytest.approx(seconds, abs=5)
    assert made.dispatcher.seconds_for("Searcher", 10_000) == pytest.approx(seconds * 0.7, abs=5)
    assert made.dispatcher.seconds_for("Searcher", 30) == 30


async def test_dispatches_of_one_depth_are_bounded_in_number(bench):
    now, most = 0, 0

    async def rule(messages, options):
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        now -= 1
        return text("Found it.")

    made = bench(rule)
    await asyncio.gather(*(made.go() for _ in range(9)))
    assert most <= 3
    assert len({event.dispatch for event in made.ended}) == 9

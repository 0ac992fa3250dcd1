"""Clocks that jump, and a model server that is gone for a while: the run goes on."""

import time as real_time
from types import SimpleNamespace

import pytest

from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError
from deepdelve.engine import budget, outage, run, store
from tests.support.llm_server import LlmServer
from tests.support.model_rules import steady_rules
from tests.support.model_runs import run_on_server
from tests.support.whole_run import (
    RIVERS,
    RecordingSurface,
    good_builder,
    good_findings_writer,
    good_planner,
    good_rules,
    run_scripted,
    start_scripted,
    write_corpus,
)


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


class Clock:
    """A clock that a test sets; it goes on from there."""

    def __init__(self):
        self.offset = 0.0

    def shim(self):
        return SimpleNamespace(time=lambda: real_time.time() + self.offset, monotonic=lambda: real_time.monotonic() + self.offset)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(run, "time", made.shim())
    return made


def at_builder(change):
    def rule(messages, options):
        change()
        return good_builder(messages, options)

    return rule


@pytest.mark.parametrize("jump", [-86_400.0 * 365, -3_600.0, 600.0, 86_400.0 * 365])
async def test_a_clock_that_is_set_turns_no_event_around_and_costs_no_time(jump, rivers, clock):
    def once():
        clock.offset = jump

    whole = await run_scripted(good_rules(Builder=at_builder(once)), rivers)
    stamps = [event.ts for event in store.load_events(whole.run.dir)]
    assert whole.result.outcome == "verified"
    assert stamps == sorted(stamps)
    assert 0 <= whole.result.seconds < 60


async def test_a_gap_of_ten_minutes_takes_its_time_off_the_run_and_nothing_else(rivers, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock.shim())

    def once():
        clock.offset = 600.0

    whole = await run_scripted(good_rules(Builder=at_builder(once)), rivers)
    assert whole.result.outcome == "verified"
    assert 600 <= whole.result.seconds < 660


async def test_a_gap_beyond_the_budget_ends_the_run_with_what_it_has(rivers, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(budget, "time", clock.shim())

    def once():
        clock.offset = 600.0

    def writer(messages, options):
        once()
        return good_findings_writer(messages, options)

    whole = await run_scripted(good_rules(FindingsWriter=writer), rivers, max_minutes=5)
    assert (whole.result.outcome, whole.result.exit) == ("partial", 3)
    assert "time" in whole.result.reason
    assert "212 kilometres" in whole.report


# A server that is gone


class Server:
    """A model server that goes away before its n-th answer to a role, and comes back after so many seconds of waiting."""

    def __init__(self, monkeypatch, gone_for):
        self.waited, self.gone_for, self.asked = 0.0, gone_for, 0
        self.gone = False
        monkeypatch.setattr(
            outage, "asyncio", SimpleNamespace(sleep=self.sleep, create_task=outage.asyncio.create_task, shield=outage.asyncio.shield)
        )

    async def sleep(self, seconds):
        self.waited += seconds

    def rule(self, inner, first=1):
        turns = 0

        def asked(messages, options):
            nonlocal turns
            turns += 1
            self.asked += 1
            self.gone = self.gone or turns == first
            if self.gone and self.waited < self.gone_for:
                raise BackendError("The model server does not answer.", "Start it again.", cause="unreachable")
            return inner(messages, options)

        return asked


def gone_notices(surface):
    return [notice for notice in surface.of(ev.Notice) if notice.code == "server_gone"]


@pytest.mark.parametrize("role", ["Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder", "PeerReviewer"])
async def test_a_server_that_is_gone_for_a_minute_is_waited_for(role, rivers, monkeypatch):
    server = Server(monkeypatch, gone_for=60.0)
    rules = good_rules()
    rules[role] = server.rule(rules[role], first=2 if role == "Planner" else 1)
    whole = await run_scripted(rules, rivers)
    assert whole.result.outcome == "verified"
    assert len(gone_notices(whole.surface)) == 1
    assert "\n" not in gone_notices(whole.surface)[0].text
    assert 60 <= server.waited <= 90


@pytest.mark.parametrize("protocol", ["ollama", "openai"])
async def test_a_real_server_that_is_gone_and_comes_back_is_one_outage_with_growing_waits(protocol, tmp_path, monkeypatch):
    """A call that reaches nobody is reported as usage too: it must not pass for an answer."""
    waited = []
    with LlmServer(steady_rules()) as server:

        async def sleep(seconds):
            waited.append(seconds)
            if sum(waited) >= 15:
                server.start()

        shim = SimpleNamespace(sleep=sleep, create_task=outage.asyncio.create_task, shield=outage.asyncio.shield)
        monkeypatch.setattr(outage, "asyncio", shim)
        surface = RecordingSurface()
        original = surface.on_event

        def stop_then(event):
            original(event)
            if isinstance(event, ev.StageChanged) and event.stage == "writing_report":
                server.stop()

        surface.on_event = stop_then
        done = await run_on_server(server, protocol, tmp_path / "rivers", surface=surface)
    assert done.result.outcome == "verified"
    assert len(gone_notices(surface)) == 1
    assert waited == [1.0, 2.0, 4.0, 8.0]


async def test_two_outages_of_one_run_are_two_notices(rivers, monkeypatch):
    server = Server(monkeypatch, gone_for=7.0)

    def twice(messages, options):
        # Answered once after the first outage, and gone again from its next call on.
        if server.waited >= 7.0 and server.gone:
            server.gone_for = 14.0
        return good_builder(messages, options)

    rules = good_rules(Analyzer=server.rule(good_rules()["Analyzer"], first=1), Builder=server.rule(twice, first=2))
    whole = await run_scripted(rules, rivers)
    assert whole.result.outcome == "verified"
    assert len(gone_notices(whole.surface)) == 2


async def test_a_server_that_stays_away_ends_the_run_within_its_waits(rivers, monkeypatch):
    server = Server(monkeypatch, gone_for=float("inf"))
    rules = {role: server.rule(rule, first=99) for role, rule in good_rules().items()}
    rules["Searcher"] = server.rule(good_rules()["Searcher"], first=1)
    whole = await run_scripted(rules, rivers)
    assert whole.result.outcome in {"failed", "no_evidence", "partial"}
    assert whole.result.exit in {3, 4}
    assert server.waited == sum(outage.WAITS)
    assert server.asked < 60


async def test_a_server_that_never_answered_is_not_waited_for(rivers, monkeypatch):
    server = Server(monkeypatch, gone_for=float("inf"))
    whole = await run_scripted(good_rules(Planner=server.rule(good_planner(), first=1)), rivers)
    assert whole.result.exit == 4
    assert server.waited == 0
    assert "does not answer" in whole.result.reason


async def test_a_stop_is_heard_while_the_server_is_waited_for(rivers, monkeypatch):
    monkeypatch.setattr(outage, "WAITS", (600.0,))
    server = Server(monkeypatch, gone_for=float("inf"))
    monkeypatch.setattr(outage.asyncio, "sleep", __import__("asyncio").sleep)
    surface = RecordingSurface()
    original = surface.on_event

    def stop_then(event):
        original(event)
        if getattr(event, "code", "") == "server_gone":
            going.stop()

    surface.on_event = stop_then
    going = await start_scripted(good_rules(Builder=server.rule(good_builder)), rivers, surface)
    assert (await going.task).outcome == "stopped"

"""Budgets are frozen at the start; the clock and every deadline stand still while a person is asked."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.config import Settings
from deepdelve.engine import budget
from deepdelve.engine.budget import RESUME_FLOORS, RunClock, budget_for
from deepdelve.engine.roles import ROLES


class Time:
    """A clock that goes only when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch):
    made = Time()
    monkeypatch.setattr(budget, "time", made)
    return made


def clock(time: Time, seconds: float = 60.0) -> RunClock:
    return RunClock(seconds, started=time.now)


@pytest.mark.parametrize("depth", ["quick", "standard", "deep"])
def test_every_tool_of_every_role_has_a_quota(depth):
    quotas = budget_for(Settings(), depth).quotas
    assert {tool for spec in ROLES.values() for tool in spec.tools} <= set(quotas)
    assert all(limit > 0 for limit in quotas.values())


def test_deeper_runs_may_spend_more():
    quick, standard, deep = (budget_for(Settings(), depth) for depth in ("quick", "standard", "deep"))
    for name in ("web_search", "fetch_url_to_workspace", "delegate_tasks"):
        assert quick.quotas[name] < standard.quotas[name] < deep.quotas[name]
    assert quick.seconds < standard.seconds < deep.seconds
    assert quick.attempts < standard.attempts < deep.attempts


@pytest.mark.parametrize("depth", ["quick", "standard", "deep"])
def test_a_resumed_run_gets_half_of_the_research_and_never_less_than_the_floors(depth):
    whole, again = budget_for(Settings(), depth), budget_for(Settings(), depth, resumed=True)
    for name, floor in RESUME_FLOORS.items():
        assert again.quotas[name] == max(floor, whole.quotas[name] // 2)
    assert again.quotas["read_workspace_file"] == whole.quotas["read_workspace_file"]


def test_the_request_overrides_the_settings_and_they_the_preset():
    settings = Settings()
    assert budget_for(settings, "quick").seconds == settings.settings.presets.quick.minutes * 60
    settings.settings.max_run_minutes = 3
    assert budget_for(settings, "quick").seconds == 180
    assert budget_for(settings, "quick", 1.5).seconds == 90


def test_the_first_event_holds_the_whole_budget_as_numbers():
    flat = budget_for(Settings(), "quick").as_dict()
    assert flat["quota:web_search"] == 8
    assert flat["seconds"] == 600
    assert all(isinstance(value, int | float) for value in flat.values())


def test_a_budget_cannot_be_changed():
    with pytest.raises(AttributeError):
        budget_for(Settings(), "quick").seconds = 1


def test_what_is_left_is_never_negative(time):
    running = clock(time)
    time.now += 59
    assert running.remaining() == pytest.approx(1)
    time.now += 100
    assert running.remaining() == 0


@given(st.lists(st.tuples(st.sampled_from(["pass", "ask", "answer"]), st.floats(0, 50)), max_size=20))
def test_time_counts_exactly_while_nobody_is_asked(steps):
    with pytest.MonkeyPatch.context() as patch:
        time = Time()
        patch.setattr(budget, "time", time)
        running, asked, counted = clock(time, 10_000), 0, 0.0
        for step, seconds in steps:
            if step == "ask":
                running._pause()
                asked += 1
            elif step == "answer" and asked:
                running._resume()
                asked -= 1
            time.now += seconds
            counted += 0 if asked else seconds
            assert running.elapsed() == pytest.approx(counted)


async def held(running: RunClock, seconds: float, begun: asyncio.Event) -> str:
    """Wait within a limit, for ever if it lets one."""
    try:
        async with running.limit(seconds):
            begun.set()
            await asyncio.Event().wait()
    except TimeoutError:
        return "ended"
    return "never"


@pytest.fixture
async def going(time, monkeypatch):
    """A clock, and a way to let time pass: for it and for the event loop alike."""
    monkeypatch.setattr(asyncio.get_running_loop(), "time", time.monotonic)
    running = clock(time)

    async def passes(seconds: float) -> None:
        time.now += seconds
        for _ in range(5):
            await asyncio.sleep(0)

    async def begins(seconds: float) -> "asyncio.Task[str]":
        begun = asyncio.Event()
        task = asyncio.create_task(held(running, seconds, begun))
        await begun.wait()
        return task

    return running, passes, begins


async def test_a_limit_ends_its_body_when_its_seconds_are_used_up(going):
    _, passes, begins = going
    body = await begins(10)
    await passes(9.9)
    assert not body.done()
    await passes(0.2)
    assert body.result() == "ended"


async def test_a_deadline_stands_still_while_a_person_is_asked_and_then_has_what_it_had_left(going):
    running, passes, begins = going
    body = await begins(10)
    await passes(4)
    async with running.human_waiting():
        await passes(1000)
        assert not body.done()
    await passes(5.9)
    assert not body.done()
    await passes(0.2)
    assert body.result() == "ended"
    assert running.elapsed() == pytest.approx(10.1)


async def test_a_limit_that_begins_while_another_waits_for_a_person_gains_nothing_by_it(going):
    running, passes, begins = going
    async with running.human_waiting():
        await passes(100)
        body = await begins(10)
        await passes(50)
    await passes(9.9)
    assert not body.done()
    await passes(0.2)
    assert body.result() == "ended"


async def test_two_questions_at_once_are_one_wait_until_both_are_answered(going):
    running, passes, begins = going
    body = await begins(10)
    async with running.human_waiting():
        async with running.human_waiting():
            await passes(60)
        await passes(60)
        assert not body.done()
    assert running.paused_total == pytest.approx(120)
    await passes(10.1)
    assert body.done()


async def test_asking_while_a_limit_is_just_ending_breaks_nothing(going):
    running, passes, _ = going

    async def asks_at_its_end() -> str:
        try:
            async with running.limit(10):
                try:
                    await asyncio.Event().wait()
                finally:
                    async with running.human_waiting():
                        await asyncio.sleep(0)
        except TimeoutError:
            return "ended"
        return "never"

    body = asyncio.create_task(asks_at_its_end())
    await asyncio.sleep(0)
    await passes(10.1)
    assert await body == "ended"

"""Manners towards one host, and the time that one page may take."""

import asyncio

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web import limits
from deepdelve.tools.web.limits import Budget, HostLimits
from tests.tools.web.doubles import Clock


def host_limits(clock: Clock, per_host: int = 2, spacing: float = 0.0) -> HostLimits:
    return HostLimits(per_host, spacing, clock=clock, sleep=clock.sleep)


async def test_no_more_than_the_allowed_number_are_open_to_one_host() -> None:
    subject, inside, most = host_limits(Clock(), per_host=3), 0, 0

    async def visit(host: str) -> None:
        nonlocal inside, most
        async with subject.slot(host):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(visit("a.example") for _ in range(20)))
    assert most == 3
    most = 0
    await asyncio.gather(*(visit(f"{n}.example") for n in range(20)))
    assert most == 20


async def test_starts_are_spaced_by_host() -> None:
    clock = Clock()
    subject = host_limits(clock, spacing=2.0)
    for host in ("a", "a", "b", "a"):
        async with subject.slot(host):
            pass
    assert clock.slept == [2.0, 2.0]


async def test_a_host_that_asked_for_a_pause_gets_it() -> None:
    clock = Clock()
    subject = host_limits(clock)
    subject.hold("a", 7.0)
    subject.hold("a", 3.0)
    assert (subject.held("a"), subject.held("b")) == (7.0, 0.0)
    async with subject.slot("a"):
        pass
    assert clock.slept == [7.0]
    assert subject.held("a") == 0.0


async def test_a_pause_that_is_asked_for_while_others_queue_is_not_slept_through() -> None:
    clock = Clock()
    subject = host_limits(clock, per_host=1)

    async def queued() -> None:
        async with subject.slot("a", 10.0):
            pass

    async with subject.slot("a", 10.0):
        task = asyncio.create_task(queued())
        await asyncio.sleep(0)
        subject.hold("a", 3600.0)
    with pytest.raises(FetchError, match="left alone for 3600 s"):
        await task
    assert clock.slept == []


async def test_a_place_is_given_back_when_its_user_fails_or_is_stopped() -> None:
    subject = host_limits(Clock(), per_host=1)
    with pytest.raises(RuntimeError):
        async with subject.slot("a"):
            raise RuntimeError
    task = asyncio.create_task(_hold_for_ever(subject))
    await asyncio.sleep(0)
    task.cancel()
    async with asyncio.timeout(1), subject.slot("a"):
        pass


async def _hold_for_ever(subject: HostLimits) -> None:
    async with subject.slot("a"):
        await asyncio.Event().wait()


async def test_idle_hosts_are_forgotten_and_waiting_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_MAX_HOSTS", 10)
    clock = Clock()
    subject = host_limits(clock)
    subject.hold("held", 100.0)
    for n in range(50):
        async with subject.slot(f"{n}.example"):
            pass
    assert len(subject._hosts) <= 11
    assert subject.held("held") == 100.0


async def test_the_budget_counts_only_what_is_spent_inside_it() -> None:
    budget = Budget(0.05)
    async with budget.spend("a.example"):
        pass
    await asyncio.sleep(0.08)
    async with budget.spend("a.example"):
        await asyncio.sleep(0)
    with pytest.raises(FetchError) as caught:
        async with budget.spend("a.example"):
            await asyncio.sleep(1)
    assert caught.value.cause == "too_slow"
    with pytest.raises(FetchError):
        async with budget.spend("a.example"):
            await asyncio.sleep(1)

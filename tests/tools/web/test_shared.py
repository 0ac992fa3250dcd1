"""One fetcher for all runs of a loop: shared, and closed by the last."""

import asyncio

from deepdelve.config import FetchSettings
from deepdelve.tools.web.base import Page
from deepdelve.tools.web.limits import HostLimits
from deepdelve.tools.web.shared import SharedFetchers, shared_fetchers


class Fake:
    def __init__(self, limits: HostLimits) -> None:
        self.limits = limits
        self.closed = 0

    async def fetch(self, url: str) -> Page:
        return Page(url, url, f"read {self.closed}")

    async def close(self) -> None:
        self.closed += 1


def sharing() -> tuple[SharedFetchers, list[Fake]]:
    made: list[Fake] = []

    def open_(settings: FetchSettings, limits: HostLimits) -> Fake:
        made.append(Fake(limits))
        return made[-1]

    return SharedFetchers(open_), made


async def test_runs_with_the_same_settings_share_a_fetcher_until_the_last_lets_go() -> None:
    subject, made = sharing()
    first, second = subject.lease(FetchSettings()), subject.lease(FetchSettings())
    assert len(made) == 1
    await first.close()
    await first.close()
    assert made[0].closed == 0
    assert (await second.fetch("https://a.example/")).text == "read 0"
    await second.close()
    assert made[0].closed == 1


async def test_a_later_run_gets_a_fresh_fetcher_that_keeps_what_hosts_asked_for() -> None:
    subject, made = sharing()
    first = subject.lease(FetchSettings())
    made[0].limits.hold("a.example", 60.0)
    await first.close()
    await subject.lease(FetchSettings()).close()
    assert len(made) == 2
    assert made[1].limits.held("a.example") > 50


async def test_other_settings_mean_another_fetcher_under_the_same_limits() -> None:
    subject, made = sharing()
    subject.lease(FetchSettings())
    subject.lease(FetchSettings(allow_loopback=True))
    assert len(made) == 2
    assert made[0].limits is made[1].limits


def test_each_loop_has_its_own_and_closed_loops_are_forgotten() -> None:
    subject, made = sharing()

    async def one() -> None:
        subject.lease(FetchSettings())

    asyncio.run(one())
    asyncio.run(one())
    assert len(made) == 2
    assert made[0].limits is not made[1].limits
    assert len(subject._loops) == 1


def test_the_process_has_one_shelf() -> None:
    assert shared_fetchers() is shared_fetchers()

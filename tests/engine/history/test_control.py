"""Stopping: at any point, from anywhere, with one end and the right reason."""

import asyncio
import contextlib
import random
import threading

import pytest

from deepdelve.core.errors import UsageError
from deepdelve.engine.history import stream
from deepdelve.engine.history.control import SearchControl
from deepdelve.engine.history.records import Collected, RecordEmitted, SearchFinished, SourceFinished, SourceStarted
from deepdelve.engine.history.resolve import SearchRequest, resolve
from deepdelve.engine.history.search import iter_search
from deepdelve.engine.history.stream import aiter_search, arun_search
from tests.engine.history.support import Home, sid
from tests.support.patience import loop_beats_on

QUERY = resolve(SearchRequest(terms="tide", scope="all"))


def shelf(home: Home, sessions=12) -> None:
    for number in range(1, sessions + 1):
        home.session(number, *[f"tide {number} {turn}" for turn in range(80)])
        home.prompt("tide", number)


def searching() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "history search" and thread.is_alive()]


async def gone() -> None:
    for _ in range(200):
        if not searching():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("a search thread is left")


def cancelled_after(home: Home, reason: str, polls: int):
    """The answer of a search whose control stops it at one of its own looks."""

    class Counted(SearchControl):
        looks = 0

        @property
        def reason(self):
            self.looks += 1
            if self.looks == polls:
                self.stop(reason)
            return super().reason

    collected = Collected()
    for event in iter_search(QUERY, home.roots, control=Counted()):
        collected.take(event)
    return collected.result()


@pytest.mark.parametrize("seed", range(20))
def test_a20_a_stop_at_any_point_gives_one_end_and_the_right_state(home: Home, seed):
    shelf(home)
    polls = random.Random(seed).randrange(1, 40)
    found = cancelled_after(home, "caller_cancelled", polls)
    assert found.summary.status.state == "cancelled"
    assert found.summary.status.reason == "caller_cancelled"
    assert found.summary.outcome == "undetermined"
    assert found.summary.completed_effort is None
    assert found.summary.next_actions == ()


@pytest.mark.parametrize(
    ("reason", "state"),
    [("answer_now", "bounded"), ("caller_cancelled", "cancelled"), ("deadline", "cancelled"), ("replacement", "cancelled")],
)
def test_a21_answer_now_is_bounded_and_a_cancel_is_cancelled(home: Home, reason, state):
    shelf(home)
    found = cancelled_after(home, reason, 12)
    assert (found.summary.status.state, found.summary.status.reason) == (state, reason)
    assert found.summary.outcome == "undetermined"
    coverage = found.summary.coverage
    assert (coverage.sources_bounded, coverage.sources_cancelled) == ((1, 0) if reason == "answer_now" else (0, 1))
    assert coverage.sources_skipped
    assert found.records


def test_a21_the_first_reason_wins_from_any_thread():
    control = SearchControl()
    results: list[bool] = []
    threads = [threading.Thread(target=lambda: results.append(control.stop("replacement"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False] * 7 + [True]
    assert not control.stop("answer_now")
    assert control.reason == "replacement"


def test_a21_a_deadline_stops_the_search(home: Home):
    shelf(home)
    collected = Collected()
    for event in iter_search(QUERY, home.roots, control=SearchControl(seconds=0)):
        collected.take(event)
    assert collected.result().summary.status.reason == "deadline"


async def test_a20_the_stream_off_the_loop_gives_the_same(home: Home):
    shelf(home)
    collected = Collected()
    for event in iter_search(QUERY, home.roots):
        collected.take(event)
    found = await arun_search(QUERY, home.roots)
    assert found.records == collected.result().records
    await gone()


async def test_a20_closing_the_stream_ends_its_thread(home: Home):
    shelf(home)
    query = resolve(SearchRequest(terms="tide", scope="all", order="scan"))
    async with contextlib.aclosing(aiter_search(query, home.roots)) as events:
        async for event in events:
            if isinstance(event, RecordEmitted):
                break
    await gone()


async def test_a20_a_reading_that_never_comes_back_is_left_behind(home: Home, monkeypatch):
    shelf(home, 3)
    held, reached = threading.Event(), threading.Event()
    plain = stream.Search._consider

    def hang(self, record, notes):
        if record.session_id == sid(2) and record.store == "transcript":
            reached.set()
            held.wait(5)
        return plain(self, record, notes)

    monkeypatch.setattr(stream.Search, "_consider", hang)
    control = SearchControl()
    events = []
    async with contextlib.aclosing(aiter_search(QUERY, home.roots, control=control)) as found:
        async for event in found:
            events.append(event)
            if isinstance(event, SourceStarted) and sid(2) in event.source:
                await asyncio.to_thread(reached.wait, 2)
                control.stop("caller_cancelled")
    held.set()
    assert isinstance(events[-1], SearchFinished)
    assert sum(isinstance(event, SearchFinished) for event in events) == 1
    assert isinstance(events[-2], SourceFinished)
    assert events[-2].outcome == "cancelled"
    assert events[-1].summary.status.state == "cancelled"
    collected = Collected()
    for event in events:
        collected.take(event)
    await gone()


async def test_a27_the_event_loop_beats_on_during_an_exhaustive_search(home: Home):
    shelf(home, 60)
    async with loop_beats_on():
        await arun_search(QUERY, home.roots)


async def test_a_pattern_that_is_none_is_told_at_once(home: Home):
    with pytest.raises(UsageError):
        await arun_search(resolve(SearchRequest(terms="(", regex=True)), home.roots)


async def test_a_fault_of_ours_reaches_whoever_waits(home: Home, monkeypatch):
    shelf(home, 1)
    monkeypatch.setattr(stream.Search, "_consider", lambda self, record, notes: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await arun_search(QUERY, home.roots)

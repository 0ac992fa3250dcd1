"""What is learned of engines: waits that grow, a pace that slows under limits and comes back with success."""

import math

import pytest

from deepdelve.core.errors import SearchOutcome
from deepdelve.tools.search.health import MAX_INTERVAL, MAX_WAIT, Health
from tests.tools.search.doubles import failed, found
from tests.tools.web.doubles import Clock


def health(clock: Clock, interval: float = 0.0) -> Health:
    return Health({"one": interval, "two": 0.0}, clock)


@pytest.mark.parametrize(("outcome", "first"), [("rate_limited", 30.0), ("blocked", 300.0), ("unavailable", 20.0), ("engines_down", 20.0)])
def test_a_failing_engine_is_left_alone_for_twice_as_long_each_time(outcome: SearchOutcome, first: float) -> None:
    clock = Clock()
    subject = health(clock)
    subject.record("one", failed(outcome))
    assert subject.wait("one") == first
    subject.record("one", failed(outcome))
    assert subject.wait("one") == min(2 * first, MAX_WAIT)
    for _ in range(20):
        subject.record("one", failed(outcome))
    assert subject.wait("one") == MAX_WAIT
    assert subject.wait("two") == 0.0


def test_an_asked_for_wait_is_kept_as_it_is() -> None:
    clock = Clock()
    subject = health(clock)
    subject.record("one", failed("rate_limited", 3600.0))
    clock.now += 600
    assert subject.wait("one") == 3000.0


def test_wrong_settings_do_not_become_right_by_waiting() -> None:
    subject = health(Clock())
    subject.record("one", failed("misconfigured"))
    assert math.isinf(subject.wait("one"))


@pytest.mark.parametrize("answer", [found("https://a.example/"), failed("empty")])
def test_an_answer_clears_the_wait(answer: object) -> None:
    subject = health(Clock())
    subject.record("one", failed("unavailable"))
    subject.record("one", answer)
    assert subject.wait("one") == 0.0
    subject.record("one", failed("unavailable"))
    assert subject.wait("one") == 20.0


def test_the_pace_is_learned_from_rate_limits_and_returns_to_the_operators() -> None:
    subject = health(Clock(), interval=3.0)
    subject.record("one", failed("rate_limited"))
    assert _interval(subject) == 6.0
    for _ in range(10):
        subject.record("one", failed("rate_limited"))
    assert _interval(subject) == MAX_INTERVAL
    for _ in range(20):
        subject.record("one", failed("empty"))
    assert _interval(subject) == 3.0
    subject = health(Clock())
    subject.record("one", failed("rate_limited"))
    assert _interval(subject) == 1.0


def _interval(subject: Health) -> float:
    return subject.report()[0].interval


def test_starts_are_handed_out_one_interval_apart() -> None:
    clock = Clock()
    subject = health(clock, interval=3.0)
    assert [subject.reserve("one") for _ in range(3)] == [0.0, 3.0, 6.0]
    assert subject.queue("one") == 9.0
    clock.now += 100
    assert subject.reserve("one") == 0.0
    assert subject.queue("two") == 0.0


def test_the_report_says_how_each_engine_stands() -> None:
    subject = health(Clock())
    subject.record("two", failed("blocked"))
    one, two = subject.report()
    assert (one.name, one.outcome, one.wait, one.failures) == ("one", None, 0.0, 0)
    assert (two.outcome, two.detail, two.wait, two.failures) == ("blocked", "It is blocked.", 300.0, 1)

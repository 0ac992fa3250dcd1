"""Several engines as one: the next is taken when one fails, and it is always said why there is nothing."""

import asyncio

import pytest

from deepdelve.core.errors import SearchOutcome
from deepdelve.tools.search.base import SearchQuery, SearchResponse
from deepdelve.tools.search.rotation import Engine, Searcher
from tests.tools.search.doubles import FakeEngine, failed, found
from tests.tools.web.doubles import Clock

A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"
WEB, ACADEMIC = frozenset({"web"}), frozenset({"academic"})


def searcher(*engines: FakeEngine | Engine, clock: Clock | None = None, **more: object) -> Searcher:
    given = [engine if isinstance(engine, Engine) else Engine(engine) for engine in engines]
    time = clock or Clock()
    return Searcher(given, clock=time, sleep=time.sleep, **more)


async def ask(subject: Searcher, profile: str = "web", **more: object) -> SearchResponse:
    return await subject.search(SearchQuery("tides", profile=profile, **more))


async def test_the_first_engine_that_has_hits_answers_and_the_next_is_not_troubled() -> None:
    one, two = FakeEngine("one", found(A)), FakeEngine("two", found(B))
    response = await ask(searcher(one, two))
    assert (response.outcome, response.detail, [hit.url for hit in response.hits]) == ("ok", "", [A])
    assert two.asked == []
    assert response.asked_of("one+two") == "one"


@pytest.mark.parametrize("outcome", ["empty", "rate_limited", "blocked", "engines_down", "misconfigured", "unavailable"])
async def test_the_next_engine_is_taken_when_one_has_nothing(outcome: SearchOutcome) -> None:
    one, two = FakeEngine("one", failed(outcome)), FakeEngine("two", found(B))
    response = await ask(searcher(one, two))
    assert [hit.url for hit in response.hits] == [B]
    assert ("[one]" in response.detail) == (outcome != "empty")


async def test_engines_asked_at_once_are_merged() -> None:
    one, two, three = FakeEngine("one", found(A, B)), FakeEngine("two", found(B, C)), FakeEngine("three", found(A))
    response = await ask(searcher(one, two, three, at_once={"web": 2}))
    assert [hit.url for hit in response.hits] == [B, A, C]
    assert three.asked == []


async def test_engines_at_once_are_asked_side_by_side() -> None:
    inside = asyncio.Barrier(2)

    class Meeting(FakeEngine):
        async def search(self, query: SearchQuery) -> SearchResponse:
            async with asyncio.timeout(2):
                await inside.wait()
            return await super().search(query)

    await ask(searcher(Meeting("one", found(A)), Meeting("two", found(B)), at_once={"web": 2}))


async def test_a_profile_goes_to_the_engines_that_serve_it() -> None:
    web, papers = FakeEngine("web", found(A)), FakeEngine("papers", found(B))
    subject = searcher(Engine(web, WEB), Engine(papers, ACADEMIC))
    assert [hit.url for hit in (await ask(subject, "academic")).hits] == [B]
    assert [hit.url for hit in (await ask(subject)).hits] == [A]
    only = searcher(Engine(web, WEB))
    assert [hit.url for hit in (await ask(only, "academic")).hits] == [A]


async def test_a_rate_limited_engine_is_left_alone_as_long_as_it_asked_and_then_asked_again() -> None:
    clock = Clock()
    one, two = FakeEngine("one", failed("rate_limited", 60.0), found(A)), FakeEngine("two", found(B))
    subject = searcher(one, two, clock=clock)
    await ask(subject)
    await ask(subject)
    assert len(one.asked) == 1
    clock.now += 61
    assert [hit.url for hit in (await ask(subject)).hits] == [A]
    assert clock.slept == []


async def test_a_short_wait_is_waited_for() -> None:
    clock = Clock()
    one = FakeEngine("one", failed("rate_limited", 4.0), found(A))
    subject = searcher(one, clock=clock)
    assert (await ask(subject)).outcome == "rate_limited"
    assert (await ask(subject)).outcome == "ok"
    assert clock.slept == [4.0]


async def test_one_engine_alone_that_must_be_left_alone_says_for_how_long_and_why() -> None:
    one = FakeEngine("one", failed("rate_limited", 600.0))
    subject = searcher(one)
    await ask(subject)
    response = await ask(subject)
    assert (response.outcome, response.retry_after) == ("rate_limited", 600.0)
    assert "left alone for 600 s" in response.detail
    assert "It is rate_limited." in response.detail
    assert len(one.asked) == 1


async def test_a_wrong_key_is_told_each_time_without_asking_again() -> None:
    one = FakeEngine("one", failed("misconfigured"))
    subject = searcher(one)
    for _ in range(3):
        response = await ask(subject)
        assert (response.outcome, response.detail) == ("misconfigured", "[one] It is misconfigured.")
    assert len(one.asked) == 1


async def test_requests_are_paced_as_the_operator_asks() -> None:
    clock = Clock()
    subject = searcher(Engine(FakeEngine("one", found(A)), interval=3.0), clock=clock)
    for _ in range(3):
        await ask(subject)
    assert clock.slept == [3.0, 3.0]


async def test_a_long_queue_at_one_engine_goes_on_to_the_next() -> None:
    one, two = FakeEngine("one", found(A)), FakeEngine("two", found(B))
    clock = Clock()

    async def no_time_passes(seconds: float) -> None:
        clock.slept.append(seconds)

    subject = Searcher([Engine(one, interval=3.0), Engine(two)], clock=clock, sleep=no_time_passes)
    got = [[hit.url for hit in (await ask(subject)).hits] for _ in range(4)]
    assert got == [[A], [A], [B], [B]]


@pytest.mark.parametrize(
    ("outcomes", "whole"),
    [
        (("empty", "empty"), "empty"),
        (("empty", "unavailable"), "empty"),
        (("rate_limited", "rate_limited"), "rate_limited"),
        (("blocked", "blocked"), "blocked"),
        (("rate_limited", "unavailable"), "engines_down"),
        (("misconfigured", "blocked"), "engines_down"),
        (("unavailable",), "unavailable"),
        ((), "misconfigured"),
    ],
)
async def test_nothing_is_never_unexplained(outcomes: tuple[SearchOutcome, ...], whole: str) -> None:
    engines = [FakeEngine(f"e{n}", failed(outcome)) for n, outcome in enumerate(outcomes)]
    response = await ask(searcher(*engines))
    assert (response.outcome, response.hits) == (whole, ())
    assert response.detail
    for engine, outcome in zip(engines, outcomes, strict=True):
        assert outcome == "empty" or f"[{engine.name}] It is {outcome}." in response.detail


async def test_the_shortest_wait_is_handed_on() -> None:
    engines = [FakeEngine("one", failed("rate_limited", 90.0)), FakeEngine("two", failed("rate_limited", 30.0))]
    assert (await ask(searcher(*engines))).retry_after == 30.0


async def test_hits_that_are_all_left_out_are_said_to_be() -> None:
    response = await ask(searcher(FakeEngine("one", found(A)), blocked_domains=["a.example"]))
    assert (response.outcome, response.detail) == ("empty", "All hits were left out.")


async def test_a_probe_asks_every_engine_of_every_profile_once() -> None:
    one, two = FakeEngine("one", failed("blocked")), FakeEngine("two", found(B))
    statuses = await searcher(Engine(one, WEB), Engine(two, ACADEMIC)).probe()
    assert [(status.name, status.outcome) for status in statuses] == [("one", "blocked"), ("two", "ok")]
    assert len(one.asked) == len(two.asked) == 1


async def test_health_is_shown_and_closing_closes_all() -> None:
    one, two = FakeEngine("one", failed("blocked")), FakeEngine("two", found(B))
    subject = searcher(one, two)
    await ask(subject)
    assert [(status.name, status.outcome) for status in subject.health()] == [("one", "blocked"), ("two", "ok")]
    assert subject.name == "one+two"
    await subject.close()
    assert one.closed
    assert two.closed

"""Tasks that go side by side each see their own run and dispatch; nothing is ever reset."""

import asyncio
from types import SimpleNamespace

import pytest

from deepdelve.core.scope import Scope, current_scope, set_scope


def scope(name: str) -> Scope:
    return Scope(run=SimpleNamespace(run_id=name), dispatch=SimpleNamespace(id=name))


def test_outside_a_run_there_is_no_scope() -> None:
    async def ask() -> Scope:
        return current_scope()

    with pytest.raises(LookupError):
        asyncio.run(ask())


async def test_parallel_tasks_do_not_see_each_other() -> None:
    async def work(name: str) -> list[str]:
        set_scope(scope(name))
        seen = []
        for _ in range(5):
            await asyncio.sleep(0)
            seen.append(current_scope().run.run_id)
        return seen

    results = await asyncio.gather(*(work(str(n)) for n in range(20)))
    assert results == [[str(n)] * 5 for n in range(20)]


async def test_a_child_task_inherits_and_does_not_change_its_parent() -> None:
    set_scope(scope("parent"))

    async def child() -> tuple[str, str]:
        before = current_scope().dispatch.id
        set_scope(scope("child"))
        return before, current_scope().dispatch.id

    assert await asyncio.create_task(child()) == ("parent", "child")
    assert current_scope().dispatch.id == "parent"


async def test_threads_started_for_a_task_see_its_scope() -> None:
    set_scope(scope("thread"))
    assert (await asyncio.to_thread(current_scope)).run.run_id == "thread"


async def test_a_stream_that_is_consumed_in_another_task_works() -> None:
    """On Python 3.11 each step of a waited-for stream runs in a task of its own."""

    async def stream() -> object:
        set_scope(scope("stream"))
        for n in range(3):
            yield n

    items = stream()
    got = [await asyncio.wait_for(anext(items), 1) for _ in range(3)]
    await items.aclose()
    assert got == [0, 1, 2]

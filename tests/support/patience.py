"""Measures of work that no load of the machine changes, in place of seconds.

A test that asserts seconds fails on a busy machine and passes on a fast one. A test that wants to know whether something ends has the
time limit of every test (``timeout`` in ``pyproject.toml``); one that wants to know how the work grows counts it here.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from types import FrameType
from typing import Any, TypeVar

Input = TypeVar("Input", bound=Sequence[Any])

# What a call costs at any size: set-up, first use of a cache.
ANY_SIZE = 3_000
# A work that grows with the text takes four times the steps for four times the text; one that grows with its square takes sixteen.
FOURFOLD = 6


def steps(work: Callable[[], object]) -> int:
    """The lines of Python that the work executes, in the thread of the caller.

    What C code does within one line (a regular expression, a slice) counts as that line.
    """
    count = 0

    def line(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(line)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def in_proportion(work: Callable[[Input], object], text: Input) -> None:
    """Hold that the work grows with the text and not with its square: an eighth of it against half of it.

    Raises:
        AssertionError: it grows faster.
    """
    work(text[: len(text) // 64])
    few = steps(lambda: work(text[: len(text) // 8]))
    many = steps(lambda: work(text[: len(text) // 2]))
    assert many <= FOURFOLD * few + ANY_SIZE, f"four times the text takes {many / few:.1f} times the steps ({few} and {many})"


@contextlib.asynccontextmanager
async def loop_beats_on() -> AsyncIterator[None]:
    """Hold that the event loop goes on while the body waits for something long. Work on the loop itself lets it beat once, at its end."""
    beats = 0

    async def heart() -> None:
        nonlocal beats
        for _ in range(100_000):
            await asyncio.sleep(0.002)
            beats += 1

    beating = asyncio.create_task(heart())
    try:
        yield
    finally:
        beating.cancel()
    assert beats >= 3, f"the loop beat {beats} times"

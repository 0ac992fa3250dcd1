"""What the one loop needs of whoever runs it: the Planner's run or a dispatch."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from deepdelve.engine.gate import Dispatch
from deepdelve.engine.run import Run


@dataclass(frozen=True)
class TurnResult:
    """How a turn ended: the last text of the assistant, and how many tools it called."""

    text: str
    tool_calls: int


@dataclass(frozen=True)
class RunLoopSurface:
    """One user of the loop.

    Attributes:
        run: the run.
        dispatch: on whose behalf the agent works (the Planner has one of its own, with an empty id).
        after_turn: what to say next, or None to end. Called once a turn, at most ``max_turns`` times.
        max_turns: the loop is counted.
    """

    run: Run
    dispatch: Dispatch
    after_turn: Callable[[TurnResult], Awaitable[str | None]]
    max_turns: int

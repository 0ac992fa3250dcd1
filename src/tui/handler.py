"""From events to the screen: gathers what arrived within a moment, reduces it, and shows old and new state once."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from deepdelve.tui.text import one_line
from deepdelve.tui.view_state import ViewState

if TYPE_CHECKING:
    from deepdelve.core.events import Event, TextDelta, ThinkingDelta

Show: TypeAlias = Callable[[ViewState, ViewState], Awaitable[None]]
BATCH_SECONDS = 0.06
LOG_LINES = 500
_TELLING = ("question", "text", "tool", "query", "stage", "problem", "outcome", "role", "reason")


class EventHandler:
    """Holds the view state, and in ``log`` the last events, one line each.

    ``post`` may be called as often as events come; the screen is drawn at most once a batch.

    Args:
        show: draws the difference of two states.
        failed: told of an error while drawing; the handler goes on.
        batch_seconds: how long events are gathered.
    """

    def __init__(self, show: Show, failed: Callable[[Exception], None], batch_seconds: float = BATCH_SECONDS) -> None:
        self.state = ViewState()
        self._shown = self.state
        self._show = show
        self._failed = failed
        self._batch_seconds = batch_seconds
        self._pending: list[Event] = []
        self._wake = asyncio.Event()
        self._open = True
        self._drawing = asyncio.Lock()
        self.log: deque[str] = deque(maxlen=LOG_LINES)

    def post(self, event: "Event") -> None:
        """Takes an event, in order."""
        self._pending.append(event)
        self._wake.set()

    def replace(self, state: ViewState) -> None:
        """Puts another state in place, such as that of a saved run."""
        self._take()
        self.state = state
        self._wake.set()

    def change(self, make: Callable[[ViewState], ViewState]) -> None:
        """Puts what ``make`` gives for the newest state in place; nothing that was posted before is lost."""
        self._take()
        self.replace(make(self.state))

    async def run(self) -> None:
        """Draws until ``close`` is called."""
        while self._open:
            await self._wake.wait()
            await asyncio.sleep(self._batch_seconds)
            await self.flush()

    async def flush(self) -> None:
        """Reduces what has arrived and draws it now."""
        async with self._drawing:
            self._wake.clear()
            self._take()
            old, self._shown = self._shown, self.state
            if old is self.state:
                return
            try:
                await self._show(old, self.state)
            except Exception as error:
                self._failed(error)

    def close(self) -> None:
        """Ends ``run``."""
        self._open = False
        self._wake.set()

    def _take(self) -> None:
        if not self._pending:
            return
        # The models of the events are there once there is an event; the first frame comes before them.
        from deepdelve.tui.view import reduce

        pending, self._pending = self._pending, []
        for event in merged(pending):
            self.log.append(log_line(event))
            self.state = reduce(self.state, event)


def log_line(event: "Event") -> str:
    """An event as one line: number, type, dispatch, and what says most about it."""
    told = next((str(value) for name in _TELLING if (value := getattr(event, name, ""))), "")
    return " ".join(part for part in (str(event.seq), type(event).__name__, event.dispatch, one_line(told, 200)) if part)


def merged(events: "Iterable[Event]") -> "list[Event]":
    """The events, with neighbouring deltas of one stream joined, so that streaming stays linear in the length of the text."""
    from deepdelve.core.events import TextDelta, ThinkingDelta

    result: list[Event] = []
    pieces: list[str] = []
    head: TextDelta | ThinkingDelta | None = None
    for event in events:
        if isinstance(event, TextDelta | ThinkingDelta):
            if isinstance(event, TextDelta) and event.replace and head is not None and _same_stream(event, head):
                head, pieces = event, [event.text]
                continue
            if head is not None and _same_stream(event, head):
                pieces.append(event.text)
                continue
            _close(result, head, pieces)
            head, pieces = event, [event.text]
        else:
            _close(result, head, pieces)
            head, pieces = None, []
            result.append(event)
    _close(result, head, pieces)
    return result


def _same_stream(event: "TextDelta | ThinkingDelta", head: "TextDelta | ThinkingDelta") -> bool:
    return type(event) is type(head) and (event.dispatch, event.role) == (head.dispatch, head.role)


def _close(result: "list[Event]", head: "TextDelta | ThinkingDelta | None", pieces: list[str]) -> None:
    if head is not None:
        result.append(head if len(pieces) == 1 else head.model_copy(update={"text": "".join(pieces)}))

"""How a search is stopped, from any thread: the first reason wins."""

import threading
import time
from typing import Literal

StopReason = Literal["answer_now", "caller_cancelled", "deadline", "replacement"]


class SearchControl:
    """Handed to a search and kept by whoever may stop it.

    Args:
        seconds: a deadline from now on.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._lock = threading.Lock()
        self._reason: StopReason | None = None
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def stop(self, reason: StopReason = "caller_cancelled") -> bool:
        """Ask the search to stop; says whether this was the first reason."""
        with self._lock:
            first = self._reason is None
            if first:
                self._reason = reason
            return first

    @property
    def reason(self) -> StopReason | None:
        """Why the search must stop, if it must."""
        if self._reason is None and self._deadline is not None and time.monotonic() >= self._deadline:
            self.stop("deadline")
        return self._reason

"""The one context variable of the product: which run and which dispatch the current task works for.

A dispatch sets it inside its own task and never resets it, so that runs and dispatches go side by side and nothing
depends on a token being reset in the task that made it.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

from deepdelve.core.events import Event
from deepdelve.core.records import Hit, Role, Source

P = ParamSpec("P")
T = TypeVar("T")


class RunPort(Protocol):
    """What tools may do to the run they work for."""

    run_id: str
    dir: Path
    nonce: str

    def emit(self, event: Event) -> None:
        """Journal the event and hand it to every surface."""
        ...

    def source(self, source_id: str) -> Source | None:
        """The newest record of a source, or None."""
        ...

    def source_by_url(self, url: str) -> Source | None:
        """The source stored under this canonical address, or None."""
        ...

    async def keep(self, write: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Carry out a write; where the disk is full, wait for room and try again."""
        ...

    def add_source(self, source: Source, text: str, original: bytes | None = None) -> Source:
        """Give the source an id, store its text and record it. Returns it as recorded."""
        ...

    def read_source(self, source_id: str) -> str:
        """The stored text of a source; empty where there is none."""
        ...

    def note_hits(self, hits: list[Hit]) -> None:
        """Remember addresses that search returned: those may be fetched."""
        ...

    def may_fetch(self, url: str) -> bool:
        """Whether search returned it, the person named it, or it shares the registrable domain of a fetched page."""
        ...


class DispatchPort(Protocol):
    """What tools may know of the dispatch they work for."""

    id: str
    role: Role
    task: str
    top_task: str
    facet: str
    depth: int
    sources: list[str]


@dataclass(frozen=True)
class Scope:
    """The run and the dispatch that the current task works for."""

    run: RunPort
    dispatch: DispatchPort


_scope: ContextVar[Scope] = ContextVar("deepdelve_scope")


def set_scope(scope: Scope) -> None:
    """Enter a scope for the rest of the current task."""
    _scope.set(scope)


def current_scope() -> Scope:
    """The scope of the current task.

    Raises:
        LookupError: the current task works for no run (a programming error).
    """
    return _scope.get()

"""The protocol that every search backend shares, and the answer it gives: never an unexplained empty list."""

from dataclasses import dataclass, field
from typing import Protocol

from deepdelve.core.errors import SearchOutcome
from deepdelve.core.records import Hit


@dataclass(frozen=True)
class SearchResponse:
    """Hits in order of rank, and how the search went.

    ``detail`` explains every outcome but ``ok`` in one sentence. ``asked`` names the engines that were asked, where there are several.
    """

    hits: tuple[Hit, ...] = ()
    outcome: SearchOutcome = "ok"
    detail: str = ""
    retry_after: float | None = None
    asked: tuple[str, ...] = ()

    def asked_of(self, backend: str) -> str:
        """The engines that were asked, as ``a+b``: fewer than a backend of several engines is made of."""
        return "+".join(self.asked) or backend


@dataclass(frozen=True)
class SearchQuery:
    """What is searched. ``profile`` is ``web`` or ``academic``; ``language`` an ISO code or empty."""

    text: str
    limit: int = 10
    profile: str = "web"
    language: str = ""
    exclude: frozenset[str] = field(default_factory=frozenset[str])


class SearchBackend(Protocol):
    """One engine. It raises nothing for what its engine does: the outcome says it."""

    name: str

    async def search(self, query: SearchQuery) -> SearchResponse:
        """Search; hits carry canonical addresses."""
        ...

    async def close(self) -> None:
        """Let go of connections and files."""
        ...

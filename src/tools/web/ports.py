"""What the fetcher needs of other rooms, and the body that it hands to them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from deepdelve.core.records import SourceState
from deepdelve.tools.web.documents.sniff import Family


class ExtractedText(Protocol):
    """What an extractor makes of a body; ``reason`` says why ``text`` is empty."""

    @property
    def text(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def author(self) -> str: ...  # noqa: D102
    @property
    def date(self) -> str: ...  # noqa: D102
    @property
    def language(self) -> str: ...  # noqa: D102
    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def links(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def reason(self) -> str: ...  # noqa: D102


class Extract(Protocol):
    """``tools.web.extract.extract``."""

    def __call__(self, data: bytes, *, url: str, content_type: str = "", charset: str = "") -> Awaitable[ExtractedText]:
        """Main content of a body as Markdown."""
        ...


class StubVerdict(Protocol):
    """Whether a page is what it seems; ``state`` is ``ok`` or says what kind of page it is instead."""

    @property
    def state(self) -> SourceState: ...  # noqa: D102
    @property
    def reason(self) -> str: ...  # noqa: D102


class Detect(Protocol):
    """``utils.grounding.stubs.detect``."""

    def __call__(self, text: str, *, html: str = "", status: int = 200, url: str = "", title: str = "") -> StubVerdict:
        """Judge a page."""
        ...


@dataclass(frozen=True)
class Download:
    """A body that may be read: where it came from, what it is labelled, and what its bytes say that it is."""

    url: str
    status: int
    content_type: str
    body: bytes
    kind: Family
    fetched_at: str


class Render(Protocol):
    """A browser that lets a page's scripts run (``tools.web.browser``)."""

    async def render(self, url: str, load: Callable[[str], Awaitable[Download]]) -> bytes:
        """The page's HTML after its scripts ran; ``load`` is the only way it gets anything."""
        ...

    async def close(self) -> None:
        """Let go of the browser."""
        ...

"""What a fetch gives, whether the page came from the web, a corpus or a seed document."""

from dataclasses import dataclass
from typing import Protocol

from deepdelve.core.records import SourceState


@dataclass(frozen=True)
class Page:
    """A page as agents would read it.

    ``text`` is Markdown with headings, tables and links; PDF pages are marked ``[page N]`` on a line of their own.
    ``original`` holds the bytes as received for HTML and PDF. ``state`` other than ``ok`` means: listed, never cited.
    ``origin`` says where the text came from if it was not fetched now; empty otherwise.
    """

    url: str
    final_url: str
    text: str
    title: str = ""
    author: str = ""
    date: str = ""
    language: str = ""
    status: int = 200
    kind: str = "html"
    fetched_at: str = ""
    state: SourceState = "ok"
    reason: str = ""
    original: bytes | None = None
    links: tuple[str, ...] = ()
    origin: str = ""


class Fetcher(Protocol):
    """Gets one address. Raises ``FetchError`` for what cannot be fetched; a stub page is a ``Page`` whose state says so."""

    async def fetch(self, url: str) -> Page:
        """Fetch and extract."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...

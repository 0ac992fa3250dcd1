"""Search and fetch over local documents, behind the protocols that web search and web fetch share."""

import asyncio
import hashlib
from datetime import UTC, datetime
from pathlib import Path

from deepdelve.core.errors import FetchError
from deepdelve.tools.search.base import SearchQuery, SearchResponse
from deepdelve.tools.search.corpus_documents import Document
from deepdelve.tools.search.corpus_files import SCHEME, read_file
from deepdelve.tools.search.corpus_index import CorpusIndex
from deepdelve.tools.web.base import Page

__all__ = ["CorpusBackend", "CorpusFetcher", "CorpusIndex", "is_corpus_address"]
_KEPT_ORIGINALS = {"html", "pdf"}


def is_corpus_address(url: str) -> bool:
    """Whether an address names a document of a corpus."""
    return url.startswith(SCHEME)


class CorpusBackend:
    """Searches a corpus index."""

    name = "corpus"

    def __init__(self, index: CorpusIndex) -> None:
        self.index = index

    async def search(self, query: SearchQuery) -> SearchResponse:
        """Search; hits are whole documents, best passage first."""
        hits = await self.index.search(query.text, limit=query.limit, exclude=query.exclude)
        if hits:
            return SearchResponse(tuple(hits))
        return SearchResponse(
            outcome="empty", detail=f"None of the {self.index.documents} documents of the corpus holds a word of this query."
        )

    async def close(self) -> None:
        """Close the index."""
        self.index.close()


class CorpusFetcher:
    """Serves documents of a corpus index by their addresses."""

    def __init__(self, index: CorpusIndex) -> None:
        self.index = index

    async def fetch(self, url: str) -> Page:
        """The document as indexed; the original bytes of HTML and PDF come along while the file is unchanged.

        Raises:
            FetchError: no document of the corpus has this address.
        """
        document = await self.index.load(url)
        if document is None:
            raise FetchError(f"{url} is not in the corpus.", "Use an address that a search returned.", cause="unreachable")
        original = await asyncio.to_thread(_original, document) if document.kind in _KEPT_ORIGINALS else None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return Page(
            url=document.address,
            final_url=document.address,
            text=document.text,
            title=document.title,
            kind=document.kind,
            fetched_at=now,
            original=original,
        )

    async def close(self) -> None:
        """Nothing to let go of: the backend closes the index."""


def _original(document: Document) -> bytes | None:
    try:
        data = read_file(Path(document.root), document.relative)
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == document.sha256 else None

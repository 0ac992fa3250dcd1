"""Documents as text: web pages, PDF, Office files, books, tables and notebooks, told apart by their content."""

import asyncio
import json

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.extracted import Extracted, no_text, unreadable
from deepdelve.tools.web.documents.sniff import family
from deepdelve.tools.web.pool import ParserPool, Request, shared_pool

__all__ = ["Extracted", "extract"]

# Larger documents, and all types that unpack or can crash a library, are read in a process that can be killed.
IN_PROCESS_LIMIT = 200_000
_IN_PROCESS_TAGS = 12_000
_APART = frozenset({"pdf", "zip", "ole", "rtf", "xml"})


async def extract(data: bytes, *, url: str = "", content_type: str = "", charset: str = "", pool: ParserPool | None = None) -> Extracted:
    """Read a document of any known type.

    Args:
        data: the bytes as received, at most some tens of megabytes.
        url: where it came from; links are resolved against it. Its suffix says nothing.
        content_type: media type of the header, used to tell kinds of text apart.
        charset: charset of the header; the document's own declaration is read as well.
        pool: where large and risky documents are parsed; the process's shared pool by default.

    Returns:
        The main text as Markdown, with the metadata that the document states.

    Raises:
        FetchError: ``encrypted``, ``unreadable``, ``no_text`` or ``unsupported_type``, with the reason in one sentence.
    """
    kind = family(data, content_type)
    if kind == "empty":
        raise no_text("The file is empty.")
    if kind in _APART or len(data) > IN_PROCESS_LIMIT or data.count(b"<") > _IN_PROCESS_TAGS:
        facts = json.dumps({"url": url, "content_type": content_type, "charset": charset}).encode()
        return await (pool or shared_pool()).parse(Request(facts, data))
    return await asyncio.to_thread(_parse_here, data, url, content_type, charset)


def _parse_here(data: bytes, url: str, content_type: str, charset: str) -> Extracted:
    from deepdelve.tools.web.documents.parse import parse

    try:
        return parse(data, url=url, content_type=content_type, charset=charset)
    except FetchError:
        raise
    except Exception as error:  # the edge of the parsers: any fault of theirs is the document's
        raise unreadable("The document is damaged in a way that its parser cannot handle.", "Use another copy of it.") from error

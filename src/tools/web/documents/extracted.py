"""What extraction gives, and the refusals it gives instead."""

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Literal, cast

from deepdelve.core.errors import FetchCause, FetchError

Kind = Literal[
    "html",
    "pdf",
    "docx",
    "xlsx",
    "pptx",
    "doc",
    "xls",
    "epub",
    "odf",
    "rtf",
    "csv",
    "json",
    "notebook",
    "xml",
    "markdown",
    "text",
]

# Characters of text kept from one document; what lies beyond is dropped and ``reason`` says so.
TEXT_LIMIT = 2_000_000
LINK_LIMIT = 2_000


@dataclass(frozen=True)
class Extracted:
    """A document as agents would read it.

    Attributes:
        text: Markdown; in paged documents every page starts with ``[page N]`` on a line of its own.
        title: as the document states it; empty if it does not.
        author: names, joined by ``, ``.
        date: ISO date of publication, else of last change; empty if unstated.
        language: ISO 639 code as declared, lower case; empty if undeclared.
        kind: the type that the content showed.
        links: absolute http(s) addresses in the main text, in order, each once.
        pages: pages, slides or sheets; 0 where the format has none.
        reason: what was left out and why; empty if all was read.
    """

    text: str
    title: str = ""
    author: str = ""
    date: str = ""
    language: str = ""
    kind: Kind = "text"
    links: tuple[str, ...] = ()
    pages: int = 0
    reason: str = ""


def to_json(result: Extracted | FetchError) -> bytes:
    """Encode a result or a refusal for the pipe between parser process and parent."""
    if isinstance(result, FetchError):
        payload: dict[str, Any] = {"error": {"message": result.message, "remedy": result.remedy, "cause": result.cause}}
    else:
        payload = {"result": dataclasses.asdict(result)}
    # Lone surrogates (from damaged input) cannot be encoded; ASCII escapes carry them through.
    return json.dumps(payload, ensure_ascii=True).encode("ascii")


def from_json(data: bytes) -> Extracted | FetchError:
    """Decode what ``to_json`` made; raises ``ValueError`` or ``KeyError`` on anything else."""
    payload = cast(dict[str, dict[str, Any]], json.loads(data))
    if "error" in payload:
        error = payload["error"]
        return FetchError(str(error["message"]), str(error["remedy"]), cause=cast(FetchCause, error["cause"]))
    fields = payload["result"]
    fields["links"] = tuple(fields["links"])
    return Extracted(**fields)


def unreadable(what: str, remedy: str = "") -> FetchError:
    """The file is of a known type but damaged."""
    return FetchError(what, remedy, cause="unreadable")


def encrypted(what: str) -> FetchError:
    """The file needs a password."""
    return FetchError(what, "Save a copy without the password and use that.", cause="encrypted")


def no_text(what: str, remedy: str = "") -> FetchError:
    """The file opened but holds no text."""
    return FetchError(what, remedy, cause="no_text")


def unsupported(what: str, remedy: str = "") -> FetchError:
    """The type cannot be read here."""
    return FetchError(what, remedy, cause="unsupported_type")

"""Whatever a model server or its client library throws, as one ``BackendError`` by cause, with what to do about it."""

import email.utils
import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from deepdelve.core.errors import BackendCause, BackendError

Protocol = Literal["ollama", "openai"]
_QUOTE = 200
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")
_UNREACHABLE = frozenset(
    {
        "ConnectError",
        "ConnectTimeout",
        "ConnectionError",
        "ConnectionRefusedError",
        "ProxyError",
        "UnsupportedProtocol",
        "InvalidURL",
        "gaierror",
        "SSLError",
    }
)
_TIMEOUT = frozenset({"ReadTimeout", "WriteTimeout", "PoolTimeout", "TimeoutException", "TimeoutError", "APITimeoutError"})
_CUT = frozenset(
    {
        "RemoteProtocolError",
        "ReadError",
        "WriteError",
        "StreamError",
        "ConnectionResetError",
        "BrokenPipeError",
        "IncompleteRead",
        "CloseError",
    }
)
_MALFORMED = frozenset({"JSONDecodeError", "ValidationError", "UnicodeDecodeError", "DecodingError"})
_NO_TOOLS = re.compile(
    r"(?:not|n't) support (?:tool|function)|tools? (?:is|are) not supported|tool[- ]call[^.]{0,40}not supported|auto.tool.choice",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context (?:length|window|size)|maximum context|too (?:long|many tokens)|exceeds? (?:the )?(?:available )?context|prompt is too",
    re.IGNORECASE,
)
_MEMORY = re.compile(r"system memory|out of memory|cuda error|insufficient memory|exit status|runner process", re.IGNORECASE)
_REPEAT = re.compile(r"repeat(?:ition)? (?:limit|guard)|repeat limit", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient_quota|billing|credit", re.IGNORECASE)
_MODEL = re.compile(r"\bmodel\b", re.IGNORECASE)


@dataclass(frozen=True)
class Server:
    """Who was asked: its protocol, its address as shown to a person, and the model's name."""

    protocol: Protocol
    url: str
    model: str

    @property
    def label(self) -> str:
        """How a sentence names it."""
        return f"Ollama at {self.url}" if self.protocol == "ollama" else f"The model server at {self.url}"


def failure(error: BaseException, server: Server, *, partial: str = "") -> BackendError:
    """The error as a ``BackendError``; one that is already in the chain of causes is taken as it is."""
    for link in chain(error):
        if isinstance(link, BackendError):
            link.partial = link.partial or partial
            return link
    for link in chain(error):
        status = status_of(link)
        if status is not None:
            return by_status(status, _text_of(link), _headers_of(link), server, partial=partial)
    for link in chain(error):
        found = _by_type(link, server, partial)
        if found:
            return found
    root = list(chain(error))[-1]
    return by_message(_text_of(root) or type(root).__name__, server, partial=partial)


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, outermost first, each once."""
    seen: list[int] = []
    link: BaseException | None = error
    while link is not None and id(link) not in seen and len(seen) < 20:
        seen.append(id(link))
        yield link
        link = link.__cause__ or link.__context__


def by_status(status: int, text: str, headers: Mapping[str, str], server: Server, *, partial: str = "") -> BackendError:
    """An answer with a status that is not a success."""
    said = quoted(text)

    def make(cause: BackendCause, message: str, remedy: str, retry_after: float | None = None) -> BackendError:
        return BackendError(message, remedy, cause=cause, retry_after=retry_after, partial=partial)

    if status in (401, 403) and server.protocol == "ollama":
        return make(
            "unauthorized",
            f"{server.label} lets nobody in without a key ({status}).",
            "Ollama itself asks for none: use --backend openai with the address of what stands before it, and its key.",
        )
    if status in (401, 403):
        return make(
            "unauthorized",
            f"{server.label} refused the key ({status}).",
            "Set api.openai_api_key (or the provider's variable) to a key that is valid for it.",
        )
    if status == 402 or (status == 429 and _QUOTA.search(text)):
        return make(
            "unauthorized", f"{server.label} says that the account has no credit left ({status}).", "Add credit, or choose another model."
        )
    if status == 429:
        wait = retry_after(headers)
        when = f"in {wait:.0f} s" if wait else "in a minute"
        return make("rate_limited", f"{server.label} asks to slow down (429).", f"Try again {when}, or lower settings.concurrency.", wait)
    if status in (404, 405, 410) and not _MODEL.search(text):
        path = "" if server.protocol == "ollama" else " (it mostly ends in /v1)"
        return make("not_a_model_server", f"{server.label} has no chat interface there ({status}).", f"Check the address{path}.")
    if status == 404:
        return missing_model(server, partial=partial)
    if status in (408, 504, 524):
        return make("timeout", f"{server.label} gave up waiting for the model ({status}).", "Try again, or choose a smaller model.")
    if status >= 500 or status < 0:
        return by_message(text or f"status {status}", server, partial=partial, retry_after=retry_after(headers))
    if 300 <= status < 400:
        return make("not_a_model_server", f"{server.label} only redirects ({status}).", "Set the address that it redirects to.")
    return _bad_request(status, text, said, server, partial)


def by_message(text: str, server: Server, *, partial: str = "", retry_after: float | None = None) -> BackendError:
    """An error that the server reports in words, in a stream or with a status of 500 and above."""
    said = quoted(text)
    if _NO_TOOLS.search(text):
        return no_tools(server, partial=partial)
    if _REPEAT.search(text):
        return BackendError(
            f"{server.model} repeated itself and was stopped by its server.",
            "Try again; if it goes on, choose another model.",
            cause="repeat",
            partial=partial,
        )
    if _TOO_LONG.search(text):
        return _bad_request(400, text, said, server, partial)
    remedy = (
        "It may be out of memory: choose a smaller model or a smaller settings.num_ctx."
        if _MEMORY.search(text)
        else "Try again; if it goes on, look at the server's log."
    )
    return BackendError(f"{server.label} failed: {said}.", remedy, cause="server_error", partial=partial, retry_after=retry_after)


def missing_model(server: Server, *, partial: str = "") -> BackendError:
    """The server does not have the model."""
    if server.protocol == "ollama":
        return BackendError(
            f"Ollama has no model {server.model}.", f"Run: ollama pull {server.model}", cause="model_missing", partial=partial
        )
    return BackendError(
        f"{server.label} has no model {server.model or '(none is set)'}.",
        "Set api.openai_model to one that it lists.",
        cause="model_missing",
        partial=partial,
    )


def no_tools(server: Server, *, partial: str = "") -> BackendError:
    """The model cannot call tools, so it cannot research."""
    remedy = (
        "Choose one that can, such as qwen3 or llama3.1."
        if server.protocol == "ollama"
        else "Choose one that can, or start the server with tool calling (llama.cpp: --jinja; vLLM: --enable-auto-tool-choice)."
    )
    return BackendError(f"{server.model} cannot call tools.", remedy, cause="no_tools", partial=partial)


def not_a_model_server(server: Server, kind: str) -> BackendError:
    """Something answered, but not in the protocol."""
    return BackendError(
        f"{server.label} answers with {kind}: this is not a model server.",
        "Check the address, and whether a proxy or a log-in page stands before it.",
        cause="not_a_model_server",
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, from ``Retry-After`` as seconds or as a date."""
    value = (headers.get("retry-after") or headers.get("Retry-After") or "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return min(seconds, 86_400.0) if seconds >= 0 else 0.0


def quoted(text: str) -> str:
    """What a server said, as a piece of one sentence: the error's own words if it is JSON, one line, short."""
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        inner: Any = cast("dict[str, Any]", data).get("error", cast("dict[str, Any]", data))
        text = str(cast("dict[str, Any]", inner).get("message") or json.dumps(inner)) if isinstance(inner, dict) else str(inner)
    line = " ".join(_UNPRINTABLE.sub(" ", text[:2000]).split())
    return (line if len(line) <= _QUOTE else line[:_QUOTE] + "…").rstrip(".") or "no reason given"


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error of a client library carries, or None; 0 and below mean an error without one."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _bad_request(status: int, text: str, said: str, server: Server, partial: str) -> BackendError:
    if _NO_TOOLS.search(text):
        return no_tools(server, partial=partial)
    if _TOO_LONG.search(text):
        return BackendError(
            f"{server.label} says that the request is longer than the model's context.",
            "Lower settings.context_budget_chars, or serve the model with a larger context.",
            cause="bad_request",
            partial=partial,
        )
    return BackendError(
        f"{server.label} refused the request ({status}): {said}.",
        "Check the model's name and the server's version.",
        cause="bad_request",
        partial=partial,
    )


def _by_type(error: BaseException, server: Server, partial: str) -> BackendError | None:
    names = {kind.__name__ for kind in type(error).__mro__}
    if names & _UNREACHABLE:
        remedy = (
            "Start it with: ollama serve"
            if server.protocol == "ollama"
            else "Start the server, or set api.openai_base_url to where it listens."
        )
        return BackendError(f"{server.label} cannot be reached.", remedy, cause="unreachable", partial=partial)
    if names & _TIMEOUT:
        return timed_out(server, partial=partial)
    if names & _CUT:
        return cut(server, partial=partial)
    if names & _MALFORMED:
        return BackendError(
            f"{server.label} sent something that is not in its protocol.",
            "Try again; if it goes on, check the address and the server's version.",
            cause="malformed",
            partial=partial,
        )
    return None


def timed_out(server: Server, seconds: float | None = None, *, partial: str = "") -> BackendError:
    """Nothing came for too long."""
    span = f" for {round(seconds, 1):g} s" if seconds else " in time"
    return BackendError(
        f"{server.label} sent nothing{span}.",
        "Try again, choose a smaller model, or raise settings.idle_seconds.",
        cause="timeout",
        partial=partial,
    )


def cut(server: Server, *, partial: str = "") -> BackendError:
    """The reply ended before its end."""
    return BackendError(
        f"{server.label} broke off in the middle of a reply.",
        "Try again; if it goes on, look at the server's log.",
        cause="cut_stream",
        partial=partial,
    )


def _text_of(error: BaseException) -> str:
    body = getattr(error, "body", None)
    if isinstance(body, (dict, list)) and body:
        return json.dumps(body, default=str)
    named = getattr(error, "error", None)
    return named if isinstance(named, str) and named else str(error)


def _headers_of(error: BaseException) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return cast("Mapping[str, str]", headers) if headers is not None else {}

"""What all engines on the web share: one bounded request, and the meaning of each status."""

import asyncio
import functools
import ssl
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import httpx

from deepdelve import __version__
from deepdelve.core.errors import FetchError, SearchError
from deepdelve.core.records import Hit
from deepdelve.tools.search.base import SearchQuery, SearchResponse
from deepdelve.tools.search.records import query_line, ranked
from deepdelve.tools.web.transport import ACCEPT_ENCODING, read_bounded, retry_after

ClientFactory = Callable[[], httpx.AsyncClient]

USER_AGENT = f"DeepDelve/{__version__}"
MAX_BYTES = 2_097_152
TOTAL_SECONDS = 20.0
_LATER = "Try again later, or use another engine."


@dataclass(frozen=True)
class Call:
    """One request to an engine. ``form`` makes it a POST of a form, ``json`` a POST of JSON."""

    url: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    form: Mapping[str, str] | None = None
    json: object = None


@dataclass(frozen=True)
class Reply:
    """What came back; the body is decoded and bounded."""

    status: int
    headers: httpx.Headers
    body: bytes


class HttpEngine(ABC):
    """An engine that is asked with one HTTP request.

    Args:
        client: shared connections; closed by ``close``.
    """

    name: str = ""
    # Whether a key goes with each request, so that a refusal means a wrong key and not a wall.
    keyed: bool = False

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    @abstractmethod
    def call(self, query: SearchQuery) -> Call:
        """The request for a query; ``query.text`` is one clean line."""

    @abstractmethod
    def parse(self, body: bytes, query: SearchQuery) -> Sequence[Hit | None]:
        """The hits in a body, best first; None where a result has no address of the web.

        Raises:
            SearchError: the body is no answer.
        """

    def check(self, reply: Reply) -> None:
        """Tell an answer from a refusal.

        Raises:
            SearchError: the engine did not answer the query.
        """
        if not 200 <= reply.status < 300:
            raise status_error(self.name, reply, keyed=self.keyed)

    async def search(self, query: SearchQuery) -> SearchResponse:
        """Ask the engine; the outcome says how it went."""
        line = query_line(query.text)
        if not line:
            return SearchResponse(outcome="empty", detail="The query is empty.")
        try:
            asked = replace(query, text=line)
            reply = await send(self._client, self.call(asked), engine=self.name)
            self.check(reply)
            hits = ranked(await asyncio.to_thread(self.parse, reply.body, asked), query.limit)
        except SearchError as error:
            return SearchResponse(outcome=error.outcome, detail=error.line(), retry_after=error.retry_after)
        return SearchResponse(hits) if hits else SearchResponse(outcome="empty", detail=f"{self.name} found nothing for this query.")

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.aclose()


def default_client() -> httpx.AsyncClient:
    """A client for engines: no redirects, short waits, the system's proxies."""
    timeout = httpx.Timeout(15.0, connect=5.0)
    headers = {"User-Agent": USER_AGENT, "Accept-Encoding": ACCEPT_ENCODING}
    return httpx.AsyncClient(timeout=timeout, headers=headers, follow_redirects=False, verify=_ssl_context())


@functools.cache
def _ssl_context() -> ssl.SSLContext:
    """Certificates are read once, not for each engine."""
    return httpx.create_ssl_context()


async def send(client: httpx.AsyncClient, call: Call, *, engine: str) -> Reply:
    """One request, bounded in time and size.

    Raises:
        SearchError: outcome ``unavailable``.
    """
    # Engines see the address of this machine and nothing that would tie its searches together.
    client.cookies.clear()
    method = "GET" if call.form is None and call.json is None else "POST"
    try:
        async with (
            asyncio.timeout(TOTAL_SECONDS),
            client.stream(method, call.url, params=call.params or None, headers=call.headers, data=call.form, json=call.json) as response,
        ):
            encoding = response.headers.get("content-encoding", "")
            pieces = [piece async for piece in read_bounded(response.aiter_raw(), encoding=encoding, limit=MAX_BYTES)]
            return Reply(response.status_code, response.headers, b"".join(pieces))
    except (TimeoutError, httpx.TimeoutException) as error:
        raise SearchError(f"{engine} did not answer in time.", _LATER, outcome="unavailable") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SearchError(f"{engine} cannot be reached.", "Check the network, or use another engine.", outcome="unavailable") from error
    except FetchError as error:
        raise SearchError(f"{engine} answered too much, or damaged data.", _LATER, outcome="unavailable") from error


def status_error(engine: str, reply: Reply, *, keyed: bool) -> SearchError:
    """What a status other than success means."""
    wait = retry_after(reply.headers, time.time())
    status = reply.status
    if status == 429 or (status == 503 and wait):
        return SearchError(f"{engine} asks for a pause.", "The next engine is used until then.", outcome="rate_limited", retry_after=wait)
    if status in (401, 402, 403) and keyed:
        return SearchError(
            f"{engine} does not accept the key ({status}).", f"Check the key of {engine} in the settings.", outcome="misconfigured"
        )
    if status in (401, 403, 407, 451):
        return SearchError(f"{engine} refuses searches from here ({status}).", "Use another engine.", outcome="blocked")
    return SearchError(f"{engine} answered {status}.", _LATER, outcome="unavailable")

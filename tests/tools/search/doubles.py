"""Engines that answer what a test says."""

import json
from collections.abc import Callable
from typing import Any

import httpx

from deepdelve.core.errors import SearchOutcome
from deepdelve.core.records import Hit
from deepdelve.tools.search.base import SearchQuery, SearchResponse

Answer = SearchResponse | Callable[[SearchQuery], SearchResponse]


def hit(url: str, **more: Any) -> Hit:
    return Hit(url=url, **{"title": "Title", "snippet": "Words.", "engine": "fake", **more})


def found(*urls: str, engine: str = "fake") -> SearchResponse:
    return SearchResponse(tuple(hit(url, engine=engine, rank=rank) for rank, url in enumerate(urls, 1)))


def failed(outcome: SearchOutcome, retry_after: float | None = None) -> SearchResponse:
    return SearchResponse(outcome=outcome, detail=f"It is {outcome}.", retry_after=retry_after)


class FakeEngine:
    """Gives its answers in turn, the last one for ever."""

    def __init__(self, name: str, *answers: Answer) -> None:
        self.name = name
        self.answers = list(answers)
        self.asked: list[SearchQuery] = []
        self.closed = False

    async def search(self, query: SearchQuery) -> SearchResponse:
        self.asked.append(query)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer(query) if callable(answer) else answer

    async def close(self) -> None:
        self.closed = True


class Wire:
    """The network of an engine: answers each request by a function, and keeps the requests."""

    def __init__(self, answer: Callable[[httpx.Request], httpx.Response] | httpx.Response | Exception) -> None:
        self.answer = answer
        self.sent: list[httpx.Request] = []

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self._respond))

    @property
    def params(self) -> dict[str, str]:
        return dict(self.sent[-1].url.params)

    async def _respond(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self.sent.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(request) if callable(self.answer) else self.answer


def streamed(body: str | bytes, status: int = 200, **headers: str) -> httpx.Response:
    """A response whose body is read from the wire, as real ones are."""
    data = body.encode() if isinstance(body, str) else body

    async def pieces():
        yield data

    return httpx.Response(status, headers={name.replace("_", "-"): value for name, value in headers.items()}, content=pieces())


def json_answer(value: Any, status: int = 200, **headers: str) -> httpx.Response:
    return streamed(json.dumps(value), status, content_type="application/json", **headers)

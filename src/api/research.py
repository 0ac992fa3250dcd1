"""``/research``: bounded vault runs over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from deepdelve.api.problems import ApiError, answers, told
from deepdelve.core.errors import DeepDelveError
from deepdelve.engine import facade

if TYPE_CHECKING:
    from deepdelve.engine.bounded.service import VaultService

VaultId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="The vault; 'default' is that of the settings.")]


def _whole(value: Any) -> Any:
    if isinstance(value, str | bool):
        raise ValueError("a whole number is wanted")
    return value


_NOT_FOUND = {404: "There is no such run."}
_CONFLICT = {409: "The run's state does not allow it."}
_FAILED = {503: "What it needs is not set, or cannot be written; nothing was started."}


class StartRequest(BaseModel):
    """What is to be researched, and what it may spend; the bounds are frozen when the run is entered."""

    model_config = ConfigDict(extra="forbid")

    vault_id: VaultId
    topic: Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"[^\W_]")]
    max_iter: Annotated[int, Field(ge=1, le=10), BeforeValidator(_whole)] | None = None
    token_budget: Annotated[int, Field(ge=1_000, le=1_000_000), BeforeValidator(_whole)] | None = None
    queries: Annotated[list[Annotated[str, Field(min_length=1, max_length=400)]] | None, Field(max_length=10)] = None


class Started(BaseModel):
    """The run that was entered."""

    run_id: UUID


class Summary(BaseModel):
    """A run as the list shows it."""

    id: UUID
    vault_id: str
    topic: str
    status: str
    phase: str
    iterations_used: int
    sources_fetched: int
    total_cost_usd: float
    started_at: str
    completed_at: str | None


class RunPage(BaseModel):
    """One page of runs, newest first."""

    items: list[Summary]
    total: int
    limit: int
    offset: int


class SourceView(BaseModel):
    """One source of a run; the text only where it was asked for."""

    url: str
    title: str | None
    relevance_score: float | None
    iteration: int
    outcome: str
    http_status: int | None
    content_sha256: str | None
    cited: bool
    fetched_content_md: str | None = None


class QueryView(BaseModel):
    """One query and how SearXNG answered it."""

    model_config = ConfigDict(populate_by_name=True)

    iteration: int
    query: str
    kind: Annotated[str, Field(alias="class")]
    hits: int
    detail: str
    unresponsive: list[list[str]]


class RunView(Summary):
    """A run whole."""

    max_iter: int
    token_budget: int
    queries_used: list[str]
    converged: bool
    synthesis_text: str | None
    synthesis_page_id: UUID | None
    error_message: str | None
    stop_detail: str | None
    rounds_completed: int
    stalled_rounds: int
    tokens_in: int
    tokens_out: int
    usage_estimated: bool
    sources_usable: int
    ingest_status: str | None
    page: str
    queries: list[QueryView]
    sources: list[SourceView]


class Cancelled(BaseModel):
    """The run that was stopped."""

    run_id: UUID
    status: str


class Ingested(BaseModel):
    """What became of a note."""

    page_id: UUID | None
    status: str
    reason: str
    page: str


def research_router() -> APIRouter:
    """The routes of bounded runs."""
    router = APIRouter(prefix="/research", tags=["research"])
    router.post("/start", status_code=202, response_model=Started, responses=answers(_FAILED))(start)
    router.get("/runs", response_model=RunPage, responses=answers({}))(list_runs)
    router.get("/runs/{run_id}", response_model=RunView, responses=answers(_NOT_FOUND))(get_run)
    router.post("/runs/{run_id}/cancel", status_code=202, response_model=Cancelled, responses=answers({**_NOT_FOUND, **_CONFLICT}))(cancel)
    again = answers({**_NOT_FOUND, **_CONFLICT, **_FAILED})
    router.post("/runs/{run_id}/ingest", response_model=Ingested, responses=again)(ingest)
    stream: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {}}, "description": "One event a message."}}
    router.get("/runs/{run_id}/events", response_class=StreamingResponse, responses={**stream, **answers(_NOT_FOUND)})(events)
    return router


async def start(request: Request, body: StartRequest) -> Started:
    """Enter a run and return at once; it begins when no other goes on."""
    service = service_of(request)
    try:
        vault = facade.vaults().vault_of(service.settings, body.vault_id)
        run_id = await service.start(
            body.topic, vault=vault, max_iter=body.max_iter, token_budget=body.token_budget, queries=body.queries or ()
        )
    except DeepDelveError as error:
        raise told(error) from error
    return Started(run_id=UUID(run_id))


async def list_runs(
    request: Request,
    vault_id: Annotated[str, Query(max_length=64, description="Only runs of this vault.")] = "",
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Annotated[int, Query(ge=0, le=1_000_000_000)] = 0,
) -> Any:
    """Runs, newest first."""
    return await asyncio.to_thread(service_of(request).page_of_runs, vault_id.replace("\x00", ""), limit, offset)


async def get_run(request: Request, run_id: UUID, include_content: bool = False) -> Any:
    """One run with its queries and sources; texts of sources only with ``include_content=true``."""
    try:
        return await asyncio.to_thread(service_of(request).detail, str(run_id), include_content=include_content)
    except DeepDelveError as error:
        raise told(error) from error


async def cancel(request: Request, run_id: UUID) -> Cancelled:
    """Stop a run that goes on or waits."""
    try:
        stopped = await service_of(request).cancel(str(run_id))
    except DeepDelveError as error:
        raise told(error) from error
    if not stopped:
        raise ApiError(409, "state", "The run is over, or goes on in another process.")
    return Cancelled(run_id=run_id, status="cancelled")


async def ingest(request: Request, run_id: UUID) -> Ingested:
    """Send the note of a finished run through the seam again."""
    try:
        result = await service_of(request).ingest(str(run_id))
    except DeepDelveError as error:
        raise told(error, usage=(409, "state")) from error
    return Ingested(page_id=UUID(result.page_id) if result.page_id else None, status=result.status, reason=result.reason, page=result.path)


async def events(request: Request, run_id: UUID) -> StreamingResponse:
    """The events of a run as server-sent events, from its first until it is over."""
    service = service_of(request)
    try:
        await asyncio.to_thread(service.ledger.get, str(run_id))
    except DeepDelveError as error:
        raise told(error) from error

    async def stream() -> AsyncIterator[str]:
        async for event in service.follow(str(run_id)):
            yield f"id: {event['seq']}\nevent: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream", headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})


def service_of(request: Request) -> "VaultService":
    """The service of this API."""
    return request.app.state.service

"""``/runs``: questions researched over HTTP, as ``deepdelve run``, ``ask`` and ``show`` do it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import APIRouter, Header, Path, Query, Request
from fastapi.responses import Response, StreamingResponse

from deepdelve.api.live import LiveRuns
from deepdelve.api.paths import allowed_paths
from deepdelve.api.problems import ApiError, answers, told
from deepdelve.api.run_models import Answer, AskRun, ResumeRun, RunPage, RunRow, RunStarted, RunStopped, RunView, StartRun
from deepdelve.config import Settings
from deepdelve.core.errors import ConfigError, DeepDelveError
from deepdelve.core.records import Claim
from deepdelve.core.requests import RunRequest
from deepdelve.engine import facade

P = ParamSpec("P")
T = TypeVar("T")
RunId = Annotated[
    str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="A run's id, an unambiguous beginning of it, or 'latest'.")
]
_404 = {404: "There is no such run."}
_REPORT = {404: "There is no such run, or it has no report yet."}
_LIVE = {
    409: "The run's state does not allow it, or it is being worked on.",
    429: "As many runs go on as may.",
    503: "A setting, the model server or the disk does not allow it.",
}
_START = {403: "A path is not open to requests.", 429: _LIVE[429], 503: _LIVE[503]}


def runs_router() -> APIRouter:
    """The routes of general runs."""
    router = APIRouter(prefix="/runs", tags=["runs"])
    router.post("", status_code=202, response_model=RunStarted, responses=answers(_START))(start_run)
    router.get("", response_model=RunPage, responses=answers({}))(list_general_runs)
    router.get("/{run_id}", response_model=RunView, responses=answers(_404))(get_general_run)
    markdown: dict[int | str, dict[str, Any]] = {200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}}
    router.get("/{run_id}/report", response_class=Response, responses={**markdown, **answers(_REPORT)})(get_report)
    router.get("/{run_id}/claims", response_model=list[Claim], responses=answers(_REPORT))(get_claims)
    stream: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {}}, "description": "One event a message."}}
    router.get("/{run_id}/events", response_class=StreamingResponse, responses={**stream, **answers(_404)})(follow_run)
    router.post("/{run_id}/stop", status_code=202, response_model=RunStopped, responses=answers({**_404, 409: _LIVE[409]}))(stop_run)
    router.post("/{run_id}/resume", status_code=202, response_model=RunStarted, responses=answers({**_404, **_LIVE}))(resume_run)
    router.post("/{run_id}/ask", response_model=Answer, responses=answers({**_REPORT, **_LIVE}))(ask_run)
    return router


async def start_run(request: Request, body: StartRun) -> RunStarted:
    """Start a run. The answer comes once it has its id: after the model was found and given documents were read."""
    live = live_of(request)
    asked = _request(body, live.settings)
    try:
        return RunStarted(run_id=await live.start(asked))
    except ConfigError as error:
        # What the request itself chose is its own affair, what it left to the settings is theirs.
        own = body.search or body.scope or body.corpus
        raise (ApiError(422, "unfit", error.line()) if own else told(error)) from error
    except DeepDelveError as error:
        raise told(error) from error


async def list_general_runs(
    limit: Annotated[int, Query(ge=1, le=100)] = 20, offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0
) -> RunPage:
    """Runs, newest first, whichever surface started them."""
    rows, total = await asyncio.to_thread(lambda: (facade.list_runs(offset + limit)[offset:], facade.count_runs()))
    return RunPage(items=[RunRow.of(row) for row in rows], total=total, limit=limit, offset=offset)


async def get_general_run(request: Request, run_id: RunId) -> RunView:
    """How a run stands: its outcome in words and counts, or the stage that it is at."""
    found = await _found(run_id)
    details = await _read(facade.run_details, found)
    return RunView.of(details, going=details.live or live_of(request).goes_on(found))


async def get_report(run_id: RunId) -> Response:
    """The report as it was delivered, in Markdown."""
    report = await _read(facade.read_report, await _found(run_id))
    if not report:
        raise ApiError(404, "no_report", "The run has no report yet.")
    return Response(report, media_type="text/markdown; charset=utf-8", headers={"X-Content-Type-Options": "nosniff"})


async def get_claims(run_id: RunId) -> list[Claim]:
    """Each claim of the report: its sources, the passage that carries it, and whether it does."""
    found = await _found(run_id)
    claims = await _read(facade.claims, found)
    if not claims and not await _read(facade.read_report, found):
        raise ApiError(404, "no_report", "The run has no report yet.")
    return claims


async def follow_run(
    run_id: RunId, last_event_id: Annotated[str, Header(description="Only later events; browsers send it when they reconnect.")] = "0"
) -> StreamingResponse:
    """The events of a run as server-sent events, until it is over; pieces of streamed text are left out."""
    found = await _found(run_id)
    after = int(last_event_id) if last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) < 12 else 0

    async def stream() -> AsyncIterator[str]:
        async for event in facade.follow(found, after):
            yield f"id: {event.seq}\nevent: {event.type}\ndata: {event.model_dump_json()}\n\n"

    return StreamingResponse(stream(), media_type="text/event-stream", headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})


async def stop_run(request: Request, run_id: RunId) -> RunStopped:
    """Stop a run that this server works on, or the question that is put to it; what was found is kept."""
    found = await _found(run_id)
    if not await live_of(request).stop(found):
        raise ApiError(409, "state", "The run is over, or goes on in another process.")
    return RunStopped(run_id=found, status="stopped")


async def resume_run(request: Request, run_id: RunId, body: ResumeRun | None = None) -> RunStarted:
    """Take up a run that broke off, was stopped, or ended without being verified."""
    live, wanted = live_of(request), body or ResumeRun()
    found = await _found(run_id)
    settings = _with_model(live.settings, wanted.backend, wanted.model)
    settings.settings.max_run_minutes = wanted.max_minutes or settings.settings.max_run_minutes
    try:
        return RunStarted(run_id=await live.resume(found, settings, wanted.instruction))
    except DeepDelveError as error:
        raise told(error, usage=(409, "state")) from error


async def ask_run(request: Request, run_id: RunId, body: AskRun) -> Answer:
    """A question on a run, answered from its report and sources. Its files stay as they are; the answer comes when it is written."""
    live = live_of(request)
    found = await _found(run_id)
    if not live.goes_on(found) and not await _read(facade.read_report, found):
        raise ApiError(404, "no_report", "The run has no report yet. Resume it; 'instruction' takes what you want to add.")
    try:
        return Answer.of(await live.ask(found, body.question, _with_model(live.settings, body.backend, body.model)))
    except DeepDelveError as error:
        raise told(error) from error


def live_of(request: Request) -> LiveRuns:
    """The general runs of this server."""
    return request.app.state.runs


async def _found(run_id: str) -> str:
    return await _read(facade.find_run, run_id)


async def _read(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Read something of a run off the event loop."""
    try:
        return await asyncio.to_thread(read, *args, **kwargs)
    except DeepDelveError as error:
        raise told(error) from error


def _request(body: StartRun, settings: Settings) -> RunRequest:
    bundle = allowed_paths([body.pipeline_evidence_dir] if body.pipeline_evidence_dir is not None else [], settings)
    return RunRequest(
        question=body.question,
        style=body.style,
        depth=body.depth,
        backend=body.backend or "",
        model=body.model,
        search=body.search,
        scope=body.scope or "",
        corpus=allowed_paths(body.corpus, settings),
        seed_docs=allowed_paths(body.seed_docs, settings),
        seed_urls=tuple(body.seed_urls),
        evidence_dir=bundle[0] if bundle else "",
        max_minutes=body.max_minutes,
        auto_approve=body.auto_approve,
        surface="api",
    )


def _with_model(settings: Settings, backend: str | None, model: str) -> Settings:
    """The settings with another model; a model's name counts for whichever server is used."""
    changed = settings.model_copy(deep=True)
    changed.api.backend = backend or changed.api.backend  # type: ignore[assignment]  # checked on assignment
    changed.api.ollama_model, changed.api.openai_model = model or changed.api.ollama_model, model or changed.api.openai_model
    return changed

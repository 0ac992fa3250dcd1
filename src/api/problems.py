"""What the API answers where it cannot do what was asked: a status, one line for a person, and a code for a program."""

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from fastapi import HTTPException
from pydantic import BaseModel

from deepdelve.core.errors import BackendError, ConfigError, DeepDelveError, RunBusyError, RunNotFoundError, UsageError

if TYPE_CHECKING:
    from fastapi import Request, Response

log = logging.getLogger(__name__)

Code = Literal[
    "unfit",
    "not_found",
    "no_report",
    "state",
    "busy",
    "stopped",
    "too_many",
    "path_refused",
    "settings",
    "backend",
    "storage",
    "unauthorized",
    "foreign_page",
    "wrong_host",
    "too_long",
    "refused",
    "internal",
]
_BY_STATUS: dict[int, Code] = {404: "not_found", 409: "state", 422: "unfit", 503: "settings"}
Answers = dict[int | str, dict[str, Any]]


class Place(BaseModel):
    """One place of a request that does not fit."""

    type: str
    loc: list[str | int]
    msg: str


class Problem(BaseModel):
    """Why a request was not carried out: ``code`` for programs, ``detail`` for people."""

    code: Code
    detail: str | list[Place]


class ApiError(HTTPException):
    """A refusal with its code."""

    def __init__(self, status: int, code: Code, detail: str) -> None:
        super().__init__(status, detail)
        self.code: Code = code


def told(error: DeepDelveError, usage: tuple[int, Code] = (422, "unfit")) -> ApiError:
    """An error of the product as an answer: its one line, a status, a code.

    Args:
        error: the error.
        usage: status and code of a request that cannot be carried out as given.
    """
    answers: tuple[tuple[type[DeepDelveError], tuple[int, Code]], ...] = (
        (RunNotFoundError, (404, "not_found")),
        (ConfigError, (503, "settings")),
        (RunBusyError, (409, "busy")),
        (UsageError, usage),
        (BackendError, (503, "backend")),
    )
    status, code = next((answer for kind, answer in answers if isinstance(error, kind)), (503, "storage"))
    return ApiError(status, code, error.line())


def answers(described: Mapping[int, str]) -> Answers:
    """The refusals of a route for its description; 422 is one of them everywhere."""
    whole = {422: "Something in the request does not fit; nothing was started.", **described}
    return {status: {"model": Problem, "description": text} for status, text in whole.items()}


def problem_response(status: int, code: Code, detail: object, headers: Mapping[str, str] | None = None) -> "Response":
    """A refusal as it is sent."""
    from fastapi import Response

    body = json.dumps({"code": code, "detail": detail})
    return Response(body, status, media_type="application/json", headers=dict(headers or {}))


async def refused(request: "Request", error: Exception) -> "Response":
    """Any refusal, also of a route or a method that does not exist, with its code."""
    from starlette.exceptions import HTTPException as AnyHTTPException

    assert isinstance(error, AnyHTTPException)
    code = error.code if isinstance(error, ApiError) else _BY_STATUS.get(error.status_code, "refused")
    return problem_response(error.status_code, code, str(error.detail), error.headers)


async def unfit(request: "Request", error: Exception) -> "Response":
    """What does not fit in a request, place by place. What was sent is not repeated: it may be nothing that an answer can hold."""
    from fastapi.exceptions import RequestValidationError

    assert isinstance(error, RequestValidationError)
    return problem_response(422, "unfit", [{name: problem[name] for name in ("type", "loc", "msg")} for problem in error.errors()])


async def broken(request: "Request", error: Exception) -> "Response":
    """A fault of ours: the log file holds the traceback, the answer nothing of it."""
    log.error("an answer of the API failed", exc_info=error)
    return problem_response(HTTPStatus.INTERNAL_SERVER_ERROR, "internal", "An error in the product itself; the log file tells more.")

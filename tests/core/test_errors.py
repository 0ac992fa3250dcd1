"""Every error is one sentence with a way out, and its exit code tells what kind it is."""

from collections.abc import Iterator
from typing import get_args

import pytest

from deepdelve.core import errors
from deepdelve.core.errors import (
    TRANSIENT_CAUSES,
    BackendCause,
    BackendError,
    ConfigError,
    CorpusError,
    DeepDelveError,
    DiskError,
    FetchError,
    RunBusyError,
    RunNotFoundError,
    SchemaError,
    SearchError,
    StateError,
    ToolError,
    UsageError,
)


def kinds(base: type[DeepDelveError] = DeepDelveError) -> Iterator[type[DeepDelveError]]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds(kind)


def made(kind: type[DeepDelveError]) -> DeepDelveError:
    extra = {BackendError: {"cause": "empty"}, SearchError: {"outcome": "empty"}, FetchError: {"cause": "status"}}.get(kind, {})
    return kind("It failed.", "Do this.", **extra)


OURS = [kind for kind in kinds() if kind.__module__ == errors.__name__]


@pytest.mark.parametrize("kind", OURS)
def test_an_error_is_one_line_with_what_to_do(kind: type[DeepDelveError]) -> None:
    error = made(kind)
    assert error.line() == "It failed. Do this."
    assert (error.message, error.remedy, str(error)) == ("It failed.", "Do this.", "It failed.")


def test_without_a_remedy_the_line_is_the_sentence() -> None:
    assert DeepDelveError("It failed.").line() == "It failed."


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (DeepDelveError, 4),
        (UsageError, 2),
        (ConfigError, 2),
        (CorpusError, 2),
        (RunNotFoundError, 2),
        (StateError, 4),
        (SchemaError, 4),
        (RunBusyError, 2),
        (DiskError, 4),
        (BackendError, 4),
        (SearchError, 4),
        (FetchError, 4),
        (ToolError, 4),
    ],
)
def test_exit_codes(kind: type[DeepDelveError], code: int) -> None:
    assert kind.exit_code == code


def test_the_tree_in_the_docstring_names_every_error() -> None:
    named = set("".join(char if char.isalnum() else " " for char in errors.__doc__ or "").split())
    assert {kind.__name__ for kind in OURS} <= named


@pytest.mark.parametrize("cause", get_args(BackendCause))
def test_only_what_may_pass_is_worth_a_retry(cause: BackendCause) -> None:
    assert BackendError("x", cause=cause).transient is (cause in TRANSIENT_CAUSES)


def test_transient_causes_are_causes() -> None:
    assert set(get_args(BackendCause)) >= TRANSIENT_CAUSES
    assert not {"unauthorized", "model_missing", "no_tools", "bad_request", "unreachable"} & TRANSIENT_CAUSES


def test_what_the_server_asked_for_is_kept() -> None:
    assert BackendError("x", cause="rate_limited", retry_after=3.5).retry_after == 3.5
    assert SearchError("x", outcome="rate_limited", retry_after=2).outcome == "rate_limited"
    assert FetchError("x", cause="status", status=404).status == 404

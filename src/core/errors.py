"""Every error that a person may meet. Each says in one line what happened and what to do next.

DeepDelveError                 exit 4
├── UsageError                 exit 2: the request cannot be carried out as given; nothing was started
│   ├── ConfigError            a settings file, variable or flag is wrong (names file, line, key)
│   ├── CorpusError            a corpus or seed document cannot be read
│   └── RunNotFoundError       no such run or session
├── StateError                 exit 4: a run's files cannot be read or written as they should
│   ├── SchemaError            the files were written by another version
│   ├── RunBusyError           exit 2: another process works on this run
│   └── DiskError              the disk is full or read-only
├── ExportError                exit 4: a report could not be brought into another format
├── BackendError               exit 4: the model or its server failed; ``cause`` names how
├── SearchError                a search engine failed; ``outcome`` names how
├── FetchError                 a page could not be fetched or read; ``cause`` names how
└── ToolError                  a tool was used wrongly; the text goes back to the model
"""

from typing import Literal

BackendCause = Literal[
    "unreachable",
    "timeout",
    "model_missing",
    "no_tools",
    "unauthorized",
    "rate_limited",
    "server_error",
    "malformed",
    "cut_stream",
    "empty",
    "length",
    "repeat",
    "not_a_model_server",
    "bad_request",
]
FetchCause = Literal[
    "refused",
    "unresolved",
    "status",
    "too_large",
    "too_slow",
    "too_many_redirects",
    "unsupported_type",
    "unreadable",
    "encrypted",
    "no_text",
    "unreachable",
]
SearchOutcome = Literal["ok", "empty", "rate_limited", "blocked", "engines_down", "misconfigured", "unavailable"]

# Worth one more try after a wait; the others would fail the same way again (specs: retry table).
TRANSIENT_CAUSES: frozenset[str] = frozenset({"rate_limited", "server_error", "malformed", "cut_stream", "repeat", "timeout"})


class DeepDelveError(Exception):
    """Base of all errors of the product.

    Args:
        message: one sentence, what happened.
        remedy: one sentence, what to do next; may be empty.
    """

    exit_code = 4

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def line(self) -> str:
        """The one line that a person sees."""
        return f"{self.message} {self.remedy}".strip() if self.remedy else self.message


class UsageError(DeepDelveError):
    """The request cannot be carried out as given; nothing was started."""

    exit_code = 2


class ConfigError(UsageError):
    """A settings file, variable or flag is wrong."""


class CorpusError(UsageError):
    """A corpus folder or a seed document cannot be read."""


class RunNotFoundError(UsageError):
    """No such run or session."""


class StateError(DeepDelveError):
    """A run's files cannot be read or written as they should."""


class SchemaError(StateError):
    """The files were written by another version of the product."""


class RunBusyError(StateError):
    """Another process works on this run."""

    exit_code = 2


class DiskError(StateError):
    """The disk is full or read-only, or the files are gone.

    Args:
        no_room: whether the same write may succeed once there is room.
    """

    def __init__(self, message: str, remedy: str = "", *, no_room: bool = False) -> None:
        super().__init__(message, remedy)
        self.no_room = no_room


class ExportError(DeepDelveError):
    """A report could not be brought into another format."""


class BackendError(DeepDelveError):
    """The model or its server failed.

    Args:
        cause: how it failed; decides whether a retry makes sense.
        retry_after: seconds the server asked to wait, if it did.
        partial: what the model had said until then; worth salvaging, never an answer.
    """

    def __init__(self, message: str, remedy: str = "", *, cause: BackendCause, retry_after: float | None = None, partial: str = "") -> None:
        super().__init__(message, remedy)
        self.cause: BackendCause = cause
        self.retry_after = retry_after
        self.partial = partial

    @property
    def transient(self) -> bool:
        """Whether the same call may well succeed a moment later."""
        return self.cause in TRANSIENT_CAUSES


class SearchError(DeepDelveError):
    """A search engine failed."""

    def __init__(self, message: str, remedy: str = "", *, outcome: SearchOutcome, retry_after: float | None = None) -> None:
        super().__init__(message, remedy)
        self.outcome: SearchOutcome = outcome
        self.retry_after = retry_after


class FetchError(DeepDelveError):
    """A page could not be fetched or read."""

    def __init__(self, message: str, remedy: str = "", *, cause: FetchCause, status: int | None = None) -> None:
        super().__init__(message, remedy)
        self.cause: FetchCause = cause
        self.status = status


class ToolError(DeepDelveError):
    """A tool was used wrongly; the text goes back to the model so that it can do better."""

"""What the app calls of the engine: the functions of ``deepdelve.engine.facade``, as a protocol, and how the module is loaded."""

import asyncio
import importlib
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from deepdelve.config import Settings
from deepdelve.core.events import Event
from deepdelve.core.records import Claim, Source
from deepdelve.core.requests import Command, RunHandle, RunRequest, RunResult, RunSummary, SessionSummary, Surface

if TYPE_CHECKING:
    from deepdelve.engine import facade


class Exported(Protocol):
    """A file that was written, and what a person should know of it."""

    @property
    def path(self) -> Path:
        """Where it is."""
        ...

    @property
    def note(self) -> str:
        """A sentence, mostly empty."""
        ...


class Checkup(Protocol):
    """One thing that the doctor looked at."""

    @property
    def name(self) -> str:
        """What it is."""
        ...

    @property
    def ok(self) -> bool:
        """Whether it is well."""
        ...

    @property
    def detail(self) -> str:
        """A sentence on how it stands."""
        ...

    @property
    def fix(self) -> str:
        """What mends it; empty where nothing needs mending."""
        ...


class RunFile(Protocol):
    """A file of a run's folder."""

    @property
    def name(self) -> str:
        """Its path within the folder."""
        ...

    @property
    def size(self) -> int:
        """Bytes."""
        ...

    @property
    def what(self) -> str:
        """What it is, or empty."""
        ...


class EngineApi(Protocol):
    """The engine, as the app sees it. Errors of the product derive from ``DeepDelveError``."""

    async def start(self, request: RunRequest, settings: Settings, surface: Surface) -> RunHandle:
        """Start a run."""
        ...

    async def ask(self, run_id: str, question: str, settings: Settings, surface: Surface) -> RunHandle:
        """A question on an existing run."""
        ...

    async def resume(self, run_id: str, settings: Settings, surface: Surface) -> RunHandle:
        """Take a run up again."""
        ...

    async def finish(self, run_id: str, settings: Settings, surface: Surface) -> RunResult:
        """Write a labelled report from what a stopped run has; returns once it is written."""
        ...

    def list_runs(self, limit: int = 200) -> list[RunSummary]:
        """Runs, newest first."""
        ...

    def list_sessions(self, limit: int = 200) -> list[SessionSummary]:
        """Sessions, newest first."""
        ...

    def load_events(self, run_id: str) -> Sequence[Event]:
        """The journaled events of a run."""
        ...

    def session_turns(self, session_id: str) -> list[dict[str, Any]]:
        """Turns of a session: role, text, run_id."""
        ...

    def new_session(self) -> str:
        """The id of a new session."""
        ...

    def read_report(self, run_id: str) -> str:
        """The delivered report, or an empty text."""
        ...

    def claims(self, run_id: str) -> list[Claim]:
        """The claim ledger of the delivered report."""
        ...

    def source_text(self, run_id: str, source_id: str) -> str:
        """The stored text of a source."""
        ...

    def sources(self, run_id: str) -> list[Source]:
        """The sources of a run."""
        ...

    def run_files(self, run_id: str) -> Sequence[RunFile]:
        """The files of a run's folder."""
        ...

    def run_file_text(self, run_id: str, name: str) -> str:
        """The beginning of a text file of a run."""
        ...

    def delete_run(self, run_id: str) -> None:
        """Remove a run and all its files."""
        ...

    def load_settings(self, path: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
        """The settings in force."""
        ...

    def set_setting(self, dotted: str, value: Any) -> Settings:
        """Change one key of the user's settings file."""
        ...

    def export(self, run_id: str, wanted: str, folder: Path | None = None) -> Exported:
        """Write the report in another format; ``wanted`` is a format or a path that ends in one."""
        ...

    def verify_run(self, run_id: str) -> list[Claim]:
        """Check the delivered report against its stored sources again."""
        ...

    async def doctor(self, settings: Settings) -> Sequence[Checkup]:
        """What works and what does not, each with what mends it."""
        ...

    async def models(self, settings: Settings) -> list[str]:
        """The models that the server of the settings offers."""
        ...

    def search_engines(self) -> list[str]:
        """The names that ``search.backend`` takes."""
        ...

    async def check_search(self, settings: Settings) -> None:
        """Hold that the search engines of the settings can be asked."""
        ...

    def check_bundle(self, folder: Path) -> int:
        """How many texts an evidence bundle holds."""
        ...

    def vaults(self) -> Any:
        """Bounded vault research (``deepdelve.engine.vaults``)."""
        ...


class Finishing:
    """A report being written from what a stopped run has, as a handle (``core.requests.RunHandle``)."""

    def __init__(self, run_id: str, writing: Coroutine[Any, Any, RunResult]) -> None:
        self.run_id = run_id
        self.dir = Path()
        self._task = asyncio.ensure_future(writing)

    def command(self, command: Command) -> None:
        """Only a stop is heard: no research goes on."""
        if command.kind == "stop":
            self._task.cancel()

    async def wait(self) -> RunResult:
        """The end of the writing."""
        return await asyncio.shield(self._task)


async def load_engine() -> EngineApi:
    """Imports the engine off the event loop, after the first frame."""
    module = await asyncio.to_thread(importlib.import_module, "deepdelve.engine.facade")
    return cast("EngineApi", module)


if TYPE_CHECKING:
    # Holds the protocol against the module that is loaded: a difference is a type error, not a surprise to the person.
    _kept: EngineApi = facade

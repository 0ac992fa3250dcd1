"""The general runs that this server starts, takes up again and asks. They go side by side, up to a bound."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from deepdelve.api.problems import ApiError
from deepdelve.config import Settings
from deepdelve.core.events import Asked, Event
from deepdelve.core.requests import Command, RunHandle, RunRequest, RunResult, SurfaceKind
from deepdelve.engine import facade

log = logging.getLogger(__name__)

_CLOSE_SECONDS = 5.0
_NO_ANSWER: dict[str, dict[str, Any]] = {"intake": {"answers": []}, "plan": {"items": []}}


class ApiSurface:
    """A surface without a person: nothing waits for an answer. Implements ``core.requests.Surface``.

    Args:
        auto_approve: answer every approval with yes; else with no.
    """

    kind: SurfaceKind = "api"

    def __init__(self, *, auto_approve: bool = False) -> None:
        self._decision = {"decision": "allow" if auto_approve else "deny"}

    def on_event(self, event: Event) -> None:
        """Nothing to show: who follows a run reads its journal."""

    async def ask(self, asked: Asked) -> dict[str, Any]:
        """A plan goes on as it is, a question stays unanswered, a tool is decided on as was asked for at the start."""
        return _NO_ANSWER.get(asked.kind, self._decision)


class LiveRuns:
    """General runs in this process.

    Args:
        settings: the settings in force.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._tasks: dict[str, asyncio.Task[RunResult]] = {}
        self._handles: dict[str, RunHandle] = {}
        self._opening = 0

    async def start(self, request: RunRequest) -> str:
        """Start a run. Returns its id once its folder is there.

        Raises:
            DeepDelveError: it cannot be started.
            ApiError: too many runs go on.
        """
        surface = ApiSurface(auto_approve=request.auto_approve)
        return (await self._open(lambda: facade.start(request, self.settings, surface))).run_id

    async def resume(self, run_id: str, settings: Settings, instruction: str = "") -> str:
        """Take a run up again. Returns its id.

        Raises:
            DeepDelveError: it cannot be taken up.
            ApiError: too many runs go on, or this one does.
        """
        self._check_free(run_id)
        return (await self._open(lambda: facade.resume(run_id, settings, ApiSurface(), instruction=instruction))).run_id

    async def ask(self, run_id: str, question: str, settings: Settings) -> RunResult:
        """A question on a run that has a report; returns with the answer.

        Raises:
            DeepDelveError: it cannot be asked.
            ApiError: too many runs go on, this one does, or it was stopped.
        """
        self._check_free(run_id)
        handle = await self._open(lambda: facade.ask(run_id, question, settings, ApiSurface()))
        task = self._tasks[handle.run_id]
        await asyncio.wait([task])
        if task.cancelled():
            raise ApiError(409, "stopped", "The question was stopped before there was an answer.")
        return task.result()

    async def stop(self, run_id: str) -> bool:
        """Stop a run; returns once it has ended. False where this process does not work on it."""
        task = self._tasks.get(run_id)
        if task is None or task.done():
            return False
        self._handles[run_id].command(Command("stop"))
        await asyncio.wait([task])
        return True

    def goes_on(self, run_id: str) -> bool:
        """Whether this process works on the run."""
        return run_id in self._tasks

    async def close(self) -> None:
        """Stop what goes on; what was found is kept, and the runs can be taken up again."""
        for handle in self._handles.values():
            handle.command(Command("stop"))
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=_CLOSE_SECONDS)

    def _check_free(self, run_id: str) -> None:
        if run_id in self._tasks:
            raise ApiError(409, "busy", f"Run {run_id} is being worked on. Wait for its end, or stop it.")

    async def _open(self, opened: Callable[[], Awaitable[RunHandle]]) -> RunHandle:
        if len(self._tasks) + self._opening >= self.settings.serve.max_runs:
            raise ApiError(429, "too_many", f"{self.settings.serve.max_runs} runs go on already (serve.max_runs). Wait for one to end.")
        self._opening += 1
        try:
            handle = await opened()
        finally:
            self._opening -= 1
        # Kept until it is over: a task that nobody holds may vanish.
        task = asyncio.get_running_loop().create_task(handle.wait(), name=f"api {handle.run_id}")
        self._handles[handle.run_id], self._tasks[handle.run_id] = handle, task
        task.add_done_callback(lambda done: self._ended(handle.run_id, done))
        return handle

    def _ended(self, run_id: str, task: asyncio.Task[RunResult]) -> None:
        del self._handles[run_id], self._tasks[run_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("run %s broke off", run_id, exc_info=error)

"""A run that goes on in this process, as surfaces hold it."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deepdelve.core.requests import Command, RunResult

if TYPE_CHECKING:
    from deepdelve.engine.run import Run


@dataclass
class Handle:
    """A run that goes on in this process (``core.requests.RunHandle``)."""

    run: "Run"
    task: "asyncio.Task[RunResult]"

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.run.run_id

    @property
    def dir(self) -> Path:
        """The run's folder."""
        return self.run.dir

    def command(self, command: Command) -> None:
        """Queue a command; a stop takes effect at once."""
        self.run.command(command)

    async def wait(self) -> RunResult:
        """The end of the run. Cancelling this does not stop the run."""
        return await asyncio.shield(self.task)

"""The app with the fake engine, a frozen clock, and ways to wait without sleeping."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from textual.pilot import Pilot

from deepdelve.config import Settings
from deepdelve.tui.app import DeepDelveApp
from deepdelve.tui.blocks import NoticeBlock
from deepdelve.tui.widgets.prompt import Prompt

from .fake_engine import T0, FakeEngine

LASTING = {"draw", "run"}


@dataclass
class Driven:
    """An app under test."""

    app: DeepDelveApp
    engine: FakeEngine
    pilot: Pilot[Any]

    async def say(self, text: str) -> None:
        """Types a text (as a whole) and sends it."""
        prompt = self.app.research.query_one(Prompt)
        prompt.put(text)
        prompt.action_submit()
        await self.settle()

    async def until(self, condition: Callable[[], object], rounds: int = 800) -> None:
        """Goes on until the condition holds."""
        for _ in range(rounds):
            if condition():
                return
            await asyncio.sleep(0.005)
        raise AssertionError("the condition never came to hold")

    async def settle(self) -> None:
        """Waits for every job save the drawing and a run that is held, then draws."""
        await self.pilot.pause(0)
        for _ in range(400):
            if not any(worker.group not in LASTING and not worker.is_finished for worker in self.app.workers):
                break
            await asyncio.sleep(0.005)
        await self.app.handler.flush()
        await self.pilot.pause(0)

    async def finished(self) -> None:
        """Waits for the end of what goes on."""
        await self.until(lambda: not self.app.controller.busy)
        await self.settle()

    @property
    def notices(self) -> list[str]:
        """What the app has said."""
        return [block.text for block in self.app.controller.state.blocks if isinstance(block, NoticeBlock)]


def make_app(engine: FakeEngine, settings: Settings | Callable[[], Settings] | None = None, **options: Any) -> DeepDelveApp:
    """The app with this engine and a clock that stands still."""

    async def load() -> Any:
        return engine

    settings = settings or Settings()
    app = DeepDelveApp(settings, load=load, clock=lambda: T0 + 60, **options)
    app.handler._batch_seconds = 0.0
    return app


@asynccontextmanager
async def driven(
    engine: FakeEngine | None = None, settings: Settings | None = None, size: tuple[int, int] = (120, 40), **options: Any
) -> AsyncIterator[Driven]:
    """The running app."""
    engine = engine or FakeEngine()
    app = make_app(engine, settings, **options)
    async with app.run_test(size=size) as pilot:
        driven_app = Driven(app, engine, pilot)
        await driven_app.until(lambda: app.controller.loaded is not None and app.research.sidebar is not None)
        await driven_app.settle()
        yield driven_app

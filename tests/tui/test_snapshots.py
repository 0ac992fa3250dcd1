"""How the screens look. The clock stands still, cursors do not blink, nothing moves."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from deepdelve.config import Settings

from .fake_engine import QUESTION, FakeEngine
from .support import LASTING, make_app

RUN = "20260101_000001_aaaaaa"
Shot = Callable[[Pilot[Any]], Awaitable[None]]


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


def app_with(run: bool = True, theme: str = "textual-dark") -> Any:
    engine = FakeEngine()
    if run:
        engine.saved(RUN, QUESTION)
    settings = Settings()
    settings.ui.theme = theme
    app = make_app(engine, settings)
    app.animation_level = "none"
    return app


async def rest(pilot: Pilot[Any]) -> None:
    """Waits until nothing is going on."""
    app: Any = pilot.app
    quiet = 0
    for _ in range(300):
        await pilot.pause(0.02)
        ready = app.controller.loaded is not None and app.research.sidebar is not None
        quiet = quiet + 1 if ready and not busy(app) and app.screen.is_running and app.screen.size.width else 0
        # A screen is laid out in several steps after the job that opened it has ended.
        if quiet >= 6:
            break
    await app.handler.flush()
    app.research.prompt.cursor_blink = False
    await pilot.pause()


def busy(app: Any) -> bool:
    return any(worker.group not in LASTING and not worker.is_finished for worker in app.workers)


def after(line: str = "", *keys: str) -> Shot:
    """Shows the saved run, sends a line, presses keys."""

    async def act(pilot: Pilot[Any]) -> None:
        app: Any = pilot.app
        await rest(pilot)
        if app.controller.loaded.journal:
            await app.controller.show_run(RUN)
            await rest(pilot)
        if line:
            app.send(line)
            await rest(pilot)
        for key in keys:
            await pilot.press(key)
            await rest(pilot)

    return act


SIZES = [(80, 24), (120, 40), (200, 60)]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_research(snap_compare: Any, size: tuple[int, int]) -> None:
    assert snap_compare(app_with(), terminal_size=size, run_before=after())


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_report(snap_compare: Any, size: tuple[int, int]) -> None:
    assert snap_compare(app_with(), terminal_size=size, run_before=after("/report", "n"))


def test_research_light(snap_compare: Any) -> None:
    assert snap_compare(app_with(theme="textual-light"), terminal_size=(120, 40), run_before=after())


def test_report_light(snap_compare: Any) -> None:
    assert snap_compare(app_with(theme="textual-light"), terminal_size=(120, 40), run_before=after("/report", "u"))


@pytest.mark.parametrize("name", ["runs", "sessions", "help"])
def test_other_screens(snap_compare: Any, name: str) -> None:
    assert snap_compare(app_with(), terminal_size=(120, 40), run_before=after(f"/{name}"))


def test_settings(snap_compare: Any) -> None:
    assert snap_compare(app_with(), terminal_size=(80, 24), run_before=after("/config"))


@pytest.mark.parametrize("key", ["f3", "f4", "f5", "f6"])
def test_tabs(snap_compare: Any, key: str) -> None:
    assert snap_compare(app_with(), terminal_size=(120, 40), run_before=after("", key))


def test_sidebar_over_the_transcript(snap_compare: Any) -> None:
    assert snap_compare(app_with(), terminal_size=(80, 24), run_before=after("", "ctrl+b"))


def test_popup(snap_compare: Any) -> None:
    assert snap_compare(app_with(run=False), terminal_size=(80, 24), run_before=after("", "slash", "r", "e"))


def test_first_frame(snap_compare: Any) -> None:
    assert snap_compare(app_with(run=False), terminal_size=(80, 24), run_before=after())

"""The app: wires screens, controller and event handler. What a run is, it does not know."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen

from deepdelve.core.errors import DeepDelveError, UsageError
from deepdelve.tui import first_look, keys
from deepdelve.tui.handler import EventHandler
from deepdelve.tui.screens.research import ResearchScreen
from deepdelve.tui.text import OUTCOME_WORDS, one_line
from deepdelve.tui.view_state import ViewState

if TYPE_CHECKING:
    # All that the first frame does without is imported behind it.
    from deepdelve.config import Settings
    from deepdelve.tui.controller import Controller
    from deepdelve.tui.engine_api import EngineApi
    from deepdelve.tui.navigator import Navigator


class DeepDelveApp(App[int]):
    """The full-screen app.

    Args:
        settings: those in force, or what reads them once the first frame is there.
        prompt: sent as soon as the engine is there.
        resume_session: a session to open first.
        resume_run: a run to take up first.
        load: imports the engine.
        clock: POSIX seconds; a test freezes it.
    """

    TITLE = "DeepDelve"
    BINDINGS: ClassVar[list[BindingType]] = keys.APP
    CSS = "Screen { scrollbar-size-vertical: 1; }"

    def __init__(
        self,
        settings: "Settings | Callable[[], Settings]",
        *,
        prompt: str = "",
        resume_session: str = "",
        resume_run: str = "",
        load: "Callable[[], Awaitable[EngineApi]] | None" = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__()
        self.handler = EventHandler(self._show_state, self._draw_failed)
        self.research = ResearchScreen(self.handler, self)
        self.fault: DeepDelveError | None = None
        self._read_settings = settings if callable(settings) else lambda: settings
        self._load = load
        self._clock = clock
        self._wired = asyncio.Event()
        self._focus_is_told = False
        self._first = [f"/resume {resume_session}" if resume_session else "", f"/resume-run {resume_run}" if resume_run else "", prompt]

    @cached_property
    def settings(self) -> "Settings":
        """The settings in force at the start; the defaults where they cannot be read, until they can."""
        try:
            return self._read_settings()
        except DeepDelveError as error:
            from deepdelve.config import Settings

            self.fault = error
            return Settings()

    @cached_property
    def controller(self) -> "Controller":
        """Says to the engine what the person wants."""
        from deepdelve.tui.controller import Controller
        from deepdelve.tui.engine_api import load_engine

        return Controller(self, self.handler, self.settings, self._load or load_engine, self._clock)

    @cached_property
    def navigator(self) -> "Navigator":
        """Opens screens."""
        from deepdelve.tui.navigator import Navigator

        return Navigator(self, self.research, self.controller, self)

    def on_mount(self) -> None:
        """Shows the first frame; everything that takes long comes after it."""
        if (theme := first_look.theme()) in self.available_themes:
            self.theme = theme
        self.push_screen(self.research)
        self.call_after_refresh(self._begin)

    async def _begin(self) -> None:
        """After the first frame: settings, controller, sidebar, drawing, engine."""
        await asyncio.to_thread(self._prepare)
        self.research.attach(self.controller)
        self._apply_settings()
        if self.fault is not None:
            self.controller.without_settings(self.fault, self._read_settings)
        await self.research.add_sidebar()
        self.work(self.handler.run(), "draw")
        self.work(self._start_engine(), "engine")
        self._wired.set()

    def _prepare(self) -> None:
        """Imports what comes after the first frame and reads the settings; needs no event loop."""
        for name in ("navigator", "commands", "view", "widgets.sidebar", "widgets.sub_agent", "widgets.notice", "widgets.thinking"):
            import_module(f"deepdelve.tui.{name}")
        _ = self.settings

    async def _start_engine(self) -> None:
        """Loads the engine, looks at what is kept, and carries out what was asked on the command line."""
        await self.controller.engine()
        await self._guarded(self._look_back())
        if not any(self._first):
            self.work(self.controller.look_ahead(), "look")
        for line in self._first:
            if line:
                await self._guarded(self._handle(line))

    async def _look_back(self) -> None:
        """Fills the prompt's history and tells of an interrupted run."""
        engine = await self.controller.engine()
        runs = await self.controller.call(engine.list_runs, 50)
        self.research.prompt.past.load(run.question for run in reversed(runs))
        cut = [run for run in runs if not run.outcome and not run.live]
        if cut and not any(self._first):
            which, run_id = one_line(cut[0].question, 80), cut[0].run_id
            self.controller.say(f"The run '{which}' was interrupted. /resume-run {run_id} goes on with it.", "warning")

    def _apply_settings(self) -> None:
        """Theme and keys of the settings; a wrong one is said, not raised."""
        try:
            self.set_theme(self.controller.settings.ui.theme)
        except UsageError as error:
            self.controller.fail(error)
        self.set_keymap(dict(self.controller.settings.ui.keys))

    def send(self, text: str, *, typed: bool = False) -> None:
        """A message or a slash command; what comes before the app is ready waits, what was typed is kept."""
        self.work(self._send(text, typed), "send")

    async def _send(self, text: str, typed: bool) -> None:
        await self._wired.wait()
        if typed:
            self.controller.note(text)
        await self._handle(text)

    async def _handle(self, text: str) -> None:
        from deepdelve.tui.commands import execute

        if text.startswith("/"):
            await execute(self.controller, text)
        else:
            self.navigator.to_research()
            await self.controller.submit(text)

    def work(self, job: Awaitable[None], group: str) -> None:
        """Runs a job in the background; an error in it becomes a message, never the end of the app."""
        self.run_worker(self._guarded(job), group=group, exit_on_error=False)

    async def _guarded(self, job: Awaitable[None]) -> None:
        try:
            await job
        except Exception as error:
            self.controller.fail(error)

    def open_screen(self, name: str, **details: Any) -> None:
        """Opens a screen, or a tab of the sidebar."""
        self.work(self.navigator.open(name, **details), "screen")

    def run_finished(self, report: bool) -> None:
        """Opens the report unless the person is writing; notifies where nobody looks."""
        self._notify_desktop()
        if report and self.screen is self.research and not self.research.prompt.text:
            self.open_screen("report", run_id=self.controller.state.run_id)

    def _notify_desktop(self) -> None:
        from deepdelve.tui.notification import sequence, wanted

        ui, state = self.controller.settings.ui, self.controller.state
        if ui.notify and wanted(in_front=self.app_focus, focus_is_told=self._focus_is_told, seconds=state.seconds):
            told = f"{OUTCOME_WORDS.get(state.outcome, state.outcome)}: {state.question}"
            self.write_to_terminal(sequence(ui.notify_with, "DeepDelve", told, os.environ))

    def write_to_terminal(self, control: str) -> None:
        """Writes a control sequence that changes nothing on the screen."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(control)

    def on_app_focus(self) -> None:
        """The terminal tells when its window is in front."""
        self._focus_is_told = True

    def on_app_blur(self) -> None:
        """As ``on_app_focus``."""
        self._focus_is_told = True

    def export(self, run_id: str, kind: str) -> None:
        """Writes a report in another format."""
        self.work(self.controller.export(run_id, kind), "export")

    def ask_about(self, run_id: str, text: str) -> None:
        """Begins a question on a report."""
        self.work(self.navigator.ask_about(run_id, text), "show")

    def put_in_prompt(self, text: str) -> None:
        """Back to the research screen with the beginning of a message."""
        self.navigator.to_research()
        self.research.prompt.put(text)
        self.research.prompt.focus()

    def set_theme(self, name: str) -> None:
        """Changes the colours.

        Raises:
            UsageError: no such theme.
        """
        if name not in self.available_themes:
            from deepdelve.config import nearest

            near = nearest(name, list(self.available_themes))
            raise UsageError(f"There is no theme '{name[:40]}'.", f"Did you mean {near}?" if near else "Tab completes their names.")
        self.theme = name

    def leave(self) -> None:
        """Closes the app; a run that goes on is stopped, and its record is on disk."""
        if self._wired.is_set():
            self.controller.stop()
        self.handler.close()
        self.exit(0)

    async def action_quit(self) -> None:
        """As ``/exit``."""
        self.leave()

    def action_help_focused(self) -> None:
        """What the focused widget does, then everything."""
        focused = self.focused
        told = getattr(focused, "HELP", None) if focused is not None else None
        if told and self.screen is self.research:
            self.controller.say(str(told))
        else:
            self.open_screen("help")

    def action_log(self) -> None:
        """The last events."""
        self.open_screen("log")

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The slash commands, in the palette too; one that needs an argument is put into the prompt."""
        from deepdelve.tui.commands import available

        for command in available(self.controller.loaded):
            needs_more = bool(command.args) and not command.args.startswith("[")
            line = f"/{command.name}"
            chosen = (lambda text=f"{line} ": self.put_in_prompt(text)) if needs_more else (lambda text=line: self.send(text))
            yield SystemCommand(f"{line} {command.args}".strip(), command.help, chosen)

    async def _show_state(self, old: ViewState, new: ViewState) -> None:
        await self.research.show_state(old, new)

    def _draw_failed(self, error: Exception) -> None:
        """A block that cannot be drawn is said, and the app goes on."""
        self.log.error(error)
        self.notify(
            Content(f"Something could not be shown ({type(error).__name__}). The run goes on.").plain, severity="error", markup=False
        )


def run(settings: "Settings | Callable[[], Settings]", *, prompt: str = "", resume_session: str = "", resume_run: str = "") -> int:
    """Opens the app and waits until it is closed. Returns the exit code."""
    app = DeepDelveApp(settings, prompt=prompt, resume_session=resume_session, resume_run=resume_run)
    code = app.run()
    return code if code is not None else app.return_code or 0

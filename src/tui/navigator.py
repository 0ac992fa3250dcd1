"""Opens screens by name, with what they show fetched from the engine first."""

from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App
from textual.content import Content

from deepdelve.core.errors import DeepDelveError, UsageError
from deepdelve.tui.commands import available
from deepdelve.tui.controller import Controller
from deepdelve.tui.past import Past
from deepdelve.tui.port import AppPort
from deepdelve.tui.screens.research import ResearchScreen
from deepdelve.tui.text import clean

_SOURCE_LIMIT = 200_000


class Navigator:
    """Knows every screen. Screens are imported when they are first opened, so that the first frame comes quickly."""

    def __init__(self, app: App[Any], research: ResearchScreen, controller: Controller, port: AppPort) -> None:
        self.app = app
        self.research = research
        self.controller = controller
        self.port = port
        self._openers: dict[str, Callable[..., Awaitable[None]]] = {
            "tab": self.tab,
            "help": self.help,
            "report": self.report,
            "source": self.source,
            "text": self.text,
            "log": self.log,
            "runs": self.runs,
            "sessions": self.sessions,
            "settings": self.settings,
            **Past(app, controller, port, self._put).openers,
            "files": self.files,
            "file": self.file,
        }

    async def open(self, name: str, **details: Any) -> None:
        """Opens a screen.

        Raises:
            DeepDelveError: what it would show cannot be had.
        """
        await self._openers[name](**details)

    async def tab(self, tab: str) -> None:
        """A tab of the sidebar, on the research screen."""
        self.to_research()
        self.research.action_tab(tab)

    def to_research(self) -> None:
        """Closes what lies over the research screen."""
        for screen in self.app.screen_stack[:0:-1]:
            if screen is not self.research:
                screen.dismiss()

    async def help(self) -> None:
        """All commands and keys."""
        from deepdelve.tui.screens.help import help_text

        self._read("Help", help_text(available(self.controller.loaded)))

    async def report(self, run_id: str, claim_id: str = "") -> None:
        """The report of a run."""
        from deepdelve.tui.report_model import build
        from deepdelve.tui.screens.report import ReportScreen

        engine, call = await self.controller.engine(), self.controller.call
        text = await call(engine.read_report, run_id)
        if not text:
            raise UsageError("This run has no report.", "/resume-run goes on with it, /finish writes a partial one.")
        report = await call(build, text, await call(engine.claims, run_id))
        sources = await call(engine.sources, run_id)
        self.to_research()
        self.app.push_screen(ReportScreen(run_id, report, sources, self.controller, self.port, claim_id))

    async def log(self) -> None:
        """The last events of this app, newest last."""
        self._read("Last events", Content(clean("\n".join(self.controller.handler.log)) or "Nothing has happened yet."))

    async def text(self, heading: str, text: Content) -> None:
        """A text to read."""
        self._read(heading, text)

    async def source(self, run_id: str, source_id: str) -> None:
        """The stored text of a source."""
        engine = await self.controller.engine()
        text = await self.controller.call(engine.source_text, run_id, source_id)
        source = self.controller.state.sources.get(source_id)
        heading = f"{source_id} · {source.title or source.url} · {source.url}" if source else source_id
        self._read(heading, Content(clean(text, _SOURCE_LIMIT) or "Nothing is stored of this source."), text)

    async def runs(self) -> None:
        """All runs."""
        from deepdelve.tui.screens.runs import RunsScreen

        engine = await self.controller.engine()
        self.app.push_screen(RunsScreen(await self.controller.call(engine.list_runs), self._act))

    async def sessions(self) -> None:
        """All sessions."""
        from deepdelve.tui.screens.sessions import SessionsScreen

        engine = await self.controller.engine()
        sessions = await self.controller.call(engine.list_sessions)
        self.app.push_screen(SessionsScreen(sessions, lambda session_id: self.port.send(f"/resume {session_id}")))

    async def files(self, run_id: str) -> None:
        """The files of a run."""
        from deepdelve.tui.screens.files import FilesScreen

        engine = await self.controller.engine()
        listed = await self.controller.call(engine.run_files, run_id)
        self.app.push_screen(FilesScreen(run_id, listed, lambda name: self.port.open_screen("file", run_id=run_id, file=name)))

    async def file(self, run_id: str, file: str) -> None:
        """The beginning of one file; why it cannot be shown is said above the list."""
        engine = await self.controller.engine()
        try:
            text = await self.controller.call(engine.run_file_text, run_id, file)
        except DeepDelveError as error:
            self.app.notify(error.line(), severity="warning", markup=False)
            return
        self._read(file, Content(clean(text, _SOURCE_LIMIT) or "The file is empty."), text)

    async def settings(self) -> None:
        """The settings as a form; each change is written at once."""
        from deepdelve.tui.screens.settings import SettingsScreen

        def change(key: str, value: str) -> None:
            self.controller.front.work(self._change(key, value), "setting")

        self.app.push_screen(SettingsScreen(self.controller.settings, change))

    async def _change(self, key: str, value: str) -> None:
        try:
            await self.controller.set_setting(key, value)
        except DeepDelveError as error:
            self.app.notify(error.line(), severity="error", markup=False)
        else:
            self.app.notify(f"{key} is written.", markup=False)

    def _put(self, text: str) -> None:
        """A text into the prompt."""
        self.research.prompt.put(text)
        self.research.prompt.focus()

    def _read(self, heading: str, text: Content, copied: str = "") -> None:
        from deepdelve.tui.screens.reading import ReadingScreen

        self.app.push_screen(ReadingScreen(heading, text, copied or text.plain))

    def _act(self, wish: str, run_id: str) -> None:
        """What was wished of a run in the table."""
        lines = {"open": f"/report {run_id}", "resume": f"/resume-run {run_id}", "verify": f"/verify {run_id}"}
        if wish in lines:
            self.port.send(lines[wish])
        elif wish == "delete":
            self.controller.front.work(self._delete(run_id), "delete")
        else:
            self.port.ask_about(run_id, "")

    async def _delete(self, run_id: str) -> None:
        engine = await self.controller.engine()
        await self.controller.call(engine.delete_run, run_id)

    async def ask_about(self, run_id: str, text: str) -> None:
        """Back to the research screen, with this run in it and the beginning of a question."""
        if self.controller.state.run_id != run_id:
            await self.controller.show_run(run_id)
        self.to_research()
        if text:
            self.research.prompt.put(text)
        self.research.prompt.focus()

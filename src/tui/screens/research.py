"""The main screen: status, transcript, sidebar, prompt."""

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.css.query import NoMatches
from textual.screen import Screen

from deepdelve.tui import keys
from deepdelve.tui.completion import Choice
from deepdelve.tui.handler import EventHandler
from deepdelve.tui.port import AppPort
from deepdelve.tui.view_state import ViewState
from deepdelve.tui.widgets.key_line import KeyLine
from deepdelve.tui.widgets.prompt import Prompt
from deepdelve.tui.widgets.prompt_box import PromptBox
from deepdelve.tui.widgets.status_line import StatusLine
from deepdelve.tui.widgets.transcript import Transcript

if TYPE_CHECKING:
    # Not needed for the first frame; messages come by name.
    from deepdelve.config import Settings
    from deepdelve.tui.commands import SlashCommand
    from deepdelve.tui.controller import Controller
    from deepdelve.tui.widgets.approval import Ask
    from deepdelve.tui.widgets.claim_list import ClaimList
    from deepdelve.tui.widgets.sidebar import Sidebar
    from deepdelve.tui.widgets.source_list import SourceList

WIDE = 110


class ResearchScreen(Screen[None]):
    """Shows the view state; sends what the person types and decides to the app."""

    CSS_PATH = "research.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.RESEARCH
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 (Textual declares it so)
    AUTO_FOCUS = "#prompt"

    def __init__(self, handler: EventHandler, port: AppPort) -> None:
        """The state is that of ``handler``; ``controller`` is given once the first frame is there."""
        super().__init__()
        self.handler = handler
        self.port = port
        self.controller: Controller | None = None

    def compose(self) -> ComposeResult:
        """Status above, transcript, prompt below. The sidebar comes after the first frame."""
        yield StatusLine(self._status)
        with Horizontal(id="middle"):
            yield Transcript()
        yield PromptBox(self._commands, self._words)
        yield KeyLine()

    def attach(self, controller: "Controller") -> None:
        """From here on the screen can answer, and knows the settings."""
        self.controller = controller
        self.query_one(StatusLine).show_status()

    async def add_sidebar(self) -> None:
        """Mounts the sidebar and fills it."""
        from deepdelve.tui.widgets.sidebar import Sidebar

        sidebar = Sidebar()
        await self.query_one("#middle").mount(sidebar)
        sidebar.show_state(ViewState(), self.handler.state)

    async def show_state(self, old: ViewState, new: ViewState) -> None:
        """Draws the difference of two states."""
        self.query_one(StatusLine).show_status()
        if old.blocks is not new.blocks:
            await self.query_one(Transcript).show(new.blocks)
        sidebar = self.sidebar
        if sidebar is not None:
            sidebar.show_state(old, new)

    @property
    def sidebar(self) -> "Sidebar | None":
        """The sidebar, once it is there."""
        try:
            return cast("Sidebar", self.query_one("#sidebar"))
        except NoMatches:
            return None

    @property
    def prompt(self) -> Prompt:
        """The prompt."""
        return self.query_one(Prompt)

    @on(Prompt.Sent)
    def sent(self, event: Prompt.Sent) -> None:
        """A message or a command."""
        event.stop()
        self.port.send(event.text, typed=True)

    def on_ask_answered(self, event: "Ask.Answered") -> None:
        """An answer to a card."""
        event.stop()
        if self.controller is not None:
            self.controller.answer(event.ask_id, event.answer)
        self.prompt.focus()

    def on_ask_closed(self, event: "Ask.Closed") -> None:
        """A question that was open has ended: keys go to the prompt again."""
        event.stop()
        self.prompt.focus()

    def on_ask_typed_ahead(self, event: "Ask.TypedAhead") -> None:
        """A key that was meant for the prompt."""
        event.stop()
        self.prompt.insert(event.character)

    def on_source_list_opened(self, event: "SourceList.Opened") -> None:
        """Shows the stored text of a source."""
        event.stop()
        self.port.open_screen("source", run_id=self.handler.state.run_id, source_id=event.source_id)

    def on_claim_list_opened(self, event: "ClaimList.Opened") -> None:
        """Shows a claim in the report."""
        event.stop()
        self.port.open_screen("report", run_id=self.handler.state.run_id, claim_id=event.claim_id)

    def action_stop(self) -> None:
        """Stops what goes on; else closes the sidebar laid over the transcript, or goes back to the prompt."""
        if self.has_class("-sidebar") and self.has_class("-narrow"):
            self.action_toggle_sidebar()
        elif self.controller is None or not self.controller.stop():
            self.prompt.focus()

    def action_toggle_sidebar(self) -> None:
        """Shows or hides the sidebar."""
        self.toggle_class("-sidebar" if self.has_class("-narrow") else "-no-sidebar")
        sidebar = self.sidebar
        if self.focused is None or (sidebar is not None and sidebar in self.focused.ancestors):
            self.prompt.focus()

    def action_tab(self, name: str) -> None:
        """Shows a tab of the sidebar."""
        self.remove_class("-no-sidebar")
        self.add_class("-sidebar")
        if self.sidebar is not None:
            self.sidebar.open_tab(name)

    def action_report(self) -> None:
        """Opens the report of this run."""
        self.port.send("/report")

    def action_recall(self) -> None:
        """Earlier prompts to choose from."""
        self.port.open_screen("recall")

    def action_focus_prompt(self) -> None:
        """Back to the prompt."""
        self.prompt.focus()

    def _status(self) -> "tuple[ViewState, Settings | None, float]":
        known = self.controller
        return self.handler.state, known.settings if known is not None else None, known.clock() if known is not None else 0.0

    def _commands(self) -> "list[SlashCommand]":
        from deepdelve.tui.commands import available

        return available(self.controller.loaded if self.controller is not None else None)

    async def _words(self, command: "SlashCommand") -> list[Choice]:
        return list(await command.words(self.controller)) if command.words is not None and self.controller is not None else []

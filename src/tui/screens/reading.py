"""A screen with one text to read: help of a widget, all commands, the stored text of a source, the log."""

from typing import ClassVar

from rich.console import RenderableType
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from deepdelve.tui import keys
from deepdelve.tui.text import one_line
from deepdelve.tui.typed import app_of
from deepdelve.tui.widgets.key_line import KeyLine


class ReadingScreen(ModalScreen[None]):
    """Shows a text in a scrollable frame.

    Args:
        title: outside text is welcome.
        text: plain content, or a Rich renderable such as Markdown; never markup.
        copied: what ``y`` copies.
    """

    CSS_PATH = "reading.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*keys.CLOSE, keys.EXPANDABLE[1]]
    AUTO_FOCUS = "#reading"

    def __init__(self, title: str, text: Content | RenderableType, copied: str = "") -> None:
        super().__init__()
        self._heading = title
        self._text = text
        self._copied = copied

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        yield Static(Content.assemble((one_line(self._heading, 200), "bold")), id="reading-title")
        with VerticalScroll(id="reading"):
            yield Static(self._text, markup=False)
        yield KeyLine()

    def action_close(self) -> None:
        """Back."""
        self.dismiss()

    def action_copy(self) -> None:
        """Copies the text."""
        app_of(self).copy_to_clipboard(self._copied)

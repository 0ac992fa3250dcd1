"""A short list to choose from."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static

from deepdelve.tui import keys
from deepdelve.tui.text import one_line


class ChoiceScreen(ModalScreen[int | None]):
    """Gives back the number of the chosen row, or None."""

    CSS_PATH = "choice.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.CLOSE
    AUTO_FOCUS = "OptionList"

    def __init__(self, title: str, rows: Sequence[Content]) -> None:
        super().__init__()
        self._heading = title
        self._rows = rows

    def compose(self) -> ComposeResult:
        """Title and list."""
        yield Static(Content.assemble((one_line(self._heading, 100), "bold")), id="choice-title")
        yield OptionList(*self._rows, markup=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Takes the row."""
        event.stop()
        self.dismiss(event.option_index)

    def action_close(self) -> None:
        """Takes none."""
        self.dismiss(None)

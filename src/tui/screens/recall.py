"""Earlier prompts to take up again: of this session, of this run, or all."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from deepdelve.tui import keys
from deepdelve.tui.screens.history import row_of
from deepdelve.tui.text import count
from deepdelve.tui.widgets.key_line import KeyLine
from deepdelve.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from deepdelve.engine import facade

MODES = ("session", "run", "everywhere")
_MODE_WORDS = {"session": "this session", "run": "this run", "everywhere": "everywhere"}


class RecallScreen(Screen[str]):
    """Narrows prompts while one types; Enter returns the chosen prompt.

    Args:
        session_id: the session that is open here; empty where there is none.
        run_id: the run that is shown here; empty where there is none.
    """

    CSS_PATH = "history.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.RECALL
    AUTO_FOCUS = "#history-terms"

    def __init__(self, session_id: str, run_id: str) -> None:
        super().__init__()
        self.session_id = session_id
        self.run_id = run_id
        self.mode = "everywhere"
        self.shown: list[facade.HistoryRecord] = []
        self._records: list[tuple[facade.HistoryRecord, str]] = []
        self._loaded = False

    def compose(self) -> ComposeResult:
        """Words, rows, note."""
        yield Static(Content.assemble(("Earlier prompts", "bold"), "  Enter takes one, ctrl+r changes where"), id="history-title")
        yield Input(placeholder="words that the prompt holds", id="history-terms")
        yield Static("Reading the prompt history …", id="history-status", markup=False)
        yield RowList()
        yield Static("", id="history-note", markup=False)
        yield KeyLine()

    def load(self, records: "Sequence[facade.HistoryRecord]", note: str = "") -> None:
        """Shows the prompts, newest first; begins with those of the session if it has any."""
        self._records = [(record, record.text.casefold()) for record in records]
        self._loaded = True
        self.query_one("#history-note", Static).update(Content(note))
        own = self.session_id and any(record.session_id == self.session_id for record in records)
        self.mode = "session" if own else "everywhere"
        self.narrow()

    def narrow(self) -> None:
        """Shows the prompts that fit mode and words."""
        if not self._loaded:
            return
        words = self.query_one("#history-terms", Input).value.casefold().split()
        self.shown = [record for record, low in self._records if self._fits(record) and all(word in low for word in words)]
        self.query_one(RowList).show_rows(Rows(self.shown))
        told = f"{_MODE_WORDS[self.mode]}: {count(len(self.shown), 'prompt')}"
        self.query_one("#history-status", Static).update(Content(told))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrows."""
        event.stop()
        self.narrow()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Takes the prompt under the cursor."""
        event.stop()
        self.take(self.query_one(RowList).place)

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """Takes the prompt that was clicked."""
        event.stop()
        self.take(event.place)

    def take(self, place: int) -> None:
        """Returns a prompt."""
        if place < len(self.shown):
            self.dismiss(self.shown[place].text)

    def action_mode(self) -> None:
        """The next mode; those that mean nothing here are passed over."""
        possible = [mode for mode in MODES if mode == "everywhere" or getattr(self, f"{mode}_id")]
        self.mode = possible[(possible.index(self.mode) + 1) % len(possible)]
        self.narrow()

    def action_move(self, step: int) -> None:
        """Moves the cursor."""
        self.query_one(RowList).move(step)

    def action_page(self, step: int) -> None:
        """Moves the cursor by a screen."""
        rows = self.query_one(RowList)
        rows.move(step * max(1, rows.size.height - 1))

    def action_close(self) -> None:
        """Back, with nothing taken."""
        self.dismiss("")

    def _fits(self, record: "facade.HistoryRecord") -> bool:
        if self.mode == "session":
            return record.session_id == self.session_id
        return self.mode == "everywhere" or record.run_id == self.run_id


class Rows(Sequence[str]):
    """Records as rows that are made when they are drawn."""

    def __init__(self, records: "Sequence[facade.HistoryRecord]") -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, place: int) -> str:  # type: ignore[override]  # slices are not asked for
        return row_of(self._records[place])

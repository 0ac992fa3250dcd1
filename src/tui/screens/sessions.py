"""All sessions in a table: open one."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import DataTable, Static

from deepdelve.core.requests import SessionSummary
from deepdelve.tui import keys
from deepdelve.tui.screens.runs import day
from deepdelve.tui.screens.table import fill
from deepdelve.tui.text import one_line
from deepdelve.tui.widgets.key_line import KeyLine

COLUMNS = ("title", "begun (UTC)", "runs", "turns", "id")
# The beginning of an id tells it from others; /resume takes it.
_ID_CELLS = 13


class SessionsScreen(Screen[None]):
    """Lists sessions, newest first; ``open_session`` opens one."""

    CSS_PATH = "table.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.SESSIONS
    AUTO_FOCUS = "DataTable"

    def __init__(self, sessions: Sequence[SessionSummary], open_session: Callable[[str], None]) -> None:
        super().__init__()
        self.sessions = list(sessions)
        self.open_session = open_session

    def compose(self) -> ComposeResult:
        """The table."""
        yield Static(Content.assemble(("Sessions", "bold"), "  Enter opens it"), id="table-title")
        yield DataTable[Text](cursor_type="row", zebra_stripes=True)
        yield Static(Content("" if self.sessions else "No session yet. Esc goes back; ask a question."), id="table-note")
        yield KeyLine()

    def on_resize(self, event: Resize) -> None:
        """Fills the table; the title has what the other columns leave."""
        rows = [row(item) for item in self.sessions]
        names = [item.session_id for item in self.sessions]
        fill(self.query_one(DataTable[Text]), COLUMNS, rows, names, event.size.width)

    def action_open(self) -> None:
        """Opens the session under the cursor."""
        place = self.query_one(DataTable[Text]).cursor_row
        if place < len(self.sessions):
            self.dismiss()
            self.open_session(self.sessions[place].session_id)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Enter, or a click on the row under the cursor."""
        event.stop()
        self.action_open()

    def action_close(self) -> None:
        """Back."""
        self.dismiss()


def row(item: SessionSummary) -> list[Text]:
    """The cells of a session."""
    cells = [
        one_line(item.title, 120),
        day(item.started),
        str(len(item.runs)),
        str(item.turns),
        one_line(item.session_id, _ID_CELLS),
    ]
    return [Text(cell) for cell in cells]

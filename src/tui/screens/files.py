"""The files of a run in a table: read one."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import DataTable, Static

from deepdelve.tui import keys
from deepdelve.tui.engine_api import RunFile
from deepdelve.tui.text import one_line
from deepdelve.tui.typed import app_of
from deepdelve.tui.widgets.key_line import KeyLine

_UNITS = ("bytes", "kB", "MB", "GB")


class FilesScreen(Screen[None]):
    """Lists the files of a run; ``read`` shows one."""

    CSS_PATH = "table.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.FILES
    AUTO_FOCUS = "DataTable"

    def __init__(self, run_id: str, files: Sequence[RunFile], read: Callable[[str], None]) -> None:
        super().__init__()
        self.run_id = run_id
        self.files = list(files)
        self.read = read

    def compose(self) -> ComposeResult:
        """The table."""
        yield Static(Content.assemble(("Files", "bold"), f"  {one_line(self.run_id, 60)}  Enter reads one"), id="table-title")
        yield DataTable[Text](cursor_type="row", zebra_stripes=True)
        yield Static(Content("" if self.files else "This run has no files."), id="table-note")
        yield KeyLine()

    def on_mount(self) -> None:
        """Fills the table."""
        table = self.query_one(DataTable[Text])
        for name in ("file", "size", "what it is"):
            table.add_column(name)
        for item in self.files:
            table.add_row(Text(one_line(item.name, 100)), Text(size(item.size), justify="right"), Text(one_line(item.what, 80)))

    @property
    def chosen(self) -> RunFile | None:
        """The file under the cursor."""
        place = self.query_one(DataTable[Text]).cursor_row
        return self.files[place] if place < len(self.files) else None

    def action_open(self) -> None:
        """Reads the file under the cursor."""
        if self.chosen is not None:
            self.read(self.chosen.name)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Enter, or a click on the row under the cursor."""
        event.stop()
        self.action_open()

    def action_copy(self) -> None:
        """Copies the file's name."""
        if self.chosen is not None:
            app_of(self).copy_to_clipboard(self.chosen.name)
            self.notify("Copied the name.")

    def action_close(self) -> None:
        """Back."""
        self.dismiss()


def size(number: int) -> str:
    """``950 bytes``, ``1.2 kB``, ``3.4 MB``."""
    amount, unit = float(number), 0
    while amount >= 1_000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1_000, unit + 1
    return f"{number} bytes" if not unit else f"{amount:.1f} {_UNITS[unit]}"

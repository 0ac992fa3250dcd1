"""All runs in a table: open, resume, ask, verify, delete."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import ClassVar, Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import DataTable, Static

from deepdelve.core.requests import RunSummary
from deepdelve.tui import keys
from deepdelve.tui.screens.table import fill
from deepdelve.tui.text import OUTCOME_WORDS, duration, one_line
from deepdelve.tui.widgets.key_line import KeyLine

Wish = Literal["open", "resume", "follow_up", "verify", "delete"]
COLUMNS = ("question", "outcome", "date (UTC)", "sources", "claims", "time")


class RunsScreen(Screen[None]):
    """Lists runs, newest first. ``act`` carries out what is wished of a run; deleting asks a second press first."""

    CSS_PATH = "table.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.RUNS
    AUTO_FOCUS = "DataTable"

    def __init__(self, runs: Sequence[RunSummary], act: Callable[[Wish, str], None]) -> None:
        super().__init__()
        self.runs = list(runs)
        self.act = act
        self._doomed = ""

    def compose(self) -> ComposeResult:
        """The table."""
        yield Static(Content.assemble(("Runs", "bold"), "  Enter opens its report"), id="table-title")
        yield DataTable[Text](cursor_type="row", zebra_stripes=True)
        yield Static("", id="table-note", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        """Says so where there is nothing to show."""
        self._note("" if self.runs else "No run yet. Esc goes back; ask a question.")

    def on_resize(self, event: Resize) -> None:
        """Fills the table; the question has what the other columns leave."""
        rows, names = [row(run) for run in self.runs], [run.run_id for run in self.runs]
        fill(self.query_one(DataTable[Text]), COLUMNS, rows, names, event.size.width)

    @property
    def chosen(self) -> RunSummary | None:
        """The run under the cursor."""
        table = self.query_one(DataTable[Text])
        return self.runs[table.cursor_row] if self.runs and table.cursor_row < len(self.runs) else None

    def action_open(self) -> None:
        """Opens the report."""
        self._wish("open")

    def action_resume(self) -> None:
        """Takes the run up again."""
        self._wish("resume")

    def action_follow_up(self) -> None:
        """Asks about the report."""
        self._wish("follow_up")

    def action_verify(self) -> None:
        """Checks the report again."""
        self._wish("verify")

    def action_delete(self) -> None:
        """Deletes the run; the first press asks."""
        run = self.chosen
        if run is None:
            return
        if self._doomed != run.run_id:
            self._doomed = run.run_id
            self._note(f"Press d again to delete '{one_line(run.question, 60)}' with all its files; any other key keeps it.")
            return
        place = self.runs.index(run)
        self.query_one(DataTable[Text]).remove_row(run.run_id)
        del self.runs[place]
        self._doomed = ""
        self._note("Deleted.")
        self.act("delete", run.run_id)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Enter, or a click on the row under the cursor."""
        event.stop()
        self._wish("open")

    def action_close(self) -> None:
        """Back; or keeps the run that was about to be deleted."""
        if self._doomed:
            self._keep()
        else:
            self.dismiss()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        """Moving on keeps the run that was about to be deleted."""
        if self._doomed and event.row_key.value != self._doomed:
            self._keep()

    def _keep(self) -> None:
        self._doomed = ""
        self._note("Kept.")

    def _wish(self, wish: Wish) -> None:
        run = self.chosen
        if run is not None:
            self.dismiss()
            self.act(wish, run.run_id)

    def _note(self, text: str) -> None:
        self.query_one("#table-note", Static).update(Content(text))


def row(run: RunSummary) -> list[Text]:
    """The cells of a run."""
    outcome = "● running" if run.live else OUTCOME_WORDS.get(run.outcome, run.outcome)
    cells = [
        one_line(run.question, 120),
        outcome,
        day(run.started),
        str(run.sources),
        f"{run.supported}/{run.claims}",
        duration(run.seconds),
    ]
    return [Text(cell) for cell in cells]


def day(stamp: float) -> str:
    """A POSIX time as date and minute."""
    return datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%d %H:%M") if stamp else ""

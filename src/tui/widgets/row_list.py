"""A list of many one-line rows: only those that are seen are drawn, so that ten thousand cost no more than ten."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip


class RowList(ScrollView, can_focus=False):
    """Shows rows of plain text and a cursor. Its screen moves the cursor, so that typing goes on in an input."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--cursor"}
    DEFAULT_CSS = """
    RowList { height: 1fr; background: $surface; color: $foreground; overflow-x: hidden; }
    RowList > .row-list--cursor { background: $accent; color: $text; text-style: bold; }
    """

    class Chosen(Message):
        """A row was clicked; ``place`` counts from 0."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    def __init__(self) -> None:
        super().__init__(id="rows")
        self.rows: Sequence[str] = ()
        self.place = 0

    def show_rows(self, rows: Sequence[str]) -> None:
        """Replaces all rows; the cursor goes to the first. Rows of a sequence that makes them are made when they are drawn."""
        self.rows = rows
        self.place = 0
        self.scroll_to(y=0, animate=False)
        self._resized()

    def add_rows(self, rows: Sequence[str]) -> None:
        """Puts rows below the others; the cursor stays."""
        self.rows = [*self.rows, *rows]
        self._resized()

    def move(self, step: int) -> None:
        """Moves the cursor, and scrolls so that it is seen."""
        if not self.rows:
            return
        self.place = max(0, min(self.place + step, len(self.rows) - 1))
        top, height = self.scroll_offset.y, max(1, self.size.height)
        if self.place < top:
            self.scroll_to(y=self.place, animate=False)
        elif self.place >= top + height:
            self.scroll_to(y=self.place - height + 1, animate=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        number = y + self.scroll_offset.y
        width = self.size.width
        if not 0 <= number < len(self.rows):
            return Strip.blank(width, self.rich_style)
        under = number == self.place
        style = self.get_component_rich_style("row-list--cursor") if under else self.rich_style
        # The sign says it too, for those who see no colours.
        return Strip([Segment(f"{'›' if under else ' '} {self.rows[number]}", style)]).adjust_cell_length(width, style)

    def on_click(self, event: Click) -> None:
        """Chooses the row under the pointer."""
        number = event.y + self.scroll_offset.y
        if number < len(self.rows):
            self.place = number
            self.refresh()
            self.post_message(self.Chosen(number))

    def _resized(self) -> None:
        self.virtual_size = Size(self.size.width, len(self.rows))
        self.refresh()

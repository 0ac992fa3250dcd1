"""Tables whose first column takes what the others leave of the width."""

from collections.abc import Sequence

from rich.text import Text
from textual.widgets import DataTable

# Less than that says nothing; then the last columns are scrolled to.
LEAST = 16


def fill(table: DataTable[Text], columns: Sequence[str], rows: Sequence[Sequence[Text]], keys: Sequence[str], width: int) -> None:
    """Fills the table for this many cells; the cursor stays in its row."""
    widths = [max([len(name), *(row[number].cell_len for row in rows)]) for number, name in enumerate(columns)]
    # Each column has a cell of padding on both sides, and the bar takes one or two.
    left = max(width - sum(widths[1:]) - 2 * len(columns) - 2, LEAST)
    place = table.cursor_row
    table.clear(columns=True)
    for number, name in enumerate(columns):
        table.add_column(name, key=name, width=min(left, widths[0]) if number == 0 else None)
    for row, key in zip(rows, keys, strict=True):
        table.add_row(*row, key=key)
    table.move_cursor(row=place)

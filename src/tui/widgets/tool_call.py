"""One tool call: name, main argument, state and time; open to see arguments and result."""

import json
from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from deepdelve.tui.blocks import ToolBlock, ToolRow
from deepdelve.tui.text import clean, count, duration, one_line
from deepdelve.tui.widgets.expandable import Expandable

SIGNS = {"running": "●", "ok": "✓", "failed": "✗", "refused": "⊘"}
_BODY_LIMIT = 6_000


class ToolCall(Expandable):
    """Shows a ``ToolRow``."""

    def __init__(self, row: ToolRow, role: str = "") -> None:
        super().__init__(classes="block tool-call")
        self.row = row
        self.role = role

    async def show(self, block: ToolBlock) -> None:
        """Shows a newer state of the same call."""
        await self.show_row(block.row)

    async def show_row(self, row: ToolRow) -> None:
        """As ``show``, for a call inside another block."""
        if row is self.row:
            return
        self.row = row
        self.refresh_header()
        for shown in self.query(".tool-text").results(Static):
            shown.update(self._text())

    def header(self) -> Content:
        """Name, main argument, state."""
        row = self.row
        state = row.state if row.state != "ok" or not row.seconds else duration(row.seconds)
        return Content.assemble(
            f"{SIGNS[row.state]} ",
            f"{self.role} · " if self.role else "",
            (one_line(row.tool, 60), "bold"),
            " ",
            one_line(main_argument(row), 120),
            f" · {state}",
        )

    def body(self) -> Sequence[Widget]:
        """Arguments and result."""
        return [Static(self._text(), classes="tool-text")]

    def plain(self) -> str:
        """Arguments and result as text."""
        return self._text().plain

    def _text(self) -> Content:
        args = json.dumps(self.row.args, ensure_ascii=False, indent=1, default=str)
        result = clean(self.row.text, _BODY_LIMIT) or ("…" if self.row.state == "running" else "no text")
        return Content.assemble(("arguments ", "bold"), clean(args, _BODY_LIMIT), "\n", ("result ", "bold"), result)


def main_argument(row: ToolRow) -> str:
    """The argument that says most about a call: its query, address, name or first task."""
    for name in ("query", "url", "name", "thought", "tasks", "items"):
        value = row.args.get(name)
        if isinstance(value, list):
            return count(len(row.args[name]), name.removesuffix("s"))
        if value:
            return str(value)
    return ""

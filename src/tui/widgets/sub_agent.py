"""One sub-agent: name, task, state, time, number of tool calls and its last line; open to see each call."""

from collections.abc import Sequence

from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from deepdelve.tui.blocks import AgentBlock
from deepdelve.tui.text import TASK_SIGNS, clean, count, duration, last_line, one_line
from deepdelve.tui.widgets.expandable import Expandable
from deepdelve.tui.widgets.tool_call import ToolCall


class SubAgent(Expandable):
    """Shows an ``AgentBlock``."""

    DEFAULT_CSS = """
    SubAgent > .always { height: 1; margin-left: 4; text-style: italic; }
    SubAgent.-nested { margin-left: 2; }
    SubAgent.-failed, SubAgent.-failed > .header { color: $text-error; }
    """

    def __init__(self, block: AgentBlock) -> None:
        super().__init__(classes="block sub-agent")
        self.block = block
        self.set_class(bool(block.parent), "-nested")
        self.set_class(block.state == "failed", "-failed")

    async def show(self, block: AgentBlock) -> None:
        """Shows a newer state of the same sub-agent."""
        self.block = block
        self.set_class(block.state == "failed", "-failed")
        self.refresh_header()
        if self.query_children(".body"):
            await self._sync()

    def always(self) -> Sequence[Content]:
        """Its last line."""
        return [self._last()]

    def header(self) -> Content:
        """Who, what, how far."""
        block = self.block
        parts = [block.state, count(len(block.tools), "call")]
        if block.seconds:
            parts.append(duration(block.seconds))
        if block.attempts > 1:
            parts.append(f"{block.attempts} attempts")
        role = f"{block.role} ({one_line(block.profile, 20)})" if block.profile else block.role
        return Content.assemble(f"{TASK_SIGNS[block.state]} ", (role, "bold"), " · ", one_line(block.task, 160), " · ", " · ".join(parts))

    def body(self) -> Sequence[Widget]:
        """Every tool call, then what it said."""
        rows: list[Widget] = [ToolCall(row) for row in self.block.tools]
        return [*rows, Static(self._said(), classes="said")]

    def plain(self) -> str:
        """What it said."""
        return self.block.text

    async def _sync(self) -> None:
        """Brings the open body up to date."""
        shown = list(self.query(ToolCall))
        for widget, row in zip(shown, self.block.tools, strict=False):
            await widget.show_row(row)
        said = self.query_one(".said", Static)
        fresh = [ToolCall(row) for row in self.block.tools[len(shown) :]]
        if fresh:
            await self.query_children(".body").first(Vertical).mount_all(fresh, before=said)
        said.update(self._said())

    def _last(self) -> Content:
        block = self.block
        if block.reason and block.state == "failed":
            return Content(one_line(block.reason))
        if block.text:
            return Content(last_line(block.text))
        if block.tools and block.state == "running":
            return Content(f"{block.tools[-1].tool} …")
        return Content(last_line(block.thinking))

    def _said(self) -> Content:
        thinking = f"(thinking) {clean(self.block.thinking, 4_000)}\n" if self.block.thinking else ""
        return Content.assemble((thinking, "italic"), clean(self.block.text, 8_000))

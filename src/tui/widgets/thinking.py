"""Streamed thinking, folded."""

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from deepdelve.tui.blocks import ThinkingBlock
from deepdelve.tui.text import clean, count
from deepdelve.tui.widgets.expandable import Expandable


class Thinking(Expandable):
    """Shows a ``ThinkingBlock``."""

    def __init__(self, block: ThinkingBlock) -> None:
        super().__init__(classes="block thinking")
        self.block = block

    async def show(self, block: ThinkingBlock) -> None:
        """Shows more of the same thinking."""
        self.block = block
        self.refresh_header()
        for shown in self.query(".thought").results(Static):
            shown.update(Content(clean(block.text)))

    def header(self) -> Content:
        """How much was thought."""
        words = count(len(self.block.text.split()), "word")
        return Content(f"thought {words}" if self.block.done else f"thinking … {words}")

    def body(self) -> Sequence[Widget]:
        """The thinking."""
        return [Static(Content(clean(self.block.text)), classes="thought")]

    def plain(self) -> str:
        """The thinking."""
        return self.block.text

"""Finished Markdown as text that the mouse can select: laid out by Rich once a width, kept as content."""

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text
from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

_FALLBACK_WIDTH = 80


class Prose(Static):
    """Shows Markdown. Rich renderables cannot be selected in Textual; content can.

    Args:
        markdown: cleaned text.
    """

    def __init__(self, markdown: str) -> None:
        super().__init__("", markup=False)
        self._markdown = Markdown(markdown, hyperlinks=False)
        self._width = 0
        self._laid = Content("")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Lines at this width."""
        return self._at(width).plain.count("\n") + 1

    def render(self) -> Content:
        """The text at the width there is."""
        return self._at(self.content_size.width or _FALLBACK_WIDTH)

    def _at(self, width: int) -> Content:
        if width != self._width:
            self._width, self._laid = width, laid_out(self._markdown, width)
            self._layout_cache.clear()
        return self._laid


def laid_out(markdown: Markdown, width: int) -> Content:
    """Markdown as lines of styled text, no longer than ``width`` cells."""
    console = Console(width=max(width, 1), color_system="truecolor", force_terminal=True, legacy_windows=False)
    lines: list[Text] = []
    for segments in console.render_lines(markdown, pad=False):
        line = Text()
        for text, style, _ in segments:
            line.append(text, style)
        line.rstrip()
        lines.append(line)
    return Content.from_rich_text(Text("\n").join(lines), console=console)

"""A block with a header line and a body that is made when it is first opened."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from deepdelve.tui import keys
from deepdelve.tui.typed import app_of

_INDENT = 4


class Expandable(Widget, can_focus=True):
    """Base of foldable blocks. Subclasses give ``header()``, ``body()`` and ``plain()``.

    Until it is first opened it draws itself and has no children: a transcript of hundreds of blocks is laid out often.
    """

    BINDINGS: ClassVar[list[BindingType]] = keys.EXPANDABLE
    HELP = "A foldable block. Enter or space opens and closes it, y copies its text."
    DEFAULT_CSS = """
    Expandable { height: auto; color: $text-muted; }
    Expandable.-unopened:focus { background: $boost; color: $text; text-style: bold; }
    Expandable > .header { height: auto; color: $text-muted; }
    Expandable:focus > .header { background: $boost; color: $text; text-style: bold; }
    Expandable > .body { height: auto; margin-left: 2; display: none; }
    Expandable.-open > .body { display: block; }
    """

    def __init__(self, classes: str) -> None:
        super().__init__(classes=f"{classes} -unopened")

    def render(self) -> Content:
        """The header and what else always shows; once it has been opened, its children do that."""
        if not self.has_class("-unopened"):
            return Content("")
        room = max(self.content_size.width - _INDENT, 1)
        rest = [Content.assemble(" " * _INDENT, line.truncate(room).stylize("italic")) for line in self.always() if line.plain]
        return Content("\n").join([self._titled(), *rest])

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Lines at this width."""
        if not self.has_class("-unopened"):
            return super().get_content_height(container, viewport, width)
        return self._titled().get_height({}, max(width, 1)) + sum(bool(line.plain) for line in self.always())

    def always(self) -> Sequence[Content]:
        """Lines below the header that show when it is closed, too."""
        return ()

    def header(self) -> Content:
        """The line that always shows."""
        raise NotImplementedError

    def body(self) -> Sequence[Widget]:
        """The widgets that show when it is open; asked for at the first opening."""
        raise NotImplementedError

    def plain(self) -> str:
        """Its text, for copying."""
        raise NotImplementedError

    @property
    def opened(self) -> bool:
        """Whether the body shows."""
        return self.has_class("-open")

    def refresh_header(self) -> None:
        """Draws what always shows anew."""
        if self.has_class("-unopened"):
            self.refresh(layout=True)
            return
        for header in self.query_children(".header").results(Static):
            header.update(self._titled())
        for shown, line in zip(self.query_children(".always").results(Static), self.always(), strict=True):
            shown.update(line)
            shown.display = bool(line.plain)

    async def action_fold(self) -> None:
        """Opens or closes the body."""
        self.toggle_class("-open")
        if self.has_class("-unopened"):
            self.remove_class("-unopened")
            lines = [_always(line) for line in self.always()]
            await self.mount(Static(self._titled(), classes="header"), *lines, Vertical(*self.body(), classes="body"))
        self.refresh_header()

    def action_copy(self) -> None:
        """Copies the block's text."""
        app_of(self).copy_to_clipboard(self.plain())

    async def on_click(self, event: Click) -> None:
        """A click on the header opens and closes."""
        on_header = event.widget is not None and event.widget.has_class("header") and event.widget.parent is self
        if on_header or (event.widget is self and self.has_class("-unopened")):
            event.stop()
            await self.action_fold()

    def _titled(self) -> Content:
        return Content.assemble("▾ " if self.opened else "▸ ", self.header())


def _always(line: Content) -> Static:
    return Static(line, classes="always")

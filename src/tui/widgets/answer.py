"""An answer: streamed as Markdown while it comes, one static text once it is whole."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownStream

from deepdelve.tui import keys
from deepdelve.tui.blocks import AnswerBlock
from deepdelve.tui.text import BLOCK_LIMIT, clean
from deepdelve.tui.typed import app_of
from deepdelve.tui.widgets.prose import Prose


class Answer(Vertical, can_focus=True):
    """Shows an ``AnswerBlock``. A whole answer is not a Markdown widget any more: those are slow by the dozen."""

    BINDINGS: ClassVar[list[BindingType]] = [keys.EXPANDABLE[1]]
    HELP = "An answer. y copies it."
    DEFAULT_CSS = """
    Answer { height: auto; }
    Answer:focus { border-left: outer $primary; }
    Answer > Markdown { height: auto; margin: 0; padding: 0; background: transparent; }
    """

    def __init__(self, block: AnswerBlock) -> None:
        super().__init__(classes="block answer")
        self.block = block
        self._sent = 0
        self._stream: MarkdownStream | None = None

    def compose(self) -> ComposeResult:
        """The whole text, or an empty place to stream into."""
        if self.block.done:
            yield self._whole()
        else:
            yield Markdown(open_links=False)

    async def on_mount(self) -> None:
        """Begins the stream."""
        if not self.block.done:
            self._stream = Markdown.get_stream(self.query_one(Markdown))
            await self._write()

    async def on_unmount(self) -> None:
        """Ends the stream."""
        await self._stop()

    async def show(self, block: AnswerBlock) -> None:
        """Shows more of the same answer, or its end."""
        was_done, taken_back, self.block = self.block.done, block.taken_back > self.block.taken_back, block
        if block.done and not was_done:
            await self._stop()
            with app_of(self).batch_update():
                await self.remove_children()
                await self.mount(self._whole())
        elif not block.done:
            if taken_back:
                await self._begin_anew()
            await self._write()

    def action_copy(self) -> None:
        """Copies the answer."""
        app_of(self).copy_to_clipboard(self.block.text)

    async def _write(self) -> None:
        """Streams what has come since the last time, up to the limit of a block."""
        piece = self.block.text[self._sent : BLOCK_LIMIT]
        self._sent += len(piece)
        if piece and self._stream is not None:
            await self._stream.write(clean(piece))

    async def _begin_anew(self) -> None:
        """Takes back what was streamed, which turned out to be no part of the answer."""
        await self._stop()
        shown = self.query_one(Markdown)
        await shown.update("")
        self._stream, self._sent = Markdown.get_stream(shown), 0

    async def _stop(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.stop()

    def _whole(self) -> Prose:
        return Prose(clean(self.block.text))

"""The transcript: a window on the blocks, the newest at the bottom. Older ones are mounted when the reader asks for them."""

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from deepdelve.tui import keys
from deepdelve.tui.text import count
from deepdelve.tui.typed import app_of

if TYPE_CHECKING:
    # Blocks and their widgets are imported with the first block, not before the first frame.
    from deepdelve.tui.blocks import Block

WINDOW = 20
PAGE = 10
# So many are mounted at most while the reader pages through earlier ones.
MOST = 40
# More mounted blocks than this make each layout slow; the oldest go until KEEP are left.
PRUNE_AT = 300
KEEP = 200


class BlockWidget(Protocol):
    """What the transcript asks of each widget in it."""

    async def show(self, block: Any) -> None:
        """Show a newer state of the block."""
        ...


class Transcript(VerticalScroll, can_focus=True):
    """Mounts blocks ``first`` up to, not including, ``last`` of ``blocks``."""

    BINDINGS: ClassVar[list[BindingType]] = keys.TRANSCRIPT
    HELP = "What happened. Page up and page down go through it, End goes to the newest, Tab goes from block to block, Enter opens one."
    DEFAULT_CSS = """
    Transcript { padding: 0 1; scrollbar-size-vertical: 1; }
    Transcript > .beyond { color: $text-muted; text-align: center; width: 100%; }
    """

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self.blocks: tuple[Block, ...] = ()
        self.first = 0
        self.last = 0

    def on_mount(self) -> None:
        """Stays at the bottom until the reader scrolls up."""
        self.anchor()

    @property
    def widgets(self) -> list[Widget]:
        """The mounted blocks, oldest first."""
        return list(self.query_children(".block"))

    async def show(self, blocks: "tuple[Block, ...]") -> None:
        """Brings the window up to date; while its end is not the newest, later blocks wait for the reader."""
        old, self.blocks = self.blocks, blocks
        pairs = list(zip(old[self.first : self.last], blocks[self.first : self.last], strict=False))
        # Keys count from the first block of each transcript, so that those of another one may be the same.
        if len(blocks) < len(old) or any(before.key != after.key or type(before) is not type(after) for before, after in pairs):
            await self._rebuild()
            return
        for widget, (before, after) in zip(self.widgets, pairs, strict=False):
            if before is not after:
                await cast("BlockWidget", widget).show(after)
        fresh = blocks[len(old) :]
        if self.last < len(old):
            await self._mark()
        elif len(fresh) > WINDOW:
            await self._rebuild()
        elif fresh:
            self.last = len(blocks)
            await self.mount_all([widget_of(block) for block in fresh])
            await self._prune()

    async def action_older(self) -> None:
        """One page up; at the top, earlier blocks are mounted first and as many of the last ones go."""
        if self.scroll_y > 0 or not self.first:
            self.scroll_page_up(animate=False)
            return
        mounted, start = self.widgets, max(self.first - PAGE, 0)
        fresh = [widget_of(block) for block in self.blocks[start : self.first]]
        self.first = start
        with app_of(self).batch_update():
            await self.mount_all(fresh, before=mounted[0])
            surplus = max(self.last - self.first - MOST, 0)
            if surplus:
                self.last -= surplus
                await self.remove_children(mounted[-surplus:])
            await self._mark()
        self.call_after_refresh(self._show_above, mounted[0])

    async def action_newer(self) -> None:
        """One page down; at the bottom of a window that does not reach the newest, later blocks are mounted."""
        if not self.is_vertical_scroll_end or self.last >= len(self.blocks):
            self.scroll_page_down(animate=False)
            return
        mounted, end = self.widgets, min(self.last + PAGE, len(self.blocks))
        fresh = [widget_of(block) for block in self.blocks[self.last : end]]
        self.last = end
        with app_of(self).batch_update():
            await self.mount_all(fresh, after=mounted[-1])
            surplus = max(self.last - self.first - MOST, 0)
            if surplus:
                self.first += surplus
                await self.remove_children(mounted[:surplus])
            await self._mark()
        self.call_after_refresh(self._show_below, mounted[-1])

    async def action_newest(self) -> None:
        """To the bottom, and stay there."""
        if self.last < len(self.blocks):
            await self._rebuild()
        self.anchor()

    def _show_above(self, widget: Widget) -> None:
        """The page that ends where this block begins."""
        self.scroll_to(y=max(widget.virtual_region.y - self.size.height, 0), animate=False)

    def _show_below(self, widget: Widget) -> None:
        """The page that begins where this block ends."""
        self.scroll_to(y=widget.virtual_region.bottom, animate=False)

    async def _rebuild(self) -> None:
        with app_of(self).batch_update():
            await self.remove_children()
            self.first, self.last = max(len(self.blocks) - WINDOW, 0), len(self.blocks)
            await self.mount_all([widget_of(block) for block in self.blocks[self.first :]])
            await self._mark()
        self.anchor()

    async def _prune(self) -> None:
        mounted = self.widgets
        if len(mounted) > PRUNE_AT and self.is_vertical_scroll_end:
            gone = mounted[: len(mounted) - KEEP]
            self.first += len(gone)
            await self.remove_children(gone)
            await self._mark()

    async def _mark(self) -> None:
        """The lines that say how many blocks there are before and behind the window."""
        await self._line("earlier", self.first, "↑ {} · page up")
        await self._line("newer", len(self.blocks) - self.last, "↓ {} · page down, End")

    async def _line(self, name: str, number: int, words: str) -> None:
        shown = self.query_children(f".{name}").results(Static)
        line = next(iter(shown), None)
        if not number:
            await self.remove_children(f".{name}")
            return
        text = Content(words.format(count(number, f"{name} block")))
        if line is not None:
            line.update(text, layout=False)
        elif name == "earlier":
            await self.mount(Static(text, classes=f"beyond {name}"), before=0)
        else:
            await self.mount(Static(text, classes=f"beyond {name}"))


def widget_of(block: "Block") -> Widget:
    """The widget that shows a block."""
    from deepdelve.tui import blocks as bl
    from deepdelve.tui.widgets.notice import Notice
    from deepdelve.tui.widgets.sub_agent import SubAgent
    from deepdelve.tui.widgets.thinking import Thinking
    from deepdelve.tui.widgets.tool_call import ToolCall

    match block:
        case bl.AnswerBlock():
            from deepdelve.tui.widgets.answer import Answer

            return Answer(block)
        case bl.ThinkingBlock():
            return Thinking(block)
        case bl.ToolBlock():
            return ToolCall(block.row, block.role)
        case bl.AgentBlock():
            return SubAgent(block)
        case bl.AskBlock():
            from deepdelve.tui.widgets.approval import card

            return card(block)
        case bl.UserBlock() | bl.NoticeBlock() | bl.StageBlock() | bl.ReportBlock() | bl.EndBlock():
            return Notice(block)

"""A long text as one widget: its parts are wrapped when the width is known, and drawn when they are seen."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import ClassVar

from rich.markdown import Markdown
from rich.segment import Segment
from textual.content import Content
from textual.events import Resize
from textual.geometry import Offset, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions

from deepdelve.tui.widgets.prose import laid_out

BAR = "▌ "
_BREAKS = str.maketrans("\u2028\u2029", "  ")


@dataclass(frozen=True)
class Part:
    """A stretch of the text.

    Attributes:
        look: names a component class (``page--<look>``); empty for the page's own style.
        margin: cells left of it.
        gap: empty lines below it.
        bar: whether a bar stands at its left.
        markdown: a table or code, which Rich lays out; ``content`` is then not used.
    """

    content: Content
    look: str = ""
    margin: int = 0
    gap: int = 0
    bar: bool = False
    markdown: str = ""


@dataclass(frozen=True)
class _Layout:
    """The parts at one width: content, and the number of the first line and of the first paragraph of each; the last is behind all."""

    width: int
    contents: tuple[Content, ...] = ()
    tops: tuple[int, ...] = (0,)
    paragraphs: tuple[int, ...] = (0,)


class Page(ScrollView):
    """Scrolls through parts. Text can be selected with the mouse; what is copied is free of the breaks of the lines."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"page--bar"}
    DEFAULT_CSS = """
    Page { overflow-x: hidden; scrollbar-gutter: stable; }
    Page > .page--bar { color: $accent; }
    """
    SIDE: ClassVar[int] = 0

    def __init__(self, parts: Sequence[Part] = (), *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.parts: list[Part] = list(parts)
        self._layout_at = _Layout(0)
        self._drawn: dict[int, list[Strip]] = {}

    @property
    def allow_select(self) -> bool:
        """Its text can be selected."""
        return True

    @property
    def plain(self) -> str:
        """The text, one line a paragraph."""
        return "\n".join(content.plain for content in self._layout_at.contents)

    def show_parts(self, parts: Iterable[Part]) -> None:
        """Puts another text in place, from its beginning."""
        self.parts = list(parts)
        self._lay_out(self._layout_at.width)
        self._go(0)

    def change_part(self, number: int, content: Content) -> None:
        """Other looks of the same words."""
        part = self.parts[number]
        self.parts[number] = Part(content, part.look, part.margin, part.gap, part.bar, part.markdown)
        known = self._layout_at
        if known.width and not part.markdown:
            contents = (*known.contents[:number], content, *known.contents[number + 1 :])
            self._layout_at = _Layout(known.width, contents, known.tops, known.paragraphs)
        self._drawn.pop(number, None)
        self.refresh()

    def show_lines(self, number: int, start: int = 0, end: int = 0, *, at: str = "near") -> None:
        """Scrolls until a part, from its character ``start`` to ``end``, is in sight.

        ``at``: ``top`` or ``middle`` of the window, or ``near``: no further than it takes.
        """
        if not self._layout_at.width:
            self.call_after_refresh(self.show_lines, number, start, end, at=at)
            return
        top = self._layout_at.tops[number] + self._line_of(number, start)
        last = self._layout_at.tops[number] + self._line_of(number, end)
        height = max(self.size.height, 1)
        above, below = self.scroll_offset.y, self.scroll_offset.y + height
        if at == "top" or last - top >= height:
            self._go(top)
        elif at == "middle":
            self._go(max((top + last + 1 - height) // 2, 0))
        elif top < above:
            self._go(top)
        elif last >= below:
            self._go(last + 1 - height)

    def on_resize(self, event: Resize) -> None:
        """Wraps anew where the width has changed; what was at the top stays there."""
        del event
        width = self.scrollable_content_region.width
        if width == self._layout_at.width:
            return
        first, known = self._part_at(self.scroll_offset.y), self._layout_at.width
        self._lay_out(width)
        if known and self.scroll_offset.y:
            self._go(self._layout_at.tops[first])

    def notify_style_update(self) -> None:
        """Other colours: everything is drawn anew."""
        super().notify_style_update()
        self._drawn.clear()

    def selection_updated(self, selection: Selection | None) -> None:
        """Draws what is selected."""
        self._drawn.clear()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text."""
        return selection.extract(self.plain.translate(_BREAKS)), "\n"

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        line, width = y + self.scroll_offset.y, self.size.width
        plain = self.visual_style.rich_style
        if not self._layout_at.width or line >= self._layout_at.tops[-1]:
            return Strip.blank(width, plain)
        number = self._part_at(line)
        strips, within = self._strips(number), line - self._layout_at.tops[number]
        if within >= len(strips):
            return Strip.blank(width, plain)
        part = self.parts[number]
        left = [Segment(" " * (self.SIDE + part.margin), plain)]
        if part.bar:
            left.append(Segment(BAR, self.get_visual_style("page--bar").rich_style))
        return Strip.join([Strip(left), strips[within]]).adjust_cell_length(width, plain)

    def _go(self, line: int) -> None:
        # The bar that allows scrolling is shown with the next layout only.
        self.scroll_to(y=line, animate=False, force=True)

    def _lay_out(self, width: int) -> None:
        self._drawn.clear()
        if not width:
            return
        contents = tuple(self._at(part, self._room(part, width)) for part in self.parts)
        heights = [content.get_height({}, self._room(part, width)) + part.gap for part, content in zip(self.parts, contents, strict=True)]
        tops = tuple(accumulate(heights, initial=0))
        paragraphs = tuple(accumulate((content.plain.count("\n") + 1 for content in contents), initial=0))
        self._layout_at = _Layout(width, contents, tops, paragraphs)
        self.virtual_size = Size(width, tops[-1])
        self.refresh()

    def _room(self, part: Part, width: int) -> int:
        return max(width - 2 * self.SIDE - part.margin - len(BAR) * part.bar, 1)

    def _at(self, part: Part, width: int) -> Content:
        return laid_out(Markdown(part.markdown, hyperlinks=False), width) if part.markdown else part.content

    def _part_at(self, line: int) -> int:
        return max(min(bisect_right(self._layout_at.tops, line) - 1, len(self.parts) - 1), 0)

    def _strips(self, number: int) -> list[Strip]:
        """The lines of a part, with the place of each in the text, by which the mouse selects."""
        if number not in self._drawn:
            part, known = self.parts[number], self._layout_at
            style = self.get_visual_style(f"page--{part.look}") if part.look else self.visual_style
            first = known.paragraphs[number]
            options = RenderOptions(_style, {}, self._selected_from(first), self._selection_style)
            strips = known.contents[number].render_strips(self._room(part, known.width), None, style, options)
            self._drawn[number] = [_placed(strip, first) for strip in strips]
        return self._drawn[number]

    def _selected_from(self, paragraph: int) -> Selection | None:
        """The selection as a part sees it that begins with this paragraph."""
        selected = self.text_selection
        if selected is None:
            return None
        start, end = (Offset(place.x, place.y - paragraph) if place is not None else None for place in selected)
        return Selection(start, end)

    @cached_property
    def _selection_style(self) -> Style:
        return Style.from_styles(self.screen.get_component_styles("screen--selection"))

    def _line_of(self, number: int, char: int) -> int:
        """In which line of the part a character stands."""
        before = 0
        for line, strip in enumerate(self._strips(number)):
            if _offset(strip)[0] > char or (line and _offset(strip)[1] != _offset(self._strips(number)[0])[1]):
                break
            before = line
        return before


def _style(style: str | Style) -> Style:
    return Style.parse(style) if isinstance(style, str) else style


def _offset(strip: Strip) -> tuple[int, int]:
    """Character and paragraph with which a line begins."""
    for segment in strip:
        if segment.style is not None and "offset" in segment.style.meta:
            return segment.style.meta["offset"]
    return 0, 0


def _placed(strip: Strip, paragraph: int) -> Strip:
    char, line = _offset(strip)
    return strip.apply_offsets(char, line + paragraph)

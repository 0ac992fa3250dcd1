"""Text is selected with the mouse and copied with ctrl+c, wherever text is read."""

from typing import Any

import pytest
from rich.markdown import Markdown
from textual.geometry import Offset
from textual.widget import Widget

from deepdelve.core import events as ev
from deepdelve.tui.screens.report import ReportScreen
from deepdelve.tui.widgets.answer import Answer
from deepdelve.tui.widgets.page import Page
from deepdelve.tui.widgets.passage import PassagePane
from deepdelve.tui.widgets.prose import Prose, laid_out
from deepdelve.tui.widgets.report_view import ReportView

from .fake_engine import PASSAGE, REPORT, FakeEngine
from .support import Driven, driven

RUN = "20260101_000001_aaaaaa"


async def drag(d: Driven, widget: Widget, first: tuple[int, int], last: tuple[int, int]) -> str:
    """Selects from one cell of a widget to another, and copies."""
    await d.pilot.mouse_down(widget, offset=Offset(*first))
    await d.pilot.hover(widget, offset=Offset(*last))
    await d.pilot.mouse_up(widget, offset=Offset(*last))
    await d.pilot.press("ctrl+c")
    await d.settle()
    return d.app.clipboard


async def test_a_part_of_an_answer_is_copied_while_the_prompt_has_the_focus() -> None:
    async with driven() as d:
        d.app.handler.post(ev.Message(role="Planner", text="It is **so** and no other.\n\n- one\n- two"))
        await d.settle()
        prose = d.app.research.query_one(Answer).query_one(Prose)
        d.app.research.prompt.focus()
        assert await drag(d, prose, (0, 0), (7, 0)) in {"It is s", "It is so"}


def has_line(page: Page, words: str) -> bool:
    return any(words in page.render_line(y).text for y in range(page.size.height))


def line_with(page: Page, words: str) -> int:
    """The first line on the screen that shows these words."""
    return next(y for y in range(page.size.height) if words in page.render_line(y).text)


async def report_screen(d: Driven) -> Any:
    await d.say(f"/report {RUN}")
    await d.until(lambda: isinstance(d.app.screen, ReportScreen))
    await d.settle()
    return d.app.screen


async def test_words_of_the_report_and_of_a_table_are_copied() -> None:
    engine = FakeEngine()
    engine.saved(RUN)
    async with driven(engine, size=(160, 50)) as d:
        screen = await report_screen(d)
        view = screen.query_one(ReportView)
        row = line_with(view, "Field trials")
        assert (await drag(d, view, (2, row), (14, row))).startswith("Field trial")
        assert (await drag(d, view, (2, row), (2, row + 4))).startswith("Field trials found that heat pumps kept")
        row = line_with(view, "─┼─") if has_line(view, "─┼─") else line_with(view, "A")
        assert "A" in await drag(d, view, (0, row - 1), (20, row + 2))


async def test_words_of_the_passage_are_copied() -> None:
    engine = FakeEngine()
    engine.saved(RUN)
    async with driven(engine, size=(160, 50)) as d:
        screen = await report_screen(d)
        await d.pilot.press("n")
        await d.settle()
        page = screen.query_one(PassagePane).page
        row = line_with(page, "▌")
        copied = await drag(d, page, (3, row), (33, row))
        assert len(copied) > 10
        assert copied.split()[0] in PASSAGE or copied.split()[0] in "Heat pumps move heat."


@pytest.mark.parametrize("width", [1, 20, 80])
def test_markdown_is_laid_out_within_the_width(width: int) -> None:
    content = laid_out(Markdown(REPORT, hyperlinks=False), width)
    assert max(line.cell_length for line in content.split("\n")) <= max(width, 1)


def test_outside_text_is_no_markup_in_it() -> None:
    assert "[/] [link=x]" in laid_out(Markdown("a [/] [link=x] b"), 80).plain

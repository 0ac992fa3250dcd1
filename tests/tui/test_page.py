"""A long text as one widget: wrapped at its width, drawn where it is seen, selected and copied without the breaks of its lines."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import Selection

from deepdelve.tui.widgets.page import BAR, Page, Part

WORDS = "one two three four five six seven eight nine ten"


class Reader(App[None]):
    """An app with one page."""

    CSS = "Page { width: 100%; height: 100%; }"

    def __init__(self, parts: list[Part]) -> None:
        super().__init__()
        self.parts = parts

    def compose(self) -> ComposeResult:
        yield Page(self.parts)


@asynccontextmanager
async def reading(parts: list[Part], size: tuple[int, int] = (22, 8)) -> AsyncIterator[tuple[Page, Pilot[None]]]:
    app = Reader(parts)
    async with app.run_test(size=size) as pilot:
        await pilot.pause(0)
        yield app.query_one(Page), pilot


def lines(page: Page) -> list[str]:
    return [page.render_line(y).text.rstrip() for y in range(page.size.height)]


def part(text: str, **details: object) -> Part:
    return Part(Content(text), **details)  # type: ignore[arg-type]


async def test_parts_are_wrapped_below_one_another_with_margin_gap_and_bar() -> None:
    async with reading([part(WORDS, gap=1), part("a quote", bar=True), part("an item", margin=4)]) as (page, _):
        shown = lines(page)
        assert " ".join(shown[:3]).split() == WORDS.split()
        assert shown[3:6] == ["", f"{BAR}a quote", "    an item"]
        assert all(len(line) <= page.size.width for line in shown)


async def test_no_line_is_wider_than_the_page_whatever_the_text() -> None:
    parts = [part("한국어 " * 20), part("x" * 300), part("‏" + "שלום " * 30), part("tab\ttab " * 20), part("👩‍👩‍👧 " * 30), part("")]
    async with reading(parts, (15, 60)) as (page, _):
        strips = [page.render_line(y) for y in range(page.size.height)]
        assert {strip.cell_length for strip in strips} == {page.size.width}


async def test_only_what_is_seen_is_drawn() -> None:
    async with reading([part(f"{WORDS} {number}") for number in range(2_000)]) as (page, _):
        lines(page)
        assert len(page._drawn) < 80
        page.show_lines(1_500, at="top")
        assert any("1500" in line for line in lines(page))
        assert len(page._drawn) < 40


@pytest.mark.parametrize(("at", "line"), [("top", 0), ("middle", 4), ("near", 7)])
async def test_a_part_is_brought_into_sight(at: str, line: int) -> None:
    async with reading([part(str(number)) for number in range(100)]) as (page, pilot):
        page.show_lines(50, at=at)
        await pilot.pause(0)
        assert lines(page)[line] == "50"


async def test_what_is_in_sight_stays_where_it_is() -> None:
    async with reading([part(str(number)) for number in range(100)]) as (page, pilot):
        page.show_lines(50, at="top")
        await pilot.pause(0)
        page.show_lines(55)
        await pilot.pause(0)
        assert lines(page)[0] == "50"
        page.show_lines(49)
        await pilot.pause(0)
        assert lines(page)[0] == "49"


async def test_words_deep_in_a_long_part_are_brought_into_sight() -> None:
    text = " ".join(f"word{number}" for number in range(400))
    async with reading([part("first"), part(text)]) as (page, pilot):
        place = text.index("word300")
        page.show_lines(1, place, place + 7)
        await pilot.pause(0)
        assert any("word300" in line for line in lines(page))


async def test_another_width_wraps_anew_and_keeps_the_place() -> None:
    async with reading([part(f"{number} {WORDS}") for number in range(100)]) as (page, pilot):
        page.show_lines(50, at="top")
        await pilot.pause(0)
        await pilot.resize_terminal(60, 8)
        await pilot.pause(0)
        assert lines(page)[0].startswith("50 one two three four five six seven eight")


async def test_a_changed_part_shows_its_new_looks_and_leaves_the_others() -> None:
    async with reading([part("one"), part("two")]) as (page, _):
        lines(page)
        page.change_part(1, Content.styled("two", "reverse"))
        segment = next(segment for segment in page.render_line(1) if segment.text == "two")
        assert segment.style is not None
        assert segment.style.reverse
        assert lines(page)[:2] == ["one", "two"]


async def test_another_text_begins_at_its_top() -> None:
    async with reading([part(str(number)) for number in range(100)]) as (page, pilot):
        page.show_lines(50)
        page.show_parts([part("new")])
        await pilot.pause(0)
        assert lines(page)[:2] == ["new", ""]


async def test_a_table_is_laid_out_in_columns() -> None:
    async with reading([Part(Content(""), markdown="| a | b |\n|---|---|\n| 1 | 2 |")], (40, 10)) as (page, _):
        assert any("a" in line and "b" in line and "|" not in line for line in lines(page))


async def test_a_selection_is_copied_without_the_breaks_of_lines() -> None:
    async with reading([part("before"), part(WORDS, gap=1), part("behind")]) as (page, _):
        selected = Selection(Offset(4, 1), Offset(len(WORDS) - 4, 1))
        assert page.get_selection(selected) == (WORDS[4:-4], "\n")
        across = Selection(Offset(len(WORDS) - 3, 1), Offset(3, 2))
        assert page.get_selection(across) == ("ten\nbeh", "\n")


async def test_the_selected_words_are_shown_as_such() -> None:
    async with reading([part("before"), part("one two")]) as (page, _):
        assert "two" not in {segment.text for segment in page.render_line(1)}
        page.screen.selections = {page: Selection(Offset(4, 1), Offset(7, 1))}
        page.selection_updated(page.text_selection)
        assert "two" in {segment.text for segment in page.render_line(1)}
        assert "before" in {segment.text for segment in page.render_line(0)}


async def test_the_mouse_selects_over_wrapped_lines() -> None:
    async with reading([part(WORDS)]) as (page, pilot):
        await pilot.mouse_down(page, offset=Offset(0, 0))
        await pilot.hover(page, offset=Offset(4, 2))
        await pilot.mouse_up(page, offset=Offset(4, 2))
        assert page.screen.get_selected_text() is not None
        assert (page.screen.get_selected_text() or "").startswith("one two three four five six")


async def test_text_from_outside_is_no_markup() -> None:
    async with reading([part("[/] [link=x]y[/link]")]) as (page, _):
        assert lines(page)[0] == "[/] [link=x]y[/link]"
        assert page.plain == "[/] [link=x]y[/link]"


async def test_an_empty_page_is_blank() -> None:
    async with reading([]) as (page, _):
        assert set(lines(page)) == {""}
        assert page.plain == ""

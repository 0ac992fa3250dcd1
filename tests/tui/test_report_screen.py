"""The report screen: from claim to passage, and every key."""

from typing import Any

import pytest
from textual.strip import Strip
from textual.widgets import Input, OptionList, Static

from deepdelve.core.records import Claim, Passage, Source
from deepdelve.tui.screens.choice import ChoiceScreen
from deepdelve.tui.screens.reading import ReadingScreen
from deepdelve.tui.screens.report import ReportScreen
from deepdelve.tui.widgets.page import Page
from deepdelve.tui.widgets.passage import PassagePane, around, standing
from deepdelve.tui.widgets.report_view import ReportView

from .fake_engine import PASSAGE, QUESTION, REPORT, FakeEngine
from .support import Driven, driven

RUN = "20260101_000001_aaaaaa"


async def opened(d: Driven, line: str = "/report") -> ReportScreen:
    await d.say(line)
    await d.until(lambda: isinstance(d.app.screen, ReportScreen))
    await d.settle()
    screen = d.app.screen
    assert isinstance(screen, ReportScreen)
    return screen


def engine() -> FakeEngine:
    made = FakeEngine()
    made.saved(RUN)
    return made


def text_of(screen: ReportScreen, name: str) -> str:
    pane = screen.query_one(PassagePane)
    match name:
        case "place":
            return str(pane.query_one(".place", Static).content)
        case "lit":
            return "".join(part.content.plain for part in pane.page.parts if part.bar)
        case _:
            return pane.page.plain


def shown_lines(page: Page) -> list[Strip]:
    return [page.render_line(y) for y in range(page.size.height)]


async def test_from_claim_to_claim_with_the_passage_beside() -> None:
    async with driven(engine()) as d:
        screen = await opened(d)
        assert "No claim is chosen" in text_of(screen, "place")
        await d.pilot.press("n")
        await d.until(lambda: "claim 1 of 3" in text_of(screen, "place"))
        assert "✓ supported" in text_of(screen, "place")
        assert PASSAGE in text_of(screen, "lit")
        await d.pilot.press("n")
        await d.until(lambda: "claim 2 of 3" in text_of(screen, "place"))
        assert "Only part of it is said there." in text_of(screen, "verdict")
        assert "No passage of this source" in text_of(screen, "before")
        await d.pilot.press("p")
        await d.until(lambda: "claim 1 of 3" in text_of(screen, "place"))


async def test_what_is_said_of_a_claim_stays_in_sight_on_a_small_screen() -> None:
    async with driven(engine(), size=(80, 24)) as d:
        screen = await opened(d)
        await d.pilot.press("n")
        await d.until(lambda: "claim 1 of 3 · S1" in text_of(screen, "place"))
        await d.settle()
        pane, place = screen.query_one(PassagePane), screen.query_one(".place")
        assert pane.page.scroll_y > 0, "the passage is below"
        assert place.region.y == pane.content_region.y
        assert any("▌" in line.text for line in shown_lines(pane.page))


async def test_u_goes_to_what_is_not_carried() -> None:
    async with driven(engine()) as d:
        screen = await opened(d)
        await d.pilot.press("u")
        await d.until(lambda: "! unsupported" in text_of(screen, "place"))
        assert screen.claim is not None
        assert screen.claim.id == "c3"


async def test_p_at_first_goes_to_the_last_claim() -> None:
    async with driven(engine()) as d:
        screen = await opened(d)
        await d.pilot.press("p")
        assert screen.claim is not None
        assert screen.claim.id == "c3"


async def test_the_sidebar_opens_the_report_at_its_claim() -> None:
    async with driven(engine()) as d:
        await d.app.controller.show_run(RUN)
        await d.settle()
        await d.pilot.press("f5")
        await d.settle()
        await d.pilot.press("down", "enter")
        await d.until(lambda: isinstance(d.app.screen, ReportScreen))
        screen = d.app.screen
        assert isinstance(screen, ReportScreen)
        await d.until(lambda: screen.claim is not None)


async def test_o_opens_web_addresses_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven(engine()) as d:
        went: list[str] = []
        monkeypatch.setattr(d.app, "open_url", lambda url, **options: went.append(url))
        screen = await opened(d)
        await d.pilot.press("o")
        await d.pilot.press("n", "o")
        assert went == ["https://example.org/trial"]
        screen.sources["S1"] = Source(id="S1", url="file:///etc/passwd")
        await d.pilot.press("o")
        assert len(went) == 1


async def test_s_lists_the_sources_and_opens_one() -> None:
    async with driven(engine()) as d:
        await opened(d)
        await d.pilot.press("s")
        await d.until(lambda: isinstance(d.app.screen, ChoiceScreen))
        await d.pilot.press("enter")
        await d.until(lambda: isinstance(d.app.screen, ReadingScreen))
        await d.pilot.press("escape")
        assert isinstance(d.app.screen, ReportScreen)


async def test_c_shows_the_contents_and_goes_to_a_heading() -> None:
    async with driven(engine(), size=(80, 24)) as d:
        screen = await opened(d)
        await d.pilot.press("c")
        assert screen.query_one("#contents", OptionList).has_focus
        await d.pilot.press("end", "enter")
        await d.until(lambda: screen.query_one(ReportView).has_focus)
        assert screen.query_one(ReportView).scroll_y > 0


async def test_e_exports_this_run() -> None:
    async with driven(engine()) as d:
        await opened(d)
        await d.pilot.press("e")
        await d.until(lambda: isinstance(d.app.screen, ChoiceScreen))
        await d.pilot.press("down", "enter")
        await d.settle()
        assert d.engine.calls[-1] == ("export", RUN, "html")
        assert d.notices[-1] == f"Written: {RUN}.html"


async def test_y_copies_the_report_or_the_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven(engine()) as d:
        copied: list[str] = []
        monkeypatch.setattr(d.app, "copy_to_clipboard", copied.append)
        await opened(d)
        await d.pilot.press("y", "n", "y")
        assert copied == [REPORT, "Field trials found that heat pumps kept a COP above 2.0 at minus ten degrees [1]."]


async def test_find_goes_round() -> None:
    async with driven(engine(), size=(80, 24)) as d:
        screen = await opened(d)
        await d.pilot.press("slash", *"pay off", "enter")
        first = screen._found
        assert "pay off" in screen.report.pieces[first].text
        await d.pilot.press("enter")
        assert screen._found == first
        await d.pilot.press("escape")
        assert not screen.query_one("#find", Input).display
        assert d.app.screen is screen


async def test_a_begins_a_question_about_the_claim() -> None:
    async with driven(engine()) as d:
        await opened(d)
        await d.pilot.press("n", "a")
        await d.until(lambda: d.app.screen is d.app.research)
        await d.settle()
        assert d.app.research.prompt.text.startswith('About "Field trials found')
        assert d.app.controller.state.run_id == RUN


async def test_g_shows_figures() -> None:
    async with driven(engine()) as d:
        await opened(d)
        await d.pilot.press("g")
        await d.until(lambda: isinstance(d.app.screen, ReadingScreen))
        shown = d.app.screen.query("Static")
        assert any("example.org" in str(widget.content) for widget in shown.results(Static))


async def test_left_and_right_go_through_the_sources_of_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    made = engine()
    two = Claim(id="c", text=QUESTION, citations=("S1", "S2"), status="supported", delivered_span=(0, 10))
    monkeypatch.setattr(made, "claims", lambda run_id: [two])
    async with driven(made) as d:
        screen = await opened(d)
        await d.pilot.press("n")
        assert screen.source is not None
        assert screen.source.id == "S1"
        await d.pilot.press("right")
        assert screen.source.id == "S2"
        await d.pilot.press("left")
        assert screen.source.id == "S1"


async def test_a_report_without_claims_says_so() -> None:
    made = engine()
    made.claims = lambda run_id: []  # type: ignore[method-assign]
    async with driven(made) as d:
        screen = await opened(d)
        for key in ("n", "p", "u", "right", "o", "a"):
            await d.pilot.press(key)
        assert screen.claim is None
        assert d.app.is_running


async def test_a_run_without_report_says_what_to_do() -> None:
    made = FakeEngine()
    made.saved(RUN, events=made.script(RUN, QUESTION, "")[:10])
    async with driven(made) as d:
        await d.say("/report")
        assert d.notices[-1] == "This run has no report. /resume-run goes on with it, /finish writes a partial one."


SOURCE = Source(id="S1", url="https://example.org", file="f")


def claim(**fields: Any) -> Claim:
    return Claim(id="c", text="t", citations=("S1",), **fields)


def test_the_passage_is_found_by_offsets_then_by_its_words() -> None:
    text = "one\nthe very words here\ntwo"
    before, lit, after = around(claim(passage=Passage(source_id="S1", start=8, end=18)), SOURCE, text)
    assert (before, lit.plain, after) == ("one", "the very words here", "two")
    _, lit, _ = around(claim(passage=Passage(source_id="S1", quote="very words")), SOURCE, text)
    assert [span.style for span in lit.spans] == ["bold underline"]


@pytest.mark.parametrize("passage", [None, Passage(source_id="S2", start=0, end=3), Passage(source_id="S1", start=5, end=5_000)])
def test_without_a_passage_the_source_begins(passage: Passage | None) -> None:
    before, lit, _ = around(claim(passage=passage), SOURCE, "the text")
    assert "No passage of this source" in before
    assert "the text" in before
    assert not lit.plain


def test_a_source_without_text_says_why() -> None:
    before, _, _ = around(claim(), SOURCE.model_copy(update={"reason": "a login page"}), "")
    assert before == "Nothing is stored of this source (a login page)."


@pytest.mark.parametrize("status", ["supported", "partial", "contradicted", "unsupported", "unchecked"])
def test_each_status_is_told_in_a_word(status: Any) -> None:
    assert status in standing(claim(status=status), None).plain

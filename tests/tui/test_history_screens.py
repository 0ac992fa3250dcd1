"""Search and recall in the app: the real search over a home of its own behind the scripted engine."""

import asyncio
from typing import Any

import pytest
from textual.widgets import Input, Static

from deepdelve.engine import facade
from deepdelve.tui.screens.history import SearchScreen, row_of
from deepdelve.tui.screens.reading import ReadingScreen
from deepdelve.tui.screens.recall import RecallScreen
from deepdelve.tui.screens.report import ReportScreen
from deepdelve.tui.widgets.row_list import RowList
from tests.engine.history.support import Home, sid

from .fake_engine import FakeEngine
from .support import Driven, driven, make_app

RUN = "20260101_000000_abcdef"


class HistoryEngine(FakeEngine):
    """The scripted engine with the real history behind it."""

    search_history = staticmethod(facade.search_history)
    stream_history = staticmethod(facade.stream_history)
    search_control = staticmethod(facade.search_control)
    open_ref = staticmethod(facade.open_ref)
    note_prompt = staticmethod(facade.note_prompt)


@pytest.fixture
def home(isolated) -> Home:
    kept = Home(isolated)
    kept.talk(1, "how high is the tide [/]", "nine metres of tide")
    kept.talk(2, "boats and sails", "the tide again")
    kept.run(RUN, 1, report="# Tides\n\nThe tide is high.", finding="The tide rises.", page="The tide on a page.")
    return kept


async def searched(d: Driven, line: str) -> SearchScreen:
    await d.say(line)
    await d.until(lambda: isinstance(d.app.screen, SearchScreen))
    screen = d.app.screen
    assert isinstance(screen, SearchScreen)
    await ended(d, screen)
    return screen


async def ended(d: Driven, screen: SearchScreen) -> None:
    await d.until(lambda: screen.summary is not None or text(screen, "#history-note"))
    await d.settle()


async def left(d: Driven) -> None:
    """Back to the research screen."""
    await d.pilot.press("escape")
    await d.until(lambda: d.app.screen is d.app.research)


def text(screen: Any, name: str) -> str:
    return str(screen.query_one(name, Static).content)


async def test_a_search_shows_records_and_says_how_far_it_goes(home: Home) -> None:
    async with driven(HistoryEngine()) as d:
        screen = await searched(d, "/search tide")
        assert list(screen.rows.rows) == ["2026-01-01 00:00  prompt     how high is the tide [/]"]
        assert text(screen, "#history-status") == "Prompts: 1 record; complete; 1 of 1 source read"


async def test_the_ladder_is_climbed_with_a_key_and_down_again(home: Home) -> None:
    async with driven(HistoryEngine()) as d:
        screen = await searched(d, "/search tide")
        await d.pilot.press("f7")
        await ended(d, screen)
        assert {record.kind for record in screen.records} == {"prompt", "reply"}
        await d.pilot.press("f8")
        await ended(d, screen)
        assert len(screen.records) == 5
        assert text(screen, "#history-status").startswith("Everything: 5 records; complete")
        await d.pilot.press("f6")
        await ended(d, screen)
        assert len(screen.records) == 1


async def test_commands_take_up_the_last_terms(home: Home) -> None:
    async with driven(HistoryEngine()) as d:
        await searched(d, "/search tide")
        await left(d)
        screen = await searched(d, "/deep 1")
        assert screen.wanted.terms == "tide"
        assert screen.summary is not None
        assert screen.summary.request["conversation_limit"] == 1
        await left(d)
        screen = await searched(d, "/exhaustive boats")
        assert (screen.wanted.rung, [record.kind for record in screen.records]) == ("exhaustive", ["prompt"])


async def test_typing_searches_anew_and_enter_opens_the_record(home: Home) -> None:
    async with driven(HistoryEngine()) as d:
        screen = await searched(d, "/search boats")
        screen.query_one(Input).value = "tide"
        await d.pilot.press("enter")
        await ended(d, screen)
        assert [record.text for record in screen.records] == ["how high is the tide [/]"]
        await d.pilot.press("enter")
        await d.until(lambda: isinstance(d.app.screen, ReadingScreen))
        assert "/resume " + sid(1) in str(d.app.screen._heading)  # type: ignore[attr-defined]


async def test_a_report_opens_at_its_claim_and_a_finding_at_its_passage(home: Home) -> None:
    engine = HistoryEngine()
    engine.saved(RUN)
    async with driven(engine) as d:
        screen = await searched(d, "/exhaustive rises")
        screen.open_row(0)
        await d.until(lambda: isinstance(d.app.screen, ReadingScreen))
        shown = str(d.app.screen._text)  # type: ignore[attr-defined]
        assert shown.startswith("F1: The tide rises.")
        assert "The tide on a page." in shown
        await d.pilot.press("escape")
        await d.until(lambda: d.app.screen is screen)
        ref = facade.search_history({"terms": "tide", "kinds": ("report",)}).records[0].ref
        d.app.send(f"/open {ref}")
        await d.until(lambda: isinstance(d.app.screen, ReportScreen))
        assert d.app.screen.run_id == RUN  # type: ignore[attr-defined]


@pytest.mark.parametrize("line", ["/open", "/open ddref1:x", "/deep 0"])
async def test_what_is_wrong_is_said(home: Home, line: str) -> None:
    async with driven(HistoryEngine()) as d:
        await d.say(line)
        assert d.notices[-1]
        assert d.app.screen is d.app.research


async def test_a_search_that_cannot_be_understood_says_so_where_one_looks(home: Home) -> None:
    async with driven(HistoryEngine()) as d:
        screen = await searched(d, "/search (tide")
        assert "parenthesis" in text(screen, "#history-note").lower()


class SlowControl:
    """Counts who stopped it."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.reasons: list[str] = []

    def stop(self, reason: str) -> None:
        self.reasons.append(reason)
        self.reason = self.reason or reason


class SlowEngine(HistoryEngine):
    """A search that goes on until it is stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.controls: list[SlowControl] = []

    def search_control(self) -> SlowControl:  # type: ignore[override]
        self.controls.append(SlowControl())
        return self.controls[-1]

    async def stream_history(self, options: Any, settings: Any, control: SlowControl) -> Any:  # type: ignore[override]
        while control.reason is None:
            await asyncio.sleep(0.002)
        async for event in facade.stream_history(options, settings):
            yield event


async def test_escape_stops_first_and_closes_then(home: Home) -> None:
    engine = SlowEngine()
    async with driven(engine) as d:
        d.app.send("/search tide")
        await d.until(lambda: isinstance(d.app.screen, SearchScreen) and engine.controls)
        screen = d.app.screen
        assert isinstance(screen, SearchScreen)
        screen.action_close()
        assert "stopping" in text(screen, "#history-status")
        await d.until(lambda: screen.summary is not None)
        assert engine.controls[0].reasons == ["answer_now"]
        await d.pilot.press("escape")
        await d.until(lambda: d.app.screen is d.app.research)


async def test_a_new_search_replaces_the_one_that_goes_on(home: Home) -> None:
    engine = SlowEngine()
    async with driven(engine) as d:
        d.app.send("/search tide")
        await d.until(lambda: isinstance(d.app.screen, SearchScreen) and engine.controls)
        screen = d.app.screen
        assert isinstance(screen, SearchScreen)
        screen.query_one(Input).value = "boats"
        await d.pilot.press("enter")
        await d.until(lambda: len(engine.controls) == 2)
        assert engine.controls[0].reasons == ["replacement"]
        engine.controls[1].stop("answer_now")
        await d.until(lambda: screen.summary is not None)
        assert [record.text for record in screen.records] == ["boats and sails"]


async def recalled(d: Driven) -> RecallScreen:
    await d.pilot.press("ctrl+r")
    await d.until(lambda: isinstance(d.app.screen, RecallScreen) and d.app.screen._loaded)
    screen = d.app.screen
    assert isinstance(screen, RecallScreen)
    return screen


async def test_an_earlier_prompt_is_taken_up(home: Home) -> None:
    async with driven(HistoryEngine()) as d:
        screen = await recalled(d)
        assert [record.text for record in screen.shown] == ["boats and sails", "how high is the tide [/]"]
        await d.pilot.press(*"HIGH")
        assert [record.text for record in screen.shown] == ["how high is the tide [/]"]
        await d.pilot.press("enter")
        await d.until(lambda: d.app.screen is d.app.research)
        assert d.app.research.prompt.text == "how high is the tide [/]"


async def test_where_to_look_goes_from_session_over_run_to_everywhere(home: Home) -> None:
    home.prompt("a tide of this run", 2, run_id=RUN)
    async with driven(HistoryEngine()) as d:
        d.app.controller.session_id = sid(2)
        screen = await recalled(d)
        screen.run_id = RUN
        assert (screen.mode, len(screen.shown)) == ("session", 2)
        await d.pilot.press("ctrl+r")
        assert (screen.mode, [r.text for r in screen.shown]) == ("run", ["a tide of this run"])
        await d.pilot.press("ctrl+r")
        assert (screen.mode, len(screen.shown)) == ("everywhere", 3)
        await d.pilot.press("down", "down", "up", "pagedown", "escape")
        await d.until(lambda: d.app.screen is d.app.research)
        assert d.app.research.prompt.text == ""


async def test_a29_ten_thousand_prompts_are_shown_and_narrowed_at_once(home: Home) -> None:
    with home.roots.history.open("a") as file:
        file.writelines(
            f'{{"v":1,"ts":"2026-02-01T00:00:00Z","session_id":"{sid(n)}","text":"prompt {n} of the tide"}}\n' for n in range(10_000)
        )
    async with driven(HistoryEngine()) as d:
        screen = await recalled(d)
        assert len(screen.shown) == 10_002
        for words in ("tide", "prompt 99", ""):
            screen.query_one(Input).value = words
            screen.narrow()
        await d.settle()
        rows = screen.query_one(RowList)
        screen.action_page(400)
        screen.action_page(400)
        await d.pilot.pause(0)
        assert rows.place == 10_001
        assert rows.scroll_offset.y > 9_000
        drawn = [rows.render_line(y).text for y in range(3)]
        assert all("tide" in line for line in drawn)


async def test_typed_commands_come_into_the_prompt_history(home: Home) -> None:
    async with driven(HistoryEngine()) as d:
        await searched(d, "/search depth")
        await left(d)
        await d.say("/depth deep")
        await d.until(lambda: "/depth deep" in home.roots.history.read_text())
        row = facade.search_history({"terms": '"/depth deep"'}).records[0]
        assert row.text == "/depth deep"
        assert "/search" not in home.roots.history.read_text()
        assert '"surface": "tui", "kind": "command"' in home.roots.history.read_text()


async def test_a_click_opens_its_row(home: Home) -> None:
    async with driven(HistoryEngine()) as d:
        await searched(d, "/search tide")
        await d.pilot.click(RowList, offset=(5, 0))
        await d.until(lambda: isinstance(d.app.screen, ReadingScreen))


def test_a_row_begins_a_little_before_the_match_on_one_safe_line(home: Home) -> None:
    home.prompt("word " * 100 + "\x1b[31mzebra\n" + "word " * 100, 1)
    row = row_of(facade.search_history({"terms": "zebra"}).records[0])
    assert "zebra" in row[:110]
    assert "\x1b" not in row
    assert "\n" not in row


EMPTY = {
    "no_prompt_match": "/search cheese",
    "no_candidate_conversation": "/deep cheese",
    "no_selected_conversation_match": '/deep tide NOT "nothing of the sort" cheese',
    "no_exhaustive_match": "/exhaustive cheese",
}


@pytest.mark.parametrize("outcome", EMPTY)
def test_a27_the_four_empty_panels(home: Home, snap_compare: Any, outcome: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    app = make_app(HistoryEngine())
    app.animation_level = "none"

    async def shot(pilot: Any) -> None:
        for _ in range(400):
            if app.controller.loaded is not None and app.research.sidebar is not None:
                break
            await asyncio.sleep(0.005)
        app.send(EMPTY[outcome])
        for _ in range(400):
            screen = app.screen
            if isinstance(screen, SearchScreen) and screen.summary is not None:
                assert screen.summary.outcome == outcome
                break
            await asyncio.sleep(0.005)
        screen.query_one(Input).cursor_blink = False
        await pilot.pause(0)

    assert snap_compare(app, terminal_size=(100, 24), run_before=shot)

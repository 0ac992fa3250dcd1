"""Runs, sessions, help, log, sidebar and palette: every key."""

import pytest
from textual.binding import Binding
from textual.widgets import DataTable, Static, TabbedContent

from deepdelve.core import events as ev
from deepdelve.core.records import Source
from deepdelve.tui import keys
from deepdelve.tui.handler import EventHandler, log_line, merged
from deepdelve.tui.screens.files import FilesScreen, size
from deepdelve.tui.screens.reading import ReadingScreen
from deepdelve.tui.screens.report import ReportScreen
from deepdelve.tui.screens.runs import RunsScreen
from deepdelve.tui.screens.sessions import SessionsScreen
from deepdelve.tui.view import replay, said
from deepdelve.tui.view_state import Meter, ViewState
from deepdelve.tui.widgets.bars import bar, bars
from deepdelve.tui.widgets.plan_tree import plan_text
from deepdelve.tui.widgets.sidebar import TABS, Sidebar
from deepdelve.tui.widgets.source_list import source_line
from deepdelve.tui.widgets.status_line import StatusLine, fit, meter_text

from .fake_engine import QUESTION, FakeEngine, research_events
from .support import Driven, driven

OLD, NEW = "20260101_000001_aaaaaa", "20260102_000001_bbbbbb"


def engine() -> FakeEngine:
    made = FakeEngine()
    made.saved(OLD, "Old [/] question?", session_id="session-7")
    made.saved(NEW, session_id="session-8")
    return made


async def runs(d: Driven) -> RunsScreen:
    await d.say("/runs")
    await d.until(lambda: isinstance(d.app.screen, RunsScreen))
    await d.settle()
    screen = d.app.screen
    assert isinstance(screen, RunsScreen)
    return screen


def note(screen: RunsScreen) -> str:
    return str(screen.query_one("#table-note", Static).content)


async def test_runs_are_listed_newest_first() -> None:
    async with driven(engine()) as d:
        screen = await runs(d)
        table = screen.query_one(DataTable)
        assert [str(cell) for cell in table.get_row_at(1)] == ["Old [/] question?", "✓ verified", "2025-10-09 08:53", "3", "1/3", "42 s"]


async def test_enter_opens_the_report_of_a_run() -> None:
    async with driven(engine()) as d:
        await runs(d)
        await d.pilot.press("down", "enter")
        await d.until(lambda: isinstance(d.app.screen, ReportScreen))
        assert d.app.screen.run_id == OLD  # type: ignore[attr-defined]


async def test_r_resumes_v_verifies_f_follows_up() -> None:
    async with driven(engine()) as d:
        await runs(d)
        await d.pilot.press("r")
        await d.until(lambda: ("resume", NEW) in d.engine.calls)
        await d.finished()
        await runs(d)
        await d.pilot.press("v")
        await d.until(lambda: ("verify", NEW) in d.engine.calls)
        await runs(d)
        await d.pilot.press("down", "f")
        await d.until(lambda: d.app.controller.state.run_id == OLD)
        await d.settle()
        assert d.app.screen is d.app.research
        await d.say("Why?")
        await d.finished()
        assert d.engine.calls[-1] == ("ask", OLD, "Why?")


async def test_d_deletes_only_after_a_second_press() -> None:
    async with driven(engine()) as d:
        screen = await runs(d)
        await d.pilot.press("d")
        assert "Press d again" in note(screen)
        await d.pilot.press("escape")
        assert note(screen) == "Kept."
        await d.pilot.press("d", "down")
        assert note(screen) == "Kept."
        await d.pilot.press("d", "d")
        await d.settle()
        assert d.engine.calls == [("delete", OLD)]
        assert screen.query_one(DataTable).row_count == 1


async def test_an_empty_list_says_what_to_do_and_takes_no_wish() -> None:
    async with driven() as d:
        screen = await runs(d)
        assert note(screen) == "No run yet. Esc goes back; ask a question."
        for key in ("enter", "r", "f", "v", "d"):
            await d.pilot.press(key)
        assert d.app.screen is screen


async def test_a_session_is_opened_and_can_be_asked() -> None:
    async with driven(engine()) as d:
        await d.say("/sessions")
        await d.until(lambda: isinstance(d.app.screen, SessionsScreen))
        await d.pilot.press("enter")
        await d.until(lambda: d.app.controller.session_id)
        await d.settle()
        assert d.app.controller.state.report


@pytest.mark.parametrize(("key", "tab"), [("f2", "plan"), ("f3", "sources"), ("f4", "checks"), ("f5", "claims"), ("f6", "activity")])
async def test_keys_of_the_tabs(key: str, tab: str) -> None:
    async with driven(size=(80, 24)) as d:
        sidebar = d.app.research.query_one(Sidebar)
        assert not sidebar.display or sidebar.styles.display == "none"
        await d.pilot.press(key)
        await d.settle()
        assert sidebar.query_one(TabbedContent).active == tab
        assert sidebar.styles.display == "block"
        await d.pilot.press("escape")
        assert sidebar.styles.display == "none"
        assert d.app.research.prompt.has_focus


async def test_ctrl_b_hides_and_shows_the_sidebar_where_there_is_room() -> None:
    async with driven(size=(120, 40)) as d:
        sidebar = d.app.research.query_one(Sidebar)
        assert sidebar.styles.display == "block"
        await d.pilot.press("ctrl+b")
        assert sidebar.styles.display == "none"
        await d.pilot.press("ctrl+b")
        assert sidebar.styles.display == "block"


async def test_enter_on_a_source_shows_its_stored_text() -> None:
    async with driven(engine()) as d:
        await d.app.controller.show_run(NEW)
        await d.pilot.press("f3")
        await d.settle()
        await d.pilot.press("down", "enter")
        await d.until(lambda: isinstance(d.app.screen, ReadingScreen))
        shown = "\n".join(str(widget.content) for widget in d.app.screen.query(Static))
        assert "kept a COP above 2.0" in shown
        assert "Field trial" in shown


async def test_ctrl_o_opens_the_report_and_ctrl_l_goes_to_the_prompt() -> None:
    async with driven(engine()) as d:
        await d.app.controller.show_run(NEW)
        await d.settle()
        await d.pilot.press("ctrl+o")
        await d.until(lambda: isinstance(d.app.screen, ReportScreen))
        await d.pilot.press("escape")
        d.app.research.query_one("#transcript").focus()
        await d.pilot.press("ctrl+l")
        assert d.app.research.prompt.has_focus


async def test_f1_tells_of_the_focused_widget() -> None:
    async with driven() as d:
        await d.pilot.press("f1")
        await d.settle()
        assert d.notices[-1].startswith("Ask a question and press Enter.")


async def test_the_log_shows_the_last_events() -> None:
    async with driven() as d:
        await d.say(QUESTION)
        await d.finished()
        await d.pilot.press("escape")
        await d.pilot.press("ctrl+backslash")
        await d.until(lambda: isinstance(d.app.screen, ReadingScreen))
        shown = "\n".join(str(widget.content) for widget in d.app.screen.query(Static))
        assert f"1 RunStarted {QUESTION}" in shown
        await d.pilot.press("q")
        assert d.app.screen is d.app.research


async def test_the_palette_has_every_command() -> None:
    async with driven() as d:
        commands = {command.title: command for command in d.app.get_system_commands(d.app.screen)}
        assert "/depth quick|standard|deep" in commands
        commands["/depth quick|standard|deep"].callback()
        assert d.app.research.prompt.text == "/depth "
        commands["/runs"].callback()
        await d.until(lambda: isinstance(d.app.screen, RunsScreen))


def test_every_binding_has_a_name_of_its_own() -> None:
    # Lists may share bindings, such as those of rows.
    lists = [value for value in vars(keys).values() if isinstance(value, list)]
    names = [binding.id for binding in {id(item): item for value in lists for item in value if isinstance(item, Binding)}.values()]
    assert all(names)
    assert len(set(names)) == len(names)


async def test_a_key_of_the_settings_moves_a_binding() -> None:
    from deepdelve.config import Settings

    settings = Settings()
    settings.ui.keys = {"research.sidebar": "f8"}
    async with driven(settings=settings) as d:
        await d.pilot.press("f8")
        assert d.app.research.has_class("-no-sidebar")


async def files(d: Driven) -> FilesScreen:
    await d.say(f"/files {NEW}")
    await d.until(lambda: isinstance(d.app.screen, FilesScreen))
    await d.settle()
    screen = d.app.screen
    assert isinstance(screen, FilesScreen)
    return screen


async def test_files_of_a_run_are_listed_with_size_and_meaning() -> None:
    async with driven(engine()) as d:
        table = (await files(d)).query_one(DataTable)
        assert [str(cell) for cell in table.get_row_at(1)] == ["sources/S1.pdf", "2.3 MB", "a source"]
        await d.pilot.press("escape")
        assert d.app.screen is d.app.research


async def test_enter_reads_a_file_and_y_copies_its_name() -> None:
    async with driven(engine()) as d:
        await files(d)
        await d.pilot.press("y", "enter")
        await d.until(lambda: isinstance(d.app.screen, ReadingScreen))
        assert d.app.clipboard == "final_report.md"
        assert "[/] text of final_report.md" in str(d.app.screen.query_one("#reading Static", Static).content)


async def test_a_file_that_is_no_text_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven(engine()) as d:
        said: list[str] = []
        monkeypatch.setattr(d.app, "notify", lambda text, **options: said.append(text))
        screen = await files(d)
        await d.pilot.press("down", "enter")
        await d.until(lambda: said)
        assert said == ["sources/S1.pdf is no text. It is kept elsewhere."]
        assert d.app.screen is screen


@pytest.mark.parametrize(("number", "shown"), [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1.0 kB"), (2_500_000_000_000, "2500.0 GB")])
def test_sizes_are_short(number: int, shown: str) -> None:
    assert size(number) == shown


def test_the_status_line_leaves_out_from_the_end_what_does_not_fit() -> None:
    assert fit(["a", "bb", "ccc"], 6) == "a │ bb"
    assert fit([], 10) == ""


def test_meters_read_without_colour() -> None:
    assert meter_text(Meter("search", 3, 20)) == "search ▰▱▱▱▱ 3/20"
    assert meter_text(Meter("tokens", 12_300, 0)) == "tokens 12.3k"
    assert Meter("x", 5, 2).share == 1.0


async def test_the_status_line_tells_of_a_cut_context() -> None:
    async with driven() as d:
        state = replay(research_events("r1", QUESTION))
        from dataclasses import replace

        d.app.handler.replace(replace(state, truncated=True))
        await d.app.handler.flush()
        assert "! context was cut" in str(d.app.research.query_one(StatusLine).content)


def test_plan_and_sources_say_state_in_words() -> None:
    text = plan_text(replay(research_events("r1", QUESTION))).plain
    assert "✓ performance done" in text
    assert "✗ cost failed: No source speaks of cost." in text
    assert plan_text(ViewState()).plain == "No plan yet."
    blocked = Source(id="S3", url="https://a.example/x", state="blocked", reason="a login page")
    assert "blocked (a login page)" in source_line(blocked, 2).plain
    assert "dropped" in source_line(blocked, 0, dropped=True).plain


def test_bars() -> None:
    assert (bar(1, 4), bar(0, 4), bar(0.5, 4), bar(7, 4)) == ("████", "", "██", "████")
    lines = [line.plain for line in bars({"a": 1, "b": 4, **{f"n{n}": 0 for n in range(20)}}, str, limit=3)]
    assert lines[0].startswith("b")
    assert lines[-1].startswith("20 others")
    assert bars({}, str) == []


def test_neighbouring_deltas_of_one_stream_are_joined() -> None:
    deltas = [ev.TextDelta(role="Planner", text=char) for char in "abc"]
    other = ev.TextDelta(dispatch="d", role="Searcher", text="x")
    thought = ev.ThinkingDelta(role="Planner", text="t")
    joined = merged([*deltas, other, thought, ev.Notice(text="n"), *deltas])
    assert [getattr(event, "text", "") for event in joined] == ["abc", "x", "t", "n", "abc"]


def test_a_delta_that_takes_text_back_drops_what_waits_of_its_stream_and_nothing_else() -> None:
    thinking, back, more = (ev.TextDelta(role="Planner", text=text, replace=text == "b") for text in "abc")
    joined = merged([ev.TextDelta(dispatch="d", role="Searcher", text="x"), thinking, back, more])
    assert [(event.text, event.replace) for event in joined if isinstance(event, ev.TextDelta)] == [("x", False), ("bc", True)]
    # What was shown before, by an event that has been handed on already, is taken back by the flag.
    assert [event.replace for event in merged([back]) if isinstance(event, ev.TextDelta)] == [True]


async def test_a_change_of_the_view_loses_nothing_that_was_posted_before() -> None:
    async def show(old: ViewState, new: ViewState) -> None:
        return

    handler = EventHandler(show, lambda error: None)
    handler.post(ev.Notice(text="posted"))
    handler.change(lambda newest: said(newest, "then said"))
    assert [block.text for block in handler.state.blocks] == ["posted", "then said"]  # type: ignore[union-attr]


def test_log_lines_are_short_and_clean() -> None:
    assert log_line(ev.Notice(seq=3, text="a\x1b[31m\nb")) == "3 Notice a b"
    assert len(log_line(ev.Message(role="Planner", text="x" * 10_000))) < 300


def test_tabs_are_five() -> None:
    assert TABS == ("plan", "sources", "checks", "claims", "activity")

"""The main path through the app, driven by Pilot."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Markdown

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError, ConfigError
from deepdelve.tui import blocks as bl
from deepdelve.tui.app import DeepDelveApp
from deepdelve.tui.widgets.prompt import Prompt

from .fake_engine import QUESTION, FakeEngine
from .support import Driven, driven, make_app


async def test_a_question_becomes_a_run_and_its_report_opens() -> None:
    async with driven() as d:
        await d.say(QUESTION)
        await d.finished()
        assert d.engine.requests[0].question == QUESTION
        assert d.engine.requests[0].surface == "tui"
        assert d.engine.requests[0].session_id == d.app.controller.session_id == "session-1"
        await d.until(lambda: d.app.screen is not d.app.research)
        await d.pilot.press("escape")
        assert d.app.screen is d.app.research
        assert d.app.controller.state.outcome == "verified"


async def test_the_report_does_not_open_over_a_message_being_written() -> None:
    engine = FakeEngine()
    engine.hold_at = "RunEnded"
    async with driven(engine) as d:
        await d.say(QUESTION)
        d.app.research.prompt.put("half a thought")
        engine.released.set()
        await d.finished()
        assert d.app.screen is d.app.research


async def test_a_follow_up_is_asked_of_the_report() -> None:
    async with driven() as d:
        await d.say(QUESTION)
        await d.finished()
        await d.say("Does output drop?")
        await d.finished()
        assert d.engine.calls[-1] == ("ask", d.app.controller.state.run_id, "Does output drop?")
        assert isinstance(d.app.controller.state.blocks[-1], bl.AnswerBlock)
        assert not d.app.research.query(Markdown)


async def test_a_message_during_research_is_a_steer() -> None:
    engine = FakeEngine()
    engine.hold_at = "CheckVerdict"
    async with driven(engine) as d:
        await d.say(QUESTION)
        await d.say("Leave out press releases.")
        assert [(command.kind, command.text) for command in engine.handles[0].commands] == [("instruction", "Leave out press releases.")]
        engine.released.set()
        await d.finished()


async def test_a_message_during_an_answer_waits_with_a_reason() -> None:
    engine = FakeEngine()
    async with driven(engine) as d:
        await d.say(QUESTION)
        await d.finished()
        engine.hold_at = "FollowUp"
        await d.say("One?")
        await d.say("Two?")
        assert any("still being written" in text for text in d.notices)
        engine.released.set()
        await d.finished()


@pytest.mark.parametrize("how", ["escape", "/stop"])
async def test_stopping_keeps_everything_and_offers_a_report(how: str) -> None:
    engine = FakeEngine()
    engine.hold_at = "CheckVerdict"
    async with driven(engine) as d:
        await d.say(QUESTION)
        await d.until(lambda: len(d.app.controller.state.sources) == 3)
        if how == "escape":
            await d.pilot.press("escape")
        else:
            await d.say(how)
        await d.finished()
        assert d.app.controller.state.outcome == "stopped"
        assert any("3 sources kept" in text and "/finish" in text for text in d.notices)
        await d.say("/finish")
        await d.finished()
        assert d.app.controller.state.outcome == "partial"


async def test_stopping_an_answer_leaves_the_report_as_it_was() -> None:
    engine = FakeEngine()
    async with driven(engine) as d:
        await d.say(QUESTION)
        await d.finished()
        engine.hold_at = "FollowUp"
        await d.say("Why?")
        await d.pilot.press("escape")
        await d.finished()
        assert d.notices[-1] == "Stopped; what was there before is unchanged."
        assert d.app.controller.state.outcome == "verified"
        engine.hold_at = ""
        await d.say("Why then?")
        await d.finished()
        assert isinstance(d.app.controller.state.blocks[-1], bl.AnswerBlock)


async def test_escape_while_a_run_is_being_started_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeEngine()

    async def slow(*args: Any) -> Any:
        await engine.released.wait()

    monkeypatch.setattr(engine, "start", slow)
    async with driven(engine) as d:
        d.app.send(QUESTION)
        await d.until(lambda: d.app.controller._starting is not None)
        await d.pilot.press("escape")
        await d.settle()
        assert d.notices == ["Stopped before it began."]
        assert not d.app.controller.busy


async def test_a_message_after_a_stop_goes_on_with_the_same_run() -> None:
    engine = FakeEngine()
    engine.hold_at = "CheckVerdict"
    async with driven(engine) as d:
        await d.say(QUESTION)
        await d.pilot.press("escape")
        await d.finished()
        engine.hold_at = ""
        run_id = d.app.controller.state.run_id
        await d.say("Look at cost too.")
        await d.finished()
        assert ("resume", run_id) in engine.calls
        assert engine.handles[-1].commands[0].text == "Look at cost too."


async def test_a_run_that_breaks_is_a_message_and_the_app_goes_on() -> None:
    engine = FakeEngine()
    engine.wait_error = ValueError("bad [/] thing")
    async with driven(engine) as d:
        await d.say(QUESTION)
        await d.finished()
        assert any("ValueError: bad [/] thing" in text for text in d.notices)
        engine.wait_error = BackendError("The server is gone.", "Start it.", cause="unreachable")
        await d.say("/new")
        await d.say(QUESTION)
        await d.finished()
        assert d.notices[-1] == "The server is gone. Start it."
        engine.wait_error = None
        await d.say("/new")
        await d.say(QUESTION)
        await d.finished()
        assert d.app.controller.state.outcome == "verified"


async def test_an_engine_that_cannot_be_loaded_is_a_message() -> None:
    async def load() -> Any:
        raise ImportError("no module")

    app = make_app(FakeEngine())
    app.controller._load = load
    async with app.run_test() as pilot:
        for _ in range(50):
            await pilot.pause(0.01)
            if app.controller.state.blocks:
                break
        texts = [block.text for block in app.controller.state.blocks if isinstance(block, bl.NoticeBlock)]
        assert texts == ["The engine cannot be loaded (no module). Install deepdelve again."]


async def test_the_prompt_of_the_command_line_is_sent() -> None:
    async with driven(prompt=QUESTION) as d:
        await d.until(lambda: d.engine.requests)
        await d.finished()
        assert d.engine.requests[0].question == QUESTION


async def test_a_session_of_the_command_line_is_opened() -> None:
    engine = FakeEngine()
    engine.saved("20260101_000001_aaaaaa", session_id="session-7")
    async with driven(engine, resume_session="session-7") as d:
        await d.until(lambda: d.app.controller.state.run_id)
        assert d.app.controller.session_id == "session-7"


async def test_a_session_with_a_lost_run_opens_with_the_others() -> None:
    engine = FakeEngine()
    engine.saved("20260101_000001_aaaaaa", session_id="session-7")
    sessions = engine.list_sessions()
    engine.list_sessions = lambda limit=200: [replace(sessions[0], runs=("20250101_000000_gone00", *sessions[0].runs))]
    async with driven(engine, resume_session="session-7") as d:
        await d.until(lambda: d.app.controller.state.run_id)
        await d.until(lambda: "There is no run 20250101_000000_gone00" in str(d.app.controller.state))
        assert d.app.controller.state.run_id == "20260101_000001_aaaaaa"


async def test_a_run_of_the_command_line_is_taken_up() -> None:
    engine = FakeEngine()
    engine.saved("20260101_000001_aaaaaa")
    async with driven(engine, resume_run="20260101_000001_aaaaaa") as d:
        await d.until(lambda: ("resume", "20260101_000001_aaaaaa") in engine.calls)
        await d.finished()


async def test_an_interrupted_run_is_told_of_at_the_start() -> None:
    engine = FakeEngine()
    events = ev.RunStarted(run_id="r9", question="Half done?")
    engine.saved("20260101_000009_aaaaaa", events=[events])
    async with driven(engine) as d:
        await d.until(lambda: d.notices)
        assert "Half done?" in d.notices[0]
        assert "/resume-run 20260101_000009_aaaaaa" in d.notices[0]


async def test_a_home_that_cannot_be_read_is_a_message_and_the_question_is_still_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeEngine()

    def closed(limit: int = 200) -> Any:
        raise PermissionError("no entry")

    monkeypatch.setattr(engine, "list_runs", closed)
    async with driven(engine, prompt=QUESTION) as d:
        await d.until(lambda: engine.requests)
        await d.finished()
        assert any("PermissionError: no entry" in text for text in d.notices)


async def test_live_and_replayed_transcripts_are_the_same() -> None:
    async with driven() as d:
        await d.say(QUESTION)
        await d.finished()
        live = d.app.controller.state
        await d.app.controller.show_run(live.run_id)
        replayed = d.app.controller.state
        named = [type(block).__name__ for block in replayed.blocks]
        assert named == [type(block).__name__ for block in live.blocks if not isinstance(block, bl.ThinkingBlock)]
        assert replayed.claims == live.claims


@pytest.mark.parametrize("size", [(80, 24), (60, 15), (200, 60), (20, 5)])
async def test_every_size_works(size: tuple[int, int]) -> None:
    async with driven(size=size) as d:
        await d.say(QUESTION)
        await d.finished()
        await d.pilot.press("escape")
        await d.pilot.press("ctrl+b")
        await d.settle()
        assert d.app.is_running


async def test_quitting_stops_the_run() -> None:
    engine = FakeEngine()
    engine.hold_at = "CheckVerdict"
    async with driven(engine) as d:
        await d.say(QUESTION)
        await d.pilot.press("ctrl+q")
        assert engine.handles[0].commands[0].kind == "stop"


async def test_the_first_frame_comes_before_the_engine() -> None:
    order: list[str] = []
    app: DeepDelveApp

    async def load() -> Any:
        order.append(f"engine, prompt there: {bool(app.research.query(Prompt))}")
        return FakeEngine()

    app = make_app(FakeEngine())
    app.controller._load = load
    async with app.run_test() as pilot:
        for _ in range(50):
            await pilot.pause(0.01)
            if order:
                break
    assert order == ["engine, prompt there: True"]


FIRST_FRAME = """
import sys
from deepdelve.tui.app import DeepDelveApp
class First(DeepDelveApp):
    async def _begin(self):
        heavy = ("pydantic", "deepdelve.config", "deepdelve.core.events", "deepdelve.core.records", "deepdelve.engine", "agent_framework", "httpx")
        print(sorted(name for name in sys.modules if name in heavy), file=sys.__stdout__)
        self.exit(0)
First(lambda: None).run(headless=True)
"""


def test_the_first_frame_is_painted_before_settings_events_and_engine_are_imported(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": ".typecheck", "DEEPDELVE_HOME": str(tmp_path), "TERM": "xterm"}
    done = subprocess.run([sys.executable, "-c", FIRST_FRAME], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_settings_are_read_behind_the_first_frame() -> None:
    asked: list[str] = []

    def read() -> Settings:
        asked.append("read")
        settings = Settings()
        settings.ui.theme = "textual-light"
        settings.ui.keys = {"research.sidebar": "f8"}
        return settings

    app = make_app(FakeEngine(), read)
    assert asked == []
    async with app.run_test() as pilot:
        await until_wired(app, pilot)
        assert asked == ["read"]
        assert app.theme == "textual-light"
        await pilot.press("f8")
        assert app.research.has_class("-sidebar")


async def test_what_is_sent_before_the_app_is_ready_waits() -> None:
    engine = FakeEngine()
    app = make_app(engine, Settings())
    async with app.run_test() as pilot:
        app.send(QUESTION)
        await until_wired(app, pilot)
        for _ in range(400):
            if engine.requests:
                break
            await pilot.pause(0.01)
        assert engine.requests[0].question == QUESTION


async def test_wrong_settings_open_the_app_and_no_research_goes_by_them() -> None:
    readable = False

    def read() -> Settings:
        if not readable:
            raise ConfigError("There is no setting 'api.bakend'.", "Did you mean 'api.backend'?")
        return Settings.model_validate({"settings": {"depth": "quick"}})

    engine = FakeEngine()
    app = make_app(engine, read)
    async with app.run_test() as pilot:
        await until_wired(app, pilot)
        d = Driven(app, engine, pilot)
        assert "api.bakend" in d.notices[0]
        await d.say(QUESTION)
        assert not engine.requests
        assert "api.bakend" in d.notices[-1]
        readable = True
        await d.say(QUESTION)
        await d.finished()
        assert engine.requests[0].question == QUESTION
        assert app.controller.settings.settings.depth == "quick"


async def until_wired(app: DeepDelveApp, pilot: Any) -> None:
    for _ in range(400):
        if app._wired.is_set():
            break
        await pilot.pause(0.01)
    await pilot.pause()


async def test_what_would_keep_a_run_from_starting_is_said_at_once() -> None:
    class Looking(FakeEngine):
        async def at_opening(self, settings: Settings) -> list[str]:
            return ["No server [/] is there."]

    async with driven(Looking()) as d:
        assert d.notices == ["No server [/] is there."]
    async with driven(Looking(), prompt="Q?") as d:
        await d.finished()
        assert "No server [/] is there." not in d.notices

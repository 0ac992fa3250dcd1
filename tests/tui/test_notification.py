"""The notification at the end of a run: when, how, and that the question in it is never a control sequence."""

from dataclasses import replace

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.tui.notification import BELL, LONG_SECONDS, known, sequence, wanted

from .fake_engine import QUESTION, FakeEngine, research_events
from .support import Driven, driven


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        ({"TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"}, "osc9"),
        ({"TERM_PROGRAM": "WezTerm"}, "osc9"),
        ({"TERM": "xterm-kitty"}, "osc9"),
        ({"ConEmuANSI": "ON"}, "osc9"),
        ({"TERM": "foot"}, "osc777"),
        ({"TERM": "rxvt-unicode-256color"}, "osc777"),
        ({"TERM": "xterm-256color"}, "bell"),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/tmux"}, "bell"),
        ({"TERM": "screen-256color"}, "bell"),
        ({}, "bell"),
    ],
)
def test_auto_takes_what_the_terminal_is_known_to_understand(environment: dict[str, str], kind: str) -> None:
    assert known(environment) == kind


def test_each_kind_has_its_sequence_and_rings() -> None:
    assert sequence("osc9", "DeepDelve", "done", {}) == f"\x1b]9;DeepDelve: done{BELL}{BELL}"
    assert sequence("osc777", "DeepDelve", "done", {}) == f"\x1b]777;notify;DeepDelve;done{BELL}{BELL}"
    assert sequence("bell", "DeepDelve", "done", {"TERM": "foot"}) == BELL
    assert sequence("auto", "DeepDelve", "done", {"TERM": "foot"}).startswith("\x1b]777;")


@pytest.mark.parametrize("bomb", ["\x07\x1b]0;owned\x07", "a;b;c", "\x1b\\\x9c\x90", "line\nline\r", "\u202eabc", "x" * 5_000])
@pytest.mark.parametrize("kind", ["osc9", "osc777"])
def test_outside_text_cannot_end_the_sequence(kind: str, bomb: str) -> None:
    told = sequence(kind, "DeepDelve", bomb, {})  # type: ignore[arg-type]
    inside = told[2:-2]
    assert all(char.isprintable() for char in inside)
    assert inside.count(";") == (1 if kind == "osc9" else 3)
    assert len(told) < 250


@pytest.mark.parametrize(
    ("in_front", "told", "seconds", "expected"),
    [(False, True, 1.0, True), (True, True, 9_999.0, False), (True, False, LONG_SECONDS, True), (True, False, 5.0, False)],
)
def test_it_comes_when_nobody_seems_to_look(in_front: bool, told: bool, seconds: float, expected: bool) -> None:
    assert wanted(in_front=in_front, focus_is_told=told, seconds=seconds) is expected


def long_run(run_id: str, question: str, session_id: str) -> list[ev.Event]:
    *most, end = research_events(run_id, question, session_id)
    return [*most, end.model_copy(update={"seconds": 300.0})]


async def written(d: Driven, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Runs a question and gives what was written to the terminal."""
    told: list[str] = []
    monkeypatch.setattr(d.app, "write_to_terminal", told.append)
    await d.say(QUESTION)
    await d.finished()
    return told


def osc9() -> Settings:
    settings = Settings()
    settings.ui.notify_with = "osc9"
    return settings


async def test_a_run_that_ends_behind_another_window_notifies_with_outcome_and_question(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven(settings=osc9()) as d:
        d.app.app_focus = False
        assert await written(d, monkeypatch) == [f"\x1b]9;DeepDelve: ✓ verified: {QUESTION}\x07\x07"]


async def test_a_short_run_in_sight_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven(settings=osc9()) as d:
        assert await written(d, monkeypatch) == []


async def test_a_long_run_notifies_where_the_terminal_does_not_tell_of_its_focus(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven(FakeEngine(long_run), osc9()) as d:
        assert len(await written(d, monkeypatch)) == 1


async def test_a_long_run_in_sight_is_quiet_where_the_terminal_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven(FakeEngine(long_run), osc9()) as d:
        d.app.on_app_focus()
        assert await written(d, monkeypatch) == []


async def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = osc9()
    settings.ui.notify = False
    async with driven(FakeEngine(long_run), settings) as d:
        d.app.app_focus = False
        assert await written(d, monkeypatch) == []


async def test_a_question_of_control_characters_is_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven(settings=osc9()) as d:
        d.app.app_focus = False
        d.app.handler.replace(replace(d.app.controller.state, question="a\x07\x1b]2;x\x07", outcome="failed"))
        told: list[str] = []
        monkeypatch.setattr(d.app, "write_to_terminal", told.append)
        d.app.run_finished(report=False)
        assert told == ["\x1b]9;DeepDelve: ✗ failed: a\x07\x07"] or all(char.isprintable() for char in told[0][2:-2])

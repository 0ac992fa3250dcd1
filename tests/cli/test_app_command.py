"""The bare command hands its flags to the app and ends with the app's exit code."""

import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

import deepdelve.tui
from deepdelve.cli import app_command
from deepdelve.config import Settings
from tests.cli.fake_facade import RUN_ID, FakeFacade


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """How the app was opened; it ends with 7."""
    calls: list[dict[str, Any]] = []
    app = types.ModuleType("deepdelve.tui.app")

    def run(settings: Settings | Callable[[], Settings], *, prompt: str = "", resume_session: str = "", resume_run: str = "") -> int:
        calls.append(
            {"settings": settings() if callable(settings) else settings, "prompt": prompt, "session": resume_session, "run": resume_run}
        )
        return 7

    app.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, app.__name__, app)
    monkeypatch.setattr(deepdelve.tui, "app", app, raising=False)
    monkeypatch.setattr(app_command, "has_terminal", lambda: True)
    return calls


def test_without_flags_it_opens_empty(opened: list[dict[str, Any]], deepdelve_says) -> None:
    assert deepdelve_says().code == 7
    assert opened == [{"settings": Settings(), "prompt": "", "session": "", "run": ""}]


def test_flags_reach_the_app(opened: list[dict[str, Any]], deepdelve_says) -> None:
    flags = ["--style", "academic", "--depth", "deep", "--backend", "builtin", "--corpus", "a", "--corpus", "b"]
    deepdelve_says("-p", " Do heat pumps work? ", *flags)
    (call,) = opened
    settings = call["settings"]
    assert call["prompt"] == "Do heat pumps work?"
    assert (settings.settings.report_style, settings.settings.depth, settings.api.backend) == ("academic", "deep", "builtin")
    assert settings.search.corpus == ["a", "b"]


def test_a_session_or_a_run_can_be_opened_again(opened: list[dict[str, Any]], deepdelve_says) -> None:
    deepdelve_says("--resume", "abc")
    deepdelve_says("--resume-run", RUN_ID[:10])
    assert [(call["session"], call["run"]) for call in opened] == [("abc", ""), ("", RUN_ID)]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [(["--resume-run", "nope"], "no run 'nope'"), (["--config", "/nowhere/c.yaml"], "no settings file")],
)
def test_a_fault_is_told_before_the_screen_changes(
    arguments: list[str], word: str, opened: list[dict[str, Any]], deepdelve_says, facade: FakeFacade
) -> None:
    said = deepdelve_says(*arguments)
    assert (said.code, opened) == (2, [])
    assert word in said.err


@pytest.mark.parametrize("closed", ["", "stdin", "stdout", "stderr"])
def test_one_stream_that_is_no_terminal_is_enough_to_refuse(closed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, types.SimpleNamespace(isatty=lambda name=name: name != closed))
    try:
        assert app_command.has_terminal() is (closed == "")
    finally:
        monkeypatch.undo()

"""The doctor's look at the terminal: what the app could not be drawn in is named, with the command that mends it."""

import pytest

from deepdelve.engine.terminal import judge, terminal_finding

WELL = {"TERM": "xterm-256color"}


def found(env=WELL, *, here=True, size=(120, 40), encoding="utf-8", windows=False):
    return judge(env, here=here, size=size, encoding=encoding, windows=windows)


@pytest.mark.parametrize(
    ("env", "colours"),
    [
        (WELL, "256 colours"),
        ({**WELL, "COLORTERM": "truecolor"}, "true colour"),
        ({**WELL, "COLORTERM": "24bit", "NO_COLOR": "1"}, "no colour (NO_COLOR is set)"),
        ({"TERM": "xterm"}, "few colours"),
    ],
)
def test_a_good_terminal_is_described(env, colours):
    finding = found(env)
    assert (finding.name, finding.ok, finding.fix) == ("terminal", True, "")
    assert finding.detail == f"120 columns, 40 rows, {colours}."


@pytest.mark.parametrize("term", ["dumb", "", "unknown"])
def test_a_terminal_that_cannot_draw_is_named_with_its_command(term):
    finding = found({"TERM": term} if term else {})
    assert not finding.ok
    assert finding.fix == "Run: export TERM=xterm-256color"


def test_a_console_of_windows_needs_no_term():
    assert found({}, windows=True).ok


@pytest.mark.parametrize("encoding", ["ascii", "ISO-8859-1", "cp1252", "ANSI_X3.4-1968", ""])
def test_an_encoding_that_lacks_characters_is_named(encoding):
    finding = found(encoding=encoding)
    assert not finding.ok
    assert finding.fix == "Run: export LC_ALL=C.UTF-8"


@pytest.mark.parametrize("size", [(79, 40), (120, 23), (20, 5)])
def test_a_window_that_is_too_small_is_named(size):
    finding = found(size=size)
    assert not finding.ok
    assert "80 by 24" in finding.fix


def test_a_terminal_that_does_not_say_its_size_is_no_fault():
    assert found(size=(0, 0)).detail.startswith("? columns, ? rows")


def test_without_a_terminal_nothing_is_wrong_since_the_command_line_needs_none():
    assert found({}, here=False, encoding="ascii", size=(0, 0)).ok


def test_the_look_at_the_process_itself_never_fails(monkeypatch):
    assert terminal_finding().name == "terminal"
    monkeypatch.setattr("sys.__stdout__", None)
    monkeypatch.setattr("sys.__stdin__", None)
    assert terminal_finding().ok

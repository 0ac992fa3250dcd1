"""The desktop notification at the end of a run, as terminals take it: OSC 9 or OSC 777, and the bell, which all have."""

from collections.abc import Mapping
from typing import Literal

from deepdelve.tui.text import one_line

Kind = Literal["auto", "bell", "osc9", "osc777"]
BELL = "\x07"
# A run this long has probably been left alone, where the terminal does not tell whether its window is in front.
LONG_SECONDS = 60.0
_OSC9_PROGRAMS = {"iTerm.app", "WezTerm", "ghostty"}
_OSC9_TERMS = {"xterm-kitty", "xterm-ghostty"}
_OSC777_TERMS = ("foot", "rxvt")


def sequence(kind: Kind, title: str, body: str, environment: Mapping[str, str]) -> str:
    """What is written to the terminal.

    Args:
        kind: how; ``auto`` looks at the environment and rings the bell alone where a terminal is not known.
        title: who tells.
        body: what is told; outside text is welcome.
        environment: variables such as ``TERM`` and ``TERM_PROGRAM``.
    """
    # A semicolon would end the field, and a control character the sequence.
    title, body = (one_line(text, 160).replace(";", ",") for text in (title, body))
    match known(environment) if kind == "auto" else kind:
        case "osc9":
            return f"\x1b]9;{title}: {body}{BELL}{BELL}"
        case "osc777":
            return f"\x1b]777;notify;{title};{body}{BELL}{BELL}"
        case _:
            return BELL


def known(environment: Mapping[str, str]) -> Kind:
    """What this terminal understands; inside tmux or screen the bell, which they pass on."""
    term = environment.get("TERM", "")
    if environment.get("TMUX") or environment.get("STY") or term.startswith(("screen", "tmux")):
        return "bell"
    if environment.get("TERM_PROGRAM") in _OSC9_PROGRAMS or term in _OSC9_TERMS or environment.get("ConEmuANSI") == "ON":
        return "osc9"
    return "osc777" if term.startswith(_OSC777_TERMS) else "bell"


def wanted(*, in_front: bool, focus_is_told: bool, seconds: float) -> bool:
    """Whether nobody seems to look: the window is not in front, or that is not known and the run was long."""
    return not in_front or (not focus_is_told and seconds >= LONG_SECONDS)

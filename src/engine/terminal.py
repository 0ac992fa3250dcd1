"""Whether the terminal that the process runs in can show the app."""

import os
import sys
from collections.abc import Mapping

from deepdelve.engine.backends.doctor import Finding

# What the app is laid out for.
COLUMNS, ROWS = 80, 24


def terminal_finding() -> Finding:
    """What the process's own terminal can do, also while the app has taken its streams over."""
    ends = (sys.__stdin__, sys.__stdout__)
    try:
        here = all(end is not None and end.isatty() for end in ends)
        size = os.get_terminal_size(1) if here else os.terminal_size((0, 0))
    except (OSError, ValueError):
        here, size = False, os.terminal_size((0, 0))
    encoding = (sys.__stdout__.encoding if sys.__stdout__ is not None else "") or ""
    return judge(os.environ, here=here, size=(size.columns, size.lines), encoding=encoding, windows=os.name == "nt")


def judge(env: Mapping[str, str], *, here: bool, size: tuple[int, int], encoding: str, windows: bool = False) -> Finding:
    """A finding from the facts.

    Args:
        env: the environment.
        here: whether input and output are a terminal.
        size: its columns and rows; 0 where it does not say.
        encoding: that of its output.
        windows: whether it is a console of Windows, which sets no ``TERM``.
    """
    if not here:
        return Finding("terminal", True, "There is none here: the app needs one, 'deepdelve run' does not.")
    term = env.get("TERM", "")
    if not windows and term in ("", "dumb", "unknown"):
        named = f"TERM is '{term}'" if term else "TERM is not set"
        return Finding("terminal", False, f"{named}, so the app cannot draw.", "Run: export TERM=xterm-256color")
    if "utf" not in encoding.lower():
        return Finding(
            "terminal", False, f"Its encoding is {encoding or 'not known'}, which lacks most characters.", "Run: export LC_ALL=C.UTF-8"
        )
    columns, rows = size
    if 0 < columns < COLUMNS or 0 < rows < ROWS:
        return Finding(
            "terminal",
            False,
            f"It has {columns} columns and {rows} rows, fewer than the app is laid out for.",
            f"Make the window at least {COLUMNS} by {ROWS}.",
        )
    return Finding("terminal", True, f"{columns or '?'} columns, {rows or '?'} rows, {_colours(env, term)}.")


def _colours(env: Mapping[str, str], term: str) -> str:
    if env.get("NO_COLOR"):
        return "no colour (NO_COLOR is set)"
    if env.get("COLORTERM", "") in ("truecolor", "24bit"):
        return "true colour"
    return "256 colours" if "256" in term else "few colours"

"""What the first frame needs of the settings: the colours. Read in a moment, without the settings model.

The whole settings are read and checked right after it; what is wrong in them is said then.
"""

import os
from pathlib import Path

DEFAULT_THEME = "textual-dark"
_VARIABLE = "DEEPDELVE_UI__THEME"
_LIMIT = 200_000


def theme(path: Path | None = None) -> str:
    """The theme that variable or settings file name, else the default one; never raises.

    Args:
        path: the settings file; else the user's own.
    """
    named = os.environ.get(_VARIABLE, "").strip()
    if named:
        return named
    home = os.environ.get("DEEPDELVE_HOME", "")
    try:
        file = path or (Path(home).expanduser() if home else Path.home() / ".deepdelve") / "config.yaml"
        with file.open("rb") as opened:
            return _in(opened.read(_LIMIT).decode("utf-8", "replace")) or DEFAULT_THEME
    except (OSError, RuntimeError, ValueError):
        return DEFAULT_THEME


def _in(text: str) -> str:
    """The value of ``theme`` in the group ``ui``, where both stand on lines of their own."""
    inside = False
    for line in text.splitlines():
        bare = line.split(" #", 1)[0].rstrip()
        if bare and not bare.startswith((" ", "\t", "#")):
            inside = bare == "ui:"
        elif inside and bare.strip().startswith("theme:"):
            return bare.split(":", 1)[1].strip().strip("\"'")
    return ""

"""Paths as people give them, on the command line, in the app and in the environment."""

import contextlib
import os
from pathlib import Path

from deepdelve.core.errors import ConfigError, UsageError

HOME_VARIABLE = "DEEPDELVE_HOME"
_SHOWN = 120


def given_path(text: str) -> Path:
    """A path as a person gave it, ``~`` expanded; whether anything is there is for the caller to see.

    Raises:
        UsageError: nothing can be there: it is empty, too long or no path at all, or its folder may not be looked at.
    """
    if not text.strip():
        raise UsageError("A path is empty.", "Name a file or folder.")
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    try:
        path = Path(text).expanduser()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()
    except OSError as error:
        raise UsageError(f"{shown} cannot be looked at ({error.strerror or error}).", "Give a path that can be read.") from None
    except (RuntimeError, ValueError):
        raise UsageError(f"{shown} is no path on this machine.", "Give the path of a file or folder.") from None
    return path


def check_home() -> None:
    """See that ``DEEPDELVE_HOME``, where it is set, names a folder or nothing yet.

    Raises:
        ConfigError: it cannot be the folder in which everything is kept.
    """
    moved = os.environ.get(HOME_VARIABLE, "")
    if not moved:
        return
    try:
        path = given_path(moved)
    except UsageError as error:
        raise ConfigError(f"{HOME_VARIABLE}: {error.message}", "Set it to a folder, or take it away.") from None
    if os.path.lexists(path) and not path.is_dir():
        raise ConfigError(f"{HOME_VARIABLE}: {path} is no folder.", "Set it to a folder, or take it away.")

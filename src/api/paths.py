"""Which folders and files of this machine a request may name."""

from collections.abc import Sequence
from pathlib import Path

from deepdelve.api.guard import is_loopback
from deepdelve.api.problems import ApiError
from deepdelve.config import Settings
from deepdelve.core.errors import UsageError
from deepdelve.core.paths import given_path


def allowed_paths(paths: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """The paths as they may be read.

    Who reaches a server on this machine alone may name any path that this user may read; where it listens beyond this machine, or
    where ``serve.folders`` names folders, only what lies in those.

    Args:
        paths: as the request names them.
        settings: the settings in force.

    Raises:
        ApiError: a path is not open to requests, or no whole path on this machine.
    """
    bounded = bool(settings.serve.folders) or not is_loopback(settings.serve.host)
    open_to = [given_path(folder).resolve() for folder in settings.serve.folders]
    return tuple(_allowed(path, open_to if bounded else None) for path in paths)


def _allowed(path: str, open_to: Sequence[Path] | None) -> str:
    try:
        found = given_path(path)
        resolved = found.resolve()
    except (UsageError, OSError, RuntimeError):
        found = resolved = Path()
    if not found.is_absolute():
        raise ApiError(403, "path_refused", "One of the paths is none on this machine. Give it from the root, or from ~.")
    if open_to is None:
        return str(found)
    if not any(resolved.is_relative_to(folder) for folder in open_to):
        raise ApiError(403, "path_refused", "One of the paths is not open to requests. serve.folders names the folders that are.")
    # What was looked at is what will be read, whatever a link is pointed at meanwhile.
    return str(resolved)

"""The log file: what a person does not need to read, and a crash's traceback."""

import logging
import logging.handlers
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

LOG_BYTES = 1_000_000


def log_file() -> Path:
    """Where the log stands."""
    from deepdelve.config import home

    return home() / "logs" / "deepdelve.log"


class _Masking(logging.Formatter):
    """Formats a record, traceback included, and takes the keys out of it."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """The line or lines of a record."""
        return self._mask(super().format(record))


def start_logging(mask: Callable[[str], str]) -> None:
    """Send warnings of the engine and its libraries to the log file instead of the terminal, without keys."""
    file = log_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(file, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    except OSError:
        # Without a log the work goes on; what a person must know is said on stderr anyway.
        logging.basicConfig(handlers=[logging.NullHandler()], force=True)
        return
    handler.setFormatter(_Masking(mask))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.raiseExceptions = False


def record_crash(error: BaseException) -> str:
    """Write the traceback to the log file; returns the sentence that tells a person where it is."""
    from deepdelve.engine import facade

    file = log_file()
    told = facade.masker()("".join(traceback.format_exception(error)))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8", errors="replace") as log:
            log.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} CRASH\n{told}\n")
    except OSError:
        return f"The log {file} could not be written either; run it again with free disk space."
    return f"The details are in {file}; please report them."

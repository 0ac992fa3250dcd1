"""What goes to stdout: the report, or one JSON object. A reader that has gone away is no error."""

import json
import sys
from typing import TYPE_CHECKING, Any

from deepdelve.cli.text import block
from deepdelve.core.errors import DiskError

if TYPE_CHECKING:
    from deepdelve.core.requests import RunResult


def print_text(text: str) -> None:
    """Print text for a person, made safe, with one line end after it."""
    if text.strip():
        _write(block(text).rstrip("\n") + "\n")


def print_json(value: Any) -> None:
    """Print one JSON value on one line."""
    _write(json.dumps(value, ensure_ascii=False) + "\n")


def result_object(result: "RunResult") -> dict[str, Any]:
    """The ``--json`` object of a run."""
    counts = result.claims
    return {
        "run_id": result.run_id,
        "dir": result.dir,
        "outcome": result.outcome,
        "exit": result.exit,
        "question": result.question,
        "style": result.style,
        "backend": result.backend,
        "citations": [{"n": c.n, "source_id": c.source_id, "url": c.url, "file": c.file} for c in result.citations],
        "claims": {
            "supported": counts.supported,
            "partial": counts.partial,
            "contradicted": counts.contradicted,
            "unsupported": counts.unsupported,
            "unchecked": counts.unchecked,
        },
        "problems": list(result.problems),
        "usage": result.usage,
        "seconds": result.seconds,
    }


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The exit code still tells how the run ended; main() points stdout elsewhere before the interpreter's own flush.
        return
    except OSError as error:
        raise DiskError(
            f"The output cannot be written ({error.strerror or error}).",
            "Send it elsewhere, or free some space; what a run found is kept, and 'deepdelve show latest' prints it.",
        ) from error

"""The child side of ``pool``: reads documents from its input and writes results, until the input closes."""

import contextlib
import json
import os
import signal
import sys
from typing import BinaryIO

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.extracted import Extracted, to_json, unreadable
from deepdelve.tools.web.pool import DEADLINE_S, HEADER, JOBS_PER_WORKER

# Address space, bytes: a 24 MB page needs some 0.6 GB as a tree.
_MEMORY = 1_600_000_000
_IDLE_S = 120


def main() -> None:
    """Serve requests; returns when the parent closes the pipe or has been silent for two minutes."""
    source, sink = _private_pipes()
    _limit_memory()
    for _ in range(JOBS_PER_WORKER):
        _alarm(_IDLE_S)
        header = source.read(HEADER.size)
        if len(header) < HEADER.size:
            return
        # The parent kills on its deadline; the alarm is for a parent that is gone.
        _alarm(int(DEADLINE_S) + 5)
        facts_size, data_size = HEADER.unpack(header)
        facts = json.loads(source.read(facts_size))
        reply = to_json(_parse(source.read(data_size), facts))
        sink.write(len(reply).to_bytes(4, "big") + reply)
        sink.flush()


def _parse(data: bytes, facts: dict[str, str]) -> Extracted | FetchError:
    from deepdelve.tools.web.documents.parse import parse

    try:
        return parse(data, url=facts["url"], content_type=facts["content_type"], charset=facts["charset"])
    except FetchError as error:
        return error
    except MemoryError:
        return unreadable("Reading the document needs more memory than is allowed.", "Use a smaller copy of it.")
    except Exception:  # the edge of the process: any fault of a parser is the document's
        return unreadable("The document is damaged in a way that its parser cannot handle.", "Use another copy of it.")


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The two pipes, out of reach of libraries that print."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    return source, sink


def _limit_memory() -> None:
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _alarm(seconds: int) -> None:
    """Have the system end this process after so many seconds."""
    if sys.platform != "win32":
        signal.alarm(seconds)

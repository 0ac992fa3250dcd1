"""What the facade calls: the pure search over the home of this person."""

import logging
import sqlite3
from collections.abc import AsyncGenerator
from typing import Any

from deepdelve.config import Settings, home
from deepdelve.core.errors import DiskError, StateError
from deepdelve.engine import store
from deepdelve.engine.history import jump
from deepdelve.engine.history import rebuild as rebuilding
from deepdelve.engine.history.control import SearchControl
from deepdelve.engine.history.index import HistoryIndex, IndexReport
from deepdelve.engine.history.index import update as update_file
from deepdelve.engine.history.jump import Jump
from deepdelve.engine.history.rebuild import Rebuilt
from deepdelve.engine.history.records import Event, HistoryResult
from deepdelve.engine.history.resolve import SearchRequest, resolve
from deepdelve.engine.history.search import run_search
from deepdelve.engine.history.sources import Roots
from deepdelve.engine.history.stream import aiter_search
from deepdelve.utils.secrets import mask_for

log = logging.getLogger(__name__)


def search(options: dict[str, Any], settings: Settings | None, control: SearchControl | None = None) -> HistoryResult:
    """Search in this thread.

    Raises:
        UsageError: the options contradict each other.
    """
    roots = Roots(home())
    query = resolve(SearchRequest(**options))
    return run_search(query, roots, control=control, index=HistoryIndex(roots.index), mask=mask_for(settings or Settings()))


def stream(options: dict[str, Any], settings: Settings | None, control: SearchControl | None = None) -> AsyncGenerator[Event]:
    """Search in a thread of its own.

    Raises:
        UsageError: the options contradict each other.
    """
    roots = Roots(home())
    query = resolve(SearchRequest(**options))
    return aiter_search(query, roots, control=control, index=HistoryIndex(roots.index), mask=mask_for(settings or Settings()))


def open_ref(ref: str, settings: Settings | None = None) -> Jump:
    """What a reference leads to.

    Raises:
        UsageError: it is no reference.
        StateError: the record is gone or has changed.
    """
    return jump.masked(jump.follow(ref, Roots(home())), mask_for(settings or Settings()))


def rebuild() -> Rebuilt:
    """Derive the prompt history from the transcripts.

    Raises:
        StateError: something cannot be read or written.
    """
    roots = Roots(home())
    try:
        return rebuilding.rebuild(roots, lambda row: store.append_line(roots.history, row), store.new_ulid)
    except OSError as error:
        raise StateError(
            "The prompt history or the folder of conversations cannot be read.",
            "Mend their permissions, or move away what is no file or folder.",
        ) from error


def update_index() -> IndexReport | None:
    """Bring the index up to date.

    Raises:
        StateError: it cannot be written.
    """
    try:
        return update_file(Roots(home()))
    except (OSError, sqlite3.Error) as error:
        raise StateError("The index cannot be written.", "Searches work without it; check the folder's permissions.") from error


def note_prompt(text: str, settings: Settings, *, session_id: str, surface: str, kind: str) -> None:
    """Add a typed line to the prompt history."""
    try:
        store.add_prompt(mask_for(settings)(text), session_id=session_id, run_id="", surface=surface, kind=kind, meta={})
    except DiskError:
        log.warning("a typed line could not be added to the prompt history")

"""What surfaces may call of the history search; a part of the facade. The search itself is imported inside the functions."""

from typing import TYPE_CHECKING, Any, TypeAlias

from deepdelve.config import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from deepdelve.engine.history.control import SearchControl
    from deepdelve.engine.history.index import IndexReport
    from deepdelve.engine.history.jump import Jump
    from deepdelve.engine.history.rebuild import Rebuilt
    from deepdelve.engine.history.records import Event as HistoryEvent
    from deepdelve.engine.history.records import HistoryResult, Record
    from deepdelve.engine.history.summary import Summary

    HistoryRecord: TypeAlias = Record
    HistorySummary: TypeAlias = Summary


def search_history(options: dict[str, Any], settings: Settings | None = None, control: "SearchControl | None" = None) -> "HistoryResult":
    """Search what was asked and found before.

    Args:
        options: fields of ``engine.history.resolve.SearchRequest``; ``surface`` decides the defaults.
        settings: their keys are masked in what is returned.
        control: stops the search.

    Raises:
        UsageError: the options contradict each other.
    """
    from deepdelve.engine.history import entry

    return entry.search(options, settings, control)


def stream_history(
    options: dict[str, Any], settings: Settings | None = None, control: "SearchControl | None" = None
) -> "AsyncGenerator[HistoryEvent]":
    """As ``search_history``, event by event and off the event loop; close it to stop the search.

    Raises:
        UsageError: the options contradict each other.
    """
    from deepdelve.engine.history import entry

    return entry.stream(options, settings, control)


def search_control(seconds: float | None = None) -> "SearchControl":
    """What stops a search of the history, from any thread; with a deadline in seconds if one is given."""
    from deepdelve.engine.history.control import SearchControl

    return SearchControl(seconds)


def open_ref(ref: str, settings: Settings | None = None) -> "Jump":
    """What a reference of a search leads to: record, claim, finding, passage, address.

    Raises:
        UsageError: it is no reference.
        StateError: the record is gone or has changed.
    """
    from deepdelve.engine.history import entry

    return entry.open_ref(ref, settings)


def rebuild_history() -> "Rebuilt":
    """Derive a lost prompt history from the transcripts.

    Raises:
        StateError: the folder of transcripts, or the history, cannot be read or written.
    """
    from deepdelve.engine.history import entry

    return entry.rebuild()


def index_history() -> "IndexReport | None":
    """Bring the index of the history search up to date. None where another process is at it.

    Raises:
        StateError: it cannot be written.
    """
    from deepdelve.engine.history import entry

    return entry.update_index()


def note_prompt(text: str, settings: Settings, *, session_id: str = "", surface: str = "cli", kind: str = "command") -> None:
    """Add what a person typed to the prompt history, without keys. What cannot be written is left out.

    Args:
        text: what was typed.
        settings: their keys are masked.
        session_id: the session it belongs to, if there is one.
        surface: tui, cli or api.
        kind: research, followup, command or resume.
    """
    from deepdelve.engine.history import entry

    entry.note_prompt(text, settings, session_id=session_id, surface=surface, kind=kind)

"""Search of the history: terms above, records below, and what the search says of itself."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static

from deepdelve.core.errors import DeepDelveError
from deepdelve.tui import keys
from deepdelve.tui.text import count, one_line
from deepdelve.tui.widgets.key_line import KeyLine
from deepdelve.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from deepdelve.engine import facade

Rung = Literal["prompt", "deep", "exhaustive"]
Searching = Callable[[dict[str, Any], Any], AsyncGenerator["facade.HistoryEvent"]]

SLICE = 200
ROW_CHARS = 160
_BEFORE_MATCH = 40
_RUNGS = {"prompt": "Prompts", "deep": "Likeliest conversations", "exhaustive": "Everything"}
_OUTCOMES = {
    "no_prompt_match": "No prompt matches. F7 reads the likeliest conversations, F8 everything.",
    "no_candidate_conversation": "No prompt matches, so no conversation was read. F8 reads everything.",
    "no_selected_conversation_match": "The conversations that were read hold no match. F8 reads everything.",
    "no_exhaustive_match": "Nothing matches. Stored pages are searched with kind:source.",
    "undetermined": "The search was not brought to its end, so this says nothing.",
}


@dataclass(frozen=True)
class Wanted:
    """What is searched: terms, how broadly, and how many conversations a deep search reads (0: the default)."""

    terms: str = ""
    rung: Rung = "prompt"
    conversations: int = 0

    def options(self) -> dict[str, Any]:
        """As the engine takes it."""
        limit = self.conversations if self.rung == "deep" and self.conversations else None
        chosen = {"deep": self.rung == "deep", "exhaustive": self.rung == "exhaustive", "conversation_limit": limit}
        return {"terms": self.terms, "surface": "tui", **chosen}


class SearchScreen(Screen[None]):
    """Searches as soon as there are terms. A new search replaces the one that goes on.

    Args:
        wanted: what is searched first.
        search: starts a search of the engine.
        control: makes what stops one.
        open_ref: shows what a record leads to.
        remember: told of each search.
    """

    CSS_PATH = "history.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.HISTORY
    AUTO_FOCUS = "#history-terms"

    def __init__(
        self,
        wanted: Wanted,
        search: Searching,
        control: Callable[[], Any],
        open_ref: Callable[[str], None],
        remember: Callable[[Wanted], None],
    ) -> None:
        super().__init__()
        self.wanted = wanted
        self.records: list[facade.HistoryRecord] = []
        self.summary: facade.HistorySummary | None = None
        self._search = search
        self._control = control
        self._open = open_ref
        self._remember = remember
        self._stopping: Any = None
        self._generation = 0
        self._searched = ""

    def compose(self) -> ComposeResult:
        """Terms, rows, note."""
        yield Static(Content.assemble(("Search the history", "bold"), "  Enter searches, then opens"), id="history-title")
        yield Input(self.wanted.terms, placeholder='words, "a phrase", kind:report, NOT word', id="history-terms")
        yield Static("", id="history-status", markup=False)
        yield RowList()
        yield Static("", id="history-note", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        """Searches, if there is something to search for."""
        self._status(_RUNGS[self.wanted.rung])
        if self.wanted.terms:
            self.begin()

    @property
    def rows(self) -> RowList:
        """The rows."""
        return self.query_one(RowList)

    def begin(self) -> None:
        """Starts the wanted search; one that goes on gives way."""
        if self._stopping is not None:
            self._stopping.stop("replacement")
        self._generation += 1
        self._searched = self.wanted.terms
        self._stopping = self._control()
        self.records, self.summary = [], None
        self.rows.show_rows([])
        self._note("")
        self._status(f"{_RUNGS[self.wanted.rung]}: searching …  esc stops")
        self._remember(self.wanted)
        self.run_worker(self._run(self._generation, self._stopping), group="history", exclusive=True, exit_on_error=False)

    async def _run(self, generation: int, control: Any) -> None:
        found: list[facade.HistoryRecord] = []
        try:
            async with contextlib.aclosing(self._search(self.wanted.options(), control)) as events:
                async for event in events:
                    record, summary = getattr(event, "record", None), getattr(event, "summary", None)
                    if record is not None:
                        found.append(record)
                    if len(found) >= SLICE or summary is not None:
                        self._take(generation, found)
                        found = []
                    if summary is not None:
                        self._finish(generation, summary)
        except DeepDelveError as error:
            self._fail(generation, error.line())
        except Exception as error:  # The edge of the worker: whatever it is becomes a line, never the end of the app.
            self._fail(generation, f"The search failed ({type(error).__name__}). Try again.")

    def _take(self, generation: int, found: "list[facade.HistoryRecord]") -> None:
        if generation == self._generation and found:
            self.records += found
            self.rows.add_rows([row_of(record) for record in found])

    def _finish(self, generation: int, summary: "facade.HistorySummary") -> None:
        if generation != self._generation:
            return
        self.summary, self._stopping = summary, None
        self._status(f"{_RUNGS[self.wanted.rung]}: {told(summary)}")
        empty = "" if self.records else _OUTCOMES.get(summary.outcome, "")
        cut = _OUTCOMES["undetermined"] if self.records and summary.incomplete else ""
        notes = [f"{note.message}{f' ({note.count})' if note.count > 1 else ''}" for note in summary.diagnostics]
        self._note("\n".join(line for line in (empty, cut, *notes) if line))

    def _fail(self, generation: int, line: str) -> None:
        if generation == self._generation:
            self._stopping = None
            self._status(_RUNGS[self.wanted.rung])
            self._note(line)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Searches what was typed; what was searched already is opened."""
        event.stop()
        terms = event.value.strip()
        if terms == self._searched and self.records:
            self.open_row(self.rows.place)
        elif terms:
            self.wanted = replace(self.wanted, terms=terms)
            self.begin()

    def on_row_list_chosen(self, event: RowList.Chosen) -> None:
        """A click opens its row."""
        event.stop()
        self.open_row(event.place)

    def open_row(self, place: int) -> None:
        """Shows what a record leads to."""
        if place < len(self.records):
            self._open(self.records[place].ref)

    def action_move(self, step: int) -> None:
        """Moves the cursor."""
        self.rows.move(step)

    def action_page(self, step: int) -> None:
        """Moves the cursor by a screen."""
        self.rows.move(step * max(1, self.rows.size.height - 1))

    def action_rung(self, rung: Rung) -> None:
        """Searches the terms with another effort."""
        terms = self.query_one("#history-terms", Input).value.strip()
        self.wanted = replace(self.wanted, terms=terms, rung=rung)
        if terms:
            self.begin()
        else:
            self._status(_RUNGS[rung])

    def action_close(self) -> None:
        """Stops the search and keeps what it has found; else back."""
        if self._stopping is not None and self._stopping.reason is None:
            self._stopping.stop("answer_now")
            self._status(f"{_RUNGS[self.wanted.rung]}: stopping …")
            return
        self.dismiss()

    def on_unmount(self) -> None:
        """A search that nobody sees any more is stopped."""
        if self._stopping is not None:
            self._stopping.stop("caller_cancelled")

    def _status(self, text: str) -> None:
        self.query_one("#history-status", Static).update(Content(text))

    def _note(self, text: str) -> None:
        self.query_one("#history-note", Static).update(Content(text))


def row_of(record: "facade.HistoryRecord") -> str:
    """A record on one line: date, kind, and its text from a little before the match on."""
    day = (record.to_dict()["ts"] or "")[:16].replace("T", " ")
    start = max(0, record.span[0] - _BEFORE_MATCH)
    text = ("…" if start else "") + one_line(record.text[start : start + ROW_CHARS * 4], ROW_CHARS)
    return f"{day:<16}  {record.kind:<9}  {text}"


def told(summary: "facade.HistorySummary") -> str:
    """How many were found, and how far that goes."""
    coverage = summary.coverage
    read = f"{summary.sources_read} of {count(coverage.sources_planned, 'source')} read"
    read += f", {summary.ruled_out} ruled out by the index" if summary.ruled_out else ""
    return f"{count(summary.match_count, 'record')}; {summary.status.state}; {read}"

"""The two lines at the top: which run this is, and how far it has come."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from deepdelve.tui.text import OUTCOME_WORDS, STAGE_WORDS, duration, one_line, short_number
from deepdelve.tui.view_state import Meter, ViewState, elapsed, meters

if TYPE_CHECKING:
    from deepdelve.config import Settings

TICK_SECONDS = 1.0
_BAR = 5


class StatusLine(Static):
    """Shows run title, backend and model, depth, style, stage, elapsed time and budgets; what does not fit is left out from the end."""

    DEFAULT_CSS = "StatusLine { height: 2; padding: 0 1; background: $panel; }"

    def __init__(self, read: "Callable[[], tuple[ViewState, Settings | None, float]]") -> None:
        """``read`` gives view, settings (None until they are read) and POSIX seconds; it is asked every second."""
        super().__init__("", id="status", markup=False)
        self.read = read

    def on_mount(self) -> None:
        """Keeps the elapsed time going."""
        self.set_interval(TICK_SECONDS, self.show_status)

    def show_status(self) -> None:
        """Shows how things are now."""
        width = max((self.size.width or 80) - 2, 20)
        state, settings, now = self.read()
        pieces = parts(state, settings, now) if settings is not None else [_progress(state)]
        self.update(Content.assemble((one_line(title(state), width), "bold"), "\n", fit(pieces, width)))

    def on_resize(self, event: Resize) -> None:
        """Fits the line to the new width."""
        self.show_status()


def title(state: ViewState) -> str:
    """The question, or the product's name."""
    return state.question or "DeepDelve: ask a question; every claim comes with its passage"


def parts(state: ViewState, settings: "Settings", now: float) -> list[str]:
    """The pieces of the second line, the most telling first."""
    api = settings.api
    chosen = api.openai_model if api.backend == "openai" else api.ollama_model
    backend, model = (state.backend, state.model) if state.run_id else (api.backend, chosen)
    pieces = [_progress(state), duration(elapsed(state, now)) if state.run_id else ""]
    pieces.append(f"{one_line(backend, 20)} · {one_line(model, 30)}" if model else one_line(backend, 20))
    pieces += [f"depth {state.depth or settings.settings.depth}", f"style {state.style or settings.settings.report_style}"]
    if state.run_id:
        pieces += [meter_text(meter) for meter in meters(state, now, settings.settings.num_ctx) if meter.used or meter.limit]
    if state.truncated:
        pieces.insert(2, "! context was cut")
    return [piece for piece in pieces if piece]


def meter_text(meter: Meter) -> str:
    """A budget as name, small bar and figures."""
    if not meter.limit:
        return f"{meter.label} {short_number(meter.used)}{' ' + meter.unit if meter.unit else ''}"
    full = round(meter.share * _BAR)
    figures = f"{short_number(meter.used)}/{short_number(meter.limit)}{' ' + meter.unit if meter.unit else ''}"
    return f"{meter.label} {'▰' * full}{'▱' * (_BAR - full)} {figures}"


def fit(pieces: list[str], width: int) -> str:
    """As many pieces as go into one line."""
    line = ""
    for piece in pieces:
        longer = f"{line} │ {piece}" if line else piece
        if len(longer) > width:
            break
        line = longer
    return line


def _progress(state: ViewState) -> str:
    if not state.run_id:
        return "○ ready"
    if state.running:
        return f"● {STAGE_WORDS.get(state.stage or 'planning', '')}"
    return OUTCOME_WORDS.get(state.outcome, state.outcome)

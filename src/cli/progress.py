"""Events as plain lines for stderr: everything in words, nothing by colour."""

from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from deepdelve.cli.text import counted, one_line
from deepdelve.core import events as ev

_STAGES: dict[str, str] = {
    "planning": "Planning the research",
    "searching": "Searching and reading",
    "writing_findings": "Writing the findings",
    "writing_report": "Writing the report",
    "checking": "Checking the report against its sources",
    "delivering": "Delivering the report",
    "done": "",
}
_LEVELS = {"info": "Note", "warning": "Warning", "error": "Error"}
_NAMES: dict[str, str] = {"findings": "findings", "final_report": "report"}


class Progress:
    """Writes a line for each event that a person may want to follow.

    Args:
        stream: where the lines go; a stream that is closed meanwhile is given up without a word, as nobody reads it.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream: TextIO | None = stream
        self._started = 0.0
        self._sources: dict[str, str] = {}

    def show(self, event: ev.Event) -> None:
        """Write the lines of an event."""
        if self._started == 0.0:
            self._started = event.ts
        if isinstance(event, ev.SourceAdded) and not self._is_news(event):
            return
        elapsed = max(0, int(event.ts - self._started))
        for number, line in enumerate(lines_of(event)):
            margin = f"{elapsed // 60:02d}:{elapsed % 60:02d}" if number == 0 else "     "
            self.say(f"{margin}  {one_line(line, 240)}")

    def say(self, line: str) -> None:
        """Write one line that is safe already."""
        if self._stream is None:
            return
        try:
            print(line, file=self._stream, flush=True)
        except (OSError, ValueError):
            self._stream = None

    def _is_news(self, event: ev.SourceAdded) -> bool:
        """Whether a source is new or its state has changed; its record is written more than once."""
        source = event.source
        old = self._sources.get(source.id)
        self._sources[source.id] = source.state
        return old != source.state


def lines_of(event: ev.Event) -> Sequence[str]:
    """The lines that tell of an event; none for what only fills the log. Not yet safe for a terminal."""
    for kind, render in _RENDERERS:
        if isinstance(event, kind):
            return [line for line in render(event) if line]
    return ()


def _run_started(e: ev.RunStarted) -> Iterable[str]:
    where = e.search + (f" in {', '.join(e.corpus)}" if e.corpus else "")
    parts = [f"Run {e.run_id}", " ".join(filter(None, (e.backend, e.model))), f"{e.depth} depth", f"{e.style} style", where]
    yield " · ".join(part for part in parts if part)
    if e.evidence_only:
        yield "Evidence only: nothing is searched or fetched"


def _run_resumed(e: ev.RunResumed) -> Iterable[str]:
    yield "Resumed"


def _stage(e: ev.StageChanged) -> Iterable[str]:
    yield _STAGES[e.stage]


def _plan(e: ev.PlanWritten) -> Iterable[str]:
    yield f"Plan: {counted(len(e.items), 'task')}"
    for item in e.items:
        yield f"- {item.name}" + (f" ({item.facet})" if item.facet and item.facet != item.name else "")


def _task(e: ev.TaskChanged) -> Iterable[str]:
    task = e.task
    if task.state in {"failed", "refused"}:
        yield f"Task {task.state}: {task.name}" + (f": {task.reason}" if task.reason else "")
    elif task.state == "done" and task.depth == 1:
        yield f"Task done: {task.name}"


def _dispatch(e: ev.DispatchStarted) -> Iterable[str]:
    yield f"{e.role} starts" + (f": {e.task}" if e.task else "")


def _dispatch_ended(e: ev.DispatchEnded) -> Iterable[str]:
    if not e.ok:
        yield f"{e.role} failed" + (f" on {e.task}" if e.task else "") + (f": {e.reason}" if e.reason else "")


def _refused(e: ev.ToolRefused) -> Iterable[str]:
    yield f"Refused {e.tool} to {e.role}: {e.reason}"


def _search(e: ev.SearchDone) -> Iterable[str]:
    found = counted(len(e.urls), "result") if e.outcome in {"ok", "empty"} else e.outcome.replace("_", " ")
    yield f'Searched "{e.query}" ({e.backend}): {found}' + (f"; {e.detail}" if e.detail and e.outcome != "ok" else "")


def _source(e: ev.SourceAdded) -> Iterable[str]:
    source = e.source
    if source.state == "ok":
        yield f"Read {source.id}: {source.title or source.url}"
    else:
        yield f"Cannot use {source.url} ({source.state})" + (f": {source.reason}" if source.reason else "")


def _dropped(e: ev.SourceDropped) -> Iterable[str]:
    yield f"Source {e.source_id} is dropped" + (f": {e.reason}" if e.reason else "")


def _written(e: ev.ArtifactWritten) -> Iterable[str]:
    yield f"Draft of the {_NAMES[e.artifact]} written: {counted(e.words, 'word')}"


def _rejected(e: ev.ArtifactRejected) -> Iterable[str]:
    yield f"Draft of the {_NAMES[e.artifact]} set aside ({e.problem})"


def _review(e: ev.ReviewDone) -> Iterable[str]:
    verdict = "not reviewed, the reviewer gave no answer" if not e.reviewed else "no issues" if e.ok else counted(len(e.issues), "issue")
    yield f"Review of the {_NAMES[e.artifact]}: {verdict}"


def _verdict(e: ev.CheckVerdict) -> Iterable[str]:
    if not e.problem:
        yield f"Check {e.attempt}: no problem left" if not e.active else f"Check {e.attempt}: left open: {', '.join(e.active)}"
        return
    yield f"Check {e.attempt}: {e.problem}" + (f" ({e.detail})" if e.detail else "") + (f"; remedy: {e.remedy}" if e.remedy else "")


def _notice(e: ev.Notice) -> Iterable[str]:
    yield f"{_LEVELS[e.level]}: {e.text}"


def _truncated(e: ev.UsageReported) -> Iterable[str]:
    if e.truncated:
        yield f"Warning: the model read less than {e.role} sent it; raise settings.num_ctx or lower settings.context_budget_chars"


def _asked(e: ev.Asked) -> Iterable[str]:
    yield f"Question ({e.kind}): {e.text}"


def _steered(e: ev.Steered) -> Iterable[str]:
    yield f"Your instruction: {e.text}"


def _delivered(e: ev.ReportDelivered) -> Iterable[str]:
    carried = f"{e.claims.supported} of {counted(e.claims.total, 'claim')} supported"
    yield f"Report delivered: {counted(len(e.citations), 'source')} cited, {carried}"


def _ended(e: ev.RunEnded) -> Iterable[str]:
    yield f"Ended: {e.outcome.replace('_', ' ')}" + (f": {e.reason}" if e.reason else "")
    if e.problems:
        yield f"Open problems: {', '.join(problem.replace('_', ' ') for problem in e.problems)}"


_RENDERERS: tuple[tuple[type[ev.Event], Callable[..., Iterable[str]]], ...] = (
    (ev.RunStarted, _run_started),
    (ev.RunResumed, _run_resumed),
    (ev.StageChanged, _stage),
    (ev.PlanWritten, _plan),
    (ev.TaskChanged, _task),
    (ev.DispatchStarted, _dispatch),
    (ev.DispatchEnded, _dispatch_ended),
    (ev.ToolRefused, _refused),
    (ev.SearchDone, _search),
    (ev.SourceAdded, _source),
    (ev.SourceDropped, _dropped),
    (ev.ArtifactWritten, _written),
    (ev.ArtifactRejected, _rejected),
    (ev.ReviewDone, _review),
    (ev.CheckVerdict, _verdict),
    (ev.Notice, _notice),
    (ev.UsageReported, _truncated),
    (ev.Asked, _asked),
    (ev.Steered, _steered),
    (ev.ReportDelivered, _delivered),
    (ev.RunEnded, _ended),
)
# What only fills the log, or is told by another event. Together with the above these are all events (a test holds it).
SILENT: tuple[type[ev.Event], ...] = (
    ev.TextDelta,
    ev.ThinkingDelta,
    ev.Message,
    ev.ToolCalled,
    ev.ToolReturned,
    ev.FindingAdded,
    ev.TaskLedger,
    ev.Answered,
    ev.FollowUp,
)
RENDERED: tuple[type[ev.Event], ...] = tuple(kind for kind, _ in _RENDERERS)

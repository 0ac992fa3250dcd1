"""An engine that plays scripted events: the same functions as ``deepdelve.engine.facade``, everything in memory."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import RunNotFoundError, UsageError
from deepdelve.core.records import Claim, ClaimCounts, Passage, PlanItem, Source, Task, Usage
from deepdelve.core.requests import Command, RunRequest, RunResult, RunSummary, SessionSummary, Surface
from deepdelve.engine import choices
from deepdelve.engine.backends.doctor import Finding
from deepdelve.engine.run_files import RunFile
from deepdelve.engine.writing.exports import Exported

T0 = 1_760_000_000.0
QUESTION = "How do heat pumps work in cold climates?"
TEXT_S1 = "Heat pumps move heat. Field trials found that they kept a COP above 2.0 at minus ten degrees. " * 3 + "End of page."
PASSAGE = "they kept a COP above 2.0 at minus ten degrees"
REPORT = """# Heat pumps in cold climates

✓ verified · 3 claims: 1 supported, 1 partial, 1 unsupported

## Performance

Field trials found that heat pumps kept a COP above 2.0 at minus ten degrees [1]. Some lose half of their output [2].

## Cost

- They always pay off within one year [1] ⚠ not supported by [1].

| model | COP |
|---|---|
| A | 2.1 |

## Sources

1. [Field trial](https://example.org/trial)
2. [Survey](https://example.com/survey)
"""
ANALYSIS = '- Field trials found a COP above 2.0 [S1] "kept a COP above 2.0"'
CLAIM_TEXTS = (
    ("c1", "Field trials found that heat pumps kept a COP above 2.0 at minus ten degrees [1].", "supported", ("S1",)),
    ("c2", "Some lose half of their output [2].", "partial", ("S2",)),
    ("c3", "They always pay off within one year [1] ⚠ not supported by [1].", "unsupported", ("S1",)),
)


def make_claims(report: str = REPORT) -> list[Claim]:
    """The ledger of the scripted report, with its places in the delivered text."""
    claims: list[Claim] = []
    for key, text, status, cited in CLAIM_TEXTS:
        start = report.find(text)
        span = (start, start + len(text)) if start >= 0 else None
        place = TEXT_S1.find(PASSAGE)
        passage = (
            Passage(source_id="S1", file="sources/S1.md", start=place, end=place + len(PASSAGE), quote=PASSAGE) if key == "c1" else None
        )
        reason = {"c1": "", "c2": "Only part of it is said there.", "c3": "The source does not say this."}[key]
        claims.append(
            Claim(id=key, text=text, delivered_span=span, citations=cited, status=status, passage=passage, reason=reason, score=0.9)  # type: ignore[arg-type]
        )
    return claims


def sources() -> list[Source]:
    return [
        Source(id="S1", url="https://example.org/trial", title="Field trial", file="sources/S1.md", chars=len(TEXT_S1)),
        Source(id="S2", url="https://www.example.com/survey", title="Survey", file="sources/S2.md", chars=50),
        Source(id="S3", url="https://blocked.example/x", title="Forum", state="blocked", reason="a login page"),
    ]


def research_events(run_id: str, question: str, session_id: str = "", start: float = T0) -> list[ev.Event]:
    """A whole run, as the journal and the stream have it."""
    s1, s2, s3 = sources()
    tasks = [Task(name="performance", facet="performance", state="running"), Task(name="cost", facet="cost", state="queued")]
    asked = ("performance", "cost")
    problems = ("claim_unsupported", "uncited_claims")
    out: list[ev.Event] = [
        ev.RunStarted(
            run_id=run_id,
            session_id=session_id,
            question=question,
            backend="builtin",
            model="",
            search="corpus",
            budget={"seconds": 2700, "quota:web_search": 20, "quota:fetch_url_to_workspace": 30, "attempts": 8},
        ),
        ev.StageChanged(stage="planning"),
        ev.ThinkingDelta(role="Planner", text="Two facets: performance and cost."),
        ev.PlanWritten(items=(PlanItem(name="performance", facet="performance"), PlanItem(name="cost", facet="cost"))),
        ev.ToolCalled(role="Planner", call_id="t1", tool="delegate_tasks", args={"tasks": [{"task_name": name} for name in asked]}),
        ev.StageChanged(stage="searching"),
        ev.TaskChanged(task=tasks[0]),
        ev.TaskChanged(task=tasks[1]),
        ev.DispatchStarted(dispatch="d1", role="Searcher", task="performance", profile="web"),
        ev.ToolCalled(dispatch="d1", role="Searcher", call_id="t2", tool="web_search", args={"query": "heat pump COP cold"}),
        ev.SearchDone(dispatch="d1", query="heat pump COP cold", backend="corpus", outcome="ok", urls=(s1.url, s2.url)),
        ev.ToolReturned(dispatch="d1", call_id="t2", tool="web_search", text="2 hits", seconds=0.4),
        ev.ToolCalled(dispatch="d1", role="Searcher", call_id="t3", tool="fetch_url_to_workspace", args={"url": s1.url}),
        ev.SourceAdded(dispatch="d1", source=s1),
        ev.ToolReturned(dispatch="d1", call_id="t3", tool="fetch_url_to_workspace", text='{"source_id": "S1"}', seconds=1.2),
        ev.SourceAdded(dispatch="d1", source=s2),
        ev.SourceAdded(dispatch="d1", source=s3),
        ev.DispatchStarted(dispatch="d2", role="Analyzer", task="read S1", parent="d1", profile="prose"),
        ev.TextDelta(dispatch="d2", role="Analyzer", text=ANALYSIS[:26]),
        ev.TextDelta(dispatch="d2", role="Analyzer", text=ANALYSIS[26:]),
        ev.Message(dispatch="d2", role="Analyzer", text=ANALYSIS),
        ev.DispatchEnded(dispatch="d2", role="Analyzer", task="read S1", seconds=3.0),
        ev.ToolRefused(dispatch="d1", role="Searcher", call_id="t4", tool="web_search", rule="quota", reason="No searches are left."),
        ev.UsageReported(dispatch="d1", role="Searcher", usage=Usage(tokens_in=5_200, tokens_out=300, seconds=4.0)),
        ev.DispatchEnded(dispatch="d1", role="Searcher", task="performance", seconds=9.5, attempts=2),
        ev.TaskChanged(task=tasks[0].model_copy(update={"state": "done"})),
        ev.TaskChanged(task=tasks[1].model_copy(update={"state": "failed", "reason": "No source speaks of cost."})),
        ev.ToolReturned(call_id="t1", tool="delegate_tasks", text="done", seconds=12.0),
        ev.StageChanged(stage="writing_findings"),
        ev.UsageReported(role="FindingsWriter", usage=Usage(tokens_in=2_000, tokens_out=900, seconds=7.0)),
        ev.StageChanged(stage="writing_report"),
        ev.StageChanged(stage="checking"),
        ev.CheckVerdict(attempt=1, problem="claim_unsupported", active=problems, remedy="Builder", detail="1 claim"),
        ev.CheckVerdict(attempt=2),
        ev.ReportDelivered(file="final_report.md", citations=("S1", "S2"), claims=ClaimCounts(supported=1, partial=1, unsupported=1)),
        ev.RunEnded(outcome="verified", exit=0, seconds=42.0),
    ]
    return stamped(out, start)


def stamped(events: Sequence[ev.Event], start: float) -> list[ev.Event]:
    return [event.model_copy(update={"seq": n, "ts": start + n}) for n, event in enumerate(events, start=1)]


def follow_up_events(question: str) -> list[ev.Event]:
    return [
        ev.Message(role="User", text=question, dispatch="ask"),
        ev.DispatchStarted(dispatch="d7", role="Analyzer", task=question),
        ev.TextDelta(dispatch="d7", role="Analyzer", text="- They lose half [S2]"),
        ev.DispatchEnded(dispatch="d7", role="Analyzer", task=question),
        ev.FollowUp(question=question, answer="Yes, by **half** [2].", citations=("S2",)),
    ]


class FakeHandle:
    """A run that plays a script; ``gate`` holds it at the events of these types until released."""

    def __init__(self, engine: "FakeEngine", run_id: str, script: Sequence[ev.Event], surface: Surface) -> None:
        self.run_id = run_id
        self.dir = Path("runs") / run_id
        self.commands: list[Command] = []
        self.engine = engine
        self.script = list(script)
        self.surface = surface
        self.asking = any(isinstance(event, ev.FollowUp) for event in script)
        self.task = asyncio.ensure_future(self._play())

    def command(self, command: Command) -> None:
        self.commands.append(command)
        if command.kind == "stop":
            self.task.cancel()
        elif command.kind == "drop_source":
            self._emit(ev.Steered(text=f"Drop source {command.text}", kind="drop_source"))
            self._emit(ev.SourceDropped(source_id=command.text))
        else:
            self._emit(ev.Steered(text=command.text))

    async def wait(self) -> RunResult:
        return await asyncio.shield(self.task)

    def _emit(self, event: ev.Event) -> None:
        if not isinstance(event, ev.TextDelta | ev.ThinkingDelta):
            self.engine.journal.setdefault(self.run_id, []).append(event)
        self.surface.on_event(event)

    async def _play(self) -> RunResult:
        if self.engine.wait_error is not None:
            raise self.engine.wait_error
        try:
            await self._events()
        except asyncio.CancelledError:
            if self.asking:
                raise
            self._emit(ev.RunEnded(outcome="stopped", exit=130, reason="Stopped by the person.", seconds=3.0))
            return self._result("stopped")
        return self._result("verified")

    async def _events(self) -> None:
        for event in self.script:
            if type(event).__name__ == self.engine.hold_at:
                await self.engine.released.wait()
            self._emit(event)
            if isinstance(event, ev.Asked):
                answer = await self.surface.ask(event)
                self.engine.answers.append(answer)
                self._emit(ev.Answered(ask_id=event.ask_id, answer=answer))
            await asyncio.sleep(0)

    def _result(self, outcome: Any) -> RunResult:
        return RunResult(self.run_id, str(self.dir), outcome, 0, "", "standard", "builtin")


class FakeEngine:
    """The functions of the facade. Everything that was asked of it is recorded."""

    def __init__(self, script: Callable[[str, str, str], list[ev.Event]] | None = None) -> None:
        self.script = script or research_events
        self.journal: dict[str, list[ev.Event]] = {}
        self.requests: list[RunRequest] = []
        self.handles: list[FakeHandle] = []
        self.calls: list[tuple[Any, ...]] = []
        self.answers: list[dict[str, Any]] = []
        self.hold_at = ""
        self.released = asyncio.Event()
        self.wait_error: Exception | None = None
        self.report = REPORT
        self.export_note = ""
        self.settings = Settings()
        self.rows = [
            Finding("model server", False, "nothing answers at 127.0.0.1:11434", "start it, or /backend builtin"),
            Finding("home", True, "writable"),
        ]

    def _handle(self, run_id: str, script: Sequence[ev.Event], surface: Surface) -> FakeHandle:
        handle = FakeHandle(self, run_id, script, surface)
        self.handles.append(handle)
        return handle

    async def start(self, request: RunRequest, settings: Settings, surface: Surface) -> FakeHandle:
        self.requests.append(request)
        run_id = f"20260101_00000{len(self.requests)}_abcdef"
        return self._handle(run_id, self.script(run_id, request.question, request.session_id), surface)

    async def ask(self, run_id: str, question: str, settings: Settings, surface: Surface) -> FakeHandle:
        self.calls.append(("ask", run_id, question))
        return self._handle(run_id, follow_up_events(question), surface)

    async def resume(self, run_id: str, settings: Settings, surface: Surface) -> FakeHandle:
        self.calls.append(("resume", run_id))
        rest = [ev.RunResumed(ts=T0 + 100, stage="searching"), *research_events(run_id, QUESTION)[-2:]]
        return self._handle(run_id, rest, surface)

    async def finish(self, run_id: str, settings: Settings, surface: Surface) -> RunResult:
        self.calls.append(("finish", run_id))
        ends = [
            ev.RunResumed(ts=T0 + 100, stage="writing_report"),
            ev.ReportDelivered(file="final_report.md", citations=("S1",), claims=ClaimCounts(supported=1)),
            ev.RunEnded(outcome="partial", exit=3, seconds=5.0),
        ]
        return await self._handle(run_id, ends, surface).wait()

    def list_runs(self, limit: int = 200) -> list[RunSummary]:
        return [self._summary(run_id) for run_id in reversed(list(self.journal))][:limit]

    def _summary(self, run_id: str) -> RunSummary:
        started = next(event for event in self.journal[run_id] if isinstance(event, ev.RunStarted))
        ended = [event for event in self.journal[run_id] if isinstance(event, ev.RunEnded)]
        outcome = ended[-1].outcome if ended else ""
        return RunSummary(run_id, started.question, outcome, started.ts, 42.0, 3, 1, 3, session_id=started.session_id)

    def list_sessions(self, limit: int = 200) -> list[SessionSummary]:
        by_session: dict[str, list[RunSummary]] = {}
        for run in reversed(self.list_runs()):
            by_session.setdefault(run.session_id, []).append(run)
        return [
            SessionSummary(key, runs[0].started, runs[0].question, tuple(run.run_id for run in runs), 2) for key, runs in by_session.items()
        ]

    def load_events(self, run_id: str) -> list[ev.Event]:
        if run_id not in self.journal:
            raise RunNotFoundError(f"There is no run {run_id}.", "/runs lists them.")
        return list(self.journal[run_id])

    def session_turns(self, session_id: str) -> list[dict[str, Any]]:
        return []

    def new_session(self) -> str:
        return f"session-{len(self.requests) + 1}"

    def read_report(self, run_id: str) -> str:
        delivered = any(isinstance(event, ev.ReportDelivered) for event in self.journal.get(run_id, []))
        return self.report if delivered else ""

    def claims(self, run_id: str) -> list[Claim]:
        return make_claims(self.report) if self.read_report(run_id) else []

    def source_text(self, run_id: str, source_id: str) -> str:
        return {"S1": TEXT_S1, "S2": "Some lose part of their output in the cold."}.get(source_id, "")

    def sources(self, run_id: str) -> list[Source]:
        return sources()

    def run_files(self, run_id: str) -> list[RunFile]:
        return [RunFile("final_report.md", 1_234, "the report as delivered"), RunFile("sources/S1.pdf", 2_345_678, "a source")]

    def run_file_text(self, run_id: str, name: str) -> str:
        if name.endswith(".pdf"):
            raise UsageError(f"{name} is no text.", "It is kept elsewhere.")
        return f"[/] text of {name}"

    def delete_run(self, run_id: str) -> None:
        self.calls.append(("delete", run_id))
        self.journal.pop(run_id, None)

    def load_settings(self, path: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
        return self.settings

    def set_setting(self, dotted: str, value: Any) -> Settings:
        self.calls.append(("set", dotted, value))
        data = self.settings.model_dump()
        node = data
        *parents, leaf = dotted.split(".")
        for name in parents:
            node = node[name]
        node[leaf] = value
        self.settings = Settings.model_validate(data)
        return self.settings

    def export(self, run_id: str, wanted: str, folder: Path | None = None) -> Exported:
        self.calls.append(("export", run_id, wanted))
        if wanted == "pdf":
            raise UsageError("PDF needs the typesetter of the extra 'export'.", "Install it with: pip install 'deepdelve[export]'.")
        return Exported(Path(wanted if "." in wanted else f"{run_id}.{wanted}"), wanted, self.export_note)

    def verify_run(self, run_id: str) -> list[Claim]:
        self.calls.append(("verify", run_id))
        return make_claims(self.report)

    async def models(self, settings: Settings) -> list[str]:
        return [] if settings.api.backend == "builtin" else ["qwen3:8b", "[/]:1b"]

    def search_engines(self) -> list[str]:
        return choices.search_engines()

    async def check_search(self, settings: Settings) -> None:
        await choices.check_search(settings)

    def check_bundle(self, folder: Path) -> int:
        return choices.check_bundle(folder)

    async def doctor(self, settings: Settings) -> list[Finding]:
        return self.rows

    def saved(self, run_id: str, question: str = QUESTION, session_id: str = "session-0", events: Sequence[ev.Event] | None = None) -> str:
        """Puts a finished run on the shelf."""
        self.journal[run_id] = list(events if events is not None else research_events(run_id, question, session_id))
        return run_id

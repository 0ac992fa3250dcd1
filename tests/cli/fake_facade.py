"""A scripted engine behind the command line: the functions of ``engine.facade`` over events made by hand."""

import asyncio
import json
import sys
import time
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import deepdelve.engine
from deepdelve.cli import drive
from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import RunNotFoundError
from deepdelve.core.records import ClaimCounts, ClaimText, Finding, Flag, PlanItem, Source, Task
from deepdelve.core.requests import CitationRef, Command, RunRequest, RunResult, RunSummary, SessionSummary
from deepdelve.utils.secrets import mask_for
from deepdelve.utils.settings_file import load

RUN_ID = "20250102_030405_abcdef"
REPORT = "# Heat pumps\n\nThey work at -25 °C [1].\n\n## Sources\n\n1. A study\n"
SOURCES = (
    Source(id="S1", url="https://a.example/study", title="A study", file="sources/S1.md", chars=10),
    Source(id="S2", url="https://b.example/wall", state="blocked", reason="a login page"),
)
FINDINGS = (
    Finding(id="F1", source_id="S1", task="cold", top_task="cold", claims=(ClaimText(text="They work.", quote="work at -25"),)),
    Finding(id="F2", source_id="S1", task="cold", top_task="cold", claims=(ClaimText(text="Cheap."),), flags=(Flag(kind="quote"),)),
    Finding(id="F3", task="cold", top_task="cold", kind="lead", summary="look at Norway"),
)


def script(question: str) -> list[ev.Event]:
    """What happens in a run that goes well."""
    return [
        ev.RunStarted(run_id=RUN_ID, question=question, backend="builtin", search="corpus", corpus=("papers",)),
        ev.StageChanged(stage="planning"),
        ev.PlanWritten(items=(PlanItem(name="cold"),)),
        ev.TextDelta(role="Planner", text="streamed"),
        ev.StageChanged(stage="searching"),
        ev.SearchDone(query="heat pumps", backend="corpus", outcome="ok", urls=("https://a.example/study",)),
        ev.SourceAdded(source=SOURCES[0]),
        ev.SourceAdded(source=SOURCES[0]),
        ev.SourceAdded(source=SOURCES[1]),
        ev.FindingAdded(finding=FINDINGS[0]),
        ev.TaskChanged(task=Task(name="cold", state="done")),
        ev.CheckVerdict(attempt=1),
        ev.ReportDelivered(file="final_report.md", citations=("S1",), claims=ClaimCounts(supported=1)),
        ev.RunEnded(outcome="verified", exit=0, seconds=1.5),
    ]


def result(question: str, **changes: Any) -> RunResult:
    """How that run ends."""
    fields: dict[str, Any] = {
        "run_id": RUN_ID,
        "dir": f"/runs/{RUN_ID}",
        "outcome": "verified",
        "exit": 0,
        "question": question,
        "style": "standard",
        "backend": "builtin",
        "citations": (CitationRef(n=1, source_id="S1", url="https://a.example/study", file="sources/S1.md", title="A study"),),
        "claims": ClaimCounts(supported=1),
        "usage": {"Planner": {"tokens_in": 5}},
        "seconds": 1.5,
    }
    return RunResult(**{**fields, **changes})


class FakeHandle:
    """Plays the events, then ends with the result; a stop ends it at once unless it is deaf."""

    def __init__(self, surface: Any, events: list[ev.Event], end: RunResult | Exception, *, hang: bool = False, deaf: bool = False) -> None:
        self.run_id = RUN_ID
        self.dir = Path(f"/runs/{RUN_ID}")
        self.commands: list[Command] = []
        self._deaf = deaf
        self._stopped = asyncio.Event()
        self._task = asyncio.ensure_future(self._play(surface, events, end, hang))

    async def _play(self, surface: Any, events: list[ev.Event], end: RunResult | Exception, hang: bool) -> RunResult:
        for seq, event in enumerate(events, 1):
            if isinstance(event, ev.Asked):
                surface.on_event(event)
                answer = await surface.ask(event)
                surface.on_event(ev.Answered(ask_id=event.ask_id, answer=answer))
                event = ev.Notice(text=f"answered: {answer.get('decision')}")
            surface.on_event(event.model_copy(update={"seq": seq, "ts": 1000.0 + seq}))
        if hang:
            await self._stopped.wait()
            return result("q", outcome="stopped", exit=130)
        if isinstance(end, Exception):
            raise end
        return end

    def command(self, command: Command) -> None:
        self.commands.append(command)
        if not self._deaf:
            self._stopped.set()

    async def wait(self) -> RunResult:
        return await asyncio.shield(self._task)


class FakeFacade(types.ModuleType):
    """The functions that the command line calls, and notes of how they were called."""

    def __init__(self) -> None:
        super().__init__("deepdelve.engine.facade")
        self.calls: list[tuple[Any, ...]] = []
        self.events: Callable[[str], list[ev.Event]] = script
        self.changes: dict[str, Any] = {}
        self.failure: Exception | None = None
        self.refusal: Exception | None = None
        self.report = REPORT
        self.hang = self.deaf = False
        self.slow = 0.0
        self.runs: list[RunSummary] = []
        self.vault_runs = 0
        self.sessions: list[SessionSummary] = []

    def load_settings(self, path: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
        self.calls.append(("load_settings", path, {key: value for key, value in (flags or {}).items() if value is not None}))
        return load(path, flags=flags)

    def masker(self, settings: Settings | None = None) -> Callable[[str], str]:
        return mask_for(settings or Settings(), {})

    async def start(self, request: RunRequest, settings: Settings, surface: Any) -> FakeHandle:
        self.calls.append(("start", request))
        if self.slow:
            sys.stderr.write("preparing\n")
            await asyncio.to_thread(time.sleep, self.slow)
        return self._handle(request.question, surface)

    async def resume(self, run_id: str, settings: Settings, surface: Any) -> FakeHandle:
        self.calls.append(("resume", run_id))
        return self._handle("resumed", surface)

    async def ask(self, run_id: str, question: str, settings: Settings, surface: Any) -> FakeHandle:
        self.calls.append(("ask", run_id, question))
        self.changes.setdefault("answer", "At **-25 °C** they still work [1].")
        return self._handle(question, surface)

    def _handle(self, question: str, surface: Any) -> FakeHandle:
        if self.refusal is not None:
            raise self.refusal
        end = self.failure or result(question, **self.changes)
        return FakeHandle(surface, self.events(question), end, hang=self.hang, deaf=self.deaf)

    def find_run(self, name: str) -> str:
        if name == "latest" or RUN_ID.startswith(name):
            return RUN_ID
        raise RunNotFoundError(f"There is no run '{name}'.", f"Did you mean {RUN_ID}?")

    def list_runs(self, limit: int = 200) -> list[RunSummary]:
        return self.runs[:limit]

    def count_vault_runs(self) -> int:
        return self.vault_runs

    def interrupted_runs(self, limit: int = 50) -> list[RunSummary]:
        return [run for run in self.runs[:limit] if not run.outcome and not run.live]

    def list_sessions(self, limit: int = 200) -> list[SessionSummary]:
        return self.sessions[:limit]

    def load_events(self, run_id: str) -> list[ev.Event]:
        return [event for event in script("q") if not isinstance(event, ev.TextDelta)]

    def read_report(self, run_id: str) -> str:
        return self.report

    def sources(self, run_id: str) -> list[Source]:
        return list(SOURCES)

    def findings(self, run_id: str) -> list[Finding]:
        return list(FINDINGS)


def install(facade: FakeFacade) -> FakeFacade:
    """Put the fake in the engine's place for the rest of the process."""
    sys.modules[facade.__name__] = facade
    deepdelve.engine.facade = facade  # type: ignore[attr-defined]  # the package gets it as an import would
    return facade


def main() -> int:
    """``python -m tests.cli.fake_facade JSON ARGS...``: the command line over a fake with these attributes, for real processes."""
    from deepdelve.cli.main import main as command_line

    facade = install(FakeFacade())
    options = json.loads(sys.argv[1])
    drive.GRACE_SECONDS = options.pop("grace", drive.GRACE_SECONDS)
    busy, asking = options.pop("busy", 0), options.pop("asking", False)
    if busy:
        facade.events = lambda question: [*script(question)[:3], *_block(busy)]
    if options.pop("long", False):
        facade.report = "line\n" * 100_000
    if asking:
        facade.events = lambda question: [*script(question)[:1], ev.Asked(ask_id="1", kind="tool", text="Fetch it?")]
    for name, value in options.items():
        setattr(facade, name, value)
    return command_line(sys.argv[2:])


def _block(seconds: float) -> list[ev.Event]:
    """A pause of the whole event loop once the first events are out."""

    class Blocking(ev.Notice):
        def model_copy(self, **changes: Any) -> "Blocking":
            time.sleep(seconds)
            return super().model_copy(**changes)

    return [Blocking(text="the loop was blocked")]


if __name__ == "__main__":
    sys.exit(main())

"""Whole runs against the fake model server, with a fault in one role, and what has to hold of each of them."""

import asyncio
import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError
from deepdelve.core.records import EXIT_CODES
from deepdelve.core.requests import RunRequest, RunResult
from deepdelve.engine import conduct, dispatch, prepare, setup
from deepdelve.engine.run import Run
from tests.support.llm_replies import REPEATED, Rule
from tests.support.llm_server import LlmServer
from tests.support.model_rules import steady_rules
from tests.support.whole_run import RIVERS, RIVERS_QUESTION, RecordingSurface, write_corpus

PROTOCOLS = ("ollama", "openai")
PLACES: Mapping[str, set[int]] = {"first": {0}, "later": set(range(1, 400))}
# These keep a connection open and say nothing, or next to nothing: only a deadline ends them.
SLOW_FAULTS = frozenset({"stall_first", "slow_drip"})
MAX_CALLS = 120
MAX_SECONDS = 40.0
_FIGURE = re.compile(r"\d[\d,]*")
_LEAKS = re.compile(
    r"Let me see|</?think|<\|channel|<\|message|tool_call|<function=|TOOL_CALLS|summon_dragon|conquer_the_world|et helt annet"
    r"|I would now search|A reply that|Sentence number|slowly slowly|write_workspace_file|" + re.escape(REPEATED)
)
_REPR = re.compile(
    r"Traceback|<[\w.]+ object|Exception\(|Error\(|\{'|error in the product itself|httpx|agent_framework|the agent framework"
)


@dataclass
class ModelRun:
    """A run that has ended, and what the server saw of it."""

    result: RunResult
    run: Run
    surface: RecordingSurface
    server: LlmServer
    seconds: float
    watch: "Watch"

    @property
    def report(self) -> str:
        return self.run.read_file("final_report.md")

    @property
    def body(self) -> str:
        """The report without its banner and without the notes of code below it, which name failures in the server's words."""
        lines = [line for line in self.report.splitlines() if not line.startswith(">")]
        return "\n".join(lines).split("\n---\n\n**Notes")[0]

    @property
    def said(self) -> list[str]:
        """What a person is told beside the report: how it ended, why, and every warning."""
        notices = [notice.text for notice in self.surface.of(ev.Notice)]
        return [text for text in [self.result.reason, *self.result.problems, *notices] if text]


def model_settings(server: LlmServer, protocol: str, *, fault: str = "") -> Settings:
    """Settings that point one protocol at the server, with short silences; a run that only a deadline ends gets a near one."""
    settings = Settings()
    settings.api.preflight = False
    settings.api.backend = protocol
    settings.api.ollama_model = settings.api.openai_model = "m"
    settings.api.ollama_host, settings.api.openai_base_url = server.url, server.openai_url
    settings.settings.idle_seconds = 0.4
    settings.settings.depth = "quick"
    if fault in SLOW_FAULTS:
        settings.settings.dispatch_minutes = 2.0 / 60
        settings.settings.max_run_minutes = 12.0 / 60
    return settings


@dataclass
class Watch:
    """What happens beside the events of one run: waits before a retry, and errors in the log."""

    waits: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


_watch: ContextVar[Watch] = ContextVar("watch")


class _NoWaiting:
    """Stands for ``asyncio`` in a module that waits before it tries again: the wait is noted, and does not take place."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        _watch.get().waits.append(seconds)
        await asyncio.sleep(0)


class _ErrorLog(logging.Handler):
    """Notes what is logged as an error: a traceback that no person sees is a fault all the same."""

    def emit(self, record: logging.LogRecord) -> None:
        watch = _watch.get(None)
        if watch is not None:
            cause = f" {record.exc_info[1]!r}" if record.exc_info else ""
            watch.errors.append(f"{record.name}: {record.getMessage()}{cause}")


@contextmanager
def watched_retries() -> Iterator[None]:
    """Waits before retries take no time, and errors in the log are noted; for as many runs as go on inside."""
    log = _ErrorLog(logging.ERROR)
    modules: tuple[ModuleType, ...] = (dispatch, conduct)
    logging.getLogger("deepdelve").addHandler(log)
    for module in modules:
        module.asyncio = _NoWaiting()
    try:
        yield
    finally:
        logging.getLogger("deepdelve").removeHandler(log)
        for module in modules:
            module.asyncio = asyncio


async def run_on_server(
    server: LlmServer,
    protocol: str,
    folder: Path,
    *,
    documents: Mapping[str, str] = RIVERS,
    settings: Settings | None = None,
    fault: str = "",
    surface: RecordingSurface | None = None,
    **request: Any,
) -> ModelRun:
    """One whole run over real sockets, to its end.

    Raises:
        BackendError: the run did not start.
    """
    watching = surface or RecordingSurface()
    asked = RunRequest(question=RIVERS_QUESTION, corpus=(str(write_corpus(folder, documents)),), **request)
    watch = Watch()
    _watch.set(watch)
    started = time.monotonic()
    prepared = await prepare.prepare(asked, settings or model_settings(server, protocol, fault=fault))
    run = setup.new_run(asked, prepared, watching)
    ctx = setup.context_for(run, prepared, watching, auto_approve=request.get("auto_approve", True))
    try:
        result = await asyncio.wait_for(conduct.conduct(ctx), MAX_SECONDS)
    finally:
        await ctx.services.close()
    return ModelRun(result, run, watching, server, time.monotonic() - started, watch)


async def run_with_fault(
    fault: str, role: str | None, place: str, protocol: str, folder: Path, rules: Mapping[str, Rule] | None = None
) -> ModelRun | BackendError:
    """One run with a fault in one role (None: in all), at its first or its later turns (or ``always``)."""
    with LlmServer(rules or steady_rules()) as server:
        server.fail(fault, role=role, turns=PLACES.get(place))
        try:
            return await run_on_server(server, protocol, folder, fault=fault)
        except BackendError as error:
            return error


def breaches(done: ModelRun | BackendError) -> list[str]:
    """What an honest end would not show; empty for an honest one."""
    if isinstance(done, BackendError):
        return [] if done.message and done.remedy else [f"nothing to do is said: {done.line()}"]
    found = [f"logged: {line}" for line in done.watch.errors]
    outcome, report = done.result.outcome, done.report
    if len(done.server.chats()) > MAX_CALLS:
        found.append(f"{len(done.server.chats())} model calls")
    if done.result.exit != EXIT_CODES[outcome] or outcome == "stopped":
        found.append(f"outcome {outcome}, exit {done.result.exit}")
    found += [f"leaked: {match.group(0)}" for match in _LEAKS.finditer(done.body)][:3]
    found += [f"not a sentence: {text[:200]}" for text in [*done.said, report] if _REPR.search(text)]
    found += [f"invented: {figure}" for figure in invented(done)]
    if outcome == "verified" and not ("212" in report and "98" in report):
        found.append("verified without an answer")
    if outcome != "verified" and not done.result.reason and not done.result.problems:
        found.append("no reason is given")
    if outcome == "failed" and not re.search(r"[.!]\s+\S+.*", done.result.reason):
        found.append(f"nothing to do is said: {done.result.reason}")
    if not report.strip():
        found.append("no report file")
    if max(done.watch.waits, default=0) > dispatch.MAX_WAIT_SECONDS:
        found.append(f"waits of {max(done.watch.waits)} s")
    return found


def invented(done: ModelRun) -> list[str]:
    """Figures of the claims that no document of the corpus holds."""
    known = set(_FIGURE.findall(" ".join(RIVERS.values())))
    text = re.sub(r"\[[^\]]*\]|https?://\S+|corpus://\S+", " ", done.body.split("\n## Sources")[0].split("\n## References")[0])
    said = [line for line in text.splitlines() if re.search(r"Alder|Birch", line) and "kilomet" in line]
    return sorted({figure for line in said for figure in _FIGURE.findall(line)} - known)

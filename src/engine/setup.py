"""A request and the settings become a run with everything that it needs: folder, backends, search, fetch, tools."""

import re
import shutil
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from deepdelve.config import ApiSettings, Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import ConfigError, CorpusError, DiskError, UsageError
from deepdelve.core.paths import given_path
from deepdelve.core.records import Claim, ClaimStatus, ReadScope
from deepdelve.core.requests import RunRequest, Surface
from deepdelve.engine import store
from deepdelve.engine.agents import framework_tools
from deepdelve.engine.backends.base import ChatFactory
from deepdelve.engine.backends.record import Recorder
from deepdelve.engine.budget import budget_for
from deepdelve.engine.context import RunContext
from deepdelve.engine.delegation import delegate_tool
from deepdelve.engine.dispatch import Dispatcher
from deepdelve.engine.evidence_bundle import Bundle
from deepdelve.engine.facets import parse_question
from deepdelve.engine.history_tool import history_tool
from deepdelve.engine.judging import verifier_for
from deepdelve.engine.language import language_of
from deepdelve.engine.plan_approval import PlanApproval
from deepdelve.engine.research import Researcher
from deepdelve.engine.run import Run
from deepdelve.engine.services import Services
from deepdelve.engine.usage import RunHooks
from deepdelve.tools.intake import fetch_tool, findings_tool, search_tool
from deepdelve.tools.notes import think
from deepdelve.tools.search.base import SearchBackend
from deepdelve.tools.structured import extract_structured_data
from deepdelve.tools.web.base import Fetcher
from deepdelve.tools.workspace import workspace_tools
from deepdelve.utils.fence import clean
from deepdelve.utils.grounding.index import SourceIndex
from deepdelve.utils.grounding.support import LexicalVerifier
from deepdelve.utils.run_state import RunState
from deepdelve.utils.secrets import mask_for, shown
from deepdelve.utils.urls import canonical, is_web
from deepdelve.utils.words import one_line

# What colours text in a terminal and comes along when it is copied from one.
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\))")
MAX_QUESTION_CHARS = 20_000
_URL = re.compile(r"https?://[^\s<>\"')\]]{3,2000}")


@dataclass(frozen=True)
class Prepared:
    """What has to be had before a run exists: if any of it fails, nothing was started."""

    settings: Settings
    question: str
    backend: ChatFactory
    backend_line: str
    search: SearchBackend
    fetcher: Fetcher
    seeds: tuple[str, ...]
    hooks: RunHooks
    notes: tuple[str, ...] = ()
    recorder: Recorder | None = None
    nonce: str = ""
    date: str = ""
    evidence: Bundle | None = None
    scope: ReadScope = ""
    scope_line: str = ""
    findings: SearchBackend | None = None
    history: SearchBackend | None = None

    async def close(self) -> None:
        """Let go of connections, where no run comes of it."""
        await self.backend.close()
        await self.search.close()
        await self.fetcher.close()


def checked_question(question: str) -> str:
    """The question as it will be researched.

    Raises:
        UsageError: there is none, or it is too long.
    """
    # An empty line ends the question in the messages that carry it.
    text = "\n".join(line for line in clean(_TERMINAL.sub("", question)).strip().split("\n") if line.strip())
    if not text:
        raise UsageError("The question is empty.", 'Give it in quotes, for example: deepdelve run "How do heat pumps work?"')
    if not any(char.isalnum() for char in text):
        raise UsageError(f"The question has no words: '{text[:40]}'.", "Say what you want to know.")
    if len(text) > MAX_QUESTION_CHARS:
        raise UsageError(
            f"The question has {len(text)} characters.", f"Keep it under {MAX_QUESTION_CHARS}; give documents with --seed-doc."
        )
    return text


def applied(settings: Settings, request: RunRequest) -> Settings:
    """The settings with the request's own choices over them.

    Raises:
        ConfigError: a choice is none that the setting takes.
    """
    try:
        return _applied(settings.model_copy(deep=True), request)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"The {name} that was asked for cannot be used: {first['msg'].lower()}.", "Give another.") from None


def _applied(changed: Settings, request: RunRequest) -> Settings:
    if request.backend:
        changed.api.backend = request.backend  # type: ignore[assignment]  # checked on assignment
    elif changed.api.backend == "builtin" and (request.model or request.base_url):
        changed.api.backend = "auto"
    _choose_model(changed.api, request)
    if request.search:
        changed.search.backend = request.search
    if request.scope:
        changed.search.scope = request.scope  # type: ignore[assignment]  # checked on assignment
    if request.corpus:
        changed.search.corpus = list(request.corpus)
    return changed


def _choose_model(api: ApiSettings, request: RunRequest) -> None:
    """Model and address count for the server that will be asked: what is named is never left unused without a word."""
    if api.backend == "builtin" and (request.model or request.base_url):
        raise ConfigError(
            "The built-in backend has no model and no server to choose.", "Leave out --backend builtin, or --model and --base-url."
        )
    if request.base_url and api.backend == "ollama":
        api.ollama_host = request.base_url
    elif request.base_url:
        api.openai_base_url = request.base_url
        if not request.backend:
            api.backend = "openai"
    if request.model and (api.backend == "openai" or (api.backend == "auto" and api.openai_base_url)):
        api.openai_model = request.model
    elif request.model:
        api.ollama_model = request.model


def _absolute(paths: Iterable[str]) -> tuple[str, ...]:
    """Paths that mean the same from any folder: a run may be taken up from another one."""
    return tuple(str(given_path(path).absolute()) for path in paths)


def new_run(request: RunRequest, prepared: Prepared, surface: Surface) -> Run:
    """Make the run's folder and its first event, which the surface sees; from here on everything is kept."""
    settings = prepared.settings
    depth = request.depth or settings.settings.depth
    style = request.style or settings.settings.report_style
    session_id = request.session_id or store.new_session()
    folder = store.runs_dir() / store.new_run_id()
    budget = budget_for(settings, depth, request.max_minutes)
    date = prepared.date or f"{datetime.now().astimezone():%A, %d %B %Y}"
    run = Run(folder, RunState(), budget)
    run.nonce = prepared.nonce or run.nonce
    run.mask = mask_for(settings)
    run.lease.take()
    run.listen(surface.on_event)
    prepared.hooks.bind(run)
    _begin(
        run,
        ev.RunStarted(
            run_id=run.run_id,
            session_id=session_id,
            question=prepared.question,
            style=style,
            depth=depth,
            backend=prepared.backend.name,
            model=prepared.backend.model,
            search=prepared.search.name,
            engine=request.search,
            scope=prepared.scope,
            corpus=_absolute(settings.search.corpus),
            seeds=prepared.seeds,
            seed_docs=_absolute(request.seed_docs),
            date=date,
            language=language_of(prepared.question),
            facets=parse_question(prepared.question).facets,
            budget=budget.as_dict(),
            evidence_only=prepared.evidence is not None,
            bundle_left_out=len(prepared.evidence.skipped) if prepared.evidence is not None else 0,
            evidence_dir=str(prepared.evidence.folder) if prepared.evidence is not None else "",
        ),
    )
    if prepared.scope_line:
        run.notice(prepared.scope_line, code="scope")
    if prepared.recorder is not None:
        prepared.recorder.mask = run.masked
        person = {"takes_questions": getattr(surface, "takes_questions", False), "auto_approve": request.auto_approve}
        prepared.recorder.begin(run.dir, _facts(run, prepared) | person)
    _note(run, request.surface)
    run.allow([*prepared.seeds, *_URL.findall(prepared.question)])
    return run


def _note(run: Run, surface: Literal["tui", "cli", "api"]) -> None:
    """Enter the run in its session and in the prompt history; the run goes on where they cannot be written."""
    state = run.state
    try:
        store.add_run_pointer(state.session_id, run.run_id)
        store.add_turn(state.session_id, "user", state.question, run.run_id)
        meta = {"model": state.model, "depth": state.depth, "style": state.style}
        store.add_prompt(state.question, session_id=state.session_id, run_id=run.run_id, surface=surface, kind="research", meta=meta)
    except DiskError as error:
        run.notice(f"The session lacks this question. {error.line()}", level="warning", code="history")


def _begin(run: Run, started: ev.RunStarted) -> None:
    """The first event of a run. Without room for it there is no run, and nothing of it stays.

    Raises:
        DiskError: it could not be written.
    """
    try:
        run.emit(started)
        if run.journal.waiting is not None:
            raise run.journal.waiting
    except DiskError:
        run.close()
        shutil.rmtree(run.dir, ignore_errors=True)
        raise


def _facts(run: Run, prepared: Prepared) -> dict[str, Any]:
    """What a replay needs to know beside the recorded answers."""
    state = run.state
    return {
        "nonce": run.nonce,
        "date": state.date,
        "backend": state.backend,
        "model": state.model,
        "scope": state.scope,
        "question": state.question,
        "style": state.style,
        "depth": state.depth,
        "seeds": list(state.seeds),
        "search": state.search,
        "evidence_dir": state.evidence_dir,
        "findings": prepared.findings is not None,
        "history": prepared.history is not None,
        "settings": shown(prepared.settings),
    }


def context_for(run: Run, prepared: Prepared, surface: Surface, *, auto_approve: bool) -> RunContext:
    """Everything that works on a run."""
    settings = prepared.settings
    run.mask = mask_for(settings)
    services = Services(settings, run, prepared.backend, prepared.search, prepared.fetcher, surface, auto_approve)
    verifier, checked_by = verifier_for(settings, prepared.backend, run.nonce)
    dispatcher = Dispatcher(run, services)
    researcher = Researcher(run, dispatcher, _Judge(LexicalVerifier()))
    approval = PlanApproval(services)
    functions: dict[str, Callable[..., Awaitable[str]]] = {
        "write_plan": approval.tool(),
        "think": think,
        "delegate_tasks": delegate_tool(run, researcher, approval),
        "web_search": search_tool(prepared.search, settings.search.max_results),
        "fetch_url_to_workspace": fetch_tool(prepared.fetcher),
        "search_verified_findings": findings_tool(prepared.findings),
        "search_history": history_tool(prepared.history),
        "extract_structured_data": extract_structured_data,
        **workspace_tools(settings.settings.context_budget_chars // 2),
    }
    dispatcher.tools = framework_tools(functions)
    return RunContext(run, services, dispatcher, researcher, verifier, checked_by, bundle=prepared.evidence)


@dataclass
class _Judge:
    """Whether a source's text carries a claim; one index a text, kept for as long as the run works."""

    verifier: LexicalVerifier
    indexes: dict[str, SourceIndex] = field(default_factory=dict[str, SourceIndex])

    def __call__(self, claim: str, text: str) -> ClaimStatus:
        """The status of the claim against the text."""
        index = self.indexes.get(text)
        if index is None:
            index = self.indexes[text] = SourceIndex("S0", text)
        return self.verifier.score([Claim(id="c0", text=claim, citations=("S0",))], {"S0": index})[0].status


def seed_addresses(urls: Sequence[str]) -> tuple[str, ...]:
    """Seed addresses, each checked to be one.

    Raises:
        UsageError: one is no web address.
    """
    for url in urls:
        if not is_web(url) or not url.isprintable():
            raise UsageError(f"'{one_line(url, 80)}' is not a web address.", "Give --seed-url an address that starts with https://.")
    return tuple(canonical(url) for url in urls)


def checked_paths(paths: Sequence[str], what: str) -> list[Path]:
    """Local paths that exist.

    Raises:
        CorpusError: one does not.
    """
    found = [given_path(path) for path in paths]
    for path in found:
        if not path.exists():
            raise CorpusError(f"There is no {what} at {path}.", "Give a folder or file that exists.")
    return found

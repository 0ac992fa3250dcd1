"""What surfaces may call. Heavy rooms are imported inside the functions, so that a surface is up before them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deepdelve.config import Settings
from deepdelve.core.events import AnyEvent
from deepdelve.core.records import Claim, Finding, Source
from deepdelve.core.requests import RunDetails, RunRequest, RunResult, RunSummary, SessionSummary, Surface
from deepdelve.engine.handle import Handle
from deepdelve.engine.past import index_history as index_history
from deepdelve.engine.past import note_prompt as note_prompt
from deepdelve.engine.past import open_ref as open_ref
from deepdelve.engine.past import rebuild_history as rebuild_history
from deepdelve.engine.past import search_control as search_control
from deepdelve.engine.past import search_history as search_history
from deepdelve.engine.past import stream_history as stream_history

if TYPE_CHECKING:
    from types import ModuleType

    from deepdelve.engine.backends.doctor import Finding as Checkup
    from deepdelve.engine.checkups import EngineHealth
    from deepdelve.engine.context import RunContext
    from deepdelve.engine.past import HistoryEvent as HistoryEvent
    from deepdelve.engine.past import HistoryRecord as HistoryRecord
    from deepdelve.engine.past import HistorySummary as HistorySummary
    from deepdelve.engine.past import Jump as Jump
    from deepdelve.engine.run_files import RunFile
    from deepdelve.engine.writing.exports import Exported
    from deepdelve.tools.web.base import Page
    from deepdelve.utils.grounding.verify import VerifyResult


async def start(request: RunRequest, settings: Settings, surface: Surface) -> Handle:
    """Start a run. Returns once its folder and first event are on the disk.

    Raises:
        UsageError: the request cannot be carried out; nothing was started.
        BackendError: the model that was asked for cannot be reached; nothing was started.
    """
    from deepdelve.engine import prepare, setup

    prepared = await prepare.prepare(request, settings)
    run = setup.new_run(request, prepared, surface)
    ctx = setup.context_for(run, prepared, surface, auto_approve=request.auto_approve)
    for line in (prepared.backend_line, *prepared.notes):
        if line:
            run.notice(line, code="setup")
    return _handle(ctx)


def _handle(ctx: "RunContext") -> Handle:
    from deepdelve.engine.conduct import conduct

    async def whole() -> RunResult:
        try:
            return await conduct(ctx)
        finally:
            await ctx.services.close()

    task = asyncio.get_running_loop().create_task(whole(), name=f"run {ctx.run.run_id}")
    ctx.run.bind(task)
    return Handle(ctx.run, task)


async def resume(run_id: str, settings: Settings, surface: Surface, *, instruction: str = "") -> Handle:
    """Take an interrupted run up again, with an instruction to heed from now on if one is given.

    Raises:
        RunNotFoundError: there is no such run.
        RunBusyError: another process works on it.
        UsageError: it is finished.
    """
    from deepdelve.engine import resume as resuming

    return _handle(await resuming.open_run(run_id, settings, surface, instruction=instruction))


async def finish(run_id: str, settings: Settings, surface: Surface) -> RunResult:
    """An honest partial report from what a run has, by code alone.

    Raises:
        RunNotFoundError: there is no such run.
        RunBusyError: another process works on it.
    """
    from deepdelve.engine import resume as resuming

    return await resuming.finish_by_code(run_id, settings, surface)


async def replay(run_id: str, surface: Surface) -> tuple[Handle, Path]:
    """Run a recorded run again from its record, offline. Returns the new run and the folder of the recorded one.

    Raises:
        RunNotFoundError: there is no such run.
        UsageError: it was not recorded, or not to its end.
        StateError: its record is damaged.
    """
    from deepdelve.engine import replay as replaying

    ctx, original = replaying.open_replay(run_id, surface)
    return _handle(ctx), original


def differing(original: Path, again: Path) -> list[str]:
    """The artifacts of two run folders that are not the same to the byte."""
    from deepdelve.engine.backends.record import check_same

    return check_same(original, again)


def bundle(run_id: str, settings: Settings, target: Path | None = None) -> Path:
    """Pack a run for a bug report, secrets masked. Returns the file."""
    from deepdelve.engine import replay as replaying

    return replaying.bundle(run_id, settings, target)


async def ask(run_id: str, question: str, settings: Settings, surface: Surface) -> Handle:
    """A question on an existing run, answered from its report, findings and sources; its files stay as they are.

    Where there is no report yet, the research goes on instead, with the question as an instruction.

    Raises:
        RunNotFoundError: there is no such run.
        RunBusyError: another process works on it.
    """
    from deepdelve.engine import followup
    from deepdelve.engine import resume as resuming

    if not followup.has_report(run_id):
        return _handle(await resuming.open_run(run_id, settings, surface, instruction=question))
    ctx = await followup.open_run(run_id, question, settings, surface)

    async def whole() -> RunResult:
        try:
            return await followup.answer(ctx, question)
        finally:
            ctx.run.close()
            await ctx.services.close()

    task = asyncio.get_running_loop().create_task(whole(), name=f"ask {ctx.run.run_id}")
    ctx.run.bind(task)
    return Handle(ctx.run, task)


def verify(report: Path | None, *, sources: Path | None = None, run_id: str = "") -> "VerifyResult":
    """Check any report against a folder of sources, or against those of a run.

    Raises:
        UsageError: the report, the folder or the run cannot be read.
    """
    from deepdelve.engine import checkups

    if run_id:
        return checkups.verify_against_run(report, run_id)
    return checkups.verify_file(report or Path(), sources)


def verify_run(run_id: str) -> list[Claim]:
    """Check a run's report again, and return its claims as they stand now."""
    from deepdelve.engine import checkups

    return list(checkups.verify_against_run(None, run_id).claims)


async def doctor(settings: Settings, *, thorough: bool = True) -> "list[Checkup]":
    """What a run needs, looked at, each with what mends it."""
    from deepdelve.engine import checkups

    return await checkups.examine(settings, thorough=thorough)


async def at_opening(settings: Settings) -> list[str]:
    """What would keep a run from starting, one line each; for a surface that opens before there is a run."""
    from deepdelve.engine import checkups

    return await checkups.at_opening(settings)


async def fetch(where: str, settings: Settings) -> "Page":
    """A page or file as agents would read it, with its provenance."""
    from deepdelve.engine import checkups

    return await checkups.fetch_page(where, settings)


async def search_health(settings: Settings) -> "list[EngineHealth]":
    """How each search engine stands."""
    from deepdelve.engine import checkups

    return await checkups.search_health(settings)


def find_run(name: str) -> str:
    """The id of a run, from its id, an unambiguous beginning, or ``latest``.

    Raises:
        RunNotFoundError: names the nearest run.
    """
    from deepdelve.engine import store

    return store.find_run(name).name


def list_runs(limit: int = 200) -> list[RunSummary]:
    """The newest runs, newest first."""
    from deepdelve.engine import run_index

    return run_index.list_runs(limit)


def count_runs() -> int:
    """How many runs there are."""
    from deepdelve.engine import store

    return len(store.run_ids())


def run_details(run_id: str) -> RunDetails:
    """How a run stands: stage or outcome, label, counts, citations.

    Raises:
        RunNotFoundError: there is no such run.
        StateError: it cannot be read.
    """
    from deepdelve.engine import following

    return following.details(run_id)


def follow(run_id: str, after: int = 0) -> AsyncIterator[AnyEvent]:
    """The journaled events of a run from number ``after`` on as they come, until it is over; also of one in another process.

    Raises:
        RunNotFoundError: there is no such run.
    """
    from deepdelve.engine import following

    return following.follow(run_id, after)


def count_vault_runs() -> int:
    """How many bounded runs are kept, without opening their ledger."""
    from deepdelve.engine import store

    return store.count_vault_runs()


def child_environment() -> dict[str, str]:
    """The environment for a program of the person's own, such as an editor: without keys and tokens."""
    from deepdelve.utils import secrets

    return secrets.child_environment()


def interrupted_runs(limit: int = 50) -> list[RunSummary]:
    """Those of the newest runs that broke off and that nobody works on: ``resume`` takes them up again."""
    from deepdelve.engine import run_index

    return run_index.interrupted(limit)


def list_sessions(limit: int = 200) -> list[SessionSummary]:
    """The newest sessions, newest first."""
    from deepdelve.engine import sessions

    return sessions.list_sessions(limit)


def session_turns(session_id: str) -> list[dict[str, Any]]:
    """The turns of a session."""
    from deepdelve.engine import sessions

    return sessions.turns(session_id)


def new_session() -> str:
    """Start a session. Returns its id."""
    from deepdelve.engine import store

    return store.new_session()


def load_events(run_id: str) -> list[AnyEvent]:
    """The journaled events of a run."""
    from deepdelve.engine import store

    return store.load_events(store.find_run(run_id))


def read_report(run_id: str) -> str:
    """The delivered report as Markdown; empty where there is none."""
    return _read(run_id, "final_report.md")


def claims(run_id: str) -> list[Claim]:
    """The claim ledger of the delivered report."""
    from deepdelve.utils.grounding import ledger

    text = _read(run_id, "final_report.claims.json")
    return ledger.from_json(text) if text else []


def sources(run_id: str) -> list[Source]:
    """The sources of a run, in order of their ids."""
    from deepdelve.engine import store

    return list(store.load_state(store.find_run(run_id)).sources.values())


def findings(run_id: str) -> list[Finding]:
    """The findings of a run."""
    from deepdelve.engine import store

    return list(store.load_state(store.find_run(run_id)).findings.values())


def source_text(run_id: str, source_id: str) -> str:
    """The stored text of a source; empty where there is none."""
    found = next((source for source in sources(run_id) if source.id == source_id), None)
    return _read(run_id, found.file) if found is not None and found.file else ""


def export_evidence(run_id: str, target: Path) -> int:
    """Write the evidence of a run as a bundle for an evidence-only run. Returns the number of its lines.

    Raises:
        UsageError: the run has no evidence, or the folder holds a bundle already.
        DiskError: it could not be written.
    """
    from deepdelve.engine import evidence_bundle, store

    folder = store.find_run(run_id)
    return evidence_bundle.export(store.load_state(folder), folder, target)


def run_files(run_id: str) -> "list[RunFile]":
    """The files of a run's folder: name, size in bytes, what it is."""
    from deepdelve.engine import run_files as files

    return files.list_files(run_id)


def run_file_text(run_id: str, name: str) -> str:
    """The beginning of a text file of a run, by its name in ``run_files``."""
    from deepdelve.engine import run_files as files

    return files.read_file(run_id, name)


def export(run_id: str, wanted: str, folder: Path | None = None) -> "Exported":
    """Write a run's report in another format; the run is only read. ``folder`` is where a relative path begins, else the current one.

    Raises:
        UsageError, DiskError, ExportError: as ``exports.export`` says.
    """
    from deepdelve.engine.writing import exports

    return exports.export(run_id, wanted, folder or Path.cwd())


def usage_summary(run_id: str, settings: Settings | None = None) -> dict[str, Any]:
    """Tokens, calls and time of a run, in all and by role."""
    from deepdelve.engine import store, usage

    return usage.summary(store.load_state(store.find_run(run_id)), settings)


def delete_run(run_id: str) -> None:
    """Delete a run's folder.

    Raises:
        RunBusyError: it is being worked on.
    """
    from deepdelve.engine import run_files as files

    files.delete_run(run_id)


def checks(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """What the settings can switch off, and whether they do: ``checks`` in their order, ``remedies``, ``passes``."""
    from deepdelve.engine import ablation

    return ablation.overview(settings)


async def models(settings: Settings) -> list[str]:
    """The models that the server of the settings offers; none where it cannot be asked."""
    from deepdelve.engine import choices

    return await choices.models(settings)


def search_engines() -> list[str]:
    """The names that ``search.backend`` takes."""
    from deepdelve.engine import choices

    return choices.search_engines()


async def check_search(settings: Settings) -> None:
    """Hold that the search engines of the settings can be asked; none of them is.

    Raises:
        ConfigError: one is unknown, or lacks its key or address.
    """
    from deepdelve.engine import choices

    await choices.check_search(settings)


def check_bundle(folder: Path) -> int:
    """How many texts an evidence bundle holds.

    Raises:
        UsageError: there is no bundle there, or no line of it can be used.
    """
    from deepdelve.engine import choices

    return choices.check_bundle(folder)


def vaults() -> "ModuleType":
    """Bounded vault research and the vaults that it fills (``engine.vaults``).

    Raises:
        ConfigError: the packages of the ledger are not installed.
    """
    from deepdelve.utils.extras import require

    require("vault", "sqlalchemy", "alembic", "yaml")
    from deepdelve.engine import vaults as found

    return found


def load_settings(path: Path | None = None, flags: Mapping[str, Any] | None = None) -> Settings:
    """The settings in force: defaults, the user's file, environment, flags; keys also from the keyring and the private file.

    Raises:
        ConfigError: names the place, the key and the nearest key; or the private file is open to others.
    """
    from deepdelve.utils.secrets import fill
    from deepdelve.utils.settings_file import load

    return fill(load(path, flags=flags))


def masker(settings: Settings | None = None) -> Callable[[str], str]:
    """Takes keys out of text that goes to logs and screens: those of the settings and of the environment, and what looks like one."""
    from deepdelve.utils.secrets import mask_for

    return mask_for(settings or Settings())


def set_setting(dotted: str, value: Any) -> Settings:
    """Change one key of the user's settings file; comments stay.

    Raises:
        ConfigError: the key or the value is wrong; the file is left as it was.
    """
    from deepdelve.utils.secrets import fill
    from deepdelve.utils.settings_file import set_value

    return fill(set_value(dotted, value))


def _read(run_id: str, name: str) -> str:
    from deepdelve.engine import store

    path = store.find_run(run_id) / name
    return path.read_text("utf-8", "replace") if path.is_file() else ""

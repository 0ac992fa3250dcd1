"""What a person may have looked at outside a run: a report against its sources, the machine, a page, the search engines."""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from deepdelve.config import Settings
from deepdelve.core.errors import CorpusError, DeepDelveError, FetchError, UsageError
from deepdelve.engine import store
from deepdelve.engine.backends.base import ChatFactory
from deepdelve.engine.backends.doctor import Finding, doctor, home_finding
from deepdelve.engine.backends.select import choose
from deepdelve.engine.prepare import corpus_index, web_fetcher
from deepdelve.engine.terminal import terminal_finding
from deepdelve.tools.search import registry
from deepdelve.tools.search.corpus import CorpusBackend, CorpusFetcher
from deepdelve.tools.search.rotation import Searcher
from deepdelve.tools.web.base import Page
from deepdelve.tools.web.extract import extract
from deepdelve.utils.files import read_bounded
from deepdelve.utils.grounding.sources import Sources, SourceText, from_folder
from deepdelve.utils.grounding.verify import VerifyResult, verify_report

if TYPE_CHECKING:
    from deepdelve.core.records import Source

MAX_REPORT_BYTES = 64 * 1024 * 1024
STDIN = Path("-")
# More control characters than this make a file no text; a few are noise.
BINARY_SHARE = 0.05
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x0b\x1b")


@dataclass(frozen=True)
class EngineHealth:
    """How one search engine stands; ``detail`` explains every outcome but ``ok``."""

    name: str
    outcome: str
    detail: str


def verify_file(report: Path, sources: Path | None) -> VerifyResult:
    """A report of any system against a folder of its sources.

    Raises:
        UsageError: the report or the folder cannot be read.
    """
    if sources is not None and not sources.is_dir():
        raise UsageError(f"There is no folder {sources}.", "Give --sources the folder that holds the texts of the sources.")
    text = _report_text(report)
    return verify_report(text, from_folder(sources, _document_text, besides=report) if sources is not None else {})


def verify_against_run(report: Path | None, run_id: str) -> VerifyResult:
    """A report, or the run's own if None, against the sources that a run has stored.

    Raises:
        RunNotFoundError: there is no such run.
        UsageError: the report cannot be read.
    """
    folder = store.find_run(run_id)
    state = store.load_state(folder)
    text = _report_text(report if report is not None else folder / "draft" / "final_report.md")
    held = Sources()
    for source in state.usable_sources().values():
        if source.file:
            for url in dict.fromkeys((source.url, source.final_url)):
                held.add(SourceText(source.id, _stored(folder, source), source.file, url, source.title, source.state, source.reason))
    return verify_report(text, held)


async def examine(settings: Settings, *, thorough: bool = True) -> list[Finding]:
    """Server, model, tool calls, JSON, thinking, context, speed, search, home and terminal, each with what mends it."""

    async def search() -> Finding:
        rows = await search_health(settings)
        ill = [row for row in rows if row.outcome not in {"ok", "empty"}]
        named = "; ".join(f"{row.name}: {_stands(row.outcome)}" for row in rows)
        fix = "deepdelve search-health tells more; or give documents with --corpus DIR" if len(ill) == len(rows) else ""
        return Finding("search", len(ill) < len(rows), named, fix)

    return await doctor(settings, builtin=_builtin, search=search, terminal=terminal_finding, thorough=thorough)


def _stands(outcome: str) -> str:
    """How an engine stands, in words; one that finds nothing for the trial word works all the same."""
    return {"ok": "answers", "empty": "answers, with nothing for the trial word"}.get(outcome, outcome.replace("_", " "))


async def at_opening(settings: Settings) -> list[str]:
    """What would keep a run from starting, or from having a model, each as one line. No search engine is asked."""
    home = await asyncio.to_thread(home_finding)
    lines = [] if home.ok else [home.detail if not home.fix else f"{home.detail} {home.fix}"]
    if settings.api.backend == "builtin":
        return lines
    for name in ("ollama", "openai"):
        # These imports take a while: they must not hold up what is being typed.
        await asyncio.to_thread(import_module, f"deepdelve.engine.backends.{name}")
    try:
        choice = await choose(settings, builtin=_builtin)
    except DeepDelveError as error:
        return [*lines, f"{error.line()} Or type /backend builtin, which needs no model; /doctor looks at everything."]
    await choice.factory.close()
    return lines if choice.factory.name != "builtin" else [*lines, choice.line]


def _builtin() -> ChatFactory:
    from deepdelve.engine.backends.builtin.client import BuiltinFactory

    return BuiltinFactory()


async def search_health(settings: Settings) -> list[EngineHealth]:
    """Ask every engine that the settings name once."""
    index = await corpus_index(settings.search.corpus)
    search = registry.build(settings, CorpusBackend(index) if index is not None else None)
    try:
        if isinstance(search, Searcher):
            return [EngineHealth(status.name, status.outcome or "unavailable", status.detail) for status in await search.probe()]
        from deepdelve.tools.search.base import SearchQuery

        response = await search.search(SearchQuery("water", limit=3))
        return [EngineHealth(search.name, response.outcome, response.detail)]
    finally:
        await search.close()


async def fetch_page(where: str, settings: Settings) -> Page:
    """A page or a local file as agents would read it.

    Raises:
        FetchError: it cannot be fetched or read.
        UsageError: there is no such file.
    """
    if "://" in where:
        fetcher = web_fetcher(settings)
        try:
            return await fetcher.fetch(where)
        finally:
            await fetcher.close()
    path = Path(where).expanduser()
    if not path.exists():
        raise UsageError(f"There is no file {where}.", "Give an address such as https://example.org, or a file that exists.")
    if path.is_dir():
        raise UsageError(f"{where} is a folder.", "Name one file of it; a folder can be given to a run with --corpus.")
    try:
        index = await corpus_index([where])
    except CorpusError as error:
        raise FetchError(error.message, error.remedy, cause="unreadable") from error
    if index is None:
        raise UsageError("There is nothing to fetch.", "Give an address or a file.")
    local = CorpusFetcher(index)
    try:
        return await local.fetch(index.addresses(1)[0])
    finally:
        await local.close()
        index.close()


def _document_text(data: bytes, name: str) -> str:
    """The text of a document that is no plain text, such as a PDF. Works inside and outside of an event loop."""
    with ThreadPoolExecutor(1) as thread:
        try:
            return thread.submit(asyncio.run, extract(data, url=name)).result().text
        except FetchError as error:
            raise ValueError(error.message) from error


def _report_text(path: Path) -> str:
    name = "What came through the pipe" if path == STDIN else str(path)
    try:
        data = sys.stdin.buffer.read(MAX_REPORT_BYTES) if path == STDIN else read_bounded(path, MAX_REPORT_BYTES)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error}).", "Give a report as a text or Markdown file.") from None
    wide = data[:2] in {b"\xff\xfe", b"\xfe\xff"}
    if not wide and sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in data[:4096]) > BINARY_SHARE * len(data[:4096]):
        raise UsageError(f"{name} is no text.", "Give a report as a text or Markdown file.")
    if not data.strip():
        raise UsageError(f"{name} is empty.", "Give a report as a text or Markdown file.")
    for encoding in ("utf-8-sig", "utf-16") if wide else ("utf-8-sig",):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", "replace")


def _stored(folder: Path, source: "Source") -> str:
    path = folder / source.file
    return path.read_text("utf-8", "replace") if path.is_file() and not path.is_symlink() else ""

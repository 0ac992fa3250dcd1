"""Any finished run may enter the vault: its report goes through the same gate and the same seam as a bounded run's note."""

import re
from pathlib import Path

from deepdelve.core.errors import UsageError
from deepdelve.engine import store
from deepdelve.engine.bounded.database import Database
from deepdelve.engine.bounded.gate import GateResult, check_synthesis
from deepdelve.engine.bounded.ledger import sha256
from deepdelve.engine.bounded.records import FetchedSource
from deepdelve.engine.vault.layout import Vault
from deepdelve.engine.vault.seam import IngestResult, IngestSeam
from deepdelve.engine.vault.sources import Reference, note
from deepdelve.utils.run_state import RunState
from deepdelve.utils.urls import canonical

_IDS = re.compile(r"\[\s{0,2}(S\d{1,6}(?:\s{0,2}[,;]\s{0,2}S\d{1,6}){0,12})\s{0,2}\]")
_FINISHED = frozenset({"verified", "unverified", "partial"})


def add_run(run_id: str, vault: Vault, database: Database) -> tuple[IngestResult, GateResult]:
    """Let the report of a finished run into the vault, without what its sources do not carry. Blocking.

    Raises:
        RunNotFoundError: there is no such run.
        UsageError: it has no report, or nothing of it is carried.
        DiskError: the vault cannot be written.
    """
    folder = store.find_run(run_id)
    state = store.load_state(folder)
    draft = folder / "draft" / "final_report.md"
    if state.outcome not in _FINISHED or not draft.is_file():
        raise UsageError(f"Run {folder.name} has no finished report.", "Finish it first: deepdelve finish " + folder.name)
    sources = _sources(folder, state)
    numbers = {source_id: n for n, (source_id, _) in enumerate(sources, 1)}
    fetched = [source for _, source in sources]
    text = _IDS.sub(lambda match: _numbered(match[1], numbers), draft.read_text("utf-8", "replace"))
    result = check_synthesis(text, state.question, fetched)
    if not result.ok:
        raise UsageError(
            f"The report of run {folder.name} may not enter the vault: {result.problems[0]}.", "Only text that is carried may."
        )
    cited = [(n, source) for n, source in enumerate(fetched, 1) if n in result.cited]
    for _, source in cited:
        vault.keep_page(source.sha256, source.url, source.title, source.fetched_at, source.text)
    references = [Reference(n, source.title, source.url, source.sha256) for n, source in cited]
    path = vault.write_raw(note(f"run-{folder.name}", folder.name, state.question, result.text, references, result.counts, state.outcome))
    return IngestSeam(vault, database).ingest_file(path), result


def _sources(folder: Path, state: RunState) -> list[tuple[str, FetchedSource]]:
    """The citable sources of a run with their stored texts, in order of their ids."""
    found: list[tuple[str, FetchedSource]] = []
    for number, source in enumerate(state.citable_sources(), 1):
        path = folder / source.file
        text = path.read_text("utf-8", "replace") if path.is_file() and not path.is_symlink() else ""
        text = text.replace("\r\n", "\n").strip()
        fetched = FetchedSource(
            number, source.url, canonical(source.url), source.title, text, 1, sha256=sha256(text), fetched_at=source.fetched_at
        )
        if fetched.usable:
            found.append((source.id, fetched))
    return found


def _numbered(ids: str, numbers: dict[str, int]) -> str:
    """Source ids as the numbers of this page; one that is not usable gets a number that the gate refuses."""
    parts = [part.strip() for part in re.split(r"[,;]", ids)]
    return "[" + ", ".join(str(numbers.get(part, 0)) for part in parts) + "]"

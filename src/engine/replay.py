"""Replaying a recorded run offline, and packing a run for a bug report."""

import tarfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import StateError, UsageError
from deepdelve.core.requests import RunRequest, Surface, surface_kind
from deepdelve.engine import evidence_bundle, store
from deepdelve.engine.backends.record import Replayer, ReplayingFactory, ReplayingFetcher, ReplayingSearch, key_of
from deepdelve.engine.context import RunContext
from deepdelve.engine.setup import Prepared, context_for, new_run
from deepdelve.engine.usage import RunHooks
from deepdelve.utils.files import write_elsewhere
from deepdelve.utils.secrets import mask_for

_TEXT_SUFFIXES = frozenset({".md", ".json", ".jsonl", ".bib", ".html", ".txt"})


def open_replay(run_id: str, surface: Surface) -> tuple[RunContext, Path]:
    """A new run that takes every outside answer from the record of an earlier one; and that one's folder.

    Raises:
        RunNotFoundError: there is no such run.
        UsageError: it was not recorded, or not to its end.
        StateError: its record is damaged.
    """
    folder = store.find_run(run_id)
    replayer = Replayer.load(folder)
    if any(isinstance(event, ev.RunResumed) for event in store.load_events(folder)):
        raise UsageError(
            f"Run {folder.name} was resumed, and what it did since then was not recorded.",
            "Only what a run does in one go can be replayed.",
        )
    hooks = RunHooks()
    try:
        prepared = _prepared(replayer, folder, hooks)
    except (KeyError, TypeError, ValueError) as error:
        raise StateError(
            f"The record of run {folder.name} is damaged, or of another version.", "Record the run anew with --record."
        ) from error
    request = RunRequest(question=prepared.question, style=prepared.settings.settings.report_style, depth=prepared.settings.settings.depth)
    person = RecordedPerson(surface, bool(replayer.facts.get("takes_questions")), store.load_events(folder))
    run = new_run(request, prepared, person)
    return context_for(run, prepared, person, auto_approve=bool(replayer.facts.get("auto_approve", True))), folder


def _prepared(replayer: Replayer, folder: Path, hooks: RunHooks) -> Prepared:
    """What the record says that the run had, with the record in the place of model, search and web."""
    facts = replayer.facts
    settings = Settings.model_validate(facts["settings"])
    settings.settings.report_style, settings.settings.depth = facts["style"], facts["depth"]
    return Prepared(
        settings=settings,
        question=str(facts["question"]),
        backend=ReplayingFactory(replayer, hooks.hooks),
        backend_line=f"Replaying run {folder.name} from its record, offline.",
        search=ReplayingSearch(replayer, str(facts["search"])),
        fetcher=ReplayingFetcher(replayer),
        seeds=tuple(facts["seeds"]),
        hooks=hooks,
        nonce=str(facts["nonce"]),
        date=str(facts["date"]),
        findings=ReplayingSearch(replayer, "earlier run") if facts.get("findings") else None,
        history=ReplayingSearch(replayer, "history") if facts.get("history") else None,
        evidence=evidence_bundle.load(Path(facts["evidence_dir"])) if facts.get("evidence_dir") else None,
        scope=facts.get("scope", ""),
    )


class RecordedPerson:
    """The person of a recorded run: whatever is asked again gets the answer that it got then.

    Args:
        surface: sees the events of the replay.
        takes_questions: whether questions were put before research began.
        events: the journal of the recorded run.
    """

    def __init__(self, surface: Surface, takes_questions: bool, events: Iterable[ev.Event]) -> None:
        self.kind = surface_kind(surface)
        self.takes_questions = takes_questions
        self._surface = surface
        asked: dict[str, str] = {}
        self._answers: dict[str, list[dict[str, Any]]] = {}
        for event in events:
            if isinstance(event, ev.Asked):
                asked[event.ask_id] = _asked_key(event)
            elif isinstance(event, ev.Answered) and event.ask_id in asked:
                self._answers.setdefault(asked[event.ask_id], []).append(event.answer)

    def on_event(self, event: ev.Event) -> None:
        """Part of ``Surface``."""
        self._surface.on_event(event)

    async def ask(self, asked: ev.Asked) -> dict[str, Any]:
        """Part of ``Surface``: the recorded answer; of what was never asked, none, which allows nothing."""
        waiting = self._answers.get(_asked_key(asked))
        return waiting.pop(0) if waiting else {}


def _asked_key(asked: ev.Asked) -> str:
    return key_of("asked", asked.kind, asked.text, asked.options)


def bundle(run_id: str, settings: Settings, target: Path | None = None) -> Path:
    """Pack a run's folder as ``.tar.gz`` for a bug report; secrets in its text files are masked. Returns the file.

    ``target`` is a file, or a folder to put it into; the folder that one works in by default.

    Raises:
        RunNotFoundError: there is no such run.
        StateError: one of its files cannot be read.
        DiskError: the file cannot be written.
    """
    folder = store.find_run(run_id)
    out = target or Path.cwd()
    if out.is_dir():
        out /= f"{folder.name}.tar.gz"
    mask = mask_for(settings)
    packed = BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file() or path.name == "lease.json":
                continue
            data = _read(path)
            if path.suffix in _TEXT_SUFFIXES:
                data = mask(data.decode("utf-8", "replace")).encode("utf-8", "replace")
            info = tarfile.TarInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}")
            info.size, info.mode = len(data), 0o644
            archive.addfile(info, BytesIO(data))
    write_elsewhere(out, packed.getvalue(), mode=0o600)
    return out


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StateError(f"{path} cannot be read ({error.strerror or error}).", "Mend its permissions; nothing was packed.") from error

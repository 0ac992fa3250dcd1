"""Writes a delivered report in another format. The run is only read: whatever fails here, its files stay as they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from deepdelve.core.errors import DeepDelveError, ExportError, UsageError
from deepdelve.core.records import Source
from deepdelve.engine import store
from deepdelve.engine.writing import delivery
from deepdelve.engine.writing.export import document, references
from deepdelve.utils.files import write_elsewhere
from deepdelve.utils.grounding import ledger
from deepdelve.utils.run_state import RunState

FORMATS: tuple[str, ...] = ("md", "html", "pdf", "docx", "bib", "ris", "csl")
_OTHER_NAMES: Mapping[str, str] = {
    "markdown": "md",
    "htm": "html",
    "bibtex": "bib",
    "csl-json": "csl",
    "json": "csl",
}
_SUFFIXES: Mapping[str, str] = {"csl": "csl.json"}
_LANGUAGES: Mapping[str, str] = {
    "English": "en",
    "German": "de",
    "French": "fr",
    "Spanish": "es",
    "Portuguese": "pt",
    "Italian": "it",
    "Dutch": "nl",
    "Polish": "pl",
    "Swedish": "sv",
    "Norwegian": "no",
    "Danish": "da",
    "Finnish": "fi",
    "Czech": "cs",
    "Turkish": "tr",
    "Indonesian": "id",
    "Japanese": "ja",
    "Korean": "ko",
    "Chinese": "zh",
    "Arabic": "ar",
    "Persian": "fa",
    "Hebrew": "he",
    "Greek": "el",
    "Hindi": "hi",
    "Thai": "th",
    "Russian": "ru",
    "Ukrainian": "uk",
}


@dataclass(frozen=True)
class Exported:
    """A file that was written, and what a person should know of it; ``note`` is mostly empty."""

    path: Path
    format: str
    note: str = ""


def export(run_id: str, wanted: str, folder: Path) -> Exported:
    """Write a run's report in another format.

    Args:
        run_id: the run.
        wanted: a format, for ``<run id>.<format>`` in ``folder``; or a path, whose ending says the format.
        folder: where relative paths begin.

    Raises:
        UsageError: no such format, no report, or what the format needs is not installed.
        DiskError: the file could not be written; one that was there before stays as it was.
        ExportError: the report could not be brought into the format.
    """
    kind, named = format_of(wanted)
    run = store.find_run(run_id)
    path = folder / (named or f"{run.name}.{_SUFFIXES.get(kind, kind)}")
    if path.is_dir():
        raise UsageError(f"{path} is a folder.", f"Name a file in it: {path / f'report.{kind}'}")
    markdown = _read(run / delivery.REPORT)
    if not markdown:
        raise UsageError("This run has no report to export.", f"'deepdelve finish {run.name}' writes a partial one.")
    try:
        content, note = _content(kind, run, markdown)
    except DeepDelveError:
        raise
    except Exception as error:
        raise ExportError(
            f"The report could not be brought into the format {kind} ({type(error).__name__}).",
            "The run and its report are as they were; another format may do.",
        ) from error
    write_elsewhere(path, content)
    return Exported(path, kind, note)


def format_of(wanted: str) -> tuple[str, Path | None]:
    """The format that a word names, and the path if the word is one.

    Raises:
        UsageError: it names no format.
    """
    word = wanted.strip()
    if (kind := _format(word)) is not None:
        return kind, None
    path = Path(word).expanduser()
    if word and "\0" not in word and (kind := _format(path.suffix.removeprefix("."))) is not None:
        return kind, path
    shown = "".join(char for char in word if char.isprintable())[:60]
    raise UsageError(f"'{shown}' names no format.", f"Formats are {', '.join(FORMATS)}; a path ends in one of them, as in report.html.")


def _format(word: str) -> str | None:
    name = _OTHER_NAMES.get(word.lower(), word.lower())
    return name if name in FORMATS else None


def _content(kind: str, run: Path, markdown: str) -> tuple[bytes, str]:
    """The bytes of the file and a note."""
    if kind == "md":
        return markdown.encode("utf-8", "replace"), ""
    state = store.load_state(run)
    if kind in {"bib", "ris", "csl"}:
        write = {"bib": references.bibtex, "ris": references.ris, "csl": references.csl_json}[kind]
        cited = _cited(state)
        return write(cited).encode("utf-8", "replace"), "" if cited else "The report cites no source: the file is empty."
    made = _document(run, markdown, state)
    if kind == "html":
        from deepdelve.engine.writing.export import html

        return html.write(made).encode("utf-8", "replace"), ""
    if kind == "docx":
        from deepdelve.engine.writing.export import docx

        return docx.write(made), ""
    from deepdelve.engine.writing.export import pdf

    content, missing = pdf.write(made)
    return content, _font_note(missing)


def _font_note(missing: str) -> str:
    if not missing:
        return ""
    shown = " ".join(missing[:12]) + (" …" if len(missing) > 12 else "")
    return (
        f"No font of this machine has {len(missing)} of its letters ({shown}): they are boxes in the PDF. "
        "Install one that has them, such as Noto Sans CJK, and export again; html and docx need none."
    )


def _cited(state: RunState) -> list[Source]:
    """The sources in the order of their numbers."""
    return [state.sources[source_id] for source_id in state.citations if source_id in state.sources]


def _document(run: Path, markdown: str, state: RunState) -> document.Document:
    text = _read(run / delivery.CLAIMS)
    claims = ledger.from_json(text) if text else []
    carried = {claim.passage.source_id for claim in claims if claim.passage is not None}
    files = {key: state.sources[key].file for key in carried if key in state.sources and state.sources[key].file}
    texts = {key: _read(run / name) for key, name in files.items()}
    language = _LANGUAGES.get(state.language, "")
    return document.build(markdown, claims, state.sources, texts, title=state.question, language=language)


def _read(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""

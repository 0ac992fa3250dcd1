"""Evidence bundles: a folder of texts with what they say, from which a run writes without any research of its own.

``docs/evidence-bundle.md`` documents the format. A bundle's claims are held against its texts like any Analyzer's.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from deepdelve.core.errors import StateError, UsageError
from deepdelve.core.records import ClaimText, Finding, Source
from deepdelve.engine.evidence import evidence, facet_of
from deepdelve.engine.findings import Analysis, Judge, findings_from
from deepdelve.engine.gate import Dispatch
from deepdelve.engine.run import Run
from deepdelve.utils.fence import clean
from deepdelve.utils.files import write_elsewhere
from deepdelve.utils.run_state import RunState
from deepdelve.utils.urls import canonical
from deepdelve.utils.words import content_words, one_line, sentences

INDEX = "evidence.jsonl"
FACET = "Given evidence"
MAX_LINES = 5_000
MAX_TEXT_CHARS = 2_000_000
_MAX_LINE_BYTES = 16_000_000
_MAX_FILE_BYTES = 8_000_000
_MAX_CLAIMS = 200
_SCHEMES = frozenset({"http", "https", "corpus"})
_TELLING = 12
_FIRST = 5
_SENTENCE_CHARS = (20, 600)
_NAMED = 20


@dataclass(frozen=True)
class Entry:
    """One line of a bundle: a text, and what it says on one facet. ``claims`` may be empty: then the text speaks for itself."""

    url: str
    text: str
    title: str = ""
    facet: str = FACET
    author: str = ""
    date: str = ""
    claims: tuple[ClaimText, ...] = ()


@dataclass(frozen=True)
class Bundle:
    """A loaded bundle. ``skipped`` says of each line that could not be used which one and why."""

    folder: Path
    entries: tuple[Entry, ...]
    skipped: tuple[str, ...] = ()


def load(folder: Path) -> Bundle:
    """Read a bundle.

    Raises:
        UsageError: there is no bundle there, or no line of it can be used.
    """
    index = folder / INDEX
    if not index.is_file():
        hint = f"Give a folder that holds {INDEX}; 'deepdelve show RUN --export-evidence DIR' makes one."
        raise UsageError(f"There is no evidence bundle in {folder}.", hint)
    entries: list[Entry] = []
    skipped: list[str] = []
    try:
        for number, line in _lines(index):
            if number > MAX_LINES:
                skipped.append(f"line {number} and all that follow: a bundle holds {MAX_LINES} lines at most")
                break
            try:
                entries.append(_entry(line, folder))
            except _BadLine as bad:
                skipped.append(f"line {number}: {bad}")
    except OSError as error:
        raise UsageError(f"{index} cannot be read ({error.strerror or error}).", "Check the folder's permissions.") from error
    if not entries:
        why = f" First of {len(skipped)}: {skipped[0]}." if skipped else ""
        raise UsageError(f"No line of {index} can be used.{why}", "Each line is a JSON object with source_url and text (or file).")
    return Bundle(folder, tuple(entries), tuple(skipped))


async def record(run: Run, bundle: Bundle, judge: Judge) -> None:
    """Record a bundle's sources and findings as events; what an earlier process has recorded is left as it is.

    Raises:
        DiskError: a text could not be stored.
    """
    more = len(bundle.skipped) - _NAMED
    told = [f"Evidence bundle, {line}. It is left out." for line in bundle.skipped[:_NAMED]]
    for line in [*told, *([f"{more} more lines of the evidence bundle are left out."] if more > 0 else [])]:
        run.notice(line, level="warning", code="bundle_line_skipped")
    texts = _merged(bundle.entries)
    sources: dict[str, Source] = {}
    for entry in bundle.entries:
        url = canonical(entry.url)
        if url not in sources:
            sources[url] = run.source_by_url(url) or await run.keep(run.add_source, _source(entry, url), texts[url])
    known = {(finding.source_id, finding.facet) for finding in run.state.findings.values()}
    for entry in bundle.entries:
        source = sources[canonical(entry.url)]
        if (source.id, entry.facet) not in known:
            run.add_findings(await asyncio.to_thread(_findings, entry, source, run.read_source(source.id), run.state.question, judge))
    run.notice(f"Evidence bundle: {len(sources)} sources, {len(evidence(run.state))} findings. No research is done.", code="bundle")


def export(state: RunState, folder: Path, target: Path) -> int:
    """Write the evidence of a run as a bundle. Returns the number of its lines.

    Args:
        state: the run's state.
        folder: the run's folder, where the texts are.
        target: the folder to make.

    Raises:
        UsageError: the run has no evidence, or the target holds a bundle already or is no folder.
        StateError: the stored text of a source cannot be read.
        DiskError: it could not be written.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in evidence(state):
        groups.setdefault((finding.source_id, facet_of(finding, state)), []).append(finding)
    if not groups:
        raise UsageError(f"Run {state.run_id} has no evidence to export.", "'deepdelve show RUN --sources' tells what it found.")
    if (target / INDEX).exists():
        raise UsageError(f"{target} holds an evidence bundle already.", "Give another folder.")
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is no folder.", "Give a folder to be made.")
    texts = {source_id: _stored(folder, state.sources[source_id]) for source_id, _ in groups}
    for source_id, text in texts.items():
        write_elsewhere(target / "texts" / f"{source_id}.md", text)
    rows = [_row(state.sources[source_id], facet, found) for (source_id, facet), found in groups.items()]
    written = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_elsewhere(target / INDEX, written.encode("utf-8", "replace"))
    return len(rows)


def _stored(folder: Path, source: Source) -> bytes:
    """The stored text of a source, as it is."""
    try:
        return (folder / source.file).read_bytes()
    except OSError as error:
        why = f"The text of {source.id} is gone from the run's folder ({source.file}: {error.strerror or error})."
        raise StateError(why, "Put it back, or research the question anew.") from error


class _BadLine(Exception):
    """A line that cannot be used, and why."""


@dataclass
class _Texts:
    """The texts given for one address, each once, in order."""

    parts: list[str] = field(default_factory=list[str])

    def add(self, text: str) -> None:
        if not any(text in part for part in self.parts):
            self.parts.append(text)


def _lines(index: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, numbered from 1. One that is too long comes as a piece, which is no JSON."""
    with index.open("rb") as file:
        number = 0
        while line := file.readline(_MAX_LINE_BYTES):
            number += 1
            if line.strip():
                yield number, line


def _entry(line: bytes, folder: Path) -> Entry:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise _BadLine("it is no JSON object") from None
    if not isinstance(value, dict):
        raise _BadLine("it is no JSON object")
    row = cast("dict[str, Any]", value)
    url = _text(row, "source_url")
    if not url:
        raise _BadLine("source_url is missing")
    if _scheme(url) not in _SCHEMES:
        raise _BadLine(f"source_url '{one_line(url, 60)}' is no address")
    text = clean(_text(row, "text") or _from_file(row, folder))
    if not text.strip():
        raise _BadLine("it has neither text nor file" if not _text(row, "file") else "its file holds no text")
    if len(text) > MAX_TEXT_CHARS:
        raise _BadLine(f"its text has {len(text)} characters, and {MAX_TEXT_CHARS} are the most")
    return Entry(
        url=url,
        text=text,
        title=one_line(clean(_text(row, "title")), 300),
        facet=one_line(clean(_text(row, "facet")), 120) or FACET,
        author=one_line(clean(_text(row, "author")), 200),
        date=one_line(clean(_text(row, "date")), 40),
        claims=_claims(row),
    )


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return value.strip() if isinstance(value, str) else ""


def _scheme(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.scheme.lower() if parts.netloc or parts.path.strip("/") else ""


def _from_file(row: Mapping[str, Any], folder: Path) -> str:
    """The text of the file that a line names; only files within the bundle are read."""
    name = _text(row, "file")
    if not name:
        return ""
    shown = one_line(name, 80)
    try:
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise _BadLine(f"its file '{shown}' lies outside the bundle")
        if not path.is_file():
            raise _BadLine(f"its file '{shown}' is missing")
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise _BadLine(f"its file '{shown}' is too large")
        data = path.read_bytes()
    except (OSError, ValueError):
        raise _BadLine(f"its file '{shown}' cannot be read") from None
    if b"\x00" in data:
        raise _BadLine(f"its file '{shown}' is no text")
    return data.decode("utf-8", "replace")


def _claims(row: Mapping[str, Any]) -> tuple[ClaimText, ...]:
    """The claims of a line, else the sentences of its summary."""
    given: Any = row.get("claims")
    found: list[ClaimText] = []
    for item in cast("list[Any]", given) if isinstance(given, list) else []:
        if isinstance(item, dict):
            claim = cast("dict[str, Any]", item)
            found.append(ClaimText(text=one_line(clean(_text(claim, "text")), 2_000), quote=clean(_text(claim, "quote"))[:2_000]))
    found = [claim for claim in found if claim.text]
    summary = [] if found else sentences(clean(_text(row, "summary")))
    return tuple([*found, *(ClaimText(text=one_line(sentence, 2_000)) for sentence in summary)][:_MAX_CLAIMS])


def _merged(entries: tuple[Entry, ...]) -> dict[str, str]:
    """Address to its text: excerpts of one page that stand on several lines are one text."""
    texts: dict[str, _Texts] = {}
    for entry in entries:
        texts.setdefault(canonical(entry.url), _Texts()).add(entry.text)
    return {url: "\n\n".join(found.parts) for url, found in texts.items()}


def _source(entry: Entry, url: str) -> Source:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Source(
        id="", url=url, title=entry.title, author=entry.author, date=entry.date, fetched_at=now, status=200, kind="text", origin="bundle"
    )


def _findings(entry: Entry, source: Source, text: str, question: str, judge: Judge) -> list[Finding]:
    """What a line says of its text: its claims as far as the text carries them, else the text's own telling sentences."""
    reader = Dispatch(id="bundle", role="Analyzer", task=entry.facet, top_task=entry.facet, facet=entry.facet, depth=1)
    sources, texts = {source.id: source}, {source.id: text}
    found = findings_from(Analysis(claims={source.id: list(entry.claims)}), reader, sources, texts, judge) if entry.claims else []
    if any(not finding.flags for finding in found):
        return found
    own = [ClaimText(text=sentence, quote=sentence) for sentence in _telling(entry.text, f"{question} {entry.facet}")]
    return [*found, *findings_from(Analysis(claims={source.id: own} if own else {}), reader, sources, texts, judge)]


def _telling(text: str, about: str) -> list[str]:
    """The sentences that share most words with what is asked, in their order; without any, the first ones."""
    wanted = content_words(about)
    least, most = _SENTENCE_CHARS
    told = [s for s in dict.fromkeys(sentences(text)) if least <= len(s) <= most and not s.startswith(("#", "|"))]
    shared = {index: len(wanted & content_words(sentence)) for index, sentence in enumerate(told)}
    best = sorted((i for i, count in shared.items() if count), key=lambda i: (-shared[i], i))[:_TELLING]
    return [told[i] for i in sorted(best)] or told[:_FIRST]


def _row(source: Source, facet: str, found: list[Finding]) -> dict[str, Any]:
    claims = [claim for finding in found for claim in finding.claims]
    summary = [finding.summary for finding in found if finding.summary.strip()] or [claim.text for claim in claims]
    row: dict[str, Any] = {"source_url": source.url, "title": source.title, "file": f"texts/{source.id}.md", "facet": facet}
    row |= {key: value for key, value in (("author", source.author), ("date", source.date)) if value}
    row["summary"] = " ".join(one_line(part).rstrip(".") + "." for part in summary)
    if claims:
        row["claims"] = [{"text": claim.text, "quote": claim.quote} for claim in claims]
    return row

"""Notes on their way into the vault: the checked text of a run, with its references, as a file below ``raw/sources``."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from deepdelve.core.records import ClaimCounts
from deepdelve.engine.bounded.gate import GateResult
from deepdelve.engine.bounded.records import FetchedSource
from deepdelve.engine.language import language_of
from deepdelve.engine.vault.layout import RawSource
from deepdelve.engine.vault.markdown import safe_label, safe_markdown

TITLE_CHARS = 150


@dataclass(frozen=True)
class Reference:
    """One source of a note: the number by which it is cited, and the hash of its kept text."""

    n: int
    title: str
    url: str
    sha256: str


def research_source(run_id: str, topic: str, status: str, result: GateResult, sources: Sequence[FetchedSource]) -> RawSource:
    """The note of a bounded run; only cited sources are listed."""
    cited = [Reference(n, s.title, s.url, s.sha256) for n, s in enumerate(sources, 1) if n in result.cited]
    return note(f"deep-research-{run_id}", run_id, topic, result.text, cited, result.counts, status)


def note(name: str, run_id: str, topic: str, text: str, cited: Sequence[Reference], counts: ClaimCounts, status: str) -> RawSource:
    """A checked text as a source of the vault.

    Args:
        name: the file's name, which is also the source's id.
        run_id: the run that it is of.
        topic: what was asked; becomes the title.
        text: Markdown that cites by number.
        cited: the sources behind those numbers.
        counts: its claims by what became of them.
        status: how the run ended.
    """
    title = topic if len(topic) <= TITLE_CHARS else topic[: TITLE_CHARS - 1].rstrip() + "…"
    fields = {
        "type": "source",
        "title": title,
        "sources": [name],
        "deep_research_run_id": run_id,
        "topic": topic,
        "status": status,
        "created": datetime.now(UTC).date().isoformat(),
        "urls": [reference.url for reference in cited],
        "lang": language_of(topic) or "unknown",
        "grounding": grounding_of(counts),
    }
    return RawSource(name, fields, f"{safe_markdown(text).strip()}\n\n{references(cited)}")


def references(cited: Sequence[Reference]) -> str:
    """The list of sources, each with the text that was kept of it."""
    lines = [
        f"- \\[{reference.n}\\] [{safe_label(reference.title) or 'Untitled'}](<{reference.url}>) · "
        f"[kept text](<../../raw/assets/pages/{reference.sha256}.md>)"
        for reference in cited
    ]
    return "## References\n\n" + "\n".join(lines)


def grounding_of(counts: ClaimCounts) -> str:
    """In one word how well a text is carried by its sources."""
    if counts.unsupported or counts.contradicted or counts.unchecked or not counts.total:
        return "unverified"
    return "partly" if counts.partial else "verified"

"""Delivery: the draft becomes the report that a person reads, with its citations, marks, counts, outcome and notes.

Nothing is stripped out again later, because working drafts never hold any of it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from deepdelve.core import events as ev
from deepdelve.core.records import Claim, Outcome
from deepdelve.core.requests import CitationRef
from deepdelve.engine.completion.gaps import as_words, gap_question, gap_sentence
from deepdelve.engine.context import RunContext
from deepdelve.engine.writing import reader_notes
from deepdelve.utils import phrases
from deepdelve.utils.files import write_text_atomic
from deepdelve.utils.grounding import frame, ledger, render
from deepdelve.utils.phrases import say
from deepdelve.utils.run_state import RunState

_TITLE_CHARS = 300
REPORT = "final_report.md"
CLAIMS = "final_report.claims.json"
BIBLIOGRAPHY = "references.bib"
FINDINGS = "findings.md"


@dataclass(frozen=True)
class Delivered:
    """What was delivered."""

    citations: tuple[CitationRef, ...]
    claims: Sequence[Claim]


def deliver(ctx: RunContext, outcome: Outcome, problems: Sequence[str], reason: str, stand_in: str = "") -> Delivered:
    """Render the drafts into the delivered files and record it.

    Args:
        ctx: the run.
        outcome: how it ends.
        problems: what is left open.
        reason: why it ends so.
        stand_in: what is delivered where there is no draft. It is kept as no draft, so that a resumed run still does its research.

    Raises:
        DiskError: a file could not be written; files of an earlier delivery stay as they are.
    """
    run = ctx.run
    draft = stand_in or ctx.draft("final_report")
    sources = run.state.usable_sources()
    indexes = ctx.indexes()
    claims = ledger.build_ledger(draft, sources, indexes, ctx.verifier, run.state.question) if draft.strip() else []
    texts = {source_id: index.text for source_id, index in indexes.items()}
    rendered = render.render(draft, claims, sources, run.state.style, texts=texts, language=run.state.language)
    unanswered = sum(bool(gap_question(line)) for line in draft.split("\n"))
    banner = _banner(ctx, claims, outcome, problems, reason, unanswered)
    notes = reader_notes.render(run.state, ctx.services.settings.settings.ablation)
    shift = len(banner)
    placed = [_placed(claim, rendered.spans.get(claim.id), shift) for claim in claims]
    text = f"{banner}{rendered.text.rstrip()}\n{notes}"
    write_text_atomic(run.dir / CLAIMS, ledger.to_json(placed))
    write_text_atomic(run.dir / BIBLIOGRAPHY, render.bibtex(sources, rendered.order))
    findings = ctx.draft("findings")
    if findings.strip():
        found = render.render(findings, [], sources, "standard", language=run.state.language)
        write_text_atomic(run.dir / FINDINGS, found.text)
    write_text_atomic(run.dir / REPORT, text)
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    run.emit(
        ev.ReportDelivered(file=REPORT, style=run.state.style, citations=tuple(rendered.order), claims=ledger.counts(placed), sha256=digest)
    )
    return Delivered(citation_refs(run.state), placed)


def citation_refs(state: RunState) -> tuple[CitationRef, ...]:
    """The numbered sources of the delivered report."""
    cited = [state.sources[source_id] for source_id in state.citations if source_id in state.sources]
    return tuple(CitationRef(n, s.id, s.url, s.file, s.title) for n, s in enumerate(cited, 1))


def no_evidence_report(state: RunState) -> str:
    """The short report of a run that found nothing to cite: it says so, and claims nothing."""
    title = as_words(state.question)[:_TITLE_CHARS]
    lines = [f"# {title}", "", gap_sentence(title, state.language)]
    if state.queries:
        shown = "; ".join(dict.fromkeys(as_words(query).rstrip(" .?？؟") for query in state.queries[:8]))
        lines += ["", say("searched", state.language, queries=shown)]
    return "\n".join(lines) + "\n"


def _banner(ctx: RunContext, claims: Sequence[Claim], outcome: Outcome, problems: Sequence[str], reason: str, unanswered: int) -> str:
    """The lines at the top: what the report is, how the run ended, how many claims are carried, and what found no answer."""
    language = ctx.run.state.language
    number = ledger.counts(claims)
    told = [frame.label(outcome, language)]
    if number.total:
        told += [ledger.counts_line(number, language) + say("stop", language), say(ctx.checked_by, language)]
    # Without a claim, nothing was answered at all, and the outcome says so.
    if unanswered and number.total:
        told.append(phrases.counted("unanswered", unanswered, language))
    if reason:
        why = phrases.reason(reason, language).rstrip(".")
        told.append(why[:1].upper() + why[1:] + say("stop", language))
    if problems:
        told.append(say("open_problems", language, names=", ".join(problem.replace("_", " ") for problem in problems)))
    lines = [say("extractive", language)] if ctx.run.state.backend == "builtin" else []
    return "".join(f"> {line}\n" for line in [*lines, " ".join(told)]) + "\n"


def _placed(claim: Claim, span: tuple[int, int] | None, shift: int) -> Claim:
    if span is None:
        return claim
    return claim.model_copy(update={"delivered_span": (span[0] + shift, span[1] + shift)})

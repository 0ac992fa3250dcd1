"""What the checks read: one frozen context, prepared once per attempt. Everything costly is done here, linear in its input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deepdelve.config import CompletionSettings
from deepdelve.core.records import Claim, PlanItem, Source, Style, Task
from deepdelve.engine.completion.draft import Draft, parse_draft
from deepdelve.engine.completion.gaps import gap_question
from deepdelve.engine.completion.relations import Contradiction, beside_the_point, contradictions, off_topic
from deepdelve.engine.completion.verdict import Gap
from deepdelve.engine.evidence import evidence, sources_by_facet
from deepdelve.engine.facets import QuestionFacets, parse_question
from deepdelve.engine.task_ledger import Coverage, coverage, recompute, sources_by_task
from deepdelve.utils.run_state import RunState


@dataclass(frozen=True, slots=True)
class CitationProblem:
    """A citation that could not be mapped to a source id, as the citation parser found it."""

    kind: str
    detail: str = ""
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """What other rooms found in the report draft, as plain values. Empty fields mean that nothing was found.

    ``contradictions``, ``off_topic`` (cited source ids that do not speak of their facet) and ``excluded`` ((topic, sentence)
    pairs) are added to those found here; ``rejected`` are texts of report drafts that were rejected for grounding;
    ``truncated`` says that the model stopped at its output limit.
    """

    citation_problems: tuple[CitationProblem, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    off_topic: tuple[str, ...] = ()
    excluded: tuple[tuple[str, str], ...] = ()
    rejected: tuple[str, ...] = ()
    truncated: bool = False


@dataclass(frozen=True)
class CheckContext:
    """Everything that a check may look at. Mappings are never changed after ``prepare``."""

    question: str
    asked: QuestionFacets
    style: Style
    evidence_only: bool
    plan: tuple[PlanItem, ...]
    top_tasks: tuple[Task, ...]
    dispatched: bool
    sources: Mapping[str, Source]
    readable: frozenset[str]
    evidence_ids: frozenset[str]
    flagged_ids: frozenset[str]
    by_facet: Mapping[str, tuple[str, ...]]
    by_task: Mapping[str, tuple[str, ...]]
    coverage: Coverage
    entries: Mapping[str, Mapping[str, Any]]
    gaps: tuple[Gap, ...]
    findings: Draft
    report: Draft
    stamped_citable: int | None
    claims: tuple[Claim, ...]
    facts: ReportFacts
    contradictions: tuple[Contradiction, ...]
    off_topic: tuple[str, ...]
    beside: frozenset[str]
    rejected_drafts: tuple[Draft, ...]
    fired: Mapping[str, int]
    findings_due: bool
    report_due: bool
    limits: CompletionSettings = field(default_factory=CompletionSettings)

    @property
    def facets(self) -> tuple[str, ...]:
        """The parts of the question."""
        return self.asked.facets

    @property
    def citable(self) -> int:
        """How many sources can be cited now."""
        return len(self.readable)


def prepare(
    state: RunState,
    drafts: Mapping[str, str],
    claims: Sequence[Claim] = (),
    *,
    facts: ReportFacts | None = None,
    limits: CompletionSettings | None = None,
    findings_due: bool = True,
    report_due: bool = True,
) -> CheckContext:
    """Compute what the checks read.

    Args:
        state: the run's state; read only.
        drafts: artifact name (``findings``, ``final_report``) to the text of its draft; missing or blank means not written.
        claims: the claim ledger of the report draft.
        facts: what other rooms found in the report draft.
        limits: thresholds; the defaults where None.
        findings_due: whether the findings' own stage is over, so that their absence is a problem.
        report_due: the same for the report.
    """
    findings = parse_draft(drafts.get("findings", ""))
    report = parse_draft(drafts.get("final_report", ""))
    given = facts or ReportFacts()
    readable = frozenset(source.id for source in state.citable_sources())
    evidence_ids = frozenset(finding.source_id for finding in evidence(state))
    stamp = state.drafts.get("findings")
    entries = recompute(state)
    reached = coverage(state, entries)
    return CheckContext(
        question=state.question,
        asked=parse_question(state.question),
        style=state.style,
        evidence_only=state.evidence_only,
        plan=tuple(state.plan),
        top_tasks=tuple(state.top_tasks()),
        dispatched=any(task.state not in {"queued", "refused"} for task in state.tasks.values()),
        sources=dict(state.sources),
        readable=readable,
        evidence_ids=evidence_ids,
        flagged_ids=_flagged(state, evidence_ids),
        by_facet=sources_by_facet(state),
        by_task=sources_by_task(state),
        coverage=reached,
        entries=entries,
        gaps=open_gaps(state, reached.uncovered, findings),
        findings=findings,
        report=report,
        stamped_citable=stamp.citable if stamp is not None else None,
        claims=tuple(claims),
        facts=given,
        contradictions=(*given.contradictions, *contradictions(state, report)),
        off_topic=tuple(dict.fromkeys([*given.off_topic, *off_topic(state, report)])),
        beside=not_to_be_cited(state),
        rejected_drafts=tuple(parse_draft(text) for text in given.rejected),
        fired=_fired(state),
        findings_due=findings_due,
        report_due=report_due,
        limits=limits or CompletionSettings(),
    )


def open_gaps(state: RunState, uncovered: Sequence[str], findings: Draft) -> tuple[Gap, ...]:
    """What was asked and the evidence does not answer.

    That is facets of tasks without evidence, facets whose sources are all not to be cited, and gap sentences of the findings.
    """
    covered, beside = sources_by_facet(state), not_to_be_cited(state)
    found: dict[str, dict[str, None]] = {}
    for name in uncovered:
        facet = state.tasks[name].facet or name
        if facet not in covered:
            found.setdefault(facet, {})
    for facet, ids in covered.items():
        if set(ids) <= beside:
            found.setdefault(facet, {})
    for sentence in findings.sentences:
        question = gap_question(sentence.text)
        if question:
            found.setdefault(sentence.section or question, {})[question] = None
    return tuple(Gap(facet, tuple(questions)) for facet, questions in found.items())


def not_to_be_cited(state: RunState) -> frozenset[str]:
    """Sources that no facet can rest on: they are beside the point, or have no address that a reader can open."""
    return beside_the_point(state) | {source.id for source in state.sources.values() if not (source.url or source.final_url).strip()}


def _flagged(state: RunState, evidence_ids: frozenset[str]) -> frozenset[str]:
    """Sources that only flagged findings speak of."""
    return frozenset(f.source_id for f in state.findings.values() if f.kind == "claim" and f.flags and f.source_id) - evidence_ids


def _fired(state: RunState) -> dict[str, int]:
    counts: dict[str, int] = {}
    for attempt in state.attempts_log:
        if attempt.problem:
            counts[attempt.problem] = counts.get(attempt.problem, 0) + 1
    return counts

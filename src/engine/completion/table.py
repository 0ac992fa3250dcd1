"""The one ordered table of completion checks. Priority is the position in it; every routing set is derived from it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from deepdelve.config import nearest
from deepdelve.core.errors import ConfigError
from deepdelve.core.records import Artifact
from deepdelve.engine.completion import coverage, grounding, structural
from deepdelve.engine.completion.context import CheckContext
from deepdelve.engine.completion.verdict import Facts, Tier, Verdict

Remedy = Literal[
    "planner_nudge",
    "plan_note",
    "deepening",
    "acknowledge_gap",
    "findings_writer",
    "findings_facets",
    "findings_entries",
    "builder",
    "builder_facets",
    "report_by_code",
    "gap_section",
    "citation_repair",
]
# What ends a problem: a writer changes the draft; the condition ends of itself; code acknowledges the gap; or nothing but
# the schedule's cap, after which the run goes on and names it.
Resolution = Literal["writer", "self_clearing", "acknowledged", "capped"]
Check = Callable[[CheckContext], Facts | None]

RESEARCH_REMEDIES: frozenset[Remedy] = frozenset({"planner_nudge", "deepening"})
WRITER_REMEDIES: frozenset[Remedy] = frozenset(
    {
        "findings_writer",
        "findings_facets",
        "findings_entries",
        "builder",
        "builder_facets",
        "report_by_code",
        "gap_section",
        "citation_repair",
    }
)
FINDINGS_REMEDIES: frozenset[Remedy] = frozenset({"findings_writer", "findings_facets", "findings_entries"})


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """One row.

    ``remedy`` is a chain: the first firing of the run gets the first, the next one the second, the last is repeated.
    ``quarantine`` names the draft to set aside before the remedy. ``needs_research`` rows are skipped in evidence-only
    runs. ``sibling`` is the problem that this one yields to; wins of ``symptoms`` do not interrupt its streak.
    ``tier_member`` rows count as wins of their tier. A problem that ``blocks`` keeps a run from being verified.
    """

    problem: str
    tier: Tier
    check: Check
    remedy: tuple[Remedy, ...]
    quarantine: Artifact | None = None
    needs_research: bool = False
    sibling: str = ""
    symptoms: frozenset[str] = frozenset()
    tier_member: bool = True
    blocks: bool = True
    resolution: Resolution | None = None

    @property
    def artifact(self) -> Artifact | Literal[""]:
        """The draft that the remedies change; empty where they change none."""
        for remedy in self.remedy:
            if remedy in WRITER_REMEDIES:
                return "findings" if remedy in FINDINGS_REMEDIES else "final_report"
        return ""

    def remedy_at(self, firings: int, evidence_only: bool = False, off: Collection[str] = ()) -> Remedy | None:
        """The remedy for a problem that fired so many times before, or None.

        Research is left out in evidence-only runs, and so are the remedies that are switched off.
        """
        closed = {*off, *(RESEARCH_REMEDIES if evidence_only else ())}
        chain: list[Remedy] = [remedy for remedy in self.remedy if remedy not in closed]
        return chain[min(firings, len(chain) - 1)] if chain else None


# A retry under a new name is no reason to start counting afresh.
_RENAMED = frozenset({"untracked_delegation"})


def _builder(problem: str, check: Check, *, first: tuple[Remedy, ...] = (), quarantine: bool = False) -> CheckSpec:
    """A grounding row that the Builder mends."""
    aside: Artifact | None = "final_report" if quarantine else None
    return CheckSpec(problem, "grounding", check, (*first, "builder"), quarantine=aside, resolution="writer")


TABLE: tuple[CheckSpec, ...] = (
    CheckSpec("not_delegated", "structural", structural.not_delegated, ("planner_nudge",), resolution="self_clearing"),
    CheckSpec("missing_findings", "structural", structural.missing_findings, ("findings_writer",), resolution="writer"),
    CheckSpec(
        "findings_ungrounded",
        "structural",
        structural.findings_ungrounded,
        ("findings_writer",),
        quarantine="findings",
        resolution="writer",
    ),
    CheckSpec("stale_findings", "structural", structural.stale_findings, ("findings_writer",), resolution="writer"),
    CheckSpec(
        "findings_underuses_evidence",
        "structural",
        coverage.findings_underuses_evidence,
        ("findings_facets", "findings_entries"),
        resolution="writer",
    ),
    CheckSpec("missing_artifact", "structural", structural.missing_artifact, ("builder", "report_by_code"), resolution="writer"),
    CheckSpec(
        "missing_query_facet",
        "structural",
        coverage.missing_query_facet,
        ("deepening", "builder"),
        needs_research=True,
        resolution="writer",
    ),
    CheckSpec(
        "requested_count_shortfall",
        "structural",
        coverage.requested_count_shortfall,
        ("deepening", "builder"),
        needs_research=True,
        resolution="writer",
    ),
    CheckSpec(
        "thin_coverage",
        "structural",
        coverage.thin_coverage,
        ("deepening", "planner_nudge"),
        needs_research=True,
        symptoms=_RENAMED,
        resolution="capped",
    ),
    CheckSpec(
        "task_verification_flagged",
        "structural",
        coverage.task_verification_flagged,
        ("planner_nudge", "acknowledge_gap"),
        needs_research=True,
        symptoms=_RENAMED,
        resolution="acknowledged",
    ),
    CheckSpec(
        "uneven_task_investment",
        "structural",
        coverage.uneven_task_investment,
        ("planner_nudge",),
        needs_research=True,
        symptoms=_RENAMED,
        blocks=False,
        resolution="capped",
    ),
    CheckSpec(
        "report_underuses_findings",
        "structural",
        coverage.report_underuses_findings,
        ("builder",),
        sibling="report_underuses_evidence",
        blocks=False,
        resolution="writer",
    ),
    CheckSpec(
        "undisclosed_evidence_gap",
        "structural",
        coverage.undisclosed_evidence_gap,
        ("builder", "gap_section"),
        resolution="writer",
    ),
    CheckSpec(
        "duplicate_report_sections",
        "structural",
        structural.duplicate_report_sections,
        ("builder",),
        quarantine="final_report",
        resolution="writer",
    ),
    CheckSpec("report_meta_language", "structural", structural.report_meta_language, ("builder",), resolution="writer"),
    CheckSpec(
        "untracked_delegation", "structural", structural.untracked_delegation, ("plan_note",), blocks=False, resolution="self_clearing"
    ),
    _builder("not_grounded", grounding.not_grounded, quarantine=True),
    _builder("no_urls", grounding.no_urls),
    _builder("non_url_citation", grounding.non_url_citation),
    _builder("unresolved_citation", grounding.unresolved_citation, first=("citation_repair",)),
    _builder("stub_source", grounding.stub_source, quarantine=True),
    _builder("claim_unsupported", grounding.unsupported("statement")),
    _builder("figure_unsupported", grounding.unsupported("figure")),
    _builder("regulation_unsupported", grounding.unsupported("regulation")),
    _builder("quote_paraphrased", grounding.unsupported("quote")),
    _builder("entailment_unsupported", grounding.unsupported("entailment")),
    _builder("cross_source_contradiction", grounding.cross_source_contradiction),
    _builder("excluded_topic", grounding.excluded_topic),
    _builder("off_topic_source", grounding.off_topic_source),
    _builder("propagated_ungrounded_content", grounding.propagated_ungrounded_content),
    _builder("uncited_claims", grounding.uncited_claims),
    CheckSpec("report_underuses_evidence", "grounding", coverage.report_underuses_evidence, ("builder_facets",), resolution="writer"),
    CheckSpec(
        "missing_specific_item_per_facet",
        "grounding",
        coverage.missing_specific_item_per_facet,
        ("builder_facets",),
        tier_member=False,
        blocks=False,
        resolution="writer",
    ),
    _builder("placeholder_text", grounding.placeholder_text),
    _builder("truncated_ending", grounding.truncated_ending),
)


def by_problem(table: Sequence[CheckSpec] = TABLE) -> dict[str, CheckSpec]:
    """Problem name to its row."""
    return {spec.problem: spec for spec in table}


def tier_problems(tier: Tier, table: Sequence[CheckSpec] = TABLE) -> frozenset[str]:
    """Problems whose wins count as wins of the tier."""
    return frozenset(spec.problem for spec in table if spec.tier == tier and spec.tier_member)


def active_table(table: Sequence[CheckSpec] = TABLE, *, evidence_only: bool = False, disabled: Iterable[str] = ()) -> tuple[CheckSpec, ...]:
    """The rows in force: without ablated ones, and without those that need research where there is none."""
    off = set(disabled)
    return tuple(spec for spec in table if spec.problem not in off and not (evidence_only and spec.needs_research))


def evaluate(ctx: CheckContext, table: Sequence[CheckSpec] = TABLE) -> dict[str, Verdict]:
    """Run every check; the active problems with their facts, in table order."""
    found: dict[str, Verdict] = {}
    for spec in active_table(table, evidence_only=ctx.evidence_only):
        facts = spec.check(ctx)
        if facts is not None:
            found[spec.problem] = Verdict(spec.problem, facts, spec.tier, spec.artifact)
    return found


def disabled_checks(ablation: Mapping[str, bool], other: Iterable[str] = (), table: Sequence[CheckSpec] = TABLE) -> frozenset[str]:
    """Problems whose check is switched off by ``disable_check_<problem>: true``.

    Args:
        ablation: the settings' ``ablation`` group.
        other: further names that the group may hold (passes and remedies that can be switched off elsewhere).
        table: the checks.

    Raises:
        ConfigError: a name that is neither; it gives the nearest one.
    """
    known = {f"disable_check_{spec.problem}": spec.problem for spec in table}
    others = {*other, *(f"disable_remedy_{remedy}" for remedy in get_args(Remedy))}
    for name in ablation:
        if name not in known and name not in others:
            near = nearest(name, [*known, *sorted(others)])
            hint = f"Did you mean {near}?" if near else "`deepdelve checks` lists the problems; write disable_check_<problem>."
            raise ConfigError(f"settings.ablation has no switch named {name}.", hint)
    return frozenset(known[name] for name, off in ablation.items() if off and name in known)


def disabled_remedies(ablation: Mapping[str, bool]) -> frozenset[str]:
    """Remedies that are switched off by ``disable_remedy_<remedy>: true``."""
    return frozenset(remedy for remedy in get_args(Remedy) if ablation.get(f"disable_remedy_{remedy}"))


def remedy_names() -> tuple[str, ...]:
    """The names of all remedies."""
    return get_args(Remedy)


def listing(disabled: Iterable[str] = (), table: Sequence[CheckSpec] = TABLE) -> list[dict[str, str | bool]]:
    """The rows for a reader, in order: problem, tier, remedy (its chain), blocks, resolution, enabled."""
    off = set(disabled)
    return [
        {
            "problem": spec.problem,
            "tier": spec.tier,
            "remedy": ", then ".join(spec.remedy),
            "blocks": spec.blocks,
            "resolution": spec.resolution or "",
            "enabled": spec.problem not in off,
        }
        for spec in table
    ]


def audit(table: Sequence[CheckSpec] = TABLE) -> list[str]:
    """What is wrong with the table itself, one sentence each; empty when it is sound."""
    names = [spec.problem for spec in table]
    faults = [f"{name} stands in the table twice." for name in sorted({n for n in names if names.count(n) > 1})]
    seen_grounding = False
    for spec in table:
        seen_grounding = seen_grounding or spec.tier == "grounding"
        faults += [f"{spec.problem} {fault}" for fault in _row_faults(spec, set(names))]
        if spec.tier == "structural" and seen_grounding:
            faults.append(f"{spec.problem} is structural and stands after a grounding check.")
    return faults


def _row_faults(spec: CheckSpec, names: set[str]) -> list[str]:
    writes = bool(set(spec.remedy) & WRITER_REMEDIES)
    rules = {
        "has no resolution.": spec.resolution is None,
        "has no remedy.": not spec.remedy,
        "says that a writer resolves it, and no writer does.": spec.resolution == "writer" and not writes,
        "says that its gap is acknowledged, and nothing acknowledges it.": spec.resolution == "acknowledged"
        and not set(spec.remedy) & {"acknowledge_gap", "gap_section"},
        "sets a draft aside that no remedy writes anew.": spec.quarantine is not None and spec.quarantine != spec.artifact,
        "has only remedies that need research, and runs where there is none.": spec.problem != "not_delegated"
        and not spec.needs_research
        and bool(spec.remedy)
        and set(spec.remedy) <= RESEARCH_REMEDIES,
        f"yields to {spec.sibling}, which is not in the table.": bool(spec.sibling) and spec.sibling not in names,
        "yields to itself.": spec.sibling == spec.problem,
        "names a symptom that is not in the table.": not spec.symptoms <= names,
        "has itself as a symptom.": spec.problem in spec.symptoms,
    }
    return [fault for fault, broken in rules.items() if broken]

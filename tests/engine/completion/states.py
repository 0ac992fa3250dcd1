"""Small run states for tests: sources, findings and tasks in one line each, and a report that every check accepts."""

from collections.abc import Mapping, Sequence
from typing import Any

from deepdelve.core.records import Claim, ClaimText, Finding, Flag, PlanItem, Source, Task
from deepdelve.engine.completion.context import CheckContext, ReportFacts, prepare
from deepdelve.engine.completion.table import evaluate
from deepdelve.engine.completion.verdict import Verdict
from deepdelve.utils.run_state import Attempt, DraftStamp, RunState

QUESTION = "Compare rent levels and food prices in Helsinki"
FINDINGS = "## rent levels\n\n- The rent is 900 EUR [S1]\n\n## food prices\n\n- Milk costs 1.20 EUR [S2]\n"
REPORT = (
    "# Helsinki\n\n## Rent levels\n\nThe average rent of a flat is 900 EUR a month [S1].\n\n"
    "## Food prices\n\nA litre of milk costs 1.20 EUR in shops [S2].\n"
)


def source(source_id: str, **fields: Any) -> Source:
    given: dict[str, Any] = {
        "id": source_id,
        "url": f"https://site{source_id[1:]}.example/page",
        "file": f"sources/{source_id}.md",
        "title": f"Page {source_id}",
    }
    return Source(**{**given, **fields})


def task(name: str, **fields: Any) -> Task:
    given: dict[str, Any] = {"name": name, "top": name, "state": "done", "facet": name, "instructions": f"Find out about {name}"}
    return Task(**{**given, **fields})


def finding(number: int, source_id: str, top: str, *texts: str, flags: Sequence[Flag] = (), **fields: Any) -> Finding:
    claims = tuple(ClaimText(text=text) for text in texts or (f"Statement {number} on {top}",))
    given: dict[str, Any] = {"id": f"F{number}", "source_id": source_id, "task": top, "top_task": top, "claims": claims}
    return Finding(**{**given, "flags": tuple(flags), **fields})


def state_of(
    sources: Sequence[Source] = (), tasks: Sequence[Task] = (), findings: Sequence[Finding] = (), plan: Sequence[str] = (), **fields: Any
) -> RunState:
    given: dict[str, Any] = {"question": QUESTION, **fields}
    return RunState(
        sources={s.id: s for s in sources},
        tasks={t.name: t for t in tasks},
        findings={f.id: f for f in findings},
        plan=[PlanItem(name=name, instructions=f"Find out about {name}") for name in plan],
        **given,
    )


def good_state(**fields: Any) -> RunState:
    """Two tasks, two sources, evidence for both facets."""
    given: dict[str, Any] = {
        "sources": [source("S1"), source("S2")],
        "tasks": [task("rent levels"), task("food prices")],
        "findings": [finding(1, "S1", "rent levels"), finding(2, "S2", "food prices")],
        "plan": ["rent levels", "food prices"],
    }
    state = state_of(**{**given, **fields})
    state.drafts = {"findings": DraftStamp(file="draft/findings.md", citable=len(state.citable_sources()))}
    return state


def context_of(
    state: RunState,
    report: str = REPORT,
    findings: str = FINDINGS,
    claims: Sequence[Claim] = (),
    facts: ReportFacts | None = None,
    **fields: Any,
) -> CheckContext:
    return prepare(state, {"findings": findings, "final_report": report}, claims, facts=facts, **fields)


def verdicts(state: RunState, report: str = REPORT, findings: str = FINDINGS, **fields: Any) -> Mapping[str, Verdict]:
    return evaluate(context_of(state, report, findings, **fields))


def claim(text: str, status: str = "supported", kind: str = "statement", citations: Sequence[str] = ("S1",), **fields: Any) -> Claim:
    given: dict[str, Any] = {
        "id": f"C{abs(hash(text)) % 1000}",
        "text": text,
        "status": status,
        "kind": kind,
        "citations": tuple(citations),
    }
    return Claim(**{**given, **fields})


def log(*problems: str) -> list[Attempt]:
    return [Attempt(attempt=number, problem=problem) for number, problem in enumerate(problems, 1)]

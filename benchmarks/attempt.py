"""One whole attempt of the completion check without a model: claim ledger, context, every check of the table.

``python -m benchmarks.attempt [--json]`` prints CPU seconds for a report of 10,000 words that cites 200 sources of 20,000
characters: *cold* as a process that has met none of the words yet, *first* with the indexes of the sources built, *later* as in
every further attempt of a run, which keeps them.
``exponent`` is how the time of a later attempt grows with the report, from 10,000 to 100,000 words.
"""

import argparse
import json
import math
import time
from collections.abc import Mapping
from itertools import pairwise

from benchmarks.grounding_speed import QUESTION, make
from deepdelve.core.records import Claim, ClaimText, Finding, PlanItem, Source, Task
from deepdelve.engine.completion.context import CitationProblem, ReportFacts, prepare
from deepdelve.engine.completion.table import evaluate
from deepdelve.utils.grounding import citations, ledger
from deepdelve.utils.grounding.index import SourceIndex
from deepdelve.utils.grounding.support import LexicalVerifier
from deepdelve.utils.run_state import RunState

WORDS, SOURCES, CHARACTERS, TASKS = 10_000, 200, 20_000, 20
ROUNDS = 3
TARGETS = {"cold_cpu_seconds": 0.5, "first_cpu_seconds": 0.5, "later_cpu_seconds": 0.5, "exponent": 1.15}


def state_with(texts: Mapping[str, str]) -> RunState:
    """A state in which each source was read for one of twenty tasks, with five claims of its own."""
    state = RunState(question=QUESTION, processes=1)
    names = [f"region {n}" for n in range(TASKS)]
    state.plan = [PlanItem(name=name, facet=name) for name in names]
    state.tasks = {name: Task(name=name, top=name, depth=1, role="Searcher", facet=name, state="done") for name in names}
    for number, (key, text) in enumerate(texts.items()):
        name = names[number % TASKS]
        state.sources[key] = Source(id=key, url=f"https://site.example/{key}", title=key, file=f"sources/{key}.md", state="ok", status=200)
        claims = tuple(ClaimText(text=sentence) for sentence in text.split(". ")[:5])
        finding = Finding(id=f"F{number}", source_id=key, task=name, top_task=name, facet=name, depth=1, role="Analyzer", claims=claims)
        state.findings[finding.id] = finding
    return state


def attempt(state: RunState, report: str, indexes: Mapping[str, SourceIndex]) -> int:
    """The costly part of one attempt, as the pipeline does it off the event loop. Returns how many claims there were."""
    usable = state.usable_sources()
    parsed = citations.parse(report, known=set(usable))
    claims: list[Claim] = ledger.build_ledger(report, usable, indexes, LexicalVerifier(), state.question, parsed=parsed)
    facts = ReportFacts(tuple(CitationProblem(problem.kind, problem.detail) for problem in parsed.problems))
    evaluate(prepare(state, {"findings": report, "final_report": report}, claims, facts=facts))
    return len(claims)


def measure() -> dict[str, float]:
    """The figures."""
    report, texts = make(WORDS, SOURCES, CHARACTERS)
    state = state_with(texts)
    firsts: list[float] = []
    later = math.inf
    for _ in range(ROUNDS):
        start = time.process_time()
        indexes = {key: SourceIndex(key, text) for key, text in texts.items()}
        attempt(state, report, indexes)
        firsts.append(time.process_time() - start)
        later = min(later, _cpu(state, report, indexes))
    points = []
    for words in (10_000, 30_000, 100_000):
        grown, small = make(words, SOURCES, 4_000)
        made, small_indexes = state_with(small), {key: SourceIndex(key, text) for key, text in small.items()}
        attempt(made, grown, small_indexes)
        points.append((math.log(words), math.log(min(_cpu(made, grown, small_indexes) for _ in range(2)))))
    slope = sum(b[1] - a[1] for a, b in pairwise(points)) / (points[-1][0] - points[0][0])
    figures = {"cold_cpu_seconds": firsts[0], "first_cpu_seconds": min(firsts), "later_cpu_seconds": later, "exponent": slope}
    return {name: round(value, 3) for name, value in figures.items()}


def _cpu(state: RunState, report: str, indexes: Mapping[str, SourceIndex]) -> float:
    start = time.process_time()
    attempt(state, report, indexes)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    found = measure()
    print(json.dumps(found) if given.json else "\n".join(f"{name}: {value} (aim {TARGETS[name]})" for name, value in found.items()))


if __name__ == "__main__":
    main()

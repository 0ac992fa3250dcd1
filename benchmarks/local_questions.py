"""Whole runs of the built-in backend over a folder of passages: does the report cite the sources that hold the answer?

Each question is a run through the real engine. A row of the passages is ``{title, text}``, one of the questions
``{id, question, gold}`` with the titles of all passages that are needed. ``--beside-unchecked`` runs each question a second
time with every check of the completion check off, and tells what the checks cost: attempts, and citations lost.
"""

import argparse
import asyncio
import html
import json
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deepdelve.config import Settings
from deepdelve.core.events import Asked, CheckVerdict, Event
from deepdelve.core.requests import RunRequest, RunResult
from deepdelve.engine import facade
from deepdelve.engine.completion.table import TABLE


@dataclass(frozen=True)
class Summary:
    """What is printed. ``cpu_seconds`` is for all questions, imports and the index included.

    ``most_attempts`` is how many remedies the longest run had, ``runs_with_remedies`` how many runs had any;
    ``runs_that_lost_citations`` are those that cite a source less than the same run without checks (None: not compared).
    """

    questions: int
    all_gold: int
    any_gold: int
    max_cited: int
    cpu_seconds: float
    most_attempts: int = 0
    runs_with_remedies: int = 0
    runs_that_lost_citations: int | None = None


@dataclass
class Quiet:
    """A surface that shows nothing, and counts the remedies."""

    attempts: int = 0

    def on_event(self, event: Event) -> None:
        """Count the verdicts that asked for a remedy."""
        self.attempts += isinstance(event, CheckVerdict) and bool(event.problem)

    async def ask(self, asked: Asked) -> dict[str, Any]:
        """Allow."""
        del asked
        return {"decision": "allow"}


async def run_question(passages: Path, question: str, depth: str, *, checks: bool = True) -> tuple[RunResult, int]:
    """One run, and how many remedies it had."""
    settings, surface = Settings(), Quiet()
    if not checks:
        settings.settings.ablation = {f"disable_check_{spec.problem}": True for spec in TABLE}
    request = RunRequest(question=question, corpus=(str(passages),), backend="builtin", depth=depth, auto_approve=True)  # type: ignore[arg-type]
    handle = await facade.start(request, settings, surface)
    return await handle.wait(), surface.attempts


async def measure(passages: Path, questions: Path, limit: int | None, depth: str, verbose: bool, compare: bool = False) -> Summary:
    """Run all questions, one after the other."""
    rows = [json.loads(line) for line in questions.read_text("utf-8").splitlines() if line.strip()][:limit]
    outcomes: Counter[str] = Counter()
    found_all = found_any = most = longest = mended = lost = 0
    for row in rows:
        result, attempts = await run_question(passages, row["question"], depth)
        longest, mended = max(longest, attempts), mended + bool(attempts)
        if compare:
            bare, _ = await run_question(passages, row["question"], depth, checks=False)
            lost += not {citation.url for citation in bare.citations} <= {citation.url for citation in result.citations}
        cited = {_title(citation.title) for citation in result.citations}
        held = [_title(title) in cited for title in row["gold"]]
        found_all += all(held)
        found_any += any(held)
        most = max(most, len(result.citations))
        outcomes[result.outcome] += 1
        if verbose:
            missing = [title for title, there in zip(row["gold"], held, strict=True) if not there]
            print(
                f"{result.outcome:12} {len(result.citations)} cited, {result.problems}, missing {missing}: {row['question']}",
                file=sys.stderr,
            )
    if verbose:
        print(dict(outcomes), file=sys.stderr)
    return Summary(len(rows), found_all, found_any, most, round(time.process_time(), 2), longest, mended, lost if compare else None)


def _title(text: str) -> str:
    return " ".join(html.unescape(text).split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=Path, required=True, help="JSONL of {title, text}")
    parser.add_argument("--questions", type=Path, required=True, help="JSONL of {id, question, gold}")
    parser.add_argument("--limit", type=int, help="only the first N questions")
    parser.add_argument("--depth", choices=("quick", "standard", "deep"), default="standard")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--verbose", action="store_true", help="one line a question on stderr")
    parser.add_argument("--beside-unchecked", action="store_true", help="run each question a second time without any check")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DEEPDELVE_HOME"] = folder
        summary = asyncio.run(measure(given.passages, given.questions, given.limit, given.depth, given.verbose, given.beside_unchecked))
    values = asdict(summary)
    print(json.dumps(values) if given.json else "\n".join(f"{name}: {value}" for name, value in values.items()))


if __name__ == "__main__":
    main()

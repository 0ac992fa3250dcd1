"""Every fault of a model server, in every role, at its first and at its later turns, over both protocols: how the run ends.

    python -m benchmarks.model_faults [--faults NAME …] [--beside 4] [--write docs/model-faults.md] [--raw rows.jsonl]

One row a fault, one column a role. Each run goes over real sockets against the fake server of the tests.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from deepdelve.core.errors import BackendError
from tests.support.llm_replies import FAULTS, MODEL_FAULTS
from tests.support.model_runs import MAX_CALLS, PROTOCOLS, breaches, run_with_fault, watched_retries

ROLES = ("Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder", "PeerReviewer")
PLACES_SHOWN = ("first", "later")
HEAD = """# What a run does when its model server fails

Made by `python -m benchmarks.model_faults --write docs/model-faults.md`: {runs} whole runs over loopback sockets, the same question
about two rivers, with one fault in one role at a time: at the role's **first** call only, or at **every later** one. Each cell says
how the run ended: first / later. Where the two protocols differ, Ollama stands before OpenAI, with `|` between them.

`verified` and `partial` are reports; a partial one names what failed and why. `unverified` is a report with named problems.
`no_evidence` is the short report that says that nothing could be cited. `failed` is one sentence with what to do.

Of each run it is checked that it ends within its time and with at most {limit} model calls, logs no error, shows neither a Python
representation nor words of the fault in its report, gives no figure that no document holds, is verified only with both answers,
and else says why. {breaches} of {runs} runs broke one of these rules. Longest run: {longest:.1f} s. Most model calls: {calls}.
"""


async def one(case: tuple[str, str, str, str], slots: asyncio.Semaphore, raw: Path | None) -> dict[str, object]:
    """One run as a row; written down at once, so that a broken-off benchmark loses nothing."""
    fault, role, place, protocol = case
    async with slots:
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            row: dict[str, object] = {"fault": fault, "role": role, "place": place, "protocol": protocol}
            try:
                done = await run_with_fault(fault, role, place, protocol, Path(folder) / "rivers")
            except TimeoutError:
                row |= {"outcome": "hang", "breaches": ["did not end"], "calls": 0, "reason": ""}
            else:
                failed = isinstance(done, BackendError)
                row |= {
                    "outcome": "not started" if failed else done.result.outcome,
                    "breaches": breaches(done),
                    "calls": 0 if failed else len(done.server.chats()),
                    "reason": done.line() if failed else done.result.reason,
                }
            row["seconds"] = round(time.monotonic() - started, 2)
    if raw is not None:
        with raw.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return row


async def matrix(faults: Sequence[str], beside: int, raw: Path | None) -> list[dict[str, object]]:
    """All runs, a few side by side; those of an earlier, broken-off benchmark are taken from its raw rows."""
    known = rows_of(raw)
    slots = asyncio.Semaphore(beside)
    cases = [(f, r, w, p) for f in faults for r in ROLES for w in PLACES_SHOWN for p in PROTOCOLS]
    with watched_retries():
        return await asyncio.gather(*(one(case, slots, raw) if case not in known else _given(known[case]) for case in cases))


async def _given(row: dict[str, object]) -> dict[str, object]:
    return row


def rows_of(raw: Path | None) -> dict[tuple[str, ...], dict[str, object]]:
    """Rows written down before, by case."""
    lines = raw.read_text("utf-8").splitlines() if raw is not None and raw.is_file() else []
    rows = [json.loads(line) for line in lines]
    return {tuple(str(row[key]) for key in ("fault", "role", "place", "protocol")): row for row in rows}


def document(rows: Sequence[dict[str, object]]) -> str:
    """The page: what it is, a table each for faults of the model and of the server, and how often each outcome came."""
    broken = [row for row in rows if row["breaches"]]
    longest, calls = max(float(str(r["seconds"])) for r in rows), max(int(str(r["calls"])) for r in rows)
    parts = [HEAD.format(runs=len(rows), breaches=len(broken), longest=longest, calls=calls, limit=MAX_CALLS)]
    for title, names in (
        ("What the model says is wrong", [*MODEL_FAULTS]),
        ("What the server does is wrong", [*FAULTS[len(MODEL_FAULTS) :]]),
    ):
        parts += [f"## {title}\n", *table(names, rows), ""]
    counted = Counter(str(row["outcome"]) for row in rows)
    parts += ["## In all\n", ", ".join(f"{outcome} {number}" for outcome, number in counted.most_common()) + ".", ""]
    parts += [f"- {row['fault']}, {row['role']}, {row['place']}, {row['protocol']}: {row['breaches']}" for row in broken]
    return "\n".join(parts).rstrip() + "\n"


def table(faults: Iterable[str], rows: Sequence[dict[str, object]]) -> list[str]:
    """One row a fault, one column a role."""
    lines = ["| fault | " + " | ".join(ROLES) + " |", "|---" * (len(ROLES) + 1) + "|"]
    for fault in faults:
        cells = [" / ".join(cell(rows, fault, role, place) for place in PLACES_SHOWN) for role in ROLES]
        if any(c.strip(" /") for c in cells):
            lines.append(f"| `{fault}` | " + " | ".join(cells) + " |")
    return lines


def cell(rows: Sequence[dict[str, object]], fault: str, role: str, place: str) -> str:
    """The outcome of one case, once where both protocols agree."""
    found = {r["protocol"]: str(r["outcome"]) for r in rows if (r["fault"], r["role"], r["place"]) == (fault, role, place)}
    outcomes = [found[protocol] for protocol in PROTOCOLS if protocol in found]
    return " \\| ".join(dict.fromkeys(outcomes)) if len(set(outcomes)) < 2 else " \\| ".join(outcomes)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the matrix; exit 1 where a run broke a rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", nargs="*", default=list(FAULTS))
    parser.add_argument("--beside", type=int, default=4)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--raw", type=Path)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as home:
        os.environ["DEEPDELVE_HOME"] = home
        rows = asyncio.run(matrix(given.faults, given.beside, given.raw))
    page = document(rows)
    if given.write:
        given.write.write_text(page, encoding="utf-8")
    sys.stdout.write(page)
    return int(any(row["breaches"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())

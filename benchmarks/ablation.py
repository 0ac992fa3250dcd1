"""What each check is worth: runs with a scripted fault in a draft, with the check on and with it off.

``python -m benchmarks.ablation [--json]`` runs every fault of ``tests/support/faults.py`` four times: with a writer that
mends when it is told and with one that never does, each with its check on and off. A check is worth something where
without it a fault is delivered that would have been mended, or a run calls itself verified that would not have.
"""

import argparse
import asyncio
import json
import os
import tempfile
from pathlib import Path
from typing import Any


async def _one(fault: Any, folder: Path, *, mends: bool, on: bool) -> dict[str, Any]:
    from tests.support.faults import off

    settings = off() if on else off(f"disable_check_{fault.problem}")
    run = await fault.run(folder, mends=mends, settings=settings)
    return {"outcome": run.result.outcome, "fault_delivered": fault.seen(run.report), "calls": len(run.factory.calls)}


async def measure() -> list[dict[str, Any]]:
    """One row a fault: both writers, check on and off."""
    from tests.support.faults import FAULTS

    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for fault in FAULTS:
            row: dict[str, Any] = {"problem": fault.problem}
            for writer, mends in (("mends", True), ("never", False)):
                for state, on in (("on", True), ("off", False)):
                    row[f"{writer}_{state}"] = await _one(fault, Path(folder) / fault.problem / writer / state, mends=mends, on=on)
            row["worth"] = worth(row)
            rows.append(row)
    return rows


def worth(row: dict[str, Any]) -> str:
    """What would be lost without the check."""
    lost: list[str] = []
    if row["mends_off"]["fault_delivered"] and not row["mends_on"]["fault_delivered"]:
        lost.append("the fault is mended")
    if row["never_off"]["outcome"] == "verified" != row["never_on"]["outcome"]:
        lost.append("the label is true")
    return ", ".join(lost) or "nothing here: others see it too"


def main() -> None:
    """Print the table, or the rows as JSON."""
    parser = argparse.ArgumentParser(prog="benchmarks.ablation")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["DEEPDELVE_HOME"] = home
        rows = asyncio.run(measure())
    if args.json:
        print(json.dumps(rows))
        return
    print(f"{'check':<30} {'calls on/off':<14} {'writer never mends: on / off':<30} worth")
    for row in rows:
        calls = f"{row['mends_on']['calls']}/{row['mends_off']['calls']}"
        never = f"{row['never_on']['outcome']} / {row['never_off']['outcome']}"
        print(f"{row['problem']:<30} {calls:<14} {never:<30} {row['worth']}")


if __name__ == "__main__":
    main()

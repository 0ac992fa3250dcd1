"""What each check, remedy and pass is worth: runs with a scripted fault, with it on and with it off.

``python -m benchmarks.ablation [--json]`` runs every fault of a draft (``tests/support/faults.py``) four times: with a writer that
mends when it is told and with one that never does, each with its check on and off. A check is worth something where
without it a fault is delivered that would have been mended, or a run calls itself verified that would not have. Every fault that
a remedy or a pass is there for (``tests/support/help_faults.py``) is run with it on and off; it is worth something where
without it more is lost: the outcome, or what the fault takes away.
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


async def measure_help() -> list[dict[str, Any]]:
    """One row for each remedy and pass: outcome, carried claims and model calls with it and without it."""
    from tests.support.help_faults import PASSES, REMEDIES

    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for fault in (*REMEDIES, *PASSES):
            row: dict[str, Any] = {"switch": fault.switch, "fault": fault.what}
            for state, on in (("on", True), ("off", False)):
                run = await fault.run(Path(folder) / fault.switch / state, on=on)
                row[state] = {
                    "outcome": run.result.outcome,
                    "supported": run.result.claims.supported,
                    "calls": len(run.factory.calls),
                    "lost": fault.lost(run),
                }
            rows.append(row)
    return rows


def _print_help(rows: list[dict[str, Any]]) -> None:
    print(f"\n{'remedy or pass':<24} {'outcome on / off':<26} {'carried':<9} {'calls':<8} {'lost without':<13} fault")
    for row in rows:
        on, off = row["on"], row["off"]
        name = row["switch"].removeprefix("disable_").removeprefix("remedy_").removeprefix("pass_")
        outcomes, carried, calls = (f"{on[what]}/{off[what]}" for what in ("outcome", "supported", "calls"))
        lost = "yes" if off["lost"] and not on["lost"] else "no"
        print(f"{name:<24} {outcomes:<26} {carried:<9} {calls:<8} {lost:<13} {row['fault']}")


def main() -> None:
    """Print the tables, or the rows as JSON."""
    parser = argparse.ArgumentParser(prog="benchmarks.ablation")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["DEEPDELVE_HOME"] = home
        rows, helped = asyncio.run(measure()), asyncio.run(measure_help())
    if args.json:
        print(json.dumps({"checks": rows, "remedies_and_passes": helped}))
        return
    print(f"{'check':<30} {'calls on/off':<14} {'writer never mends: on / off':<30} worth")
    for row in rows:
        calls = f"{row['mends_on']['calls']}/{row['mends_off']['calls']}"
        never = f"{row['never_on']['outcome']} / {row['never_off']['outcome']}"
        print(f"{row['problem']:<30} {calls:<14} {never:<30} {row['worth']}")
    _print_help(helped)


if __name__ == "__main__":
    main()

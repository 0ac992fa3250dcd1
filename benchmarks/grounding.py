"""Scores grounding on the handed data, or on any folder of that layout, beside the floors.

    python -m benchmarks.grounding [--data DIR] [--json] [--floors] [--calibrate]

``--floors`` exits 1 where a figure is below its floor or the data is missing. ``--calibrate`` fits the verifier's weights anew: on all sets
(printed, to be put into ``calibration.py``) and once without each set (written to ``grounding_calibration.json``).
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import grounding_claims, grounding_data, grounding_reports, grounding_speed

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FLOORS = Path(__file__).with_name("floors.json")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.grounding", description="Grounding on labelled data.")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data (default: ../shared/data)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--floors", action="store_true", help="exit 1 below a floor, or without data")
    parser.add_argument("--calibrate", action="store_true", help="fit the weights of the lexical verifier")
    options = parser.parse_args(arguments)
    if not options.data.is_dir():
        print(f"There is no data at {options.data}. Give --data a folder of that layout.", file=sys.stderr)
        return 1
    if options.calibrate:
        print(grounding_claims.calibrate(grounding_data.claim_sets(options.data)))
        return 0
    figures = score(options.data)
    floors = json.loads(FLOORS.read_text(encoding="utf-8"))["grounding"]
    print(json.dumps(figures, indent=1) if options.json else table(figures, floors))
    below = [key for key, floor in floors.items() if not holds(figures.get(key), floor)]
    if options.floors and below:
        print(f"Below the floor: {', '.join(below)}", file=sys.stderr)
    return 1 if options.floors and below else 0


def score(data: Path) -> dict[str, float]:
    """Every figure that the folder has data for."""
    figures: dict[str, float] = {}
    sets = grounding_data.claim_sets(data)
    if sets:
        by_set = grounding_claims.score(sets)
        figures |= grounding_claims.summary(by_set)
        figures |= {f"claims_{name}": value for name, value in by_set.items()}
    parts: list[Callable[[Path], dict[str, float]]] = [
        grounding_reports.need,
        grounding_reports.quotations,
        grounding_reports.stub_pages,
        grounding_reports.markers,
        grounding_reports.copied_sentences,
    ]
    for part in parts:
        figures |= part(data)
    figures |= grounding_speed.measure()
    return {key: round(value, 4) for key, value in figures.items()}


def holds(figure: float | None, floor: dict[str, float]) -> bool:
    """Whether a figure is at least ``min`` and at most ``max``."""
    return figure is not None and floor.get("min", figure) <= figure <= floor.get("max", figure)


def table(figures: dict[str, float], floors: dict[str, dict[str, float]]) -> str:
    """One row a figure: value, floor, first public figure."""
    rows = [f"{'figure':34} {'here':>8} {'floor':>8} {'there':>8}"]
    for key, value in figures.items():
        floor = floors.get(key, {})
        bound = f">= {floor['min']}" if "min" in floor else f"<= {floor['max']}" if "max" in floor else ""
        rows.append(f"{key:34} {value:8.3f} {bound:>8} {floor.get('there', ''):>8}{'' if holds(value, floor) else '  BELOW'}")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())

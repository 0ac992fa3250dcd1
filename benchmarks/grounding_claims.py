"""Scores support on the claim sets; each set is judged with weights that were fitted without it."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.grounding_data import REPORT_LIKE, ClaimRow, balanced_accuracy
from deepdelve.core.records import Claim
from deepdelve.utils.grounding import calibration, citations, claims, evidence, stubs, support
from deepdelve.utils.grounding.calibration import Weights
from deepdelve.utils.grounding.index import SourceIndex

CALIBRATION = Path(__file__).with_name("grounding_calibration.json")
_RIDGE = 0.3
_ROUNDS = 25


def prepare(row: ClaimRow) -> tuple[Claim, SourceIndex | None]:
    """A row as the product sees it: markers cleaned off, and no source where the page is a stub."""
    parsed = citations.parse(row.claim)
    text = claims.clean_text(row.claim, parsed, 0, len(row.claim)) or row.claim
    readable = stubs.detect(row.source, snippet=True).state == "ok"
    return Claim(id=row.id, text=text, citations=("S1",)), SourceIndex("S1", row.source) if readable else None


def score(sets: Mapping[str, Sequence[ClaimRow]], weights: Mapping[str, Weights] | None = None) -> dict[str, float]:
    """Balanced accuracy of each set. ``weights`` by set; without it, those of the calibration file, fitted on the other sets."""
    weights = weights if weights is not None else load()
    figures: dict[str, float] = {}
    for name, rows in sets.items():
        verifier = support.LexicalVerifier(weights.get(name, calibration.SHIPPED))
        calls = [_supported(verifier, row) for row in rows]
        figures[name] = balanced_accuracy([row.supported for row in rows], calls)
    return figures


def summary(figures: Mapping[str, float]) -> dict[str, float]:
    """The mean over all sets and over those that resemble reports."""
    like = [figures[name] for name in REPORT_LIKE if name in figures]
    return {
        "claims_balanced_accuracy": sum(figures.values()) / len(figures) if figures else 0.0,
        "report_like_balanced_accuracy": sum(like) / len(like) if like else 0.0,
        "drb_fact_balanced_accuracy": figures.get("drb_fact", 0.0),
    }


def load() -> dict[str, Weights]:
    """Weights for each set, fitted on the others."""
    return {name: Weights(**values) for name, values in json.loads(CALIBRATION.read_text(encoding="utf-8"))["left_out"].items()}


def calibrate(sets: Mapping[str, Sequence[ClaimRow]]) -> Weights:
    """Fit the weights on all sets, and once without each; write the latter to the calibration file and return the former."""
    table = {name: [(_features(row), row.supported) for row in rows] for name, rows in sets.items()}
    left_out = {name: asdict(fit({other: rows for other, rows in table.items() if other != name})) for name in table}
    CALIBRATION.write_text(json.dumps({"left_out": left_out}, indent=1) + "\n", encoding="utf-8")
    return fit(table)


def fit(table: Mapping[str, Sequence[tuple[calibration.Features | None, bool]]]) -> Weights:
    """Ridge logistic regression by Newton's method; each set counts alike, and each label alike within its set."""
    rows: list[tuple[list[float], float, float]] = []
    for examples in table.values():
        for wanted in (True, False):
            part = [found for found, label in examples if label == wanted and found is not None]
            rows += [([1.0, *found.values()], float(wanted), 100.0 / max(20, len(part))) for found in part]
    size = len(rows[0][0])
    weights = [0.0] * size
    for _ in range(_ROUNDS):
        gradient = [-_RIDGE * value if place else 0.0 for place, value in enumerate(weights)]
        hessian = [[_RIDGE * (a == b) * (a > 0) for b in range(size)] for a in range(size)]
        for values, label, count in rows:
            chance = 1.0 / (1.0 + math.exp(-sum(w * v for w, v in zip(weights, values, strict=True))))
            for a in range(size):
                gradient[a] += count * (label - chance) * values[a]
                for b in range(size):
                    hessian[a][b] += count * chance * (1 - chance) * values[a] * values[b]
        weights = [value + step for value, step in zip(weights, _solve(hessian, gradient), strict=True)]
    return Weights(*(round(value, 3) for value in weights))


def _features(row: ClaimRow) -> calibration.Features | None:
    claim, source = prepare(row)
    if source is None:
        return None
    words = evidence.take_apart(claim.text)
    found = evidence.gather(words, source, source.locate(words.distinct))
    return support.features(words, found, len(found.absent))


def _supported(verifier: support.LexicalVerifier, row: ClaimRow) -> bool:
    claim, source = prepare(row)
    return source is not None and verifier.score([claim], {"S1": source})[0].status == "supported"


def _solve(matrix: list[list[float]], vector: list[float]) -> list[float]:
    """Gaussian elimination with pivoting."""
    size = len(vector)
    rows = [[*matrix[place], vector[place]] for place in range(size)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda place: abs(rows[place][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for place in range(size):
            if place != column:
                share = rows[place][column] / rows[column][column]
                rows[place] = [a - share * b for a, b in zip(rows[place], rows[column], strict=True)]
    return [rows[place][size] / rows[place][place] for place in range(size)]

"""The benchmark itself: floors hold or fail, sets are read, weights are fitted."""

import json
import math
from pathlib import Path

import pytest

from benchmarks import grounding, grounding_claims, grounding_data, grounding_speed
from deepdelve.utils.grounding import calibration
from deepdelve.utils.grounding.calibration import Features


@pytest.mark.parametrize(
    ("figure", "floor", "good"),
    [
        (0.7, {"min": 0.6}, True),
        (0.5, {"min": 0.6}, False),
        (0.02, {"max": 0.03}, True),
        (0.04, {"max": 0.03}, False),
        (None, {"min": 0.1}, False),
    ],
)
def test_floors(figure: float | None, floor: dict[str, float], good: bool) -> None:
    assert grounding.holds(figure, floor) is good


def test_without_data_it_says_so_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grounding.main(["--data", str(tmp_path / "none"), "--floors"]) == 1
    assert "There is no data" in capsys.readouterr().err


def test_the_table_names_what_is_below() -> None:
    rows = grounding.table({"a": 0.5, "b": 0.9}, {"a": {"min": 0.6}, "b": {"min": 0.6, "there": 0.4}}).splitlines()
    assert rows[1].endswith("BELOW")
    assert rows[2].endswith("0.4")


def test_sets_are_read_and_scored(tmp_path: Path) -> None:
    folder = tmp_path / "claims"
    folder.mkdir()
    source = "The Kalda Dam is 142 metres high and holds water."
    rows = [
        {"id": "1", "claim": "The Kalda Dam is 142 metres high.", "source_text": source, "label": "supported"},
        {"id": "2", "claim": "The Kalda Dam is 412 metres high.", "source_text": source, "label": "refuted"},
    ]
    (folder / "wice_dev.sample.jsonl").write_text("\n".join(map(json.dumps, rows)))
    sets = grounding_data.claim_sets(tmp_path)
    assert list(sets) == ["wice"]
    assert grounding_claims.score(sets) == {"wice": 1.0}
    assert grounding_claims.summary({"wice": 1.0})["report_like_balanced_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("labels", "calls", "value"), [([True, False], [True, False], 1.0), ([True, False], [True, True], 0.5), ([True], [True], 0.75)]
)
def test_balanced_accuracy(labels: list[bool], calls: list[bool], value: float) -> None:
    assert grounding_data.balanced_accuracy(labels, calls) == value


def test_a_fit_separates_what_can_be_separated() -> None:
    rows = [(Features(share, share, share, 0, 2), share > 0.5) for share in (0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9)] * 5
    weights = grounding_claims.fit({"set": rows})
    assert all((weights.probability(found) > 0.5) == label for found, label in rows if found is not None)


def test_the_shipped_weights_are_finite_and_every_set_has_its_own() -> None:
    assert all(math.isfinite(value) for value in vars(calibration.SHIPPED).values())
    assert {"wice", "attrbench", "drb_fact", "expertqa"} <= set(grounding_claims.load())


def test_a_made_report_goes_through_all_checks() -> None:
    report, texts = grounding_speed.make(400, 5, 2000)
    assert grounding_speed.check_all(report, texts) > 10


def test_the_floors_file_has_the_rows_of_the_benchmark() -> None:
    floors = json.loads(grounding.FLOORS.read_text(encoding="utf-8"))["grounding"]
    assert {"claims_balanced_accuracy", "report_like_balanced_accuracy", "speed_cpu_seconds"} <= floors.keys()

"""``deepdelve checks`` over the real table."""

import json
from pathlib import Path

import pytest

from tests.cli.test_real_runs import says

KEYS = {"problem", "tier", "remedy", "blocks", "resolution", "enabled"}


def switched(tmp_path: Path, switch: str) -> str:
    path = tmp_path / "settings.yaml"
    path.write_text(f"settings:\n  ablation:\n    {switch}: true\n")
    return str(path)


def test_json_lists_every_check_in_order() -> None:
    done = says("checks", "--json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert [set(row) for row in rows] == [KEYS] * len(rows)
    assert rows[0]["problem"] == "not_delegated"
    assert rows[-1]["problem"] == "truncated_ending"
    assert all(row["enabled"] for row in rows)


@pytest.mark.parametrize("switch", ["disable_check_uncited_claims", "disable_remedy_gap_section", "disable_pass_review"])
def test_what_is_switched_off_is_marked(switch: str, tmp_path: Path) -> None:
    done = says("checks", "--config", switched(tmp_path, switch))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[off]") == 1
    name = switch.split("_", 2)[2]
    assert any(name in line for line in done.stdout.splitlines() if "[off]" in line)


@pytest.mark.parametrize(
    ("switch", "near"),
    [("disable_check_uncited_claim", "disable_check_uncited_claims"), ("disable_pass_reviews", "disable_pass_review")],
)
def test_an_unknown_switch_is_refused_with_the_nearest(switch: str, near: str, tmp_path: Path) -> None:
    for command in (["checks"], ["run", "How long is the Alder?", "--backend", "builtin"]):
        done = says(*command, "--config", switched(tmp_path, switch))
        assert (done.returncode, done.stdout) == (2, "")
        assert f"Did you mean {near}?" in done.stderr

"""The fuzzer of ``benchmarks.fuzz``: a short run of each target, and what it does with a fault."""

from pathlib import Path

import pytest

from benchmarks import fuzz


@pytest.mark.parametrize("name", sorted(fuzz.TARGETS))
def test_damaged_input_breaks_nothing(name: str, tmp_path: Path) -> None:
    tried, fault = fuzz.at_random(fuzz.TARGETS[name], fuzz.SEEDS[name], 30.0, tmp_path, start=7, most=40)
    assert (tried, fault) == (40, "")


def test_an_input_that_breaks_a_target_is_kept(tmp_path: Path) -> None:
    def target(data: bytes) -> None:
        if b"\xff" in data:
            raise ValueError("a byte too high")

    tried, fault = fuzz.at_random(target, [b"seed"], 10.0, tmp_path / "kept")
    assert fault == "ValueError: a byte too high"
    assert b"\xff" in (tmp_path / "kept" / f"fault-{tried}").read_bytes()


def test_what_is_tried_depends_on_the_start_alone() -> None:
    import random

    assert [fuzz.mutated(b"a seed", random.Random(n)) for n in range(20)] == [fuzz.mutated(b"a seed", random.Random(n)) for n in range(20)]
    assert len({fuzz.mutated(b"a seed", random.Random(n)) for n in range(20)}) > 10

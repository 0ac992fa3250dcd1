"""Records are immutable and mean the same everywhere."""

from typing import get_args

import pytest
from pydantic import ValidationError

from deepdelve.core.records import EXIT_CODES, ClaimCounts, Finding, Outcome, Source, SourceState, Usage


def test_exit_codes_cover_every_outcome() -> None:
    assert set(EXIT_CODES) == set(get_args(Outcome))
    assert EXIT_CODES == {
        "verified": 0, "unverified": 3, "partial": 3, "no_evidence": 3, "no_report": 4, "failed": 4, "stopped": 130,
    }  # fmt: skip


@pytest.mark.parametrize("state", get_args(SourceState))
@pytest.mark.parametrize("file", ["", "sources/S1.md"])
def test_only_a_good_source_with_stored_text_is_citable(state: SourceState, file: str) -> None:
    assert Source(id="S1", url="u", state=state, file=file).citable is (state == "ok" and bool(file))


def test_claim_counts_add_up() -> None:
    assert ClaimCounts(supported=1, partial=2, contradicted=3, unsupported=4, unchecked=5).total == 15
    assert ClaimCounts().total == 0


def test_unknown_fields_and_changes_are_refused() -> None:
    with pytest.raises(ValidationError):
        Source(id="S1", url="u", colour="red")
    with pytest.raises(ValidationError):
        Usage().calls = 2


def test_a_lead_is_a_finding_of_its_own_kind() -> None:
    assert Finding(id="F1", task="t", top_task="t", kind="lead").source_id == ""

"""What surfaces and engine say to each other."""

import dataclasses

import pytest

from deepdelve.core.requests import Command, RunRequest, RunResult


def test_a_request_needs_a_question_only_and_cannot_be_changed() -> None:
    request = RunRequest("q")
    assert (request.style, request.depth, request.backend, request.corpus, request.auto_approve) == (None, None, "", (), False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        request.question = "other"


def test_a_result_of_nothing_claims_nothing() -> None:
    result = RunResult("r", "/r", "no_evidence", 3, "q", "standard", "builtin")
    assert (result.citations, result.claims.total, result.problems, result.usage) == ((), 0, (), {})


def test_results_do_not_share_their_usage() -> None:
    first, second = (RunResult("r", "/r", "failed", 4, "q", "standard", "b") for _ in range(2))
    first.usage["x"] = 1
    assert second.usage == {}


def test_a_stop_needs_no_words() -> None:
    assert Command("stop").text == ""

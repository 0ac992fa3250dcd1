"""The PeerReviewer: what a rule can find in a draft."""

import json
from typing import Any

import pytest

from deepdelve.engine.backends.builtin.peer_reviewer import MAX_ISSUES, peer_reviewer
from deepdelve.engine.writing.review_fix import parse_review
from tests.engine.backends.builtin.build import conversation, read

TASK = "Question: Q?\nReview the file findings.md."


def review(text: str, task: str = TASK) -> dict[str, Any]:
    return json.loads(peer_reviewer(conversation(task, calls=[read("findings.md", text)])).text)


@pytest.mark.parametrize("name", ["findings.md", "final_report.md"])
def test_it_reads_the_file_that_is_named(name: str) -> None:
    (call,) = peer_reviewer(conversation(f"Question: Q?\nReview the file {name}.")).calls
    assert call.args == {"name": name}


def test_a_sound_draft_is_accepted() -> None:
    assert review("## A\n\n- One claim. [S1]\n- Another. [S2, S3]\nNo source in the available evidence directly states: x.\n") == {
        "ok": True,
        "issues": [],
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- A claim without an id.", "no source id"),
        ("Text [insert reference here] goes on. [S1]", "placeholder"),
        ("TODO: write this", "placeholder"),
        ("- Said. [S1]\n- Said. [S1]", "said twice"),
    ],
)
def test_a_fault_is_quoted_and_named(text: str, problem: str) -> None:
    found = review(text)
    assert not found["ok"]
    assert problem in found["issues"][0]["problem"]
    assert found["issues"][0]["quote"] in text


def test_its_answer_is_read_back_by_the_engine() -> None:
    text = peer_reviewer(conversation(TASK, calls=[read("findings.md", "- No id.")])).text
    assert parse_review(text) == (True, ('"- No id.": no source id stands behind this',))


def test_it_names_a_few_issues_at_most() -> None:
    assert len(review("\n".join(f"- Claim {n}." for n in range(50)))["issues"]) == MAX_ISSUES


def test_without_tools_it_still_answers_in_json() -> None:
    assert json.loads(peer_reviewer(conversation(TASK, tools=frozenset())).text) == {"ok": True, "issues": []}

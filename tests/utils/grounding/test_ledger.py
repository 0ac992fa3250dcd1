"""The ledger: every sentence once, its passage with file and offsets, its status and reason."""

import json

import pytest

from deepdelve.core.records import Claim, ClaimCounts, Source
from deepdelve.utils.grounding import ledger
from deepdelve.utils.grounding.support import LexicalVerifier

from .pairs import DAM, SOURCES, TRIAL

RECORDS = {
    "S1": Source(id="S1", url=DAM, title="Dam", file="sources/S1.md"),
    "S2": Source(id="S2", url=TRIAL, title="Trial", file="sources/S2.md"),
    "S3": Source(id="S3", url="https://wall.example", state="blocked", reason="bot wall"),
}
TEXTS = {"S1": SOURCES[DAM], "S2": SOURCES[TRIAL]}
DRAFT = """# Dams and drugs

## The dam

The Kalda Dam is 142 metres high [S1]. It cost $1.2 million [S1].

No source in the available evidence directly states: who designed the wall.

## The drug

- Headache was reported by 6.5% of treated patients [S2].
- The drug is sold in Canada [S3].
- The trial had many patients [S9].
"""


def built() -> list[Claim]:
    return ledger.build_ledger(DRAFT, RECORDS, TEXTS, LexicalVerifier(), "How are dams?")


def test_each_sentence_is_one_claim_with_its_status() -> None:
    rows = [(claim.id, claim.status, claim.needs_citation, claim.facet) for claim in built()]
    assert rows == [
        ("c1", "supported", True, "The dam"),
        ("c2", "contradicted", True, "The dam"),
        ("c3", "unchecked", False, "The dam"),
        ("c4", "supported", True, "The drug"),
        ("c5", "unchecked", True, "The drug"),
        ("c6", "unsupported", True, "The drug"),
    ]


def test_spans_and_passages_point_into_the_files() -> None:
    for claim in built():
        assert claim.span is not None
        assert claim.text.rstrip(".")[:12] in DRAFT[claim.span[0] : claim.span[1]]
        if claim.status == "supported":
            assert claim.passage is not None
            assert claim.passage.file == f"sources/{claim.citations[0]}.md"
            assert TEXTS[claim.passage.source_id][claim.passage.start : claim.passage.end] == claim.passage.quote


def test_reasons_say_what_is_wrong() -> None:
    reasons = {claim.id: claim.reason for claim in built()}
    assert "1.2 billion" in reasons["c2"]
    assert "bot wall" in reasons["c5"]
    assert "S9 is no source" in reasons["c6"]
    assert reasons["c1"] == ""


def test_counts_leave_framing_out() -> None:
    number = ledger.counts(built())
    assert number == ClaimCounts(supported=2, contradicted=1, unsupported=1, unchecked=1)
    assert ledger.counts_line(number) == "2 of 5 claims supported, 1 contradicted, 1 not, 1 unchecked"


def test_counts_line_of_a_clean_report() -> None:
    assert ledger.counts_line(ClaimCounts(supported=3)) == "3 of 3 claims supported"
    assert ledger.counts_line(ClaimCounts(supported=41, partial=2, unsupported=1)) == "41 of 44 claims supported, 2 partly, 1 not"


def test_the_file_gives_back_the_claims() -> None:
    text = ledger.to_json(built())
    assert ledger.from_json(text) == built()
    assert json.loads(text)["counts"]["supported"] == 2


@pytest.mark.parametrize("text", ["[]", "{}", "no json", '{"claims": [{"id": 3}]}'])
def test_what_is_no_ledger_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        ledger.from_json(text)


def test_an_empty_draft_has_no_claims() -> None:
    assert ledger.build_ledger("", RECORDS, TEXTS, LexicalVerifier()) == []


def test_no_evidence_supports_nothing() -> None:
    found = ledger.build_ledger(DRAFT, {}, {}, LexicalVerifier())
    assert {claim.status for claim in found if claim.needs_citation} == {"unsupported"}

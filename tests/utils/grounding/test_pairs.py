"""Fault 7: a bad claim is flagged and its right twin passes, in every dialect."""

import pytest

from deepdelve.utils.grounding.verify import VerifyResult, verify_report

from .pairs import DAM, PAIRS, SOURCES, TRIAL, Pair, dialects

OTHER = {"https://other.example/page": "An unrelated page about porcelain painting in the eighteenth century, its colours and its kilns."}
FLAGGED = {"unsupported", "contradicted", "partial"}


def verified(report: str) -> VerifyResult:
    return verify_report(report, {**SOURCES, **OTHER})


def names(pair: Pair) -> str:
    return f"{pair.kind}-{pair.bad[:30]}"


@pytest.mark.parametrize("pair", PAIRS, ids=names)
def test_the_right_twin_is_supported_in_every_dialect(pair: Pair) -> None:
    for dialect, report in dialects(pair.right, pair.url).items():
        claims = [claim for claim in verified(report).claims if claim.needs_citation]
        assert claims, dialect
        assert {claim.status for claim in claims} == {"supported"}, (dialect, claims)


@pytest.mark.parametrize("pair", PAIRS, ids=names)
def test_the_bad_claim_is_flagged_in_every_dialect(pair: Pair) -> None:
    for dialect, report in dialects(pair.bad, pair.url).items():
        statuses = {claim.status for claim in verified(report).claims if claim.needs_citation}
        assert statuses & FLAGGED, dialect


@pytest.mark.parametrize("pair", PAIRS, ids=names)
def test_every_verdict_points_at_a_passage_of_the_source(pair: Pair) -> None:
    report = dialects(pair.right, pair.url)["bracket"]
    for claim in verified(report).claims:
        assert claim.passage is not None
        assert SOURCES[pair.url][claim.passage.start : claim.passage.end] == claim.passage.quote


def test_there_are_enough_pairs_and_dialects() -> None:
    assert len(PAIRS) >= 40
    assert len(dialects("A.", "https://a.example")) >= 12


@pytest.mark.parametrize("url", [DAM + "/annex-3", DAM + "?page=2", DAM + "/history/1987"])
def test_an_invented_sub_page_of_a_fetched_page_is_flagged(url: str) -> None:
    found = verified(f"The Kalda Dam is 142 metres high ([annex]({url})).")
    assert [problem.kind for problem in found.problems] == ["invented_subpage"]
    assert found.counts.unsupported == 1


def test_the_fetched_page_itself_is_no_invention() -> None:
    found = verified(f"The Kalda Dam is 142 metres high ([page]({DAM}/)).")
    assert not found.problems
    assert found.counts.supported == 1


PARAPHRASES = (
    "The Kalda Dam took nine years to build and was finished in 1987 [1].",
    "Roughly 8,300 inhabitants were resettled for the project [1].",
    "Because of drought, output in 2022 was about 11 percent below that of the previous year [1].",
    "Inspections of the grouting curtain take place each spring and most recently found no significant leakage [1].",
    "Of the 1.2 billion dollars that the project cost, $450 million was lent by the Veltra Development Bank [1].",
)
FALSE = (
    "The Kalda Dam took twelve years to build and was finished in 1997 [1].",
    "Roughly 83,000 inhabitants were resettled for the project [1].",
    "Because of floods, output in 2022 was about 41 percent above that of the previous year [1].",
    "Inspections of the grouting curtain take place each spring and most recently found significant leakage [1].",
    "Of the 1.2 billion dollars that the project cost, $450 million was lent by the Nordic Investment Bank [1].",
)


def test_of_five_true_and_five_false_paraphrases_nine_are_judged_right() -> None:
    report = "# The dam\n\n" + "\n\n".join([*PARAPHRASES, *FALSE]) + f"\n\n## Sources\n\n[1] {DAM}\n"
    statuses = [claim.status for claim in verified(report).claims]
    right = sum(status == "supported" for status in statuses[:5]) + sum(status != "supported" for status in statuses[5:])
    assert len(statuses) == 10
    assert right >= 9, statuses


ALTERED = {
    "systolic pressure fell by 9.4 mmHg": "systolic pressure fell by 7.4 mmHg",
    "funded by the Lindqvist Foundation": "funded by the Hallgren Foundation",
    "Morvastin did not reduce": "Morvastin did reduce",
    "Between March 2018 and June 2020": "Between March 2015 and June 2020",
    "it is far too early to speak of fewer strokes": "it is high time to speak of fewer strokes",
}


def test_of_five_alterations_four_are_flagged_and_no_untouched_sentence_is() -> None:
    body = SOURCES[TRIAL].split("\n\n", 1)[1]
    sentences = [part if part.endswith((".", "”", '"')) else part + "." for part in body.replace("e.g.", "eg").split(". ")]
    whole = [sentence[:-1] + " [1]." for sentence in sentences]
    ending = f"\n\n## Sources\n\n[1] {TRIAL}\n"
    before = {claim.text for claim in verified("\n\n".join(whole) + ending).claims if claim.status != "supported"}
    changed = "\n\n".join(whole)
    for old, new in ALTERED.items():
        assert old in changed
        changed = changed.replace(old, new)
    after = [claim for claim in verified(changed + ending).claims if claim.status != "supported"]
    flagged = [claim.text for claim in after]
    assert sum(any(new in text for text in flagged) for new in ALTERED.values()) >= 4, flagged
    assert not [text for text in flagged if text not in before and not any(new in text for new in ALTERED.values())]

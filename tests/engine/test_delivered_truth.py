"""What a run says of its report is true of the report as it is delivered: its outcome, its counts, and each marker in it."""

import asyncio
import re

import pytest

from tests.support.incidents import obeys, writes
from tests.support.whole_run import RIVERS, good_rules, run_scripted, write_corpus

HEAD = "# Rivers\n\n## Alder\n\nThe Alder is 212 kilometres long"
TAIL = "\n\n## Birch\n\nThe Birch is 98 kilometres long"


async def delivered(tmp_path, body):
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    return await asyncio.wait_for(run_scripted(good_rules(Builder=obeys(writes(body))), corpus), 60)


@pytest.mark.parametrize(
    "body",
    [
        f"```markdown\n{HEAD} [Alder].{TAIL} [Birch].\n```\n",
        f"{HEAD} [[Alder]].{TAIL} [Birch](https://birch.example).\n",
        f"{HEAD} [Alder].{TAIL} [Birch].\n\n**Works Cited**\n\n- Smith, J. Alder.\n",
        f"{HEAD} :contentReference[oaicite:0]{{index=0}} [Alder].{TAIL} <!-- check --> [Birch].\n",
    ],
    ids=["fenced", "brackets and links", "list of works", "chat marks"],
)
async def test_a_true_report_in_odd_clothes_is_verified_with_its_claims(tmp_path, body):
    run = await delivered(tmp_path, body)
    assert (run.result.outcome, run.result.exit) == ("verified", 0)
    assert (run.result.claims.supported, run.result.claims.total) == (2, 2)
    assert re.findall(r"kilometres long.{0,4}\[(\d)\]", run.report) == ["1", "2"]
    assert not re.search(r"Smith|oaicite|<!--|\[S\d|```", run.report)


@pytest.mark.parametrize(
    "extra",
    ["\n\nIts water is drunk by four million people in the towns below.\n", "\n\nThe Birch is the longest river of the whole continent.\n"],
)
async def test_one_sentence_that_no_source_carries_is_enough_for_not_verified(tmp_path, extra):
    run = await delivered(tmp_path, f"{HEAD} [Alder].{TAIL} [Birch].{extra}")
    assert (run.result.outcome, run.result.exit) == ("unverified", 3)
    assert run.result.claims.unsupported == 1
    assert "> Not verified." in run.report
    assert "⚠ no source" in run.report


@pytest.mark.parametrize(
    "body", ["# Rivers\n\n```\nThe Alder is 212 kilometres long [Alder].\n```\n", "# Rivers\n\n## Alder\n\n## Birch\n"]
)
async def test_a_report_without_a_carried_claim_is_never_verified(tmp_path, body):
    run = await delivered(tmp_path, body)
    assert run.result.outcome != "verified" or run.result.claims.supported
    assert (run.result.exit == 0) == (run.result.outcome == "verified")


async def test_each_claim_is_counted_once_however_often_it_is_cited(tmp_path):
    run = await delivered(tmp_path, f"{HEAD} [Alder][Alder] [Alder].{TAIL} [Birch, Birch] [Birch].\n")
    assert (run.result.claims.supported, run.result.claims.total) == (2, 2)
    assert len(run.result.citations) == 2
    assert "2 of 2 claims supported" in run.report

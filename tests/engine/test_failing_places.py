"""Each place of a run that can fail, alone and together: the outcome, the exit code and the report say so, and the rest is kept."""

import asyncio

import pytest

from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError
from tests.support.incidents import finds_nothing_about
from tests.support.scripted import text
from tests.support.whole_run import (
    RIVERS,
    good_analyzer,
    good_builder,
    good_findings_writer,
    good_reviewer,
    good_rules,
    good_searcher,
    run_scripted,
    said,
    write_corpus,
)


def server_fails(messages, options):
    raise BackendError("The server failed.", "Try again.", cause="server_error", retry_after=0)


def raises(messages, options):
    raise RuntimeError("a fault of ours")


def says_nothing(messages, options):
    return text("")


def for_birch(rule, otherwise):
    """The rule for tasks on the Birch, the other one for the rest."""

    def chosen(messages, options):
        task = said(messages).split("Your task:", 1)[-1].split("\n", 1)[0]
        return rule(messages, options) if "Birch" in task else otherwise(messages, options)

    return chosen


async def run(tmp_path, **rules):
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    return await asyncio.wait_for(run_scripted(good_rules(**rules), corpus), 90)


def told_truly(done):
    """Outcome, exit code, banner and result agree, and nothing is verified without a carried claim."""
    result = done.result
    codes = {"verified": 0, "unverified": 3, "partial": 3, "no_evidence": 3, "no_report": 4, "failed": 4, "stopped": 130}
    labels = {
        "verified": "Verified.",
        "unverified": "Not verified.",
        "partial": "Partial.",
        "no_evidence": "No evidence.",
        "failed": "Failed.",
    }
    assert result.exit == codes[result.outcome]
    if done.report:
        assert f"> {labels[result.outcome]}" in done.report
    if result.outcome == "verified":
        assert result.claims.supported == result.claims.total > 0
    assert done.surface.of(ev.RunEnded)[-1].outcome == result.outcome


@pytest.mark.parametrize("fault", [server_fails, raises])
async def test_research_on_one_part_fails_for_good_and_the_rest_is_reported(tmp_path, fault):
    done = await run(tmp_path, Searcher=for_birch(fault, good_searcher), Analyzer=for_birch(fault, good_analyzer))
    told_truly(done)
    assert done.result.claims.supported >= 1
    assert "The Alder is 212 kilometres long" in done.report
    assert "98 kilometres" not in done.report
    assert done.result.outcome != "verified"
    assert "Birch" in done.report


@pytest.mark.parametrize("fault", [server_fails, raises, says_nothing, finds_nothing_about("river")])
async def test_no_reader_reads_so_nothing_is_claimed(tmp_path, fault):
    done = await run(tmp_path, Analyzer=fault)
    told_truly(done)
    assert (done.result.outcome, done.result.citations) == ("no_evidence", ())
    assert "No source in the available evidence directly states" in done.report
    assert not {"FindingsWriter", "Builder"} & {call.role for call in done.factory.calls}


@pytest.mark.parametrize("fault", [server_fails, raises, says_nothing])
@pytest.mark.parametrize("role", ["FindingsWriter", "Builder", "PeerReviewer"])
async def test_a_writer_or_reviewer_that_fails_costs_no_evidence(tmp_path, role, fault):
    done = await run(tmp_path, **{role: fault})
    told_truly(done)
    assert done.result.claims.supported >= 2
    assert done.result.exit in {0, 3}


@pytest.mark.parametrize("fault", [server_fails, raises, says_nothing])
async def test_both_writers_fail_and_what_was_found_is_still_handed_over(tmp_path, fault):
    done = await run(tmp_path, FindingsWriter=fault, Builder=fault)
    told_truly(done)
    assert done.result.outcome == "partial"
    assert "212 kilometres" in done.report
    assert "98 kilometres" in done.report


@pytest.mark.parametrize("fault", [server_fails, raises])
async def test_everything_fails_at_once_and_ends_soon(tmp_path, fault):
    roles = ("Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder", "PeerReviewer")
    done = await run(tmp_path, **dict.fromkeys(roles, fault))
    told_truly(done)
    assert (done.result.outcome, done.result.exit) == ("failed", 4)
    assert len(done.factory.calls) <= 6


async def test_a_fault_of_ours_in_one_worker_is_a_failed_task_that_is_retried(tmp_path):
    done = await run(tmp_path, Searcher=for_birch(raises, good_searcher), Analyzer=for_birch(raises, good_analyzer))
    failed = [event for event in done.surface.of(ev.DispatchEnded) if not event.ok]
    assert len([event for event in failed if "Birch" in event.task]) >= 2
    assert all("an error in the product itself (RuntimeError)" in event.reason for event in failed if event.role == "Searcher")


async def test_the_rules_of_these_tests_give_a_verified_run_where_nothing_fails(tmp_path):
    done = await run(
        tmp_path,
        Searcher=good_searcher,
        Analyzer=good_analyzer,
        FindingsWriter=good_findings_writer,
        Builder=good_builder,
        PeerReviewer=good_reviewer,
    )
    told_truly(done)
    assert done.result.outcome == "verified"

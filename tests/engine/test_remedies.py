"""Each problem through the agents: its remedy clears it with a writer that mends when told, and without one the run says so."""

import itertools

import pytest

from deepdelve.core import events as ev
from deepdelve.engine.completion.table import TABLE, by_problem
from tests.support.faults import FAULTS, Fault, off
from tests.support.whole_run import said

NAMED = {"ids": lambda fault: fault.problem}
# Repaired by code, so no writer is needed.
BY_CODE = {"unresolved_citation", "findings_underuses_evidence"}


def verdicts(run):
    return [event for event in run.surface.of(ev.CheckVerdict) if event.problem]


@pytest.mark.parametrize("fault", FAULTS, **NAMED)
async def test_a_writer_that_mends_when_told_clears_it_with_one_firing(fault: Fault, tmp_path):
    run = await fault.run(tmp_path / "c", mends=True)
    fired = [event for event in verdicts(run) if event.problem == fault.problem]
    chain = by_problem()[fault.problem].remedy
    assert [event.remedy for event in fired] == list(chain[: len(fired)])
    assert len(fired) == len(chain) if chain[0] == "deepening" else len(fired) == 1
    assert (run.result.outcome, run.result.exit) == ("verified", 0)
    assert not fault.seen(run.report)


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.problem not in BY_CODE], **NAMED)
async def test_a_writer_that_never_mends_costs_no_more_than_the_attempts_and_the_report_names_it(fault: Fault, tmp_path):
    run = await fault.run(tmp_path / "c", mends=False)
    winners = [event.problem for event in verdicts(run)]
    longest = max(len(list(group)) for name, group in itertools.groupby(winners) if name == fault.problem)
    assert longest <= 3
    assert len(winners) <= run.run.budget.attempts
    assert (run.result.outcome, run.result.exit) == ("unverified", 3)
    assert fault.problem in run.result.problems
    assert run.report.startswith("> Not verified.")
    named = ", ".join(problem.replace("_", " ") for problem in run.result.problems)
    assert f"Open problems: {named}" in run.report
    assert "212 kilometres" in run.report or fault.problem == "figure_unsupported"


async def test_a_facet_that_its_writer_goes_on_leaving_out_is_added_by_code_below_what_it_wrote(tmp_path):
    fault = next(fault for fault in FAULTS if fault.problem == "findings_underuses_evidence")
    run = await fault.run(tmp_path / "c", mends=False)
    fired = [event.remedy for event in verdicts(run) if event.problem == fault.problem]
    assert fired == ["findings_facets", "findings_entries"]
    findings = run.run.read_file("draft/findings.md")
    assert findings.startswith("## Findings\n\n- The Alder is 212 kilometres long [")
    assert "- The Birch is 98 kilometres long [" in findings
    assert (run.result.outcome, run.result.exit) == ("verified", 0)
    assert "98 kilometres" in run.report
    assert [notice.code for notice in run.surface.of(ev.Notice) if notice.code == "entries_by_code"] == ["entries_by_code"]


@pytest.mark.parametrize("problem", ["figure_unsupported", "excluded_topic", "truncated_ending"])
async def test_a_check_that_is_switched_off_never_fires_and_the_reader_is_told(problem, tmp_path):
    fault = next(fault for fault in FAULTS if fault.problem == problem)
    run = await fault.run(tmp_path / "c", mends=False, settings=off(f"disable_check_{problem}"))
    assert not verdicts(run)
    assert f"Switched off in the settings: check {problem.replace('_', ' ')}." in run.report


async def test_a_remedy_that_is_switched_off_is_left_out_of_its_chain(tmp_path):
    fault = next(fault for fault in FAULTS if fault.problem == "unresolved_citation")
    run = await fault.run(tmp_path / "c", mends=True, settings=off("disable_remedy_citation_repair"))
    assert [event.remedy for event in verdicts(run)] == ["builder"]
    assert run.result.outcome == "verified"


async def test_without_any_remedy_a_problem_is_named_and_costs_no_model_call(tmp_path):
    fault = next(fault for fault in FAULTS if fault.problem == "figure_unsupported")
    run = await fault.run(tmp_path / "c", mends=True, settings=off("disable_remedy_builder"))
    assert run.result.outcome == "unverified"
    assert [event.role for event in run.surface.of(ev.DispatchStarted)].count("Builder") == 1


@pytest.mark.parametrize(
    ("switch", "gone"),
    [("disable_pass_review", "PeerReviewer"), ("disable_pass_leftovers", "Analyzer")],
)
async def test_a_pass_that_is_switched_off_is_not_made(switch, gone, tmp_path):
    from tests.support.scripted import text
    from tests.support.whole_run import RIVERS, good_rules, good_searcher, run_scripted, write_corpus

    def keeps_to_itself(messages, options):
        reply = good_searcher(messages, options)
        return text("Fetched it.") if reply[0].type == "function_call" and reply[0].name == "delegate_tasks" else reply

    rules = good_rules(Searcher=keeps_to_itself) if gone == "Analyzer" else good_rules()
    run = await run_scripted(rules, write_corpus(tmp_path / "c", RIVERS), settings=off(switch))
    assert gone not in {event.role for event in run.surface.of(ev.DispatchStarted)}
    assert f"Switched off in the settings: {switch.removeprefix('disable_').replace('_', ' ')}." in run.report


async def test_a_builder_that_mending_fails_on_is_made_to_write_anew(tmp_path):
    """From the third firing in a row the draft is set aside first; the last one stays the best there is."""
    fault = next(fault for fault in FAULTS if fault.problem == "figure_unsupported")
    run = await fault.run(tmp_path / "c", mends=False)
    rejected = run.surface.of(ev.ArtifactRejected)
    assert [event.problem for event in rejected] == ["figure_unsupported"]
    assert rejected[0].grounding
    assert run.run.state.rejected_for_grounding == [rejected[0].file]
    assert (run.run.dir / rejected[0].file).is_file()


@pytest.mark.parametrize("fault", FAULTS, **NAMED)
async def test_no_writer_is_told_to_do_what_it_has_no_tool_for(fault: Fault, tmp_path):
    run = await fault.run(tmp_path / "c", mends=True)
    told = [said(c.messages) for c in run.factory.calls if c.role in {"FindingsWriter", "Builder"}]
    for message in told:
        own = message.split("<<<untrusted")[0]
        assert not {"delegate_tasks", "web_search", "fetch_url_to_workspace"} & set(own.split())


def test_every_blocking_problem_of_a_writer_has_a_scripted_fault_or_says_why_not():
    """The others cannot be brought about by a writer: what they need is named."""
    needs = {
        "missing_findings": "test_remedies_rows: code that writes them at once is switched off",
        "missing_artifact": "test_incidents: a Builder that never writes",
        "stale_findings": "test_whole_run: more research",
        "missing_query_facet": "test_remedies_rows: a facet that no task covers",
        "undisclosed_evidence_gap": "test_incidents: gaps",
        "no_urls": "test_remedies_rows: a journal that has lost an address",
        "stub_source": "test_incidents_research: a dropped source",
        "entailment_unsupported": "test_remedies_rows: a judge that is a model",
        "off_topic_source": "test_remedies_rows: a page beside the point",
        "propagated_ungrounded_content": "test_incidents: a rejected draft that comes back",
    }
    writers = {spec.problem for spec in TABLE if spec.resolution == "writer" and spec.blocks}
    assert writers == {fault.problem for fault in FAULTS} | set(needs)

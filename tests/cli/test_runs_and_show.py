"""``runs`` and ``show``: what is kept, in words or as JSON."""

import json

import pytest

from deepdelve.core.events import parse_event
from deepdelve.core.requests import RunSummary, SessionSummary
from tests.cli.fake_facade import REPORT, RUN_ID, FakeFacade, script

DONE = RunSummary(RUN_ID, "Do heat pumps work?\nReally?", "no_evidence", 1_735_786_800.0, 9.0, 1, 20, 21)
KILLED = RunSummary("20250101_000000_000000", "\x1b[31mred", "", 1_735_700_000.0, 0.0, 0, 0, 0)


@pytest.mark.parametrize("arguments", [["runs"], ["--list-runs"]])
def test_runs_are_one_line_each(arguments: list[str], deepdelve_says, facade: FakeFacade) -> None:
    facade.runs = [DONE, KILLED]
    said = deepdelve_says(*arguments)
    first, second = said.out.splitlines()
    assert said.code == 0
    assert first.startswith(RUN_ID)
    assert "no evidence" in first
    assert "1 source, 20 of 21 claims supported" in first
    assert first.endswith("Do heat pumps work? Really?")
    assert "interrupted" in second
    assert "\x1b" not in second


@pytest.mark.parametrize("arguments", [["runs"], ["run", "Do heat pumps work?"]])
def test_a_run_that_broke_off_is_offered_again_at_the_next_start(arguments: list[str], deepdelve_says, facade: FakeFacade) -> None:
    facade.runs = [DONE, KILLED]
    said = deepdelve_says(*arguments)
    assert f"A run was interrupted; go on with: deepdelve run --resume-run {KILLED.run_id}" in said.err
    assert "--resume-run" not in said.out


@pytest.mark.parametrize("arguments", [["runs"], ["run", "Do heat pumps work?"]])
def test_nothing_is_offered_where_nothing_broke_off(arguments: list[str], deepdelve_says, facade: FakeFacade) -> None:
    facade.runs = [DONE, RunSummary(RUN_ID, "q", "", 0.0, 0.0, 0, 0, 0, live=True)]
    assert "--resume-run" not in deepdelve_says(*arguments).err


def test_json_lists_are_not_disturbed_by_the_offer(deepdelve_says, facade: FakeFacade) -> None:
    facade.runs = [KILLED]
    said = deepdelve_says("runs", "--json")
    assert json.loads(said.out)[0]["outcome"] == ""
    assert said.err == ""


def test_a_live_run_is_called_running(deepdelve_says, facade: FakeFacade) -> None:
    facade.runs = [RunSummary(RUN_ID, "q", "", 0.0, 0.0, 0, 0, 0, live=True)]
    assert "running" in deepdelve_says("runs").out


def test_runs_as_json_and_with_a_limit(deepdelve_says, facade: FakeFacade) -> None:
    facade.runs = [DONE, KILLED]
    shown = json.loads(deepdelve_says("runs", "--json", "--limit", "1").out)
    assert [run["run_id"] for run in shown] == [RUN_ID]
    assert shown[0]["supported"] == 20


@pytest.mark.parametrize("arguments", [["runs"], ["--list-runs"], ["--list-sessions"]])
def test_where_nothing_is_kept_it_says_how_to_start(arguments: list[str], deepdelve_says) -> None:
    said = deepdelve_says(*arguments)
    assert (said.code, said.out) == (0, "")
    assert "no " in said.err


def test_no_runs_as_json_is_an_empty_list(deepdelve_says) -> None:
    assert deepdelve_says("runs", "--json").out == "[]\n"


def test_sessions_are_one_line_each(deepdelve_says, facade: FakeFacade) -> None:
    facade.sessions = [SessionSummary("abc", 1_735_786_800.0, "Heat\npumps", ("r1",), 4)]
    (line,) = deepdelve_says("--list-sessions").out.splitlines()
    assert line.startswith("abc  2025-01-0")
    assert line.endswith("4 turns, 1 run  Heat pumps")


def test_show_prints_the_report(deepdelve_says) -> None:
    assert deepdelve_says("show", "latest").out == REPORT
    assert json.loads(deepdelve_says("show", "latest", "--json").out) == {"run_id": RUN_ID, "report": REPORT}


def test_show_of_a_run_without_report_says_how_to_go_on(deepdelve_says, facade: FakeFacade) -> None:
    facade.report = ""
    said = deepdelve_says("show", "latest")
    assert (said.code, said.out) == (4, "")
    assert "--resume-run" in said.err


def test_show_sources_names_those_that_cannot_be_used(deepdelve_says) -> None:
    first, second = deepdelve_says("show", RUN_ID, "--sources").out.splitlines()
    assert first == "S1   A study  https://a.example/study"
    assert second.endswith("[blocked: a login page]")


def test_show_findings_with_quotes_doubts_and_leads(deepdelve_says) -> None:
    text = deepdelve_says("show", RUN_ID, "--findings").out
    assert '- They work.\n       "work at -25"' in text
    assert "[quote]" in text
    assert "lead: look at Norway" in text


@pytest.mark.parametrize(("flag", "number"), [("--sources", 2), ("--findings", 3)])
def test_show_records_as_json(flag: str, number: int, deepdelve_says) -> None:
    assert len(json.loads(deepdelve_says("show", RUN_ID, flag, "--json").out)) == number


def test_show_events_is_the_journal(deepdelve_says) -> None:
    lines = deepdelve_says("show", RUN_ID, "--events").out.splitlines()
    assert len([parse_event(line) for line in lines]) == len(script("q")) - 1


@pytest.mark.parametrize("arguments", [["runs"], ["--list-runs"]])
@pytest.mark.parametrize(("number", "told"), [(1, "1 bounded vault run beside these"), (12, "12 bounded vault runs beside these"), (0, "")])
def test_bounded_runs_are_pointed_to_beside_the_list(arguments, number, told, deepdelve_says, facade: FakeFacade) -> None:
    facade.vault_runs = number
    for facade.runs in ([DONE], []):
        said = deepdelve_says(*arguments)
        assert ("deepdelve vault runs" in said.err) == bool(told)
        assert told in said.err
        assert "vault" not in said.out


def test_bounded_runs_do_not_disturb_a_json_list(deepdelve_says, facade: FakeFacade) -> None:
    facade.vault_runs = 3
    said = deepdelve_says("runs", "--json")
    assert (json.loads(said.out), said.err) == ([], "")

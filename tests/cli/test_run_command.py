"""``run`` and ``ask``: progress on stderr, the report or one JSON object on stdout, the outcome as exit code."""

import json
from pathlib import Path

import pytest

from deepdelve.core import events as ev
from deepdelve.core.events import parse_event
from deepdelve.core.records import ClaimCounts
from tests.cli.fake_facade import REPORT, RUN_ID, FakeFacade, script

JSON_KEYS = ["run_id", "dir", "outcome", "exit", "question", "style", "backend", "citations", "claims", "problems", "usage", "seconds"]


def test_the_report_alone_is_on_stdout_and_the_progress_on_stderr(deepdelve_says) -> None:
    said = deepdelve_says("run", "Do heat pumps work?")
    assert said.code == 0
    assert said.out == REPORT
    assert "Planning the research" in said.err
    assert f"/runs/{RUN_ID}" in said.err.splitlines()[-1]


def test_json_is_one_object_with_these_keys(deepdelve_says) -> None:
    said = deepdelve_says("run", "Do heat pumps work?", "--json")
    assert said.out.count("\n") == 1
    shown = json.loads(said.out)
    assert list(shown) == JSON_KEYS
    assert shown["citations"] == [{"n": 1, "source_id": "S1", "url": "https://a.example/study", "file": "sources/S1.md"}]
    assert shown["claims"] == {"supported": 1, "partial": 0, "contradicted": 0, "unsupported": 0, "unchecked": 0}
    assert shown["question"] == "Do heat pumps work?"


def test_json_of_a_question_in_any_script_is_readable(deepdelve_says) -> None:
    assert "热泵" in deepdelve_says("run", "热泵?", "--json").out


@pytest.mark.parametrize(
    ("outcome", "code"),
    [("verified", 0), ("unverified", 3), ("partial", 3), ("no_evidence", 3), ("no_report", 4), ("failed", 4), ("stopped", 130)],
)
@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_the_exit_code_tells_the_outcome(outcome: str, code: int, flags: list[str], deepdelve_says, facade: FakeFacade) -> None:
    facade.changes = {"outcome": outcome, "exit": code, "problems": ("not_grounded",)}
    said = deepdelve_says("run", "q", *flags)
    assert said.code == code
    if flags:
        shown = json.loads(said.out)
        assert (shown["outcome"], shown["exit"], shown["problems"]) == (outcome, code, ["not_grounded"])


def test_without_a_report_nothing_is_on_stdout(deepdelve_says, facade: FakeFacade) -> None:
    facade.report = ""
    facade.changes = {"outcome": "no_report", "exit": 4}
    assert deepdelve_says("run", "q").out == ""


def test_a_run_whose_folder_is_gone_ends_as_failed_and_says_nothing_is_kept(deepdelve_says, facade: FakeFacade, tmp_path: Path) -> None:
    facade.changes = {"outcome": "failed", "exit": 4, "dir": str(tmp_path / "gone")}
    said = deepdelve_says("run", "q")
    assert (said.code, said.out) == (4, "")
    assert "Everything is kept" not in said.err
    assert json.loads(deepdelve_says("run", "q", "--json").out)["outcome"] == "failed"
    (tmp_path / "gone").mkdir()
    assert "Everything is kept" in deepdelve_says("run", "q").err


def test_every_flag_reaches_the_request(deepdelve_says, facade: FakeFacade) -> None:
    research = ["--search", "corpus", "--corpus", "a", "--corpus", "b", "--depth", "deep", "--style", "answer", "--scope", "both"]
    model = ["--backend", "builtin", "--model", "m", "--base-url", "http://x/v1"]
    deepdelve_says("run", "q", *model, *research, "--seed-doc", "s.pdf", "--seed-url", "http://y", "--max-minutes", "2.5", "--auto-approve")
    request = next(call[1] for call in facade.calls if call[0] == "start")
    assert (request.question, request.backend, request.model, request.base_url) == ("q", "builtin", "m", "http://x/v1")
    assert (request.search, request.corpus, request.depth, request.style) == ("corpus", ("a", "b"), "deep", "answer")
    assert (request.scope, request.seed_urls) == ("both", ("http://y",))
    assert (request.seed_docs, request.max_minutes, request.auto_approve, request.surface) == (("s.pdf",), 2.5, True, "cli")


def test_flags_left_out_leave_the_settings_in_force(deepdelve_says, facade: FakeFacade) -> None:
    deepdelve_says("run", "  q \n")
    request = next(call[1] for call in facade.calls if call[0] == "start")
    assert (request.question, request.backend, request.depth, request.style, request.max_minutes) == ("q", "", None, None, None)
    assert not request.auto_approve


def test_a_question_that_starts_with_a_dash(deepdelve_says, facade: FakeFacade) -> None:
    assert deepdelve_says("run", "--", "-25 degrees?").code == 0
    assert next(call[1] for call in facade.calls if call[0] == "start").question == "-25 degrees?"


def test_bytes_that_are_no_text_are_replaced(deepdelve_says, facade: FakeFacade) -> None:
    said = deepdelve_says("run", "caf\udce9?", "--json")
    assert json.loads(said.out)["question"] == "caf\ufffd?"


def test_a_given_settings_file_is_used(deepdelve_says, facade: FakeFacade, tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("settings: {depth: deep}\n")
    assert deepdelve_says("run", "q", "--config", str(config)).code == 0
    assert facade.calls[0] == ("load_settings", config, {})


def test_resuming_a_run_needs_no_question(deepdelve_says, facade: FakeFacade) -> None:
    said = deepdelve_says("run", "--resume-run", RUN_ID[:12], "--model", "m", "--max-minutes", "3")
    assert (said.code, said.out) == (0, REPORT)
    assert ("resume", RUN_ID) in facade.calls
    assert facade.calls[0][2] == {"api.ollama_model": "m", "api.openai_model": "m", "settings.max_run_minutes": 3.0}


# The events file


def test_the_events_file_holds_every_event_but_streamed_pieces(deepdelve_says, tmp_path: Path) -> None:
    target = tmp_path / "events.jsonl"
    deepdelve_says("run", "q", "--events", str(target))
    events = [parse_event(line) for line in target.read_text(encoding="utf-8").splitlines()]
    expected = [type(event) for event in script("q") if not isinstance(event, ev.TextDelta)]
    assert [type(event) for event in events] == expected
    assert events[0].seq == 1


def test_an_events_file_is_written_anew(deepdelve_says, tmp_path: Path) -> None:
    target = tmp_path / "events.jsonl"
    target.write_text("from before\n")
    deepdelve_says("run", "q", "--events", str(target))
    assert "from before" not in target.read_text()


def test_line_ends_in_outside_text_do_not_break_the_events_file(deepdelve_says, facade: FakeFacade, tmp_path: Path) -> None:
    facade.events = lambda question: [ev.Notice(text="a\nb\u2028c\x1b[0m")]
    target = tmp_path / "events.jsonl"
    deepdelve_says("run", "q", "--events", str(target))
    assert target.read_bytes().count(b"\n") == 1


# What comes from outside


def test_control_characters_of_a_report_do_not_reach_the_terminal(deepdelve_says, facade: FakeFacade) -> None:
    facade.report = "# T\x1b]0;title\x07\r\n\tbody\x00 \u202eevil\u202c \x9b31m\n"
    said = deepdelve_says("run", "q")
    assert said.out == "# T]0;title\n\tbody evil 31m\n"


def test_control_characters_of_events_do_not_reach_the_terminal(deepdelve_says, facade: FakeFacade) -> None:
    facade.events = lambda question: [ev.Notice(text="x\x1b[2J\x07\ny" + "z" * 1_000_000)]
    said = deepdelve_says("run", "q")
    line = next(line for line in said.err.splitlines() if "x" in line)
    assert "\x1b" not in said.err
    assert "\x07" not in said.err
    assert len(line) < 300


# Approvals


def ask_for(facade: FakeFacade, kind: str) -> None:
    facade.events = lambda question: [ev.Asked(ask_id="1", kind=kind, text="Fetch https://a.example?")]


def answer_of(path: Path) -> dict[str, object]:
    events = [parse_event(line) for line in path.read_text().splitlines()]
    return next(event.answer for event in events if isinstance(event, ev.Answered))


@pytest.mark.parametrize(
    ("kind", "flags", "answer"),
    [
        ("tool", ["--auto-approve"], {"decision": "allow"}),
        ("tool", [], {"decision": "deny"}),
        ("plan", [], {"items": []}),
        ("intake", [], {"answers": []}),
    ],
)
def test_without_a_terminal_approvals_have_a_fixed_answer(
    kind: str, flags: list[str], answer: dict[str, object], deepdelve_says, facade: FakeFacade, tmp_path: Path
) -> None:
    ask_for(facade, kind)
    target = tmp_path / "e.jsonl"
    said = deepdelve_says("run", "q", *flags, "--events", str(target))
    assert answer_of(target) == answer
    assert ("--auto-approve" in said.err) == (answer == {"decision": "deny"})


# ask


def test_a_follow_up_prints_its_answer(deepdelve_says, facade: FakeFacade) -> None:
    said = deepdelve_says("ask", "latest", "How cold?")
    assert (said.code, said.out) == (0, "At **-25 °C** they still work [1].\n")
    assert ("ask", RUN_ID, "How cold?") in facade.calls


def test_a_follow_up_as_json_has_the_answer_too(deepdelve_says, facade: FakeFacade) -> None:
    facade.changes = {"claims": ClaimCounts(), "answer": "Yes [1]."}
    shown = json.loads(deepdelve_says("ask", "latest", "How cold?", "--json").out)
    assert list(shown) == [*JSON_KEYS, "answer"]
    assert shown["answer"] == "Yes [1]."


def test_a_follow_up_takes_the_model_flags(deepdelve_says, facade: FakeFacade) -> None:
    deepdelve_says("ask", "latest", "q", "--backend", "openai", "--base-url", "http://x/v1")
    flags = facade.calls[0][2]
    assert flags == {"api.backend": "openai", "api.ollama_host": "http://x/v1", "api.openai_base_url": "http://x/v1"}

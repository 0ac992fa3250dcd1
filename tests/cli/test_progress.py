"""Events become plain lines; none is forgotten."""

import io
from typing import get_args

import pytest

from deepdelve.cli.progress import RENDERED, SILENT, Progress, lines_of
from deepdelve.cli.text import block, counted, one_line
from deepdelve.core import events as ev
from deepdelve.core.records import ClaimCounts, PlanItem, Source, Task, Usage
from tests.cli.fake_facade import script

ALL = get_args(get_args(ev.AnyEvent)[0])


def test_every_event_is_told_or_silent_on_purpose() -> None:
    assert set(RENDERED) | set(SILENT) == set(ALL)
    assert not set(RENDERED) & set(SILENT)


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (ev.StageChanged(stage="checking"), ["Checking the report against its sources"]),
        (ev.StageChanged(stage="done"), []),
        (ev.RunResumed(), ["Resumed"]),
        (ev.PlanWritten(items=(PlanItem(name="a", facet="x"), PlanItem(name="b"))), ["Plan: 2 tasks", "- a (x)", "- b"]),
        (ev.DispatchStarted(role="Searcher", task="cold"), ["Searcher starts: cold"]),
        (ev.DispatchEnded(role="Searcher", task="cold"), []),
        (ev.DispatchEnded(role="Searcher", task="cold", ok=False, reason="no reply"), ["Searcher failed on cold: no reply"]),
        (ev.TaskChanged(task=Task(name="t", state="refused", reason="a renamed retry")), ["Task refused: t: a renamed retry"]),
        (ev.TaskChanged(task=Task(name="t", state="done", depth=2)), []),
        (ev.SearchDone(query="q", backend="ddgs", outcome="empty"), ['Searched "q" (ddgs): 0 results']),
        (
            ev.SearchDone(query="q", backend="ddgs", outcome="engines_down", detail="2 of 2"),
            ['Searched "q" (ddgs): engines down; 2 of 2'],
        ),
        (ev.SourceAdded(source=Source(id="S1", url="u", state="stub", reason="too short")), ["Cannot use u (stub): too short"]),
        (ev.SourceDropped(source_id="S1"), ["Source S1 is dropped"]),
        (ev.ArtifactWritten(artifact="final_report", file="f", words=1), ["Draft of the report written: 1 word"]),
        (ev.ArtifactRejected(artifact="findings", file="f", problem="not_grounded"), ["Draft of the findings set aside (not_grounded)"]),
        (ev.ReviewDone(artifact="findings", ok=True), ["Review of the findings: no issues"]),
        (ev.ReviewDone(artifact="findings", ok=False, issues=("a", "b")), ["Review of the findings: 2 issues"]),
        (ev.CheckVerdict(attempt=2), ["Check 2: no problem left"]),
        (ev.CheckVerdict(attempt=2, active=("no_urls",)), ["Check 2: left open: no_urls"]),
        (ev.CheckVerdict(attempt=1, problem="no_urls", remedy="Builder"), ["Check 1: no_urls; remedy: Builder"]),
        (ev.Notice(level="warning", text="slow"), ["Warning: slow"]),
        (ev.UsageReported(role="Planner", usage=Usage()), []),
        (
            ev.ToolRefused(role="Searcher", call_id="1", tool="web_search", rule="quota", reason="used up"),
            ["Refused web_search to Searcher: used up"],
        ),
        (
            ev.ReportDelivered(file="f", citations=("S1",), claims=ClaimCounts(supported=2, partial=1)),
            ["Report delivered: 1 source cited, 2 of 3 claims supported"],
        ),
        (
            ev.RunEnded(outcome="no_evidence", exit=3, reason="nothing found", problems=("a", "b_c")),
            ["Ended: no evidence: nothing found", "Open problems: a, b c"],
        ),
        (ev.Steered(text="shorter"), ["Your instruction: shorter"]),
        (ev.Asked(ask_id="1", kind="tool", text="fetch?"), ["Question (tool): fetch?"]),
    ],
)
def test_the_words_of_an_event(event: ev.Event, lines: list[str]) -> None:
    assert lines_of(event) == lines


def test_a_truncated_call_is_a_warning() -> None:
    (line,) = lines_of(ev.UsageReported(role="Planner", usage=Usage(), truncated=True))
    assert "Warning" in line
    assert "num_ctx" in line


def test_a_run_begins_with_what_it_works_with() -> None:
    event = ev.RunStarted(run_id="r", question="q", backend="ollama", model="m", search="corpus", corpus=("a", "b"), evidence_only=True)
    assert lines_of(event) == [
        "Run r · ollama m · standard depth · standard style · corpus in a, b",
        "Evidence only: nothing is searched or fetched",
    ]


def shown(*events: ev.Event) -> list[str]:
    stream = io.StringIO()
    progress = Progress(stream)
    for event in events:
        progress.show(event)
    return stream.getvalue().splitlines()


def test_lines_carry_the_time_since_the_start() -> None:
    lines = shown(ev.RunResumed(ts=1000.0), ev.Notice(text="x", ts=1000.0 + 61), ev.Notice(text="y", ts=1.0))
    assert [line[:5] for line in lines] == ["00:00", "01:01", "00:00"]


def test_a_source_is_told_once_and_again_when_its_state_changes() -> None:
    ok = ev.SourceAdded(source=Source(id="S1", url="u", title="t"))
    stub = ev.SourceAdded(source=Source(id="S1", url="u", title="t", state="stub"))
    assert len(shown(ok, ok, stub, stub)) == 2


def test_a_whole_run_has_no_colour_and_no_blank_lines() -> None:
    lines = shown(*script("q"))
    assert all(line.strip() and "\x1b" not in line for line in lines)


def test_a_reader_that_has_gone_is_given_up_without_a_word() -> None:
    class Gone(io.StringIO):
        calls = 0

        def write(self, text: str) -> int:
            Gone.calls += 1
            raise BrokenPipeError

    progress = Progress(Gone())
    progress.say("a")
    progress.say("b")
    assert Gone.calls == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb\tc", "a b c"),
        ("\x1b[31mred\x1b[0m", "[31mred [0m"),
        ("x" * 300, "x" * 199 + "…"),
        ("\x00\x85\u2028", ""),
        ("\u202egnp.exe", "gnp.exe"),
        ("日本 עברית é", "日本 עברית é"),
    ],
)
def test_one_line(text: str, line: str) -> None:
    assert one_line(text) == line


def test_a_block_keeps_its_lines() -> None:
    assert block("a\r\nb\n\tc\x07\x9b") == "a\nb\n\tc"


def test_counted() -> None:
    assert [counted(n, "run") for n in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]

"""Notes for the reader: honest, short, and of no interest to any parser."""

import re

from deepdelve.core.records import Flag
from deepdelve.engine.completion.draft import parse_draft
from deepdelve.engine.writing.reader_notes import notes, render
from deepdelve.utils.phrases import say
from deepdelve.utils.run_state import DraftStamp
from tests.engine.completion.states import REPORT, finding, good_state, source, task, verdicts


def told(**fields: object) -> str:
    return "\n".join(notes(good_state(**fields)))


class TestWhatIsTold:
    def test_a_clean_run_has_no_notes(self) -> None:
        assert notes(good_state()) == []
        assert render(good_state()) == ""

    def test_a_failed_task_and_why(self) -> None:
        text = told(tasks=[task("rent levels"), task("trams", state="failed", reason="the server answered 500")])
        assert "trams (the server answered 500)" in text
        assert "failed" in text

    def test_a_refused_task(self) -> None:
        assert "refused: trams" in told(tasks=[task("rent levels"), task("trams", state="refused")])

    def test_a_task_that_found_nothing(self) -> None:
        assert "Nothing that can be cited was found on this: trams." in told(tasks=[task("rent levels"), task("trams")])

    def test_a_task_that_was_cut_off(self) -> None:
        assert "not finished: trams" in told(tasks=[task("rent levels"), task("trams", state="running")])

    def test_pages_that_could_not_be_read(self) -> None:
        text = told(sources=[source("S1"), source("S2"), source("S3", state="blocked", reason="log-in page")])
        assert "One page could not be read" in text
        assert "site3.example (log-in page)" in text

    def test_records_that_were_set_aside(self) -> None:
        assert "1 of 2 records" in told(
            findings=[finding(1, "S1", "rent levels"), finding(2, "S2", "food prices", flags=[Flag(kind="quote")])]
        )

    def test_a_source_dropped_by_the_person(self) -> None:
        assert "One page dropped on request." in told(dropped_sources=["S1"])

    def test_engines_that_did_not_work(self) -> None:
        text = told(search_health={"ddgs": "rate_limited", "searxng": "ok", "arxiv": "empty"})
        assert "ddgs (rate limited)" in text
        assert "searxng" not in text
        assert "arxiv" not in text

    def test_what_nobody_reviewed(self) -> None:
        assert "The report could not be reviewed." in told(reviews={"final_report": False, "findings": True})

    def test_refused_tool_calls(self) -> None:
        assert "1 tool call was refused" in told(refusals=1)

    def test_a_restored_draft(self) -> None:
        state = good_state()
        state.drafts["final_report"] = DraftStamp(file="draft/final_report.md", by="restored from draft/rejected/final_report_1.md")
        assert any("earlier draft" in note for note in notes(state))

    def test_checks_that_are_switched_off(self) -> None:
        found = notes(good_state(), {"disable_check_no_urls": True, "disable_check_not_grounded": False})
        assert found == ["Switched off in the settings: check no urls."]


class TestForm:
    NASTY = "see https://evil.example/x\n1. a list\n# heading [S1] <<<end x>>>"

    def everything(self) -> str:
        return render(
            good_state(
                tasks=[task("rent levels"), *(task(f"Town{n} {self.NASTY}", state="failed", reason=self.NASTY) for n in range(30))],
                sources=[source("S1"), source("S2"), *(source(f"S{n}", state="unreachable", reason=self.NASTY) for n in range(3, 40))],
                search_health={self.NASTY: "blocked"},
            ),
            {"disable_check_no_urls": True},
        )

    def test_long_lists_are_cut_and_counted(self) -> None:
        assert "; and 20 more" in self.everything()

    def test_no_line_can_be_taken_for_a_heading_a_numbered_entry_or_a_fence(self) -> None:
        text = self.everything()
        assert not re.search(r"^\s*(?:\d+[.)]|#)", text, re.MULTILINE)
        assert "<<<" not in text
        assert all(line == "---" or line.startswith(("- ", "**")) for line in text.splitlines() if line)

    def test_no_source_is_cited_and_no_address_is_named_by_them(self) -> None:
        text = self.everything()
        assert parse_draft(text).cited == ()
        assert "://" not in text

    def test_the_heading_is_there_once(self) -> None:
        assert self.everything().count(say("notes")) == 1

    def test_a_report_is_judged_alike_with_and_without_them(self) -> None:
        assert set(verdicts(good_state(), REPORT)) == set(verdicts(good_state(), REPORT + self.everything()))

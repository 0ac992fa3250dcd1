"""What is kept of writing that went wrong."""

import pytest

from deepdelve.engine.writing.salvage import best_snapshot, narrated_report, numeric_order

BODY = " ".join(f"The rent in district {n} rose again this year [S{n % 4 + 1}]." for n in range(12))


class TestBestSnapshot:
    def test_the_newest_is_taken(self) -> None:
        assert best_snapshot({"r_1.md": "word " * 100, "r_2.md": "word " * 90}) == "r_2.md"

    def test_numbers_are_numbers_however_many_digits(self) -> None:
        names = [f"final_report_{n}.md" for n in (1, 2, 9, 10, 11, 100)]
        assert numeric_order(reversed(names)) == names
        assert best_snapshot(dict.fromkeys(names, "word " * 50)) == "final_report_100.md"

    def test_an_empty_template_is_never_restored_over_a_draft(self) -> None:
        drafts = {"report_8.md": "word " * 900, "report_9.md": "# Title\n\n## Section\n"}
        assert best_snapshot(drafts) == "report_8.md"

    @pytest.mark.parametrize(("length", "name"), [(50, "r_2.md"), (49, "r_1.md")])
    def test_half_of_the_longest_in_words_is_enough(self, length: int, name: str) -> None:
        assert best_snapshot({"r_1.md": "word " * 100, "r_2.md": "word " * length}) == name

    def test_words_are_counted_in_any_language(self) -> None:
        assert best_snapshot({"r_1.md": "租金上涨" * 40, "r_2.md": "word word"}) == "r_1.md"

    @pytest.mark.parametrize("drafts", [{}, {"r_1.md": ""}, {"r_1.md": " \n", "r_2.md": "---"}])
    def test_where_there_is_nothing_there_is_none(self, drafts: dict[str, str]) -> None:
        assert best_snapshot(drafts) is None

    def test_names_without_a_number_are_the_oldest(self) -> None:
        assert best_snapshot({"report.md": "word " * 10, "report_1.md": "word " * 10}) == "report_1.md"


class TestNarratedReport:
    def test_a_reply_that_is_the_report(self) -> None:
        assert narrated_report(f"# Rents\n\n{BODY}") == f"# Rents\n\n{BODY}"

    def test_a_fence_and_an_announcement_are_taken_off(self) -> None:
        assert narrated_report(f"```markdown\n# Rents\n\n{BODY}\n```") == f"# Rents\n\n{BODY}"
        assert narrated_report(f"Here is the report:\n\n# Rents\n\n{BODY}") == f"# Rents\n\n{BODY}"

    def test_what_is_said_before_a_heading_of_the_report_stays(self) -> None:
        text = f"{BODY}\n\n# Rents\n\nMore."
        assert narrated_report(text) == text

    @pytest.mark.parametrize(
        "reply",
        ["", "Done.", "I have written the report to final_report.md.", "word " * 200, "# One\n\nShort [S1]."],
        ids=["empty", "word", "told", "no ids", "too short"],
    )
    def test_a_reply_about_a_report_is_none(self, reply: str) -> None:
        assert narrated_report(reply) is None

"""Which file of a folder, or which stored source, a reference of a report means."""

from pathlib import Path

import pytest

from deepdelve.utils.grounding.sources import Sources, SourceText, from_folder
from deepdelve.utils.grounding.verify import verify_report

TEXT = "# The Kalda Dam\n\nThe Kalda Dam is 142 metres high. It was finished in 1968.\n"
OTHER = "# Bridges of the north\n\nThe Selmo bridge is 90 metres long.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "dam-notes.md").write_text(TEXT)
    (tmp_path / "bridges.md").write_text(OTHER)
    return tmp_path


@pytest.mark.parametrize(
    "entry",
    [
        "dam-notes.md",
        "The dam. dam-notes.md",
        "Kalda (file: dam-notes.md, p. 3)",
        "papers/2024/dam-notes.md",
        "corpus://papers/dam-notes.md",
        "The Kalda Dam",
        "*The Kalda Dam.*",
        "Smith, A. (2020). The Kalda Dam. River Press.",
    ],
)
def test_a_reference_finds_its_file_by_name_or_title(folder: Path, entry: str) -> None:
    found = verify_report(f"# R\n\nThe Kalda Dam is 142 metres high [1].\n\n## Sources\n\n[1] {entry}\n", folder)
    assert (found.counts.supported, found.counts.total) == (1, 1), found.unread


def test_an_address_that_is_not_held_is_never_taken_for_a_file_of_its_last_part(folder: Path) -> None:
    report = "# R\n\nThe Kalda Dam is 142 metres high [1].\n\n## Sources\n\n[1] Report. https://river.example/dam-notes.md\n"
    assert verify_report(report, folder).counts.unchecked == 1


def test_two_files_of_one_title_are_not_told_apart_by_it(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(TEXT)
    report = "# R\n\nThe Kalda Dam is 142 metres high [1].\n\n## Sources\n\n[1] The Kalda Dam\n"
    assert verify_report(report, tmp_path).counts.unchecked == 1


def test_what_is_not_found_is_told_with_how_sources_are_found(folder: Path) -> None:
    found = verify_report("# R\n\nThe Selmo bridge is 90 metres long [1].\n\n## Sources\n\n[1] Something else\n", folder)
    assert ("1", "not among the sources given") in found.unread
    assert any("file name" in note for note in found.notes)


def test_a_number_means_a_stored_source_of_that_number_only_where_the_title_allows_it() -> None:
    """Reports number by first citation, a run by first fetch: [1] may well be S4."""
    held = Sources()
    held.add(SourceText("S1", OTHER, url="corpus://c/bridges.md", title="Bridges of the north"))
    held.add(SourceText("S4", TEXT, url="corpus://c/dam.md", title="The Kalda Dam"))
    named = "# R\n\nThe Kalda Dam is 142 metres high [1].\n\n## Sources\n\n[1] {}\n"
    for entry in ("The Kalda Dam", "The Kalda Dam. corpus://c/dam.md", "corpus://c/dam.md"):
        assert verify_report(named.format(entry), held).counts.supported == 1, entry
    assert verify_report(named.format("Annual statistics of fishing"), held).counts.unchecked == 1
    assert verify_report("# R\n\nThe Kalda Dam is 142 metres high [S4].\n", held).counts.supported == 1


def test_documents_are_read_by_the_reader_that_is_given(tmp_path: Path) -> None:
    (tmp_path / "1.pdf").write_bytes(b"%PDF-1.7 ...")

    def read(data: bytes, name: str) -> str:
        assert name == "1.pdf"
        return TEXT if data.startswith(b"%PDF") else ""

    report = "# R\n\nThe Kalda Dam is 142 metres high [1].\n\n## Sources\n\n[1] https://river.example/dam\n"
    assert verify_report(report, from_folder(tmp_path, read)).counts.supported == 1
    assert verify_report(report, from_folder(tmp_path)).counts.unchecked == 1


def test_a_document_that_its_reader_refuses_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "1.pdf").write_bytes(b"%PDF-1.7 ...")

    def read(data: bytes, name: str) -> str:
        raise ValueError("The PDF is encrypted.")

    assert ("1", "1.pdf: The PDF is encrypted.") in from_folder(tmp_path, read).unread


def test_a_report_that_lies_among_its_sources_is_none_of_them(tmp_path: Path) -> None:
    report = tmp_path / "1.md"
    report.write_text("The Kalda Dam is 142 metres high [1].")
    (tmp_path / "dam.md").write_text(TEXT)
    assert set(from_folder(tmp_path, besides=report).by_label) == {"dam"}

"""The files of a run: which are listed, and what of them can be read."""

from pathlib import Path

import pytest

from deepdelve.core.errors import RunNotFoundError, UsageError
from deepdelve.engine import facade

RUN = "20260101_000001_abcdef"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path))
    made = tmp_path / "runs" / RUN
    (made / "sources").mkdir(parents=True)
    (made / "journal.jsonl").write_text("{}\n")
    (made / "final_report.md").write_text("# Report\n")
    (made / "sources" / "S1.md").write_text("text")
    (made / "sources" / "S1.pdf").write_bytes(b"%PDF-1.7\0\0")
    return made


def test_files_are_listed_with_size_and_meaning(folder: Path) -> None:
    assert [(item.name, item.size, item.what) for item in facade.run_files(RUN)] == [
        ("final_report.md", 9, "the report as delivered"),
        ("journal.jsonl", 3, "every event, in order"),
        ("sources/S1.md", 4, "a source"),
        ("sources/S1.pdf", 10, "a source"),
    ]


def test_a_text_is_read(folder: Path) -> None:
    assert facade.run_file_text(RUN, "sources/S1.md") == "text"


def test_what_is_no_text_says_where_it_is(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"S1\.pdf is no text") as caught:
        facade.run_file_text(RUN, "sources/S1.pdf")
    assert str(folder / "sources" / "S1.pdf") in caught.value.remedy


@pytest.mark.parametrize("name", ["../../config.yaml", "/etc/passwd", "", ".", "sources", "nothing.md", "link.md"])
def test_only_listed_files_are_read(name: str, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("secret")
    (folder / "link.md").symlink_to(tmp_path / "config.yaml")
    with pytest.raises(UsageError, match="no such file"):
        facade.run_file_text(RUN, name)


def test_of_a_huge_file_the_beginning_is_read(folder: Path) -> None:
    (folder / "journal.jsonl").write_text("é" * 1_000_000)
    assert 100_000 < len(facade.run_file_text(RUN, "journal.jsonl")) <= 400_000


def test_an_unknown_run_is_said(folder: Path) -> None:
    with pytest.raises(RunNotFoundError):
        facade.run_files("20990101")

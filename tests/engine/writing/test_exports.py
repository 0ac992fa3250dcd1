"""Exporting a run: what is named, where it goes, what is said when it fails, and that the run is never touched."""

import os
from pathlib import Path

import pytest

from deepdelve.core import events as ev
from deepdelve.core.errors import DiskError, ExportError, UsageError
from deepdelve.engine import facade, journal
from deepdelve.engine.writing import delivery, exports
from deepdelve.engine.writing.export import html
from deepdelve.utils.grounding import ledger

from .export.made import REPORT, SUPPORTED, TEXT, claims, sources

RUN = "20260101_000001_abcdef"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run with a delivered report."""
    monkeypatch.setenv("DEEPDELVE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "home" / "runs" / RUN
    (folder / "sources").mkdir(parents=True)
    (folder / "sources" / "S1.md").write_text(TEXT, encoding="utf-8")
    (folder / delivery.REPORT).write_text(REPORT, encoding="utf-8")
    (folder / delivery.CLAIMS).write_text(ledger.to_json(claims()), encoding="utf-8")
    events: list[ev.Event] = [
        ev.RunStarted(run_id=RUN, question="How do heat pumps do?", style="standard"),
        *(ev.SourceAdded(source=source) for source in sources().values()),
        ev.ReportDelivered(file=delivery.REPORT, citations=("S2", "S1")),
        ev.RunEnded(outcome="verified", exit=0),
    ]
    lines = [event.model_copy(update={"seq": n, "ts": 1.0 + n}).model_dump_json() for n, event in enumerate(events, 1)]
    (folder / journal.JOURNAL).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("kind", exports.FORMATS)
def test_every_format_is_written_and_the_run_is_only_read(kind: str, run: Path, out: Path) -> None:
    if kind == "pdf":
        pytest.importorskip("typst")
    before = content(run)
    made = facade.export(RUN, kind, out)
    assert made.format == kind
    assert made.path == out / f"{RUN}.{'csl.json' if kind == 'csl' else kind}"
    assert made.path.stat().st_size > 100
    assert [path.name for path in out.iterdir()] == [made.path.name]
    assert content(run) == before


def test_markdown_is_the_report_as_delivered(run: Path, out: Path) -> None:
    assert facade.export(RUN, "md", out).path.read_text(encoding="utf-8") == REPORT


def test_claims_lead_to_the_stored_passages(run: Path, out: Path) -> None:
    page = facade.export(RUN, "html", out).path.read_text(encoding="utf-8")
    assert f"<mark>{SUPPORTED.removesuffix(' [1].')}.</mark>" in page


def test_references_come_in_the_order_of_the_reports_numbers(run: Path, out: Path) -> None:
    listed = facade.export(RUN, "ris", out).path.read_text(encoding="utf-8")
    assert listed.index("ID  - S2") < listed.index("ID  - S1")


@pytest.mark.parametrize(
    ("wanted", "kind"),
    [("html", "html"), ("HTML", "html"), ("bibtex", "bib"), ("csl-json", "csl"), ("markdown", "md"), (" ris ", "ris"), ("htm", "html")],
)
def test_a_format_has_its_usual_names(wanted: str, kind: str) -> None:
    assert exports.format_of(wanted) == (kind, None)


@pytest.mark.parametrize(
    ("wanted", "kind"), [("r.pdf", "pdf"), ("a b/c.HTM", "html"), ("refs.bib", "bib"), ("refs.json", "csl"), ("x.y.docx", "docx")]
)
def test_a_path_says_its_format_by_its_ending(wanted: str, kind: str) -> None:
    assert exports.format_of(wanted) == (kind, Path(wanted))


@pytest.mark.parametrize("wanted", ["", "odt", "report.odt", "html/", "report", "x\0.html", "a\x1b[31m.exe", "." * 300])
def test_what_names_no_format_is_said_with_all_that_do(wanted: str) -> None:
    with pytest.raises(UsageError, match="names no format") as caught:
        exports.format_of(wanted)
    assert caught.value.line().isprintable()
    assert "md, html, pdf, docx, bib, ris, csl" in caught.value.remedy


def test_a_path_may_be_relative_absolute_or_new(run: Path, out: Path) -> None:
    assert facade.export(RUN, "deep/down/r.html", out).path == out / "deep" / "down" / "r.html"
    assert facade.export(RUN, str(out / "x.md"), Path("/nowhere")).path == out / "x.md"


def test_a_folder_is_no_file(run: Path, out: Path) -> None:
    (out / "r.html").mkdir()
    with pytest.raises(UsageError, match="is a folder"):
        facade.export(RUN, "r.html", out)


def test_a_run_without_a_report_says_what_writes_one(run: Path, out: Path) -> None:
    (run / delivery.REPORT).unlink()
    with pytest.raises(UsageError, match="no report to export") as caught:
        facade.export(RUN, "html", out)
    assert f"deepdelve finish {RUN}" in caught.value.remedy


def test_a_report_without_sources_gives_an_empty_list_and_says_so(run: Path, out: Path) -> None:
    path = run / journal.JOURNAL
    path.write_text(path.read_text().replace('"citations":["S2","S1"]', '"citations":[]'))
    made = facade.export(RUN, "bib", out)
    assert made.path.read_text() == ""
    assert "cites no source" in made.note


def test_a_failure_in_a_format_is_one_line_and_leaves_what_was_there(run: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (out / f"{RUN}.html").write_text("before")
    before = content(run)

    def broken(made: object) -> str:
        raise RuntimeError("inner words")

    monkeypatch.setattr(html, "write", broken)
    with pytest.raises(ExportError) as caught:
        facade.export(RUN, "html", out)
    assert caught.value.line() == (
        "The report could not be brought into the format html (RuntimeError). "
        "The run and its report are as they were; another format may do."
    )
    assert (out / f"{RUN}.html").read_text() == "before"
    assert content(run) == before


def test_a_damaged_ledger_costs_that_export_only(run: Path, out: Path) -> None:
    (run / delivery.CLAIMS).write_text("{")
    with pytest.raises(ExportError):
        facade.export(RUN, "html", out)
    assert facade.export(RUN, "md", out).path.is_file()


def test_a_full_disk_leaves_the_old_file_whole(run: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = out / "r.html"
    target.write_text("before")

    def full(self: Path, other: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DiskError) as caught:
        facade.export(RUN, "r.html", out)
    assert caught.value.remedy == "Free some space or name another place; the run is as it was."
    assert target.read_text() == "before"
    assert [path.name for path in out.iterdir()] == ["r.html"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_one_line(run: Path, out: Path) -> None:
    out.chmod(0o500)
    with pytest.raises(DiskError):
        facade.export(RUN, "html", out)


def test_what_fonts_lack_is_told_in_one_sentence() -> None:
    assert exports._font_note("") == ""
    note = exports._font_note("热泵寒冷气候中效率较低好吗呢")
    assert "14 of its letters (热 泵 寒 冷 气 候 中 效 率 较 低 好 …)" in note
    assert "html and docx need none" in note


def test_the_engine_is_not_slowed_by_formats_that_nobody_asks_for() -> None:
    import subprocess
    import sys

    code = "import sys; from deepdelve.engine import facade; print(sorted({'docx', 'typst', 'markdown_it'} & set(sys.modules)))"
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": str(root / ".typecheck")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "[]"

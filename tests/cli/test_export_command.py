"""``deepdelve export``, over the real engine with the built-in backend."""

import json
from pathlib import Path

import pytest

from deepdelve.cli.main import main

TEXT = (
    "# HSTS\n\nHTTP Strict Transport Security is a policy that makes browsers connect over HTTPS only. "
    "The policy was published as RFC 6797 in November 2012. Its max-age is given in seconds.\n"
)


@pytest.fixture
def run_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "hsts.md").write_text(TEXT)
    arguments = ["--corpus", str(tmp_path / "docs"), "--backend", "builtin", "--json"]
    assert main(["run", "What is HTTP Strict Transport Security?", *arguments]) == 0
    monkeypatch.chdir(tmp_path)
    return json.loads(capsys.readouterr().out)["run_id"]


def test_several_formats_at_once_go_into_this_folder(run_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "latest", "--to", "html", "bib", "--to", "out/report.docx"]) == 0
    said = capsys.readouterr()
    names = [f"{run_id}.html", f"{run_id}.bib", "out/report.docx"]
    assert said.out.split("\n")[:-1] == [str(tmp_path / name) for name in names]
    assert all((tmp_path / name).stat().st_size > 60 for name in names)
    assert said.err == ""
    assert 'id="passage-1"' in (tmp_path / names[0]).read_text()


def test_one_that_fails_does_not_keep_the_others(run_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", run_id, "--to", "odt", "ris"]) == 2
    said = capsys.readouterr()
    assert said.out == f"{tmp_path / f'{run_id}.ris'}\n"
    assert said.err.startswith("deepdelve: 'odt' names no format. Formats are md, html")


def test_json_names_what_was_written(run_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", run_id, "--to", "csl", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"file": str(tmp_path / f"{run_id}.csl.json"), "format": "csl", "note": ""}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "No run is named."),
        (["latest"], "No format is named. For example: deepdelve export latest --to html pdf"),
        (["nothing-like-it", "--to", "html"], "There is no run"),
    ],
)
def test_what_is_missing_is_one_line(arguments: list[str], said: str, run_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"deepdelve: {said}")
    assert error.count("\n") == 1

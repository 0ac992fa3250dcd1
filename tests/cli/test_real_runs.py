"""The command line over the real engine, with the built-in backend and a small corpus: no model, no network."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deepdelve.core.events import parse_event
from tests.cli.test_process import ROOT, environment

DOCUMENTS = {
    "kestrel.md": "# The common kestrel\n\nThe common kestrel hovers while it hunts voles. It weighs about 200 grams. "
    "Kestrels nest in cliffs and on buildings.\n",
    "barn-owl.md": "# The barn owl\n\nThe barn owl hunts voles at night by hearing. It weighs about 300 grams. Barn owls nest in barns.\n",
    "bread.txt": "Sourdough bread\n\nSourdough bread rises for twelve hours. The dough is made of flour, water and salt.\n",
}
QUESTION = "How does the common kestrel hunt voles?"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
    return folder


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "deepdelve", *arguments]


def says(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), env=environment(), cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90, check=False
    )


def run(corpus: Path, *arguments: str, question: str = QUESTION) -> subprocess.CompletedProcess[str]:
    return says("run", question, "--backend", "builtin", "--corpus", str(corpus), *arguments)


def test_a_question_becomes_a_cited_report_whose_citations_resolve(corpus: Path, tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    done = run(corpus, "--json", "--events", str(events))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    folder = Path(result["dir"])
    assert (result["outcome"], result["exit"], result["backend"]) == ("verified", 0, "builtin")
    assert folder.is_relative_to(os.environ["DEEPDELVE_HOME"])
    assert result["citations"]
    for number, citation in enumerate(result["citations"], 1):
        assert citation["n"] == number
        assert (folder / citation["file"]).read_text()
    assert result["claims"]["supported"] >= 1
    assert result["claims"]["unsupported"] == result["claims"]["contradicted"] == 0
    written = [parse_event(line) for line in events.read_text().splitlines()]
    journal = [parse_event(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    assert written == journal
    assert "kestrel" in (folder / "final_report.md").read_text().lower()


def test_the_report_is_what_show_prints_later_and_a_follow_up_leaves_it_alone(corpus: Path) -> None:
    done = run(corpus)
    assert done.returncode == 0, done.stderr
    assert "[1]" in done.stdout
    assert says("show", "latest").stdout == done.stdout
    assert "verified" in says("runs").stdout
    assert "kestrel.md" in says("show", "latest", "--sources").stdout
    answer = says("ask", "latest", "Where do kestrels nest?", "--backend", "builtin")
    assert answer.returncode == 0, answer.stderr
    assert "Kestrels nest in cliffs and on buildings [1]" in answer.stdout
    assert says("show", "latest").stdout == done.stdout


def test_a_question_that_the_corpus_cannot_answer_gives_no_evidence(corpus: Path) -> None:
    done = run(corpus, "--json", question="Which taxes did Hungary raise in 1931?")
    result = json.loads(done.stdout)
    assert (done.returncode, result["outcome"], result["exit"], result["citations"]) == (3, "no_evidence", 3, [])


@pytest.mark.parametrize("kind", ["missing", "empty", "unreadable kinds"])
def test_a_corpus_without_documents_is_refused_and_leaves_nothing(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    if kind != "missing":
        folder.mkdir()
    if kind == "unreadable kinds":
        (folder / "image.bin").write_bytes(bytes(range(256)))
    done = run(folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("deepdelve: ")
    assert done.stderr.count("\n") == 1
    assert not list(Path(os.environ["DEEPDELVE_HOME"]).glob("runs/*"))


def test_a_missing_seed_document_is_refused(corpus: Path) -> None:
    done = run(corpus, "--seed-doc", str(corpus / "none.pdf"))
    assert done.returncode == 2
    assert "none.pdf" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_is_killed_leaves_a_readable_run(number: int, corpus: Path) -> None:
    for n in range(60):
        (corpus / f"vole{n}.md").write_text(f"# Vole {n}\n\nThe kestrel hunts vole number {n}. " + "Voles eat grass. " * 400)
    process = subprocess.Popen(
        command("run", QUESTION, "--backend", "builtin", "--corpus", str(corpus), "--depth", "deep"),
        env=environment(), cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for line in process.stderr:
        if "Searcher starts" in line:
            break
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGTERM else -signal.SIGKILL)
    assert ("stopped" if number == signal.SIGTERM else "interrupted") in says("runs").stdout
    events = says("show", "latest", "--events")
    assert events.returncode == 0
    assert len([parse_event(line) for line in events.stdout.splitlines()]) > 2


def test_example_corpus_is_described_document_by_document() -> None:
    described = (ROOT / "examples" / "ORIGIN.md").read_text(encoding="utf-8")
    files = sorted((ROOT / "examples" / "corpus").iterdir())
    assert len(files) >= 12
    assert all(f"| {file.name} |" in described for file in files)
    assert all(3_000 <= file.stat().st_size <= 40_000 for file in files)


def test_the_example_corpus_is_read_whole_and_answers_from_several_documents() -> None:
    done = run(ROOT / "examples" / "corpus", "--json", question="How can a domain owner detect a fraudulent certificate?")
    assert done.returncode == 0, done.stderr
    assert "Not read" not in done.stderr
    assert any(citation["url"].endswith("certificates.md") for citation in json.loads(done.stdout)["citations"])


def test_an_exported_bundle_runs_without_any_research(corpus: Path, tmp_path: Path) -> None:
    first = json.loads(run(corpus, "--json").stdout)
    exported = says("show", first["run_id"], "--export-evidence", str(tmp_path / "bundle"))
    assert exported.returncode == 0, exported.stderr
    assert "of evidence in" in exported.stdout
    events = tmp_path / "events.jsonl"
    done = says("run", QUESTION, "--backend", "builtin", "--pipeline-evidence", str(tmp_path / "bundle"), "--json", "--events", str(events))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["outcome"] == "verified"
    assert len(result["citations"]) == len(first["citations"])
    kinds = {parse_event(line).type for line in events.read_text().splitlines()}
    assert not kinds & {"search_done", "task_changed", "plan_written"}
    refused = says("show", first["run_id"], "--export-evidence", str(tmp_path / "bundle"))
    assert (refused.returncode, "already" in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--pipeline-evidence", "nowhere"], "no evidence bundle"),
        (["--pipeline-evidence", ""], "is empty"),
        (["--pipeline-evidence", ".", "--seed-url", "https://a.example/"], "nothing else"),
    ],
)
def test_a_bundle_that_cannot_be_used_starts_nothing(arguments: list[str], told: str) -> None:
    done = says("run", QUESTION, "--backend", "builtin", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert not (Path(os.environ["DEEPDELVE_HOME"]) / "runs").exists()

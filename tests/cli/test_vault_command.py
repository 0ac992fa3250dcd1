"""``deepdelve vault`` over real runs: a folder served as a web site, found by a SearXNG double."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepdelve.cli.main import main
from tests.cli.test_real_runs import says
from tests.support.corpus_web import corpus_web

ROOT = Path(__file__).resolve().parents[2]
TOPIC = "How do HSTS and certificates protect visitors of a website?"


@pytest.fixture
def searxng(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Three documents behind a SearXNG double."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in ("hsts.md", "certificates.md", "https-faq.md"):
        (folder / name).write_bytes((ROOT / "examples" / "corpus" / name).read_bytes())
    loop, stop, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
    urls: list[str] = []

    async def serve() -> None:
        async with corpus_web(folder) as (found, _):
            urls.append(found.url)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(60)
    monkeypatch.setenv("SEARXNG_URL", urls[0])
    monkeypatch.setenv("DEEPDELVE_FETCH__ALLOW_LOOPBACK", "true")
    monkeypatch.setenv("DEEPDELVE_API__BACKEND", "builtin")
    yield urls[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join(10)
    loop.close()


def test_b08_the_run_is_shown_while_it_goes_and_ends_as_a_page(searxng: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    vault = tmp_path / "my vault"
    assert main(["vault", "research", TOPIC, "--vault", str(vault), "--max-iter", "2"]) == 0
    shown = capsys.readouterr()
    assert [line.rpartition(": ")[2] for line in shown.err.splitlines() if line.startswith("round")] == [
        *("generating", "searching", "fetching", "assessing", "synthesizing", "validating", "ingesting")
    ]
    assert "status: converged" in shown.out
    page = Path(shown.out.split("page: ")[1].splitlines()[0])
    assert page.is_relative_to(vault)
    assert "HSTS" in page.read_text()
    assert main(["vault", "lint", "--vault", str(vault)]) == 0
    assert main(["vault", "verify", "--vault", str(vault), "--json"]) == 0
    checks = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [check["ok"] for check in checks] == [True]
    assert main(["vault", "runs"]) == 0
    assert "converged" in capsys.readouterr().out
    assert main(["vault", "show", "latest"]) == 0
    assert "cited" in capsys.readouterr().out
    assert main(["vault", "ingest", "latest", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "skipped"
    assert main(["vault", "check"]) == 0
    assert "ok    searxng empty" in capsys.readouterr().out


def test_json_and_queries_of_ones_own(searxng: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vault", "research", TOPIC, "--query", "hsts preload", "--query", "certificate authority", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["queries_used"] == ["hsts preload", "certificate authority"]
    assert shown["page"].startswith("wiki/synthesis/")
    assert {source["cited"] for source in shown["sources"]} >= {True}


def test_a_topic_that_nothing_answers_is_said(searxng: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vault", "research", "zzyzx quux", "--max-iter", "1"]) == 3
    assert "no sources" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says_what"),
    [
        (["vault"], "No action"),
        (["vault", "reserch"], "Did you mean 'deepdelve vault research'"),
        (["vault", "research"], "topic is empty"),
        (["vault", "research", "x" * 10_000], "characters"),
        (["vault", "research", "tides", "--max-iter", "11"], "max_iter"),
        (["vault", "research", "tides", "--token-budget", "5"], "token_budget"),
        (["vault", "research", "tides", "--vault", ""], "vault is empty"),
        (["vault", "research", "tides", "--query", "tides", "--query", "!g :de"], "nothing is left to search for"),
        (["vault", "research", "tides", *(word for n in range(6) for word in ("--query", f"tides {n}"))], "a round searches 5"),
        (["vault", "lint", "--max-iter", "3"], "lint takes no --max-iter"),
        (["vault", "check", "tides"], "check takes no topic"),
        (["vault", "runs", "--vault", "x"], "runs takes no --vault"),
        (["vault", "ingest", "latest", "--vault", "x"], "ingest takes no --vault"),
        (["vault", "add", "latest", "--query", "x", "--token-budget", "5000"], "add takes no --token-budget"),
        (["vault", "lint", "--vault", "nowhere"], "no vault in"),
        (["vault", "verify", "--vault", "nowhere"], "no vault in"),
        (["vault", "show"], "No run is named"),
        (["vault", "show", "nope"], "no vault run"),
        (["vault", "add", "nope"], "no run"),
        (["serve", "--host", "0.0.0.0"], "password"),
    ],
)
def test_what_cannot_be_done_is_one_line(arguments: list[str], says_what: str, searxng: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert says_what.lower() in shown.err.lower()
    assert len(shown.err.splitlines()) == 1


@pytest.mark.parametrize("vault", [__file__, f"{__file__}/below"])
def test_a_vault_that_cannot_be_written_is_said_before_anything_is_searched(
    vault: str, searxng: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["vault", "research", TOPIC, "--vault", vault]) == 4
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "cannot be written" in shown.err
    assert "--vault" in shown.err
    assert len(shown.err.splitlines()) == 1
    assert main(["vault", "runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 0


def test_without_an_instance_it_does_not_start(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEARXNG_URL", raising=False)
    assert main(["vault", "research", "tides"]) == 2
    assert "SEARXNG_URL" in capsys.readouterr().err
    assert main(["vault", "check"]) == 4
    assert "BAD   searxng" in capsys.readouterr().out


def test_help_and_the_commands_load_no_database_before_they_need_it() -> None:
    code = "from deepdelve.__main__ import main\nimport sys\ntry: main(['vault', '--help'])\nexcept SystemExit: pass\nprint([n for n in ('sqlalchemy', 'alembic', 'fastapi', 'yaml') if n in sys.modules])"
    env = {**os.environ, "PYTHONPATH": str(ROOT / ".typecheck")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert says("serve", "--help").returncode == 0

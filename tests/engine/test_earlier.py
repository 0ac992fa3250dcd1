"""The index over earlier runs: what it holds, when it is read again, and what it never trusts."""

import json
import shutil
from pathlib import Path

import pytest

from deepdelve.engine import earlier, store
from deepdelve.engine.earlier import EarlierRuns, index_path, load, stored_text
from tests.support.scripted import text
from tests.support.whole_run import RIVERS, WholeRun, good_rules, run_scripted, write_corpus


@pytest.fixture
async def rivers(tmp_path: Path) -> WholeRun:
    return await run_scripted(good_rules(), write_corpus(tmp_path / "rivers", RIVERS))


async def test_an_ended_run_gives_its_sources_and_its_supported_claims(rivers: WholeRun) -> None:
    known = load()
    run_id = rivers.run.run_id
    assert set(known.stored) == {(run_id, "S1"), (run_id, "S2")}
    assert any("212 kilometres" in claim.text for claim in known.claims)
    for claim in known.claims:
        assert claim.page.run_id == run_id


async def test_without_runs_there_is_nothing(isolated: Path) -> None:
    known = load()
    assert (known.pages, known.stored, known.claims) == ({}, {}, ())


async def test_claims_that_were_not_carried_and_dropped_sources_are_left_out(rivers: WholeRun) -> None:
    ledger = rivers.run.dir / "final_report.claims.json"
    body = json.loads(ledger.read_text())
    for row in body["claims"]:
        row["status"] = "unsupported"
    ledger.write_text(json.dumps(body))
    assert load().claims == ()
    (rivers.run.dir / store.SNAPSHOT).unlink()
    log = rivers.run.dir / "journal.jsonl"
    log.write_text(log.read_text() + json.dumps({"type": "source_dropped", "source_id": "S1"}) + "\n")
    assert {source_id for _, source_id in load().stored} == {"S2"}


async def test_a_run_that_has_not_ended_gives_nothing(rivers: WholeRun) -> None:
    (rivers.run.dir / store.SNAPSHOT).unlink()
    log = rivers.run.dir / "journal.jsonl"
    log.write_text("".join(line for line in log.read_text().splitlines(keepends=True) if '"run_ended"' not in line))
    assert load().stored == {}


async def test_only_runs_that_changed_are_read_again(rivers: WholeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load()
    read: list[str] = []
    real = store.load_state
    monkeypatch.setattr(store, "load_state", lambda folder: read.append(folder.name) or real(folder))
    load()
    assert read == []
    other = await run_scripted(good_rules(), write_corpus(tmp_path / "other", {"Alder": RIVERS["Alder"]}))
    load()
    assert set(read) == {other.run.run_id}


async def test_runs_that_are_gone_are_forgotten(rivers: WholeRun) -> None:
    assert load().stored
    shutil.rmtree(rivers.run.dir)
    assert load().stored == {}
    assert json.loads(index_path().read_text())["runs"] == {}


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"version": 0, "runs": {}}', '{"version": 1, "runs": []}', '{"version": 1, "runs": {"x": 3}}']
)
async def test_a_broken_index_is_made_anew(rivers: WholeRun, content: str) -> None:
    index_path().parent.mkdir(parents=True, exist_ok=True)
    index_path().write_text(content)
    assert len(load().stored) == 2


async def test_rows_that_do_not_fit_are_left_out(rivers: WholeRun) -> None:
    load()
    body = json.loads(index_path().read_text())
    row = next(iter(body["runs"].values()))
    row["claims"] = [["S9", "no such source"]]
    row["sources"][0]["state"] = "wonderful"
    index_path().write_text(json.dumps(body))
    assert load().stored == {}


async def test_an_index_that_cannot_be_kept_costs_nothing_but_time(rivers: WholeRun) -> None:
    shutil.rmtree(index_path().parent)
    index_path().parent.write_text("a file where the folder should be")
    assert len(load().stored) == 2


async def test_a_run_that_cannot_be_read_is_left_out(rivers: WholeRun) -> None:
    broken = store.runs_dir() / "20200101_000000_abcdef"
    broken.mkdir()
    (broken / "journal.jsonl").write_text("nonsense\n")
    assert {run_id for run_id, _ in load().stored} == {rivers.run.run_id}


async def test_a_stored_text_that_was_changed_or_leads_elsewhere_is_not_served(rivers: WholeRun, tmp_path: Path) -> None:
    page = load().stored[rivers.run.run_id, "S1"]
    stored = stored_text(page)
    assert stored is not None
    assert stored[0] == rivers.run.read_source("S1")
    path = rivers.run.dir / page.source.file
    path.write_text("Something else.")
    assert stored_text(page) is None
    secret = tmp_path / "secret.txt"
    secret.write_text(stored[0])
    path.unlink()
    path.symlink_to(secret)
    assert stored_text(page) is None
    path.unlink()
    assert stored_text(page) is None


@pytest.mark.parametrize("file", ["../../config.yaml", "/etc/passwd", "journal.jsonl", "sources/S1.md/../../x", ""])
async def test_only_files_of_sources_are_served(rivers: WholeRun, file: str) -> None:
    page = load().stored[rivers.run.run_id, "S1"]
    assert stored_text(earlier.EarlierPage(page.run_id, page.source.model_copy(update={"file": file}))) is None


async def test_a_run_looks_once(rivers: WholeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[int] = []
    real = earlier.load
    monkeypatch.setattr(earlier, "load", lambda: times.append(1) or real())
    runs = EarlierRuns()
    assert (await runs.known()) is (await runs.known())
    assert times == [1]


async def test_a_run_without_evidence_gives_no_claims(tmp_path: Path) -> None:
    await run_scripted(good_rules(Analyzer=lambda m, o: text("The sources do not answer the task.")), write_corpus(tmp_path / "c", RIVERS))
    assert load().claims == ()

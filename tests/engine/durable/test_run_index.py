"""The list of runs: right whatever became of the index file, and quick, since a run that has not changed is not read again."""

import json
import shutil

import pytest

from deepdelve.core import events as ev
from deepdelve.engine import facade, lease, run_index, store
from deepdelve.engine.journal import JOURNAL, Journal


def make_run(number, *, ended=True, question="How long is it?"):
    run_id = f"20260101_{number:06d}_abcdef"
    log = Journal(store.runs_dir() / run_id / JOURNAL)
    log.append(ev.RunStarted(seq=1, run_id=run_id, session_id="s", question=question))
    if ended:
        log.append(ev.RunEnded(seq=2, outcome="verified", exit=0, seconds=3.0))
    log.close()
    return run_id


@pytest.fixture
def read(monkeypatch):
    """The runs whose journals were read."""
    seen = []
    load = store.load_state

    def counted(folder):
        seen.append(folder.name)
        return load(folder)

    monkeypatch.setattr(store, "load_state", counted)
    return seen


def test_no_home_is_no_run(read):
    assert run_index.list_runs() == []
    assert not store.runs_dir().exists()


def test_newest_first_and_no_more_than_asked_for(read):
    ids = [make_run(n) for n in range(5)]
    assert [row.run_id for row in run_index.list_runs(3)] == ids[::-1][:3]
    assert sorted(read) == ids[2:]


def test_a_run_is_read_once(read):
    for n in range(4):
        make_run(n)
    first = run_index.list_runs()
    read.clear()
    assert run_index.list_runs() == first
    assert read == []


def test_a_run_that_went_on_is_read_again_and_no_other(read):
    ids = [make_run(n, ended=False) for n in range(3)]
    run_index.list_runs()
    read.clear()
    log = Journal(store.runs_dir() / ids[1] / JOURNAL)
    log.append(ev.RunEnded(seq=2, outcome="partial", exit=3))
    log.close()
    assert {row.run_id: row.outcome for row in run_index.list_runs()} == {ids[0]: "", ids[1]: "partial", ids[2]: ""}
    assert read == [ids[1]]


def test_a_deleted_run_leaves_the_list_and_the_index(read):
    ids = [make_run(n) for n in range(3)]
    run_index.list_runs()
    shutil.rmtree(store.runs_dir() / ids[0])
    assert [row.run_id for row in run_index.list_runs()] == [ids[2], ids[1]]
    assert set(run_index.read(store.runs_dir()).runs) == {ids[1], ids[2]}


INDEXES = {
    "empty": b"",
    "cut": b'{"version": 1, "runs": {"2026',
    "not_text": b"\xff\xfe\x00",
    "a_list": b"[]",
    "future": b'{"version": 2, "runs": {}}',
    "wrong_types": b'{"version": 1, "runs": {"x": {"size": "a", "mtime_ns": 1, "row": {}}}}',
    "nested_without_end": b"[" * 100_000,
}


@pytest.mark.parametrize("kind", INDEXES)
def test_an_index_that_cannot_be_used_is_made_anew(kind, read):
    make_run(1)
    expected = run_index.list_runs()
    path = store.runs_dir() / run_index.INDEX
    path.write_bytes(INDEXES[kind])
    assert run_index.list_runs() == expected
    assert json.loads(path.read_bytes())["version"] == 1


def test_a_run_that_was_moved_goes_by_the_name_of_its_folder(read):
    run_id = make_run(1)
    (store.runs_dir() / run_id).rename(store.runs_dir() / "kept_for_later")
    assert [row.run_id for row in run_index.list_runs()] == ["kept_for_later"]


def test_a_link_and_a_hidden_folder_are_no_runs(tmp_path, read):
    run_id = make_run(1)
    (store.runs_dir() / ".hidden").mkdir()
    (store.runs_dir() / "link").symlink_to(tmp_path)
    assert [row.run_id for row in run_index.list_runs()] == [run_id]


def test_what_broke_off_is_told_from_what_goes_on_and_from_what_ended():
    make_run(1)
    broken, going = make_run(2, ended=False), make_run(3, ended=False)
    held = lease.Lease(store.runs_dir() / going)
    held.take()
    rows = {row.run_id: (row.outcome, row.live) for row in run_index.list_runs()}
    assert rows[going] == ("", True)
    assert rows[broken] == ("", False)
    assert [row.run_id for row in facade.interrupted_runs()] == [broken]
    held.release()
    assert [row.run_id for row in facade.interrupted_runs()] == [going, broken]


def test_two_thousand_runs_are_listed_without_reading_one(read):
    for n in range(2_000):
        folder = store.runs_dir() / f"20260101_{n:06d}_abcdef"
        folder.mkdir(parents=True)
        line = ev.RunStarted(seq=1, run_id=folder.name, question="q").model_dump_json() + "\n"
        (folder / JOURNAL).write_text(line + ev.RunEnded(seq=2, outcome="verified", exit=0).model_dump_json() + "\n")
    run_index.list_runs(2_000)
    read.clear()
    assert len(run_index.list_runs(2_000)) == 2_000
    assert read == []

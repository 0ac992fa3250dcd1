"""Where runs, sessions and prompts are kept: ids, look-ups, snapshots that fit their journal, and lists."""

import json
import re

import pytest

from deepdelve.core import events as ev
from deepdelve.core.errors import DiskError, RunNotFoundError, SchemaError, StateError
from deepdelve.engine import journal, run_index, sessions, store
from deepdelve.utils.run_state import RunState
from tests.support.runs import make_run

IDS = ("20260101_000000_aaaaaa", "20260102_000000_bbbbbb", "20260102_000001_cccccc")
SESSION = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


@pytest.fixture
def runs(isolated):
    for run_id in IDS:
        (store.runs_dir() / run_id).mkdir(parents=True)
    return store.runs_dir()


@pytest.fixture
def run(tmp_path):
    made = make_run(tmp_path)
    made.notice("one")
    yield made
    made.close()


def test_a_run_id_is_its_start_and_six_digits():
    assert re.fullmatch(r"\d{8}_\d{6}_[0-9a-f]{6}", store.new_run_id())
    assert store.new_run_id() != store.new_run_id()


def test_sortable_ids_sort_by_their_time():
    ids = [store.new_ulid(now) for now in (1.0, 1.5, 1_000.0, 2e9)]
    assert ids == sorted(ids)
    assert {len(i) for i in ids} == {26}
    assert not set("".join(ids)) & set("ILOU")


def test_a_time_is_written_in_utc_with_milliseconds():
    assert store.timestamp(0.5) == "1970-01-01T00:00:00.500Z"


def test_a_run_is_found_by_its_id_its_beginning_or_as_the_latest(runs):
    assert store.find_run(IDS[0]).name == store.find_run("20260101").name == IDS[0]
    assert store.find_run("latest").name == IDS[2]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("20260102", "fits 2 runs"),
        ("20260101_000000_aaaaab", "Did you mean 20260101_000000_aaaaaa"),
        ("", "deepdelve runs"),
        ("../20260101", "no run"),
    ],
)
def test_a_run_that_is_not_found_names_what_there_is(runs, name, says):
    with pytest.raises(RunNotFoundError) as error:
        store.find_run(name)
    assert says in error.value.line()


def test_without_any_run_there_is_no_latest(isolated):
    assert store.run_ids() == []
    with pytest.raises(RunNotFoundError):
        store.find_run("latest")


def test_links_and_files_are_no_runs(runs, tmp_path):
    (runs / "20270101_000000_link00").symlink_to(tmp_path)
    (runs / "notes.txt").write_text("x")
    (runs / ".hidden").mkdir()
    assert store.run_ids() == sorted(IDS, reverse=True)


def test_the_state_is_the_fold_of_the_journal(run):
    assert store.load_state(run.dir) == run.state


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_snapshot_and_the_events_since_give_the_same_state(run, at):
    for number in range(3):
        if number == at:
            run.checkpoint()
        run.emit(ev.Steered(text=f"more {number}", kind="instruction"))
    assert store.load_state(run.dir) == run.state
    assert len(run.state.steering) == 3


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"offset": 0}', b'{"offset": "x", "state": {"schema_version": 1}}', b"\xff\xfe"])
def test_a_broken_snapshot_is_made_good_from_the_journal(run, broken):
    (run.dir / store.SNAPSHOT).write_bytes(broken)
    assert store.load_state(run.dir) == run.state


def test_a_snapshot_that_is_ahead_of_its_journal_is_not_believed(run):
    store.save_snapshot(run.dir, RunState(run_id="another", question="Not this"), 10**9)
    assert store.load_state(run.dir).question == run.state.question


def test_a_journal_of_another_version_is_refused_by_name(tmp_path):
    made = make_run(tmp_path, schema_version=99)
    made.close()
    with pytest.raises(SchemaError, match="layout 99"):
        store.load_state(made.dir)


def test_a_folder_without_a_readable_journal_says_what_to_do(tmp_path):
    with pytest.raises(StateError) as error:
        store.load_state(tmp_path)
    assert "delete it" in error.value.line()


def test_unreadable_lines_are_left_out_of_the_events(run):
    with (run.dir / journal.JOURNAL).open("ab") as file:
        file.write(b'{"type": "unheard_of"}\n{"torn')
    assert [event.type for event in store.load_events(run.dir)] == ["run_started", "notice"]


def test_the_list_shows_the_newest_first_and_keeps_what_cannot_be_read(isolated):
    made = make_run(store.runs_dir())
    made.emit(ev.RunEnded(outcome="verified", exit=0, seconds=2.5))
    made.close()
    (store.runs_dir() / "20270101_000000_ffffff").mkdir()
    rows = run_index.list_runs()
    assert [(row.run_id, row.outcome) for row in rows] == [("20270101_000000_ffffff", "unreadable"), (made.run_id, "verified")]
    assert (rows[1].question, rows[1].seconds) == ("How long is the Alder?", 2.5)
    assert len(run_index.list_runs(limit=1)) == 1


def test_a_session_keeps_its_turns_and_its_runs(isolated):
    session = store.new_session()
    store.add_run_pointer(session, IDS[0])
    store.add_turn(session, "user", "How long?\nIs it?", IDS[0])
    store.add_turn(session, "assistant", "212 \ud83d", IDS[0])
    turns = sessions.turns(session)
    assert [(t["n"], t["role"], t["text"]) for t in turns] == [(1, "user", "How long?\nIs it?"), (2, "assistant", "212 ?")]
    (row,) = sessions.list_sessions()
    assert (row.session_id, row.title, row.runs, row.turns) == (session, "How long?\nIs it?", (IDS[0],), 2)


def test_sessions_are_private_files(isolated):
    assert store.session_path(store.new_session()).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["../../etc/passwd", "x", "", SESSION + "/../x"])
def test_what_is_no_session_id_is_no_path(isolated, name):
    with pytest.raises(RunNotFoundError, match="not a session id"):
        store.session_path(name)


def test_one_session_however_its_id_is_written(isolated):
    assert store.session_path(SESSION.upper()) == store.session_path(f"{{{SESSION}}}") == store.session_path(SESSION)


def test_a_session_that_is_not_there_says_so(isolated):
    with pytest.raises(RunNotFoundError, match="There is no session"):
        sessions.turns(SESSION)
    assert sessions.list_sessions() == []


def test_a_session_file_with_broken_lines_keeps_the_others(isolated):
    session = store.new_session()
    with store.session_path(session).open("ab") as file:
        file.write(b"not json\n[1]\n\xff\n")
    store.add_turn(session, "user", "Still here", "")
    assert [turn["text"] for turn in sessions.turns(session)] == ["Still here"]


def test_prompts_are_one_line_each(isolated):
    for text in ("first", "second\nline"):
        store.add_prompt(text, session_id=SESSION, run_id="", surface="cli", kind="research", meta={"depth": "quick"})
    rows = [json.loads(line) for line in (isolated / "history.jsonl").read_text().splitlines()]
    assert [(row["text"], row["run_id"], row["surface"]) for row in rows] == [("first", None, "cli"), ("second\nline", None, "cli")]
    assert rows[0]["id"] < rows[1]["id"] or rows[0]["ts"] == rows[1]["ts"]


def test_what_cannot_be_written_is_an_error_that_names_the_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DiskError, match=r"rows\.jsonl"):
        store.append_line(tmp_path / "file" / "rows.jsonl", {"a": 1})


def test_a_session_in_which_every_question_was_refused_is_not_listed(isolated):
    store.new_session()
    assert sessions.list_sessions() == []

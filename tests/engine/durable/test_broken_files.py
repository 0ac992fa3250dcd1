"""Corrupt, empty, truncated, wrong-type and future files: each costs what it says and nothing else, in one line."""

import json
import re
import time

import pytest

from deepdelve.core import events as ev
from deepdelve.core.errors import ConfigError, DeepDelveError, SchemaError, StateError
from deepdelve.engine import facade, run_index, sessions, store
from deepdelve.engine.journal import JOURNAL
from tests.engine.durable.support import go_on, killed_at
from tests.support.whole_run import RIVERS, good_rules, run_scripted, write_corpus


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


DEEP = b"[" * 100_000
EVENT_LINES = {
    "not_text": b"\xff\xfe\n",
    "no_type": b"{}\n",
    "unknown_type": b'{"type": "telepathy", "seq": 5}\n',
    "wrong_type": b'{"type": "notice", "text": 7}\n',
    "nested_without_end": DEEP + b"\n",
}
SESSION_LINES = {
    "not_text": b"\xff\xfe\n",
    "a_number": b"7\n",
    "a_list": b"[]\n",
    "wrong_types": b'{"role": 7, "text": []}\n',
    "cut": b'{"role": "user"\n',
    "blank": b"\n",
    "nested_without_end": DEEP + b"\n",
}
SNAPSHOTS = {
    "missing": None,
    "empty": b"",
    "cut": b'{"offset": 12, "state": {"run_id": "x"',
    "not_text": b"\xff\xfe\x00\x01",
    "a_list": b"[1, 2]",
    "a_number": b"7",
    "nested_without_end": DEEP,
    "future": b'{"offset": 0, "state": {"schema_version": 99, "run_id": "x"}}',
    "unknown_field": b'{"offset": 0, "state": {"schema_version": 1, "run_id": "x", "mood": "good"}}',
    "wrong_types": b'{"offset": "many", "state": {"schema_version": 1, "tasks": 7}}',
    "ahead_of_the_log": b'{"offset": 99999999, "state": {"schema_version": 1, "run_id": "x"}}',
    "before_the_log": b'{"offset": -5, "state": {"schema_version": 1, "run_id": "x"}}',
    "within_a_line": b'{"offset": 17, "state": {"schema_version": 1, "run_id": "x"}}',
    "version_is_a_list": b'{"offset": 0, "state": {"schema_version": []}}',
}


@pytest.mark.parametrize("kind", SNAPSHOTS)
async def test_the_log_tells_all_that_a_snapshot_does_not(kind, rivers):
    whole = await run_scripted(good_rules(), rivers)
    path = whole.run.dir / store.SNAPSHOT
    path.unlink()
    if SNAPSHOTS[kind] is not None:
        path.write_bytes(SNAPSHOTS[kind])
    assert store.load_state(whole.run.dir) == whole.run.state


JOURNALS = {
    "empty": lambda data: b"",
    "not_text": lambda data: b"\xff\xfe" * 50,
    "a_list": lambda data: b"[1, 2]\n",
    "nested_without_end": lambda data: DEEP + b"\n",
    "nulls": lambda data: b"\x00" * len(data),
    "cut_within_its_first_line": lambda data: data[:40],
}


@pytest.mark.parametrize("kind", JOURNALS)
async def test_a_run_whose_log_says_nothing_is_listed_and_refused_in_one_line(kind, rivers):
    whole = await run_scripted(good_rules(), rivers)
    log = whole.run.dir / JOURNAL
    log.write_bytes(JOURNALS[kind](log.read_bytes()))
    (whole.run.dir / store.SNAPSHOT).unlink()
    with pytest.raises(StateError) as caught:
        await go_on(whole.run.run_id)
    assert "no readable journal" in caught.value.line()
    assert "\n" not in caught.value.line()
    assert [row.outcome for row in run_index.list_runs()] == [run_index.UNREADABLE]
    assert abs(run_index.list_runs()[0].started - time.time()) < 3600


async def test_a_log_that_is_a_folder_is_no_log(rivers):
    whole = await run_scripted(good_rules(), rivers)
    (whole.run.dir / JOURNAL).unlink()
    (whole.run.dir / JOURNAL).mkdir()
    (whole.run.dir / store.SNAPSHOT).unlink()
    with pytest.raises(StateError, match="no readable journal"):
        store.load_state(whole.run.dir)


@pytest.mark.parametrize("kind", EVENT_LINES)
async def test_a_line_that_is_no_event_costs_that_line_and_is_said(kind, rivers, monkeypatch):
    run_id, _ = await killed_at(40, rivers, monkeypatch)
    folder = store.find_run(run_id)
    lines = (folder / JOURNAL).read_bytes().splitlines(keepends=True)
    (folder / JOURNAL).write_bytes(b"".join([*lines[:20], EVENT_LINES[kind], *lines[20:]]))
    (folder / store.SNAPSHOT).unlink(missing_ok=True)
    result, surface, *_ = await go_on(run_id)
    assert result.outcome == "verified"
    told = [notice.text for notice in surface.of(ev.Notice) if notice.code == "unreadable_lines"]
    assert told == ["1 line of the journal cannot be read and is left out; the rest stands."]


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace(b'"schema_version":1', b'"schema_version":7'),
        lambda line: line.replace(b'"schema_version":1', b'"schema_version":7,"mood":"good"'),
        lambda line: line.replace(b'"schema_version":1', b'"schema_version":"next"'),
    ],
)
async def test_a_later_versions_log_is_refused_with_the_way_out(change, rivers):
    whole = await run_scripted(good_rules(), rivers)
    log = whole.run.dir / JOURNAL
    first, rest = log.read_bytes().split(b"\n", 1)
    log.write_bytes(change(first) + b"\n" + rest)
    (whole.run.dir / store.SNAPSHOT).unlink()
    before = log.read_bytes()
    with pytest.raises(SchemaError, match="another version") as caught:
        await go_on(whole.run.run_id)
    assert caught.value.remedy
    assert log.read_bytes() == before
    assert run_index.list_runs()[0].outcome == run_index.UNREADABLE


async def test_a_draft_that_a_person_edited_is_delivered_as_edited(rivers, monkeypatch):
    run_id, _ = await killed_at(99, rivers, monkeypatch)
    draft = store.find_run(run_id) / "draft" / "final_report.md"
    text = draft.read_text()
    assert "The Alder is 212 kilometres long" in text
    draft.write_text(text.replace("The Alder is 212 kilometres long", "The river Alder is 212 kilometres long"))
    result, _, run, _ = await go_on(run_id)
    assert result.outcome == "verified"
    assert "The river Alder is 212 kilometres long" in run.read_file("final_report.md")


async def test_a_draft_that_was_edited_into_a_falsehood_is_not_delivered_as_verified_truth(rivers, monkeypatch):
    run_id, _ = await killed_at(99, rivers, monkeypatch)
    draft = store.find_run(run_id) / "draft" / "final_report.md"
    draft.write_text(draft.read_text().replace("212 kilometres", "999 kilometres"))
    result, _, run, _ = await go_on(run_id)
    lines = [line for line in run.read_file("final_report.md").splitlines() if "999" in line and not line.startswith(">")]
    assert all("⚠" in line for line in lines)
    assert result.outcome == "verified" or lines


# Sessions


@pytest.fixture
async def session(rivers):
    whole = await run_scripted(good_rules(), rivers)
    return whole.run.state.session_id, whole


@pytest.mark.parametrize("kind", SESSION_LINES)
async def test_a_broken_line_of_a_session_costs_that_line(kind, session):
    session_id, whole = session
    path = store.session_path(session_id)
    header, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(header + b"\n" + SESSION_LINES[kind] + rest)
    turns = sessions.turns(session_id)
    assert [turn["role"] for turn in turns] == ["user", "assistant"]
    assert turns[1]["text"] == whole.report
    (row,) = sessions.list_sessions()
    assert (row.runs, row.turns) == ((whole.run.run_id,), 2)


@pytest.mark.parametrize("how", ["deleted", "emptied", "cut", "garbled"])
async def test_a_lost_session_file_is_rebuilt_from_the_logs_of_its_runs(how, session):
    session_id, whole = session
    path = store.session_path(session_id)
    data = path.read_bytes()
    if how == "deleted":
        path.unlink()
    else:
        path.write_bytes({"emptied": b"", "cut": data[:60], "garbled": b"\xff" * 300}[how])
    turns = sessions.turns(session_id)
    assert [(turn["role"], turn["run_id"]) for turn in turns] == [("user", whole.run.run_id), ("assistant", whole.run.run_id)]
    assert turns[0]["text"] == whole.run.state.question
    assert turns[1]["text"] == whole.report
    assert [row.runs for row in sessions.list_sessions()] == [(whole.run.run_id,)]


async def test_a_session_of_which_nothing_is_left_is_named(session):
    with pytest.raises(DeepDelveError, match="no session"):
        sessions.turns("00000000-0000-4000-8000-000000000000")


async def test_a_broken_prompt_history_stops_nobody(rivers, isolated):
    isolated.mkdir(parents=True, exist_ok=True)
    (isolated / "history.jsonl").write_bytes(b"\xff\xfe{\n" + DEEP)
    whole = await run_scripted(good_rules(), rivers)
    assert whole.result.outcome == "verified"
    assert json.loads((isolated / "history.jsonl").read_bytes().splitlines()[-1])["text"] == whole.run.state.question


# Settings

CONFIGS = {
    "not_text": b"\xff\xfe\x00",
    "broken": b"settings: {depth: [",
    "a_list": b"- 1\n- 2\n",
    "wrong_type": b"settings:\n  concurrency: lots\n",
    "of_a_later_version": b"settings:\n  telepathy: true\n",
    "cut": b'settings:\n  depth: "qui',
}


@pytest.mark.parametrize("kind", CONFIGS)
def test_broken_settings_are_refused_in_one_line_and_left_as_they_are(kind, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(CONFIGS[kind])
    with pytest.raises(ConfigError) as caught:
        facade.load_settings(path)
    assert "\n" not in caught.value.line()
    assert re.search(r"config\.yaml", caught.value.line())
    assert path.read_bytes() == CONFIGS[kind]


def test_empty_settings_are_the_defaults(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(b"")
    assert facade.load_settings(path) == facade.load_settings()

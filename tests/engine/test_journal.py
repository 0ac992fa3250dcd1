"""The event log: one line an event, whatever is torn off at its end, and never a half line in its midst."""

import errno
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepdelve.core import events as ev
from deepdelve.core.errors import DiskError
from deepdelve.engine import journal
from deepdelve.engine.journal import Journal

TEXTS = ["one", "zwei – drei", "line\nbreak", "\u2028 and \x85", "", "日本"]


def notices(count: int) -> list[ev.Notice]:
    return [ev.Notice(seq=n + 1, text=TEXTS[n % len(TEXTS)]) for n in range(count)]


def written(path, events) -> Journal:
    log = Journal(path)
    for event in events:
        log.append(event)
    return log


def test_events_come_back_as_they_were_written(tmp_path):
    log = written(tmp_path / "run" / "journal.jsonl", notices(7))
    log.close()
    assert list(journal.read(log.path)) == notices(7)
    assert log.offset == log.path.stat().st_size
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_reading_from_an_offset_gives_what_came_after(tmp_path):
    log = written(tmp_path / "j", notices(3))
    offset = log.offset
    log.append(ev.Notice(seq=4, text="later"))
    assert [event.seq for event in journal.read(log.path, offset)] == [4]


def test_a_log_that_is_not_there_holds_nothing(tmp_path):
    assert list(journal.read(tmp_path / "none")) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10_000), st.integers(1, 6))
def test_a_log_torn_at_any_byte_keeps_its_whole_lines_and_goes_on(tmp_path, cut, count):
    path = tmp_path / "journal.jsonl"
    path.unlink(missing_ok=True)
    written(path, notices(count)).close()
    data = path.read_bytes()
    torn = data[: cut % (len(data) + 1)]
    path.write_bytes(torn)
    whole = torn.count(b"\n")
    assert list(journal.read(path)) == notices(count)[:whole]
    again = Journal(path)
    again.append(ev.Notice(seq=99, text="after the kill"))
    again.close()
    assert [event.seq for event in journal.read(path)] == [*range(1, whole + 1), 99]
    assert again.offset == path.stat().st_size


def test_a_torn_tail_longer_than_any_block_is_cut_all_the_same(tmp_path):
    path = tmp_path / "journal.jsonl"
    written(path, notices(2)).close()
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"x" * 200_000)
    assert journal.whole_size(path) == size


def test_a_line_of_another_version_is_none_and_hides_no_other(tmp_path):
    path = tmp_path / "journal.jsonl"
    written(path, notices(1)).close()
    with path.open("ab") as file:
        file.write(b'{"type": "from_the_future", "seq": 2}\nnot json\n\xff\xfe\n')
    written(path, [ev.Notice(seq=3, text="x")]).close()
    assert [event and event.seq for event in journal.read(path)] == [1, None, None, None, 3]


def test_a_full_disk_leaves_no_half_line_and_the_event_waits_for_room(tmp_path, monkeypatch):
    log = written(tmp_path / "journal.jsonl", notices(2))
    size, real = log.offset, os.write

    def half(fd, data):
        if len(data) > 40:
            return real(fd, bytes(data)[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    log.append(ev.Notice(seq=3, text="waits"))
    assert log.waiting is not None
    assert (log.path.stat().st_size, log.offset) == (size, size)
    with pytest.raises(DiskError, match="no room"):
        log.flush()
    assert log.path.stat().st_size == size
    monkeypatch.undo()
    log.append(ev.Notice(seq=4, text="now both fit"))
    assert log.waiting is None
    assert [event.seq for event in journal.read(log.path)] == [1, 2, 3, 4]


def test_a_disk_that_takes_less_and_less_leaves_no_half_line_either(tmp_path, monkeypatch):
    log = written(tmp_path / "journal.jsonl", notices(1))
    size, real = log.offset, os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:5]))
    log.append(ev.Notice(seq=2, text="never whole"))
    monkeypatch.undo()
    assert (log.path.stat().st_size, log.offset) == (size, size)
    log.flush()
    assert [event.seq for event in journal.read(log.path)] == [1, 2]
    assert log.offset == log.path.stat().st_size


def test_an_error_that_no_room_mends_is_raised_at_once_and_nothing_waits(tmp_path, monkeypatch):
    log = written(tmp_path / "journal.jsonl", notices(1))
    size = log.offset

    def broken(fd, data):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "write", broken)
    with pytest.raises(DiskError):
        log.append(ev.Notice(seq=2, text="lost"))
    monkeypatch.undo()
    assert log.waiting is None
    assert log.path.stat().st_size == size
    log.append(ev.Notice(seq=2, text="again"))
    assert [event.seq for event in journal.read(log.path)] == [1, 2]


def test_closing_twice_is_fine_and_syncing_an_unopened_log_too(tmp_path):
    log = Journal(tmp_path / "journal.jsonl")
    log.sync()
    log.close()
    log.append(notices(1)[0])
    log.sync()
    log.close()
    log.close()
    assert len(list(journal.read(log.path))) == 1

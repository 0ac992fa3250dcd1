"""A disk that fills up, is read-only, or loses the run's folder: one line, whole files, and the work goes on where it can."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import DiskError
from deepdelve.engine import conduct, journal, resume, run, run_index, store
from deepdelve.engine.journal import JOURNAL, Journal
from deepdelve.engine.lease import Lease, is_live
from deepdelve.utils import files
from tests.support.scripted import ScriptedFactory
from tests.support.whole_run import RIVERS, RecordingSurface, good_builder, good_rules, run_scripted, start_scripted, write_corpus


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


class Disk:
    """A disk in the tests' hands: ``room`` bytes are left for journals, and none for other files once those are used up."""

    def __init__(self, monkeypatch):
        self.room = None
        self.code = errno.ENOSPC
        self._write, self._atomic = os.write, files.write_bytes_atomic
        monkeypatch.setattr(journal.os, "write", self.write)
        for name in ("write_bytes_atomic", "write_text_atomic"):
            monkeypatch.setattr(run, name, getattr(self, name))
        monkeypatch.setattr(files, "write_bytes_atomic", self.write_bytes_atomic)

    @property
    def full(self):
        return self.room is not None and self.room <= 0

    def write(self, fd, data):
        if self.room is None or Path(f"/proc/self/fd/{fd}").readlink().name != JOURNAL:
            return self._write(fd, data)
        if self.full:
            raise OSError(self.code, os.strerror(self.code))
        part = bytes(data)[: self.room]
        self.room -= len(part)
        return self._write(fd, part)

    def write_bytes_atomic(self, path, data, **kwargs):
        if self.full:
            raise files.disk_error(OSError(self.code, os.strerror(self.code)), path)
        self._atomic(path, data, **kwargs)

    def write_text_atomic(self, path, text, **kwargs):
        self.write_bytes_atomic(path, text.encode(), **kwargs)


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


@pytest.fixture
def waits(monkeypatch):
    """No real waiting, and few tries."""
    monkeypatch.setattr(run, "ROOM_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(run, "ROOM_TRIES", 5)


def whole_lines(folder):
    data = (folder / JOURNAL).read_bytes()
    return data.endswith(b"\n") and all(event is not None for event in journal.read(folder / JOURNAL))


@pytest.mark.parametrize("left", [0, 1, 700, 3_000, 9_000, 16_000, 21_000])
async def test_a_run_waits_for_room_and_then_ends_as_if_nothing_had_been(left, rivers, disk, waits, monkeypatch):
    surface = RecordingSurface()
    looked = 0
    flush = Journal.flush

    def counted(self):
        nonlocal looked
        if disk.full:
            looked += 1
            disk.room = None if looked > 3 else disk.room
        flush(self)

    monkeypatch.setattr(Journal, "flush", counted)
    going = await start_scripted(good_rules(), rivers, surface)
    disk.room = left
    result = await going.task
    assert result.outcome == "verified"
    assert looked > 3
    assert whole_lines(going.run.dir)
    events = store.load_events(going.run.dir)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert store.load_state(going.run.dir) == going.run.state


async def test_the_wait_is_said_in_one_line_and_its_end_in_another(rivers, disk, waits):
    surface = RecordingSurface()
    original = surface.on_event

    def room_again(event):
        original(event)
        if getattr(event, "code", "") == "disk_full":
            disk.room = None

    surface.on_event = room_again
    going = await start_scripted(good_rules(), rivers, surface)
    disk.room = 2_000
    result = await going.task
    told = [notice for notice in surface.of(ev.Notice) if notice.code.startswith("disk")]
    assert result.outcome == "verified"
    assert [notice.code for notice in told] == ["disk_full", "disk_room"]
    assert "no room" in told[0].text
    assert "\n" not in told[0].text
    assert told[0].seq == 0


async def test_a_disk_that_stays_full_ends_the_run_with_the_line_and_whole_files(rivers, disk, waits):
    surface = RecordingSurface()
    going = await start_scripted(good_rules(), rivers, surface)
    disk.room = 15_000
    result = await going.task
    assert (result.outcome, result.exit) == ("failed", 4)
    assert result.reason.startswith("There is no room to write journal.jsonl. Free some space")
    assert len(surface.of(ev.RunEnded)) == 1
    assert whole_lines(going.run.dir)
    assert not list(going.run.dir.rglob(".*tmp*"))
    assert not is_live(going.run.dir)


async def test_what_was_there_when_the_disk_filled_is_resumed_when_there_is_room(rivers, disk, waits):
    going = await start_scripted(good_rules(), rivers, RecordingSurface())
    disk.room = 20_000
    await going.task
    disk.room = None

    async def choose(chosen, hooks):
        return ScriptedFactory(good_rules(), hooks=hooks), "scripted"

    ctx = await resume.open_run(going.run.run_id, Settings(), RecordingSurface(), choose=choose)
    result = await conduct.conduct(ctx)
    await ctx.services.close()
    assert result.outcome == "verified"


async def test_a_stop_is_heard_while_the_run_waits_for_room(rivers, disk, monkeypatch):
    monkeypatch.setattr(run, "ROOM_WAIT_SECONDS", 60.0)
    surface = RecordingSurface()
    original = surface.on_event

    def stop_then(event):
        original(event)
        if getattr(event, "code", "") == "disk_full":
            going.stop()

    surface.on_event = stop_then
    going = await start_scripted(good_rules(), rivers, surface)
    disk.room = 4_000
    result = await going.task
    assert result.outcome == "stopped"
    assert whole_lines(going.run.dir)


async def test_the_waiting_costs_the_run_no_time(rivers, disk, waits):
    paused = []
    surface = RecordingSurface()
    original = surface.on_event

    def look(event):
        original(event)
        if getattr(event, "code", "") == "disk_full":
            disk.room = None
        if getattr(event, "code", "") == "disk_room":
            paused.append(going.run.clock._pauses)

    surface.on_event = look
    going = await start_scripted(good_rules(), rivers, surface)
    disk.room = 4_000
    await going.task
    assert paused == [1]
    assert going.run.clock._pauses == 0


async def test_a_full_disk_at_a_delivery_keeps_the_old_report_whole(rivers, waits, monkeypatch):
    whole = await run_scripted(good_rules(), rivers)
    report = whole.run.dir / "final_report.md"
    before = report.read_bytes()

    def no_room(source, target=None):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", no_room)
    with pytest.raises(DiskError, match="no room") as caught:
        files.write_text_atomic(report, "half of a rep")
    assert caught.value.no_room
    assert report.read_bytes() == before
    assert [path.name for path in whole.run.dir.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("code", "left"), [(errno.EROFS, 500), (errno.EACCES, 5_000), (errno.EIO, 9_000), (errno.EIO, 14_000), (errno.EIO, 20_000)]
)
async def test_what_no_waiting_mends_ends_the_run_at_once(code, left, rivers, disk):
    going = await start_scripted(good_rules(), rivers, RecordingSurface())
    disk.code, disk.room = code, left
    result = await going.task
    assert result.outcome == "failed"
    # Which file is written next depends on which of the roles is at work.
    assert f"{going.run.dir}{os.sep}" in result.reason
    assert whole_lines(going.run.dir)


async def test_a_home_that_cannot_be_written_starts_nothing(rivers, tmp_path, monkeypatch):
    blocked = tmp_path / "a_file"
    blocked.write_text("no folder")
    monkeypatch.setenv("DEEPDELVE_HOME", str(blocked / "home"))
    with pytest.raises(DiskError) as caught:
        await run_scripted(good_rules(), rivers)
    assert "set DEEPDELVE_HOME" in caught.value.line()
    assert blocked.read_text() == "no folder"


async def test_a_read_only_home_still_lists_and_shows(rivers, monkeypatch):
    whole = await run_scripted(good_rules(), rivers)

    def read_only(*args, **kwargs):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(files.tempfile, "mkstemp", read_only)
    assert [row.outcome for row in run_index.list_runs()] == ["verified"]
    assert store.load_state(whole.run.dir).outcome == "verified"


async def test_a_disk_too_full_for_a_first_event_leaves_no_run_behind(rivers, disk):
    disk.room = 10
    with pytest.raises(DiskError, match="no room"):
        await start_scripted(good_rules(), rivers, RecordingSurface())
    assert store.run_ids() == []


async def test_a_session_that_cannot_be_written_costs_no_run(rivers, monkeypatch):
    def no_room(*args):
        raise DiskError("There is no room to write the session.", no_room=True)

    monkeypatch.setattr(store, "add_turn", no_room)
    surface = RecordingSurface()
    going = await start_scripted(good_rules(), rivers, surface)
    assert (await going.task).outcome == "verified"
    assert [notice.code for notice in surface.of(ev.Notice) if notice.code == "history"] == ["history"]


@pytest.mark.parametrize("how", ["deleted", "moved"])
async def test_a_folder_that_goes_away_ends_the_run_with_one_line(how, rivers, tmp_path):
    def gone(messages, options):
        if going.run.dir.is_dir():
            shutil.rmtree(going.run.dir) if how == "deleted" else going.run.dir.rename(tmp_path / "elsewhere")
        return good_builder(messages, options)

    surface = RecordingSurface()
    going = await start_scripted(good_rules(Builder=gone), rivers, surface)
    result = await going.task
    assert result.outcome == "failed"
    assert "moved or deleted" in result.reason
    assert "\n" not in result.reason
    assert len(surface.of(ev.RunEnded)) == 1
    assert not going.run.dir.exists(), "nothing is written where the folder was"


async def test_a_folder_that_was_moved_goes_on_where_it_is_put_back(rivers, tmp_path):
    def gone(messages, options):
        if going.run.dir.is_dir():
            going.run.dir.rename(tmp_path / "elsewhere")
        return good_builder(messages, options)

    going = await start_scripted(good_rules(Builder=gone), rivers, RecordingSurface())
    await going.task
    shutil.move(tmp_path / "elsewhere", going.run.dir)

    async def choose(chosen, hooks):
        return ScriptedFactory(good_rules(), hooks=hooks), "scripted"

    ctx = await resume.open_run(going.run.run_id, Settings(), RecordingSurface(), choose=choose)
    result = await conduct.conduct(ctx)
    await ctx.services.close()
    assert result.outcome == "verified"


def test_half_a_character_from_a_model_is_kept_as_a_question_mark(tmp_path):
    log = Journal(tmp_path / JOURNAL)
    log.append(ev.Notice(seq=1, text="a\ud800b"))
    log.append(ev.Notice(seq=2, text="c"))
    log.close()
    assert [event.text for event in journal.read(tmp_path / JOURNAL)] == ["a?b", "c"]


def test_events_wait_in_memory_up_to_a_bound(tmp_path, disk, monkeypatch):
    monkeypatch.setattr(journal, "MAX_PENDING_BYTES", 2_000)
    log = Journal(tmp_path / JOURNAL)
    log.append(ev.Notice(seq=1, text="first"))
    disk.room = 0
    for number in range(2, 12):
        log.append(ev.Notice(seq=number, text="x" * 100))
    with pytest.raises(DiskError, match="no room"):
        log.append(ev.Notice(seq=12, text="x" * 1_000))
    disk.room = None
    log.flush()
    assert [event.seq for event in journal.read(tmp_path / JOURNAL)] == list(range(1, 12))


def test_a_lease_on_a_file_that_its_holder_has_just_removed_is_none(tmp_path):
    first = Lease(tmp_path)
    first.take()
    stale = os.open(first.path, os.O_RDWR)
    first.release()
    os.close(stale)
    second = Lease(tmp_path)
    second.take()
    assert is_live(tmp_path)
    second.release()
    assert not second.path.exists()

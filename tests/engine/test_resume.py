"""Nothing is lost: a run killed at any event goes on, finished work is not done again, and two processes never share a run."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.errors import RunBusyError, SchemaError, UsageError
from deepdelve.engine import lease, resume, run_index, store
from deepdelve.engine.journal import JOURNAL
from tests.engine.durable.support import go_on, killed_at
from tests.support.whole_run import RIVERS, RecordingSurface, good_rules, run_scripted, write_corpus


@pytest.fixture
def rivers(tmp_path):
    return write_corpus(tmp_path / "rivers", RIVERS)


# ``DEEPDELVE_KILLS=all`` breaks off at every event of the run.
EVENTS = (
    range(3, 109)
    if os.environ.get("DEEPDELVE_KILLS") == "all"
    else [3, 8, 15, 21, 27, 33, 38, 44, 50, 57, 63, 70, 76, 82, 88, 94, 99, 104, 108]
)


@pytest.mark.parametrize("number", EVENTS)
async def test_a_run_killed_at_any_event_goes_on_and_repeats_no_finished_dispatch(number, rivers, monkeypatch):
    run_id, surface = await killed_at(number, rivers, monkeypatch)
    before = store.load_state(store.find_run(run_id))
    finished = {(e.role, e.task) for e in surface.of(ev.DispatchEnded) if e.ok and e.seq <= number}
    result, again, run, _ = await go_on(run_id)
    assert result.outcome == "verified"
    assert "212 kilometres" in run.read_file("final_report.md")
    assert "98 kilometres" in run.read_file("final_report.md")
    repeated = {(e.role, e.task) for e in again.of(ev.DispatchStarted)} & {pair for pair in finished if pair[0] in {"Searcher", "Analyzer"}}
    assert not repeated
    assert set(before.sources) <= set(run.state.sources)
    urls = [source.url for source in run.state.sources.values()]
    assert len(urls) == len(set(urls))
    assert set(before.findings) <= set(run.state.findings)


async def test_a_resumed_planner_is_told_how_far_the_run_has_come(rivers, monkeypatch):
    run_id, _ = await killed_at(60, rivers, monkeypatch)
    _, surface, run, _ = await go_on(run_id)
    opening = next(e.text for e in surface.of(ev.Message) if e.dispatch == "" and e.role == "User")
    assert "interrupted" in opening
    assert run.state.processes == 2


async def test_where_a_report_exists_research_stays_closed(rivers, monkeypatch):
    going = await run_scripted(good_rules(), rivers)
    log = going.run.dir / JOURNAL
    lines = [line for line in log.read_bytes().splitlines(keepends=True) if b'"run_ended"' not in line]
    log.write_bytes(b"".join(lines))
    (going.run.dir / store.SNAPSHOT).unlink()
    result, surface, _, factory = await go_on(going.run.run_id)
    assert result.outcome == "verified"
    assert not [e for e in surface.of(ev.DispatchStarted) if e.role == "Searcher"]
    assert not [c for c in factory.calls if c.role == "Planner"]


async def test_two_processes_cannot_work_on_one_run(rivers, monkeypatch):
    run_id, _ = await killed_at(40, rivers, monkeypatch)
    held = lease.Lease(store.find_run(run_id))
    held.take()
    assert lease.is_live(store.find_run(run_id))
    with pytest.raises(RunBusyError, match="process"):
        await go_on(run_id)
    held.release()
    assert not lease.is_live(store.find_run(run_id))
    result, *_ = await go_on(run_id)
    assert result.outcome == "verified"


async def test_a_finished_run_is_not_resumed(rivers):
    run = await run_scripted(good_rules(), rivers)
    with pytest.raises(UsageError, match="finished"):
        await go_on(run.run.run_id)


async def test_a_torn_tail_and_a_broken_snapshot_are_survived(rivers, monkeypatch):
    run_id, _ = await killed_at(70, rivers, monkeypatch)
    folder = store.find_run(run_id)
    with (folder / JOURNAL).open("ab") as log:
        log.write(b'{"seq":71,"type":"mess')
    (folder / store.SNAPSHOT).write_text('{"offset": 99999999, "state": {}}')
    result, *_ = await go_on(run_id)
    assert result.outcome == "verified"
    assert all(event is not None for event in store.load_events(folder))


async def test_another_versions_run_is_refused_with_the_way_out(rivers, monkeypatch):
    run_id, _ = await killed_at(30, rivers, monkeypatch)
    log = store.find_run(run_id) / JOURNAL
    log.write_bytes(log.read_bytes().replace(b'"schema_version":1', b'"schema_version":7'))
    (store.find_run(run_id) / store.SNAPSHOT).unlink(missing_ok=True)
    with pytest.raises(SchemaError, match="another version"):
        await go_on(run_id)


async def test_finish_makes_an_honest_partial_report_from_what_is_there(rivers, monkeypatch):
    run_id, _ = await killed_at(72, rivers, monkeypatch)
    surface = RecordingSurface()
    result = await resume.finish_by_code(run_id, Settings(), surface)
    assert (result.outcome, result.exit) == ("partial", 3)
    report = (store.find_run(run_id) / "final_report.md").read_text()
    assert "212 kilometres" in report or "98 kilometres" in report
    assert "> Partial." in report


def test_a_killed_process_leaves_a_readable_run(tmp_path, rivers):
    script = tmp_path / "run.py"
    root = Path(__file__).parents[2]
    script.write_text(
        "import asyncio, sys\n"
        f"sys.path[:0] = [{str(root)!r}, {str(root / '.typecheck')!r}]\n"
        "from pathlib import Path\n"
        "from tests.support.whole_run import *\n"
        "async def slow(messages, options):\n"
        "    print('writing', flush=True)\n"
        "    await asyncio.sleep(60)\n"
        f"asyncio.run(run_scripted(good_rules(Builder=slow), Path({str(rivers)!r})))\n"
    )
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "writing"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    row = run_index.list_runs()[0]
    assert (row.outcome, row.live) == ("", False)
    state = store.load_state(store.find_run(row.run_id))
    assert state.drafts["findings"].words > 10
    result, *_ = asyncio.run(go_on(row.run_id))
    assert result.outcome == "verified"


async def test_a_corpus_is_kept_by_the_path_that_means_the_same_from_any_folder(tmp_path, monkeypatch):
    write_corpus(tmp_path / "rivers", RIVERS)
    monkeypatch.chdir(tmp_path)
    run = await run_scripted(good_rules(), Path("rivers"))
    assert run.run.state.corpus == (str(tmp_path / "rivers"),)

"""Runs in one process, and processes at one run: nothing crosses, nothing is shared, nothing piles up."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from deepdelve.core import events as ev
from deepdelve.core.errors import BackendError, RunBusyError
from deepdelve.core.requests import Command
from deepdelve.engine import lease, run_index, store
from tests.engine.durable.support import go_on
from tests.support.scripted import text
from tests.support.whole_run import RIVERS, RecordingSurface, good_builder, good_planner, good_rules, start_scripted, write_corpus

ROOT = Path(__file__).parents[3]
NAMES = [f"River{n}" for n in range(8)]


def down(messages, options):
    raise BackendError("The model server failed (500).", "Look at its log.", cause="server_error")


def silent(messages, options):
    return text("I will write it.")


class Steering(RecordingSurface):
    """Gives its run a command when the report begins to be written."""

    command: Command | None = None
    going = None

    def on_event(self, event):
        super().on_event(event)
        if self.command and isinstance(event, ev.StageChanged) and event.stage == "writing_report":
            self.going.run.command(self.command)


async def started(number, tmp_path, command=None, **replaced):
    """A run about a river of its own."""
    name = NAMES[number]
    body = f"# The {name}\n\nThe {name} is a river. The {name} is {200 + number} kilometres long. It was dammed in {1900 + number}.\n"
    corpus = write_corpus(tmp_path / name, {name: body})
    rules = good_rules(Planner=good_planner((f"length of {name}", f"How long is the {name}?")), **replaced)
    surface = Steering()
    surface.command = command
    surface.going = going = await start_scripted(rules, corpus, surface, question=f"How long is the {name}?")
    return going, surface


@pytest.mark.parametrize("round_", range(3))
async def test_eight_runs_at_once_of_which_some_fail_stop_and_are_steered_leave_one_another_alone(round_, tmp_path):
    """A soak: whatever befalls one run, the others end as if they were alone, and every log holds its own run only."""
    kinds = [
        ({}, {"verified"}),
        ({"command": Command("stop")}, {"stopped"}),
        ({"Searcher": down}, {"verified"}),
        ({"Builder": silent}, {"partial"}),
        ({"command": Command("drop_source", "S1")}, {"no_evidence", "partial"}),
        ({"Analyzer": down}, {"no_evidence"}),
        ({"FindingsWriter": silent}, {"verified"}),
        ({}, {"verified"}),
    ]
    order = kinds[round_:] + kinds[:round_]
    made = [await started(number, tmp_path, **given) for number, (given, _) in enumerate(order)]
    results = await asyncio.gather(*(going.task for going, _ in made))
    for number, ((going, surface), result, (_, wanted)) in enumerate(zip(made, results, order, strict=True)):
        assert result.outcome in wanted, (number, result.reason)
        log = going.run.journal.path.read_text()
        report = going.run.read_file("final_report.md")
        assert not [other for other in NAMES if other != NAMES[number] and (other in log or other in report)]
        assert [event.seq for event in surface.events if event.seq] == list(range(1, going.run.state.last_seq + 1))
        assert store.load_state(going.run.dir) == going.run.state
        assert not lease.is_live(going.run.dir)
        if result.outcome == "verified":
            assert f"{200 + number} kilometres" in report
    assert len({going.run.nonce for going, _ in made}) == len({going.run.run_id for going, _ in made}) == 8


async def test_a_run_that_has_ended_leaves_next_to_nothing_in_memory(tmp_path):
    """A session of many runs does not grow with them: a run holds some hundred kilobytes while it goes on."""
    rivers = write_corpus(tmp_path / "rivers", RIVERS)

    async def one():
        going = await start_scripted(good_rules(), rivers, RecordingSurface())
        await going.task
        return tracemalloc.get_traced_memory()[1]

    for _ in range(2):
        await one()
    tracemalloc.start()
    try:
        await one()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        peak = max([await one() for _ in range(4)]) - before
        gc.collect()
        kept = (tracemalloc.get_traced_memory()[0] - before) / 4
    finally:
        tracemalloc.stop()
    assert peak > 300_000, "a run that goes on is seen by this measure"
    assert kept < 30_000


async def test_runs_leave_no_object_of_the_framework_behind(tmp_path):
    """Meters that wait for a provider for good were 72 objects a run."""
    rivers = write_corpus(tmp_path / "rivers", RIVERS)

    async def meters():
        await (await start_scripted(good_rules(), rivers, RecordingSurface())).task
        gc.collect()
        return sum("meter" in type(thing).__name__.lower() for thing in gc.get_objects())

    await meters()
    assert await meters() == await meters()


CHILD = """
import asyncio, sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/.typecheck"]
from pathlib import Path
from tests.support.whole_run import good_rules, run_scripted

async def slow(messages, options):
    print("writing", flush=True)
    await asyncio.sleep(60)

asyncio.run(run_scripted(good_rules(Builder=slow), Path(sys.argv[2])))
"""


def test_a_run_of_another_process_cannot_be_resumed_until_that_process_is_gone(tmp_path):
    rivers = write_corpus(tmp_path / "rivers", RIVERS)
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    command = [sys.executable, str(script), str(ROOT), str(rivers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline().strip() == "writing"
            (row,) = run_index.list_runs()
            assert (row.live, run_index.interrupted()) == (True, [])
            before = (store.find_run(row.run_id) / "journal.jsonl").read_bytes()
            with pytest.raises(RunBusyError) as caught:
                asyncio.run(go_on(row.run_id))
            assert str(child.pid) in caught.value.line()
            assert (store.find_run(row.run_id) / "journal.jsonl").read_bytes() == before
        finally:
            child.send_signal(signal.SIGKILL)
    (row,) = run_index.interrupted()
    result, *_ = asyncio.run(go_on(row.run_id))
    assert result.outcome == "verified"


def test_of_two_processes_that_resume_one_run_at_once_one_does_and_one_is_told(tmp_path):
    rivers = write_corpus(tmp_path / "rivers", RIVERS)
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    with subprocess.Popen([sys.executable, str(script), str(ROOT), str(rivers)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.kill()
    (row,) = run_index.interrupted()

    async def both():
        return await asyncio.gather(*(go_on(row.run_id, {**good_rules(), "Builder": paced}) for _ in range(2)), return_exceptions=True)

    async def paced(messages, options):
        await asyncio.sleep(0.02)
        return good_builder(messages, options)

    ended = asyncio.run(both())
    assert sorted(type(one).__name__ for one in ended) == ["RunBusyError", "tuple"]
    assert next(one for one in ended if isinstance(one, tuple))[0].outcome == "verified"
    seqs = [event.seq for event in store.load_events(store.find_run(row.run_id))]
    assert seqs == list(range(1, len(seqs) + 1))

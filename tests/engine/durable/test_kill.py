"""A real process is killed in the middle of a run, and another takes the run up. And runs side by side in one process.

``DEEPDELVE_KILLS`` says at how many places, drawn at random (20 for the whole of it; 3 unless it is set).
"""

import asyncio
import hashlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deepdelve.core import events as ev
from deepdelve.engine import lease, run_index, store
from tests.engine.durable.support import go_on
from tests.support.whole_run import RIVERS, RecordingSurface, good_planner, good_rules, run_scripted, start_scripted, write_corpus

ROOT = Path(__file__).parents[3]
LAST = 105
KILLS = min(int(os.environ.get("DEEPDELVE_KILLS", "3").replace("all", str(LAST - 1))), LAST - 1)
# The first event that can be lost is always among them.
PLACES = [2, *sorted(random.Random(KILLS).sample(range(3, LAST + 1), KILLS - 1))]

CHILD = """
import asyncio, os, signal, sys
sys.path[:0] = [sys.argv[1], sys.argv[1] + "/.typecheck"]
from pathlib import Path
from deepdelve.engine.journal import Journal
from tests.support.whole_run import good_rules, run_scripted

append = Journal.append

def killing(self, event):
    append(self, event)
    if event.seq == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

Journal.append = killing
asyncio.run(run_scripted(good_rules(), Path(sys.argv[2])))
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What the same run finds when nobody kills it."""
    home = tmp_path_factory.mktemp("undisturbed")
    patch = pytest.MonkeyPatch()
    patch.setenv("DEEPDELVE_HOME", str(home / "home"))
    whole = asyncio.run(run_scripted(good_rules(), write_corpus(home / "rivers", RIVERS)))
    patch.undo()
    return whole


def found(state):
    """Findings and sources, whatever their numbers: where from, and the sentences."""
    addresses = {source.id: source.url for source in state.sources.values()}
    return {(addresses.get(f.source_id, ""), claim.text) for f in state.findings.values() for claim in f.claims}


@pytest.mark.parametrize("place", PLACES)
def test_a_killed_run_goes_on_as_if_nothing_had_been(place, undisturbed, tmp_path):
    rivers = write_corpus(tmp_path / "rivers", RIVERS)
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    child = subprocess.run([sys.executable, str(script), str(ROOT), str(rivers), str(place)], env=dict(os.environ), timeout=90, check=False)
    assert child.returncode == -signal.SIGKILL
    (row,) = run_index.interrupted()
    folder = store.find_run(row.run_id)
    assert not lease.is_live(folder)
    before = store.load_events(folder)
    assert before[-1].seq == place
    finished = {(e.role, e.task) for e in before if isinstance(e, ev.DispatchEnded) and e.ok}

    result, surface, run, _ = asyncio.run(go_on(row.run_id))
    assert result.outcome == undisturbed.result.outcome
    assert found(run.state) == found(undisturbed.run.state)
    urls = [source.url for source in run.state.sources.values()]
    assert sorted(urls) == sorted(s.url for s in undisturbed.run.state.sources.values())
    repeated = {(e.role, e.task) for e in surface.of(ev.DispatchStarted)} & finished
    assert not {pair for pair in repeated if pair[0] in {"Searcher", "Analyzer"}}
    seqs = [event.seq for event in store.load_events(folder)]
    assert seqs == list(range(1, len(seqs) + 1))
    assert store.load_state(folder) == run.state


# Runs side by side


async def test_eight_runs_at_once_share_nothing(tmp_path):
    names = [f"River{n}" for n in range(8)]
    surfaces = [RecordingSurface() for _ in names]
    going = []
    for number, (name, surface) in enumerate(zip(names, surfaces, strict=True)):
        body = f"# The {name}\n\nThe {name} is a river. The {name} is {200 + number} kilometres long. It was dammed in {1900 + number}.\n"
        corpus = write_corpus(tmp_path / name, {name: body})
        rules = good_rules(Planner=good_planner((f"length of {name}", f"How long is the {name}?")))
        going.append(await start_scripted(rules, corpus, surface, question=f"How long is the {name}?"))
    results = await asyncio.gather(*(one.task for one in going))
    assert [result.outcome for result in results] == ["verified"] * 8
    for number, (name, one, surface) in enumerate(zip(names, going, surfaces, strict=True)):
        report = one.run.read_file("final_report.md")
        assert f"{200 + number} kilometres" in report
        others = [other for other in names if other != name]
        log = one.run.journal.path.read_text()
        assert not [other for other in others if other in report or other in log]
        assert store.load_state(one.run.dir) == one.run.state
        assert [e.seq for e in surface.events if e.seq] == list(range(1, one.run.state.last_seq + 1))
        assert {c.role for c in one.factory.calls} == set(good_rules())
    nonces = {one.run.nonce for one in going}
    assert len(nonces) == 8


async def test_a_stop_of_one_run_leaves_the_others_alone(tmp_path):
    rivers = write_corpus(tmp_path / "rivers", RIVERS)
    going = [await start_scripted(good_rules(), rivers, RecordingSurface()) for _ in range(3)]
    going[1].stop()
    results = await asyncio.gather(*(one.task for one in going))
    assert [result.outcome for result in results] == ["verified", "stopped", "verified"]


async def test_the_same_question_twice_at_once_gives_the_same_report(tmp_path):
    rivers = write_corpus(tmp_path / "rivers", RIVERS)
    going = [await start_scripted(good_rules(), rivers, RecordingSurface()) for _ in range(2)]
    await asyncio.gather(*(one.task for one in going))
    digests = {hashlib.sha256(one.run.read_file("final_report.md").encode()).hexdigest() for one in going}
    assert len(digests) == 1

"""What keeping everything costs: appending an event, loading a run of 5,000 events, listing 2,000 runs.

``python -m benchmarks.durable [--json]`` prints the best of some rounds of each, so that other work of the machine is left
out (``emit_cpu_us`` is CPU time, which a busy machine changes least), beside a bare ``write`` of as many bytes.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

EVENTS = 5_000
RUNS = 2_000
ROUNDS = 7
TARGETS = {"append_us_over_bare_write": 50.0, "load_state_ms": 150.0, "load_events_ms": 150.0, "list_ms": 150.0}


def _events(count: int):
    """Events of the kinds and sizes that a run has: calls, answers, messages, findings."""
    from deepdelve.core import events as ev
    from deepdelve.core.records import ClaimText, Finding, Source

    made: list[ev.Event] = [ev.RunStarted(run_id="20260101_000000_abcdef", question="How long are the rivers?")]
    for n in range(1, 41):
        made.append(ev.SourceAdded(source=Source(id=f"S{n}", url=f"https://example.org/{n}", file=f"sources/S{n}.md", chars=9_000)))
    while len(made) < count:
        n = len(made)
        source = f"S{n % 40 + 1}"
        finding = Finding(
            id=f"F{n % 200 + 1}", source_id=source, task="t", top_task="t", claims=(ClaimText(text="It is 212 km long. " * 5),)
        )
        made += [
            ev.ToolCalled(role="Analyzer", dispatch="D1", call_id=f"c{n}", tool="read_workspace_file", args={"name": source}),
            ev.ToolReturned(dispatch="D1", call_id=f"c{n}", tool="read_workspace_file", text="The Alder is a river in the north. " * 20),
            ev.Message(dispatch="D1", role="Analyzer", text="It is 212 kilometres long. " * 8),
            ev.FindingAdded(finding=finding),
        ]
    return made[:count]


def _best(seconds: list[float]) -> float:
    return min(seconds)


def _append(folder: Path) -> dict[str, float]:
    from deepdelve.engine.budget import Budget
    from deepdelve.engine.run import Run
    from deepdelve.utils.run_state import RunState

    events = _events(EVENTS)
    kept, bare, cpu = [], [], []
    for round_ in range(ROUNDS):
        run = Run(folder / f"append{round_}", RunState(), Budget(1, 1, 60, 60, 0, {}))
        started, busy = time.perf_counter(), time.process_time()
        for event in events:
            run.emit(event)
        kept.append((time.perf_counter() - started) / EVENTS)
        cpu.append((time.process_time() - busy) / EVENTS)
        run.close()
        lines = run.journal.path.read_bytes().splitlines(keepends=True)
        fd = os.open(folder / f"bare{round_}", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        started = time.perf_counter()
        for line in lines:
            os.write(fd, line)
        bare.append((time.perf_counter() - started) / EVENTS)
        os.close(fd)
    over = _best(kept) - _best(bare)
    micro = {"bare_write_us": _best(bare), "emit_us": _best(kept), "emit_cpu_us": _best(cpu), "append_us_over_bare_write": over}
    return {name: seconds * 1e6 for name, seconds in micro.items()}


def _load(folder: Path) -> dict[str, float]:
    from deepdelve.engine import store

    state, events = [], []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        store.load_state(folder / "append0")
        state.append(time.perf_counter() - started)
        started = time.perf_counter()
        store.load_events(folder / "append0")
        events.append(time.perf_counter() - started)
    return {"load_state_ms": _best(state) * 1e3, "load_events_ms": _best(events) * 1e3}


def _list(home: Path) -> dict[str, float]:
    from deepdelve.core import events as ev
    from deepdelve.engine import run_index, store
    from deepdelve.engine.journal import JOURNAL, Journal

    for n in range(RUNS):
        name = f"20260101_{n:06d}_abcdef"
        log = Journal(store.runs_dir() / name / JOURNAL)
        log.append(ev.RunStarted(seq=1, run_id=name, question=f"How long is river {n}, and who says so?"))
        log.append(ev.RunEnded(seq=2, outcome="verified", exit=0))
        log.close()
    started = time.perf_counter()
    run_index.list_runs(RUNS)
    rebuilt = time.perf_counter() - started
    listed = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        rows = run_index.list_runs(RUNS)
        listed.append(time.perf_counter() - started)
    assert len(rows) == RUNS
    return {"list_ms": _best(listed) * 1e3, "list_rebuilt_ms": rebuilt * 1e3}


def measure() -> dict[str, float]:
    """All figures, in a home of their own."""
    folder = Path(tempfile.mkdtemp())
    before = os.environ.get("DEEPDELVE_HOME")
    os.environ["DEEPDELVE_HOME"] = str(folder / "home")
    try:
        return {**_append(folder), **_load(folder), **_list(folder)}
    finally:
        os.environ.pop("DEEPDELVE_HOME")
        if before is not None:
            os.environ["DEEPDELVE_HOME"] = before
        shutil.rmtree(folder)


def main() -> None:
    """Print the figures beside what they are held to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = measure()
    if args.json:
        print(json.dumps(rows))
        return
    for name, value in rows.items():
        print(f"{name:28} {value:9.2f}" + (f"   (at most {TARGETS[name]:.0f})" if name in TARGETS else ""))


if __name__ == "__main__":
    main()

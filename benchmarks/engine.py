"""What the engine itself costs: a run of scripted model calls beside the framework alone making as many calls.

``python -m benchmarks.engine [--json]`` prints CPU seconds and peak memory of both, each in a process of its own,
imports included, and the engine's own CPU a model call.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

TASKS = 3


async def _framework(calls: int) -> int:
    """The framework alone: an agent with one tool, as many model calls, streamed."""
    from agent_framework import Agent, tool

    from tests.support.scripted import ScriptedFactory, call, text

    async def think(thought: str) -> str:
        """Consider."""
        return "Noted."

    turn = 0

    def rule(messages, options):
        nonlocal turn
        turn += 1
        return [call("think", thought=str(turn))] if turn % 2 else text("Done.")

    factory = ScriptedFactory({"Planner": rule})
    for _ in range(calls // 2):
        agent = Agent(client=factory.client("Planner"), tools=[tool(think)])
        async with agent.run("Go on.", stream=True) as stream:
            async for _update in stream:
                pass
    return len(factory.calls)


async def _engine(runs: int) -> int:
    """Whole runs: Planner, Searchers, Analyzers, writers, reviewer, check and delivery, about 28 model calls each."""
    from tests.support.whole_run import good_planner, good_rules, run_scripted, write_corpus

    calls = 0
    names = [f"River{n}" for n in range(TASKS)]
    with tempfile.TemporaryDirectory() as folder:
        documents = {n: f"# The {n}\n\nThe {n} is {100 + i} kilometres long. It was dammed in 19{10 + i}.\n" for i, n in enumerate(names)}
        corpus = write_corpus(Path(folder), documents)
        tasks = [(f"length of {n}", f"How long is {n}?") for n in names]
        for _ in range(runs):
            run = await run_scripted(good_rules(Planner=good_planner(*tasks)), corpus, question="How long are the rivers?")
            if run.result.outcome != "verified":
                raise SystemExit(f"the scripted run ended {run.result.outcome}: {run.result.reason}")
            calls += len(run.factory.calls)
    return calls


def _child(what: str, amount: int) -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["DEEPDELVE_HOME"] = home
        made = asyncio.run(_engine(amount) if what == "engine" else _framework(amount))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    row = {"calls": made, "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3), "peak_mb": round(usage.ru_maxrss / 1024, 1)}
    print(json.dumps(row))


def _measure(what: str, amount: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.engine", "--child", what, "--amount", str(amount)]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def measure() -> dict[str, dict[str, float]]:
    """One run and the framework alone; and what four more runs add, a model call."""
    one, five = _measure("engine", 1), _measure("engine", 5)
    calls = int(one["calls"])
    bare, more = _measure("framework", calls), _measure("framework", 5 * calls)
    over = {
        what: 1000 * (b["cpu_seconds"] - a["cpu_seconds"]) / (b["calls"] - a["calls"])
        for what, a, b in (("engine", one, five), ("bare", bare, more))
    }
    return {"framework": bare, "run": one, "engine_cpu_ms_per_call_over_framework": {"value": round(over["engine"] - over["bare"], 2)}}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--child", choices=["engine", "framework"], help=argparse.SUPPRESS)
    parser.add_argument("--amount", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.child:
        _child(args.child, args.amount)
        return
    rows = measure()
    print(json.dumps(rows) if args.json else "\n".join(f"{what}: {row}" for what, row in rows.items()))


if __name__ == "__main__":
    main()

"""How quick the app is, beside an empty Textual app in the same run.

Run: ``python -m benchmarks.tui [--json] [--rounds N]`` with compiled bytecode. Figures: first frame (wall and CPU seconds, median of
the rounds, each in a process of its own), keystroke to echo while 100 deltas a second stream in, opening 5,000 events and paging
back (until the page is drawn: median and worst of 30, some of which mount earlier blocks), opening a report of 10,000 words with 200
citations and jumping from claim to claim (until it is drawn), and the peak of memory.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

EMPTY = """
import time, sys
start, cpu = time.perf_counter(), time.process_time()
from textual.app import App
class Empty(App):
    def on_mount(self): self.call_after_refresh(self.done)
    def done(self):
        print(time.perf_counter() - start, time.process_time() - cpu, file=sys.__stdout__)
        self.exit()
Empty().run(headless=True)
"""
OURS = """
import time, sys
start, cpu = time.perf_counter(), time.process_time()
from deepdelve.tui.app import DeepDelveApp
def settings():
    from deepdelve.engine import facade
    return facade.load_settings()
class Timed(DeepDelveApp):
    async def _begin(self):
        print(time.perf_counter() - start, time.process_time() - cpu, file=sys.__stdout__)
        self.exit(0)
Timed(settings).run(headless=True)
"""
JUMPS = 20
PAGES = 30
SENTENCE = "Field trials found that heat pumps kept a COP of about 2 at minus ten degrees in most of the houses [1]. "


def first_frame(code: str, rounds: int) -> tuple[float, float]:
    """Median wall and CPU seconds to the first frame."""
    found: list[tuple[float, float]] = []
    for _ in range(rounds + 1):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        wall, cpu = done.stdout.split()[-2:]
        found.append((float(wall), float(cpu)))
    found = found[1:]
    return statistics.median(pair[0] for pair in found), statistics.median(pair[1] for pair in found)


async def inside() -> dict[str, float]:
    """What is measured in one running app."""
    from deepdelve.config import Settings
    from deepdelve.core import events as ev
    from deepdelve.core.records import Claim, Source
    from deepdelve.tui.app import DeepDelveApp
    from deepdelve.tui.report_model import build
    from deepdelve.tui.screens.report import ReportScreen
    from deepdelve.tui.view import replay
    from deepdelve.tui.widgets.transcript import Transcript

    app = DeepDelveApp(Settings())
    figures: dict[str, float] = {}
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.research.sidebar is not None and app.controller.loaded is not None)
        figures["echo_ms_median"] = await echo(app, pilot)

        events: list[ev.Event] = [ev.RunStarted(run_id="r", question="Q?")]
        for n in range(1_000):
            events += [
                ev.DispatchStarted(dispatch=f"d{n}", role="Searcher", task=f"task {n}"),
                ev.ToolCalled(dispatch=f"d{n}", role="Searcher", call_id=f"c{n}", tool="web_search", args={"query": "heat"}),
                ev.ToolReturned(dispatch=f"d{n}", call_id=f"c{n}", tool="web_search", text="hits"),
                ev.Message(dispatch=f"d{n}", role="Searcher", text="- found [S1]"),
                ev.DispatchEnded(dispatch=f"d{n}", role="Searcher"),
            ]
        begun = now()
        app.handler.replace(replay(events))
        await app.handler.flush()
        await pilot.pause(0)
        put(figures, "open_5000_events", begun)
        transcript = app.research.query_one(Transcript)
        first, pages = transcript.first, list[float]()
        for _ in range(PAGES):
            begun = now()
            await transcript.action_older()
            await drawn(transcript)
            pages.append(now()[0] - begun[0])
            await pilot.pause(0.02)
        figures["page_s_median"], figures["page_s_worst"] = statistics.median(pages), max(pages)
        figures["page_blocks_mounted"] = first - transcript.first

        text = "# Report\n\n" + "\n\n".join(SENTENCE * 4 for _ in range(125))
        claims: list[Claim] = []
        place = text.find(SENTENCE)
        while place >= 0 and len(claims) < 200:
            span = (place, place + len(SENTENCE) - 1)
            claims.append(Claim(id=f"c{len(claims)}", text=SENTENCE, delivered_span=span, citations=("S1",), status="supported"))
            place = text.find(SENTENCE, place + 1)
        source = Source(id="S1", url="https://example.org", file="sources/S1.md")
        begun = now()
        screen = ReportScreen("r", build(text, claims), [source], app.controller, app)
        screen._texts["S1"] = SENTENCE * 500
        await app.push_screen(screen)
        await pilot.pause(0)
        figures["report_words"] = len(text.split())
        put(figures, "open_report", begun)
        begun, jumps = now(), list[float]()
        for _ in range(JUMPS):
            from_here = now()[0]
            screen.action_claim(1)
            showing = [worker for worker in app.workers if worker.group == "passage"]
            if showing:
                await app.workers.wait_for_complete(showing)
            await drawn(screen)
            jumps.append(now()[0] - from_here)
        put(figures, "jump", begun, JUMPS)
        figures["jump_s"] = statistics.median(jumps)
        figures["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    return figures


def now() -> tuple[float, float]:
    """Wall and CPU seconds."""
    return time.perf_counter(), time.process_time()


def put(figures: dict[str, float], name: str, begun: tuple[float, float], times: int = 1) -> None:
    """Records wall and CPU seconds since ``begun``, divided by the number of times."""
    wall, cpu = now()
    figures[f"{name}_s"] = (wall - begun[0]) / times
    figures[f"{name}_cpu_s"] = (cpu - begun[1]) / times


async def drawn(widget: Any) -> None:
    """Waits until what has changed is on the screen."""
    done = asyncio.Event()
    widget.call_after_refresh(done.set)
    await done.wait()


async def echo(app: Any, pilot: Any) -> float:
    """Median milliseconds from a key to its character in the prompt while 100 deltas a second stream in."""
    from textual.events import Key

    from deepdelve.core import events as ev

    streaming = True

    async def stream() -> None:
        while streaming:
            app.handler.post(ev.TextDelta(role="Planner", text="word and word "))
            await asyncio.sleep(0.01)

    feeding = asyncio.ensure_future(stream())
    waits: list[float] = []
    for number in range(60):
        before = len(app.research.prompt.text)
        begun = time.perf_counter()
        app.post_message(Key("x", "x"))
        # The echo is a change of the text; an event to wait on would be set by the very code that is measured.
        while len(app.research.prompt.text) == before:  # noqa: ASYNC110
            await asyncio.sleep(0)
        waits.append(time.perf_counter() - begun)
        await asyncio.sleep(0.03 + number % 3 / 100)
    streaming = False
    await feeding
    app.research.prompt.clear()
    return statistics.median(waits) * 1_000


async def until(pilot: Any, condition: Callable[[], object]) -> None:
    """Waits for a condition."""
    for _ in range(2_000):
        if condition():
            return
        await pilot.pause(0.01)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--rounds", type=int, default=5, help="processes for each first frame")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["DEEPDELVE_HOME"] = home
        empty, ours = first_frame(EMPTY, args.rounds), first_frame(OURS, args.rounds)
        figures = {
            "empty_first_frame_s": empty[0],
            "first_frame_s": ours[0],
            "first_frame_ratio": ours[0] / empty[0],
            "first_frame_cpu_ratio": ours[1] / empty[1],
            **asyncio.run(inside()),
        }
    rounded = {name: round(value, 3) for name, value in figures.items()}
    print(json.dumps(rounded) if args.json else "\n".join(f"{name:24} {value}" for name, value in rounded.items()))


if __name__ == "__main__":
    main()

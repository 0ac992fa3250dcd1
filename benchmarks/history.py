"""History search on a generated corpus: each effort, with and without the index, beside grep over the same files in the same run.

    python -m benchmarks.history                     1,000 sessions of 120 messages, about 140 MB
    python -m benchmarks.history --sessions 100000 --messages 4

Texts are made from a list of words by a fixed seed; times are the best of some tries, the processor's beside the wall's. Memory is
the peak of the process. The last part drives the app itself over the same files: from a key or a command until the screen is drawn.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from deepdelve.engine.history.control import SearchControl
from deepdelve.engine.history.index import HistoryIndex, update
from deepdelve.engine.history.records import HistoryResult
from deepdelve.engine.history.resolve import SearchRequest, resolve
from deepdelve.engine.history.search import run_search
from deepdelve.engine.history.sources import Roots
from deepdelve.engine.history.stream import aiter_search

SEED = 20260101
WORDS = 4_000
RARE, COMMON, ABSENT = "quokkaberry", "harbour", "zzyzxqqq"
TRIES = 3


def vocabulary(chance: random.Random) -> list[str]:
    letters = "etaoinshrdlucmfwypvbg"
    made = {"".join(chance.choices(letters, k=chance.randint(2, 11))) for _ in range(WORDS)}
    return [*sorted(made), "naïve", "café", "Größe", "東京"]


def sentence(chance: random.Random, words: list[str], chars: int) -> str:
    return " ".join(chance.choices(words, k=max(3, chars // 7)))


def generate(home: Path, sessions: int, messages: int, chars: int) -> int:
    """Writes the corpus; returns its size in bytes."""
    chance = random.Random(SEED)
    words = vocabulary(chance)
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    (home / "sessions").mkdir(parents=True)
    size = 0
    with (home / "history.jsonl").open("w", encoding="utf-8") as history:
        for number in range(sessions):
            session = str(uuid.UUID(int=chance.getrandbits(128), version=4))
            lines = [row(v=1, type="session", session_id=session, started_at=stamp(moment))]
            for turn in range(1, messages + 1):
                moment += timedelta(seconds=7)
                text = sentence(chance, words, chance.randint(chars // 4, chars * 2))
                if turn % 5 == 0:
                    text += f" {COMMON} and"
                if number % 100 == 3 and turn == 2:
                    text += f" {RARE}"
                role = "user" if turn % 2 else "assistant"
                lines.append(row(n=turn, ts=stamp(moment), role=role, text=text, run_id=""))
                if turn == 1:
                    asked = f"{text[:200]} {RARE if number % 100 == 3 else ''} {COMMON if number % 5 == 0 else ''}"
                    history.write(
                        row(
                            v=1,
                            id=str(number),
                            ts=stamp(moment),
                            session_id=session,
                            run_id=None,
                            surface="cli",
                            kind="research",
                            text=asked,
                            meta={},
                        )
                    )
            data = "".join(lines).encode()
            size += len(data)
            (home / "sessions" / f"session_{session}.jsonl").write_bytes(data)
    return size


def row(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False) + "\n"


def stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def timed(action: Callable[[], object]) -> tuple[float, float, object]:
    """The best wall time and processor time in milliseconds, children included, and the last result."""
    wall, cpu, result = float("inf"), float("inf"), None
    for _ in range(TRIES):
        begun, spent = time.perf_counter(), sum(os.times()[:4])
        result = action()
        wall, cpu = min(wall, time.perf_counter() - begun), min(cpu, sum(os.times()[:4]) - spent)
    return wall * 1000, cpu * 1000, result


def searches(roots: Roots, indexed: bool) -> Iterator[tuple[str, str, HistoryResult]]:
    rows = [
        ("prompt, rare", {"terms": RARE}),
        ("targeted 25, rare", {"terms": RARE, "deep": True}),
        ("targeted 25, common", {"terms": COMMON, "deep": True}),
        ("exhaustive, rare", {"terms": RARE, "scope": "all"}),
        ("exhaustive, common, all", {"terms": COMMON, "scope": "all"}),
        ("exhaustive, common, newest 25", {"terms": COMMON, "scope": "all", "limit": 25}),
        ("exhaustive, no match", {"terms": ABSENT, "scope": "all"}),
    ]
    for name, options in rows:
        query = resolve(SearchRequest(**options))

        def search(query=query) -> HistoryResult:
            return run_search(query, roots, index=HistoryIndex(roots.index) if indexed else None)

        wall, cpu, found = timed(search)
        assert isinstance(found, HistoryResult)
        yield name, f"{wall:10.1f} ms {cpu:8.0f} CPU ms", found


def load() -> str:
    """What else the machine does meanwhile: without it, times say nothing."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def beside(roots: Roots) -> None:
    """The same words by a tool that reads bytes."""
    program = shutil.which("rg")
    command = [program, "-i", "-c", "--no-ignore"] if program else ["grep", "-r", "-i", "-c", "-F"]
    for name, word in (("rare", RARE), ("common", COMMON), ("no match", ABSENT)):
        wall, cpu, _ = timed(lambda word=word: subprocess.run([*command, word, str(roots.sessions)], capture_output=True, check=False))
        print(f"  {Path(command[0]).name} -i, {name:<28}{wall:10.1f} ms {cpu:8.0f} CPU ms")


async def cancelling(roots: Roots) -> tuple[float, float]:
    """Milliseconds until the first row, and from a stop to the end of the stream."""
    query = resolve(SearchRequest(terms=COMMON, scope="all", order="scan"))
    control = SearchControl()
    begun = time.perf_counter()
    first = stopped = 0.0
    async for event in aiter_search(query, roots, control=control):
        if not first and getattr(event, "record", None) is not None:
            first = time.perf_counter() - begun
            control.stop("caller_cancelled")
            stopped = time.perf_counter()
    return first * 1000, (time.perf_counter() - stopped) * 1000


class Watched:
    """An app whose screens are watched."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.figures: dict[str, float] = {}

    async def until(self, ready: Callable[[], object]) -> None:
        """Waits."""
        for _ in range(600_000):
            if ready():
                return
            await asyncio.sleep(0.001)
        raise TimeoutError

    async def timed(self, name: str, act: Callable[[], object], ready: Callable[[Any], object]) -> None:
        """Keeps the least wall time from an act until the screen is ready and drawn."""
        begun = time.perf_counter()
        act()
        await self.until(lambda: self.app.screen.is_mounted and ready(self.app.screen))
        shown = asyncio.Event()
        self.app.screen.call_after_refresh(shown.set)
        await shown.wait()
        self.figures[name] = min(self.figures.get(name, float("inf")), time.perf_counter() - begun)

    async def searching(self) -> None:
        """The search screen, once."""
        from deepdelve.tui.screens.history import SearchScreen

        def press(key: str) -> Callable[[], object]:
            return lambda: self.app.simulate_key(key)

        def ended(screen: Any) -> bool:
            return isinstance(screen, SearchScreen) and screen.summary is not None

        await self.timed("/search of a rare word, until its rows are drawn", lambda: self.app.send(f"/search {RARE}"), ended)
        await self.timed("F8, until it says that it searches", press("f8"), lambda screen: screen.summary is None)
        await self.timed("Esc during it, until what was found is drawn", press("escape"), ended)
        stopped = self.app.screen.summary
        assert stopped.status.reason == "answer_now"
        again = press("f8")
        await self.timed("F8, until all rows are drawn", again, lambda screen: screen.summary not in (None, stopped))
        await self.closed()

    async def recalling(self) -> None:
        """ctrl+r, once."""
        from textual.widgets import Input

        from deepdelve.tui.screens.recall import RecallScreen

        begun = time.perf_counter()
        await self.timed(
            "ctrl+r, until it is painted", lambda: self.app.simulate_key("ctrl+r"), lambda screen: isinstance(screen, RecallScreen)
        )
        await self.timed("the same, until the prompts are drawn (at most 20,000)", lambda: None, lambda screen: screen.shown)
        self.figures["the same, until the prompts are drawn (at most 20,000)"] = time.perf_counter() - begun
        await self.timed(
            "a key that narrows them, until drawn", lambda: self.app.simulate_key(RARE[0]), lambda screen: screen.query_one(Input).value
        )
        await self.closed()

    async def closed(self) -> None:
        """Back to the prompt."""
        self.app.screen.dismiss()
        await self.until(lambda: self.app.screen is self.app.research)


async def in_the_app() -> dict[str, float]:
    """Seconds of wall time in a running app, the best of some tries each, until what is named is drawn."""
    from deepdelve.config import Settings
    from deepdelve.tui.app import DeepDelveApp

    app = DeepDelveApp(Settings())
    async with app.run_test(size=(120, 40)):
        watched = Watched(app)
        await watched.until(lambda: app.research.sidebar is not None and app.controller.loaded is not None)
        for _ in range(TRIES):
            await watched.searching()
            await watched.recalling()
    return watched.figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--messages", type=int, default=120)
    parser.add_argument("--chars", type=int, default=1_000)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="history-"))
    try:
        roots = Roots(folder)
        size = generate(folder, args.sessions, args.messages, args.chars)
        print(f"{args.sessions:,} sessions, {args.sessions * args.messages:,} messages, {size / 1e6:.1f} MB; {load()}")
        print("without the index")
        for name, spent, found in searches(roots, indexed=False):
            print(f"  {name:<34}{spent}  {len(found.records):>7,} records, {found.summary.status.state}")
        print("beside it")
        beside(roots)
        report = update(roots)
        assert report is not None
        per_mb = report.seconds / (size / 1e6)
        print(f"index: {report.seconds:.1f} CPU s ({per_mb:.3f} s/MB), {report.size / 1e6:.1f} MB ({report.size / size:.0%} of the text)")
        one = next(iter(roots.sessions.iterdir()))
        wall, cpu, _ = timed(lambda: (one.touch(), update(roots)))
        print(f"  one session anew: {wall:.1f} ms {cpu:.0f} CPU ms; {load()}")
        print("with the index")
        for name, spent, found in searches(roots, indexed=True):
            read = found.summary.sources_read
            print(f"  {name:<34}{spent}  {len(found.records):>7,} records, {read:,} sources read")
        first, stop = asyncio.run(cancelling(roots))
        print(f"first row after {first:.0f} ms, end {stop:.0f} ms after a stop")
        roots.index.unlink()
        os.environ["DEEPDELVE_HOME"] = str(folder)
        print("the app")
        for name, spent in asyncio.run(in_the_app()).items():
            print(f"  {name:<58}{spent * 1000:10.1f} ms")
        print(f"at the end {load()}")
        print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()

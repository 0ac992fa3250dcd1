"""How long a stop takes at a real pseudo-terminal, whatever the model server is doing at that moment.

``python -m benchmarks.stop [--rounds N] [--json]`` starts runs against a model server on this machine that hangs in one role, and
measures from the key to the end: Ctrl-C of ``deepdelve run`` until its process is gone, and ``/stop`` in the app until the run is
recorded as stopped. The figure asked for is one second.
"""

import argparse
import fcntl
import json
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOMENTS = (("planning", "stall_first", "Planner"), ("reading", "stall_stream", "Analyzer"), ("writing", "slow_drip", "Builder"))
AT_MOST = 90.0
SIZE = (40, 120)


class Terminal:
    """A process whose three streams are a pseudo-terminal of its own, 120 by 40."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self.main, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        paths = os.pathsep.join([str(ROOT / ".typecheck"), str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": paths, "DEEPDELVE_HOME": str(home), "TERM": "xterm-256color"}
        line = [sys.executable, "-m", "deepdelve", *arguments]
        self.process = subprocess.Popen(
            line, stdin=other, stdout=other, stderr=other, env=environment, cwd=ROOT, start_new_session=True, preexec_fn=_own
        )
        os.close(other)

    def until(self, ready: Callable[[], object]) -> float:
        """Take in what is shown until something holds; the seconds that it took."""
        begun = time.monotonic()
        while time.monotonic() - begun < AT_MOST:
            if ready():
                return time.monotonic() - begun
            if select.select([self.main], [], [], 0.01)[0]:
                try:
                    os.read(self.main, 65_536)
                except OSError:  # The other end is closed: the process has ended.
                    time.sleep(0.01)
        raise RuntimeError("it never came so far")

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self.main, text.encode())

    def close(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.wait()
        os.close(self.main)


def _own() -> None:
    """Make the pseudo-terminal the one whose Ctrl-C reaches the process."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def _hanging(fault: str, role: str, arguments: Callable[[Path], list[str]]) -> Iterator[tuple[Terminal, Path]]:
    """A terminal in which a run has come to the role at which its server hangs, and the home of its runs."""
    from tests.support.llm_server import LlmServer
    from tests.support.model_rules import steady_rules
    from tests.support.whole_run import RIVERS, write_corpus

    with tempfile.TemporaryDirectory() as folder, LlmServer(steady_rules()) as server:
        home = Path(folder) / "home"
        home.mkdir()
        api = f"api:\n  backend: ollama\n  ollama_model: m\n  ollama_host: {server.url}\n  preflight: false\n"
        (home / "config.yaml").write_text(f"{api}settings:\n  depth: quick\n")
        server.fail(fault, role=role)
        terminal = Terminal(home, *arguments(write_corpus(Path(folder) / "rivers", RIVERS)))
        try:
            terminal.until(lambda: server.chats(role))
            time.sleep(0.3)
            yield terminal, home
        finally:
            terminal.close()


def _ctrl_c(fault: str, role: str) -> float:
    from tests.support.whole_run import RIVERS_QUESTION

    with _hanging(fault, role, lambda corpus: ["run", RIVERS_QUESTION, "--corpus", str(corpus)]) as (terminal, _):
        terminal.type("\x03")
        return terminal.until(lambda: terminal.process.poll() is not None)


def _slash_stop(fault: str, role: str) -> float:
    from tests.support.whole_run import RIVERS_QUESTION

    with _hanging(fault, role, lambda corpus: ["-p", RIVERS_QUESTION, "--corpus", str(corpus)]) as (terminal, home):
        terminal.type("/stop\r")
        return terminal.until(lambda: _ended(home))


def _ended(home: Path) -> bool:
    return any('"type":"run_ended"' in journal.read_text(encoding="utf-8") for journal in home.glob("runs/*/journal.jsonl"))


def measure(rounds: int) -> list[dict[str, object]]:
    """Median and worst seconds of each kind of stop at each moment."""
    rows: list[dict[str, object]] = []
    for how, stop in (("Ctrl-C", _ctrl_c), ("/stop", _slash_stop)):
        for moment, fault, role in MOMENTS:
            took = [stop(fault, role) for _ in range(rounds)]
            rows.append({"stop": how, "while": moment, "median_s": round(statistics.median(took), 2), "worst_s": round(max(took), 2)})
    return rows


def main() -> None:
    """Print the table, or the rows as JSON."""
    parser = argparse.ArgumentParser(prog="benchmarks.stop")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows = measure(args.rounds)
    if args.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(f"{row['stop']:<7} while {row['while']:<9} median {row['median_s']:.2f} s, worst {row['worst_s']:.2f} s")


if __name__ == "__main__":
    main()

"""The app in a real pseudo-terminal, with the real engine and the built-in backend, from the first frame to a later day."""

import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "examples" / "corpus"
QUESTION = "What is HTTP Strict Transport Security?"
pytestmark = [
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
    pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the example corpus"),
    pytest.mark.timeout(240),
]


class Terminal:
    """A terminal of 120 by 40 in a tmux server of its own."""

    def __init__(self, socket: Path, home: Path) -> None:
        self.socket = socket
        self.home = home

    def tmux(self, *args: str) -> str:
        done = subprocess.run(["tmux", "-S", str(self.socket), "-f", "/dev/null", *args], capture_output=True, text=True, check=True)
        return done.stdout

    def open(self, *flags: str) -> None:
        command = [sys.executable, "-m", "deepdelve", "--backend", "builtin", "--corpus", str(CORPUS), *flags]
        # The size is the terminal's: what the environment of the tests says of theirs would go before it.
        line = f"cd {shlex.quote(str(ROOT))} && exec env -u COLUMNS -u LINES {shlex.join(command)}"
        environment = {"DEEPDELVE_HOME": str(self.home), "PYTHONPATH": str(ROOT / ".typecheck"), "TEXTUAL_ANIMATIONS": "none"}
        given = [part for name, value in environment.items() for part in ("-e", f"{name}={value}")]
        self.tmux("new-session", "-d", "-x", "120", "-y", "40", *given, line)
        self.tmux("resize-window", "-x", "120", "-y", "40")

    def screen(self) -> str:
        try:
            return self.tmux("capture-pane", "-p")
        except subprocess.CalledProcessError:
            return ""

    def wait(self, *wanted: str, seconds: float = 90) -> str:
        end = time.monotonic() + seconds
        shown = ""
        while time.monotonic() < end:
            shown = self.screen()
            if all(text in shown for text in wanted):
                return shown
            time.sleep(0.1)
        raise AssertionError(f"never shown: {wanted}\n{shown}")

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.tmux("send-keys", key)
            time.sleep(0.15)

    def gone(self, seconds: float = 90) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if subprocess.run(["tmux", "-S", str(self.socket), "has-session"], capture_output=True, check=False).returncode:
                return
            time.sleep(0.1)
        raise AssertionError(f"it did not end\n{self.screen()}")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    home = tmp_path / "home"
    home.mkdir()
    made = Terminal(tmp_path / "tmux", home)
    yield made
    subprocess.run(["tmux", "-S", str(made.socket), "kill-server"], capture_output=True, check=False)


def test_from_the_first_frame_to_a_question_asked_again_later(terminal: Terminal) -> None:
    terminal.open()
    terminal.wait("Ask a question", "ready")
    terminal.type(QUESTION)
    terminal.press("Enter")
    terminal.wait("Next claim", QUESTION)
    terminal.press("n")
    terminal.wait("claim 1 of", "S1")
    terminal.press("Escape")
    terminal.wait("The report is ready.")
    terminal.type("What does the header do?")
    terminal.press("Enter")
    terminal.wait("What does the header do?", "Analyzer", "[1]")
    terminal.type("/nosuch")
    terminal.press("Enter")
    terminal.wait("There is no command /nosuch.")
    terminal.press("C-q")
    terminal.gone()

    (run,) = (terminal.home / "runs").iterdir()
    assert (run / "final_report.md").is_file()
    (session,) = (terminal.home / "sessions").iterdir()
    terminal.open("--resume", session.stem.removeprefix("session_"))
    terminal.wait(QUESTION, "What does the header do?")
    terminal.type("/report")
    terminal.press("Enter")
    terminal.wait("Next claim")
    terminal.press("Escape", "C-q")
    terminal.gone()


def test_quitting_stops_a_run_and_the_next_start_finds_it(terminal: Terminal) -> None:
    terminal.open("-p", QUESTION)
    terminal.wait("planning", "●")
    terminal.press("C-q")
    terminal.gone()
    terminal.open()
    terminal.wait("ready")
    terminal.type("/runs")
    terminal.press("Enter")
    terminal.wait("Runs", "What is HTTP Strict")
    terminal.press("Escape", "C-q")
    terminal.gone()

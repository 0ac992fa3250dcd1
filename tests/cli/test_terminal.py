"""A run at a terminal, over the real engine and real sockets: Ctrl-C within a second, whatever the model server is doing."""

import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from deepdelve.config import home
from deepdelve.engine import lease, run_index, store
from tests.cli.test_process import ROOT, environment
from tests.cli.test_real_runs import command
from tests.support.llm_server import LlmServer
from tests.support.model_rules import steady_rules
from tests.support.whole_run import RIVERS, RIVERS_QUESTION, write_corpus


class Terminal:
    """A process whose three streams are a pseudo-terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self.main, other = pty.openpty()
        self.seen = ""
        self.process = subprocess.Popen(
            command(*arguments),
            stdin=other,
            stdout=other,
            stderr=other,
            env=environment(),
            cwd=ROOT,
            start_new_session=True,
            preexec_fn=_own,
        )
        os.close(other)

    def read(self, seconds: float) -> bool:
        """Take in what is shown meanwhile; False where nothing came or the other end is closed."""
        if not select.select([self.main], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.main, 65_536)
        except OSError:
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)

    def wait_for(self, ready: "object", seconds: float = 90.0) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.read(0.05)
            if ready():  # type: ignore[operator]
                return
        pytest.fail(f"it never came so far; the terminal shows: {self.seen[-400:]}")

    def press(self, key: bytes) -> float:
        """Press a key and wait for the end. Returns the seconds that it took."""
        os.write(self.main, key)
        sent = time.monotonic()
        while self.process.poll() is None and time.monotonic() - sent < 60:
            self.read(0.02)
        took = time.monotonic() - sent
        while self.read(0.0):
            pass
        return took

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.main)


def _own() -> None:
    """Make the pseudo-terminal the one whose Ctrl-C reaches the process."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def settings_for(server: LlmServer) -> None:
    home().mkdir(parents=True, exist_ok=True)
    (home() / "config.yaml").write_text(
        f"api:\n  backend: ollama\n  ollama_model: m\n  ollama_host: {server.url}\n  preflight: false\nsettings:\n  depth: quick\n"
    )


@pytest.mark.parametrize(("fault", "role"), [("stall_first", "Planner"), ("stall_stream", "Analyzer"), ("slow_drip", "Builder")])
def test_ctrl_c_at_a_terminal_ends_a_run_within_a_second_and_loses_nothing(fault: str, role: str, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    with LlmServer(steady_rules()) as server:
        server.fail(fault, role=role)
        settings_for(server)
        terminal = Terminal("run", RIVERS_QUESTION, "--corpus", str(corpus))
        try:
            terminal.wait_for(lambda: server.chats(role))
            time.sleep(0.2)
            took = terminal.press(b"\x03")
            returned = terminal.process.returncode
        finally:
            terminal.close()
    assert returned == 130
    print(f"{fault}: ended {took:.2f} s after Ctrl-C")
    assert "Traceback" not in terminal.seen
    (row,) = run_index.list_runs()
    folder = store.find_run(row.run_id)
    assert (row.outcome, row.live, lease.is_live(folder)) == ("stopped", False, False)
    state = store.load_state(folder)
    assert state.question == RIVERS_QUESTION
    assert bool(state.drafts.get("findings")) is (role == "Builder")
    # What it says to do next is what can be done.
    assert row.run_id in terminal.seen


def test_a_terminal_that_is_closed_ends_the_run_and_it_can_be_resumed(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "rivers", RIVERS)
    with LlmServer(steady_rules()) as server:
        server.fail("stall_first", role="Builder", turns={0})
        settings_for(server)
        terminal = Terminal("run", RIVERS_QUESTION, "--corpus", str(corpus))
        try:
            terminal.wait_for(lambda: server.chats("Builder"))
            os.close(terminal.main)
            terminal.process.wait(60)
        finally:
            terminal.main = os.open(os.devnull, os.O_RDONLY)
            terminal.close()
        assert terminal.process.returncode in {130, -signal.SIGHUP}
        (row,) = run_index.list_runs()
        readings = len(server.chats("Analyzer"))
        again = Terminal("run", "--resume-run", row.run_id)
        try:
            again.wait_for(lambda: again.process.poll() is not None)
        finally:
            again.close()
        assert again.process.returncode == 0, again.seen
        assert len(server.chats("Analyzer")) == readings, "what was read is not read again"
    report = (store.find_run(row.run_id) / "final_report.md").read_text()
    assert "212 kilometres" in report
    assert "98 kilometres" in report

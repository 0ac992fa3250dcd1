"""Real processes: signals, pipes, and what start-up imports."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
STARTED = "Plan: 1 task"


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / ".typecheck"), str(ROOT)]), "PYTHONWARNINGS": "error"}


def spawn(options: dict[str, Any], *arguments: str, **streams: Any) -> subprocess.Popen[str]:
    """The command line over a fake engine with these options, in a process of its own."""
    command = [sys.executable, "-m", "tests.cli.fake_facade", json.dumps(options), *arguments]
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.Popen(command, text=True, env=environment(), cwd=ROOT, **streams)


def wait_for(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if words in line:
            return
    pytest.fail(f"the process ended without '{words}'")


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=60)
    finally:
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("deaf", [False, True])
def test_a_signal_ends_the_run_within_a_second_with_130(number: int, deaf: bool) -> None:
    process = spawn({"hang": True, "deaf": deaf}, "run", "q", "--json")
    wait_for(process, STARTED)
    process.send_signal(number)
    out, err = ended(process)
    assert process.returncode == 130
    assert "Stopping" in err
    assert "Traceback" not in err
    if not deaf:
        assert json.loads(out)["outcome"] == "stopped"


def test_a_signal_ends_a_run_whose_event_loop_is_blocked() -> None:
    process = spawn({"busy": 600}, "run", "q")
    wait_for(process, "Planning")
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    ended(process)
    assert process.returncode == 130


def test_a_signal_while_a_run_is_set_up_ends_it_too() -> None:
    process = spawn({"slow": 600}, "run", "q")
    wait_for(process, "preparing")
    process.send_signal(signal.SIGTERM)
    out, err = ended(process)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err


def test_a_second_signal_ends_it_at_once() -> None:
    process = spawn({"hang": True, "deaf": True, "grace": 600}, "run", "q")
    wait_for(process, STARTED)
    process.send_signal(signal.SIGINT)
    wait_for(process, "Stopping")
    process.send_signal(signal.SIGINT)
    ended(process)
    assert process.returncode == 130


def test_a_reader_of_the_report_that_goes_away_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    process = spawn({"long": True}, "run", "q", stdout=write)
    os.close(write)
    _, err = ended(process)
    assert process.returncode == 0
    assert "Broken" not in err
    assert "Exception" not in err


def test_closed_standard_streams_are_no_error() -> None:
    code = "import sys; sys.argv=['x','{}','run','q']; from tests.cli.fake_facade import main; sys.exit(main())"
    process = subprocess.run(
        ["/bin/sh", "-c", f'exec "{sys.executable}" -c "{code}" >&- 2>&- <&-'], env=environment(), cwd=ROOT, timeout=30, check=False
    )
    assert process.returncode == 0


def test_a_terminal_that_speaks_latin_1_gets_the_report() -> None:
    env = {**environment(), "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.fake_facade", json.dumps({"report": "热泵 café"}), "run", "q"],
        env=env, cwd=ROOT, capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.decode("latin-1") == "?? café\n"


def test_an_approval_is_asked_for_at_the_terminal() -> None:
    main, other = pty.openpty()
    process = spawn({"asking": True}, "run", "q", stdin=other, stdout=subprocess.PIPE)
    os.close(other)
    wait_for(process, "Allow it?")
    os.write(main, b"perhaps\n")
    wait_for(process, "Please type")
    os.write(main, b"Y\n")
    wait_for(process, "answered: allow")
    ended(process)
    os.close(main)
    assert process.returncode == 0


def test_a_stop_while_a_person_is_asked_is_not_held_up() -> None:
    main, other = pty.openpty()
    process = spawn({"asking": True, "deaf": True}, "run", "q", stdin=other)
    os.close(other)
    wait_for(process, "Allow it?")
    process.send_signal(signal.SIGINT)
    ended(process)
    os.close(main)
    assert process.returncode == 130


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom deepdelve.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'pydantic', 'textual', 'agent_framework', 'httpx', 'ollama', 'openai', 'asyncio', 'ruamel', 'rich'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.splitlines()[-1] == "HEAVY []"


def test_python_m_deepdelve_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "deepdelve", "rnu"], env=environment(), capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "deepdelve: There is no command 'rnu'. Did you mean 'deepdelve run'?\n"

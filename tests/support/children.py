"""Child processes that end with the test that started them, and with the test run where that is killed."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = "import runpy; runpy.run_module('deepdelve', run_name='__main__', alter_sys=True)"
# The other end of its standard input is held by the test run alone: when that is gone, reading it comes to an end.
_TIED = "import os, threading; threading.Thread(target=lambda: os.read(0, 1) or os._exit(9), daemon=True).start()\n"


@contextlib.contextmanager
def child(code: str, *arguments: str, cwd: Path = ROOT) -> Iterator[subprocess.Popen[str]]:
    """An interpreter that runs this code; killed and waited for at the end of the block if it is still there then."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / ".typecheck"), str(ROOT)]), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", _TIED + code, *arguments],
        env=env,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=60)

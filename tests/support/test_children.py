"""No child outlives its test, whatever happens to the test."""

import os
import signal
import time

import pytest

from tests.support.children import child

WAITS = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
HOLDS = f"""
import os, time
from tests.support.children import child
with child({WAITS!r}) as inner:
    print(inner.stdout.readline(), flush=True)
    time.sleep(60)
"""


def gone(pid: int) -> bool:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_a_child_ends_with_a_test_that_fails() -> None:
    with pytest.raises(AssertionError), child(WAITS) as process:
        raise AssertionError
    assert process.returncode == -signal.SIGKILL


def test_a_child_ends_when_the_one_who_started_it_is_killed() -> None:
    with child(HOLDS) as holder:
        assert holder.stdout is not None
        inner = int(holder.stdout.readline())
        holder.kill()
        holder.wait(60)
        assert gone(inner)

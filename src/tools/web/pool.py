"""Parser processes: untrusted documents are read where they can be killed, with bounded memory and no secrets.

A worker is a plain child process that speaks over its pipes, not a ``multiprocessing`` child: it starts the same
from any program, with or without a main guard, never runs the program's own main module, and inherits neither
environment nor open files.
"""

import asyncio
import atexit
import contextlib
import functools
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from deepdelve.tools.web.documents.extracted import Extracted, from_json, unreadable

DEADLINE_S = 20.0
WORKERS = 2
# A worker is replaced after so many documents, so that what a library leaks stays small.
JOBS_PER_WORKER = 100
HEADER = struct.Struct("!II")
_KEPT_VARIABLES = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONHOME")
_REPLY_LIMIT = 64_000_000


@dataclass(frozen=True)
class Request:
    """One document to parse: the bytes, and what is known of them as JSON."""

    facts: bytes
    data: bytes


class Worker:
    """One parser process."""

    def __init__(self) -> None:
        # The parent's path goes along: the isolated child would not find a source checkout by itself.
        path = os.pathsep.join(entry for entry in sys.path if entry)
        code = "import sys; sys.path[:] = sys.argv[1].split(sys.argv[2]); from deepdelve.tools.web.worker import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", code, path, os.pathsep],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
            close_fds=True,
            start_new_session=True,
        )
        self.jobs = 0
        self.broken = False

    @property
    def usable(self) -> bool:
        """Whether it lives and has jobs left."""
        return not self.broken and self.process.poll() is None and self.jobs < JOBS_PER_WORKER

    def ask(self, request: Request) -> bytes:
        """Send one document and wait for the reply; empty when the worker died."""
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            return b""
        self.jobs += 1
        with contextlib.suppress(OSError, ValueError):
            stdin.write(HEADER.pack(len(request.facts), len(request.data)) + request.facts)
            stdin.write(request.data)
            stdin.flush()
            head = stdout.read(4)
            if len(head) == 4 and (size := int.from_bytes(head, "big")) <= _REPLY_LIMIT:
                reply = stdout.read(size)
                if len(reply) == size:
                    return reply
        self.broken = True
        return b""

    def kill(self) -> None:
        """End the process now; safe to call at any time and from any thread."""
        self.broken = True
        with contextlib.suppress(OSError):
            self.process.kill()

    def close(self) -> None:
        """End the process and release its pipes."""
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError, ValueError):
                    pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)


class ParserPool:
    """Up to two workers, started when first needed.

    Args:
        workers: how many documents may be parsed side by side.
        deadline_s: seconds one document may take before its worker is killed.
    """

    def __init__(self, workers: int = WORKERS, deadline_s: float = DEADLINE_S) -> None:
        self.deadline_s = deadline_s
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="parser")
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False

    async def parse(self, request: Request) -> Extracted:
        """Parse one document in a worker.

        Raises:
            FetchError: as the parser refused, or ``unreadable`` when the worker was killed or died.
        """
        job = _Job()
        future = asyncio.get_running_loop().run_in_executor(self._threads, self._run, request, job)
        try:
            reply = await asyncio.shield(future)
        except asyncio.CancelledError:
            job.cancel()
            raise
        except OSError as error:
            raise unreadable(
                f"The process that reads documents could not be started: {error}.", "Free some memory and try again."
            ) from error
        try:
            result = from_json(reply)
        except (ValueError, KeyError, TypeError) as error:
            raise _failure(job.timed_out, self.deadline_s) from error
        if isinstance(result, Extracted):
            return result
        raise result

    def close(self) -> None:
        """Kill every worker and wait for the threads; the pool cannot be used afterwards."""
        with self._lock:
            self._closed = True
            workers = [*self._idle, *self._busy]
            self._idle.clear()
        for worker in workers:
            worker.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for worker in workers:
            worker.close()

    def _run(self, request: Request, job: "_Job") -> bytes:
        with self._worker() as worker:
            timer = threading.Timer(self.deadline_s, job.expire)
            timer.daemon = True
            if not job.attach(worker):
                return b""
            timer.start()
            try:
                return worker.ask(request)
            finally:
                timer.cancel()
                timer.join()

    @contextlib.contextmanager
    def _worker(self) -> Generator[Worker]:
        with self._lock:
            stale = [worker for worker in self._idle if not worker.usable]
            self._idle = [worker for worker in self._idle if worker.usable]
            worker = self._idle.pop() if self._idle else Worker()
            self._busy.add(worker)
        for old in stale:
            old.close()
        try:
            yield worker
        finally:
            with self._lock:
                self._busy.discard(worker)
                keep = worker.usable and not self._closed
                if keep:
                    self._idle.append(worker)
            if not keep:
                worker.close()


class _Job:
    """Who works on a document, so that a deadline or a cancellation can kill it."""

    def __init__(self) -> None:
        self.timed_out = False
        self._cancelled = False
        self._worker: Worker | None = None
        self._lock = threading.Lock()

    def attach(self, worker: Worker) -> bool:
        with self._lock:
            self._worker = worker
            return not self._cancelled

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            if self._worker is not None:
                self._worker.kill()

    def expire(self) -> None:
        self.timed_out = True
        self.cancel()


def _failure(timed_out: bool, deadline_s: float) -> Exception:
    if timed_out:
        return unreadable(f"Reading the document took longer than {deadline_s:g} s and was stopped.", "Use another copy of it.")
    return unreadable("The document made its parser fail, through damage or through the memory it needs.", "Use another copy of it.")


@functools.cache
def shared_pool() -> ParserPool:
    """The pool of this process; its workers end with it."""
    pool = ParserPool()
    atexit.register(pool.close)
    return pool

"""Parser processes are started when needed, killed at the deadline, and gone when closed."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web import pool as module
from deepdelve.tools.web.pool import ParserPool, Request, Worker
from tests.tools.web.documents.made import pdf, show

ROOT = Path(__file__).resolve().parents[3]
FACTS = json.dumps({"url": "", "content_type": "", "charset": ""}).encode()
WORDS = Request(FACTS, pdf(show("Words", 72, 700)))

# A worker that never answers, one that dies at once, and one that answers nonsense.
HANGS = "import sys, time; sys.stdin.buffer.read(8); time.sleep(600)"
DIES = "import sys; sys.stdin.buffer.read(8); sys.exit(3)"
LIES = "import sys; sys.stdin.buffer.read(8); sys.stdout.buffer.write(b'\\0\\0\\0\\4null'); sys.stdout.flush(); sys.stdin.buffer.read()"


@pytest.fixture
async def pool() -> AsyncIterator[ParserPool]:
    made = ParserPool(workers=1, deadline_s=20)
    yield made
    await asyncio.to_thread(made.close)


def replace_workers(monkeypatch: pytest.MonkeyPatch, code: str) -> list[Worker]:
    """Have the pool start a stand-in for its worker; returns those that it starts."""
    started: list[Worker] = []
    popen = subprocess.Popen

    def start(arguments: list[str], **options: object) -> object:
        return popen([arguments[0], "-c", code], **options)  # type: ignore[call-overload]

    class Noted(Worker):
        def __init__(self) -> None:
            super().__init__()
            started.append(self)

    monkeypatch.setattr(module.subprocess, "Popen", start)
    monkeypatch.setattr(module, "Worker", Noted)
    return started


def alive(worker: Worker) -> bool:
    return worker.process.poll() is None


async def test_nothing_is_started_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    started = replace_workers(monkeypatch, HANGS)
    ParserPool().close()
    assert not started


async def test_a_worker_serves_one_document_after_another(pool: ParserPool) -> None:
    for text in ("One", "Two", "Three"):
        assert text in (await pool.parse(Request(FACTS, pdf(show(text, 72, 700))))).text
    assert len(pool._idle) == 1
    assert pool._idle[0].jobs == 3


async def test_refusals_come_through(pool: ParserPool) -> None:
    with pytest.raises(FetchError) as caught:
        await pool.parse(Request(FACTS, b"%PDF-1.4\n"))
    assert caught.value.cause == "unreadable"
    assert "Words" in (await pool.parse(WORDS)).text


async def test_documents_wait_for_their_turn() -> None:
    pool = ParserPool(workers=2)
    results = await asyncio.gather(*(pool.parse(WORDS) for _ in range(6)))
    assert all("Words" in result.text for result in results)
    assert len(pool._idle) <= 2
    await asyncio.to_thread(pool.close)


async def test_a_worker_that_hangs_is_killed_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    started = replace_workers(monkeypatch, HANGS)
    pool = ParserPool(workers=1, deadline_s=0.3)
    with pytest.raises(FetchError) as caught:
        await pool.parse(WORDS)
    assert "longer than 0.3 s" in caught.value.message
    assert not alive(started[0])
    pool.close()


async def test_the_next_document_gets_a_new_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    started = replace_workers(monkeypatch, DIES)
    pool = ParserPool(workers=1)
    for _ in range(3):
        with pytest.raises(FetchError) as caught:
            await pool.parse(WORDS)
        assert caught.value.cause == "unreadable"
        assert "parser fail" in caught.value.message
    assert len(started) == 3
    pool.close()


async def test_an_answer_that_makes_no_sense_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_workers(monkeypatch, LIES)
    pool = ParserPool(workers=1)
    with pytest.raises(FetchError) as caught:
        await pool.parse(WORDS)
    assert caught.value.cause == "unreadable"
    pool.close()


async def test_stopping_kills_the_worker_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    started = replace_workers(monkeypatch, HANGS)
    pool = ParserPool(workers=1, deadline_s=60)
    task = asyncio.create_task(pool.parse(WORDS))
    for _ in range(500):
        if started:
            break
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    started[0].process.wait(60)
    pool.close()


async def test_closing_ends_busy_workers_too(monkeypatch: pytest.MonkeyPatch) -> None:
    started = replace_workers(monkeypatch, HANGS)
    pool = ParserPool(workers=2, deadline_s=60)
    tasks = [asyncio.create_task(pool.parse(WORDS)) for _ in range(2)]
    for _ in range(500):
        if len(started) == 2:
            break
        await asyncio.sleep(0.01)
    await asyncio.to_thread(pool.close)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(result, FetchError) for result in results)
    assert not any(alive(worker) for worker in started)


async def test_a_program_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no memory")

    monkeypatch.setattr(module.subprocess, "Popen", fail)
    pool = ParserPool(workers=1)
    with pytest.raises(FetchError) as caught:
        await pool.parse(WORDS)
    assert "could not be started" in caught.value.message
    pool.close()


async def test_a_worker_is_replaced_after_its_share_of_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "JOBS_PER_WORKER", 2)
    pool = ParserPool(workers=1)
    for _ in range(2):
        await pool.parse(WORDS)
    assert not pool._idle
    assert "Words" in (await pool.parse(WORDS)).text
    pool.close()


def test_secrets_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "secret")
    seen: dict[str, str] = {}
    popen = subprocess.Popen

    def start(arguments: list[str], **options: object) -> object:
        seen.update(options["env"])  # type: ignore[call-overload]
        return popen([arguments[0], "-c", "pass"], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(module.subprocess, "Popen", start)
    Worker().close()
    assert "BRAVE_API_KEY" not in seen
    assert "PATH" in seen


@pytest.mark.skipif(sys.platform == "win32", reason="limits of the system are set on POSIX only")
async def test_a_document_that_needs_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; sys.path[:] = sys.argv[1].split(sys.argv[2]); from deepdelve.tools.web import worker; "
        "import deepdelve.tools.web.documents.parse as p; p.parse = lambda *a, **k: bytearray(4_000_000_000); worker.main()"
    )
    popen = subprocess.Popen

    def start(arguments: list[str], **options: object) -> object:
        return popen([*arguments[:3], code, *arguments[4:]], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(module.subprocess, "Popen", start)
    pool = ParserPool(workers=1)
    with pytest.raises(FetchError) as caught:
        await pool.parse(WORDS)
    assert "more memory" in caught.value.message
    pool.close()


def test_it_works_from_a_script_without_a_main_guard_and_leaves_nothing_behind(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import asyncio, sys\n"
        "from deepdelve.tools.web.extract import extract\n"
        "from deepdelve.tools.web.pool import shared_pool\n"
        "data = bytes.fromhex(sys.argv[1])\n"
        "print(asyncio.run(extract(data)).text)\n"
        "print(asyncio.run(extract(data)).kind)\n"
        "print(shared_pool()._idle[0].process.pid)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / ".typecheck"), "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, str(script), WORDS.data.hex()], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    *said, pid = done.stdout.split("\n")[:-1]
    assert said == ["[page 1]", "Words", "pdf"]
    assert done.returncode == 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_a_worker_ends_when_its_parent_is_gone() -> None:
    worker = Worker()
    assert worker.process.stdin is not None
    worker.process.stdin.close()
    assert worker.process.wait(20) == 0
    worker.close()

"""A model server on loopback that speaks Ollama and OpenAI, answers by script or by rule, and fails on request.

    with LlmServer({"Planner": lambda seen: Reply(calls=(Call("think", {"thought": "x"}),))}) as server:
        server.fail("http_500", role="Planner", turns={0})
        ...  # OllamaFactory at server.url, or OpenAIFactory at server.openai_url

The role of a request stands in its system prompt, on a line ``Role: <name>``; without one the role is empty. Rules are
looked up by role, then under an empty name; a list of replies is a script whose last reply is repeated for ever.
"""

import asyncio
import json
import re
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.llm_replies import Call, Reply, Rule, Seen, faulty

CHARS_PER_TOKEN = 4
_ROLE = re.compile(r"^Role:\s*(\w+)\s*$", re.MULTILINE)
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
_STATUS_FAULTS: dict[str, tuple[int, str, dict[str, str]]] = {
    "http_500": (500, "llama runner process has terminated: exit status 2", {}),
    "http_503": (503, "the server is overloaded", {}),
    "http_429": (429, "too many requests", {}),
    "http_429_wait": (429, "too many requests", {"Retry-After": "7"}),
    "no_tools": (400, "registry.ollama.ai/library/m does not support tools", {}),
    "model_missing": (404, "model 'm' not found", {}),
    "unauthorized": (401, "invalid key", {}),
}
_MESSAGE_FAULTS = {
    "error_in_stream": "an error was encountered while running the model",
    "repeat_limit": "prediction aborted, token repeat limit reached",
}


@dataclass(frozen=True)
class Model:
    """A model that the server has. ``modified`` orders models by age."""

    name: str
    tools: bool = True
    thinking: bool = False
    context: int = 32_768
    modified: str = "2026-01-01T00:00:00Z"
    modelfile: str = "FROM x"
    family: str = "llama"


class LlmServer:
    """The server; use it as a context manager, or ``start()`` and ``stop()`` it; started again, it is at the same address.

    Attributes:
        seen: every request, in order.
        models: what ``/api/tags`` and ``/v1/models`` list.
        key: a key that is then demanded.
        web_page: answer everything with a web page, as a wrong address does.
        delay: seconds before any answer.
    """

    def __init__(
        self,
        rules: Mapping[str, Rule | Sequence[Reply | str]] | Sequence[Reply | str] = ("Done.",),
        *,
        models: Sequence[Model] = (Model("m"),),
        key: str = "",
        web_page: bool = False,
        delay: float = 0.0,
    ) -> None:
        self.rules = dict(rules) if isinstance(rules, Mapping) else {"": list(rules)}
        self.models, self.key, self.web_page, self.delay = list(models), key, web_page, delay
        self.seen: list[Seen] = []
        self.port = 0
        self._faults: list[tuple[str, str | None, set[int] | None]] = []
        self._turns: dict[str, int] = {}
        self._born = time.monotonic()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    def chats(self, role: str | None = None) -> list[Seen]:
        """The chat requests, of one role or all."""
        return [seen for seen in self.seen if seen.turn >= 0 and role in (None, seen.role)]

    def fail(self, fault: str, *, role: str | None = None, turns: set[int] | None = None) -> None:
        """Give the fault to replies of a role (None: all), in these of its turns (None: every one)."""
        faulty(Reply(), Seen("", "", {}, {}), fault)
        self._faults.append((fault, role, turns))

    def start(self) -> "LlmServer":
        self._ready.clear()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="llm-server", daemon=True)
        self._thread.start()
        assert self._ready.wait(60), "the fake model server did not start"
        return self

    def stop(self) -> None:
        if self._loop and self._stop and self._thread:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(5)
            self._thread = None

    __enter__ = start

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task
            tasks.add(task)
            try:
                await self._connection(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                tasks.discard(task)
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", self.port, limit=2**26)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_ = True
        while open_:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            method, path, _ = lines[0].split(" ", 2)
            headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines[1:] if line)}
            raw = await reader.readexactly(int(headers.get("content-length", "0")))
            body = json.loads(raw) if raw else {}
            out = _Out(writer)
            await asyncio.sleep(self.delay)
            await self._route(Seen(method, path, headers, body, at=time.monotonic() - self._born), out)
            open_ = not out.broken

    async def _route(self, seen: Seen, out: "_Out") -> None:
        chat = seen.path in ("/api/chat", "/v1/chat/completions")
        if self.web_page:
            self.seen.append(seen)
            return await out.whole(200, "<!doctype html><title>Log in</title>", kind="text/html")
        if self.key and seen.headers.get("authorization") != f"Bearer {self.key}":
            self.seen.append(seen)
            return await out.json(401, {"error": {"message": "invalid key"}})
        if chat:
            return await self._chat(seen, out)
        self.seen.append(seen)
        if seen.path == "/api/version":
            return await out.json(200, {"version": "0.99.1"})
        if seen.path == "/api/tags":
            return await out.json(200, {"models": [{"name": m.name, "model": m.name, "modified_at": m.modified} for m in self.models]})
        if seen.path == "/api/show":
            return await self._show(seen, out)
        if seen.path == "/v1/models":
            return await out.json(
                200, {"object": "list", "data": [{"id": m.name, "object": "model", "created": 0, "owned_by": "x"} for m in self.models]}
            )
        return await out.whole(404, "404 page not found", kind="text/plain")

    async def _show(self, seen: Seen, out: "_Out") -> None:
        model = next((m for m in self.models if m.name == seen.body.get("model")), None)
        if model is None:
            return await out.json(404, {"error": f"model '{seen.body.get('model')}' not found"})
        capabilities = ["completion", *(["tools"] if model.tools else []), *(["thinking"] if model.thinking else [])]
        info = {"general.architecture": model.family, f"{model.family}.context_length": model.context}
        return await out.json(
            200,
            {
                "capabilities": capabilities,
                "model_info": info,
                "modelfile": model.modelfile,
                "details": {"family": model.family, "parameter_size": "8B"},
            },
        )

    async def _chat(self, seen: Seen, out: "_Out") -> None:
        found = _ROLE.search(seen.messages[0].get("content") or "") if seen.messages else None
        role = found.group(1) if found else ""
        turn = self._turns.get(role, 0)
        self._turns[role] = turn + 1
        seen = Seen(seen.method, seen.path, seen.headers, seen.body, role, turn, seen.at)
        self.seen.append(seen)
        reply = self._reply(seen)
        ollama = seen.path == "/api/chat"
        if reply.fault in _STATUS_FAULTS:
            status, text, headers = _STATUS_FAULTS[reply.fault]
            error: Any = text if ollama else {"message": text, "type": "error", "code": None}
            return await out.json(status, {"error": error}, headers)
        if reply.fault == "html":
            return await out.whole(200, "<!doctype html><title>Sign in</title>", kind="text/html")
        if reply.fault == "stall_first":
            return await out.stall()
        parts = _ollama_parts(reply, seen) if ollama else _openai_parts(reply, seen)
        return await out.stream(parts, reply, "application/x-ndjson" if ollama else "text/event-stream")

    def _reply(self, seen: Seen) -> Reply:
        rule = self.rules.get(seen.role, self.rules.get("", ["Done."]))
        said = rule[min(seen.turn, len(rule) - 1)] if isinstance(rule, Sequence) else rule(seen)
        reply = Reply(said) if isinstance(said, str) else said
        for fault, role, turns in self._faults:
            if role in (None, seen.role) and (turns is None or seen.turn in turns):
                reply = faulty(reply, seen, fault)
        return reply


class _Out:
    """Writes one response."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer, self.broken = writer, False

    async def json(self, status: int, data: Any, headers: Mapping[str, str] | None = None) -> None:
        await self.whole(status, json.dumps(data), kind="application/json", headers=headers)

    async def whole(self, status: int, text: str, *, kind: str, headers: Mapping[str, str] | None = None) -> None:
        body = text.encode()
        self._head(status, {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})})
        self.writer.write(body)
        await self.writer.drain()

    async def stall(self) -> None:
        """Say nothing until the client goes or the server stops."""
        self.broken = True
        await asyncio.Event().wait()

    async def stream(self, parts: AsyncIterator[bytes], reply: Reply, kind: str) -> None:
        self._head(200, {"Content-Type": kind, "Transfer-Encoding": "chunked"})
        count = 0
        async for part in parts:
            count += 1
            if self.writer.transport.is_closing():
                raise ConnectionResetError
            if reply.fault == "cut_stream" and count == 3:
                self.broken = True
                self.writer.write(f"{len(part) + 50:x}\r\n".encode() + part)
                await self.writer.drain()
                self.writer.transport.abort()
                return
            if reply.fault == "stall_stream" and count == 3:
                await self.stall()
            if reply.fault == "broken_line" and count == 3:
                part = part[: len(part) // 2] + b"\n\n"
            self.writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            if reply.delay:
                await self.writer.drain()
                await asyncio.sleep(reply.delay)
            elif count % 64 == 0:
                await self.writer.drain()
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.writer.write(f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}\r\n{lines}\r\n".encode())


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _texts(reply: Reply) -> list[str]:
    """The text in pieces; a stream that is to be cut or stalled has at least four."""
    short = reply.fault in ("cut_stream", "stall_stream", "broken_line", "no_done", *_MESSAGE_FAULTS)
    text = reply.text or ("A reply that will not reach its end. " * 2 if short else "")
    return _pieces(text, min(reply.piece, max(1, len(text) // 5)) if short else reply.piece)


def _counts(reply: Reply, seen: Seen) -> tuple[int, int]:
    said = len(reply.text) + len(reply.thinking) + sum(len(str(call.args)) for call in reply.calls)
    return max(1, round(seen.chars / CHARS_PER_TOKEN * reply.evaluated)), max(1, said // CHARS_PER_TOKEN)


async def _ollama_parts(reply: Reply, seen: Seen) -> AsyncIterator[bytes]:
    model = seen.body.get("model", "m")

    def line(message: dict[str, Any], **extra: Any) -> bytes:
        whole = {
            "model": model,
            "created_at": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": "", **message},
            "done": False,
            **extra,
        }
        return json.dumps(whole).encode() + b"\n"

    if reply.fault == "slow_drip":
        reply = Reply(reply.text or "slowly " * 200, piece=1, delay=0.02)
    for piece in _pieces(reply.thinking, reply.piece):
        yield line({"thinking": piece})
    for piece in _texts(reply):
        yield line({"content": piece})
        await asyncio.sleep(reply.delay)
    if reply.fault in _MESSAGE_FAULTS:
        yield json.dumps({"error": _MESSAGE_FAULTS[reply.fault]}).encode() + b"\n"
        return
    if reply.calls:
        yield line({"tool_calls": [{"function": {"name": call.name, "arguments": call.args}} for call in reply.calls]})
    if reply.fault != "no_done":
        evaluated, said = _counts(reply, seen)
        yield line({}, done=True, done_reason=reply.finish or "stop", prompt_eval_count=evaluated, eval_count=said)


async def _openai_parts(reply: Reply, seen: Seen) -> AsyncIterator[bytes]:
    def chunk(delta: dict[str, Any], finish: str | None = None, **extra: Any) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        whole = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": seen.body.get("model", "m"),
            "choices": choices,
            **extra,
        }
        return f"data: {json.dumps(whole)}\n\n".encode()

    if reply.fault == "slow_drip":
        reply = Reply(reply.text or "slowly " * 200, piece=1, delay=0.02)
    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.thinking, reply.piece):
        yield chunk({"reasoning_content": piece})
    for piece in _texts(reply):
        yield chunk({"content": piece})
        await asyncio.sleep(reply.delay)
    if reply.fault in _MESSAGE_FAULTS:
        yield f"data: {json.dumps({'error': {'message': _MESSAGE_FAULTS[reply.fault], 'code': 500}})}\n\n".encode()
        return
    for delta in _call_deltas(reply.calls):
        yield chunk({"tool_calls": [delta]})
    if reply.fault == "no_done":
        return
    yield chunk({}, reply.finish or ("tool_calls" if reply.calls else "stop"))
    if (seen.body.get("stream_options") or {}).get("include_usage"):
        evaluated, said = _counts(reply, seen)
        usage = {"prompt_tokens": evaluated, "completion_tokens": said, "total_tokens": evaluated + said}
        yield chunk({}, choices=[], usage=usage)
    yield b"data: [DONE]\n\n"


def _call_deltas(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Pieces of parallel calls, interleaved as real servers do: the names first, then a piece of each in turn."""
    heads = [
        {"index": at, "id": f"call_{at}_{id(call)}", "type": "function", "function": {"name": call.name, "arguments": ""}}
        for at, call in enumerate(calls)
    ]
    arguments = [_pieces(call.args if isinstance(call.args, str) else json.dumps(call.args), 10) for call in calls]
    rounds = range(max((len(pieces) for pieces in arguments), default=0))
    tails = [
        {"index": at, "function": {"arguments": pieces[turn]}}
        for turn in rounds
        for at, pieces in enumerate(arguments)
        if turn < len(pieces)
    ]
    return [*heads, *tails]

"""Record and replay of a whole run: model calls, searches and fetches, keyed by their content and kept in order.

A replay is offline and fails closed: a call that was not recorded ends it, naming the call. Answers are handed out in the order
in which they came, so that what ran side by side falls out the same way again.
"""

import asyncio
import base64
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from agent_framework import ChatResponseUpdate, Content, Message

from deepdelve.core.errors import BackendError, DeepDelveError, FetchError, UsageError
from deepdelve.core.records import Hit, Role, Usage
from deepdelve.core.scope import current_scope
from deepdelve.engine.backends.base import ChatFactory, Hooks
from deepdelve.engine.gate import RunAbort
from deepdelve.engine.store import append_line, read_lines
from deepdelve.tools.search.base import SearchBackend, SearchQuery, SearchResponse
from deepdelve.tools.web.base import Fetcher, Page

RECORD = "record.jsonl"
# How long a replay waits for an earlier call of the record before it says that the run has taken another course.
TURN_SECONDS = 10.0


def key_of(kind: str, *parts: Any) -> str:
    """What a call is known by: a hash of all that it depends on."""
    text = json.dumps([kind, *parts], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def model_key(role: Role, messages: Sequence[Message], options: Mapping[str, Any]) -> str:
    """The key of a model call: role, instructions, tools on offer, and everything said and done so far."""
    said = [[str(m.role), [_content_key(c) for c in m.contents]] for m in messages]
    offered = cast("Sequence[Any]", options.get("tools") or [])
    tools = sorted(str(getattr(tool, "name", tool)) for tool in offered)
    return key_of("model", role, str(options.get("instructions") or ""), tools, str(options.get("tool_choice") or ""), said)


def _content_key(content: Content) -> list[str]:
    return [content.type, str(content.text or ""), str(content.name or ""), str(content.arguments or ""), str(content.result or "")]


@dataclass
class Recorder:
    """Appends every outside answer of a run to its record. ``path`` is None until the run has a folder; ``mask`` takes keys out."""

    path: Path | None = None
    mask: Callable[[str], str] | None = None
    usage: dict[str, tuple[Usage, bool]] = field(default_factory=dict[str, tuple[Usage, bool]])

    def begin(self, folder: Path, facts: Mapping[str, Any]) -> None:
        """Start the record with what the run depends on beside the calls."""
        self.path = folder / RECORD
        append_line(self.path, {"kind": "run", **facts})

    def write(self, kind: str, key: str, row: Mapping[str, Any]) -> None:
        """Append one answer."""
        if self.path is None:
            return
        line = json.dumps({"kind": kind, "key": key, **row}, ensure_ascii=False)
        append_line(self.path, json.loads(self.mask(line) if self.mask else line))


@dataclass
class Replayer:
    """Hands recorded answers out, each when its turn has come."""

    rows: list[dict[str, Any]]
    facts: dict[str, Any]
    _turn: int = 0
    _taken: set[int] = field(default_factory=set[int])
    _moved: asyncio.Condition = field(default_factory=asyncio.Condition)

    @classmethod
    def load(cls, folder: Path) -> "Replayer":
        """Read the record of a run.

        Raises:
            UsageError: the run was not recorded.
        """
        rows = list(read_lines(folder / RECORD))
        if not rows or rows[0].get("kind") != "run":
            raise UsageError(f"Run {folder.name} was not recorded.", "Only runs that were started with --record can be replayed.")
        return cls([row for row in rows[1:] if isinstance(row.get("kind"), str) and isinstance(row.get("key"), str)], rows[0])

    async def answer(self, kind: str, key: str, what: str) -> dict[str, Any]:
        """The recorded answer to a call.

        Raises:
            RunAbort: it was not recorded, or the run has taken another course.
        """
        number = next((n for n, row in enumerate(self.rows) if n not in self._taken and row["kind"] == kind and row["key"] == key), None)
        if number is None:
            raise RunAbort(f"The replay asked for something that was not recorded: {what[:200]}")
        self._taken.add(number)
        async with self._moved:
            try:
                async with asyncio.timeout(TURN_SECONDS):
                    await self._moved.wait_for(lambda: self._turn == number)
            except TimeoutError:
                raise RunAbort(f"The replay has taken another course before: {what[:200]}") from None
            self._turn += 1
            self._moved.notify_all()
        return self.rows[number]


class RecordingFactory:
    """A backend whose every answer is recorded."""

    def __init__(self, inner: ChatFactory, recorder: Recorder) -> None:
        self.inner, self.recorder = inner, recorder
        self.name, self.model = inner.name, inner.model

    def client(self, role: Role, *, max_iterations: int) -> Any:
        """A client of the inner backend that writes down what it answers."""
        client: Any = self.inner.client(role, max_iterations=max_iterations)
        answer = client._inner_get_response

        def recording(*, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any) -> Any:
            if not stream:
                return answer(messages=messages, stream=stream, options=options, **kwargs)
            key = model_key(role, messages, options)
            return client._build_response_stream(self._written(key, answer(messages=messages, stream=True, options=options, **kwargs)))

        client._inner_get_response = recording
        return client

    async def _written(self, key: str, stream: Any) -> AsyncIterator[ChatResponseUpdate]:
        updates: list[dict[str, Any]] = []
        error: dict[str, Any] = {}
        try:
            async with stream:
                async for update in stream:
                    reason = update.finish_reason
                    updates.append({"contents": [c.to_dict() for c in update.contents], "finish": str(reason) if reason else ""})
                    yield update
        except BackendError as failure:
            error = {"message": failure.message, "remedy": failure.remedy, "cause": failure.cause, "partial": failure.partial}
            raise
        finally:
            usage, truncated = self.recorder.usage.pop(_dispatch(), (None, False))
            row = {"updates": updates, "error": error, "usage": usage.model_dump() if usage else None, "truncated": truncated}
            self.recorder.write("model", key, row)

    async def close(self) -> None:
        """Close the inner backend."""
        await self.inner.close()


class ReplayingFactory:
    """A backend that answers from a record."""

    def __init__(self, replayer: Replayer, hooks: Hooks) -> None:
        self.replayer, self.hooks = replayer, hooks
        self.name, self.model = str(replayer.facts.get("backend", "")), str(replayer.facts.get("model", ""))

    def client(self, role: Role, *, max_iterations: int) -> Any:
        """A client that answers from the record."""
        from deepdelve.engine.backends.builtin.client import BuiltinClient

        client: Any = BuiltinClient(role, max_iterations=max_iterations)

        async def replayed(messages: Sequence[Message], options: Mapping[str, Any]) -> AsyncIterator[ChatResponseUpdate]:
            row = await self.replayer.answer("model", model_key(role, messages, options), f"a model call of {role}")
            for update in row["updates"]:
                contents = [Content.from_dict(c) for c in update["contents"]]
                yield ChatResponseUpdate(contents=contents, role="assistant", model=self.model, finish_reason=update["finish"] or None)
            if row["usage"]:
                self.hooks.on_usage(role, Usage.model_validate(row["usage"]), bool(row["truncated"]))
            if row["error"]:
                failed = row["error"]
                raise BackendError(failed["message"], failed["remedy"], cause=failed["cause"], retry_after=0, partial=failed["partial"])

        def answer(*, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any) -> Any:
            del stream, kwargs
            return client._build_response_stream(replayed(messages, options))

        client._inner_get_response = answer
        return client

    async def close(self) -> None:
        """Nothing to let go of."""


class RecordingSearch:
    """A search backend whose every answer is recorded."""

    def __init__(self, inner: SearchBackend, recorder: Recorder) -> None:
        self.inner, self.recorder, self.name = inner, recorder, inner.name

    async def search(self, query: SearchQuery) -> SearchResponse:
        """Search, and write the answer down."""
        response = await self.inner.search(query)
        row = {**asdict(response), "hits": [hit.model_dump() for hit in response.hits]}
        self.recorder.write("search", _search_key(query), row)
        return response

    async def close(self) -> None:
        """Close the inner backend."""
        await self.inner.close()


@dataclass
class ReplayingSearch:
    """A search backend that answers from a record."""

    replayer: Replayer
    name: str

    async def search(self, query: SearchQuery) -> SearchResponse:
        """The recorded answer."""
        row = await self.replayer.answer("search", _search_key(query), f"the search {query.text!r}")
        hits = tuple(Hit.model_validate(hit) for hit in row["hits"])
        return SearchResponse(hits, row["outcome"], row["detail"], row["retry_after"], tuple(row.get("asked", ())))

    async def close(self) -> None:
        """Nothing to let go of."""


@dataclass
class RecordingFetcher:
    """A fetcher whose every answer is recorded, failures included."""

    inner: Fetcher
    recorder: Recorder

    async def fetch(self, url: str) -> Page:
        """Fetch, and write the answer down."""
        key = key_of("fetch", url)
        try:
            page = await self.inner.fetch(url)
        except FetchError as error:
            failed = {"message": error.message, "remedy": error.remedy, "cause": error.cause, "status": error.status}
            self.recorder.write("fetch", key, {"url": url, "error": failed})
            raise
        original = base64.b64encode(page.original).decode() if page.original is not None else None
        self.recorder.write("fetch", key, {"url": url, "page": {**asdict(page), "original": original}})
        return page

    async def close(self) -> None:
        """Close the inner fetcher."""
        await self.inner.close()


@dataclass
class ReplayingFetcher:
    """A fetcher that answers from a record."""

    replayer: Replayer

    async def fetch(self, url: str) -> Page:
        """The recorded page.

        Raises:
            FetchError: fetching it failed when it was recorded.
        """
        row = await self.replayer.answer("fetch", key_of("fetch", url), f"the page {url}")
        if "error" in row:
            failed = row["error"]
            raise FetchError(failed["message"], failed["remedy"], cause=failed["cause"], status=failed["status"])
        page = dict(cast("dict[str, Any]", row["page"]))
        original = base64.b64decode(page["original"]) if page["original"] is not None else None
        values: dict[str, Any] = {**page, "original": original, "links": tuple(page["links"])}
        return Page(**values)

    async def close(self) -> None:
        """Nothing to let go of."""


def recording_hooks(hooks: Hooks, recorder: Recorder) -> Hooks:
    """The hooks, with what each call cost noted for the record on its way through."""
    told = hooks.on_usage

    def on_usage(role: Role, usage: Usage, truncated: bool) -> None:
        recorder.usage[_dispatch()] = (usage, truncated)
        told(role, usage, truncated)

    return replace(hooks, on_usage=on_usage)


def _search_key(query: SearchQuery) -> str:
    return key_of("search", query.text, query.limit, query.profile, query.language, sorted(query.exclude))


def _dispatch() -> str:
    try:
        return current_scope().dispatch.id
    except LookupError:
        return ""


def check_same(original: Path, again: Path) -> list[str]:
    """The artifacts that differ between two run folders; empty where they are the same to the byte.

    Raises:
        DeepDelveError: a file cannot be read.
    """
    names = ("final_report.md", "final_report.claims.json", "findings.md", "references.bib")
    try:
        return [name for name in names if _bytes(original / name) != _bytes(again / name)]
    except OSError as error:
        raise DeepDelveError(f"A file of the runs cannot be read ({error.strerror}).", "Check the folders' permissions.") from error


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""

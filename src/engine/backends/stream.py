"""One model call, watched: time limits, thinking taken out, tool calls mended, and every bad end named.

A provider's stream of updates goes in. Text that may be shown comes out as it arrives; tool calls come out whole, at the
end. A reply that is cut, empty, over-long, repeating or late is a ``BackendError``, never an answer.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from agent_framework import ChatResponseUpdate, Content, UsageDetails

from deepdelve.config import RunSettings
from deepdelve.core.errors import BackendError
from deepdelve.core.records import Role
from deepdelve.engine.backends.base import FIRST_TOKEN_OPTION, Hooks, reply_limit
from deepdelve.engine.backends.characters import PieceJoiner, whole_text, whole_value
from deepdelve.engine.backends.failures import Server, cut, failure, timed_out
from deepdelve.engine.backends.repair import RepairedCall, ToolSpec, clean_name, repair_call
from deepdelve.engine.backends.textfilter import TextFilter
from deepdelve.engine.backends.usage import TokenMeter, usage_of

_BURST_SECONDS = 0.01
_CHECK_EVERY = 1_000
_TAIL = 2_400
_PROBE = 60
_MAX_PERIOD = 800
_HOLD_UNKNOWN = 1_500
_HOLD_ALL = 10**9
_BROKEN_CALL = 'a tool call written as text could not be read; it must be one JSON object, {"name": …, "arguments": {…}}.'


@dataclass
class Traits:
    """What has been learned of a model by using it.

    Attributes:
        meter: its characters per token.
        lone_close: whether it ends its thinking with a tag that it never opened; None until its first reply.
        window: its context in tokens as served, if known.
    """

    meter: TokenMeter = field(default_factory=TokenMeter)
    lone_close: bool | None = None
    window: int | None = None

    @property
    def hold(self) -> int:
        """Characters of a reply to keep back until it is known that they are no thinking."""
        return _HOLD_ALL if self.lone_close else _HOLD_UNKNOWN if self.lone_close is None else 0


@dataclass
class Link:
    """What all clients of one model on one server share.

    Attributes:
        idle_seconds: longest silence within a reply.
        first_token_seconds: longest wait for its first token where no deadline is known.
        max_reply_chars: text beyond this is not read; the reply is used as far as it goes, and that is said.
    """

    server: Server
    hooks: Hooks
    idle_seconds: float
    first_token_seconds: float
    max_reply_chars: int
    traits: Traits = field(default_factory=Traits)

    @classmethod
    def of(cls, server: Server, hooks: Hooks, run: RunSettings) -> "Link":
        """A link with the limits that the settings name."""
        return cls(server, hooks, run.idle_seconds, run.dispatch_minutes * 60, reply_limit(run.num_ctx))


class RepeatGuard:
    """Notices a model that says the same thing for ever. Cost is linear: the tail is looked at now and then."""

    def __init__(self) -> None:
        self._tail = ""
        self._new: list[str] = []
        self._since = 0

    def feed(self, text: str) -> bool:
        """Take a piece; True once the last 2,400 characters are one passage over and over."""
        self._new.append(text)
        self._since += len(text)
        if self._since < _CHECK_EVERY:
            return False
        self._tail = (self._tail + "".join(self._new))[-_TAIL:]
        self._new.clear()
        self._since = 0
        if len(self._tail) < _TAIL:
            return False
        at = self._tail.rfind(self._tail[-_PROBE:], 0, _TAIL - 1)
        period = _TAIL - _PROBE - at
        return at >= 0 and period <= _MAX_PERIOD and self._tail[period:] == self._tail[:-period]


class CallParts:
    """Puts tool calls together whose pieces arrive interleaved."""

    def __init__(self) -> None:
        self._calls: dict[str, list[Content]] = {}
        self._last = ""
        self.chars = 0

    def add(self, content: Content) -> None:
        """Take a piece; one without an id belongs to the call before it."""
        key = content.id or content.call_id or ("" if content.name else self._last) or f"call {len(self._calls)}"
        if content.call_id and content.id is None and content.name and key in self._calls and isinstance(content.arguments, Mapping):
            key = f"{key} {len(self._calls)}"
        self._calls.setdefault(key, []).append(content)
        self._last = key
        self.chars += len(content.arguments) if isinstance(content.arguments, str) else len(str(content.arguments or ""))

    def whole(self) -> list[tuple[str, str, object]]:
        """Id, name and arguments of each call, in order of first piece."""
        return [self._joined(parts) for parts in self._calls.values()]

    def _joined(self, parts: list[Content]) -> tuple[str, str, object]:
        call_id = next((part.call_id for part in parts if part.call_id), "")
        name = next((part.name for part in parts if part.name), "")
        mapped = next((part.arguments for part in reversed(parts) if isinstance(part.arguments, Mapping)), None)
        text = "".join(part.arguments for part in parts if isinstance(part.arguments, str))
        return call_id, name, dict(mapped) if mapped is not None else text


class Turn:
    """One model call of a role.

    Attributes:
        calls: the calls to carry out, once the reply has ended.
        may_call: whether tools may be called at all; if not, calls are dropped.
        problem: why calls of this reply cannot be carried out, or an empty string.
        usage: tokens as the server counts them.
        said: the text shown so far.
    """

    def __init__(self, role: Role, link: Link, tools: Sequence[ToolSpec], options: Mapping[str, Any], sent_chars: int) -> None:
        self.role: Role = role
        self.link, self.tools = link, tools
        self.calls: list[Content] = []
        self.problem = ""
        self.may_call = True
        self.usage: UsageDetails | None = None
        self.message_id = f"msg-{uuid.uuid4().hex}"
        self._first_token = options.get(FIRST_TOKEN_OPTION)
        self._sent = sent_chars
        self._started = time.monotonic()
        self._begun = False
        self._finish: str | None = None
        self._capped = self._back = False
        self._parts = CallParts()
        self._joiner = PieceJoiner()
        self._repeats = RepeatGuard()
        self._said: list[str] = []
        self._batch: list[str] = []
        self._emitted = 0.0
        self._text_chars = self._read_chars = 0
        self._filter = TextFilter(tools, hold=link.traits.hold, on_thought=self._thought)

    @property
    def said(self) -> str:
        """The text shown so far."""
        return "".join(self._said)

    @property
    def partial(self) -> str:
        """The text so far, shown or not."""
        return self.said + self._filter.held

    @property
    def wrote(self) -> str:
        """What the model wrote, calls included, for showing it what was wrong."""
        calls = [whole_text(f"{name}({str(args)[:400]})") for _, name, args in self._parts.whole()] + [
            text[:400] for text in self._filter.broken
        ]
        calls += [f"{call.name}({str(call.args)[:400]})" for call in self._filter.calls]
        return "\n".join([self.said, *calls]).strip() or "(nothing)"

    async def updates(self, source: AsyncGenerator[ChatResponseUpdate]) -> AsyncIterator[ChatResponseUpdate]:
        """The text of the reply, piece by piece; afterwards ``calls`` and ``problem`` are set.

        Raises:
            BackendError: the call failed, or its reply is none; ``partial`` holds the text until then.
        """
        try:
            async with aclosing(source):
                update = await self._next(source)
                while update is not None and not self._capped:
                    self._take(update)
                    if self._due():
                        yield self._emit()
                    update = await self._next(source)
            self._end()
        except BackendError as error:
            error.partial = error.partial or self.partial
            raise
        except Exception as error:
            # Client libraries throw anything from five families of errors; all become one.
            raise failure(error, self.link.server, partial=self.partial) from error
        finally:
            self._report()
        if self._batch or self._back:
            yield self._emit()

    def last_update(self, usage: UsageDetails | None) -> ChatResponseUpdate:
        """The calls, the usage and the reason of the end."""
        contents = list(self.calls)
        if usage:
            contents.append(Content.from_usage(usage, merge_mode="replace"))
        return self._update(contents, finish="tool_calls" if self.calls else "stop")

    def _update(self, contents: list[Content], finish: str | None = None) -> ChatResponseUpdate:
        model = self.link.server.model
        return ChatResponseUpdate(contents=contents, role="assistant", model=model, message_id=self.message_id, finish_reason=finish)  # pyright: ignore[reportArgumentType]  # a literal union widened by the framework's own aliases

    def _due(self) -> bool:
        """Whether text is to be passed on now; pieces that come in one burst go together, which saves most of their cost."""
        if not self._batch and not self._back:
            return False
        return self._back or time.monotonic() - self._emitted >= _BURST_SECONDS

    def _emit(self) -> ChatResponseUpdate:
        text = "".join(self._batch)
        update = self._update([Content.from_text(text, merge_mode="append")] if text else [])
        update.merge_mode = "replace" if self._back else None
        self._batch.clear()
        self._back = False
        self._emitted = time.monotonic()
        return update

    async def _next(self, source: AsyncGenerator[ChatResponseUpdate]) -> ChatResponseUpdate | None:
        limit = self._limit()
        try:
            async with asyncio.timeout(limit):
                return await anext(source)
        except StopAsyncIteration:
            return None
        except TimeoutError:
            raise timed_out(self.link.server, limit) from None

    def _limit(self) -> float:
        """Seconds to wait for the next piece."""
        left = self.link.hooks.time_left()
        if self._begun:
            limit = self.link.idle_seconds
        elif isinstance(self._first_token, (int, float)):
            limit = float(self._first_token)
        else:
            limit = left if left is not None else self.link.first_token_seconds
        return max(0.0, limit if left is None else min(limit, left))

    def _take(self, update: ChatResponseUpdate) -> None:
        """Sort a piece of the reply into what may be shown, calls, thinking and counts."""
        self._finish = update.finish_reason or self._finish
        for content in update.contents:
            if content.type == "text" and content.text:
                text = self._joiner.feed(content.text)
                # Shown first: a model that ends in repeating itself has said something before.
                self._show(self._filter.feed(text))
                self._watch(text)
                self._cap(len(text))
            elif content.type == "function_call":
                self._parts.add(content)
                self._watch(content.arguments if isinstance(content.arguments, str) else "{}")
            elif content.type == "text_reasoning" and content.text:
                text = whole_text(content.text)
                self._watch(text)
                self._thought(text)
            elif content.type == "usage":
                self.usage = content.usage_details

    def _show(self, text: str) -> None:
        if self._filter.retract:
            # What was shown was thinking: the next update replaces it, which the framework carries out.
            self._filter.retract = False
            self._back = True
            self._said.clear()
            self._batch.clear()
        if text:
            self._said.append(text)
            self._batch.append(text)

    def _cap(self, chars: int) -> None:
        self._text_chars += chars
        if self._text_chars >= self.link.max_reply_chars and not self._capped:
            self._capped = True
            cut_at = f"A reply of the {self.role} was cut at {self._text_chars:,} characters; what came until then is used."
            self.link.hooks.on_notice(self.role, cut_at)

    def _watch(self, text: str) -> None:
        self._begun = True
        self._read_chars += len(text)
        if self._repeats.feed(text):
            raise BackendError(
                f"{self.link.server.model} repeats itself without end.", "Try again; if it goes on, choose another model.", cause="repeat"
            )
        if self._parts.chars > 2 * self.link.max_reply_chars:
            raise BackendError(
                f"{self.link.server.model} wrote a tool call without end.",
                "Try again; if it goes on, choose another model.",
                cause="length",
            )

    def _thought(self, text: str) -> None:
        self.link.hooks.on_thinking(self.role, text)

    def _end(self) -> None:
        """Judge the reply as a whole."""
        self._show(self._filter.flush())
        traits = self.link.traits
        if self._filter.lone_close or (self.said and traits.lone_close is None):
            traits.lone_close = self._filter.lone_close
        server = self.link.server
        if self._finish is None and not self._capped:
            raise cut(server)
        if self._finish == "length":
            raise BackendError(
                f"{server.model} reached its output limit in the middle of a reply.",
                "Ask for less at once, or raise settings.num_ctx.",
                cause="length",
            )
        if self._finish == "content_filter":
            raise BackendError(
                f"The provider's filter refused the reply of {server.model}.",
                "Rephrase the question, or choose another model.",
                cause="bad_request",
            )
        called = self._resolve()
        if not called and not self.said.strip():
            raise BackendError(f"{server.model} gave an empty reply.", "Try again; if it goes on, choose another model.", cause="empty")

    def _resolve(self) -> bool:
        """Mend the calls of the reply; False if it has none that count."""
        written = [*self._parts.whole(), *(("", call.name, call.args) for call in self._filter.calls)]
        if not self.tools or not self.may_call:
            return False
        for call_id, name, args in written:
            call = repair_call(name, args, self.tools)
            if isinstance(call, RepairedCall):
                self.calls.append(
                    Content.from_function_call(call_id or f"call_{uuid.uuid4().hex[:12]}", call.name, arguments=whole_value(call.arguments))
                )
            else:
                self.problem = self.problem or whole_text(call.reason)
                self.link.hooks.on_refused(self.role, clean_name(name)[:80], whole_text(call.reason))
        if self._filter.broken and not self.problem:
            self.problem = _BROKEN_CALL
        return bool(self.calls or self.problem)

    def _report(self) -> None:
        meter = self.link.traits.meter
        seconds = time.monotonic() - self._started
        said = self._read_chars + self._parts.chars
        usage = usage_of(self.usage, meter, model=self.link.server.model, sent=self._sent, said=said, seconds=seconds)
        evaluated = None if usage.estimated else usage.tokens_in
        self.link.hooks.on_usage(self.role, usage, meter.judge(self._sent, evaluated, self.link.traits.window))

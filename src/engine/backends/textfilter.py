"""What a model's text becomes before anyone sees it: no thinking, no channel tokens, no printed tool calls.

Works on pieces as they are streamed, and a text gives the same result however it is cut. Cost is linear: text without an
opening bracket passes at once; what may begin a mark is held back until it is known.
"""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from deepdelve.engine.backends.lenient import Brackets
from deepdelve.engine.backends.repair import ToolSpec
from deepdelve.engine.backends.textcalls import TextCall, parse_calls, python_call

MAX_CAPTURE = 64_000
_PIECE = 1_024
_THINK_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "seed:think", "analysis", "scratchpad")
_OPEN_THINK = {f"<{name}>": f"</{name}>" for name in _THINK_NAMES} | {
    "[THINK]": "[/THINK]",
    "<|channel>thought": "<channel|>",
}
_CLOSE_THINK = frozenset(_OPEN_THINK.values())
_OPEN_CALL = {
    "<tool_call>": "</tool_call>",
    "<tool_calls>": "</tool_calls>",
    "<toolcall>": "</toolcall>",
    "<function_call>": "</function_call>",
    "<function_calls>": "</function_calls>",
    "<function=": "</function>",
    "<invoke name=": "</invoke>",
    "<minimax:tool_call>": "</minimax:tool_call>",
    "<|tool_call>": "<tool_call|>",
    "[TOOL_CALLS]": "",
    "[TOOL_CALL]": "[/TOOL_CALL]",
    "[TOOL_REQUEST]": "[END_TOOL_REQUEST]",
}
_STRAY = frozenset({"</tool_call>", "</tool_calls>", "</toolcall>", "</function_call>", "</function_calls>", "</function>", "</invoke>"})
_LITERALS = (*_OPEN_THINK, *_CLOSE_THINK, *_OPEN_CALL, *_STRAY)
_CANONICAL = {word.lower(): word for word in _LITERALS}
_LITERAL = re.compile("|".join(re.escape(word) for word in sorted(_LITERALS, key=len, reverse=True)), re.IGNORECASE)
_PREFIXES = frozenset(word[:size] for word in _CANONICAL for size in range(1, len(word)))
_LONGEST = max(len(word) for word in _LITERALS)
_FENCES = frozenset({"", "json", "tool_call", "tool_calls", "tool_code", "tool", "python", "xml"})
_FENCE_LINE = 24
_TOKEN_CHARS = 60
_ACTION = "Action:"
_LINE_HEAD = 120
# The end of a capture that goes on to the end of the reply.
_NEVER = "\0"
_MARKS = re.compile(r"[<\[]")
_MARKS_TOOLS = re.compile(r"[<\[{`\n]")
_JSON_START = re.compile(r"(?:\[\s{0,40})?\{\s{0,40}[\"'}]")
_JSON_MAYBE = re.compile(r"(?:\[\s{0,40})?(?:\{\s{0,40})?\Z")
# Channels of models that answer in several; everything but these two is thinking.
_MESSAGE = "<|message|>"
_HEADERS = frozenset({"start", "im_start", "start_header_id"})
_HEADER_CHARS = 300
_WORD = re.compile(r"\s{0,4}\w{0,40}")
_ROLE = re.compile(r"\s{0,4}(?:assistant|user|system|tool)?\s{0,4}")
_VISIBLE_CHANNELS = ("final", "assistant", "response")


@dataclass
class _Capture:
    """A piece of text that may be a tool call: how it ends, and what becomes of it if it is none."""

    end: str
    sure: bool
    brackets: Brackets | None = None
    scanned: int = 0


@dataclass
class TextFilter:
    """Filters one reply.

    Attributes:
        tools: the tools on offer; with none, printed calls in tags are still removed, and nothing else is looked for.
        hold: characters of text to keep back, since they may turn out to be thinking that only a closing tag reveals.
        on_thought: gets the thinking, in pieces.
        calls: tool calls found so far.
        broken: the text of tagged calls that could not be read.
        lone_close: whether a closing tag came without its opening.
        retract: whether what was shown so far has turned out to be thinking; whoever shows it takes it back and resets this.
    """

    tools: Sequence[ToolSpec] = ()
    hold: int = 0
    on_thought: Callable[[str], None] | None = None
    calls: list[TextCall] = field(default_factory=list[TextCall])
    broken: list[str] = field(default_factory=list[str])
    lone_close: bool = False
    retract: bool = False
    _buffer: str = ""
    _at: int = 0
    _thinking: str = ""
    _capture: _Capture | None = None
    _held: list[str] = field(default_factory=list[str])
    _held_chars: int = 0
    _released: bool = False
    _started: bool = False
    _line_start: bool = True
    _to: str = ""

    def __post_init__(self) -> None:
        self._words = (_ACTION, *(f"{tool.name}(" for tool in self.tools))
        self._longest_word = max(len(word) for word in self._words)
        self._marks = _MARKS_TOOLS if self.tools else _MARKS

    def feed(self, piece: str) -> str:
        """Take a piece of the reply and give what may be shown by now."""
        plain = not self._buffer and not self._thinking and not self._capture and self._started
        if plain and not (self._line_start and self.tools) and not self._marks.search(piece):
            return self._shown(piece)
        shown: list[str] = []
        for at in range(0, len(piece), _PIECE):
            self._buffer += piece[at : at + _PIECE]
            shown.append(self._shown("".join(self._drain(last=False))))
        return "".join(shown)

    def flush(self) -> str:
        """End the reply and give what is left to show."""
        shown = self._shown("".join(self._drain(last=True)))
        return self._release() + shown

    @property
    def held(self) -> str:
        """Text that is kept back so far."""
        return "".join(self._held)

    def _shown(self, text: str) -> str:
        if not self._started:
            text = text.lstrip()
            self._started = bool(text)
        if not self.hold or not text:
            self._released = self._released or bool(text)
            return text
        self._held.append(text)
        self._held_chars += len(text)
        return self._release() if self._held_chars > self.hold else ""

    def _release(self) -> str:
        held = self.held
        self.hold = self._held_chars = 0
        self._held.clear()
        self._released = self._released or bool(held)
        return held

    def _drain(self, *, last: bool) -> list[str]:
        out: list[str] = []
        going = True
        while going and self._buffer:
            if self._capture:
                going = self._in_capture(out, last)
            elif self._thinking:
                going = self._in_thinking(last)
            else:
                going = self._in_text(out, last)
        return out

    def _take(self, end: int) -> str:
        taken, self._buffer, self._at = self._buffer[:end], self._buffer[end:], 0
        return taken

    def _in_text(self, out: list[str], last: bool) -> bool:
        """Pass text up to the next mark. False when more of the reply is needed."""
        if self._line_start and self.tools:
            decided = self._at_line_start(last)
            if decided is None:
                return False
            if decided:
                return True
        found = self._marks.search(self._buffer, self._at)
        if not found:
            out.append(self._take(len(self._buffer)))
            return False
        at = found.start()
        if found.group() == "\n":
            out.append(self._take(at + 1))
            self._line_start = True
            return True
        opened = self._open(at, out, last)
        if opened is None:
            out.append(self._take(at))
            return False
        if not opened:
            self._at = at + 1
        return True

    def _at_line_start(self, last: bool) -> bool | None:
        """Whether the line begins as a written-out call; None when that is not known yet."""
        head = self._buffer[:_LINE_HEAD].lstrip(" ")
        if not last and len(head) < self._longest_word and any(word.startswith(head) for word in self._words):
            return None
        self._line_start = False
        if not head.startswith(self._words):
            return False
        action = head.startswith(_ACTION)
        # What follows an action in the same reply is the model's guess at what the tool would say.
        self._capture = _Capture(_NEVER, sure=action, brackets=None if action else Brackets())
        return True

    def _open(self, at: int, out: list[str], last: bool) -> bool | None:
        """What begins at the mark: True if something was begun or removed, False if it is plain text, None if unknown."""
        word = _LITERAL.match(self._buffer, at)
        if word:
            self._begin(at, _CANONICAL[word.group().lower()], out)
            return True
        if not last and len(self._buffer) - at < _LONGEST and self._buffer[at:].lower() in _PREFIXES:
            return None
        char = self._buffer[at]
        if char == "<" and self._buffer[at + 1 : at + 2] in ("|", "｜"):
            return self._token(at, out, last)
        if char == "`" and self.tools:
            return self._fence(at, out, last)
        if char in "{[" and self.tools:
            return self._json(at, out, last)
        return False

    def _begin(self, at: int, word: str, out: list[str]) -> None:
        if word in _OPEN_THINK:
            out.append(self._take(at))
            self._take(len(word))
            self._thinking = _OPEN_THINK[word]
        elif word in _CLOSE_THINK:
            out.append(self._take(at))
            self._take(len(word))
            self._close_alone(out)
        elif word in _OPEN_CALL:
            out.append(self._take(at))
            self._capture = _Capture(_OPEN_CALL[word], sure=True)
        else:
            out.append(self._take(at))
            self._take(len(word))

    def _close_alone(self, out: list[str]) -> None:
        """A closing tag without its opening: all that came before was thinking."""
        self.lone_close = True
        self.retract = self._released
        self._think("".join([*self._held, *out]))
        out.clear()
        self._held.clear()
        self.calls.clear()
        self.hold = self._held_chars = 0
        self._released = self._started = False

    def _token(self, at: int, out: list[str], last: bool) -> bool | None:
        """A special token such as ``<|im_end|>``: removed, and obeyed where it opens a channel or a call."""
        close = min((end for mark in ("|>", "｜>") if (end := self._buffer.find(mark, at + 2, at + _TOKEN_CHARS + 4)) >= 0), default=-1)
        if close < 0:
            return None if not last and len(self._buffer) - at < _TOKEN_CHARS + 4 else False
        name = self._buffer[at + 2 : close].lower().replace("▁", "_")
        if "call" in name and "tool" in name and "end" not in name:
            out.append(self._take(at))
            self._capture = _Capture(_NEVER, sure=True)
            return True
        if name == "channel":
            return self._channel(at, close + 2, out, last)
        if name in _HEADERS:
            return self._header(at, close + 2, out, last)
        out.append(self._take(at))
        self._take(close + 2 - at)
        if name == "python_tag":
            self._capture = _Capture(_NEVER, sure=True)
        return True

    def _header(self, at: int, head: int, out: list[str], last: bool) -> bool | None:
        """``<|start|>ROLE to=tool``: removed; whom it addresses is remembered for the channel that follows."""
        end = self._buffer.find("<|", head, head + _HEADER_CHARS)
        unknown = len(self._buffer) - end < len(_MESSAGE) if end >= 0 else len(self._buffer) - head < _HEADER_CHARS
        if unknown and not last:
            return None
        role = _ROLE.match(self._buffer, head)
        if end < 0 or not self._buffer.startswith(("<|channel|>", _MESSAGE), end):
            end = role.end() if role else head
        self._to = _addressee(self._buffer[head:end])
        out.append(self._take(at))
        self._take(end - at)
        return True

    def _channel(self, at: int, head: int, out: list[str], last: bool) -> bool | None:
        """``<|channel|>NAME …<|message|>``: thinking, an answer, or (``to=tool``) a call."""
        message = self._buffer.find(_MESSAGE, head, head + _HEADER_CHARS)
        if message < 0 and not last and len(self._buffer) - head < _HEADER_CHARS:
            return None
        word = _WORD.match(self._buffer, head)
        end = message + len(_MESSAGE) if message >= 0 else word.end() if word else head
        header = self._buffer[head : message if message >= 0 else end]
        to = _addressee(header) or self._to
        self._to = ""
        out.append(self._take(at))
        self._take(end - at)
        if to:
            self._buffer = f"{to}\n{self._buffer}"
            self._capture = _Capture("<|call|>", sure=True)
        elif not header.strip().lower().startswith(_VISIBLE_CHANNELS):
            self._thinking = "<|"
        return True

    def _fence(self, at: int, out: list[str], last: bool) -> bool | None:
        rest = self._buffer[at : at + 3 + _FENCE_LINE]
        if not last and "```".startswith(rest[:3]) and len(rest) < 3:
            return None
        if not rest.startswith("```"):
            return False
        line, newline, _ = rest[3:].partition("\n")
        if not newline and not last and len(rest) < 3 + _FENCE_LINE:
            return None
        if line.strip().lower() not in _FENCES or (not newline and not last):
            self._at = at + 2
            out.append(self._take(at + 3))
            return True
        out.append(self._take(at))
        self._capture = _Capture("```", sure=line.strip().lower().startswith("tool"), scanned=3)
        return True

    def _json(self, at: int, out: list[str], last: bool) -> bool | None:
        rest = self._buffer[at : at + 90]
        if not _JSON_START.match(rest):
            return None if not last and _JSON_MAYBE.match(rest) else False
        out.append(self._take(at))
        self._capture = _Capture("", sure=False, brackets=Brackets())
        return True

    def _in_thinking(self, last: bool) -> bool:
        """Swallow thinking up to its end. False when more of the reply is needed."""
        end = _find(self._thinking, self._buffer, self._at)
        if end >= 0:
            self._think(self._take(end))
            if self._thinking != "<|":
                self._take(len(self._thinking))
            self._thinking = ""
            return True
        keep = 0 if last else min(len(self._thinking) - 1, len(self._buffer))
        self._think(self._take(len(self._buffer) - keep))
        return False

    def _think(self, text: str) -> None:
        if text and self.on_thought:
            self.on_thought(text)

    def _in_capture(self, out: list[str], last: bool) -> bool:
        """Wait for the end of a possible call, then read it or let it go. False when more of the reply is needed."""
        capture = self._capture
        assert capture is not None
        end = self._capture_end(capture)
        if end < 0 and not last and len(self._buffer) < MAX_CAPTURE:
            return False
        body = self._take(end if end >= 0 else len(self._buffer))
        self._capture = None
        calls = python_call(body) if capture.brackets and not body.lstrip().startswith(("{", "[")) else self._parsed(body, capture)
        if calls:
            self.calls += calls
        elif capture.sure:
            self.broken.append(body)
        else:
            out.append(body)
        return bool(self._buffer)

    def _parsed(self, body: str, capture: _Capture) -> list[TextCall]:
        inside = body[3:].partition("\n")[2].removesuffix("```") if capture.end == "```" else body
        return parse_calls(inside, self.tools, sure=capture.sure)

    def _capture_end(self, capture: _Capture) -> int:
        """Where the capture ends in the buffer, or -1; what was looked at is not looked at again."""
        if capture.brackets:
            end = capture.brackets.feed(self._buffer, capture.scanned)
            capture.scanned = len(self._buffer)
            return end
        if not capture.end:
            return -1
        found = _find(capture.end, self._buffer, capture.scanned)
        capture.scanned = max(capture.scanned, len(self._buffer) - len(capture.end) + 1)
        return found + len(capture.end) if found >= 0 else -1


@functools.cache
def _pattern(mark: str) -> re.Pattern[str]:
    return re.compile(re.escape(mark), re.IGNORECASE)


def _find(mark: str, text: str, at: int) -> int:
    """Where a mark stands, in capitals or not; -1 if nowhere."""
    found = _pattern(mark).search(text, at)
    return found.start() if found else -1


def _addressee(header: str) -> str:
    """The tool that a message header addresses (``to=functions.name``), or an empty string."""
    words = header.partition("to=")[2].split("<", 1)[0].split()
    return words[0] if words else ""


def clean(text: str, tools: Sequence[ToolSpec] = ()) -> str:
    """A whole text without thinking, channel tokens and printed calls, such as a model's text that came from elsewhere."""
    whole = TextFilter(tools, hold=len(text) + 1)
    return whole.feed(text) + whole.flush()

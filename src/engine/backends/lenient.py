"""JSON as small models write it: fences, comments, trailing commas, single quotes, broken escapes, a missing last bracket.

One pass over the text rewrites it into strict JSON; a string that never ends is not guessed at. Cost is linear.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, cast

MAX_CHARS = 400_000
_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null", "NaN": "null"}
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_HEX = frozenset("0123456789abcdefABCDEF")
_ESCAPES = frozenset('"\\/bfnrt')
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_PLAIN = re.compile(r"""[^"'“‘{}\[\],:/#A-Za-z_$]+""")
# What may follow a string; a quote before anything else was meant literally.
_ENDS = re.compile(r"\s*(?:[,:}\]]|//|#|$)")
_CLOSERS = {"{": "}", "[": "]"}


def loads(text: str) -> Any:
    """The value that the text writes.

    Raises:
        ValueError: says what is wrong, in words that a model can act on.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(f"it is longer than {MAX_CHARS} characters")
    body = _unfenced(text.strip())
    try:
        return json.loads(body, strict=False)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:
        pass
    try:
        return json.loads(_Rewriter(body).run(), strict=False)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON ({error.msg} at character {error.pos})") from None


def load_object(text: str) -> dict[str, Any]:
    """As ``loads``, for an object; JSON inside a JSON string is opened once.

    Raises:
        ValueError: the text writes no object.
    """
    value = loads(text)
    if isinstance(value, str):
        value = loads(value)
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return cast("dict[str, Any]", value)


def first_value(text: str) -> tuple[Any, int, int] | None:
    """The first object or array in the text, with its start and end, or None."""
    start = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if start < 0:
        return None
    end = Brackets().feed(text, start)
    try:
        return loads(text[start : end if end >= 0 else len(text)]), start, end if end >= 0 else len(text)
    except ValueError:
        return None


@dataclass
class Brackets:
    """Finds where a bracketed value ends, in pieces; brackets inside double-quoted strings do not count."""

    depth: int = 0
    in_string: bool = False
    escaped: bool = False

    def feed(self, text: str, at: int) -> int:
        """Go on from ``at``; the index just after the value's end, or -1 if it goes on."""
        at += self.escaped and at < len(text)
        pattern = _IN_STRING if self.in_string else _OUTSIDE
        found = pattern.search(text, at)
        while found:
            at = found.end()
            mark = found.group()
            if mark == '"':
                self.in_string = not self.in_string
            elif not self.in_string:
                self.depth += 1 if mark in "{[(" else -1
                if self.depth <= 0:
                    return at
            pattern = _IN_STRING if self.in_string else _OUTSIDE
            found = pattern.search(text, at)
        self.escaped = self.in_string and "\\" in text[at:]
        return -1


_OUTSIDE = re.compile(r'["{}\[\]()]')
_IN_STRING = re.compile(r'\\.|"', re.DOTALL)


def _unfenced(text: str) -> str:
    if not text.startswith("```"):
        return text
    _, _, rest = text.partition("\n")
    return (rest or text.strip("`")).rstrip().removesuffix("```").strip()


@dataclass
class _Rewriter:
    text: str
    at: int = 0
    out: list[str] = field(default_factory=list[str])
    open: list[str] = field(default_factory=list[str])

    def run(self) -> str:
        done = False
        while self.at < len(self.text) and not done:
            self._step()
            done = bool(self.out) and not self.open and self.out[-1] in "}]"
        for bracket in reversed(self.open):
            self._drop_comma()
            self.out.append(_CLOSERS[bracket])
        return "".join(self.out)

    def _step(self) -> None:
        char = self.text[self.at]
        if char in _QUOTES:
            self._string(_QUOTES[char])
        elif char in "{[":
            self.open.append(char)
            self._put(char)
        elif char in "}]":
            self._close(char)
        elif char == "#" or self.text.startswith("//", self.at):
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif self.text.startswith("/*", self.at):
            end = self.text.find("*/", self.at)
            self.at = len(self.text) if end < 0 else end + 2
        elif word := _WORD.match(self.text, self.at):
            self._word(word.group())
        elif plain := _PLAIN.match(self.text, self.at):
            self._put(plain.group())
        else:
            self._put(char)

    def _put(self, piece: str) -> None:
        self.out.append(piece)
        self.at += len(piece)

    def _word(self, word: str) -> None:
        """A literal, an exponent of a number, or a key without quotes."""
        self.at += len(word)
        number = bool(self.out) and self.out[-1][-1:].isdigit()
        known = _WORDS.get(word, word)
        self.out.append(known if number or known in ("true", "false", "null") else json.dumps(word))

    def _close(self, char: str) -> None:
        self._drop_comma()
        self.at += 1
        # A closer of the wrong kind ends what stands between; a closer too many is dropped.
        opener = {v: k for k, v in _CLOSERS.items()}[char]
        if opener not in self.open:
            return
        bracket = ""
        while bracket != opener:
            bracket = self.open.pop()
            self.out.append(_CLOSERS[bracket])

    def _drop_comma(self) -> None:
        while self.out and not self.out[-1].strip():
            self.out.pop()
        if self.out and self.out[-1].rstrip().endswith(",") and not self.out[-1].startswith('"'):
            self.out[-1] = self.out[-1].rstrip()[:-1]

    def _string(self, closer: str) -> None:
        start = self.at + 1
        end = start
        backslash = False
        while end < len(self.text) and (backslash or self.text[end] != closer or not _ENDS.match(self.text, end + 1)):
            backslash = self.text[end] == "\\" and not backslash
            end += 1
        if end >= len(self.text):
            raise json.JSONDecodeError("a string does not end", self.text, start - 1)
        self.out.append('"' + _rewritten(self.text[start:end]) + '"')
        self.at = end + 1


def _rewritten(inner: str) -> str:
    """The inside of a string with only such escapes as JSON knows."""
    if "\\" not in inner:
        return inner.replace('"', '\\"')
    out: list[str] = []
    at = 0
    while at < len(inner):
        char = inner[at]
        following = inner[at + 1 : at + 2]
        if char == '"':
            out.append('\\"')
        elif char != "\\":
            out.append(char)
        elif following == "u" and len(inner) >= at + 6 and _HEX.issuperset(inner[at + 2 : at + 6]):
            out.append(inner[at : at + 6])
            at += 5
        elif following in _ESCAPES and following:
            out.append(char + following)
            at += 1
        elif following == "'":
            out.append("'")
            at += 1
        else:
            out.append("\\\\")
        at += 1
    return "".join(out)

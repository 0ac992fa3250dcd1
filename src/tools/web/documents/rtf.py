"""Rich Text Format: text, tables and properties; one linear pass over the control words."""

import re
from dataclasses import dataclass, field, replace

from deepdelve.tools.web.documents.extracted import Extracted, no_text, unreadable
from deepdelve.tools.web.documents.markdown import pipe_table, tidy
from deepdelve.tools.web.documents.plain import links_in

_TOKEN = re.compile(rb"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.I)
_SKIPPED = frozenset(
    b"fonttbl colortbl stylesheet info pict object header footer headerl headerr headerf footerl footerr footerf listtable template "
    b"operator listoverridetable rsidtbl generator themedata colorschememapping datastore latentstyles xmlnstbl fldinst bkmkstart "
    b"bkmkend filetbl revtbl nonshppict shppict".split()
)
_KEPT_STARRED = frozenset({b"shptxt", b"pntext"})
_SYMBOLS = {
    b"par": "\n\n", b"sect": "\n\n", b"page": "\n\n", b"line": "\n", b"tab": " ", b"emdash": "\u2014", b"endash": "\u2013",
    b"bullet": "\u2022", b"lquote": "\u2018", b"rquote": "\u2019", b"ldblquote": "\u201c", b"rdblquote": "\u201d", b"emspace": " ",
    b"enspace": " ", b"cell": "\x07", b"nestcell": "\x07", b"row": "\x08", b"nestrow": "\x08",
}  # fmt: skip
_ESCAPES = {b"~": " ", b"_": "-", b"-": "", b"\\": "\\", b"{": "{", b"}": "}", b"\n": "\n\n", b"\r": "\n\n"}
# Windows code pages of the font character sets that are not Western.
_FONT_PAGES = {128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5hkscs", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255",
               178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250"}  # fmt: skip
_DEPTH_LIMIT = 2_000
_TOKEN_LIMIT = 1_000_000


@dataclass
class _State:
    """What a group inherits from the one around it."""

    skipped: bool = False
    page: str = ""
    skip_bytes: int = 1
    destination: bytes = b""
    opened: bool = True


@dataclass
class _Output:
    parts: list[str] = field(default_factory=list[str])
    pending: bytearray = field(default_factory=bytearray)
    properties: dict[bytes, str] = field(default_factory=dict[bytes, str])
    fonts: dict[int, str] = field(default_factory=dict[int, str])
    font: int = 0
    to_skip: int = 0


def read_rtf(data: bytes) -> Extracted:
    """Read an RTF document.

    Raises:
        FetchError: ``unreadable`` or ``no_text``.
    """
    output = _Output()
    default = "cp1252"
    stack = [_State()]
    reason = ""
    for count, match in enumerate(_TOKEN.finditer(data)):
        if count >= _TOKEN_LIMIT:
            reason = "The document is very large; only its first part was read."
            break
        word, number, code, escape, brace, text = match.groups()
        state = stack[-1]
        if brace == b"{":
            if len(stack) > _DEPTH_LIMIT:
                raise unreadable("The RTF document nests its groups deeper than any document needs.")
            _flush(output, state, default)
            stack.append(_State(state.skipped, state.page, state.skip_bytes, state.destination))
        elif brace == b"}":
            _flush(output, state, default)
            if len(stack) > 1:
                stack.pop()
        elif word is not None:
            default = _word(word.lower(), int(number) if number else None, state, output, default)
        elif code is not None:
            _bytes(bytes([int(code, 16)]), state, output)
        elif escape is not None:
            _escape(escape, state, output, default)
        elif text is not None:
            _bytes(text, state, output)
        if brace != b"{" and escape != b"*":
            state.opened = False
    _flush(output, stack[-1], default)
    return replace(_result(output), reason=reason)


def _word(word: bytes, number: int | None, state: _State, output: _Output, default: str) -> str:
    """Act on a control word; returns the code page of the document."""
    _flush(output, state, default)
    if (state.opened and word in _SKIPPED) or (state.destination == b"*" and word not in _KEPT_STARRED):
        state.skipped = True
    if state.opened or state.destination == b"*":
        state.destination = word
    match word:
        case b"ansicpg" if number:
            return _codec(number) or default
        case b"f" if number is not None:
            output.font = number
            state.page = output.fonts.get(number, "")
        case b"fcharset" if number is not None and number in _FONT_PAGES:
            output.fonts[output.font] = _FONT_PAGES[number]
        case b"uc" if number is not None:
            state.skip_bytes = min(max(number, 0), 16)
        case b"u" if number is not None:
            _emit(chr(number % 65536), state, output)
            output.to_skip = state.skip_bytes
        case b"bin":
            output.to_skip = max(number or 0, 0)
        case _ if word in _SYMBOLS:
            _emit(_SYMBOLS[word], state, output)
        case _:
            pass
    return default


def _codec(number: int) -> str:
    try:
        return "utf-8" if number == 65001 else f"cp{number}" if "".encode(f"cp{number}") == b"" else ""
    except LookupError:
        return ""


def _escape(mark: bytes, state: _State, output: _Output, default: str) -> None:
    _flush(output, state, default)
    if mark == b"*":
        state.destination = b"*"
    elif mark in _ESCAPES:
        _emit(_ESCAPES[mark], state, output)


def _bytes(data: bytes, state: _State, output: _Output) -> None:
    """Characters; those that stand in for a Unicode character given before are dropped."""
    dropped = min(output.to_skip, len(data))
    output.to_skip -= dropped
    data = data[dropped:]
    if not state.skipped or state.destination in {b"title", b"author"}:
        output.pending += data


def _flush(output: _Output, state: _State, default: str) -> None:
    if output.pending:
        _emit(output.pending.decode(state.page or default, "replace"), state, output)
        output.pending.clear()


def _emit(text: str, state: _State, output: _Output) -> None:
    if state.destination in {b"title", b"author"} and state.skipped:
        output.properties[state.destination] = output.properties.get(state.destination, "") + text
    elif not state.skipped:
        output.parts.append(text)


def _result(output: _Output) -> Extracted:
    text = "".join(output.parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    blocks: list[str] = []
    rows: list[list[str]] = []
    for piece in text.split("\n\n"):
        *done, rest = piece.split("\x08")
        rows += [[tidy(cell) for cell in row.split("\x07")[:-1] or [row]] for row in done]
        if rows and rest.strip() and "\x07" not in rest:
            blocks.append(pipe_table(rows))
            rows = []
        if "\x07" in rest:
            rows.append([tidy(cell) for cell in rest.split("\x07")])
        else:
            blocks.append("\n".join(line for line in map(tidy, rest.split("\n")) if line))
    blocks.append(pipe_table(rows))
    text = "\n\n".join(block for block in blocks if block.strip())
    if not text:
        raise no_text("The RTF document has no text.")
    title, author = (tidy(output.properties.get(name, "")) for name in (b"title", b"author"))
    return Extracted(text, title=title, author=author, kind="rtf", links=links_in(text))

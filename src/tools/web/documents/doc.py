"""Word documents from before 2007: the text by its piece table ([MS-DOC] 2.4.1), with tables and links."""

import re
import struct

from deepdelve.tools.web.documents.cfb import CompoundFile
from deepdelve.tools.web.documents.extracted import Extracted, encrypted, no_text, unreadable, unsupported
from deepdelve.tools.web.documents.markdown import Writer, pipe_table, tidy

_MAGIC = 0xA5EC
_WORD_97 = 0x00C1
_ENCRYPTED, _TABLE_1 = 0x0100, 0x0200
_TEXT_LENGTH, _CLX = 0x4C, 0x1A2
_COMPRESSED = 0x40000000
_FIELD = re.compile(r'\s*HYPERLINK\s+(?:\\[a-z]\s+)*"([^"]{1,2000})"', re.I)
_CHARACTERS = str.maketrans(
    {"\x0b": "\x00", "\x1e": "-", "\x1f": None, "\x01": None, "\x02": None, "\x05": None, "\x08": None, "\xa0": " "}
)


def read_doc(file: CompoundFile) -> Extracted:
    """Read the main text of a Word 97-2003 document.

    Raises:
        FetchError: ``encrypted``, ``unreadable``, ``no_text``, or ``unsupported_type`` for older versions.
    """
    stream = file.read("WordDocument")
    try:
        text = _text(file, stream)
    except (struct.error, IndexError) as error:
        raise unreadable("The Word document is damaged: its text cannot be located.", "Look for another copy.") from error
    writer = Writer()
    for block in _blocks(text, writer):
        writer.add(block)
    if not writer.blocks:
        raise no_text("The Word document has no text.")
    return Extracted(writer.text(), kind="doc", links=tuple(writer.links))


def _text(file: CompoundFile, stream: bytes) -> str:
    magic, version = struct.unpack_from("<HH", stream, 0)
    flags = struct.unpack_from("<H", stream, 10)[0]
    if magic != _MAGIC or version < _WORD_97:
        raise unsupported("The file was written by Word 95 or older, which cannot be read here.", "Save it as DOCX or PDF.")
    if flags & _ENCRYPTED:
        raise encrypted("The Word document is encrypted and opens only with a password.")
    length = struct.unpack_from("<i", stream, _TEXT_LENGTH)[0]
    start, size = struct.unpack_from("<II", stream, _CLX)
    table = file.read("1Table" if flags & _TABLE_1 else "0Table")[start : start + size]
    at = 0
    while table[at] == 1:
        at += 3 + struct.unpack_from("<H", table, at + 1)[0]
    count = (struct.unpack_from("<I", table, at + 1)[0] - 4) // 12
    if table[at] != 2 or not 0 < count < len(table):
        raise IndexError(count)
    bounds = struct.unpack_from(f"<{count + 1}I", table, at + 5)
    parts: list[str] = []
    for index in range(count):
        place = struct.unpack_from("<I", table, at + 5 + 4 * (count + 1) + 8 * index + 2)[0]
        characters = bounds[index + 1] - bounds[index]
        if place & _COMPRESSED:
            begin = (place & ~_COMPRESSED) // 2
            parts.append(stream[begin : begin + characters].decode("cp1252", "replace"))
        else:
            parts.append(stream[place : place + 2 * characters].decode("utf-16-le", "replace"))
    return "".join(parts)[: max(length, 0)]


def _blocks(text: str, writer: Writer) -> list[str]:
    """Paragraphs, and runs of table rows as tables; a row ends with two cell marks."""
    blocks: list[str] = []
    rows: list[list[str]] = []
    for paragraph in re.split("[\r\x0c]", _without_fields(text, writer).translate(_CHARACTERS)):
        *done, rest = paragraph.split("\x07\x07")
        rows += [[tidy(cell) for cell in row.split("\x07")] for row in done]
        if "\x07" in rest:
            rows.append([tidy(cell) for cell in rest.split("\x07")])
        elif rest.strip() or not done:
            if rows and rest.strip():
                blocks.append(pipe_table(rows))
                rows = []
            blocks.append(tidy(rest))
    return [*blocks, pipe_table(rows)]


def _without_fields(text: str, writer: Writer) -> str:
    """The text with each field replaced by its result, links as links; codes of fields never show."""
    out: list[str] = []
    stack: list[tuple[int, str]] = []
    code_start = -1
    for piece in re.split("([\x13\x14\x15])", text):
        if piece == "\x13":
            stack.append((len(out), ""))
            code_start = len(out)
        elif piece == "\x14" and stack and code_start >= 0:
            stack[-1] = (stack[-1][0], "".join(out[code_start:]))
            del out[stack[-1][0] :]
            code_start = -1
        elif piece == "\x15" and stack:
            start, code = stack.pop()
            result = "".join(out[start:]) if code else ""
            match = _FIELD.match(code)
            target = writer.resolve(match[1]) if match else ""
            del out[start:]
            if target and result.strip() and "[" not in result:
                writer.links[target] = None
                result = f"[{result.strip()}]({target})"
            out.append(result)
            code_start = stack[-1][0] if stack and not stack[-1][1] else -1
        else:
            out.append(piece)
    return "".join(out)

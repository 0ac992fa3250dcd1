"""PDF by pdfium: pages marked, columns in reading order, tables as tables, right-to-left lines as read."""

import ctypes
import importlib
import math
import re
from typing import Any

from deepdelve.tools.web.documents.clean import page
from deepdelve.tools.web.documents.extracted import TEXT_LIMIT, Extracted, encrypted, no_text, unreadable
from deepdelve.tools.web.documents.metadata import iso_date
from deepdelve.tools.web.documents.page_layout import CELL_GAP, Run, page_text

_PAGE_LIMIT = 2_000
_CHARS_PER_PAGE = 40_000
_LAM = "\u0644"
_ALEFS = "\u0622\u0623\u0625\u0627"
_NO_TITLE = re.compile(r"(?i)\(?(?:untitled|anonymous|unknown|powerpoint presentation|document\d*|unspecified)\)?$")
_PRODUCER_PREFIX = re.compile(r"(?i)^microsoft (?:word|powerpoint|excel) - ")
Box = tuple[float, float, float, float]


def read_pdf(data: bytes) -> Extracted:
    """Read a PDF.

    Raises:
        FetchError: ``encrypted``, ``unreadable`` (damaged) or ``no_text`` (images only, or empty).
    """
    pdfium = _pdfium()

    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise encrypted("The PDF is encrypted and opens only with a password.") from error
        raise unreadable("The PDF is damaged and cannot be opened.", "Look for another copy.") from error
    try:
        return _read(document)
    finally:
        document.close()


def _pdfium() -> Any:
    """The library, which has no types; it is loaded when the first PDF comes."""
    return importlib.import_module("pypdfium2")


def _read(document: Any) -> Extracted:
    count = len(document)
    pages: list[str] = []
    silent: list[int] = []
    damaged: list[int] = []
    size = 0
    for number in range(1, min(count, _PAGE_LIMIT) + 1):
        text = _page(document, number - 1)
        (damaged if text is None else silent if not text else []).append(number)
        pages.append(page(number, text or ""))
        size += len(text or "")
        if size > TEXT_LIMIT:
            break
    if not size:
        raise _refusal(count, len(damaged))
    facts = document.get_metadata_dict()
    return Extracted(
        "\n\n".join(pages),
        title=_stated(facts.get("Title")),
        author=_stated(facts.get("Author")),
        date=_pdf_date(str(facts.get("CreationDate") or facts.get("ModDate") or "")),
        kind="pdf",
        pages=count,
        reason=_left_out(count, len(pages), silent, damaged),
    )


def _refusal(count: int, damaged: int) -> Exception:
    if damaged or not count:
        return unreadable("The PDF is damaged: none of its pages can be read.", "Look for another copy.")
    pages = "Its one page holds" if count == 1 else f"Its {count} pages hold"
    return no_text(
        f"The PDF has no text layer: {pages} only images or nothing.", "Look for a copy with text; scans are not recognised here."
    )


def _left_out(count: int, read: int, silent: list[int], damaged: list[int]) -> str:
    parts: list[str] = []
    if read < count:
        parts.append(f"Only the first {read} of {count} pages were read.")
    if silent:
        parts.append(f"No text on {len(silent)} of {count} pages (images or blank): {_numbers(silent)}.")
    if damaged:
        parts.append(f"Damaged and not read: page {_numbers(damaged)}.")
    return " ".join(parts)


def _numbers(pages: list[int]) -> str:
    return ", ".join(map(str, pages[:12])) + (" and more" if len(pages) > 12 else "")


def _stated(value: Any) -> str:
    """A metadata field, unless the program that made the file filled it in by itself."""
    text = _PRODUCER_PREFIX.sub("", str(value or "").strip())
    return "" if _NO_TITLE.match(text) else text


def _pdf_date(text: str) -> str:
    return iso_date(text.removeprefix("D:")[:8])


def _page(document: Any, index: int) -> str | None:
    """The text of one page; ``None`` if the page is damaged."""
    pdfium = _pdfium()

    try:
        sheet = document[index]
    except pdfium.PdfiumError:
        return None
    try:
        text = sheet.get_textpage()
        try:
            by_angle = _runs(text.raw)
        finally:
            text.close()
    except pdfium.PdfiumError:
        return None
    finally:
        sheet.close()
    # Text that runs another way than most of the page (a stamp in the margin, a turned table) follows it.
    groups = sorted(by_angle.values(), key=lambda runs: -sum(len(run.text) for run in runs))
    return "\n\n".join(part for runs in groups if (part := page_text(runs)))


def _runs(text: Any) -> dict[int, list[Run]]:
    """The runs of a page by the direction of their text in degrees, each turned to stand upright."""
    raw = _pdfium().raw

    by_angle: dict[int, list[Run]] = {}
    glyphs: list[tuple[str, Box]] = []
    angle = 0
    for index in range(min(max(raw.FPDFText_CountChars(text), 0), _CHARS_PER_PAGE)):
        char = _char(raw.FPDFText_GetUnicode(text, index), glyphs)
        if not char:
            continue
        if char in "\r\n\x00":
            _finish(glyphs, by_angle.setdefault(angle, []))
            continue
        if char.isspace():
            if glyphs and not glyphs[-1][0].isspace():
                glyphs.append((" ", glyphs[-1][1]))
            continue
        turn = round(math.degrees(raw.FPDFText_GetCharAngle(text, index)) / 90) * 90 % 360
        box = _box(raw, text, index, turn)
        if glyphs and (turn != angle or _is_apart(glyphs[-1][1], box)):
            _finish(glyphs, by_angle.setdefault(angle, []))
        angle = turn
        if glyphs and char == _LAM and glyphs[-1][0] in _ALEFS and glyphs[-1][1] == box:
            # One glyph for two letters: pdfium turns the pair around with the line, as if it were two glyphs.
            glyphs.insert(-1, (char, box))
        else:
            glyphs.append((char, box))
    _finish(glyphs, by_angle.setdefault(angle, []))
    return by_angle


def _char(code: int, glyphs: list[tuple[str, Box]]) -> str:
    if code in (0x02, 0xFFFE):  # pdfium's marks for a hyphen at the end of a line
        return "-"
    if 0xDC00 <= code < 0xE000 and glyphs and "\ud800" <= glyphs[-1][0] < "\udc00":
        high, box = glyphs.pop()
        glyphs.append((chr(0x10000 + ((ord(high) - 0xD800) << 10) + (code - 0xDC00)), box))
        return ""
    return chr(code) if code < 0x110000 else "\ufffd"


def _box(raw: Any, text: Any, index: int, turn: int) -> Box:
    rect = raw.FS_RECTF()
    raw.FPDFText_GetLooseCharBox(text, index, ctypes.byref(rect))
    left, bottom, right, top = rect.left, rect.bottom, rect.right, rect.top
    match turn:
        case 270:  # pdfium counts clockwise: this text runs upwards
            return bottom, -right, top, -left
        case 180:
            return -right, -top, -left, -bottom
        case 90:
            return -top, left, -bottom, right
        case _:
            return left, bottom, right, top


def _is_apart(a: Box, b: Box) -> bool:
    """Whether two glyphs that follow each other belong to different lines or cells."""
    height = max(min(a[3] - a[1], b[3] - b[1]), 0.1)
    if min(a[3], b[3]) - max(a[1], b[1]) < 0.25 * height:
        return True
    return max(b[0] - a[2], a[0] - b[2]) > CELL_GAP * height


def _finish(glyphs: list[tuple[str, Box]], runs: list[Run]) -> None:
    text = "".join(char for char, _ in glyphs).strip()
    if text:
        boxes = [box for char, box in glyphs if not char.isspace()]
        heights = sorted(box[3] for box in boxes)
        lows = sorted(box[1] for box in boxes)
        middle = len(boxes) // 2
        runs.append(Run(text, min(b[0] for b in boxes), lows[middle], max(b[2] for b in boxes), heights[middle]))
    glyphs.clear()

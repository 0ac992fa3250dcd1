"""Text from outside, made fit to stand before a model: cleaned of what no reader sees, and fenced as data."""

import re
import unicodedata

_OPEN = "<<<untrusted"
_CLOSE = "<<<end"
_REPLACEMENT = 0xFFFD
# What cannot be seen and can carry hidden words or reorder visible ones.
_INVISIBLE_RANGES = (
    (0x00, 0x08),
    (0x0E, 0x1F),
    (0x7F, 0x84),
    (0x86, 0x9F),
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180E, 0x180E),
    (0x200B, 0x200B),
    (0x200E, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
_LINE_ENDS = {0x0B: "\n", 0x0C: "\n", 0x0D: "\n", 0x85: "\n", 0x2028: "\n", 0x2029: "\n"}
_JOINERS = re.compile("[\u200c\u200d]+")
_MARKER = re.compile(r"<{3,}(?=\s{0,20}/?\s{0,20}(?:untrusted|end)\b)", re.IGNORECASE)


def clean(text: str) -> str:
    """Outside text without control characters, invisible characters and bidirectional overrides.

    Every line end becomes a line feed. Joiners (U+200C, U+200D) stay where they shape letters, that is between two characters of a
    script that uses them. Lone surrogates become U+FFFD. Nothing visible is changed, so quotes stay verbatim.
    """
    text = text.replace("\r\n", "\n").translate(_TABLE)
    return _JOINERS.sub(_shaping_joiner, text)


def fence(text: str, nonce: str) -> str:
    """Cleaned text between the two markers of a run, each on its own line.

    A copy of a marker within the text is defused: its angle brackets are parted, and the nonce itself is taken out.

    Args:
        text: what came from outside.
        nonce: the run's own random word, which nothing outside can know.
    """
    body = clean(text)
    if nonce:
        body = body.replace(nonce, "[nonce]")
    body = _MARKER.sub(_parted, body)
    return f"{_OPEN} {nonce}>>>\n{body}\n{_CLOSE} {nonce}>>>"


def _parted(match: re.Match[str]) -> str:
    return " ".join(match[0])


def _shaping_joiner(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return match[0][0] if _shapes(before) and _shapes(after) else ""


def _shapes(char: str) -> bool:
    return char >= "\u0600" and unicodedata.category(char)[0] in "LMS" if char else False


def _table() -> dict[int, int | str | None]:
    table: dict[int, int | str | None] = {code: None for first, last in _INVISIBLE_RANGES for code in range(first, last + 1)}
    table |= {plane << 16 | low: None for plane in range(17) for low in (0xFFFE, 0xFFFF)}
    table |= dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT)
    return table | _LINE_ENDS


_TABLE = _table()

"""Outside text made safe for a terminal: no control characters, no hidden direction marks, lines of bounded length."""

# Overrides, embeddings and isolates can hide what a line says; plain direction marks belong to right-to-left text and stay.
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CONTROL = (*range(0x20), *range(0x7F, 0xA0))
_BLOCK_TABLE = {code: None for code in (*_CONTROL, *_BIDI) if code not in (0x09, 0x0A)}
_LINE_TABLE = {**dict.fromkeys(_CONTROL, " "), **dict.fromkeys(_BIDI), 0x2028: " ", 0x2029: " "}


def block(text: str) -> str:
    """Text of several lines without control characters; line ends and tabs stay."""
    return text.replace("\r\n", "\n").translate(_BLOCK_TABLE)


def one_line(text: str, limit: int = 200) -> str:
    """Text as one line of at most ``limit`` characters."""
    # Cut before the work: a line of a megabyte costs no more than a short one.
    line = " ".join(text[: limit * 4].translate(_LINE_TABLE).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def counted(number: int, noun: str) -> str:
    """``1 source``, ``2 sources``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""The type of a document by what its bytes are; a header only decides between kinds of text, a suffix never does."""

import json
import re
from typing import Literal

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents.extracted import unsupported

Family = Literal["empty", "pdf", "zip", "ole", "rtf", "html", "xml", "json", "csv", "markdown", "text"]

# (offset, bytes, what it is) for what cannot be read here; one word each that fits "is ... ".
_FOREIGN: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF87a", "a GIF image"),
    (0, b"GIF89a", "a GIF image"),
    (8, b"WEBP", "a WebP image"),
    (8, b"AVI ", "a video"),
    (8, b"WAVE", "a sound recording"),
    (4, b"ftypavif", "an AVIF image"),
    (4, b"ftypheic", "a HEIC image"),
    (4, b"ftyp", "a video"),
    (0, b"\x1aE\xdf\xa3", "a video"),
    (0, b"ID3", "a sound recording"),
    (0, b"fLaC", "a sound recording"),
    (0, b"OggS", "a sound recording or video"),
    (0, b"II*\x00", "a TIFF image"),
    (0, b"MM\x00*", "a TIFF image"),
    (0, b"BM", "a bitmap image"),
    (0, b"\x00\x00\x01\x00", "an icon"),
    (0, b"8BPS", "a Photoshop image"),
    (0, b"%!PS", "a PostScript document"),
    (0, b"AT&TFORM", "a DjVu document"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ\x00", "an xz archive"),
    (0, b"(\xb5/\xfd", "a Zstandard archive"),
    (0, b"7z\xbc\xaf", "a 7-Zip archive"),
    (0, b"Rar!", "a RAR archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ", "a program"),
    (0, b"\xca\xfe\xba\xbe", "a program"),
    (0, b"\x00asm", "a program"),
    (0, b"SQLite format 3\x00", "a SQLite database"),
    (0, b"PAR1", "a Parquet table"),
    (0, b"wOFF", "a font"),
    (0, b"wOF2", "a font"),
)
_TEXT_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_HTML = re.compile(
    rb"<!doctype html|<html[\s>]|<head[\s>]|<body[\s>]|<(?:div|p|table|article|section|main|h1|title|meta|script)[\s>]", re.I
)
_MARKDOWN = re.compile(rb"(?m)^(?:#{1,6} \S|```|[-*] \[[ x]\] |\|(?: ?:?-+:? ?\|)+)|\]\(https?://")
# Bytes that text does not hold; a file with more than this share of them among its first bytes is binary.
_CONTROLS = bytes(set(range(32)) - {9, 10, 11, 12, 13, 27, 8}) + b"\x7f"
_BINARY_SHARE = 0.02
_HEAD = 4096
# Stated by servers and file stores that do not know better.
_NO_TYPES = frozenset({"application/octet-stream", "binary/octet-stream", "application/x-download", "application/force-download"})
_SAMPLE = 200_000
_JSON_START = re.compile(rb'\{\s{0,99}["}]|\[\s{0,99}(?:[\[{"\d\]-]|true|false|null)')


def family(data: bytes, content_type: str = "") -> Family:
    """The family of a document.

    Args:
        data: the bytes as received.
        content_type: the media type that the server stated; used only where the bytes are text.

    Raises:
        FetchError: ``unsupported_type``, for types that cannot be read here.
    """
    head = data[:_HEAD]
    if not data.strip(b"\x00 \t\r\n"):
        return "empty"
    stripped = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if b"%PDF-" in data[:1100] and stripped[:1] != b"<":
        return "pdf"
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if data.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return "ole"
    if stripped.startswith(b"{\\rtf"):
        return "rtf"
    _refuse_foreign(data, head)
    return _text_family(data, stripped, content_type.partition(";")[0].strip().lower())


def _refuse_foreign(data: bytes, head: bytes) -> None:
    wide = data.startswith(_TEXT_BOMS[1:])
    foreign = next((name for at, magic, name in _FOREIGN if data[at : at + len(magic)] == magic), "")
    controls = len(head) - len(head.translate(None, _CONTROLS))
    binary = not wide and controls > len(head) * _BINARY_SHARE
    # Two or three letters can begin a sentence as well; only a binary body makes them a file type.
    if foreign and (binary or not head.isascii()):
        raise _refusal(f"The file is {foreign}, which cannot be read as text.")
    if binary:
        raise _refusal("The file is binary data of a type that is not known here.")


def _refusal(message: str) -> FetchError:
    return unsupported(message, "Look for the same content as a page, PDF or Office document.")


def _text_family(data: bytes, stripped: bytes, stated: str) -> Family:
    stated = "" if stated in _NO_TYPES else stated
    if stripped.startswith(b"<?xml"):
        is_page = b"<html" in stripped[:1500].lower()
        return "html" if is_page else "xml"
    if stated in {"text/html", "application/xhtml+xml"}:
        return "html"
    if stripped[:1] in {b"{", b"["} and (_is_json(data) or "json" in stated):
        return "json"
    if stated.endswith(("/xml", "+xml")):
        return "xml"
    if stated in {"text/csv", "text/tab-separated-values", "application/csv"}:
        return "csv"
    if stated in {"text/markdown", "text/x-markdown"}:
        return "markdown"
    if stripped[:1] == b"<" and _HTML.search(stripped[:2048]):
        return "html"
    if stated == "text/plain" or not stated:
        # A page served as plain text, or a file with no header at all, is told by its first element.
        if _HTML.match(stripped):
            return "html"
        if not stated and _is_delimited(data):
            return "csv"
        if _MARKDOWN.search(stripped):
            return "markdown"
    return "text"


def _is_json(data: bytes) -> bool:
    """Whether the bytes are one JSON value, or lines of JSON values; large files are judged by how they begin."""
    first = data[:_SAMPLE].lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0].strip()
    if len(data) > _SAMPLE:
        return _JSON_START.match(data[:_SAMPLE].lstrip(b"\xef\xbb\xbf \t\r\n")) is not None
    for candidate in (data, first):
        try:
            if isinstance(json.loads(candidate), (dict, list)):
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _is_delimited(data: bytes) -> bool:
    """Whether several first lines hold the same number of one separator, as prose does not."""
    lines = [line for line in data[:16_000].split(b"\n")[:30] if line.strip()]
    if len(data) > 16_000:
        lines = lines[:-1] or lines
    if len(lines) < 3:
        return False
    for separator in (b"\t", b";", b",", b"|"):
        counts = [_outside_quotes(line).count(separator) for line in lines]
        common = max(set(counts), key=counts.count)
        if common >= (2 if separator == b"," else 1) and counts.count(common) >= 0.9 * len(counts):
            return True
    return False


def _outside_quotes(line: bytes) -> bytes:
    return b"".join(line.split(b'"')[::2])

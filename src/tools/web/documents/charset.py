"""Bytes to text: byte order mark, header, declaration in the document, then detection."""

import codecs
import re

# What the web means by these labels (WHATWG Encoding): the wider sets that real pages use under the narrower names.
_WEB_LABELS = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "iso-8859-9": "cp1254",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "x-euc-jp": "euc_jp",
    "utf8": "utf-8",
    "unicode": "utf-16",
}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"""<(?:meta|\?xml)\b[^<>]{0,400}?(?:charset|encoding)\s{0,9}=\s{0,9}["']?\s{0,9}([A-Za-z0-9_.:-]{2,40})""", re.I)
# Share of undecodable bytes up to which a declared or assumed charset is still believed.
_DAMAGE = 0.002
# Python codecs that no document is written in.
_NO_CHARSETS = frozenset(
    {"idna", "punycode", "unicode-escape", "unicode_escape", "raw-unicode-escape", "raw_unicode_escape", "utf-7", "undefined"}
)
_DETECTION_SAMPLE = 40_000


def decode(data: bytes, charset: str = "") -> str:
    """Decode outside bytes; never raises.

    Args:
        data: the bytes as received.
        charset: label of the HTTP header, if any.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace")
    declared = _DECLARED.search(data[:4096])
    labels = [charset, declared.group(1).decode("ascii") if declared else ""]
    names = [name for label in labels if (name := _codec(label))]
    # Valid multi-byte UTF-8 is practically never anything else, whatever a header says.
    for name in ["utf-8", *names]:
        text = _try(data, name)
        if text is not None:
            return text
    return _detect(data)


def _codec(label: str) -> str:
    """The codec for a web label; empty if unknown, or if the label cannot be what it says."""
    label = label.strip().strip("\"'").lower()
    name = _WEB_LABELS.get(label, label)
    # A declaration readable as ASCII disproves UTF-16 and UTF-32; codecs such as "rot13" or "zip" are not charsets.
    if not name or name.startswith(("utf-16", "utf16", "utf-32", "utf32")):
        return ""
    try:
        codec = codecs.lookup(name)
        "".encode(name)
    except (LookupError, ValueError):
        return ""
    return "" if codec.name in _NO_CHARSETS else codec.name


def _try(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        if error.start < len(data) - 4 and len(data) < 1000:
            return None
    text = data.decode(name, "replace")
    damage = text.count("\ufffd")
    return text if damage <= max(1, len(data) * _DAMAGE) else None


def _detect(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_DETECTION_SAMPLE]).best()
    return data.decode(best.encoding if best else "cp1252", "replace")

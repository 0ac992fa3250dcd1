"""Text without what no reader sees: control characters, invisible characters and direction overrides."""

import re

# Kept: tab, newline, and the two joiners (U+200C, U+200D) that spelling needs in Persian, Hindi and emoji.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NEWLINE = re.compile("\r\n?|[\x85\u2028\u2029]")
_TRAILING = re.compile(r"[ \t]+\n")
_BLANKS = re.compile(r"\n{3,}")
PAGE_MARK = re.compile(r"(?m)^([ \t>#*-]*)\[(page[ \t]+\d+)\]", re.I)


def clean_text(text: str) -> str:
    """Clean outside text and settle its line breaks."""
    text = _NEWLINE.sub("\n", text)
    text = _SURROGATE.sub("\ufffd", _UNSEEN.sub("", text))
    return _BLANKS.sub("\n\n", _TRAILING.sub("\n", text)).strip()


def page(number: int, text: str) -> str:
    """One page of a document under its mark; a line of the text that imitates a mark loses its brackets."""
    unmarked = PAGE_MARK.sub(r"\1(\2)", text)
    return f"[page {number}]\n{unmarked}".rstrip()

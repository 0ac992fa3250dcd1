"""Names of pages: file names that every system takes and no link breaks on, and the form in which names are compared."""

import unicodedata
from collections.abc import Collection
from functools import lru_cache

from deepdelve.utils.fence import clean

MAX_BYTES = 120
FORBIDDEN = frozenset('[]#^|\\/:*?"<>')
_PLAIN = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
_RESERVED = frozenset(["con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))])


def file_name(title: str) -> str:
    """A title as a file name without ending: NFC, without forbidden characters and leading dots, at most 120 bytes of UTF-8."""
    text = unicodedata.normalize("NFC", clean(title))
    text = "".join(" " if char in FORBIDDEN or unicodedata.category(char)[0] == "C" else char for char in text)
    return _fitting(text)


def unique(name: str, taken: Collection[str]) -> str:
    """The name, with a number behind it where another differs only in case."""
    known = {other.casefold() for other in taken}
    if name.casefold() not in known:
        return name
    numbered = (f"{_fitting(name, MAX_BYTES - 6)} {number}" for number in range(2, len(known) + 3))
    return next(candidate for candidate in numbered if candidate.casefold() not in known)


@lru_cache(maxsize=65_536)
def slug(text: str) -> str:
    """The form in which names are compared last: lower case without accents, words joined by single dashes."""
    if text.isascii():
        return "-".join(text.lower().translate(_PLAIN).split())
    folded = unicodedata.normalize("NFKD", text).casefold()
    kept = "".join(char if char.isalnum() else " " for char in folded if not unicodedata.combining(char))
    return "-".join(kept.split())


def _fitting(text: str, most: int = MAX_BYTES) -> str:
    text = " ".join(text.split()).lstrip(". ")
    text = text.encode("utf-8")[:most].decode("utf-8", "ignore").rstrip(". ")
    if not text:
        return "Untitled"
    return f"{text} page" if text.casefold() in _RESERVED else text

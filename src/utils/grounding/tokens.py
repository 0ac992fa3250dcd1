"""Words as comparable keys: lower-cased, folded and stemmed; scripts without spaces give character bigrams."""

import re
import string
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from deepdelve.utils.grounding.vocabulary import IRREGULAR, MONTHS, STOPWORDS

# Combining marks stay inside a word: Arabic and Hebrew points, Indic and Thai vowel signs, Latin accents.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0dff\u0e31\u0e34-\u0e4e"
ASCII_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+(?:[.,][0-9]+)*")
ANY_WORD = re.compile(rf"[0-9]+(?:[.,][0-9]+)*|(?:[^\W\d_]|[{_MARKS}])+(?:'[^\W\d_]+)?")
_JOINED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002ffff]")
_RUN = re.compile(r"\S+")
_LONGEST_KEPT = 32
_CACHE_SIZE = 1 << 18
SEVERAL = ""
_SUFFIXES = ("ational", "ization", "isation", "ations", "ation", "ment", "ness", "ity", "ical", "ives", "ive", "ions", "ion", "al", "ic")


def lower(text: str) -> str:
    """The text in lower case with every offset unchanged."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c if len(d := c.lower()) != 1 else d for c in text)


def keys(low: str) -> list[str]:
    """The comparable keys of an already lower-cased text, stop words left in, in order."""
    return list(chain.from_iterable(map(_PIECES.__getitem__, low.split())))


def run_keys(low: str) -> Iterable[str]:
    """One item for each run of a lower-cased text: its key, or a ``Joint`` where it has several or none."""
    return map(_SINGLES.__getitem__, low.split())


def parts(key: str) -> tuple[str, ...]:
    """The keys of an item of ``run_keys``."""
    return key.keys if isinstance(key, Joint) else (key,)


def has_joined(text: str) -> bool:
    """Whether a text has characters of scripts that are written without spaces."""
    return not text.isascii() and _JOINED.search(text) is not None


def place(low: str, start: int, end: int, number: int) -> tuple[int, int]:
    """Start and end of the run of a part of a lower-cased text that holds its key ``number``, counted from 0."""
    for run in _RUN.finditer(low, start, end):
        number -= len(_PIECES[run[0]])
        if number < 0:
            return run.span()
    return end, end


def content_keys(text: str) -> list[str]:
    """The keys of a text's content words, in order, repeats kept."""
    return [key for key in keys(lower(text)) if key not in STOPKEYS]


class _Pieces(dict[str, tuple[str, ...]]):
    """Pure cache: a lower-cased run without spaces, punctuation and all, to its keys. Long runs are not kept."""

    def __missing__(self, run: str) -> tuple[str, ...]:
        found = tuple(_split(run))
        if len(run) <= _LONGEST_KEPT:
            if len(self) >= _CACHE_SIZE:
                self.clear()
            self[run] = found
        return found


_PIECES = _Pieces()


class Joint(str):
    """A run that has several keys or none. As a string it is equal to ``SEVERAL`` or a space, so that a set of strings finds it fast."""

    __slots__ = ("keys",)
    keys: tuple[str, ...]


def _joint(keys: tuple[str, ...]) -> Joint:
    made = Joint(SEVERAL if keys else " ")
    made.keys = keys
    return made


class _Singles(dict[str, str]):
    """Pure cache as ``_Pieces``, for the words of sources: most have one key, and a list of strings is searched fast."""

    def __missing__(self, run: str) -> str:
        found = _split(run)
        key = found[0] if len(found) == 1 else _joint(tuple(found))
        if len(run) <= _LONGEST_KEPT:
            if len(self) >= _CACHE_SIZE:
                self.clear()
            self[run] = key
        return key


_SINGLES = _Singles()


def _split(run: str) -> list[str]:
    if run.isascii():
        # Most runs are a word with or without a mark behind it.
        bare = run.strip(string.punctuation)
        if bare.isalpha():
            return [stem(bare)]
        return [stem(word) for word in ASCII_WORD.findall(run)]
    found: list[str] = []
    for word in ANY_WORD.findall(run.replace("’", "'")):
        found += _bigrams(word) if word > "\u0e00" and _JOINED.search(word) else [stem(word)]
    return found


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """One lower-cased word as its key: accents folded, endings taken off. Numbers lose their thousands separators."""
    if word[0].isdigit():
        return word.replace(",", "")
    if not word.isascii():
        word = _fold(word)
    if "'" in word:
        word = word.split("'", 1)[0] or word
    if word in MONTHS:
        return word[:3]
    word = IRREGULAR.get(word, word)
    return _strip_endings(word) if word.isascii() else word


def _strip_endings(word: str) -> str:
    size = len(word)
    if size <= 3:
        return word
    if word.endswith("ies") and size > 4:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("ing") and len(word) > 5:
        word = word[:-3]
    elif (word.endswith("ed") and len(word) > 4) or (word.endswith("ly") and len(word) > 5):
        word = word[:-2]
    if word.endswith(_SUFFIXES):
        fitting = (suffix for suffix in _SUFFIXES if word.endswith(suffix) and len(word) - len(suffix) >= 4)
        word = word.removesuffix(next(fitting, ""))
    if len(word) > 3 and word[-1] in "ey":
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    return word


def _fold(word: str) -> str:
    plain = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c)).replace("’", "'")
    if plain[:2] == "ال" and len(plain) > 4:
        plain = plain[2:]
    return plain or word


def _bigrams(word: str) -> list[str]:
    """Character pairs of the joined-script runs of a word; other runs stay whole."""
    found: list[str] = []
    run = ""
    for char in [*word, " "]:
        joined = bool(_JOINED.match(char))
        if (run and joined != bool(_JOINED.match(run[-1]))) or char == " ":
            found += _pairs(run) if _JOINED.match(run[-1]) else [run]
            run = ""
        run += char
    return found


def _pairs(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


STOPKEYS = frozenset(map(stem, STOPWORDS))

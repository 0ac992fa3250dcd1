"""Words and sentences of sources and queries, for searching and quoting: accents folded, light English stems, sentences with offsets.

What the run itself writes is taken apart by ``utils.words``; claims and passages that are compared, by ``utils.grounding``.
Everything here is linear in the length of its input and keeps no state, save caches of pure functions.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from deepdelve.utils.grounding.sentences import begins_sentence

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_IS_CJK = re.compile(rf"[{_CJK}]")
_BREAK = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+(?:\[\d{1,3}\]){0,6}+(?=\s)|[。！？]+[」』”）]*|\n")
_BLOCK = re.compile(r"[ \t]*(?:\n|#|[-*+•|>]|\d{1,3}[.)]\s|\[page \d|$)")
_HEADING = re.compile(r"\s{0,40}#")
_NOT_SPACE = re.compile(r"\S")
_LAST_WORD = re.compile(r"([^\W\d_]+(?:\.[^\W\d_]+)*)\.$")

# Characters in which the end of a portion is looked for first.
_WINDOW = 256
# Characters before a break in which the beginning of its line is looked for.
_LINE = 2_000
_ABBREVIATION_LIST = """
al approx ave bros ca capt cf ch co col corp dept dr ed eds eg esp est etc ex fig figs fr gen gov hon ie inc jr lt ltd messrs mr mrs ms
mt no nos op par pg pl pp pres prof pt rep rev sec sen sgt sr st univ viz vol vols vs jan feb mar apr jun jul aug sep sept oct nov dec
"""
_STOP_LIST = """
a about above after again against all also am among an and any are as at be because been before being below between both but by can
cannot could did do does doing down during each either else etc ever every few first for from further get give given had has have having
he her here hers him his how however i if in into is it its itself just known last later least less like made make many may me might
more most much must my name named nor not now of off often on once one only or other others our out over own per please s same second
seen shall she should since so some still such t tell than that the their them then there these they this those through thus to together
too two under until up upon us use used uses using very via was we well were what when where whether which while who whom whose why will
with within without would yet you your
"""
# Small words of other languages, accents folded; none that means something in English or stands alone for a name.
_SMALL_LIST = """
der das dem ein eine einen einem einer eines und oder aber auch nicht kein keine zu zum zur von vom bei nach aus auf fur uber unter ist
sind waren wird werden wurde wurden haben hatte kann konnen soll sollen wie wer wo wann warum welche welcher welches wenn sie wir ich sich
nur noch mehr sehr durch gegen ohne bis seit wieviel les une du de et ou mais dans sur avec sans aux ce cet cette ces qui que quoi dont
sont etait etaient ont il elle ils elles nous vous leur leurs ne pas comme entre quel quelle quels quelles est el una unos unas pero en con
por del era eran fue han su sus como mas cuales cual quien quienes donde cuando cuanto cuantos cuanta cuantas gli uno nel nella nei non di
dal della delle degli che sono tra fra quali quale qual chi dove quando perche uma umas em com nao sao foi quem onde quais het een maar op
voor met aan naar zijn niet geen welke hoe heeft
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
STOP_WORDS = frozenset(_STOP_LIST.split()) | frozenset(_SMALL_LIST.split())


@dataclass(frozen=True)
class Sentence:
    """A sentence and its character offsets in the text it came from; ``text`` has single spaces."""

    start: int
    end: int
    text: str


@lru_cache(maxsize=65_536)
def fold(word: str) -> str:
    """A word in lower case without accents; other scripts keep their letters."""
    lowered = word.casefold()
    if lowered.isascii():
        return lowered
    decomposed = unicodedata.normalize("NFKD", lowered)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not unicodedata.combining(c))) or lowered


def words(text: str) -> list[str]:
    """The folded words of a text in order; a run of CJK characters gives its overlapping pairs."""
    found: list[str] = []
    for match in _WORD.finditer(text.replace("'", "").replace("’", "") if "'" in text or "’" in text else text):
        word = match.group()
        if len(word) > 1 and _IS_CJK.match(word):
            found.extend(word[i : i + 2] for i in range(len(word) - 1))
        else:
            found.append(fold(word))
    return found


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A light English stem: plural, possessive, past and progressive endings are dropped."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, rest, keep in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= keep:
            base = word[: -len(ending)] + rest
            return base[:-1] if ending in {"ed", "ing"} and base[-1] == base[-2] and base[-1] not in "lsz" else base.removesuffix("e")
    return word.removesuffix("e") if len(word) > 4 else word


_ENDINGS = (
    ("ies", "y", 2),
    ("sses", "ss", 2),
    ("ied", "y", 2),
    ("ss", "ss", 0),
    ("us", "us", 0),
    ("is", "is", 0),
    ("es", "e", 3),
    ("s", "", 3),
    ("ing", "", 4),
    ("ed", "", 4),
)


def terms(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order, repeats kept."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def telling_words(text: str) -> list[str]:
    """The words that carry meaning, as they are written but for case and accents, each once."""
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text. Headings, list items, table rows and blank lines end one; a soft line break does not.

    A heading is one piece, whatever full stops it holds.
    """
    found: list[Sentence] = []
    start = 0
    for match in _BREAK.finditer(text):
        end = match.end()
        if match.group() == "\n":
            if not (_BLOCK.match(text, end, end + 40) or _BLOCK.match(text, start, start + 40)):
                continue
        elif _HEADING.match(text, start) or not _ends_sentence(text, match):
            continue
        _add(found, text, start, end)
        start = end
    _add(found, text, start, len(text))
    return found


def portions(text: str, most: int) -> Iterator[tuple[int, int]]:
    """Cut a text at sentence ends into portions of at most ``most`` characters; yields start and end offsets.

    A sentence that is longer is a portion of its own. Sentence ends are looked for only where a portion may end, so this
    costs a small part of what ``sentences`` does over a long text.
    """
    start, size = _beginning(text, 0), len(text.rstrip())
    while start < size:
        end = size if size - start <= most else _last_end(text, start, start + most) or _next_end(text, start, start + most, size)
        yield start, end
        start = _beginning(text, end)


def squash(text: str) -> str:
    """The text on one line, with single spaces."""
    return " ".join(text.split())


def _beginning(text: str, place: int) -> int:
    match = _NOT_SPACE.search(text, place)
    return match.start() if match else len(text)


def _last_end(text: str, start: int, stop: int) -> int:
    """The last sentence end between two places, or 0; looked for from behind, in ever wider windows."""
    width, low = _WINDOW, stop
    while low > start:
        low = max(start, stop - width)
        for match in reversed(list(_BREAK.finditer(text, low, min(stop + 1, len(text))))):
            if (end := _end_at(text, match, start)) and end <= stop:
                return end
        width *= 4
    return 0


def _next_end(text: str, start: int, place: int, size: int) -> int:
    found = (end for match in _BREAK.finditer(text, place) if (end := _end_at(text, match, start)))
    return min(next(found, size), size)


def _end_at(text: str, match: re.Match[str], start: int) -> int:
    """Where the sentence before a break ends, if one does; 0 else."""
    line = text.rfind("\n", max(start, match.start() - _LINE), match.start()) + 1 or start
    if match.group() != "\n":
        return match.end() if not _HEADING.match(text, line) and _ends_sentence(text, match) else 0
    block = _BLOCK.match(text, match.end(), match.end() + 40) or _BLOCK.match(text, line, line + 40)
    return start + len(text[start : match.start()].rstrip()) if block else 0


def _add(found: list[Sentence], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        offset = start + piece.index(stripped[0])
        found.append(Sentence(offset, offset + len(stripped), squash(stripped)))


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    if match.group()[0] in "。！？":
        return True
    following = text[match.end() : match.end() + 3].lstrip()
    if following[:1].islower():
        return False
    if match.group().partition("[")[0] != ".":
        return True
    last = _LAST_WORD.search(text[max(0, match.start() - 24) : match.start() + 1])
    if last is None:
        return True
    word = last.group(1)
    # One capital letter is an initial ("J. Smith"), and inner dots make "U.S." or "e.g."
    if "." in word and word[0].isupper():
        return begins_sentence(text, match.end() + 1)
    return not (len(word) == 1 or "." in word or word.casefold() in _ABBREVIATIONS)

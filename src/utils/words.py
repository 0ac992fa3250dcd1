"""Words, content words and sentences of what the run itself writes and is asked: questions, plans, drafts, notes, in any language.

Function words of the larger European languages carry no meaning here, and nothing is folded beyond case. Text that is searched for and
quoted, sources and queries, is taken apart by ``utils.text``; claims and passages that are compared with each other, by
``utils.grounding``. Every function is linear in the length of the text.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

import regex

from deepdelve.utils.fence import clean
from deepdelve.utils.grounding.sentences import begins_sentence

# Scripts written without spaces are cut into overlapping pairs of characters.
_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_TOKEN = regex.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|\d+(?:[.,]\d+)*%?|(?:(?![{_UNSPACED}])[\p{{L}}\p{{M}}])+")
# Most text of European languages has these characters alone; there a simpler pattern finds the same words much faster.
_PLAIN_LETTERS = "A-Za-zÀ-ÖØ-öø-ſ"
_NOT_PLAIN = re.compile(rf"[^\x00-\x7f\xa0-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf×÷{_PLAIN_LETTERS}\u2000-\u206f\u20a0-\u20bf]")
_PLAIN_TOKEN = re.compile(rf"\d+(?:[.,]\d+)*%?|[{_PLAIN_LETTERS}]+")
_ENDING = regex.compile(r"[.!?؟।]+[\"'»”’)\]]*(?=\s|$)|[。！？]+[」』”）]*")
_MARKER_NEXT = regex.compile(r"\s?\[\s*S\d")
_BULLET = regex.compile(r"^\s{0,12}(?:[-*+•]|\d{1,3}[.)])\s+")


def word_set(text: str) -> frozenset[str]:
    """The words of a list that is written as text, separated by spaces and line ends."""
    return frozenset(text.split())


_ABBREVIATIONS = word_set(
    """
    e.g i.e etc cf vs no nos fig approx ca dr mr mrs ms prof st jr sr inc ltd co corp vol pp art al z.b d.h u.a bzw nr abs vgl usw
    jan feb mar apr jun jul aug sep sept oct nov dec
    """
)

_FUNCTION_WORDS: frozenset[str] = word_set(
    """
    a an the and or but nor of in on at to for from by with without about into over under between among during per via as is are
    was were be been being am do does did done has have had having can could will would shall should may might must not no yes it
    its this that these those there here he she they them their his her we us our you your i me my who whom whose which what when
    where why how if then than so such also both each any all some most more less many much few other another same own only just
    very too up down out off again once one two der die das den dem des ein eine einen einem einer eines und oder aber auch nicht
    kein keine im um zu zum zur von vom mit bei nach aus auf für über unter ist sind war waren wird werden wurde wurden hat haben
    hatte kann können soll sollen wie wer wo wann warum welche welcher welches als wenn es sie er wir ihr ich man sich nur noch
    mehr sehr durch gegen ohne bis seit le la les un une du de et ou mais dans sur pour par avec sans au aux ce cet cette ces qui
    que quoi dont où est sont était étaient été ont il elle ils elles nous vous je se sa son ses leur leurs ne pas plus comme
    entre quels quelles quel quelle el los las una unos unas y o pero en con para por del al era eran fue han ha su sus como más
    cuáles cuál qué os uma uns umas e mas em com não da dos na nos nas ao é são foi lo gli uno ed ma nel nella nei non di dal
    della delle degli che sono come più tra fra quali het een maar op voor met van aan bij naar zijn niet geen wat welke hoe
    """
)


def words(text: str) -> list[str]:
    """The words of the text, case-folded, in order. Text of a script without spaces gives pairs of characters."""
    if _is_plain(text):
        return list(map(str.casefold, _PLAIN_TOKEN.findall(text)))
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group().casefold()
        if match.group("unspaced") is not None and len(token) > 1:
            found += [token[i : i + 2] for i in range(len(token) - 1)]
        else:
            found.append(token)
    return found


def content_words(text: str) -> frozenset[str]:
    """The words that carry meaning, folded to a common form, without function words of the larger European languages."""
    return frozenset(content_sequence(text))


def content_sequence(text: str) -> list[str]:
    """As ``content_words``, in order and with repetitions."""
    return [stem(word) for word in words(text) if is_content(word)]


def is_content(word: str) -> bool:
    """Whether a case-folded word is more than a function word or a lone letter."""
    return word not in _FUNCTION_WORDS and (len(word) > 1 or word.isdigit() or not word.isascii())


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """A rough common form: English plurals made singular, words of inflecting scripts cut to five letters, others as they are."""
    if len(word) > 5 and "\u0370" <= word[0] <= "\u052f":
        return word[:5]
    if len(word) > 4 and word.isascii():
        if word.endswith("ies"):
            return word[:-3] + "y"
        if word.endswith(("sses", "xes", "ches", "shes")):
            return word[:-2]
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            return word[:-1]
    return word


def count_words(text: str) -> int:
    """How long a text is in words; two characters of a script without spaces count as one word."""
    total = 0
    # No word goes beyond its line.
    for line in text.splitlines():
        if _is_plain(line):
            total += len(_PLAIN_TOKEN.findall(line))
            continue
        for match in _TOKEN.finditer(line):
            total += (len(match.group()) + 1) // 2 if match.group("unspaced") is not None else 1
    return total


def one_line(text: str, limit: int = 0) -> str:
    """Outside text on one line that cannot pass for a fence of untrusted text; cut at ``limit`` characters where one is given."""
    line = " ".join(clean(text).replace("<<<", "‹‹‹").replace(">>>", "›››").split())
    return f"{line[: limit - 1].rstrip()}…" if limit and len(line) > limit else line


def sentences(text: str) -> list[str]:
    """The sentences of Markdown prose, bullets taken off; a line never continues the sentence of the line before.

    A source marker that follows the full stop stays with its sentence.
    """
    found: list[str] = []
    for line in text.splitlines():
        found += _line_sentences(_BULLET.sub("", line).strip())
    return found


def overlap(first: Iterable[str], second: Iterable[str]) -> float:
    """Jaccard index of two sets of words, 0.0 to 1.0; 0.0 where both are empty."""
    one, two = set(first), set(second)
    return len(one & two) / len(one | two) if one or two else 0.0


def _is_plain(text: str) -> bool:
    return text.isascii() or _NOT_PLAIN.search(text) is None


def _line_sentences(line: str) -> list[str]:
    found: list[str] = []
    start = 0
    for match in _ENDING.finditer(line):
        if match.start() < start or _abbreviation(line, start, match):
            continue
        end = match.end()
        while _MARKER_NEXT.match(line, end):
            closing = line.find("]", end)
            if closing < 0:
                break
            end = closing + 1
        found.append(line[start:end].strip())
        start = end
    found.append(line[start:].strip())
    return [sentence for sentence in found if len(sentence) > 1]


def _abbreviation(line: str, start: int, match: "regex.Match[str]") -> bool:
    if match.group() != ".":
        return False
    tail = line[max(start, match.start() - 8) : match.start()].rsplit(None, 1)
    last = tail[-1].lstrip("(\"'").casefold() if tail else ""
    if "." in last and last not in _ABBREVIATIONS:
        # "U.S." stands before a name more often than at an end.
        return not begins_sentence(line, match.end() + 1)
    return last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha())

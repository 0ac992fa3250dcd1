"""Small words that change what a sentence says: of how many, how surely, under which condition, per what, and who did it to whom.

Words are looked at in a claim and in the one sentence of its source that holds nearly all of its words, so that what differs is
the small word and not the subject.
"""

import re
from collections.abc import Callable, Sequence

from deepdelve.utils.grounding import tokens
from deepdelve.utils.grounding.reading import WORD, Reading, read
from deepdelve.utils.grounding.vocabulary import (
    AGENT_WORDS,
    ALL_WORDS,
    CAUSE_WORDS,
    CONDITIONS,
    HEDGES,
    JOINED_ALL,
    JOINED_HEDGES,
    JOINED_NEGATIONS,
    JOINED_NO_NEGATION,
    JOINED_SOME,
    MODALS,
    MOST_WORDS,
    NEGATORS,
    RELATION_WORDS,
    SOME_WORDS,
)

# Longer sentences are compared by their other signs alone.
MOST_KEYS = 40
_PER = re.compile(r"\d\s?[^\W\d]{0,20}\s?(?:per|/|pro|par|por)\s?(second|minute|hour|day|week|month|year|capita|person|s|h|min)\b")
_MONTH = re.compile(r"\b(?:January|February|March|April|June|July|August|September|October|November|December)\b")
_FROM_TO = re.compile(
    r"\b(?:from|von|de|du|с|desde)\s[^\d.;]{0,12}(\d[\d.,]*\d|\d)[^\d.;]{0,24}?\s(?:to|auf|zu|à|a|до|hasta)\s[^\d.;]{0,12}(\d[\d.,]*\d|\d)"
)
_DENIAL = re.compile(
    r"\b(?:not true|not the case|not correct|untrue|false|incorrect|wrong|myth|no (?:\w{1,12} )?(?:evidence|proof|sign|indication)"
    r"|den(?:y|ies|ied)|disput(?:e|es|ed)|reject(?:s|ed)? (?:the )?(?:claim|idea|view)s?|doubt(?:s|ed|ful)?|rumou?r(?:s|ed)?"
    r"|never (?:showed|shown|proved|proven)|falsely (?:claim|say|state)s?(?:ed)?) (?:that|whether)\b"
    r"|\b(?:stimmt nicht|nicht wahr|kein(?:e|en)? (?:beleg|beweis|hinweis)\w{0,3}|bestreite[nt]|bestritt(?:en)?|falsch),?"
    r"(?: dafür,?)? dass\b"
    r"|\b(?:pas vrai|faux|aucune preuve|nient?|conteste(?:nt)?) qu(?:e\b|['’])"
    r"|\b(?:no es (?:cierto|verdad)|es falso|no hay (?:pruebas|indicios)(?: de)?|niegan?|desmienten?) que\b"
)
# Every denial ends in one of these.
_BEFORE_CLAUSE = ("that", "whether", "dass", "que", "qu'", "qu’")
_ALL, _MOST, _SOME = 3, 2, 1
_FAR_REACHING = ALL_WORDS | MOST_WORDS
# Left out when a claim is compared with a sentence: what may have been put in is no sign that they speak of different things.
SMALL_KEYS = frozenset(map(tokens.stem, ALL_WORDS | MOST_WORDS | SOME_WORDS | frozenset(word for word in HEDGES if " " not in word)))


def find(claim: str, sentence: str) -> str:
    """What the sentence says that the claim has turned into something else, in words; empty where nothing can be seen."""
    own, other = read(claim), read(sentence)
    return next((reason for check in _CHECKS if (reason := check(own, other))), "")


def _reach(claim: Reading, sentence: Reading) -> str:
    """All made of some or most, most made of some."""
    if _FAR_REACHING.isdisjoint(claim.spelled) or not claim.words.isdisjoint(NEGATORS):
        return ""
    claimed, stated = _quantified(claim.spelled), _quantified(sentence.spelled)
    for noun, (reach, _) in claimed.items():
        other = stated.get(noun)
        if other is not None and other[0] < reach:
            return f"the source says “{other[1]}”, not all of them" if reach == _ALL else f"the source says “{other[1]}”, not most of them"
    return ""


def _quantified(words: Sequence[str]) -> dict[str, tuple[int, str]]:
    """The nouns (keys) that a word of quantity stands before, with its reach; the first of two counts."""
    found: dict[str, tuple[int, str]] = {}
    for place, word in enumerate(words):
        reach = _ALL if word in ALL_WORDS else _MOST if word in MOST_WORDS else _SOME if word in SOME_WORDS else 0
        if not reach and words[place + 1 : place + 2] == ["of"] and words[place + 2 : place + 3] == ["the"] and _is_number(word):
            reach = _SOME
        if reach:
            for noun in _nouns(words[place + 1 : place + 8]):
                found.setdefault(noun, (reach, word))
    return found


def _nouns(words: Sequence[str]) -> list[str]:
    """The keys of the next two words of content, numbers passed over, up to the next comma or word of quantity."""
    found: list[str] = []
    for word in words:
        if word in ",;" or word in ALL_WORDS or word in MOST_WORDS or word in SOME_WORDS or len(found) == 2:
            break
        key = tokens.stem(word)
        if key not in tokens.STOPKEYS and not _is_number(word):
            found.append(key)
    return found


def _is_number(word: str) -> bool:
    return word[0].isdigit() or word in _SPELLED


_SPELLED = frozenset(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"])


def _denied(claim: Reading, sentence: Reading) -> str:
    """What is said to be untrue, unproven or disputed, told as true."""
    if not any(part in sentence.low for part in _BEFORE_CLAUSE):
        return ""
    found = _DENIAL.search(sentence.low)
    if found is None or _DENIAL.search(claim.low) or claim.words & (NEGATORS | HEDGES):
        return ""
    own, after = frozenset(claim.content), frozenset(tokens.content_keys(sentence.text[found.end() :]))
    return f"the source says “{found[0]}”" if own and len(own & after) >= 0.5 * len(own) else ""


def _certainty(claim: Reading, sentence: Reading) -> str:
    """A may or might that has become a fact."""
    if sentence.words.isdisjoint(MODALS) or not claim.words.isdisjoint(HEDGES):
        return ""
    own = frozenset(claim.content)
    words = WORD.findall(sentence.dateless)
    for place, word in enumerate(words):
        if word.lower() in MODALS and place and _governs(words[place + 1 : place + 8], own):
            return f"the source says “{word}”, which the claim leaves out"
    return ""


def _governs(words: Sequence[str], own: frozenset[str]) -> bool:
    """Whether what a modal word governs is in the claim: the next word, or in languages that put the verb last two of the next."""
    keys = [key for word in words if word not in ",;" and (key := tokens.stem(word.lower())) not in tokens.STOPKEYS]
    return bool(keys) and (keys[0] in own or sum(key in own for key in keys) >= 2)


def _cause(claim: Reading, sentence: Reading) -> str:
    """What goes together, told as what brings about."""
    claimed, stated = claim.words, sentence.words
    if not claimed & CAUSE_WORDS or claimed & (RELATION_WORDS | NEGATORS):
        return ""
    relation = stated & RELATION_WORDS
    if relation and (not stated & CAUSE_WORDS or stated & NEGATORS):
        return f"the source says “{min(relation)}”, not that one causes the other"
    return ""


def _condition(claim: Reading, sentence: Reading) -> str:
    """What holds under a condition alone, told without it."""
    first, second = [*sentence.spelled[:2], "", ""][:2]
    # "If you want ..." gives advice; what follows is told of everyone.
    if first in CONDITIONS and second not in ("you", "sie", "man", "vous", "usted") and not claim.words & (HEDGES | CONDITIONS):
        return f"the source says so under a condition (“{first} {second} …”)"
    return ""


def _rate(claim: Reading, sentence: Reading) -> str:
    claimed = set(_PER.findall(claim.low))
    stated = set(_PER.findall(sentence.low)) if claimed else claimed
    if claimed and stated and not claimed & stated:
        return f"the source says per {min(stated)}, not per {min(claimed)}"
    return ""


def _month(claim: Reading, sentence: Reading) -> str:
    """May, which as a word of its own is no name and so is not looked for among the names."""
    if claim.dateless != claim.text and "May" not in sentence.text and (other := _MONTH.search(sentence.text)):
        return f"the source says {other[0]}, not May"
    return ""


def _reversed(claim: Reading, sentence: Reading) -> str:
    """From one figure to another, turned round."""
    claimed = _FROM_TO.findall(claim.low)
    stated = _FROM_TO.findall(sentence.low) if claimed else claimed
    if any((later, former) in stated and (former, later) not in stated for former, later in claimed if former != later):
        return "the source names the two figures the other way round"
    return ""


def _joined(claim: Reading, sentence: Reading) -> str:
    """The same signs in scripts that are written without spaces, where a word is a part of a run."""
    own, other = claim.text, sentence.text
    if not tokens.has_joined(own):
        return ""
    if _holds(own, JOINED_ALL) and not _holds(other, JOINED_ALL) and (some := _holds(other, JOINED_SOME)):
        return f"the source says “{some}”, not all of them"
    if (hedge := _holds(other, JOINED_HEDGES)) and not _holds(own, JOINED_HEDGES):
        return f"the source says “{hedge}”, which the claim leaves out"
    negated, negates = _holds(_without(own), JOINED_NEGATIONS), _holds(_without(other), JOINED_NEGATIONS)
    if bool(negated) != bool(negates) and not re.search("[,，、;；]", other):
        return "the source negates it" if negates else "the source states it without the negation"
    return ""


def _holds(text: str, parts: Sequence[str]) -> str:
    return next((part for part in parts if part in text), "")


def _without(text: str) -> str:
    for part in JOINED_NO_NEGATION:
        text = text.replace(part, "")
    return text


def _exchanged(claim: Reading, sentence: Reading) -> str:
    """Two parts of one sentence that have changed places: who designed and who tested, before and after."""
    if not 4 <= len(claim.content) <= MOST_KEYS or not sentence.keys.issuperset(claim.content) or tokens.has_joined(claim.text):
        return ""
    if "://" in sentence.text or claim.words.isdisjoint(AGENT_WORDS) != sentence.words.isdisjoint(AGENT_WORDS):
        return ""
    stand: dict[str, list[int]] = {}
    for place, key in enumerate(sentence.content):
        stand.setdefault(key, []).append(place)
    places = [stand[key].pop(0) if stand.get(key) else -1 for key in claim.content]
    return "the source has two of its parts the other way round" if -1 not in places and _two_changed(places) else ""


def _two_changed(places: list[int]) -> bool:
    """Whether different numbers would rise if two parts of them changed places."""
    wanted = sorted(places)
    moved = [place for place, (one, other) in enumerate(zip(places, wanted, strict=True)) if one != other]
    if not moved:
        return False
    left, right = moved[0], moved[-1] + 1
    # Put right, the last part begins with the least of what was moved, and the first ends with the greatest.
    second, first = places.index(wanted[left]), places.index(wanted[right - 1]) + 1
    return first < second and places[second:right] + places[first:second] + places[left:first] == wanted[left:right]


_CHECKS: tuple[Callable[[Reading, Reading], str], ...] = (
    _reach,
    _denied,
    _certainty,
    _cause,
    _condition,
    _rate,
    _month,
    _reversed,
    _joined,
    _exchanged,
)

"""Where a passage that speaks of the same thing states it otherwise: figures, names, negation, direction of comparison."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deepdelve.core.records import ClaimKind
from deepdelve.utils.grounding import alterations, figures, sentences, tokens, vocabulary
from deepdelve.utils.grounding.evidence import ClaimWords, Evidence
from deepdelve.utils.grounding.reading import Reading, read

# A passage speaks of the same thing when it holds so much of the rest of the claim.
SAME_THING = 0.7
_SAME_THING_JOINED = 0.5
_BOUND_KEYS = frozenset(map(tokens.stem, ("more", "less", "fewer", "over", "least", "most", "exceed", "exceeds", "exceeded", "exceeding")))
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d[\d.,]*|[$€£¥%]")


def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in vocabulary.OPPOSITES:
        one, other = (tokens.keys(word)[0] for word in pair)
        table.setdefault(one, set()).add(other)
        table.setdefault(other, set()).add(one)
    return {key: frozenset(values) for key, values in table.items()}


OPPOSITES = _opposites()


@dataclass(frozen=True)
class Difference:
    """What differs. ``contradicts`` where the passage states something else, not merely nothing."""

    kind: ClaimKind
    reason: str
    contradicts: bool


def find(words: ClaimWords, evidence: Evidence, absent: Collection[figures.Quantity]) -> Difference | None:
    """The first difference between a claim and its best passage; None where there is none that can be seen.

    Args:
        words: the claim.
        evidence: its best window in one source.
        absent: its quantities that stand in none of the cited sources.
    """
    return _figure(words, evidence, absent) or _worded(words, evidence) or _name(words, evidence) or _altered(words, evidence)


def _share(told: frozenset[str], held: frozenset[str]) -> float:
    """The share of a claim's telling words among given keys; 0 where there are too few to tell."""
    return len(told & held) / len(told) if told else 0.0


def _figure(words: ClaimWords, evidence: Evidence, absent: Collection[figures.Quantity]) -> Difference | None:
    """A figure that no cited source has; or one that stands elsewhere while this passage gives another of its unit."""
    if not words.quantities:
        return None
    stated = evidence.stated
    share = _share(words.subject, evidence.around)
    for quantity in absent:
        rivals = [other for other in stated if comparable(quantity, other) and other.decisive]
        if share >= SAME_THING and rivals:
            return Difference("figure", f"the source says {rivals[0].raw.strip()}, not {quantity.raw.strip()}", True)
        return Difference("figure", f"{quantity.raw.strip()} is not in the source", False)
    if _share(words.told(_BOUND_KEYS), evidence.around) >= 0.8 and (bound := _bound(words, stated)):
        return bound
    if share < 0.8:
        return None
    low = tokens.lower(words.text)
    for quantity in figures.missing(words.quantities, stated):
        rival = _rival(quantity, words, low, stated, tokens.lower(evidence.passage))
        if rival is not None:
            return Difference("figure", f"the source says {rival.raw.strip()} there, not {quantity.raw.strip()}", True)
    return None


def _rival(
    quantity: figures.Quantity, words: ClaimWords, low: str, stated: Sequence[figures.Quantity], passage: str
) -> figures.Quantity | None:
    """Another figure in the place of a claimed one: of the same unit, or counting the same thing."""
    counted = _counted(low, quantity)
    for other in stated:
        if not comparable(quantity, other) or any(figures.matches(own, other) for own in words.quantities):
            continue
        if quantity.unit or quantity.is_year or quantity.factor != 1 or (counted and counted == _counted(passage, other)):
            return other
    return None


def _counted(low: str, quantity: figures.Quantity) -> str:
    """The key of the word that a bare number counts."""
    following = _WORD.match(low, quantity.end + 1)
    return tokens.stem(following[0]) if following and following[0][0].isalpha() else ""


def _bound(words: ClaimWords, stated: Sequence[figures.Quantity]) -> Difference | None:
    for quantity in words.quantities:
        other = next((other for other in stated if _other_side(quantity, other)), None)
        if other is not None and not any(figures.matches(quantity, each) and each.bound != other.bound for each in stated):
            return Difference("figure", f"the source sets {other.raw.strip()} as a bound on the other side", True)
    return None


def _other_side(one: figures.Quantity, other: figures.Quantity) -> bool:
    """At least against at most, of the same value."""
    return one.value == other.value and comparable(one, other) and {one.bound, other.bound} == {"<", ">"}


def comparable(one: figures.Quantity, other: figures.Quantity) -> bool:
    """Whether two quantities could be of one thing: same unit, both years or both not."""
    return one.unit == other.unit and one.is_year == other.is_year


def _worded(words: ClaimWords, evidence: Evidence) -> Difference | None:
    """Negation and direction, against the one sentence of the passage that holds most of the claim."""
    if len(words.distinct) < 2:
        return None
    best = max(evidence.sentences, key=lambda sentence: _share(words.subject, sentence.keys), default=None)
    if best is None or _share(words.subject, best.keys) < (0.5 if len(words.distinct) >= 3 else 1.0):
        return None
    return _negation(words, best) or _direction(words, best.keys)


def _altered(words: ClaimWords, evidence: Evidence) -> Difference | None:
    """A small word that changes all, and no sentence of the source that says it without."""
    told = words.told(alterations.SMALL_KEYS)
    shares = [(_share(told, sentence.keys), sentence.text) for sentence in evidence.sentences]
    most = max((share for share, _ in shares), default=0.0)
    if most < _least(words) or len(words.distinct) < 2:
        return None
    reason = next((alterations.find(words.text, text) for share, text in shares if share == most), "")
    if not reason:
        return None
    # Another sentence of the source may say what this one does not; it is read through only for the few claims that come here.
    for start, end in sentences.split(evidence.source.text):
        text = evidence.source.text[start:end]
        keys = frozenset(tokens.keys(tokens.lower(text)))
        if _share(told, keys) >= most - 0.05 and not alterations.find(words.text, text):
            return None
    return Difference("statement", reason, False)


def _least(words: ClaimWords) -> float:
    """The share from which a sentence speaks of the same thing. Where words are pairs of characters, one other word spoils three."""
    return _SAME_THING_JOINED if tokens.has_joined(words.text) else SAME_THING


def _negation(words: ClaimWords, sentence: Reading) -> Difference | None:
    own, keys = read(words.text), sentence.keys
    if not own.may_negate and not sentence.may_negate:
        return None
    claimed, stated = _negated(own), _negated(sentence)
    if claimed.negators and not stated.negators and not stated.weak.difference(words.distinct):
        scope = [key for key in claimed.keys if key in keys]
        if scope and _share(words.subject, keys) >= SAME_THING:
            return Difference("statement", "the source states it without the negation", True)
    if stated.negators and not claimed.negators and not claimed.weak - keys:
        scope = [key for key in stated.keys if key in claimed.plain and key not in stated.plain]
        same_phrase = bool(stated.phrases & frozenset(pairwise(words.keys)))
        if scope and _share(words.subject, keys) >= (0.5 if same_phrase else 0.8):
            return Difference("statement", "the source negates it", True)
    return None


@dataclass(frozen=True)
class _Scope:
    """What a text negates.

    Attributes:
        keys: keys in the scope of a negator, ``plain``: keys that are not.
        negators: how many there are.
        weak: words that half negate.
        phrases: negated keys with the key behind.
    """

    keys: frozenset[str]
    plain: frozenset[str]
    negators: int
    weak: frozenset[str]
    phrases: frozenset[tuple[str, str]]


def _negated(sentence: Reading) -> _Scope:
    """The scope of each negator: the next content word. Numbers and currencies end it: "not EUR 30 billion" negates no word."""
    scoped: set[str] = set()
    plain: set[str] = set()
    order: list[tuple[str, bool]] = []
    negators, left = 0, 0
    found = _WORD.findall(sentence.text.lower().replace("’", "'"))
    for place, word in enumerate(found):
        following = found[place + 1] if place + 1 < len(found) else ""
        if (word in vocabulary.NEGATORS or word.endswith("n't")) and f"{word} {following}" not in vocabulary.NOT_NEGATING:
            negators += not _is_figure(following)
            left = 0 if _is_figure(following) else 4
            continue
        key = tokens.stem(word)
        if _is_figure(word):
            left = 0
        elif key in tokens.STOPKEYS:
            left = max(0, left - 1)
        else:
            (scoped if left else plain).add(key)
            order.append((key, left > 0))
            left = 0
    weak = frozenset(tokens.stem(word) for word in found if word in vocabulary.WEAK_NEGATIVES or word[:3] == "non")
    phrases = frozenset((one, other) for (one, negated), (other, _) in pairwise(order) if negated)
    return _Scope(frozenset(scoped), frozenset(plain), negators, weak, phrases)


def _is_figure(word: str) -> bool:
    return word[:1].isdigit() or word in "$€£¥%" or word in ("eur", "usd", "gbp", "about", "around")


def _direction(words: ClaimWords, keys: frozenset[str]) -> Difference | None:
    """A word of comparison whose opposite stands in the sentence, and it does not."""
    own = read(words.text).keys
    for key in own & OPPOSITES.keys():
        opposite = OPPOSITES[key] & keys
        if opposite and key not in keys and not (opposite & own) and _share(words.told((key,)), keys) >= _least(words):
            return Difference("statement", "the source states the opposite direction", True)
    return None


def _name(words: ClaimWords, evidence: Evidence) -> Difference | None:
    """A name or a month that the source does not have, where the passage holds all the rest."""
    names = [key for key in words.names if not key[0].isdigit() and key in words.distinct and key not in words.label]
    absent = [key for key in names if not evidence.located.get(key)]
    if not absent or len(words.distinct) - len(absent) < 3 or _share(words.told(absent), evidence.around) < 0.8:
        return None
    shown = [word for word in re.findall(r"[\w'’-]+", words.text) if tokens.stem(word.lower()) in absent]
    named = [word for word in shown if not _expanded(word, evidence.passage)]
    return Difference("statement", f"{named[0]} is not in the source", False) if named else None


def _expanded(word: str, passage: str) -> bool:
    """Whether an acronym's words, or a demonym's stem, stand in the passage."""
    if word.isupper() and len(word) >= 2:
        initials = "".join(found[0] for found in re.findall(r"[A-Za-z]\w*", passage)).upper()
        return word.rstrip("S") in initials
    return len(word) > 5 and word[:4] in passage

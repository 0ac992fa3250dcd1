"""The parts of a question that can be researched on their own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from deepdelve.engine.delegation_rules import Asker, Limits, Request, judge
from deepdelve.engine.facets import aspects, compared, completed, without_exclusions
from deepdelve.utils.names import Name, find_names
from deepdelve.utils.text import squash, terms

MAX_FACETS = 4
_NAME_CHARS = 100
_JOINT = re.compile(r"\s*\b(?:and|or|versus|vs\.?)\b\s*(?:the\s+)?", re.IGNORECASE)
_OR = re.compile(r"\s*\b(?:or|versus|vs\.?)\b", re.IGNORECASE)
_COMMA = re.compile(r"\s*,\s*(?:the\s+)?")
# "X and Y" are two things to research only where the question sets them side by side.
_COMPARES = re.compile(
    r"\b(?:both|same|common|between|compare[ds]?|comparison|differ(?:s|ent|ence|ences)?|respective(?:ly)?|each|share[ds]?)\b|"
    r"^\s*(?:are|were|do|did|have)\b",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(r"\b(?:compare|contrast|between|both|are|were|do|did)\s+(?:the\s+)?$", re.IGNORECASE)
_REFERS_BACK = re.compile(r"\b(?:it|its|they|them|their|he|him|his|she|her|this|these|that|those|one|there)\b", re.IGNORECASE)
_QUESTION_END = re.compile(r"[?？]\s*")
_ASKS = re.compile(
    r"(?:and |also |then )?(?:what|who|when|where|why|how|which|does|do|is|are|did|was|were|compare|contrast|describe|discuss|explain|"
    r"list|name|tell|was|wer|wann|wo|warum|wie|welche[rsnm]?)\b",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(
    r"(?:;|,)\s+(?:and|und|et|y)\s+(?=(?:what|who|when|where|why|how|which|does|do|is|are|did|was|were)\b)"
    r"|\s+and\s+(?=(?:what|who|when|where|why|how)\s+(?P<helped>(?:does|do|is|are|did|was|were|has|have|can|should)\b)?)"
    # Languages that write common nouns small, so that names can be told.
    r"|\s+(?:et|y|e|en)\s+(?=(?:qui|quand|où|pourquoi|comment|combien|quel(?:le)?s?|quién(?:es)?|cuándo|cuánt[oa]s?|dónde|cómo|cuál|chi"
    r"|quando|dove|quant[oia]|quem|onde|qual|wie|waar|wanneer|hoe)\s)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Facet:
    """A part of the question: ``name`` stands as a heading, ``text`` is what is asked, complete by itself."""

    name: str
    text: str


def split_question(question: str) -> list[Facet]:
    """One to ``MAX_FACETS`` facets: several questions, things that are compared, or the question as a whole."""
    text = without_exclusions(_asked(squash(question)))
    for parts in (_questions(text), _compared(text), _side_by_side(text), _aspects(text)):
        if 2 <= len(parts) <= MAX_FACETS and _independent(parts):
            return parts
    return [whole(text)]


def whole(question: str) -> Facet:
    """The question as one facet."""
    text = squash(question)
    return Facet(_shortened(text.rstrip(" ?？.")), text)


def _independent(parts: Sequence[Facet]) -> bool:
    """Whether each part can be understood alone, and all of them pass the rules of delegation as tasks of their own."""
    if any(_REFERS_BACK.search(part.text) and not find_names(part.text) for part in parts[1:]):
        return False
    judged = judge([Request(part.name, part.text, part.name) for part in parts], Asker(), Limits())
    return all(request.refusal is None for request in judged)


def _asked(text: str) -> str:
    """The text up to its last question mark: what follows says how to answer, unless it asks for something itself."""
    *marks, (start, end) = [(0, len(text)), *(match.span() for match in _QUESTION_END.finditer(text))]
    return text[:end].rstrip() if marks and terms(text[:start]) and not _ASKS.match(text[end:]) else text


def _questions(text: str) -> list[Facet]:
    asked = [part.strip() for part in _QUESTION_END.split(text) if terms(part)]
    if len(asked) < 2:
        asked = _joined_questions(text)
        return [_completed(part, asked[0] if at else "", joined=True) for at, part in enumerate(asked)] if len(asked) >= 2 else []
    return [_completed(part, asked[0] if at else "") for at, part in enumerate(asked)]


def _joined_questions(text: str) -> list[str]:
    """The questions that one sentence joins: "who wrote it and when was it published", "who won A and who won B".

    "The man who came and who went" joins none, and what is asked of one thing without naming it again stays with it.
    """
    asked: list[str] = []
    start = 0
    for joint in _NEXT_QUESTION.finditer(text):
        part, rest = text[start : joint.start()], text[joint.end() :]
        relative = rest.split(maxsplit=1)[0].casefold() in part.casefold().split()[1:]
        apart = joint[0].lstrip()[:1] in ",;" or joint["helped"] or (find_names(rest) and not relative)
        if apart and terms(part):
            asked.append(part.strip())
            start = joint.end()
    return [*asked, text[start:].strip()] if terms(text[start:]) else []


def _completed(part: str, first: str, *, joined: bool = False) -> Facet:
    """A later question; where it names nothing itself and goes on about the first one's subject, with the names of that one."""
    facet = whole(part[:1].upper() + part[1:])
    named = [name.text for name in find_names(first)]
    if named and not find_names(part) and (joined or set(terms(part)) & set(terms(first))):
        return Facet(facet.name, f"{part.rstrip(' ?？')} ({', '.join(named)})")
    return Facet(facet.name, completed(facet.text, first))


def _compared(text: str) -> list[Facet]:
    found = find_names(text)
    for index in range(len(found) - 1):
        left, right = found[index], found[index + 1]
        joint = _JOINT.fullmatch(text, left.end, right.start)
        if joint and (_OR.match(joint.group()) or _COMPARES.search(text)):
            group = [*_listed_before(text, found, index), left, right]
            rest = text[: group[0].start] + text[group[-1].end :]
            if any(name.text in rest for name in group):
                return []
            return [Facet(name.text, _without(text, group, name)) for name in group]
    return []


def _side_by_side(text: str) -> list[Facet]:
    """Things that are compared and are no names by their spelling ("the 2022 election")."""
    subjects = compared(text)
    if len(subjects) < 2 or any(text.count(subject) != 1 for subject in subjects):
        return []
    start, end = text.index(subjects[0]), text.index(subjects[-1]) + len(subjects[-1])
    return [Facet(subject, squash(f"{text[:start]}{subject}{text[end:]}")) for subject in subjects]


def _aspects(text: str) -> list[Facet]:
    """Aspects of one thing ("X: history, synthesis and use"), each with the thing itself."""
    subject, listed = aspects(text)
    return [Facet(aspect[:1].upper() + aspect[1:], f"{subject}: {aspect}") for aspect in listed] if terms(subject) else []


def _listed_before(text: str, found: Sequence[Name], index: int) -> list[Name]:
    """Names before this one in a list with commas. A single one is more often a place or a description, unless a list is announced."""
    first = index
    while first > 0 and _COMMA.fullmatch(text, found[first - 1].end, found[first].start):
        first -= 1
    announced = index - first > 1 or _ANNOUNCES.search(text[: found[first].start])
    return list(found[first:index]) if announced else []


def _without(text: str, group: Sequence[Name], kept: Name) -> str:
    start, end = group[0].start, group[-1].end
    return squash(f"{text[:start]}{text[kept.start : kept.end]}{text[end:]}")


def _shortened(text: str) -> str:
    return text if len(text) <= _NAME_CHARS else text[:_NAME_CHARS].rsplit(" ", 1)[0] + "…"

"""Whether two pieces of research are one: by the subjects they name, and by their content words where they name none."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

import regex

from deepdelve.utils.words import is_content, overlap, stem, word_set, words

MAX_CHARS = 1_500
SAME_WORDS = 0.5
# A template: nearly all words stand in the same order, and a few were put in place of others.
_TEMPLATE_SHARE = 0.6

_WORD = regex.compile(r"[\p{L}\p{M}\d]+(?:[-'’&.][\p{L}\p{M}\d]+)*")
_SENTENCE_END = regex.compile(r"[.!?:;\n•]\s*[\"'(\[-]*\s*$")
_KATAKANA = regex.compile(r"[\p{Katakana}ー]{2,}")
_HAN_CHAR = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_YEAR = regex.compile(r"(?:1[4-9]|20|21)\d\d")
# Words that count the parts of a plan; with a number they name nothing ("sector 1", "part 2").
_ENUMERATORS = word_set(
    """
    sector part task item section step facet topic subtask point question query group batch round chapter option phase block list
    run attempt try teil aufgabe abschnitt schritt punkt frage runde partie tâche étape tarea parte paso sezione passo deel taak
    stap
    """
)
# Words of counting and comparing that stand before a number without naming anything with it.
_QUANTIFIERS = word_set(
    """
    top last first past next within about over under least most than to from in of at for by and or the until since between after
    before around nearly almost only up page pages line score rank number no nr usd eur gbp roughly approximately exactly per
    """
)


def _root(word: str) -> str:
    """The word without the endings of English verbs: "founded" and "founding" meet."""
    plain = stem(word)
    for ending in ("ing", "ed"):
        if plain.isascii() and plain.endswith(ending) and len(plain) >= len(ending) + 4:
            return plain[: -len(ending)]
    return plain


# What any research task may say, whatever it is about.
GENERIC = frozenset(
    _root(word)
    for word in word_set(
        """
        find search look locate gather collect get fetch retrieve research investigate identify determine examine explore analyse
        analyze study check verify confirm compile list report provide give describe explain summarise summarize review assess
        evaluate compare cover include using use based data information info figure fact detail source evidence statistic official
        reliable credible authoritative reputable recent latest current currently new newest updated up-to-date today now year
        typical typically average mean median usual general overall common key main major important relevant specific exact
        precise actual real available published good best top level amount value number please need needed try retry again second
        attempt alternative additional further more deeper deep follow followup continue complete full total overview background
        question answer task topic web page site website article paper other aspect issue thing etc develop discuss define outline
        highlight elaborate online internet quote cite citation state stating date dated recherche suche finde aktuelle daten
        informationen quellen ermittle cherche trouver données sources busca encontrar datos fuentes cerca trova dati fonti
        durchschnittlich durchschnittliche durchschnittlichen aktueller aktuellen moyen moyenne promedio medio найти найди данные
        информация среднее
        """
    )
)
_SYNONYMS: dict[str, str] = {
    _root(word): group.split()[0]
    for group in (
        "price cost fee rate charge pricing fare expense",
        "apartment flat condo",
        "salary wage pay income earning remuneration",
        "company firm corporation business",
        "law regulation legislation rule act legal",
        "rent rental lease",
        "housing home house property",
        "job employment",
        "growth increase rise",
        "car automobile vehicle",
        "advantage benefit pro upside strength",
        "disadvantage drawback con downside weakness limitation",
        "population inhabitant resident",
        "revenue sale turnover",
        "doctor physician",
        "medicine drug medication",
        "duty obligation requirement",
        "penalty fine sanction",
        "timeline schedule deadline date timetable",
        "transport transit",
        "cause reason factor driver",
        "effect impact consequence influence",
        "outlook forecast projection prognosis",
    )
    for word in group.split()
}


class Described(Protocol):
    """Anything with a name and instructions: a task, a line of the plan, a request to delegate."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def instructions(self) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class _Reading:
    subjects: frozenset[tuple[str, ...]]
    vocabulary: frozenset[str]
    specific: tuple[str, ...]


def same_task(first: Described, second: Described) -> bool:
    """Whether the second is the first under another name.

    Different named subjects always make two tasks. The same subjects and overlapping content words make one. Where
    neither names a subject, content words decide.
    """
    one, two = (_read(item.name[:MAX_CHARS], item.instructions[:MAX_CHARS]) for item in (first, second))
    return _same(one, two)


def names_more(first: Described, second: Described) -> bool:
    """Whether the first bears in its name a proper name of which the second says nothing, in name or instructions."""
    other = _read(second.name[:MAX_CHARS], second.instructions[:MAX_CHARS])
    own = _read(first.name[:MAX_CHARS], "").subjects
    return any(not _names(other, subject) for subject in own if not any(char.isdigit() for part in subject for char in part))


def _same(one: _Reading, two: _Reading) -> bool:
    only_one = {subject for subject in one.subjects if not _names(two, subject)}
    only_two = {subject for subject in two.subjects if not _names(one, subject)}
    if only_one and only_two:
        return False
    if (only_one or only_two) and not (one.subjects - only_one or two.subjects - only_two):
        return False
    return _same_words(one, two)


def same_matter(first: str, second: str) -> bool:
    """Whether two sentences are on one thing: the rename test, on their text alone."""
    return _same(_read("", first[:MAX_CHARS]), _read("", second[:MAX_CHARS]))


def subjects(text: str) -> frozenset[str]:
    """The named subjects of a text, case-folded: proper names, years, and names with a number ("category 5", "area 51")."""
    found = _named(text) | _years(text) | _numbered(text)
    return frozenset(" ".join(subject) for subject in found)


@lru_cache(maxsize=20_000)
def synonym(word: str) -> str:
    """The word that stands for a group of words of one meaning; the word itself where it belongs to none."""
    root = _root(word)
    return _SYNONYMS.get(root, root)


def subject_words(text: str) -> frozenset[str]:
    """The words of a text that say what it is about: neither function words nor what any task may say."""
    return frozenset(_specific(text))


@lru_cache(maxsize=2_000)
def _read(name: str, instructions: str) -> _Reading:
    text = f"{name}\n{instructions}"
    told = instructions if instructions.strip() else name
    return _Reading(subjects=_subjects(name, instructions), vocabulary=frozenset(_surface(text)), specific=tuple(_specific(told)))


def _surface(text: str) -> set[str]:
    return {stem(token.casefold()) for match in _WORD.finditer(text) for token in _parts(match.group())}


def _parts(token: str) -> list[str]:
    return [part for part in regex.split(r"[-'’&.]", token) if part] or [token]


def _specific(text: str) -> list[str]:
    """Content words in order, synonyms folded, without what any task may say; characters, for scripts without spaces."""
    found: list[str] = []
    numbered = False
    for word in words(text):
        behind, (numbered, folded) = numbered, _meaning(word)
        if folded and not (behind and word.isdigit()):
            found.append(folded)
    return found


@lru_cache(maxsize=65_536)
def _meaning(word: str) -> tuple[bool, str]:
    """Whether a word announces a number ("chapter 3"), and what it stands for; empty where it tells nothing of the subject."""
    numbering = stem(word) in _ENUMERATORS
    if not word.isascii() and _HAN_CHAR.match(word):
        return numbering, word
    folded = synonym(word)
    return numbering, folded if not numbering and is_content(word) and folded not in GENERIC else ""


def _names(reading: _Reading, subject: tuple[str, ...]) -> bool:
    return subject in reading.subjects or all(stem(part) in reading.vocabulary for part in subject)


def _same_words(one: _Reading, two: _Reading) -> bool:
    """Whether what is said of the subjects is the same; the subjects' own words count only where nothing else is said."""
    in_names = {synonym(part) for subject in one.subjects | two.subjects for part in subject}
    first, second = ([word for word in reading.specific if word not in in_names] for reading in (one, two))
    if not first or not second:
        first, second = list(one.specific), list(two.specific)
    if not first and not second:
        return True
    return not _substituted(first, second) and overlap(first, second) >= SAME_WORDS


def _substituted(one: Sequence[str], two: Sequence[str]) -> bool:
    """Whether both come from one template with different words put into the same place."""
    matcher = SequenceMatcher(None, one, two, autojunk=False)
    codes = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    kept = sum(block.size for block in matcher.get_matching_blocks())
    if not codes or kept < _TEMPLATE_SHARE * max(len(one), len(two)) - 1 or kept == 0:
        return False
    return all(tag == "replace" and not set(one[a:b]) & set(two) and not set(two[c:d]) & set(one) for tag, a, b, c, d in codes)


def _subjects(name: str, instructions: str) -> frozenset[tuple[str, ...]]:
    """Subjects that the spelling makes sure of; where there are none, capitalised words of the name.

    A number at the end of a name may only count the tries, so it makes a subject only where the instructions name none.
    """
    told = _named(instructions) | _years(instructions) | _numbered(instructions)
    sure = told | _named(name if not _title_case(name) else "") | _years(name)
    sure |= set[tuple[str, ...]]() if told else _numbered(name)
    if sure or not name:
        return frozenset(sure)
    tokens = [match.group() for match in _WORD.finditer(name)]
    return frozenset((t.casefold(),) for t in tokens if t[0].isupper() and _root(t.casefold()) not in GENERIC and is_content(t.casefold()))


def _title_case(name: str) -> bool:
    tokens = [match.group() for match in _WORD.finditer(name) if is_content(match.group().casefold())]
    return len(tokens) > 1 and all(token[0].isupper() or token[0].isdigit() for token in tokens)


def _named(text: str) -> set[tuple[str, ...]]:
    """Capitalised words that do not merely begin a sentence, and names in a script that marks foreign ones."""
    found: set[tuple[str, ...]] = {(match.group(),) for match in _KATAKANA.finditer(text)}
    for match in _WORD.finditer(text):
        token = match.group()
        if not token[0].isupper() or (_begins(text, match.start()) and not _acronym(token)):
            continue
        folded = token.casefold()
        if is_content(folded) and _root(folded) not in GENERIC and stem(folded) not in _ENUMERATORS:
            found.add((folded.removesuffix("'s").removesuffix("’s"),))
    return found


def _acronym(token: str) -> bool:
    return sum(char.isupper() for char in token) > 1


def _begins(text: str, position: int) -> bool:
    before = text[max(0, position - 6) : position]
    return not before.strip(" \"'([-*•") or bool(_SENTENCE_END.search(before))


def _years(text: str) -> set[tuple[str, ...]]:
    return {(match.group(),) for match in _WORD.finditer(text) if _YEAR.fullmatch(match.group())}


def _numbered(text: str) -> set[tuple[str, ...]]:
    """A word with its number, where the two are a name."""
    tokens = [match.group() for match in _WORD.finditer(text)]
    found: set[tuple[str, ...]] = set()
    for word, number in pairwise(tokens):
        folded = word.casefold()
        plain = number.isdigit() and not _YEAR.fullmatch(number) and not word[0].isdigit()
        if plain and folded not in _QUANTIFIERS and stem(folded) not in _ENUMERATORS and is_content(folded):
            found.add((folded, number))
    return found

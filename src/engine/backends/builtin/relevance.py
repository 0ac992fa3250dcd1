"""How well sources fit a question: weighed words in one passage, its names, its title, and bridges from one source to another."""

import html
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from deepdelve.utils.names import names
from deepdelve.utils.text import Sentence, sentences, terms

TITLE_WEIGHT = 0.6
BRIDGE_WEIGHT = 0.6
# Being named by a source is worth more than naming one.
BACK_BRIDGE = 0.5
WINDOW_CHARS = 1_500
# A passage speaks of what a question asks when it holds this share of its weighed words; less is enough where its names are there.
ANCHOR_COVERAGE = 0.5
UNNAMED_COVERAGE = 0.6
NAMES_COUNT_AS = 0.4
# Whatever the rest weighs: so many of a longer question's words in one passage are an answer in other words.
ANCHOR_SHARE = 0.75
ANCHOR_WORDS = 4
# "List five ways to …" says how to answer, and nothing of the subject.
_COMMAND = re.compile(
    r"\s*(?:please\s+)?(?:can you\s+|could you\s+)?"
    r"(?:list|name|give|tell|explain|describe|discuss|outline|summari[sz]e|show|find|write|compare|contrast)\s+"
    r"(?:(?:me|us|an?|brief|short|detailed|briefly|shortly|about|all|the|top|at least|\d{1,3}"
    r"|two|three|four|five|six|seven|eight|nine|ten|some|main|key|best"
    r"|most important)\s+){0,6}"
    r"(?:(?:ways?|methods?|things?|examples?|reasons?|facts?|points?|overview|summary|list)\s+(?:to|of|for|why|about|on|that)\s+)?",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(r"\b[A-Z][\w-]{1,40}(?: [A-Z][\w-]{1,40}){1,7}\b")
_DISAMBIGUATION = re.compile(r"\s*\([^()]*\)\s*$")


@dataclass(frozen=True)
class SourceText:
    """A source as far as it was read."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Ranked:
    """A source with its score. ``anchored``: it speaks of what the question asks by itself, not only by way of another source."""

    source: SourceText
    score: float
    coverage: float
    anchored: bool


@dataclass(frozen=True)
class Question:
    """A question's words and names, and what each word weighs (0 and up; a word that is in no source weighs most)."""

    text: str
    terms: tuple[str, ...]
    names: tuple[str, ...]
    weights: Mapping[str, float]

    def coverage(self, present: Iterable[str], besides: Collection[str] = ()) -> float:
        """The share of the question's weight that these terms hold, 0 to 1; terms in ``besides`` count on neither side."""
        open_terms = {term: weight for term, weight in self.weights.items() if term not in besides}
        total = sum(open_terms.values())
        return sum(open_terms.get(term, 0.0) for term in set(present)) / total if total else 0.0

    def names_in(self, passage: str) -> float:
        """How much of the question's names stands in a phrase of terms, 0 to 1, by pairs of neighbouring words; 0 where it has none."""
        pairs = [pair for name in self.names for pair in _pairs(name)]
        return sum(f" {pair} " in passage for pair in pairs) / len(pairs) if pairs else 0.0


def weigh(text: str, documents: Sequence[Iterable[str]]) -> Question:
    """A question, its words weighed by how few of these documents (as terms) hold them."""
    asked = tuple(terms(_COMMAND.sub("", text, count=1)) or terms(text)) if _COMMAND.match(text) else tuple(terms(text))
    counts = Counter(term for document in documents for term in set(document))
    n = len(documents)
    weights = {term: math.log(1 + (n - counts[term] + 0.5) / (counts[term] + 0.5)) for term in set(asked)}
    named = tuple(dict.fromkeys(_phrase(name) for name in names(text)))
    # Sources that were found by a name all hold it: rare or not, it is what the question is about.
    floor = max((weight for term, weight in weights.items() if counts[term]), default=0.0)
    common = {term for name in named for term in name.split() if 2 * counts[term] > n}
    return Question(text, asked, named, {term: max(weight, floor) if term in common else weight for term, weight in weights.items()})


def rank(text: str, sources: Sequence[SourceText], leads: Sequence[str] = ()) -> list[Ranked]:
    """Sources from best to worst.

    Args:
        text: the question.
        sources: what was read of them.
        leads: names that earlier sources pointed to; a source of that title counts as bridged.
    """
    documents = {source.id: _Document(source) for source in sources}
    question = weigh(text, [document.every for document in documents.values()])
    fits = {key: document.best(question) for key, document in documents.items()}
    base = {key: fits[key][0] + TITLE_WEIGHT * document.title_match(question) for key, document in documents.items()}
    wanted = [f" {_phrase(lead)} " for lead in leads]
    ranked = [
        Ranked(
            source=document.source,
            score=base[key] + BRIDGE_WEIGHT * _bridge(key, documents, base, question, wanted),
            coverage=fits[key][0],
            anchored=_anchored(document, question, *fits[key]),
        )
        for key, document in documents.items()
    ]
    return sorted(ranked, key=lambda entry: -entry.score)


def bare_title(title: str) -> str:
    """A title without what only tells it from others of the name: "Frozen (2013 film)" is "Frozen"."""
    return _DISAMBIGUATION.sub("", html.unescape(title)).strip()


def title_words(title: str) -> frozenset[str]:
    """The terms of a title, and the initials of its runs of capitalised words: "Binding Operational Directive 18-01" is also "BOD"."""
    bare = bare_title(title)
    return frozenset(terms(bare)).union(*(terms("".join(word[0] for word in run.group().split())) for run in _CAPITALISED.finditer(bare)))


def same_name(title: str, name: str) -> bool:
    """Whether a title is this name, or one of the two is the other with more words. A single word must be the whole title."""
    first, second = frozenset(terms(bare_title(title))), frozenset(terms(bare_title(name)))
    return bool(first and second) and (first <= second or (second <= first and len(second) > 1))


@lru_cache(maxsize=512)
def windows(text: str) -> tuple[tuple[Sentence, ...], ...]:
    """The text in overlapping stretches of sentences of about ``WINDOW_CHARS`` characters."""
    pieces = sentences(text)
    found: list[tuple[Sentence, ...]] = []
    start = 0
    while start < len(pieces):
        end = start
        while end < len(pieces) and (end == start or pieces[end].end - pieces[start].start <= WINDOW_CHARS):
            end += 1
        found.append(tuple(pieces[start:end]))
        start = end if end >= len(pieces) else max(start + 1, (start + end) // 2)
    return tuple(found)


class _Document:
    """A source's terms, prepared once."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.title = _phrase(bare_title(source.title))
        self.title_terms = frozenset(self.title.split())
        self.windows = [f" {self.title} {_phrase(' '.join(piece.text for piece in window))} " for window in windows(source.text)]
        self.sets = [frozenset(window.split()) for window in self.windows]
        self.every = self.title_terms.union(*self.sets)

    def best(self, question: Question) -> tuple[float, float]:
        """Coverage, and share of the names, of the window that has most of both; the title belongs to each window."""
        found = ((question.coverage(present), question.names_in(window)) for window, present in zip(self.windows, self.sets, strict=True))
        return max(found, key=lambda pair: pair[0] + NAMES_COUNT_AS * pair[1], default=(0.0, 0.0))

    def share(self, question: Question) -> float:
        """The share of the question's words that one window holds, each word counting alike."""
        asked = frozenset(question.terms)
        return max((len(asked & present) for present in self.sets), default=0) / len(asked) if asked else 0.0

    def title_match(self, question: Question) -> float:
        """1 where the question holds the title as a phrase, else half the share of its words."""
        if not self.title:
            return 0.0
        if f" {self.title} " in f" {' '.join(question.terms)} ":
            return 1.0
        return 0.5 * len(self.title_terms & set(question.terms)) / len(self.title_terms)

    def mentions(self, other: "_Document") -> bool:
        """Whether this text names the other's title."""
        return bool(other.title) and any(f" {other.title} " in window for window in self.windows)


def _bridge(key: str, documents: Mapping[str, _Document], base: Mapping[str, float], question: Question, wanted: Sequence[str]) -> float:
    own = documents[key]
    best = 1.0 if own.title and any(f" {own.title} " in lead for lead in wanted) else 0.0
    for other, document in documents.items():
        if other == key:
            continue
        if document.mentions(own):
            best = max(best, base[other])
        if own.mentions(document) and document.title_match(question) >= 1:
            best = max(best, BACK_BRIDGE * base[other])
    return best


def _anchored(document: _Document, question: Question, coverage: float, named: float) -> bool:
    """Whether a source speaks of what is asked: by its title, by the question's names, or by enough of its words."""
    if document.title_match(question) >= 1 and _is_subject(document, question):
        return True
    if document.share(question) >= ANCHOR_SHARE and len(set(question.terms)) >= ANCHOR_WORDS and (named > 0 or not question.names):
        return True
    if not question.names:
        return coverage >= ANCHOR_COVERAGE
    needed = ANCHOR_COVERAGE - NAMES_COUNT_AS * named if named >= 0.5 else UNNAMED_COVERAGE
    return named > 0 and coverage >= needed


def _is_subject(document: _Document, question: Question) -> bool:
    """Whether a title that the question holds is what it asks about: one of its names, several words, or most of its weight."""
    if question.names:
        return document.title_terms <= frozenset(" ".join(question.names).split())
    return len(document.title_terms) > 1 or question.coverage(document.title_terms) >= ANCHOR_COVERAGE


def _pairs(name: str) -> list[str]:
    words = name.split()
    return [f"{one} {two}" for one, two in pairwise(words)] or words


def _phrase(text: str) -> str:
    return " ".join(terms(text))

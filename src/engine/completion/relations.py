"""How the sources of a report stand to each other and to the question: contradictions of figures, and sources beside the point."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from deepdelve.core.records import Finding
from deepdelve.engine.completion.draft import Draft
from deepdelve.engine.evidence import evidence, facet_of
from deepdelve.engine.language import language_of
from deepdelve.engine.subjects import same_matter, subject_words
from deepdelve.utils.grounding import figures
from deepdelve.utils.run_state import RunState
from deepdelve.utils.words import overlap

# Two statements are on one matter when they share so many of their words, apart from the figure.
_SAME_MATTER = 0.7
# A sentence of the report tells a statement when it has so many of its words.
_TOLD = 0.6
_RECENT = 8
_MAX_STATEMENT = 400
_MAX_TOLD = 4_000


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sources that differ on one quantity of one entity at one date."""

    source_ids: tuple[str, ...]
    quantity: str
    detail: str = ""


@dataclass(frozen=True)
class Measured:
    """A claim with one measured quantity; ``matter`` is its text without it."""

    source_id: str
    text: str
    matter: str
    words: frozenset[str]
    quantity: figures.Quantity


def contradictions(state: RunState, report: Draft) -> tuple[Contradiction, ...]:
    """Claims of two sources that give different figures for one thing, where the report tells at least one of them.

    Only claims with exactly one quantity, of a known unit, are compared; ranges and bounds ("at least") are left alone.
    Linear in the number of claims: each is compared with the few latest that share its rarer words.
    """
    pairs = differing((f.source_id, c.text) for f in evidence(state) for c in f.claims)
    told = _sentences_by_source(report) if pairs else {}
    found: dict[tuple[str, ...], Contradiction] = {}
    for one, other in pairs:
        ids = tuple(sorted({one.source_id, other.source_id}))
        if ids not in found and (_told(one, told) or _told(other, told)):
            detail = f"{one.quantity.raw.strip()} [{one.source_id}], {other.quantity.raw.strip()} [{other.source_id}]"
            found[ids] = Contradiction(ids, " ".join(one.matter.split()).strip(" .")[:120], detail)
    return tuple(found.values())


def differing(claims: Iterable[tuple[str, str]]) -> list[tuple[Measured, Measured]]:
    """Of claims, given as source id and text, the pairs of two sources that give different figures for one thing."""
    statements = [measured for source_id, text in claims if (measured := _statement(source_id, text)) is not None]
    return [pair for pair in _pairs(statements) if _differ(*pair)]


def off_topic(state: RunState, report: Draft) -> tuple[str, ...]:
    """Cited sources whose title and claims share no word with the question or with the facet they were read for.

    Sources of another language than the question's are left alone, since words cannot be compared there; so is one whose
    title another cited source speaks of: an answer may take two steps.
    """
    return _beside_among(report.cited, state)


def beside_the_point(state: RunState) -> frozenset[str]:
    """The same of all sources with evidence: what is beside the point need not be cited, and answers no facet."""
    return frozenset(_beside_among(list(dict.fromkeys(finding.source_id for finding in evidence(state))), state))


def nothing_to_the_point(state: RunState) -> bool:
    """Whether there is evidence, and all of it is beside the point: nothing can be written from it that answers the question.

    The facets of a bundle count as parts of the question only where they share a word with it: nobody planned them.
    """
    told = list(dict.fromkeys(finding.source_id for finding in evidence(state)))
    return bool(told) and len(_beside_among(told, state, trusting=not state.evidence_only)) == len(told)


def _beside_among(source_ids: Sequence[str], state: RunState, *, trusting: bool = True) -> tuple[str, ...]:
    asked = subject_words(state.question)
    language = language_of(state.question)
    if len(asked) < 2 or not language:
        return ()
    by_source: dict[str, list[Finding]] = defaultdict(list)
    for finding in evidence(state):
        by_source[finding.source_id].append(finding)
    beside = [i for i in source_ids if i in by_source and _beside(by_source[i], state, asked, language, trusting=trusting)]
    near = [f for i in source_ids if i not in beside for f in by_source.get(i, ())]
    spoken = subject_words(" ".join(c.text for f in near for c in f.claims))
    return tuple(i for i in beside if not (named := subject_words(state.sources[i].title)) or not named <= spoken)


def _beside(findings: Sequence[Finding], state: RunState, asked: frozenset[str], language: str, *, trusting: bool) -> bool:
    title = state.sources[findings[0].source_id].title
    told = " ".join([title, *(f.summary for f in findings), *(c.text for f in findings for c in f.claims)])[:_MAX_TOLD]
    named = dict.fromkeys(facet_of(finding, state) for finding in findings)
    facets = " ".join(facet for facet in named if trusting or subject_words(facet) & asked)
    return _apart(told, facets, asked, language)


@lru_cache(maxsize=2_048)
def _apart(told: str, facets: str, asked: frozenset[str], language: str) -> bool:
    """Whether a text shares no word with the question or the facets. The same sources come back at every attempt of a run."""
    return not (asked | subject_words(facets)) & subject_words(told) and language_of(told) == language


@lru_cache(maxsize=4_096)
def _statement(source_id: str, text: str) -> Measured | None:
    text = text[:_MAX_STATEMENT]
    low = text.lower()
    measured = [q for q in figures.find_written(low) if not q.is_year] if len(low) == len(text) else []
    if len(measured) != 1 or not measured[0].unit or measured[0].bound:
        return None
    quantity = measured[0]
    matter = f"{text[: quantity.start]} {text[quantity.end :]}"
    return Measured(source_id, text, matter, subject_words(matter), quantity)


def _pairs(statements: Iterable[Measured]) -> Iterable[tuple[Measured, Measured]]:
    """Pairs of different sources and one unit that share a word, each with the few latest ones."""
    latest: dict[tuple[str, str], list[Measured]] = defaultdict(list)
    for statement in statements:
        met: set[int] = set()
        for word in statement.words:
            holders = latest[statement.quantity.unit, word]
            for other in holders[-_RECENT:]:
                if id(other) not in met and other.source_id != statement.source_id:
                    met.add(id(other))
                    yield other, statement
            holders.append(statement)


def _differ(one: Measured, other: Measured) -> bool:
    apart = not figures.matches(one.quantity, other.quantity) and not figures.matches(other.quantity, one.quantity)
    return apart and overlap(one.words, other.words) >= _SAME_MATTER and same_matter(one.matter, other.matter)


def _sentences_by_source(report: Draft) -> dict[str, list[frozenset[str]]]:
    found: dict[str, list[frozenset[str]]] = defaultdict(list)
    for sentence in report.sentences:
        for source_id in sentence.citations:
            found[source_id].append(subject_words(sentence.text))
    return found


def _told(statement: Measured, told: Mapping[str, list[frozenset[str]]]) -> bool:
    """Whether a sentence of the report that cites the source tells the statement."""
    return any(len(statement.words & words) >= _TOLD * len(statement.words) for words in told.get(statement.source_id, ()))

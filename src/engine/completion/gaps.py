"""How a gap in the evidence is worded, and whether a report discloses one. The wording stands with the other phrases, in each language."""

from collections.abc import Sequence
from functools import cache

import regex

from deepdelve.engine.completion.draft import Draft, Sentence
from deepdelve.engine.completion.verdict import Gap
from deepdelve.utils.fence import clean
from deepdelve.utils.phrases import in_all_languages, say
from deepdelve.utils.words import content_words

_DISCLOSES = regex.compile(
    r"\bno (?:[\w-]+ ){0,3}(?:source|sources|evidence|data|information|figure|figures|statistics)\b|\b(?:not|n't|"
    r"never) (?:[\w-]+ ){0,2}(?:found|available|stated|reported|disclosed|published|identified|confirmed|located|verified|"
    r"established|specified|covered)\b|\b(?:could|can|did|do|does) ?n[o']t (?:[\w-]+ ){0,2}(?:find|state|report|confirm|"
    r"verify|locate|identify|determine|establish|say|give|cover|mention)\b|\b(?:remains?|is|are) (?:unknown|unclear|"
    r"unavailable|unanswered)\b|\b(?:lacks?|lacking|missing|absent)\b|\bevidence gap\b|\bkeine? (?:[\w-]+ ){0,3}(?:quellen?|"
    r"daten|angaben?|belege?|informationen)\b|\bnicht (?:gefunden|bekannt|belegt|verfügbar|angegeben|ermittelt)\b|"
    r"\baucune? (?:[\w-]+ ){0,2}(?:source|donnée|information)|\bning(?:una?|ún) (?:[\w-]+ ){0,2}(?:fuente|dato|información)|"
    r"\bnessun[ao]? (?:[\w-]+ ){0,2}(?:fonte|dato)|\bnenhuma? (?:[\w-]+ ){0,2}(?:fonte|dado)|\bgeen (?:[\w-]+ ){0,3}(?:bron|"
    r"bronnen|gegevens)\b|没有.{0,12}(?:来源|资料|数据)|未(?:找到|提及|说明)|記載がない|見つから",
    regex.IGNORECASE,
)
_ASKS = ("?", "？", "؟")
_LINK = regex.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,2000}\)")
_SCHEME = regex.compile(r"\b[a-z][a-z\d+.-]{0,20}://", regex.IGNORECASE)
_EMPHASIS = regex.compile(r"\*\*|__|`|^[#>\s]{1,20}")
_SIGNS = str.maketrans("<>[]", "‹›()")
# A sentence about the run's own files tells a reader nothing about the world.
_WORKING_FILES = regex.compile(
    r"findings(?:\.md| file| section| document)|final_report|evidence gaps? section|working file|workspace|draft (?:file|"
    r"report)|the findings (?:list|state|note|say)",
    regex.IGNORECASE,
)


def gap_sentence(question: str, language: str = "") -> str:
    """The sentence that discloses one unanswered question, in the report's language where its wording is known."""
    asked = as_words(question).strip(" .:")
    return f"{say('gap', language)}{asked}{'' if asked.endswith(_ASKS) else say('stop', language)}"


def as_words(question: str) -> str:
    """A question, or a part of one, as a report may show it.

    On one line, links by their text, and with nothing that reads as an address, a citation, markup or emphasis.
    """
    text = _LINK.sub(r"\1", " ".join(clean(question).split()))
    return _EMPHASIS.sub("", _SCHEME.sub("", text)).translate(_SIGNS).strip()


def gap_question(sentence: str) -> str:
    """What a gap sentence names as unanswered; empty for any other sentence."""
    text = sentence.strip(" -*_")
    folded = text.casefold()
    for start in _starts():
        if folded.startswith(start):
            return text[len(start) :].strip(" .:：。*_")
    return ""


def undisclosed(gaps: Sequence[Gap], report: Draft) -> tuple[Gap, ...]:
    """The gaps that no sentence of the report discloses.

    A sentence discloses a gap if it has a phrase of disclosure, does not speak of working files, and names either most of
    the gap's facet words with all of those that set it apart from the other gaps, or one of its unanswered questions.
    """
    telling = [s for s in report.sentences if discloses(s)]
    facet_words = [content_words(as_words(gap.facet)) for gap in gaps]
    shared = frozenset[str].intersection(*facet_words) if len(facet_words) > 1 else frozenset[str]()
    return tuple(gap for gap, named in zip(gaps, facet_words, strict=True) if not any(_tells(s, gap, named, shared) for s in telling))


def discloses(sentence: Sentence) -> bool:
    """Whether a sentence says that something was not found, in a reader's terms."""
    text = sentence.text
    return bool(gap_question(text) or _DISCLOSES.search(text)) and not _WORKING_FILES.search(text)


def _tells(sentence: Sentence, gap: Gap, named: frozenset[str], shared: frozenset[str]) -> bool:
    there = sentence.words
    if named and 2 * len(named & there) > len(named) and named - shared <= there:
        return True
    return any(_asks(content_words(question), there) for question in gap.questions)


def _asks(asked: frozenset[str], there: frozenset[str]) -> bool:
    return bool(asked) and 5 * len(asked & there) >= 4 * len(asked)


@cache
def _starts() -> tuple[str, ...]:
    """How gap sentences begin, in every language, the longest first."""
    return tuple(sorted((start.strip().rstrip(":：").rstrip().casefold() for start in in_all_languages("gap")), key=len, reverse=True))

"""Topics: what a question excludes, whether a report treats it, and whether a source speaks of its facet at all."""

import re
from collections.abc import Iterable, Sequence

from deepdelve.utils.grounding import tokens
from deepdelve.utils.grounding.index import SourceIndex

ON_TOPIC = 0.34
_EXCLUDES = re.compile(
    r"(?:\bexclud(?:e|es|ing)\b|\bnot includ(?:e|ing)\b|\bleav(?:e|ing) (?:out|aside)\b|\bleaving aside\b"
    r"|\b(?:do not|don't|does not|should not|must not|never) (?:cover|discuss|mention|include|treat|consider"
    r"|talk about|go into)\b"
    r"|\bwithout (?:discussing|covering|mentioning|considering|treating)\b|\bexcept(?: for)?\b|\bother than\b"
    r"|\bapart from\b|\bignor(?:e|ing)\b|\bnicht (?:berücksichtigen|behandeln)\b"
    r"|\bohne (?:Berücksichtigung (?:von|der|des) )?|\bausgenommen\b"
    r"|\bsauf\b|\bhormis\b|\bexcepto\b|\bexcluyendo\b|不(?:包括|包含|讨论|涉及)|除了?)\s*(?P<what>[^.;:!?()\n，。；！？]{2,120})",
    re.I,
)
_SPLIT = re.compile(r"\s*(?:,| and | or | und | oder | et | ou | y | o |、|和|以及|或)\s*", re.I)
_EMPTY = frozenset(("it", "them", "any", "that", "this", "anything", "everything", "else"))


def excluded(question: str) -> tuple[str, ...]:
    """The topics that a question asks to leave out, as it words them."""
    found: list[str] = []
    for match in _EXCLUDES.finditer(question):
        for part in _SPLIT.split(match["what"]):
            topic = re.sub(
                r"^(?:any|all|the|a|an|anything about|discussion of|mention of|everything about|der|die|das|les|la|le)\s+",
                "",
                part.strip(),
                flags=re.I,
            )
            if topic and topic.lower() not in _EMPTY:
                found.append(topic)
    return tuple(dict.fromkeys(found))


def treated(sentences: Iterable[str], topics: Sequence[str]) -> list[tuple[int, str]]:
    """Number of a sentence and the excluded topic it treats: it has all the topic's words and does not merely say that it leaves it out."""
    wanted = [(topic, frozenset(tokens.content_keys(topic))) for topic in topics]
    found: list[tuple[int, str]] = []
    for number, sentence in enumerate(sentences):
        keys = frozenset(tokens.content_keys(sentence))
        found += [(number, topic) for topic, words in wanted if words and words <= keys and not _EXCLUDES.search(sentence)]
    return found


def shared(facet: str, source: SourceIndex) -> float:
    """The share of a facet's words (their stems) that a source has anywhere, 0 to 1; 1 for a facet without words."""
    keys = frozenset(tokens.content_keys(facet))
    low = source.lower
    return sum(key in low for key in keys) / len(keys) if keys else 1.0


def is_off_topic(facet: str, source: SourceIndex) -> bool:
    """Whether a source does not speak of a facet."""
    return shared(facet, source) < ON_TOPIC

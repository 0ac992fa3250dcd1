"""Topics: what a question excludes, whether a report treats it, and whether a source speaks of its facet at all."""

import re
from collections.abc import Iterable, Sequence

from deepdelve.utils.grounding import tokens
from deepdelve.utils.grounding.index import SourceIndex

ON_TOPIC = 0.34
_EXCLUDES = re.compile(
    r"(?:\bexclud(?:e|es|ing)\b|\bnot includ(?:e|ing)\b|\bleav(?:e|es|ing) (?:out|aside)\b|\bomit(?:s|ting)?\b"
    r"|(?:^|(?<=[,.;:(] )|(?<=\band )|(?<=\bbut )|(?<=\bplease ))skip\b|\bnot interested in\b"
    r"|(?:^|(?<=[,.;:(] ))no (?:discussion|mention) of\b"
    r"|\b(?:do not|don't|does not|should not|must not|never) (?:cover|discuss|mention|include|treat|consider"
    r"|talk about|go into)\b"
    r"|\bwithout (?:discussing|covering|mentioning|considering|treating)\b|\bexcept(?: for)?\b|\bother than\b"
    r"|\bapart from\b|\bignor(?:e|ing)\b|\bnicht (?:berücksichtigen|behandeln)\b"
    r"|\bohne (?:(?:die )?(?:Berücksichtigung|Betrachtung|Einbeziehung|Behandlung|Erwähnung) (?:von|der|des|vom)\b)"
    r"|\b(?:ausgenommen|abgesehen von|mit Ausnahme (?:von|der|des))\b|(?<=, )außer\b(?! dass| wenn)"
    r"|\bsauf\b|\bhormis\b|\b(?:à l['’]exception|en dehors) (?:de\b|des\b|du\b)|\bsans (?:parler|tenir compte|traiter|inclure|mentionner)"
    r"(?: (?:de|du|des)\b)?|\bexcepto\b|\bexcluyendo\b|\bsalvo\b|\bsin (?:incluir|tratar|hablar de|mencionar|tener en cuenta|considerar)\b"
    r"|\bкроме\b|\bза исключением\b|\bне (?:включая|рассматривай(?:те)?|упоминай(?:те)?|учитывая)\b"
    r"|不(?:要|需要|用)?(?:包括|包含|讨论|涉及|考虑)|除(?:了|去|开))\s*(?P<what>[^.;:!?()\n，。；！？]{2,120})"
    r"|(?P<before>[^\s.,、，。；！？]{1,30}?)(?:は|を)(?:除く|除いて|除外|含めない|含めず|扱わない)",
    re.I,
)
# These words ask to leave out only as a command: a law that excludes tenants is what a question may be about.
_TOLD_OF = re.compile(r"(?:excludes?|omits?|leaves? |ignore\b|(?:do|does|should|must) not |don't |never )", re.I)
_COMMAND = re.compile(r"(?:^|[.,;:!?()\n。，；]\s*|\b(?:and|but|please|then|you|it|report|answer|review|should|must|to)\s+)$", re.I)
_SPLIT = re.compile(r"\s*(?:,| and | or | und | oder | et | ou | y | o |、|和|以及|或)\s*", re.I)
_ARTICLE = re.compile(
    r"^(?:(?:any|all|the|a|an|anything about|discussion of|mention of|everything about"
    r"|der|die|das|den|dem|les|la|le|el|los|las)\s+|l['’](?=\w))",
    re.I,
)
_EMPTY = frozenset(("it", "them", "any", "that", "this", "anything", "everything", "else"))


def excluded(question: str) -> tuple[str, ...]:
    """The topics that a question asks to leave out, as it words them."""
    return tuple(dict.fromkeys(topic for _, _, found in exclusions(question) for topic in found))


def exclusions(question: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Each place where a question asks to leave something out: start, end and the topics."""
    found: list[tuple[int, int, tuple[str, ...]]] = []
    for match in _EXCLUDES.finditer(question):
        if _TOLD_OF.match(match[0]) and not _COMMAND.search(question, max(0, match.start() - 20), match.start()):
            continue
        parts = [_ARTICLE.sub("", part.strip()) for part in _SPLIT.split(match["what"] or match["before"])]
        if named := tuple(part for part in parts if part and part.lower() not in _EMPTY):
            found.append((*match.span(), named))
    return found


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

"""Whether sources carry claims: the ``Verifier`` interface, and the lexical verifier that is always there."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from deepdelve.core.records import Claim, ClaimKind, ClaimStatus, Passage
from deepdelve.utils.grounding import calibration, differences, evidence, quotes, regulations, tokens
from deepdelve.utils.grounding.calibration import Features, Weights
from deepdelve.utils.grounding.evidence import ClaimWords, Evidence
from deepdelve.utils.grounding.figures import Quantity
from deepdelve.utils.grounding.index import SourceIndex

_VERBATIM = 0.97
_LEAST_COPIED = 3
_SCRIPT_SAMPLE = 500
_ENDS = "\n.!?:;|•-–—。！？；：]"


@dataclass(frozen=True)
class Support:
    """What became of one claim.

    Attributes:
        score: how likely the passage carries the claim, 0 to 1.
        spans: where in the source the claim's own words stand, within the passage.
        reason: empty for a supported claim.
        kind: what decided.
    """

    status: ClaimStatus
    score: float = 0.0
    passage: Passage | None = None
    spans: tuple[tuple[int, int], ...] = ()
    reason: str = ""
    kind: ClaimKind = "statement"


class Verifier(Protocol):
    """Scores claims against the sources that they cite."""

    def score(self, claims: Sequence[Claim], sources: Mapping[str, SourceIndex]) -> list[Support]:
        """One result a claim, in the order of the claims. A source that is not in ``sources`` could not be read."""
        ...


class LexicalVerifier:
    """Weighted term coverage over the best window, then what can be seen to differ: figures, names, negation, direction, quotes.

    Args:
        weights: of the logistic model; the shipped ones unless a benchmark leaves a set out.
    """

    def __init__(self, weights: Weights = calibration.SHIPPED) -> None:
        self._weights = weights

    def score(self, claims: Sequence[Claim], sources: Mapping[str, SourceIndex]) -> list[Support]:
        """See ``Verifier``."""
        taken = [evidence.take_apart(claim.text) for claim in claims]
        copied = [_copied(words, claim, sources) for claim, words in zip(claims, taken, strict=True)]
        wanted: dict[str, set[str]] = defaultdict(set)
        for claim, words, found in zip(claims, taken, copied, strict=True):
            for label in claim.citations if found is None else ():
                wanted[label].update(words.distinct)
        located = {label: sources[label].locate(own) for label, own in wanted.items() if label in sources}
        return [found or self._judge(claim, words, sources, located) for claim, words, found in zip(claims, taken, copied, strict=True)]

    def _judge(
        self, claim: Claim, words: ClaimWords, sources: Mapping[str, SourceIndex], located: Mapping[str, dict[str, list[int]]]
    ) -> Support:
        readable = [label for label in claim.citations if label in sources and sources[label].text.strip()]
        if not readable:
            if claim.citations:
                return Support("unchecked", reason=f"cannot be read: {', '.join(claim.citations)}")
            return Support("unsupported" if claim.needs_citation else "unchecked", reason="no source is cited")
        if not words.keys:
            return Support("unchecked", reason="it has no words to compare")
        found = [evidence.gather(words, sources[label], located[label]) for label in readable]
        absent = [quantity for quantity in found[0].absent if all(quantity in each.absent for each in found)]
        best = max(found, key=lambda each: self._weights.probability(features(words, each, len(absent))))
        return self._decide(words, best, found, absent)

    def _decide(self, words: ClaimWords, best: Evidence, found: Sequence[Evidence], absent: Sequence[Quantity]) -> Support:
        if best.first < 0:
            return Support("unsupported", reason=f"not found in the source{_script(words, best)}")
        score = self._weights.probability(features(words, best, len(absent)))
        passage = _passage(best)
        sources = [each.source for each in found]
        if broken := quotes.first_altered(words.text, sources):
            return Support("unsupported", min(score, 0.3), passage, reason=f"not verbatim in the source: “{broken}”", kind="quote")
        if unknown := regulations.first_absent(words.text, sources):
            return Support("unsupported", min(score, 0.3), passage, reason=f"{unknown} is not in the source", kind="regulation")
        if difference := differences.find(words, best, absent):
            status: ClaimStatus = "contradicted" if difference.contradicts else "unsupported"
            return Support(status, round(min(score, 0.3), 3), passage, reason=difference.reason, kind=difference.kind)
        if best.coverage >= _VERBATIM and best.pairs >= 0.9:
            return Support("supported", round(max(score, 0.95), 3), passage)
        if score >= calibration.SUPPORTED:
            return Support("supported", round(score, 3), passage)
        if score >= calibration.PARTIAL:
            return Support("partial", round(score, 3), passage, reason=f"only some of it is found in the source{_script(words, best)}")
        return Support("unsupported", round(score, 3), passage, reason=f"not found in the source{_script(words, best)}")


def features(words: ClaimWords, found: Evidence, absent: int) -> Features:
    """The model's view of a claim and a window."""
    return Features(found.coverage, found.names, found.pairs, float(min(absent, 3)), math.log(len(words.keys) + 1))


def _copied(words: ClaimWords, claim: Claim, sources: Mapping[str, SourceIndex]) -> Support | None:
    """The result for a sentence that stands in one of its sources word for word."""
    if len(words.keys) < _LEAST_COPIED:
        return None
    wanted = tokens.lower(claim.text).rstrip(" .。!?")
    for label in claim.citations:
        source = sources.get(label)
        at = source.lower.find(wanted) if source is not None else -1
        # A part of a sentence may leave out the "if", the "not" or the half of a word that turns it round: it is judged like others.
        if source is not None and at >= 0 and _is_whole(source.text, at, end := at + len(wanted)):
            passage = Passage(source_id=label, start=at, end=end, quote=source.text[at:end])
            return Support("supported", 1.0, passage, ((at, end),))
    return None


def _script(words: ClaimWords, best: Evidence) -> str:
    """Says so where one of claim and source is written in Latin letters and the other is not."""
    one, other = _latin(words.text), _latin(best.source.text[:_SCRIPT_SAMPLE])
    return ", which is in another script: words cannot be compared" if min(one, other) < 0.2 and max(one, other) > 0.8 else ""


def _latin(text: str) -> float:
    if text.isascii():
        return 1.0 if any(map(str.isalpha, text)) else 0.5
    letters = [char for char in text if char.isalpha()]
    return sum(char < "\u0250" for char in letters) / len(letters) if letters else 0.5


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether a stretch of text begins and ends where a sentence, a line or a table cell does."""
    before, after = text[max(0, start - 40) : start].rstrip(' \t"“«(*_'), text[end : end + 2].lstrip(' \t"”»)*_')
    return (not before or before[-1] in _ENDS) and (not after or after[0] in _ENDS)


def _passage(found: Evidence) -> Passage:
    start, end = found.span
    return Passage(source_id=found.source.source_id, start=start, end=end, quote=found.passage)

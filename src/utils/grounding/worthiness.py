"""Which sentences need a citation: those that state something of the world, not framing, transitions, advice or the question restated.

The points were fitted on sentences that experts judged (expertqa); figures and names count for need whatever else a sentence is.
"""

import re

from deepdelve.utils.grounding import frame, tokens

_FRAMING = re.compile(
    r"^(?:in (?:summary|conclusion|short|sum|this (?:report|section|answer|review))|to (?:summari[sz]e"
    r"|conclude|sum up|answer)|overall|this (?:report|section|document|review|answer|table|guide)\b"
    r"|the following|below|here (?:is|are)|as (?:shown|discussed|noted|outlined|mentioned) (?:above|below"
    r"|earlier)|let me|hope this|for more (?:information|detail)|note that this report|please|thank"
    r"|it is (?:important|worth|essential|crucial) to (?:note|remember|consider|consult)|remember"
    r"|finally, (?:it is|we)|according to (?:some|the (?:web|search)) (?:sources|results)"
    r"|总之|综上|本报告|本文|以下|如下|总结|让我|我(?:需要|将|还)|zusammenfassend|dieser bericht|en résumé|ce rapport|en resumen"
    r"|este informe|в заключение|بشكل عام|في الختام|לסיכום)",
    re.I,
)
_GAP = re.compile(
    r"no (?:source|evidence|data) (?:in|was|were|could)|(?:could|was|were) not (?:be )?(?:found|verified"
    r"|located|accessible)|not (?:found|stated|available) in the (?:available )?(?:sources|evidence)"
    r"|(?:given|provided) (?:context|sources?) do(?:es)? not",
    re.I,
)
_LEAD_IN = re.compile(r"[:：]\s*(?:1\.)?\s*$")
_ADDRESS = re.compile(r"\b(?:you|your|yours|yourself|i|we|our|my)\b", re.I)
_LEANING = re.compile(
    r"^\W*(?:this|these|those|such|it|they|by|in this|in conclusion|overall|however|therefore|thus|additionally|furthermore|finally|to)\b",
    re.I,
)
_ADVICE = re.compile(
    r"^\W*(?:\w+\W+){0,3}(?:use|using|ensure|consider|encourage|try|make|keep|avoid|provide|providing"
    r"|implement|implementing|develop|create|check|verify|identify|set|take|start|introducing|establish)\b",
    re.I,
)
_MODAL = re.compile(r"\b(?:should|could|may|might|would|must)\b", re.I)
_NAME = re.compile(r"(?<=[a-z,;] )[A-ZÀ-Þ][\w'’-]+")
_BIAS = 0.35


def needs_citation(text: str, *, question: str = "", kind: str = "prose") -> bool:
    """Whether a sentence states something that a source must carry.

    Args:
        text: the sentence, clean of markers.
        question: what was asked; a sentence that only restates it needs none.
        kind: prose, list, table or quote.
    """
    if frame.is_own(text) or _GAP.search(text) or text.rstrip().endswith(("?", "？", "؟")):
        return False
    content = tokens.content_keys(text)
    figure = re.search(r"\d", text) is not None
    if len(content) < 3 and not figure:
        return False
    if _LEAD_IN.search(text) or (question and _restates(content, question)):
        return False
    if figure or kind == "quote" or len(_NAME.findall(text)) >= 2:
        return len(content) >= 2
    return _points(text) >= 0


def _points(text: str) -> float:
    plain = text.lstrip(" *_")
    points = _BIAS
    points -= 0.9 * (_ADDRESS.search(plain) is not None)
    points -= 0.62 * (_LEANING.match(plain) is not None)
    points -= 0.37 * (_FRAMING.match(plain) is not None)
    points -= 0.45 * (_ADVICE.match(plain) is not None)
    points -= 0.2 * (_MODAL.search(plain) is not None)
    return points


def _restates(content: list[str], question: str) -> bool:
    asked = set(tokens.content_keys(question))
    new = [key for key in content if key not in asked]
    return len(content) >= 3 and len(new) <= 0.2 * len(content)

"""What a question itself asks for: its facets, how many items, and which topics it leaves out. No model is involved."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import regex

from deepdelve.engine.subjects import subject_words, synonym
from deepdelve.utils.grounding import topics
from deepdelve.utils.names import find_names
from deepdelve.utils.words import content_words, is_content, stem, word_set, words

_LIST_ITEM = regex.compile(r"^\s{0,12}(?:[-*+•]|\(?(?:\d{1,2}|[a-hA-H])[.)])\s+(\S.*)$")
_INLINE_ITEM = regex.compile(r"(?:^|(?<=[\s,;:]))\(?(\d{1,2}|[a-h])\)\s+")
_CUE = regex.compile(
    r":(?=\s)|：|\b(?:covering|cover|including|include|considering|regarding|concerning|in terms of|with respect to|"
    r"with regard to|focus(?:ing)? on|broken down by|hinsichtlich|bezüglich|in bezug auf|en ce qui concerne|en cuanto a|"
    r"per quanto riguarda)\b",
    regex.IGNORECASE,
)
_COMPARED = regex.compile(
    r"\b(?:compare|comparison (?:of|between)|differences? between|vergleiche?|unterschiede? zwischen|comparez?|compara(?:r|"
    r"ndo)?)\s+([^.?!:\n]{3,300})",
    regex.IGNORECASE,
)
# "the results of A and B": what is compared are A and B.
_OF_EACH = regex.compile(
    r"^(?:the\s+)?\p{L}+(?:\s+\p{L}+)?\s+(?:of|between)\s+(?:the\s+)?(?=\S.*\s(?:and|und|et|y|versus|vs\.?)\s)", regex.IGNORECASE
)
# "compare A with B"
_COMPARED_WITH = regex.compile(r"\s+(?:with|to|against|mit|avec|con)\s+", regex.IGNORECASE)
_IN_RESPECT = regex.compile(
    r"\s(?:on|in terms of|with respect to|with regard to|regarding|hinsichtlich|bezüglich|en termes de|en cuanto a|per quanto riguarda)\s",
    regex.IGNORECASE,
)
_SPLIT = regex.compile(
    r"\s*[,;、；，]\s*(?:(?:and|or|und|oder|et|ou|y|e|o|en|of)\s+)?|\s+(?:and|und|et|y|versus|vs\.?|as well as|sowie)\s+", regex.IGNORECASE
)
_STOP_AT = regex.compile(
    r"\s(?:in|on|for|with|by|from|at|when|as of|since|that|which|für|mit|bei|seit|pour|avec|para|con)\s|\(|[.?!](?:\s|$)", regex.IGNORECASE
)
_LEFT_OVER = regex.compile(r"\s*\(\s*\)|[\s,;:(]+(?=[?!.。？]|$)")
_CLAUSE_END = regex.compile(r"[.?!](?:\s|$)|[\n;]")

_NUMBERS: dict[str, int] = {
    word: value
    for value, names in {
        2: "two zwei deux dos due twee dois",
        3: "three drei trois tres tre drie três",
        4: "four vier quatre cuatro quattro quatro",
        5: "five fünf cinq cinco cinque vijf",
        6: "six sechs seis sei zes",
        7: "seven sieben sept siete sette zeven sete",
        8: "eight acht huit ocho otto oito",
        9: "nine neun neuf nueve nove negen",
        10: "ten zehn dix diez dieci tien dez",
        12: "twelve zwölf douze doce dodici twaalf doze",
        15: "fifteen fünfzehn quinze quince quindici vijftien",
        20: "twenty zwanzig vingt veinte venti twintig vinte",
    }.items()
    for word in names.split()
}
_HAN_NUMBERS = {"两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_NUMBER = rf"(?P<n>\d{{1,2}}|{'|'.join(_NUMBERS)})"
_ASKED = (
    r"(?:list|name|give(?: me)?|identify|find|suggest|recommend|provide|pick|choose|rank|propose|select|what are|which are|which|who are|"
    r"nenne|liste|finde|gib|empfiehl|welche|citez?|nommez|listez?|donnez|enumera|nombra|dime|cita|indica|elenca|noem|geef)"
)
_BEST = (
    r"(?:best|top|largest|biggest|most|main|key|major|leading|cheapest|highest|lowest|fastest|oldest|greatest|important|popular|"
    r"größten|besten|wichtigsten|principaux|meilleurs|plus|mejores|principales|mayores|migliori|principali|beste|grootste|maiores|melhores)"
)
_COUNTS = (
    regex.compile(rf"\btop[\s-]+{_NUMBER}\b(?P<noun>[^.?!,;:\n]{{0,60}})", regex.IGNORECASE),
    regex.compile(
        rf"\b{_ASKED}\s+(?:(?:at least|exactly|the|die|den|les|los|las|i|le|de)\s+)?{_NUMBER}\b(?P<noun>[^.?!,;:\n]{{0,60}})",
        regex.IGNORECASE,
    ),
    regex.compile(rf"\b{_NUMBER}\s+(?P<noun>(?:\p{{L}}+\s+)?{_BEST}\b[^.?!,;:\n]{{0,60}})", regex.IGNORECASE),
    regex.compile(rf"\b{_BEST}\s+{_NUMBER}\b(?P<noun>[^.?!,;:\n]{{0,60}})", regex.IGNORECASE),
)
_HAN_COUNT = regex.compile(r"(?P<n>\d{1,2}|[两二三四五六七八九十])(?:大|个|個|种|種|つ|家|位|项|項|款|本|名)(?P<noun>\p{Han}{0,8})")
_UNITS = word_set(
    """
    year month week day hour minute second decade century percent % km kilometer kilometre meter metre mile degree euro dollar
    pound eur usd gbp million billion trillion thousand gb mb mg kg g ton times people person page word sentence paragraph gram
    litre liter jahr jahre jahren monat monate monaten tage tagen woche wochen prozent millionen milliarden ans an mois jours
    années años meses días anni mesi giorni jaar maanden anos dias 年 天 月
    """
)

_EXCLUDING = (
    regex.compile(
        r"\b(?:excluding|except(?: for)?|other than|apart from|with the exception of|außer|ausgenommen|mit ausnahme von|sauf|"
        r"hormis|à l'exception d(?:e|es|u)|excepto|salvo|excluyendo|tranne|eccetto|esclusi|behalve|"
        r"exceto)\s+(?P<topic>[^.?!,;:()\n]{2,80})",
        regex.IGNORECASE,
    ),
    regex.compile(
        r"(?:[,;(–—]|\b(?:but|and|aber|und|mais|pero|ma))\s*(?:not|without|ohne|nicht|sans|pas|sin|no|senza|non|"
        r"zonder)\s+(?P<topic>[^.?!,;:()\n]{2,80})",
        regex.IGNORECASE,
    ),
    regex.compile(
        r"\b(?:do not|don't|please don't|never)\s+(?:include|cover|discuss|mention|consider|treat|talk about|"
        r"address)\s+(?P<topic>[^.?!;:()\n]{2,80})",
        regex.IGNORECASE,
    ),
    regex.compile(
        r"\b(?:ignore|ignoring|leave out|leaving out|omit|omitting|skip|skipping|without (?:covering|mentioning|discussing|"
        r"including))\s+(?P<topic>[^.?!;:()\n]{2,80})",
        regex.IGNORECASE,
    ),
    regex.compile(r"(?:不包括|除了|不含|除外)(?P<topic>[\p{Han}\p{L}\d]{1,12}?)(?=以外|之外|[，。、；\s]|$)"),
)
# "not only", "not yet" and the like exclude nothing.
_NOT_A_TOPIC = word_set(
    """
    only just yet to be been necessarily merely simply because always that least know sure nur mehr immer seulement solo sólo all
    every much very
    """
)
# A facet of more words than this is a sentence, of which a report keeps the matter and not the wording.
_SHORT = 5
_LISTED_WORDS = 7
# Words of someone speaking or asking: what holds them is prose, and no list of facets.
_SPEAKING = word_set("please i you we my your our which what who is are was were bitte ich sie wir welche wer je vous nous")
_PREPOSITIONS = word_set("in of on at for from to by with into as im am bei von zu mit dans en à au chez a de con")
_NO_LIMIT = word_set(
    """
    thing things matter anything everything else limitation limit
    """
)


# A facet that is asked, not named.
_ASKS = regex.compile(
    r"^(?:and |und |et |y )?(?:what|who|whom|whose|when|where|why|how|which|does|do|is|are|did|was|were|has|have|can|wer|wann|wo|warum|wie|"
    r"welche[rsnm]?|qui|quand|où|pourquoi|comment|combien|quel(?:le)?s?|qué|quién(?:es)?|cuándo|dónde|cómo|cuánt[oa]s?|chi|quando|dove|perché|"
    r"quant[oiae]|wie|waar|wanneer|waarom|hoe)\b|多少|什么|谁|哪|几|怎|为何|いつ|誰|何|どこ|なぜ|いくら",
    regex.IGNORECASE,
)
_REFERS_BACK = regex.compile(r"\b(?:it|its|they|them|their|he|him|his|she|her|this|these|that|those|one|there)\b", regex.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Requested:
    """How many items a question asks for, and of what (a few words, as it says)."""

    count: int
    noun: str = ""


@dataclass(frozen=True, slots=True)
class QuestionFacets:
    """What was found in a question. ``facets`` is empty where it names no parts."""

    facets: tuple[str, ...] = ()
    requested: Requested | None = None
    excluded: tuple[str, ...] = ()


def parse_question(question: str) -> QuestionFacets:
    """Facets, requested count and excluded topics of a question, in any case and in the larger languages where easy."""
    text = question.strip()[:20_000]
    excluded = excluded_topics(text)
    return QuestionFacets(facets=_without(_facets(text), excluded), requested=requested_count(text), excluded=excluded)


def requested_count(question: str) -> Requested | None:
    """The number of items asked for ("five best cities", "top 10"), or None. Measures ("five years") are no items."""
    for pattern in _COUNTS:
        for match in pattern.finditer(question):
            found = _requested(match.group("n"), match.group("noun"))
            if found is not None:
                return found
    for match in _HAN_COUNT.finditer(question):
        if not set(match.group("noun")[:1]) & set("年月天日"):
            return Requested(_number(match.group("n")), match.group("noun"))
    return None


def excluded_topics(question: str) -> tuple[str, ...]:
    """Topics that the question leaves out ("not X", "except X", "ohne X"), in the question's words."""
    found = [topic for _, topic in _exclusions(question)]
    known = frozenset(word for topic in found for word in content_words(topic))
    return tuple(dict.fromkeys([*found, *(topic for topic in topics.excluded(question) if not content_words(topic) <= known)]))


def without_exclusions(question: str) -> str:
    """A question without the words that leave something out: what is to be looked for."""
    left = list(question)
    spans = [match.span() for match, _ in _exclusions(question)] + [(start, end) for start, end, _ in topics.exclusions(question)]
    for start, end in spans:
        left[start:end] = [""] * (end - start)
    return _LEFT_OVER.sub("", " ".join("".join(left).split()))


def _exclusions(question: str) -> Iterator[tuple[regex.Match[str], str]]:
    for pattern in _EXCLUDING:
        for match in pattern.finditer(question):
            topic = _tidy(match.group("topic"))
            first = words(topic)[:1]
            if content_words(topic) and first[0] not in _NOT_A_TOPIC | _PREPOSITIONS and not content_words(topic) <= _NO_LIMIT:
                yield match, topic


def mentions(facet: str, text_words: frozenset[str], others: Iterable[str] = ()) -> bool:
    """Whether a text with these content words speaks of the facet.

    Of a short facet most of the words that set it apart must be there, of what is asked in a sentence one in eight: its answer has
    words of its own. Synonyms that the rename test knows count as the same word.

    Args:
        facet: the part of the question.
        text_words: what the text says.
        others: the other parts, whose words tell nothing of this one.
    """
    wanted = subject_words(facet)
    own = wanted.difference(*map(subject_words, others)) or wanted
    if not own:
        return True
    there = len(own & {synonym(word) for word in text_words})
    return 2 * there > len(own) if len(wanted) <= _SHORT and not _ASKS.search(facet) else 8 * there >= len(own)


def completed(part: str, earlier: str) -> str:
    """A question that goes on about an earlier one ("What was its budget?"), with the names that the earlier one holds."""
    if not _REFERS_BACK.search(part) or find_names(part):
        return part
    named = list(dict.fromkeys(name.text for name in find_names(earlier)))
    return f"{part.rstrip(' ?？')} ({', '.join(named)})" if named else part


def _requested(number: str, noun: str) -> Requested | None:
    following = [stem(word) for word in words(noun)]
    count = _number(number)
    content = [word for word in following if is_content(word)]
    if count < 2 or not content or following[0] in _UNITS or content[0] in _UNITS:
        return None
    return Requested(count, noun.strip())


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _NUMBERS.get(text.casefold(), _HAN_NUMBERS.get(text, 0))


def _facets(text: str) -> tuple[str, ...]:
    for parts in (_listed_lines(text), _inline_items(text), _compared(text), _cued(text), _questions(text)):
        tidy = [part for part in (_tidy(part) for part in parts) if subject_words(part)]
        if len(tidy) >= 2:
            return tuple(dict.fromkeys(tidy))
    return ()


def _listed_lines(text: str) -> list[str]:
    return [match.group(1) for line in text.splitlines() if (match := _LIST_ITEM.match(line))]


def _inline_items(text: str) -> list[str]:
    marks = list(_INLINE_ITEM.finditer(text))
    if len(marks) < 2 or marks[0].group(1) not in {"1", "a"}:
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [_clause(text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]


def compared(text: str) -> list[str]:
    """What a question sets side by side ("compare X and Y"), without the respects in which it does."""
    match = _COMPARED.search(text)
    if match is None:
        return []
    listed = _STOP_AT.split(_COMPARED_WITH.sub(" and ", match.group(1), count=1), maxsplit=1)[0]
    return [tidy for part in _short(_SPLIT.split(_OF_EACH.sub("", listed))) if (tidy := _tidy(part))]


def _compared(text: str) -> list[str]:
    match = _COMPARED.search(text)
    subjects = compared(text)
    if match is None:
        return []
    respects = _IN_RESPECT.search(match.group(1))
    return [*subjects, *_short(_SPLIT.split(match.group(1)[respects.end() :]))] if respects and len(subjects) > 1 else subjects


def aspects(text: str) -> tuple[str, list[str]]:
    """What a question is about, and the aspects of it that it lists ("X, covering a, b and c"); nothing where it lists none."""
    for match in _CUE.finditer(text):
        parts = _short(_SPLIT.split(_clause(text[match.end() :])))
        if len(parts) >= 2:
            return text[: match.start()].strip(" ,;:"), [tidy for part in parts if (tidy := _tidy(part))]
    return "", []


def _cued(text: str) -> list[str]:
    return aspects(text)[1]


def _questions(text: str) -> list[str]:
    asked = [_tidy(part) for part in regex.split(r"(?<=[?？。])", text) if part.rstrip().endswith(("?", "？"))]
    return [completed(part, asked[0]) if at else part for at, part in enumerate(asked)] if len(asked) >= 2 else []


def _short(parts: list[str]) -> list[str]:
    """The parts, or nothing where one is too long to be an item of a list."""
    tidy = [part.strip() for part in parts if part and part.strip()]
    spoken = [words(part) for part in tidy]
    return tidy if all(len(said) <= _LISTED_WORDS and not _SPEAKING.intersection(said) for said in spoken) else []


def _clause(text: str) -> str:
    return _CLAUSE_END.split(text.strip(), maxsplit=1)[0]


def _tidy(part: str) -> str:
    text = " ".join(part.split()).strip(" ,;:.?![]\"'？。！；：，、")
    text = text if "(" in text and text.endswith(")") else text.strip("()")
    return regex.sub(
        r"^(?:and|or|und|oder|et|y|the|its|their|of|(?:areas|topics|aspects|factors) (?:like|such as))\s+", "", text, flags=regex.IGNORECASE
    )


def _without(facets: tuple[str, ...], excluded: tuple[str, ...]) -> tuple[str, ...]:
    left_out = [content_words(topic) for topic in excluded]
    return tuple(facet for facet in facets if not any(content_words(facet) <= topic for topic in left_out))

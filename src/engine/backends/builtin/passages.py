"""Which sentences of a source to quote, and which names in them point on to other sources."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from deepdelve.engine.backends.builtin.answers import gives_wanted
from deepdelve.engine.backends.builtin.lists import BULLET, Item, item_at, items
from deepdelve.engine.backends.builtin.relevance import Question, Ranked, SourceText, bare_title, title_words, weigh
from deepdelve.utils.names import find_names, numbered, of_another_number
from deepdelve.utils.text import STOP_WORDS, Sentence, sentences, squash, stem, terms, words

QUOTE_CHARS = (15, 600)
# A sentence has at least three words; without a full stop it is taken for one from eight on, where it is no heading.
MIN_WORDS = 3
MIN_WORDS_UNENDED = 8
# Scripts without spaces say as much in half the characters.
MIN_CHARS_DENSE = 6
DEFINITION_BONUS = 0.6
BRIDGE_BONUS = 0.3
SUBJECT_BONUS = 0.15
FIRST_BONUS = 0.1
# So many words from the lead to the item's end; the check of claims looks at about as many at once.
SEEN_TOGETHER = 45
LEANING_COST = 0.15
# "It fell in 1879." speaks of what the sentence before it names, of which it has so much.
LEANING_SHARE = 0.5
# A sentence with a time or a number where one is asked for is worth so much more.
ANSWER_SHARE = 0.5
# A heading speaks for the sentences below it, but less than their own words.
HEADING_SHARE = 0.5
MAX_LEADS = 8
FIRST_LEADS = 3
LEAD_CHARS = 280
SENTENCES_FOR_LEADS = 60
# One word alone is less often the name of something that has a page of its own.
SINGLE_WORD = 0.6
_MONTHS = "January February March April May June July August September October November December"
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_CALENDAR = frozenset(terms(f"{_MONTHS} {_DAYS}"))
_DEMONYM = re.compile(r"(?:ish|ian|ean|ese|ican)$")
_NO_PROSE = re.compile(r"^(?:[#|>\[]|[-*+•]\s*$|\d+[.)]?$|https?://)")
_ENDS_WELL = re.compile(r"[.!?…。！？؟।][\"'”’»)\]」』）]*$")
# Without the words before it, such a beginning is part of a sentence.
_MODAL = re.compile(r"(?:shall|should|must|may|can|will)\b", re.IGNORECASE)
# What binds an item to the next one of its list.
_GOES_ON = re.compile(r"(?:[,;]\s{0,3}(?:and|or|und|oder)|;)$")
# An item that says something only together with what leads into its list.
_NEEDS_LEAD = re.compile(r"[A-Z][a-z]{2,20}ing\s|(?:All|Each|Every|Any|No)\s[^,.;]{1,100}\sto\s[a-z]")
_ARTICLES = frozenset({"the", "a", "an"})
# Such a beginning speaks of what was said before.
_LEANS = re.compile(
    r"(?:It|Its|He|She|His|Her|They|Their|This|These|That|Those|Such|Both|Here|There|However|Moreover|Also|Additionally|Furthermore|Therefore"
    r"|Thus|Then|Instead|Similarly|Otherwise)\b"
)
_LINK = re.compile(r"\[([^\[\]]{1,300})\]\((?:[^()\s]|\([^()\s]{0,80}\)){1,500}(?:\s\"[^\"]{0,200}\")?\)")
_IMAGE = re.compile(r"!\[[^\[\]]{0,300}\]\([^()\s]{0,500}\)")
_REFERENCE = re.compile(r"\[(?:\d{1,3}|[a-z]|citation needed|note \d{1,3})\]")
_TRAILING_REFERENCES = re.compile(r"(?:\[\d{1,3}\]){1,6}$")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_ASKS_WHAT = re.compile(
    r"(?:what|who)(?:'s| is| are| was| were) (?:an? |the )?((?:[^\s?,;]+ ){0,4}[^\s?,;]+?)"
    r" ?(?:[?,;]|$| and (?:what|who|when|where|why|how)\b)",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"\*\*|__|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|(?<!\w)_(?=[\w\"“])|(?<=[\w.!?,;\"”])_(?!\w)|`")


@dataclass(frozen=True)
class Passage:
    """A sentence of a source: ``text`` as a reader sees it, ``quote`` as it stands there; ``order`` counts the sentences."""

    text: str
    quote: str
    score: float
    order: int


def plain(text: str) -> str:
    """Markdown as a reader sees it: links by their text, without emphasis and reference marks."""
    return squash(_REFERENCE.sub("", _EMPHASIS.sub("", _LINK.sub(r"\1", _IMAGE.sub("", text)))))


def best_sentences(question: Question, source: SourceText, linked: Sequence[str], limit: int) -> list[Passage]:
    """The sentences that say most about the question, in the order of the source.

    Args:
        question: with its words weighed.
        source: where they stand.
        linked: titles and names that join this source to others; a sentence that holds one is worth more.
        limit: how many at most.
    """
    named, title = frozenset(terms(bare_title(source.title))), title_words(source.title)
    # A source on the very thing may speak of others of its kind; in any other source they are not what is asked about.
    foreign = not any(number in source.title.lower() for _, number in numbered(question.text))
    phrases = [phrase for phrase in (" ".join(terms(bare_title(name))) for name in linked) if phrase]
    found: list[Passage] = []
    heading: frozenset[str] = frozenset()
    end, before = 0, 0.0
    text = without_code(source.text)
    listed = items(text)
    for piece in sentences(text):
        if piece.text.startswith("#"):
            heading = frozenset(terms(piece.text)) - title
            continue
        item = item_at(listed, piece.start)
        follows, end = "\n\n" not in text[end : piece.start], piece.end
        said, before = before if follows else 0.0, question.coverage(terms(piece.text))
        passage = _quotable(piece.text, len(found), _lead(text, piece, item))
        if (
            passage is None
            or any(passage.text == known.text for known in found)
            or (foreign and of_another_number(question.text, passage.text))
        ):
            continue
        present = terms(passage.text)
        # What the title has of the question is said by the source as a whole: what else a sentence says counts for more.
        score = question.coverage(present) + question.coverage(present, besides=title)
        around = heading.union(*(terms(lead) for lead in item.above)) if item else heading
        score += LEANING_SHARE * said * leaning_answer(question.text, passage.text)
        score += HEADING_SHARE * question.coverage(around.difference(present), besides=title)
        score *= 1 + ANSWER_SHARE * gives_wanted(question.text, passage.text)
        joined = f" {' '.join(present)} "
        score += BRIDGE_BONUS * any(f" {phrase} " in joined for phrase in phrases)
        score += SUBJECT_BONUS * bool(named and named <= set(present))
        score += DEFINITION_BONUS * defines(question, passage.text)
        score -= LEANING_COST * bool(score > LEANING_COST and _LEANS.match(passage.text))
        found.append(replace(passage, score=score))
    if any(passage.score > 0 for passage in found):
        # A beginning that says nothing of the question is only better than nothing.
        found = [replace(passage, score=passage.score + FIRST_BONUS * (passage.order == 0)) for passage in found if passage.score > 0]
    return sorted(_different(question, found, limit), key=lambda passage: passage.order)


def leaning_answer(question: str, text: str) -> bool:
    """Whether a sentence answers for what the sentence before it names, as "It fell in 1879." does where a date is asked for."""
    return _LEANS.match(text) is not None and gives_wanted(question, text)


def _different(question: Question, found: Sequence[Passage], limit: int) -> list[Passage]:
    """The best passages one after the other, where what none before it says counts twice."""
    left = {passage.order: (passage, frozenset(terms(passage.text))) for passage in found}
    covered: frozenset[str] = frozenset()
    best: list[Passage] = []
    for _ in range(min(limit, len(left))):
        chosen, present = max(left.values(), key=lambda one: (one[0].score + question.coverage(one[1] - covered), -one[0].order))
        best.append(chosen)
        covered |= present
        del left[chosen.order]
    return best


def without_code(text: str) -> str:
    """The text without the lines of fenced code; a fence that is never closed is none."""
    parts = re.split(r"(?m)^[ \t]{0,3}(?:```|~~~).*$", text)
    # Every second part stands inside a fence, save the last where the fences do not pair.
    return "\n".join(part for number, part in enumerate(parts) if number % 2 == 0 or number == len(parts) - 1)


def _lead(text: str, piece: Sentence, item: Item | None) -> str | None:
    """What leads into a sentence: empty for prose and later sentences of an item, None where it stands too far above to be seen with it."""
    if item is None or not item.lead or not (BULLET.match(piece.text) or BULLET.fullmatch(text[item.start : piece.start].lstrip())):
        return ""
    return plain(item.lead) if len(text[item.lead_start : piece.end].split()) <= SEEN_TOGETHER else None


def _quotable(raw: str, order: int, lead: str | None) -> Passage | None:
    """A sentence that can be quoted and understood by itself: prose of a fit length, whole, with its quotation marks in pairs.

    The first sentence of a list's item is said with what leads into the list.
    """
    quote = _TRAILING_REFERENCES.sub("", BULLET.sub("", raw, count=1) if BULLET.match(raw) else raw).rstrip()
    quote = _GOES_ON.sub("", quote)
    text = plain(quote)
    longest = QUOTE_CHARS[1]
    if _NO_PROSE.match(quote) or "://" in text or not text or len(text) > longest or len(quote) > 2 * longest or text[-1] in ":：;,":
        return None
    if not (_is_sentence(text) or (lead and len(text.split()) >= MIN_WORDS)) or (not lead and _is_fragment(text)):
        return None
    if lead is None and (not _ENDS_WELL.search(text) or _NEEDS_LEAD.match(text)):
        return None
    text = f"{lead or ''} {text}".lstrip()
    text = text if _ENDS_WELL.search(text) else text + ("。" if _DENSE.search(text) else ".")
    paired = text.count('"') % 2 == 0 and text.count("“") == text.count("”")
    return Passage(text, quote, 0.0, order) if paired and len(text) <= longest else None


def _is_sentence(text: str) -> bool:
    """Whether a text says something, and is no label, date or heading."""
    if _DENSE.search(text):
        return len(text) >= MIN_CHARS_DENSE and (bool(_ENDS_WELL.search(text)) or len(text) >= QUOTE_CHARS[0])
    spoken = text.split()
    if len(text) < QUOTE_CHARS[0] or len(spoken) < MIN_WORDS:
        return False
    if _ENDS_WELL.search(text):
        return True
    small = sum(word[:1].islower() and word not in STOP_WORDS for word in spoken)
    cased = any(char.isupper() for char in text)
    return len(spoken) >= MIN_WORDS_UNENDED and (not cased or small >= 2)


def _is_fragment(text: str) -> bool:
    """Whether a text begins in the middle of a sentence: with a verb that has no subject, or small where the rest has capitals."""
    first = text.split(maxsplit=1)[0]
    return bool(_MODAL.match(text)) or (first.islower() and first not in _ARTICLES and any(char.isupper() for char in text))


def defines(question: Question, text: str) -> bool:
    """Whether a sentence says what the thing is that the question asks for; never where it asks otherwise."""
    pattern = _definition(question.text)
    return bool(pattern and pattern.search(text))


@lru_cache(maxsize=64)
def _definition(question: str) -> re.Pattern[str] | None:
    asked = _ASKS_WHAT.match(squash(question))
    if asked is None:
        return None
    named = asked.group(1).strip(" \"'“”*_")
    # "What are seizures?" is answered by "A seizure, also known as a fit, is …".
    name = re.escape(named[:-1]) + "s?" if named.endswith("s") and not named.endswith("ss") and len(named) > 3 else re.escape(named)
    aside = r"(?: \([^()]{1,60}\))?(?:,? (?:also|formerly|commonly|often|or|short for) [^,.]{1,80},)?"
    said = rf"\b{name}\b[\"'”*_)]{{0,3}}{aside},? (?:is|are|was|were|means|refers to|stands for)\b"
    return re.compile(rf"{said}|\({name}\)", re.IGNORECASE)


def bridging_leads(question: Question, ranked: Sequence[Ranked], known: Sequence[str]) -> list[str]:
    """What to search for next: names in the best sources that neither the question nor a known title holds, the most promising first.

    A name counts for more where its sentence and its source fit the question better. Behind the first names stands a query
    made of the best sentence and the words of the question that it leaves open: not every bridge is a name.
    """
    if not ranked:
        return []
    asked = frozenset(question.terms)
    titles = [frozenset(terms(bare_title(title))) for title in known]
    weight: dict[str, float] = {}
    spelled: dict[str, str] = {}
    top = ranked[0].score or 1.0
    for entry in ranked:
        near = (entry.score / top) ** 2
        held = frozenset(terms(bare_title(entry.source.title)))
        for piece in sentences(entry.source.text)[:SENTENCES_FOR_LEADS]:
            present = terms(piece.text)
            worth = near * (0.1 + question.coverage(present, besides=held) + 0.3 * question.coverage(present))
            for name in find_names(plain(piece.text)):
                parts = terms(name.text)
                if _leads_on(parts, asked, titles):
                    key = " ".join(parts)
                    spelled.setdefault(key, name.text)
                    weight[key] = max(weight.get(key, 0.0), worth * (1.0 if len(parts) > 1 else SINGLE_WORD))
    best = [spelled[key] for key in sorted(weight, key=lambda key: -weight[key])][: MAX_LEADS - 1]
    return [*best[:FIRST_LEADS], _context_query(question, ranked[0]), *best[FIRST_LEADS:]]


def _leads_on(parts: Sequence[str], asked: frozenset[str], titles: Sequence[frozenset[str]]) -> bool:
    name = frozenset(parts)
    if not name or name <= asked or any(name <= title for title in titles):
        return False
    return not all(word in _CALENDAR or word.isdigit() for word in name) and not (len(parts) == 1 and _DEMONYM.search(parts[0]))


def _context_query(question: Question, best: Ranked) -> str:
    found = best_sentences(question, best.source, (), 1)
    sentence = found[0].text if found else bare_title(best.source.title)
    held = frozenset(terms(f"{best.source.title} {sentence}"))
    rest = [word for word in words(question.text) if stem(word) not in held and word not in STOP_WORDS]
    return squash(f"{bare_title(best.source.title)}: {' '.join(rest)} {sentence}")[:LEAD_CHARS]


def weigh_sources(text: str, sources: Sequence[SourceText]) -> Question:
    """The question with its words weighed over the sentences of these sources; words that none of them holds weigh nothing."""
    pieces = [frozenset(terms(piece.text)) for source in sources for piece in sentences(source.text)]
    held = frozenset[str]().union(*pieces)
    question = weigh(text, pieces)
    return replace(question, weights={term: weight for term, weight in question.weights.items() if term in held})

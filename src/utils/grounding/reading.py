"""A sentence taken apart for the checks that look at its words: each part on first use, and once for all of them."""

import re
from functools import cached_property, lru_cache
from itertools import pairwise

from deepdelve.utils.grounding import tokens
from deepdelve.utils.grounding.vocabulary import AGENT_WORDS, CAUSE_WORDS, CONDITIONS, HEDGES, NEGATORS, RELATION_WORDS

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d[\d.,]*|[,;]")
_MAY = re.compile(r"\bMay (?=\d)|(?<=\d )May\b|\b[Ii]n May\b")
_FIRST_OF_TWO = frozenset(
    phrase.split()[0] for phrase in AGENT_WORDS | CAUSE_WORDS | CONDITIONS | HEDGES | NEGATORS | RELATION_WORDS if " " in phrase
)


class Reading:
    """A sentence and its parts. Immutable.

    Attributes:
        low: the text in lower case, offsets unchanged.
        order: its comparable keys in order, stop words left in.
        keys: the distinct keys.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.low = tokens.lower(text)
        self.order = tokens.keys(self.low)
        self.keys = frozenset(self.order)

    @cached_property
    def content(self) -> list[str]:
        """The keys of its content words in order, repeats kept."""
        return [key for key in self.order if key not in tokens.STOPKEYS]

    @cached_property
    def spelled(self) -> list[str]:
        """Its words, numbers, commas and semicolons as they are written, in lower case."""
        return WORD.findall(self.low)

    @cached_property
    def dateless(self) -> str:
        """The text without the month of May, which is no verb."""
        return _MAY.sub(" ", self.text) if "May" in self.text else self.text

    @cached_property
    def words(self) -> frozenset[str]:
        """The distinct words of the dateless text; neighbours too, joined by a space, where they can be an expression of two words."""
        found = self.spelled if self.dateless is self.text else WORD.findall(self.dateless.lower())
        distinct = frozenset(found)
        return distinct if distinct.isdisjoint(_FIRST_OF_TWO) else distinct | {f"{one} {other}" for one, other in pairwise(found)}

    @cached_property
    def may_negate(self) -> bool:
        """Whether it has a word that can negate; what it negates is another question."""
        return not NEGATORS.isdisjoint(self.spelled) or "n't" in self.low or "n’t" in self.low


@lru_cache(maxsize=256)
def read(text: str) -> Reading:
    """A text's reading, shared by all who ask for it."""
    return Reading(text)

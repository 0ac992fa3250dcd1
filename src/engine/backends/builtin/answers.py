"""What kind of answer a question wants, and whether a sentence gives one: a date, a span of time, or a number of something."""

import re
from functools import lru_cache
from typing import Literal

Kind = Literal["date", "span", "number"]

# "How do X … when Y" tells the circumstances and asks for no time.
_WHEN = re.compile(
    r"(?:^|[,;]\s*|\b(?:and|or|by|since|until)\s+)when\b|\bwhen\s*[?？.]*$"
    r"|\b(?:in|by|on|at|within|before|after) (?:what|which) (?:year|month|date|day|time|century|decade|deadline|period)\b"
    r"|\b(?:what|which)(?: (?:is|was))?(?: the)? (?:year|date|deadline)\b"
    r"|\bwann\b|\bin welchem jahr\b",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\bhow (?:long|soon|quickly|fast|often|frequently|old|many (?:days|weeks|months|years|hours|minutes))\b"
    r"|\bby when\b|\b(?:within|in) (?:what|which) (?:time|period)\b|\b(?:what|which)(?: is)?(?: the)? deadline\b"
    r"|\bwie (?:lange|schnell|oft|alt)\b|\bbis wann\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\bhow (?:many|much|far|tall|high|deep|wide|large|big|heavy|hot|cold|long|fast|old)\b"
    r"|\b(?:what|which)(?: (?:is|are|was|were))?(?: (?:the|an?|he))?(?: [\w-]{1,40}){0,3}"
    r" (?:number|amount|length|height|width|depth|distance|price|cost|size|population"
    r"|percentage|share|rate|limit|minimum|maximum|temperature|speed)\b"
    r"|\bwie (?:viele?|hoch|weit|gro(?:ß|ss)|lang|tief|schwer)\b",
    re.IGNORECASE,
)
_MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec|january|february|march|april|august|september|october|november|december)"
_WORDS = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|sixty|ninety"
_GIVES: dict[Kind, re.Pattern[str]] = {
    "date": re.compile(
        rf"\b(?:1\d{{3}}|20\d{{2}})\b|\b\d{{1,2}}\.? {_MONTH}\b|\b{_MONTH} \d{{1,4}}\b|\b\d{{1,2}}(?:st|nd|rd|th) century\b", re.IGNORECASE
    ),
    "span": re.compile(
        rf"\b(?:\d[\d.,]{{0,12}}|an?|one|{_WORDS})[- ](?:(?:calendar|working|business|full) )?"
        r"(?:second|minute|hour|day|week|month|year|decade)s?\b"
        r"|\b(?:daily|weekly|monthly|yearly|annually|hourly|immediately)\b"
        rf"|\b(?:\d{{1,4}}|eine[rmns]?|zwei|drei) (?:sekunden?|minuten?|stunden?|tagen?|wochen?|monaten?|jahren?)\b",
        re.IGNORECASE,
    ),
    "number": re.compile(
        rf"(?<![\w.-])\d[\d.,]{{0,16}}(?![\w-])|\b(?:{_WORDS}|dozens?|hundreds?|thousands?|millions?|billions?)\b", re.IGNORECASE
    ),
}


@lru_cache(maxsize=64)
def wanted(question: str) -> tuple[Kind, ...]:
    """The kinds of answer that a question asks for; empty where no kind can be told."""
    kinds: dict[Kind, re.Pattern[str]] = {"date": _WHEN, "span": _SPAN, "number": _NUMBER}
    return tuple(kind for kind, asks in kinds.items() if asks.search(question))


def gives_wanted(question: str, text: str) -> bool:
    """Whether a sentence holds an answer of a kind that the question asks for."""
    return any(_GIVES[kind].search(text) for kind in wanted(question))

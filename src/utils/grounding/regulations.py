"""Identifiers of regulations, standards and articles: those a claim names must stand in its source."""

import re
from collections.abc import Iterable

from deepdelve.utils.grounding.index import SourceIndex

_ID = re.compile(
    r"(?:§\s?\d+[a-z]?|\bEN\s\d{3}\s\d{3}|\b(?:(?:ISO|IEC|IEEE|EN|DIN|ASTM|ANSI|BS|ETSI|ITU(?:-[TR])?"
    r"|NIST(?: SP)?|FIPS|RFC|GB(?:/T)?|JIS|UL|SAE"
    r"|IFRS|IAS|CFR|USC|CVE|PEP|CAS)(?:[/ -](?:IEC|ISO|TS|TR|SP))?[\s-]{0,2}[A-Z]?\d[\d.:/-]*\d|(?:RFC|IFRS"
    r"|IAS|PEP)\s?\d+"
    r"|(?:Directive|Regulation|Decision|Verordnung|Richtlinie|Règlement|Reglamento|Directiva)\s(?:\((?:EU|EC"
    r"|EEC|UE|EG|CE)\)\s)?(?:No\.?\s)?\d{2,4}/\d{1,4}(?:/(?:EU|EC|EEC|UE|EG|CE))?"
    r"|(?:Article|Art\.|Artikel|Artículo|Section|Sec\.|Annex|Recital)\s?\d+[a-z]?(?:\(\d+\)|\.\d+)*(?:\([a-z]\))*"
    r"|\d+\s(?:C\.?F\.?R\.?|U\.?S\.?C\.?)\s(?:§\s?|Part\s)?\d[\d.]*|arXiv:\s?\d{4}\.\d{4,5}"
    r"|10\.\d{4,9}/[\w.()/-]+\w|(?:NCT|PMC|PMID:?\s?)\d{5,9}))",
)
_NUMBERS = re.compile(r"\d+[a-z]?")


def find(text: str) -> list[tuple[int, int, str]]:
    """Start, end and text of each identifier, in order."""
    return [(match.start(), match.end(), match[0]) for match in _ID.finditer(text)]


def same(one: str, other: str) -> bool:
    """Whether two spellings name one identifier: same family, same numbers."""
    return normal(one) == normal(other)


def normal(identifier: str) -> str:
    """An identifier without spacing, punctuation and the words that spellings vary in."""
    low = (
        identifier.lower()
        .replace("article", "art")
        .replace("artikel", "art")
        .replace("artículo", "art")
        .replace("section", "sec")
        .replace("§", "sec")
    )
    low = re.sub(r"\((?:eu|ec|eec|ue|eg|ce)\)|/(?:eu|ec|eec|ue|eg|ce)$|\bno\.?\s|arxiv:|pmid:?", "", low)
    return re.sub(r"[^a-z0-9/]", "", low)


def first_absent(text: str, sources: Iterable[SourceIndex]) -> str:
    """The first identifier of a claim that no source has, or an empty string."""
    named = find(text)
    if not named:
        return ""
    bodies = list(sources)
    for _, _, identifier in named:
        if not any(stands_in(identifier, source) for source in bodies):
            return identifier
    return ""


def stands_in(identifier: str, source: SourceIndex) -> bool:
    """Whether a source names an identifier, in any usual spelling: its numbers in their order, close to each other."""
    low = source.lower
    numbers = _NUMBERS.findall(identifier.lower())
    at = low.find(numbers[0])
    while at >= 0:
        window = low[at : at + 24 + sum(map(len, numbers))]
        before = low[at - 1 : at]
        if not before.isdigit() and _in_order(numbers, window):
            return True
        at = low.find(numbers[0], at + 1)
    return False


def _in_order(numbers: list[str], window: str) -> bool:
    found = _NUMBERS.findall(window)
    bare = [number.rstrip("abcdefghijklmnopqrstuvwxyz") for number in found]
    return found[: len(numbers)] == numbers or bare[: len(numbers)] == numbers

"""Sentence boundaries that survive abbreviations, decimals, initials, quotations and scripts without spaces."""

import re

# One set of characters stands first, so that a search passes over everything else fast.
_BREAK = re.compile(r"[.!?…\n。！？｡؟۔।](?:(?<=[.!?…])[\"'”’»)\]*_]*\s+|(?<=\n)\n*|(?<=[。！？｡؟۔।])[”」』）\"]?\s*)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“\"'])(?:[A-Za-z]|[A-Za-z](?:\.[A-Za-z])+|Mr|Mrs|Ms|Dr|Prof|St|Mt|vs|etc|al|approx|ca|cf|eq"
    r"|figs?|Figs?|nos?|Nos?|vol|Vol|pp?|eds?|est|inc|Inc|Ltd|Co|Corp"
    r"|Gen|Sen|Rep|Gov|Lt|Col|Sgt|Capt|Rev|Hon|Jr|Sr|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|[Aa]rts?"
    r"|[Ss]ec|[Cc]h|Reg|Dir|Mio|Mrd|Tsd|resp|bzw|usw|Nr|ggf|vgl|Abs|Bd|Hrsg|M|Mme"
    r"|núm|pág|Sra?|Dra?)\.$"
)
_SURE_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|cf|vs?|Mr|Mrs|Ms|Dr|Prof|St|Figs?|figs?|Nos?|Art|art|Vol|vol|pp|approx|ca|Mio|Mrd|Tsd|bzw|vgl|[A-Z])\.$"
)
# What may end a sentence or stand before a name: a capital behind it decides nothing, a word that often begins a sentence does.
_BEFORE_NAMES = re.compile(
    r"(?:^|[\s(\[“\"'])(?:[A-Z](?:\.[A-Z])+|Gen|Sen|Rep|Gov|Lt|Col|Sgt|Capt|Rev|Hon|Jr|Sr|[Ii]nc|Ltd|Co|Corp|[Aa]rts?|[Ss]ec|vol|Vol|etc"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Mme|Sra|Dra)\.$"
)
_BEGINS = re.compile(
    r"[\"“'(\[]?(?:The|An?|In|On|At|As|By|For|From|After|Before|When|While|Where|Although|Though|If|Since|Because|To|With|During|Under|It|Its"
    r"|This|That|These|Those|They|Their|There|He|She|His|Her|We|Our|You|But|And|Or|So|Yet|However|Moreover|Instead|Today|Now|Then|Thus"
    r"|Some|Many|Most|Such|Both|Each|Another|Other|Several|According|Researchers|What|How|Who|Why|No|Not|Only|Also)\b"
)
LONGEST = 480
_LONGEST_ABBREVIATION = 6


def split(text: str, longest: int = LONGEST) -> list[tuple[int, int]]:
    """Spans of sentences, none longer than ``longest`` characters, whitespace trimmed. Linear in the text."""
    spans: list[tuple[int, int]] = []
    start = 0
    for found in _BREAK.finditer(text):
        cut = found.end()
        if found[0][0] == "." and "\n" not in found[0] and not _ends_here(text, start, found.start(), cut):
            continue
        _add(spans, text, start, cut, longest)
        start = cut
    _add(spans, text, start, len(text), longest)
    return spans


def begins_sentence(text: str, at: int) -> bool:
    """Whether the word at an offset is one that often begins a sentence, and so tells that the abbreviation before it ended one."""
    return _BEGINS.match(text, at) is not None


def _ends_here(text: str, start: int, dot: int, cut: int) -> bool:
    following = text[cut : cut + 1]
    if following.islower():
        return False
    if dot - start <= 3 and text[start:dot].isdigit():
        return False
    if text[max(start, dot - _LONGEST_ABBREVIATION - 1) : dot].isalpha() and dot - start > _LONGEST_ABBREVIATION:
        return True
    before = text[max(start, dot - 12) : dot + 1]
    if _SURE_ABBREVIATION.search(before):
        return False
    if following.isupper() and _BEFORE_NAMES.search(before):
        return begins_sentence(text, cut)
    return not (_ABBREVIATION.search(before) and (following.isdigit() or following in "(["))


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int, longest: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > longest:
        cut = text.rfind(" ", start + longest // 2, start + longest)
        cut = cut if cut > 0 else start + longest
        spans.append((start, cut))
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if end > start:
        spans.append((start, end))

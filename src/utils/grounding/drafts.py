"""A draft as a writer gave it, made the draft that the parser knows: one way to cite, no wrapping, no markup of a chat or of HTML."""

import re

_LONGEST_RANGE = 20
_FENCED = re.compile(r"\A\s*(```|~~~)[\w-]{0,20}[ \t]*\n(?P<inside>.*)\n\1\s*\Z", re.S)
_HIDDEN = re.compile(
    r"<!--(?:[^-]|-(?!->)){0,20000}-->|<(script|style|think|thinking)\b[^<>]{0,200}>[^<]{0,20000}</\1>|</?think(?:ing)?>", re.I
)
_ANCHOR = re.compile(r"<a\b[^<>]{0,200}?href=[\"']?(https?://[^\"'\s<>]{1,2000})[\"']?[^<>]{0,200}>([^<]{0,300})</a>", re.I)
_TAGS = "a|span|div|font|p|b|i|u|em|strong|iframe|img|object|embed|form|input|button|svg|link|meta|script|style"
_TAG = re.compile(rf"</?(?:{_TAGS})(?:\s[^<>]{{0,500}})?/?>", re.I)
_CHAT = re.compile(
    r" ?:contentReference\[oaicite:\d{1,4}\](?:\{index=\d{1,4}\})?| ?\[oai_citation:[^\]\n]{1,200}\](?:\([^()\n]{0,500}\))?"
    r"| ?\bcite(?:turn\d{1,3}[a-z]{2,12}\d{1,3}){1,20}\b"
)
_ID = r"[sS]\d{1,6}"
_JOIN = r"\s{0,2}(?:[,;/&+]|and|und|et|y)?\s{0,2}"
# An id with a page, a line or a word beside it, in any brackets, raised, or as the words of a link.
_CITED = re.compile(
    rf"(?:\[\[?\^?|【|\(|\{{|<sup>\[?|\^\[?)\s{{0,2}}(?:(?:source|src|quelle|ref)s?[:#]?\s{{0,2}}|\#)?"
    rf"(?P<ids>{_ID}(?:{_JOIN}{_ID}){{0,30}}|{_ID}\s?[-–—]\s?{_ID})"
    rf"(?:\s{{0,2}}[,:†]\s{{0,2}}(?:pp?\.|pages?|lines?|S\.|§|L)?\s{{0,2}}\d{{1,6}}(?:\s?[-–]\s?L?\d{{1,6}})?)?"
    rf"\s{{0,2}}(?:\]?\]|】|\)|\}}|\]?</sup>|\]?\^)(?:\(https?://[^()\s]{{1,2000}}\))?",
    re.I,
)
_NUMBER = re.compile(r"\d+")


def tidy(text: str) -> str:
    """The draft with every way of naming a source id as ``[S1]`` or ``[S1, S2]``, and with nothing that only a chat or browser shows."""
    fenced = _FENCED.match(text)
    if fenced and "\n```" not in fenced["inside"] and "\n~~~" not in fenced["inside"]:
        text = fenced["inside"].strip() + "\n"
    text = _CHAT.sub("", _HIDDEN.sub("", text)) if ("<" in text or "cite" in text or "citation" in text) else text
    if "<" in text:
        text = _TAG.sub("", _ANCHOR.sub(r"[\2](\1)", text))
    return _CITED.sub(_as_ids, text)


def _as_ids(found: re.Match[str]) -> str:
    named = found["ids"]
    numbers = [int(number) for number in _NUMBER.findall(named)]
    if re.search(r"\d\s?[-–—]\s?[sS]", named) and numbers[0] <= numbers[-1] <= numbers[0] + _LONGEST_RANGE:
        numbers = list(range(numbers[0], numbers[-1] + 1))
    return f"[{', '.join(f'S{number}' for number in dict.fromkeys(numbers))}]"

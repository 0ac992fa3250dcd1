"""Finds citation markers of every dialect in a text, and what is not one: code, mathematics, years, indexes, checkboxes."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

LONGEST_RANGE = 60

_CODE = re.compile(
    r"^(```|~~~)[^\n]*\n.*?(?:^\1[^\n]*$|\Z)|<!--.*?-->|\$\$.*?\$\$"
    r"|\\\[(?![\s\d,;–-]{1,60}\\\])(?=[^\[\n]).{0,2000}?\\\]",
    re.M | re.S,
)
_INLINE_CODE = re.compile(r"(`{1,2})(?=[^`\n])[^\n]{1,300}?\1")
_NUMBERS = r"\d{1,4}(?:\s{0,2}[,;，、–—-]\s{0,2}\d{1,4}){0,80}"
_URL = r"https?://[^\s<>\[\]\"`|，。；、）】》」|｜^]+"
# The first line only saves time: most places of a text can be the beginning of no marker.
_MARKER = re.compile(
    rf"""
    (?=[\\\[(【<^⁰¹²³⁴-⁹\ue200]|source_id:|arXiv:|[dD][oO][iI]:|PM[CI]|https?://)
    (?:
      (?P<numbered>\\?\[\[?(?P<numbered_label>[^\[\]\n]{{1,120}}?)\\?\]?\]
          \((?P<numbered_url>https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)(?:\s+"[^"\n]*")?\)(?:\\?\])?)
    | (?P<footnote>\[\^(?P<footnote_label>[^\]\s\[]{{1,40}})\])
    | (?P<ids>\[\s?S\d+(?:\s*[,;]\s*S\d+)*\s?\])
    | (?P<bracket>\\?\[\s?(?P<bracket_numbers>{_NUMBERS})\s?\\?\])
    | (?P<named>[\[(](?:citation|cite|sources?|refs?|reference|web|doc|来源|參考|参考)
          \s{{0,2}}[:：\#]?\s{{0,2}}(?P<named_numbers>{_NUMBERS})[\])])
    | (?P<lenticular>【(?P<lenticular_numbers>{_NUMBERS})(?:[:：†][^】\n]{{0,120}})?】)
    | (?P<element><(?:[a-z]+:)?cite\b[^<>\n]{{0,80}}?id=["']?(?P<element_id>[\w.-]{{1,60}})["']?[^<>\n]{{0,80}}>
          (?:[^<\n]{{0,600}}</(?:[a-z]+:)?cite>)?)
    | (?P<superscript><sup>\s?\[?(?P<superscript_numbers>{_NUMBERS})\]?\s?</sup>
          |\^\[?(?P<caret_numbers>\d{{1,3}}(?:,\d{{1,3}})*)\]?\^|(?P<raised>[⁰¹²³⁴-⁹]+(?:[˒,⁻][⁰¹²³⁴-⁹]+)*))
    | (?P<turn>\ue200cite[^\ue201\n]{{1,300}}\ue201)
    | (?P<raw_id>\bsource_id:\s?(?P<raw>[\w-]{{4,80}}))
    | (?P<identifier>\b(?:arXiv:\s?(?P<arxiv>\d{{4}}\.\d{{4,5}})(?:v\d+)?|[dD][oO][iI]:\s?(?P<doi>10\.\d{{4,9}}/[^\s"<>\])}},;]+)
          |(?P<pmc>PMC\d{{6,8}})\b|PMID:\s?(?P<pmid>\d{{6,9}})))
    | (?P<autolink><(?P<autolink_url>https?://[^\s<>]+)>)
    | (?P<bare>{_URL})
    )
    """,
    re.X,
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹˒⁻", "0123456789,-")
_RAISED_AFTER = re.compile(r"(?:[.,;:!?)\]”\"’»。，]|[^\W\d_]{5})$")
_PLAIN = re.compile(
    r"(?<=[a-z)\]”\"’%][.,;:])(?P<tight>\d{1,3})(?=[\s)]|$)|(?<=[^\W\d_] )(?P<spaced>\d{1,3})(?=[.,;:)](?:\s"
    r"|$))|(?<=[^\W\d_][.”\")] )(?P<after>\d{1,3})$",
    re.M,
)
_COUNTING = re.compile(
    r"\b(?:of|to|than|by|in|at|from|and|or|the|about|around|over|under|between|section|table|figure|fig"
    r"|chapter|step|phase|version|day|page|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|level|type|stage|part|no|number|top|grade|windows|covid|gen)s?\s$",
    re.I,
)
_INTERVAL = re.compile(r"(?:\bCI|\binterval|\brange|\bin|∈|=|\bbetween|\bIQR)[\s:,of]{0,4}$", re.I)
_NOT_TRAILING = ".,;:!?'\"*_~“”’…"


@dataclass(frozen=True)
class Marker:
    """One citation in a text.

    Attributes:
        start: first character, ``end``: one past the last, in the whole text.
        raw: the text of the marker.
        dialect: bracket, numbered_link, link, footnote, ids, named, lenticular, element, superscript, turn, raw_id,
            identifier, plain, bare, author_year.
        targets: the labels or addresses it names, in order, each once.
    """

    start: int
    end: int
    raw: str
    dialect: str
    targets: tuple[str, ...]
    url: str = ""
    label: str = ""


def mask(text: str) -> str:
    """The text with code, comments and display mathematics blanked out, every offset unchanged."""
    text = _CODE.sub(_blank, text)
    return _INLINE_CODE.sub(_blank, text) if "`" in text else text


def expand(numbers: str) -> tuple[tuple[str, ...], bool]:
    """The single numbers of ``3, 5-7`` and whether a range was too long to be meant (it is then cut)."""
    found: list[str] = []
    runaway = False
    for part in re.split(r"[,;，、]", numbers):
        ends = [piece.strip() for piece in re.split(r"[–—-]", part)]
        if len(ends) == 2 and ends[0].isdigit() and ends[1].isdigit() and int(ends[1]) - int(ends[0]) >= 0:
            last = min(int(ends[1]), int(ends[0]) + LONGEST_RANGE)
            runaway |= last < int(ends[1])
            found += [str(n) for n in range(int(ends[0]), last + 1)]
        else:
            found += [str(int(piece)) for piece in ends if piece.isdigit()]
    return tuple(dict.fromkeys(found)), runaway


def find(masked: str, labels: Collection[str]) -> Iterator[Marker]:
    """Markers of a masked text, in order. ``labels`` are those of its reference list: they settle doubtful brackets."""
    for found in _MARKER.finditer(masked):
        kind = found.lastgroup or ""
        kind = next(name for name in _KINDS if found.start(name) >= 0)
        marker = _READERS[kind](found, masked, labels)
        if marker is not None:
            yield marker


def find_plain(masked: str, labels: Collection[str]) -> Iterator[Marker]:
    """Bare numbers behind words or stops (``…of LN.5 This``), whose raising was lost. Only for texts with no other markers."""
    for found in _PLAIN.finditer(masked):
        number = str(int(found[0]))
        if number in labels and not (found["spaced"] and _COUNTING.search(masked, max(0, found.start() - 12), found.start())):
            yield Marker(found.start(), found.end(), found[0], "plain", (number,))


def trim_url(url: str) -> str:
    """An address without the punctuation that follows it in prose."""
    while url:
        if url[-1] in _NOT_TRAILING or (url[-1] == ")" and url.count(")") > url.count("(")) or (url[-1] == "}" and "{" not in url):
            url = url[:-1]
        else:
            break
    return url


def _blank(found: re.Match[str]) -> str:
    return "".join(char if char == "\n" else " " for char in found[0])


def _plain(found: re.Match[str], dialect: str, targets: tuple[str, ...]) -> Marker | None:
    return Marker(found.start(), found.end(), found[0], dialect, targets) if targets else None


def _read_link(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    if masked[found.start() - 1 : found.start()] == "!":
        return None
    label, url = found["numbered_label"].strip("\\ "), found["numbered_url"]
    number = label.lstrip("^").strip()
    if number.isdigit() and len(number) <= 4:
        return Marker(found.start(), found.end(), found[0], "numbered_link", (str(int(number)),), url, label)
    return Marker(found.start(), found.end(), found[0], "link", (url,), url, label)


def _read_footnote(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    return _plain(found, "footnote", ("^" + found["footnote_label"],))


def _read_ids(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    return _plain(found, "ids", tuple(dict.fromkeys(re.findall(r"S\d+", found[0]))))


def _read_bracket(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    targets, _ = expand(found["bracket_numbers"])
    known = any(target in labels for target in targets)
    if not known and not _looks_like_citation(found, masked, targets, bool(labels)):
        return None
    if known and found["bracket_numbers"].startswith("0") and "0" not in labels:
        return None
    return _plain(found, "bracket", targets)


def _looks_like_citation(found: re.Match[str], masked: str, targets: tuple[str, ...], listed: bool) -> bool:
    """Whether an unlisted bracket is a citation (dangling), and not a year, an index, an interval or a matrix."""
    before, after = masked[max(0, found.start() - 24) : found.start()], masked[found.end() : found.end() + 3]
    values = [int(target) for target in targets]
    if any(1500 <= value <= 2100 for value in values) or 0 in values or max(values, default=0) > 999:
        return False
    if len(values) > 1 and _INTERVAL.search(before):
        return False
    if before.endswith("(") and after.startswith("]"):
        return False
    code_like = re.search(r"(?:^|[^\w])(?:[A-Za-z]|\w*[_\d]\w*|\w+\))$", before) is not None
    assigned = after.lstrip().startswith("=") or re.match(r"\.[A-Za-z_]", after) is not None
    return listed or not ((code_like and not before[-1:].isspace()) or assigned)


def _read_named(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    return _plain(found, "named", expand(found["named_numbers"])[0])


def _read_lenticular(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    return _plain(found, "lenticular", expand(found["lenticular_numbers"])[0])


def _read_element(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    name = found["element_id"]
    digits = re.search(r"\d+$", name)
    return _plain(found, "element", (str(int(digits[0])) if digits and name not in labels else name,))


def _read_superscript(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    numbers = found["superscript_numbers"] or found["caret_numbers"] or (found["raised"] or "").translate(_RAISED)
    targets, _ = expand(numbers)
    if found["raised"] and (
        not targets
        or not all(target in labels for target in targets)
        or not _RAISED_AFTER.search(masked[max(0, found.start() - 8) : found.start()])
    ):
        return None
    if found["caret_numbers"] and not any(target in labels for target in targets):
        return None
    return _plain(found, "superscript", targets)


def _read_turn(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    return _plain(found, "turn", tuple(re.findall(r"turn\d+[a-z]+\d+", found[0])))


def _read_raw_id(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    return _plain(found, "raw_id", (found["raw"],))


def _read_identifier(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    places = {
        "arxiv": "https://arxiv.org/abs/",
        "doi": "https://doi.org/",
        "pmc": "https://pmc.ncbi.nlm.nih.gov/articles/",
        "pmid": "https://pubmed.ncbi.nlm.nih.gov/",
    }
    name = next(name for name in places if found[name])
    url = places[name] + trim_url(found[name])
    return Marker(found.start(), found.end(), found[0], "identifier", (url,), url)


def _read_autolink(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    url = found["autolink_url"]
    return Marker(found.start(), found.end(), found[0], "bare", (url,), url)


def _read_bare(found: re.Match[str], masked: str, labels: Collection[str]) -> Marker | None:
    url = trim_url(found[0])
    return Marker(found.start(), found.start() + len(url), url, "bare", (url,), url) if len(url) > 10 else None


_READERS = {
    "numbered": _read_link,
    "footnote": _read_footnote,
    "ids": _read_ids,
    "bracket": _read_bracket,
    "named": _read_named,
    "lenticular": _read_lenticular,
    "element": _read_element,
    "superscript": _read_superscript,
    "turn": _read_turn,
    "raw_id": _read_raw_id,
    "identifier": _read_identifier,
    "autolink": _read_autolink,
    "bare": _read_bare,
}
_KINDS = tuple(_READERS)

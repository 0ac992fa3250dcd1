"""The sources list of a report: under any usual heading and language, at the end without one, or below a table."""

import re
from dataclasses import dataclass, replace

from deepdelve.utils.grounding.markers import trim_url

_NAMES = (
    "references|reference list|sources|source list|list of sources|sources cited|sources used|works cited"
    "|cited works|citations|bibliography|literature|literature cited"
    "|further reading|notes|endnotes|footnotes|sources and references|references and sources|key sources"
    "|source links|links|selected references"
    "|参考文献|参考资料|参考来源|参考|参考链接|引用|引用来源|引用文献|引用的著作|来源|资料来源|信息来源|文献|参考文獻|參考文獻|參考資料|資料來源|來源|引用資料|出典|参照|脚注"
    "|quellen|quellenverzeichnis|literatur|literaturverzeichnis|einzelnachweise|quellenangaben|références"
    "|références bibliographiques|bibliographie|ouvrages cités"
    "|fuentes|referencias|referencias bibliográficas|bibliografía|fonti|riferimenti|bibliografia|referências"
    "|fontes|fontes consultadas|источники|литература|список литературы"
    "|список источников|ссылки|المصادر|المراجع|مراجع|مصادر|מקורות|ביבליוגרפיה|참고문헌|참고 문헌|출처|참고 자료|kaynaklar"
    "|kaynakça|bronnen|referenties|źródła|källor|lähteet|kilder|संदर्भ|स्रोत"
)
_HEADING = re.compile(
    rf"^[\s#>*_\d.\-—=【\[]*(?:[ivxIVX]{{1,4}}\.\s*)?(?:{_NAMES})\s*(?:\([^()\n]{{0,40}}\)|（[^（）\n]{{0,40}}）)?\s*[:：】\]*_#=\-—\s]*$",
    re.I,
)
# What follows one of these is a list of works, with or without years and addresses.
_BIBLIOGRAPHY = re.compile(
    r"^[#*_\s]{0,8}(?:references|works cited|cited works|literature cited|bibliography|bibliographie|bibliografía|bibliografia"
    r"|literaturverzeichnis|quellenverzeichnis|参考文献|список литературы)[:*_\s]{0,6}$",
    re.I,
)
_LABELLED = re.compile(
    r"^[\s>]*(?:[-*+•]\s+)?(?:\*\*|__)?(?:\\?\[(?P<a>\d{1,4}|S\d+"
    r"|\^[^\]\s]{1,40})\\?\](?P<more>(?:[ ,]{0,2}\[\d{1,4}\]){0,60})[:.)]?|【(?P<b>\d{1,4})】"
    r"|(?P<c>\d{1,4})(?:[.)、．]|\\\.)(?=\s|\[|h|$)|<(?:sup)>(?P<d>\d{1,4})</sup>|\((?P<e>\d{1,4})\)\s"
    r"|(?P<f>[⁰¹²³⁴-⁹]+)\s)"
    r"(?:\*\*|__)?\s*(?P<rest>.*)$"
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\\\[)\s*(?P<rest>.+)$")
_ANY_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+\S")
_RULE = re.compile(r"^\s*(?:-{3,}|\*{3,}|_{3,})\s*$")
_LINK = re.compile(r"\[((?:[^\[\]\n]|\\[\[\]]|\[[^\[\]\n]*\]){0,300}?)\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)[^)\n]{0,100}\)")
_URL = re.compile(r"(?:https?|corpus)://[^\s<>\"`|，。；、）】》」\]]+")
_DOI = re.compile(r"\b(?:doi:\s?|DOI:?\s?)(10\.\d{4,9}/[^\s\"<>]+)")
_YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)[a-z]?\b")
_NO_DATE = re.compile(r"(?<!\w)n\.d\.(?!\w)")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LEAST_UNHEADED = 2


@dataclass(frozen=True)
class Reference:
    """One entry of a sources list. ``label`` is what markers name (a number, an id, a footnote name, or the address itself)."""

    label: str
    url: str
    title: str
    start: int
    end: int
    author: str = ""
    year: str = ""


@dataclass(frozen=True)
class ReferenceList:
    """The entries found and the spans of text that they fill."""

    entries: tuple[Reference, ...]
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Line:
    start: int
    end: int
    text: str


def find(masked: str) -> ReferenceList:
    """The sources lists of a masked text. Linear in its length."""
    lines = _lines(masked)
    spans: list[tuple[int, int]] = []
    entries: list[Reference] = []
    number = 0
    while number < len(lines):
        if is_heading(lines[number].text) and (read := _read_section(lines, number)):
            found, after = read
            entries += found
            spans.append((lines[number].start, lines[after - 1].end))
            number = after
        else:
            number += 1
    if not entries or not any(entry.label != entry.url for entry in entries):
        tail, span = _read_tail(lines, spans[-1][0] if spans else len(masked))
        entries = tail + entries
        spans += span
    for entry_list, span in [_read_definitions(lines, spans)]:
        entries += entry_list
        spans += span
    return ReferenceList(tuple(entries), tuple(sorted(spans)))


def is_heading(line: str) -> bool:
    """Whether a line is the heading of a sources list."""
    return len(line) < 90 and _HEADING.match(line) is not None


def _lines(text: str) -> list[_Line]:
    lines: list[_Line] = []
    start = 0
    for piece in text.split("\n"):
        lines.append(_Line(start, start + len(piece), piece))
        start += len(piece) + 1
    return lines


def _read_section(lines: list[_Line], heading: int) -> tuple[list[Reference], int] | None:
    """Entries below a heading and the number of the first line after them, or None where it heads no list."""
    named = _BIBLIOGRAPHY.match(lines[heading].text) is not None
    marked = _ANY_HEADING.match(lines[heading].text) is not None or "**" in lines[heading].text or named
    groups: list[list[_Line]] = []
    last = heading
    blank = False
    for number in range(heading + 1, len(lines)):
        line = lines[number]
        text = line.text.strip()
        if not text:
            blank = True
            continue
        if (_ANY_HEADING.match(line.text) and not _LABELLED.match(line.text.lstrip("# "))) or (_RULE.match(line.text) and groups):
            break
        if _RULE.match(line.text):
            continue
        if is_heading(line.text):
            break
        if _starts_entry(line.text):
            groups.append([line])
        elif groups and (not blank or text.startswith("http") or line.text[:1].isspace()):
            groups[-1].append(line)
        elif text.startswith("http") or (marked and (_URL.search(text) or _YEAR.search(text)) and len(text) < 700):
            groups.append([line])
        else:
            break
        last, blank = number, False
    entries = [entry for group in groups for entry in _entries(group)]
    labelled = sum(_LABELLED.match(group[0].text) is not None for group in groups)
    addressed = sum(bool(entry.url) for entry in entries)
    plain = not marked and (labelled < len(groups) or addressed < 0.6 * len(entries) or lines[heading].text[:1].isspace())
    listed = labelled >= max(1, len(groups) // 2) and not plain
    if not entries or not (listed or (marked and (named or addressed or any(entry.year for entry in entries)))):
        return None
    return entries, last + 1


def _starts_entry(text: str) -> bool:
    return _LABELLED.match(text) is not None or _BULLET.match(text) is not None


def _read_tail(lines: list[_Line], limit: int) -> tuple[list[Reference], list[tuple[int, int]]]:
    """A list without a heading at the end of the text: labelled lines with addresses, read upwards."""
    groups: list[list[_Line]] = []
    pending: list[_Line] = []
    for line in reversed(lines):
        if line.start >= limit or (not line.text.strip() and not pending):
            continue
        if not line.text.strip() or _RULE.match(line.text):
            continue
        labelled = _LABELLED.match(line.text)
        has_address = _URL.search(line.text) is not None or any(_URL.search(p.text) for p in pending)
        if labelled and has_address:
            groups.append([line, *reversed(pending)])
            pending = []
        elif line.text.strip().startswith("http") and len(pending) < 3:
            pending.append(line)
        elif groups or len(pending) >= 3:
            break
        else:
            pending.append(line)
            if len(pending) > 3:
                break
    groups.reverse()
    if len(groups) < _LEAST_UNHEADED:
        return [], []
    labels = [entry.label for group in groups for entry in _entries(group)]
    if not all(label.isdigit() or label[:1] in "S^" for label in labels) or _is_body(groups, lines):
        return [], []
    return [entry for group in groups for entry in _entries(group)], [(groups[0][0].start, groups[-1][-1].end)]


def _is_body(groups: list[list[_Line]], lines: list[_Line]) -> bool:
    """Whether numbered lines are an ordered list of the text: ``1.`` items whose addresses only end them."""
    dotted = sum(re.match(r"\s*\d{1,4}[.)]", group[0].text) is not None for group in groups)
    wordy = sum(len(_URL.sub("", group[0].text)) > 160 for group in groups)
    return dotted == len(groups) and wordy > len(groups) // 2


def _read_definitions(lines: list[_Line], spans: list[tuple[int, int]]) -> tuple[list[Reference], list[tuple[int, int]]]:
    """Footnote definitions (``[^1]: …``) and link definitions (``[3]: https://…``), wherever they stand."""
    entries: list[Reference] = []
    found: list[tuple[int, int]] = []
    for line in lines:
        if not line.text.lstrip().startswith("[") or any(start <= line.start < end for start, end in spans):
            continue
        if re.match(r"\s*\[(?:\^[^\]\s]{1,40}|\d{1,4})\]:\s", line.text):
            entries += _entries([line])
            found.append((line.start, line.end))
    return entries, found


def _entries(group: list[_Line]) -> list[Reference]:
    """The entries of one group of lines: several where one address has several numbers."""
    first = _entry(group)
    labelled = _LABELLED.match(group[0].text)
    more = re.findall(r"\d+", labelled["more"] or "") if labelled else []
    return [first, *(replace(first, label=str(int(number))) for number in more)]


def _entry(group: list[_Line]) -> Reference:
    text = " ".join(line.text.strip() for line in group)
    labelled = _LABELLED.match(group[0].text)
    label = ""
    rest = text
    if labelled:
        label = next(value for name in "abcdef" if (value := labelled[name]) is not None).translate(_RAISED)
        label = str(int(label)) if label.isdigit() else label
        rest = " ".join([labelled["rest"], *(line.text.strip() for line in group[1:])])
    elif bullet := _BULLET.match(text):
        rest = bullet["rest"]
    link = _LINK.search(rest)
    address = _URL.search(rest)
    doi = _DOI.search(rest)
    url = link[2] if link else trim_url(address[0]) if address else f"https://doi.org/{trim_url(doi[1])}" if doi else ""
    year = _dated(_URL.sub(" ", rest))
    title = _title(rest, link[1] if link else "")
    return Reference(label or url or title[:80], url, title, group[0].start, group[-1].end, rest[:200], year)


def _dated(rest: str) -> str:
    """The year of an entry, or ``n.d.`` where that stands before any."""
    undated, year = _NO_DATE.search(rest), _YEAR.search(rest)
    if undated and (year is None or undated.start() < year.start()):
        return undated[0]
    return year[0] if year else ""


def _title(rest: str, anchor: str) -> str:
    without = _URL.sub("", _LINK.sub("", rest))
    without = re.sub(r"\[(?:Accessed|Online|PDF)[^\]]{0,40}\]|Available at:?", "", without, flags=re.I)
    without = without.strip(' \t-–—:,.|*"“”<>()[]\\')
    anchor = anchor.strip(" *\\")
    if anchor and not anchor.startswith("http") and (len(anchor) >= len(without) or len(without) < 12):
        return anchor
    return without or ("" if anchor.startswith("http") else anchor)

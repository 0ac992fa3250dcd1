"""One parser for every citation dialect: markers, the sources list, what resolves to what, and what is wrong with it."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import urlsplit

from deepdelve.utils.grounding import markers as scan
from deepdelve.utils.grounding import references as lists
from deepdelve.utils.grounding.markers import Marker
from deepdelve.utils.grounding.references import Reference

MOST_TARGETS = 12
_LEAST_PLAIN = 5
_NUMBERED = frozenset(("bracket", "numbered_link", "footnote", "superscript", "lenticular", "named", "element", "ids"))
# What a placeholder can begin with: most places of a text are passed over by it fast.
_PLACE = re.compile(r"\[|\(|【|\{|<|TODO|FIXME|Lorem|lorem|LOREM")
_PLACEHOLDER = re.compile(
    r"\[(?:please )?(?:insert|add|your|placeholder|todo|tbd|to be (?:added|determined|completed)"
    r"|citation needed|source needed|reference needed|missing|xx+|url|link here"
    r"|source name|citation|author|ref|cite|\?+|#)\b[^\]\[\n]{0,80}\](?!\()|\[\?+\](?!\()|(?-i:\bTODO\b|\bFIXME\b)"
    r"|\bLorem ipsum\b|【(?:待补充|插入)[^】\n]{0,40}】|\{\{[^{}\n]{1,80}\}\}"
    r"|<(?:insert|your|placeholder|source|citation)\b[^<>\n]{0,60}>|\[(?:插入|引用|要出典|出典を|来源|待补充)[^\]\n]{0,40}\]"
    r"|\[(?:s[?#xn]{1,2}|[?#]{1,3}|n)\](?!\()|\[\d{1,3}\?\](?!\()|\[(?:source|date|quelle|beleg|fuente|référence)\b[^\]\[\n]{0,40}\](?!\()"
    r"|\[[^\[\]\n]{0,60}\b(?:einfügen|ergänzen|compléter|insérer|insertar|completar|вставить|here)\](?!\()"
    r"|\((?:ref|source needed|citation needed|author,? year|(?:add|insert) (?:a )?(?:source|citation|reference))\)",
    re.I,
)
_AUTHOR = r"[A-ZÀ-ÞŁŚŽČ][\w'’.À-ÿ-]{1,40}"
_DATED = r"(?:(?:1[89]\d\d|20\d\d)[a-z]?|n\.d\.(?:-[a-z])?)"
_AUTHOR_YEAR = re.compile(
    rf"\((?P<many>(?:see |e\.g\.,? |cf\. )?[^()\[\]\n;]{{1,90}}?,?\s{_DATED}(?:,? pp?\. ?\d+(?:[-–]\d+)?)?"
    rf"(?:;[^()\[\]\n;]{{1,90}}?,?\s{_DATED}){{0,12}})\)"
    rf"|(?P<narrative>{_AUTHOR}(?: (?:and|&|und|et|y) {_AUTHOR}| et al\.?| and colleagues)?)\s\((?P<year>(?:1[89]\d\d|20\d\d)[a-z]?)\)"
)
_BIBLIOGRAPHIC = re.compile(r"^[^\d]{2,160}?[\s(,.](?:\(?(?:1[89]|20)\d\d)")
_PAIR = re.compile(r"(?P<who>[^;]{1,90}?),?\s(?P<year>1[89]\d\d|20\d\d|n\.d\.)(?P<letter>(?:-?[a-z])?)(?:,? pp?\.[^;]*)?$")
_LETTER = re.compile(r"-[a-z]\b")
_MONTH = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer|autumn|winter|fall|q[1-4]|figure|fig"
    r"|table|since|until|in|from|by|of|chapter|section|act|law|version|updated|accessed)",
    re.I,
)
_ARXIV = re.compile(r"^arxiv\.org/(?:abs|pdf|html)/(\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?$")
_ENDS_WELL = re.compile(r"""[.!?…。！？：:؟۔।|)\]）】」』"'”’»*_`~>\-–—/\d]\s*$""")


@dataclass(frozen=True)
class CitationProblem:
    """What is wrong with a citation. ``kind``: dangling, uncited_source, duplicate, placeholder, runaway, truncated, invented_subpage."""

    kind: str
    detail: str
    start: int
    end: int


@dataclass(frozen=True)
class ParsedReport:
    """A report's citations.

    Attributes:
        markers: in order of place.
        references: label to entry; an address that a marker names directly is its own label.
        problems: in order of place.
        body_spans: the parts of the text that are not a sources list.
        masked: the text with code blanked, offsets unchanged.
    """

    text: str
    masked: str
    markers: tuple[Marker, ...]
    references: Mapping[str, Reference]
    problems: tuple[CitationProblem, ...]
    body_spans: tuple[tuple[int, int], ...]
    listed: tuple[Reference, ...] = ()

    @cached_property
    def starts(self) -> list[int]:
        """The first character of each marker."""
        return [marker.start for marker in self.markers]


def parse(text: str, known: Collection[str] = ()) -> ParsedReport:
    """Parse a report.

    Args:
        text: the whole report, Markdown or plain.
        known: ids and addresses that are known to exist (``S12``, fetched addresses); markers naming them resolve without a list.
    """
    masked = scan.mask(text)
    found = lists.find(masked)
    references: dict[str, Reference] = {}
    for entry in found.entries:
        references.setdefault(entry.label, entry)
    body = _outside(found.spans, len(text))
    markers = _markers(masked, references, found, body)
    if sum(label.isdigit() for label in references) >= _LEAST_PLAIN and not any(marker.dialect in _NUMBERED for marker in markers):
        plain = [
            Marker(marker.start + start, marker.end + start, marker.raw, marker.dialect, marker.targets)
            for start, end in body
            for marker in scan.find_plain(masked[start:end], references.keys())
        ]
        markers = sorted([*markers, *plain], key=lambda marker: marker.start)
    references = _with_direct(references, markers, known)
    problems = [
        *_dangling(markers, references, known),
        *_runaway(markers, masked),
        *_list_problems(found.entries, markers, references),
        *_placeholders(masked, body),
        *_truncated(text, body, found.spans),
        *_invented(markers, references, known),
    ]
    problems.sort(key=lambda problem: (problem.start, problem.kind))
    return ParsedReport(text, masked, tuple(markers), references, tuple(problems), tuple(body), found.entries)


@lru_cache(maxsize=4096)
def same_page(url: str) -> str:
    """The address in the form by which two spellings of one page are equal."""
    parts = urlsplit(url.strip())
    if parts.scheme not in {"http", "https", ""}:
        # A local document: its address is exact, and a fragment names one row of a file.
        return url.strip()
    host = parts.netloc.lower().removeprefix("www.")
    query = "&".join(p for p in parts.query.split("&") if p and not p.lower().startswith(("utm_", "srsltid", "gclid", "fbclid")))
    page = f"{host}{parts.path.rstrip('/')}{'?' + query if query else ''}".lower()
    return _ARXIV.sub(r"arxiv.org/abs/\1", page)


def _outside(spans: Collection[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    body: list[tuple[int, int]] = []
    at = 0
    for start, end in spans:
        if start > at:
            body.append((at, start))
        at = max(at, end)
    if at < size:
        body.append((at, size))
    return body


def _markers(masked: str, references: Mapping[str, Reference], found: lists.ReferenceList, body: list[tuple[int, int]]) -> list[Marker]:
    markers: list[Marker] = []
    for start, end in body:
        part = masked[start:end]
        local = [*scan.find(part, references.keys()), *_author_years(part, found.entries)]
        local.sort(key=lambda marker: (marker.start, -marker.end))
        reach = -1
        for marker in local:
            if marker.start >= reach:
                markers.append(
                    Marker(marker.start + start, marker.end + start, marker.raw, marker.dialect, marker.targets, marker.url, marker.label)
                )
                reach = marker.end
    return markers


def _author_years(part: str, entries: Collection[Reference]) -> list[Marker]:
    """(Author, Year) citations. A pair that no entry resolves counts only where it can be nothing else."""
    index: dict[tuple[str, str], str] = {}
    for entry in entries:
        at = entry.author.find(entry.year) if entry.year else -1
        if at <= 0:
            continue
        # The whole name tells apart what begins alike: "Directive 18-01" and "Directive 19-02".
        letter = _LETTER.match(entry.author, at + len(entry.year))
        index.setdefault((_whole(entry.author[:at]), entry.year + (letter[0] if letter else "")), entry.label)
    for entry in entries:
        at = entry.author.find(entry.year) if entry.year else -1
        if at > 0 and (entry.year == "n.d." or _BIBLIOGRAPHIC.search(entry.author[: at + 6])):
            for name in re.findall(r"[^\W\d_][\w'’-]+", entry.author[:at])[:12]:
                index.setdefault((name.lower(), entry.year), entry.label)
    markers: list[Marker] = []
    for found in _AUTHOR_YEAR.finditer(part):
        if found["narrative"]:
            label = _lookup(index, found["narrative"], found["year"])
            targets = (label,) if label else ()
        else:
            targets = _pairs(found["many"], index)
        if targets:
            markers.append(Marker(found.start(), found.end(), found[0], "author_year", targets))
    return markers


def _pairs(text: str, index: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    targets: list[str] = []
    for piece in text.split(";"):
        pair = _PAIR.match(piece.strip())
        if not pair:
            continue
        who = re.sub(r"^(?:see|e\.g\.,?|cf\.)\s+", "", pair["who"].strip())
        dated = pair["year"] + pair["letter"]
        label = index.get((_whole(who), dated)) or ("" if _MONTH.search(who) else _lookup(index, who, dated))
        sure = (
            ("et al" in who or " & " in who or re.fullmatch(rf"{_AUTHOR}(?: and {_AUTHOR})?", who))
            and not _MONTH.search(who)
            and bool(index)
        )
        sure = bool(sure) or (("et al" in who or " & " in who) and not _MONTH.search(who))
        if label or (sure and who[:1].isupper()):
            targets.append(label or f"{who}, {pair['year']}")
    return tuple(dict.fromkeys(targets))


def _whole(who: str) -> str:
    return " ".join(re.findall(r"\w+", who.lower()))


def _lookup(index: Mapping[tuple[str, str], str], who: str, year: str) -> str:
    names = [name.lower() for name in re.findall(r"[^\W\d_][\w'’-]+", who)]
    return next((index[name, y] for y in dict.fromkeys((year, year[:4])) for name in names if (name, y) in index), "")


def _with_direct(references: dict[str, Reference], markers: list[Marker], known: Collection[str]) -> dict[str, Reference]:
    """References with those that markers carry themselves: addresses, numbered links, known ids."""
    complete = dict(references)
    for marker in markers:
        if marker.url:
            complete.setdefault(marker.targets[0], Reference(marker.targets[0], marker.url, marker.label, marker.start, marker.end))
        for target in marker.targets:
            if target in known and target not in complete:
                complete[target] = Reference(target, "", "", marker.start, marker.end)
    return complete


def _dangling(markers: list[Marker], references: Mapping[str, Reference], known: Collection[str]) -> list[CitationProblem]:
    return [
        CitationProblem("dangling", f"{marker.raw[:80]} names {target}, which no source has", marker.start, marker.end)
        for marker in markers
        for target in marker.targets
        if target not in references
    ]


def _runaway(markers: list[Marker], masked: str) -> list[CitationProblem]:
    problems: list[CitationProblem] = []
    run: list[Marker] = []
    for marker in [*markers, None]:
        if marker is not None and run and not masked[run[-1].end : marker.start].strip(" ,;") and marker.start - run[-1].end < 4:
            run.append(marker)
            continue
        count = sum(len(each.targets) for each in run)
        if (
            run
            and run[0].dialect != "bare"
            and (count > MOST_TARGETS or any(scan.expand(each.raw.strip("[]"))[1] for each in run if each.dialect == "bracket"))
        ):
            problems.append(CitationProblem("runaway", f"{count} sources cited at one place", run[0].start, run[-1].end))
        run = [marker] if marker is not None else []
    return problems


def _list_problems(entries: Collection[Reference], markers: list[Marker], references: Mapping[str, Reference]) -> list[CitationProblem]:
    cited = {target for marker in markers for target in marker.targets}
    cited_pages = {same_page(references[target].url) for target in cited if target in references and references[target].url}
    numbered = any(entry.label != entry.url for entry in entries)
    problems: list[CitationProblem] = []
    seen: dict[str, str] = {}
    labels: set[str] = set()
    for entry in entries:
        page = same_page(entry.url) if entry.url else ""
        if numbered and entry.label not in cited and page not in cited_pages:
            problems.append(CitationProblem("uncited_source", f"source {entry.label} is listed and never cited", entry.start, entry.end))
        if page and page in seen and seen[page] != entry.label:
            problems.append(CitationProblem("duplicate", f"sources {seen[page]} and {entry.label} are one page", entry.start, entry.end))
        if entry.label in labels:
            problems.append(CitationProblem("duplicate", f"label {entry.label} is listed twice", entry.start, entry.end))
        labels.add(entry.label)
        if page:
            seen.setdefault(page, entry.label)
    return problems


def _placeholders(masked: str, body: list[tuple[int, int]]) -> list[CitationProblem]:
    problems: list[CitationProblem] = []
    for start, end in body:
        reach = start
        for place in _PLACE.finditer(masked, start, end):
            if place.start() >= reach and (found := _PLACEHOLDER.match(masked, place.start(), end)):
                problems.append(CitationProblem("placeholder", found[0], *found.span()))
                reach = found.end()
    return problems


def _truncated(text: str, body: list[tuple[int, int]], lists_spans: Collection[tuple[int, int]]) -> list[CitationProblem]:
    """A last body line that ends in mid-sentence. A heading, a table row, a short line or an address ends well."""
    if not body:
        return []
    start, end = body[-1] if text[slice(*body[-1])].strip() else body[0]
    last = text[start:end].rstrip()
    line = last[last.rfind("\n") + 1 :].strip()
    if (
        not line
        or line.startswith(("#", "|", "http"))
        or _ENDS_WELL.search(line)
        or (len(line) < 60 and not line.endswith((",", "(", " the", " and", " of")))
    ):
        return []
    if line.rsplit(" ", 1)[-1].startswith(("http", "source_id")):
        return []
    at = start + len(last)
    return [CitationProblem("truncated", f"ends in mid-sentence: …{line[-60:]}", max(start, at - 60), at)]


def _invented(markers: list[Marker], references: Mapping[str, Reference], known: Collection[str]) -> list[CitationProblem]:
    """Addresses below a known page that are not known themselves."""
    pages = {same_page(url) for url in known if "://" in url}
    if not pages:
        return []
    problems: list[CitationProblem] = []
    for marker in markers:
        for target in marker.targets:
            url = references[target].url if target in references else ""
            page = same_page(url) if url else ""
            if page and page not in pages and any(parent in pages for parent in _parents(page)):
                problems.append(
                    CitationProblem("invented_subpage", f"{url} was never fetched, though a page above it was", marker.start, marker.end)
                )
    return problems


def _parents(page: str) -> list[str]:
    """The pages above a page, its site's own front page left out unless it is the only one."""
    parts = page.split("?", 1)[0].split("/")
    return ["/".join(parts[:size]) for size in range(len(parts) - 1, 0, -1)] + ([page.split("?", 1)[0]] if "?" in page else [])

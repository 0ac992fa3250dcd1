"""Delivery: a draft with source ids becomes a report with numbered or author-year citations, marks and a sources list."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deepdelve.core.records import Claim, Source, Style
from deepdelve.utils.grounding import citations
from deepdelve.utils.grounding.citations import ParsedReport
from deepdelve.utils.grounding.markers import Marker
from deepdelve.utils.phrases import say

_MARKED = frozenset({"unsupported", "contradicted", "partial"})
_PAGE = re.compile(r"^\[page (\d{1,5})\]\s*$", re.M)
# An id that no marker was made of: in code, or of no source.
_LEFT = re.compile(r"\[S\d{1,6}(?:, S\d{1,6}){0,60}\]")
_SHORT = 40
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d\b")
_MARKUP = re.compile(r"([\\`*_\[\]|])")
_TEX = str.maketrans({"{": "(", "}": ")", "\\": "/", "\n": " ", "~": r"\~{}", "^": r"\^{}"} | {char: f"\\{char}" for char in "%&#$_"})
_ADDRESS_TEX = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20", "\n": ""})


@dataclass(frozen=True)
class Rendered:
    """A delivered report: its text, the ids of its sources in the order of their numbers, and where each claim now stands."""

    text: str
    order: tuple[str, ...]
    spans: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class _Edit:
    start: int
    end: int
    text: str


def render(
    draft: str,
    claims: Sequence[Claim],
    sources: Mapping[str, Source],
    style: Style,
    *,
    preface: str = "",
    texts: Mapping[str, str] | None = None,
    parsed: ParsedReport | None = None,
    language: str = "",
) -> Rendered:
    """Render a draft.

    Ids that are no citable source, placeholders and a sources list of the draft's own are never delivered.

    Args:
        draft: the draft's text.
        claims: its ledger; claims that are not carried are marked where they stand.
        sources: id to record.
        style: ``academic`` cites (Author, Year), the others [n].
        preface: put below the title, such as the outcome and the counts.
        texts: id to source text, so that local documents are listed with the pages that claims rest on.
        parsed: the draft as parsed already.
        language: that of marks and headings which are added.
    """
    parsed = parsed or citations.parse(draft, known=sources.keys())
    resolver = _Resolver(sources)
    order = _order(parsed, resolver)
    names = _names(order, sources, style)
    edits = [
        *_citation_edits(parsed, resolver, names, style),
        *_mark_edits(claims, names, style, language),
        *_cuts(parsed, draft),
        *_left_over(parsed, draft),
        *_preface(draft, preface),
    ]
    text, place = _apply(draft, edits)
    spans = {claim.id: (place.start(claim.span[0]), place.end(claim.span[1])) for claim in claims if claim.span}
    listing = _listing(order, sources, names, style, _pages(claims, texts or {}), language)
    body = text.rstrip()
    return Rendered(f"{body}\n\n{listing}\n" if listing else f"{body}\n", tuple(order), spans)


def author_year(source: Source) -> str:
    """``Author, Year`` of a source: its first author's family name, else its site, and the year of its date."""
    author = re.split(r";| and | & ", source.author)[0].strip()
    family = author.split(",")[0] if "," in author else author.rsplit(" ", 1)[-1]
    site = re.sub(r"^https?://(?:www\.)?|/.*$", "", source.url) if source.url.startswith("http") else ""
    year = _YEAR.search(source.date)
    return f"{family or site or _short(source.title) or source.id}, {year[0] if year else 'n.d.'}"


def _short(title: str) -> str:
    """A title of at most 40 characters, cut between words."""
    text = " ".join(title.split())
    return text if len(text) <= _SHORT else text[: _SHORT + 1].rpartition(" ")[0].rstrip(" ,;:–-") or text[:_SHORT]


def bibtex(sources: Mapping[str, Source], order: Sequence[str]) -> str:
    """The sources as BibTeX entries, one a source, in order."""
    entries: list[str] = []
    for key in order:
        source = sources[key]
        year = _YEAR.search(source.date)
        fields = {
            "title": source.title.translate(_TEX),
            "author": re.sub(r"\s*;\s*", " and ", source.author).translate(_TEX),
            "year": year[0] if year else "",
            "url": source.url.translate(_ADDRESS_TEX),
            "urldate": source.fetched_at[:10],
        }
        rows = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
        entries.append(f"@misc{{{re.sub(r'[^A-Za-z0-9]', '', key)},\n{rows}\n}}\n")
    return "\n".join(entries)


class _Resolver:
    """Targets of markers to citable sources; two ids of one page are one source."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._pages: dict[str, Source] = {}
        for source in sources.values():
            for url in (source.url, source.final_url):
                if source.citable and url:
                    self._pages.setdefault(citations.same_page(url), source)

    def __call__(self, target: str) -> Source | None:
        source = self._sources.get(target)
        if source is None and "://" in target:
            return self._pages.get(citations.same_page(target))
        if source is None or not source.citable:
            return None
        return self._pages.get(citations.same_page(source.url), source) if source.url else source


def _order(parsed: ParsedReport, resolve: _Resolver) -> list[str]:
    """Ids in order of first citation."""
    found = (resolve(target) for marker in parsed.markers for target in marker.targets)
    return list(dict.fromkeys(source.id for source in found if source is not None))


def _names(order: Sequence[str], sources: Mapping[str, Source], style: Style) -> dict[str, str]:
    """Id to what a citation shows of it: its number, or author and year (with a letter where two would be equal)."""
    if style != "academic":
        return {key: str(number) for number, key in enumerate(order, 1)}
    names = {key: author_year(sources[key]) for key in order}
    equal: dict[str, list[str]] = {}
    for key, name in names.items():
        equal.setdefault(name, []).append(key)
    for name, keys in equal.items():
        if len(keys) > 1:
            names.update({key: f"{name}{'-' if name.endswith('n.d.') else ''}{_letter(place)}" for place, key in enumerate(keys)})
    return names


def _letter(place: int) -> str:
    return chr(ord("a") + place) if place < 26 else f"z{place - 25}"


def _shown(names: Sequence[str], style: Style) -> str:
    return f"({'; '.join(names)})" if style == "academic" else f"[{', '.join(names)}]"


def _citation_edits(parsed: ParsedReport, resolve: _Resolver, names: Mapping[str, str], style: Style) -> list[_Edit]:
    """Markers side by side become one citation; those that name no citable source go, with the space before them."""
    edits = [_Edit(problem.start, problem.end, "") for problem in parsed.problems if problem.kind == "placeholder"]
    for group in _groups(parsed):
        found = (resolve(target) for marker in group for target in marker.targets)
        shown = list(dict.fromkeys(names[source.id] for source in found if source is not None))
        label = group[0].label if group[0].dialect == "link" else ""
        start = group[0].start
        while not shown and not label and start > 0 and parsed.text[start - 1] == " ":
            start -= 1
        cited = _shown(shown, style) if shown else ""
        edits.append(_Edit(start, group[-1].end, f"{label} {cited}".strip() if label else cited))
    return edits


def _groups(parsed: ParsedReport) -> list[list[Marker]]:
    groups: list[list[Marker]] = []
    for marker in parsed.markers:
        last = groups[-1][-1] if groups else None
        beside = last is not None and marker.start - last.end <= 2 and not parsed.text[last.end : marker.start].strip(" ,;")
        if beside and last is not None and "link" not in (last.dialect, marker.dialect):
            groups[-1].append(marker)
        else:
            groups.append([marker])
    return groups


def _mark_edits(claims: Sequence[Claim], names: Mapping[str, str], style: Style, language: str) -> list[_Edit]:
    """A visible mark behind each claim that is not carried."""
    edits: list[_Edit] = []
    for claim in claims:
        if claim.span is None or not claim.needs_citation or claim.status not in _MARKED:
            continue
        shown = list(dict.fromkeys(names[key] for key in claim.citations if key in names))
        note = say(f"mark_{claim.status}", language, sources=_shown(shown, style)) if shown else say("mark_uncited", language)
        edits.append(_Edit(claim.span[1], claim.span[1], f" ⚠ {note}"))
    return edits


def _left_over(parsed: ParsedReport, draft: str) -> list[_Edit]:
    markers = {marker.start for marker in parsed.markers}
    return [_Edit(found.start(), found.end(), "") for found in _LEFT.finditer(draft) if found.start() not in markers]


def _cuts(parsed: ParsedReport, draft: str) -> list[_Edit]:
    """Sources lists that the draft holds."""
    edits: list[_Edit] = []
    at = 0
    for start, end in [*parsed.body_spans, (len(draft), len(draft))]:
        if start > at:
            edits.append(_Edit(at, start, ""))
        at = end
    return edits


def _preface(draft: str, preface: str) -> list[_Edit]:
    """The preface below the title, or on top where there is none."""
    if not preface:
        return []
    title = re.match(r"\s*# [^\n]*\n", draft)
    return [_Edit(title.end(), title.end(), f"\n{preface.strip()}\n")] if title else [_Edit(0, 0, f"{preface.strip()}\n\n")]


def _apply(draft: str, edits: Sequence[_Edit]) -> tuple[str, "_Places"]:
    pieces: list[str] = []
    moved: list[tuple[int, int]] = [(0, 0)]
    at = length = 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        if edit.start < at:
            continue
        pieces += [draft[at : edit.start], edit.text]
        length += edit.start - at
        moved.append((edit.start, length))
        length += len(edit.text)
        at = edit.end
        moved.append((edit.end, length))
    pieces.append(draft[at:])
    return "".join(pieces), _Places(moved)


class _Places:
    """Where an offset of the draft stands in the delivered text; what is put in at an end stays outside of it."""

    def __init__(self, moved: Sequence[tuple[int, int]]) -> None:
        self._old = [old for old, _ in moved]
        self._new = [new for _, new in moved]

    def start(self, offset: int) -> int:
        """The place of a first character."""
        return self._at(bisect_right(self._old, offset) - 1, offset)

    def end(self, offset: int) -> int:
        """The place behind a last character."""
        place = bisect_left(self._old, offset)
        same = place < len(self._old) and self._old[place] == offset
        return self._at(place if same else place - 1, offset)

    def _at(self, place: int, offset: int) -> int:
        return self._new[place] + (offset - self._old[place])


def _pages(claims: Sequence[Claim], texts: Mapping[str, str]) -> dict[str, list[int]]:
    """For sources with page marks, the pages that claims rest on."""
    marks = {key: [(found.start(), int(found[1])) for found in _PAGE.finditer(text)] for key, text in texts.items()}
    pages: dict[str, set[int]] = {}
    for claim in claims:
        passage = claim.passage
        if passage is not None and passage.start >= 0 and (held := marks.get(passage.source_id)):
            place = bisect_right([start for start, _ in held], passage.start) - 1
            if place >= 0:
                pages.setdefault(passage.source_id, set()).add(held[place][1])
    return {key: sorted(found) for key, found in pages.items()}


def _listing(
    order: Sequence[str],
    sources: Mapping[str, Source],
    names: Mapping[str, str],
    style: Style,
    pages: Mapping[str, list[int]],
    language: str,
) -> str:
    if not order:
        return ""
    rows: list[str] = []
    for key in order:
        source = sources[key]
        web = source.url.startswith(("http://", "https://"))
        place = re.sub(r"[\s<>]+", "%20", source.url) if web else source.url.removeprefix("file://") or source.file
        title = _plain(source.title) or (_plain(place) if not web else "")
        page = say("page", language, pages=", ".join(map(str, pages[key]))) if key in pages else ""
        entry = ". ".join(part for part in (title, place) if part) + page
        rows.append(f"- {_plain(names[key]).rstrip('.')}. {entry}" if style == "academic" else f"[{names[key]}] {entry}")
    heading = f"## {say('references' if style == 'academic' else 'sources', language)}"
    return "\n\n".join([heading, "\n".join(rows)] if style == "academic" else [heading, *rows])


def _plain(text: str) -> str:
    """Outside text that no renderer takes for markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split())).replace("<", "&lt;")

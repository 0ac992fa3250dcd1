"""Wikilinks: where they stand, where they lead, and which are none. Every function is linear in the length of the text."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepdelve.engine.vault.names import FORBIDDEN, slug

MAX_LINK_CHARS = 500
_NEVER = FORBIDDEN - {"/"}
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})([^\n]*)")
_TICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_HEADING = re.compile(r"(?m)^[ \t]{0,3}#{1,6}[ \t]+([^\n]+?)[ \t]*#*[ \t]*$")
_BLOCK_ID = re.compile(r"(?m)(?:^|[ \t])\^([A-Za-z0-9-]{1,80})[ \t]*$")


@dataclass(frozen=True)
class WikiLink:
    """A wikilink. ``target`` is empty for a link within the page; ``block`` and ``heading`` name the place in the target."""

    start: int
    end: int
    target: str
    heading: str = ""
    block: str = ""
    alias: str = ""
    embed: bool = False

    @property
    def slug(self) -> str:
        """The target's last part, as names are compared."""
        return slug(self.target.rpartition("/")[2].removesuffix(".md"))


@dataclass(frozen=True)
class Parsed:
    """The links of a text, and the places where something looks like one and is none, each with the reason."""

    links: tuple[WikiLink, ...] = ()
    invalid: tuple[tuple[int, int, str], ...] = ()


@dataclass(frozen=True)
class Name:
    """A name under which a page can be meant: ``level`` is title, alias or file; ``path`` is the page's, in the vault."""

    page_id: str
    level: str
    name: str
    path: str


def parse_links(text: str) -> Parsed:
    """The wikilinks outside frontmatter, code, comments and math."""
    hidden = masked(text)
    links: list[WikiLink] = []
    invalid: list[tuple[int, int, str]] = []
    at = hidden.find("[[")
    while at >= 0:
        line_end = hidden.find("\n", at)
        line_end = len(hidden) if line_end < 0 else line_end
        end = hidden.find("]]", at + 2, min(line_end, at + MAX_LINK_CHARS))
        inner = hidden.find("[[", at + 2, end if end >= 0 else line_end)
        if end < 0 or inner >= 0:
            invalid.append((at, at + 2, "not closed"))
            at = hidden.find("[[", at + 2)
            continue
        found = _link(text, at, end)
        if isinstance(found, WikiLink):
            links.append(found)
        else:
            invalid.append((at, end + 2, found))
        at = hidden.find("[[", end + 2)
    return Parsed(tuple(links), tuple(invalid))


def without_invalid(text: str, *, every: bool = False) -> str:
    """The text with what is no valid link (or, with ``every``, all links) as plain text."""
    parsed = parse_links(text)
    spans = [(start, end, text[start:end].replace("[[", "").replace("]]", "")) for start, end, _ in parsed.invalid]
    if every:
        spans += [(link.start, link.end, link.alias or link.target or link.heading or link.block) for link in parsed.links]
    kept: list[str] = []
    at = 0
    for start, end, plain in sorted(spans):
        kept += [text[at:start], plain]
        at = end
    return "".join([*kept, text[at:]])


def resolve(link: WikiLink, names: Iterable[Name]) -> tuple[str | None, bool]:
    """The page that a link means, and whether it is ambiguous: exact name, any case, alias, file slug, title slug, in this order.

    Args:
        link: with a target.
        names: those whose slug is the link's.
    """
    known = list(names)
    target = link.target.removesuffix(".md")
    if "/" in target:
        wanted = target.strip("/").casefold()
        paths = {name.page_id for name in known if _is_path(name.path, wanted)}
        return _only(paths)
    folded, short = target.casefold(), link.slug
    levels = (
        [name for name in known if name.level != "alias" and name.name == target],
        [name for name in known if name.level != "alias" and name.name.casefold() == folded],
        [name for name in known if name.level == "alias" and name.name.casefold() == folded],
        [name for name in known if name.level == "file" and slug(name.name) == short],
        [name for name in known if name.level == "title" and slug(name.name) == short],
    )
    for level in levels:
        if level:
            return _only({name.page_id for name in level})
    return None, False


def headings(text: str) -> frozenset[str]:
    """The headings of a page, as links name them, compared by slug."""
    return frozenset(slug(match[1]) for match in _HEADING.finditer(masked(text, links_only=False)))


def block_ids(text: str) -> frozenset[str]:
    """The block ids of a page, in lower case."""
    return frozenset(match[1].lower() for match in _BLOCK_ID.finditer(masked(text, links_only=False)))


def masked(text: str, *, links_only: bool = True) -> str:
    """The text with frontmatter, code, comments and (``links_only``) math blanked; offsets stay."""
    spans = _frontmatter(text)
    spans += _fenced(text, spans[0][1] if spans else 0)
    text = _blanked(text, spans)
    if "`" in text:
        text = _blanked(text, _inline_code(text))
    text = _blanked(text, [*_pairs(text, "<!--", "-->"), *_pairs(text, "%%", "%%")])
    return _blanked(text, _math(text)) if links_only and "$" in text else text


def _link(text: str, start: int, end: int) -> WikiLink | str:
    """The link between these brackets, or why it is none."""
    inside = text[start + 2 : end].replace("\\|", "|")
    name, _, alias = inside.partition("|")
    target, _, place = name.partition("#")
    target = target.strip()
    if not target and not place.strip():
        return "no target"
    if not _NEVER.isdisjoint(target):
        return "a character that no name may have"
    embed = start > 0 and text[start - 1] == "!"
    place = place.rpartition("#")[2].strip()
    block = place[1:] if place.startswith("^") else ""
    return WikiLink(start, end + 2, target, "" if block else place, block, alias.strip(), embed)


def _is_path(path: str, wanted: str) -> bool:
    own = path.removesuffix(".md").casefold()
    return own == wanted or own.endswith(f"/{wanted}")


def _only(found: set[str]) -> tuple[str | None, bool]:
    return (next(iter(found)), False) if len(found) == 1 else (None, len(found) > 1)


def _frontmatter(text: str) -> list[tuple[int, int]]:
    if not text.startswith("---\n"):
        return []
    end = text.find("\n---", 3)
    return [(0, end + 4)] if end >= 0 else []


def _fenced(text: str, start: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    if "```" not in text and "~~~" not in text:
        return spans
    opened, mark, at = -1, "", start
    for line in text[start:].splitlines(keepends=True):
        found = _FENCE.match(line)
        if opened < 0 and found and not (found[1][0] == "`" and "`" in found[2]):
            opened, mark = at, found[1]
        elif opened >= 0 and found and found[1].startswith(mark) and not found[2].strip():
            spans.append((opened, at + len(line)))
            opened = -1
        at += len(line)
    if opened >= 0:
        spans.append((opened, len(text)))
    return spans


def _inline_code(text: str) -> list[tuple[int, int]]:
    """Runs of backticks pair with the next run of the same length in the same paragraph."""
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(text)]
    by_length: dict[int, list[int]] = {}
    for start, end in runs:
        by_length.setdefault(end - start, []).append(start)
    breaks = [match.start() for match in _BLANK_LINE.finditer(text)]
    spans: list[tuple[int, int]] = []
    at = 0
    for start, end in runs:
        if start < at:
            continue
        same = by_length[end - start]
        place = bisect_right(same, start)
        if place < len(same) and bisect_right(breaks, start) == bisect_right(breaks, same[place]):
            at = same[place] + end - start
            spans.append((start, at))
    return spans


def _pairs(text: str, opening: str, closing: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at = text.find(opening)
    while at >= 0:
        end = text.find(closing, at + len(opening))
        if end < 0:
            break
        spans.append((at, end + len(closing)))
        at = text.find(opening, end + len(closing))
    return spans


def _math(text: str) -> list[tuple[int, int]]:
    spans = _pairs(text, "$$", "$$")
    hidden = _blanked(text, spans)
    at = 0
    for line in hidden.splitlines(keepends=True):
        spans += [(at + start, at + end) for start, end in _inline_math(line)]
        at += len(line)
    return spans


def _inline_math(line: str) -> list[tuple[int, int]]:
    """A dollar before a word opens math, one behind a word and before no digit closes it."""
    spans: list[tuple[int, int]] = []
    opened = -1
    for place, char in enumerate(line):
        if char != "$" or (place and line[place - 1] == "\\"):
            continue
        before, after = line[place - 1 : place] or " ", line[place + 1 : place + 2] or " "
        if opened >= 0 and not before.isspace() and not after.isdigit():
            spans.append((opened, place + 1))
            opened = -1
        elif opened < 0 and not after.isspace():
            opened = place
    return spans


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    kept: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if start < at:
            continue
        kept += [text[at:start], "".join("\n" if char == "\n" else " " for char in text[start:end])]
        at = end
    return "".join([*kept, text[at:]]) if kept else text

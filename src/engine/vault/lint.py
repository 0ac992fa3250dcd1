"""What is wrong in a vault, found by reading its files: links, frontmatter, sources, citations. Blocking, and changes nothing."""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from deepdelve.core.errors import UsageError
from deepdelve.engine.vault import frontmatter, links, pages
from deepdelve.engine.vault.frontmatter import Document, text_list
from deepdelve.engine.vault.layout import Vault
from deepdelve.engine.vault.links import Name, WikiLink
from deepdelve.engine.vault.names import slug

MAX_PAGE_BYTES = 4 * 1024 * 1024
SUGGEST_FROM = 0.74
MAX_SUGGESTED = 200
_CANDIDATES = 12
_OWN = re.compile(r"wiki/(?:index(?:-[a-z]+)?|log|overview)\.md")
# Research pages stand each for itself: the index leads to them, and nothing else has to.
_FROM_THE_INDEX = "wiki/synthesis/"
_CITED = re.compile(r"\[\d{1,4}(?:[,;–-]\s{0,2}\d{1,4}){0,12}\]")
_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t])")


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong. ``suggestion`` names what was probably meant."""

    kind: str
    page: str
    detail: str
    suggestion: str = ""


@dataclass(frozen=True)
class LintReport:
    """What was found in how many pages; ``links`` counts all of them, dangling ones included."""

    pages: int
    links: int
    problems: tuple[Problem, ...] = ()

    @property
    def counts(self) -> Mapping[str, int]:
        """How many problems of each kind."""
        return Counter(problem.kind for problem in self.problems)


@dataclass(frozen=True)
class _Read:
    path: str
    text: str
    document: Document
    parsed: links.Parsed

    @property
    def title(self) -> str:
        return str(self.document.fields.get("title") or self.path.rpartition("/")[2].removesuffix(".md"))


def lint(vault: Vault) -> LintReport:
    """Read every page of a vault and say what is wrong."""
    read = [page for path in sorted(vault.wiki.rglob("*.md")) if (page := _read(vault, path)) is not None]
    names = _names(read)
    problems: list[Problem] = []
    linked: set[str] = set()
    broken: list[tuple[_Read, WikiLink]] = []
    by_path = {page.path: page for page in read}
    for page in read:
        problems += _frontmatter(vault, page)
        problems += [Problem("invalid", page.path, f"a link is {reason}") for _, _, reason in page.parsed.invalid]
        for link in page.parsed.links:
            target, ambiguous = _resolved(vault, page, link, names)
            if ambiguous:
                problems.append(Problem("ambiguous", page.path, f"[[{link.target}]] means more than one page"))
            elif target is None:
                broken.append((page, link))
            elif target in by_path:
                if not _OWN.fullmatch(page.path) and target != page.path:
                    linked.add(target)
                problems += _place(page, link, by_path[target])
    problems += _broken(broken, names)
    problems += _whole(read, linked)
    return LintReport(len(read), sum(len(page.parsed.links) for page in read), tuple(problems))


def _read(vault: Vault, path: Path) -> _Read | None:
    if not path.is_file() or path.name.startswith(".") or path.stat().st_size > MAX_PAGE_BYTES:
        return None
    text = path.read_text("utf-8", "replace").replace("\r\n", "\n")
    return _Read(path.relative_to(vault.root).as_posix(), text, frontmatter.parse(text), links.parse_links(text))


def _names(read: Sequence[_Read]) -> dict[str, list[Name]]:
    found: dict[str, list[Name]] = defaultdict(list)
    for page in read:
        for name in pages.names_of(page.path, page.path, page.title, pages.aliases_of(page.document.fields)):
            found[WikiLink(0, 0, name.name.replace("/", " ")).slug].append(name)
    return found


def _resolved(vault: Vault, page: _Read, link: WikiLink, names: Mapping[str, Sequence[Name]]) -> tuple[str | None, bool]:
    """Where a link leads: a page's path, or a file of the vault."""
    if not link.target:
        return page.path, False
    target, ambiguous = links.resolve(link, names.get(link.slug, ()))
    if target is None and not ambiguous and ("/" in link.target or "." in link.target):
        try:
            file = vault.inside(link.target)
        except UsageError:
            return None, False
        if file.is_file() or file.with_name(f"{file.name}.md").is_file():
            return link.target, False
    return target, ambiguous


def _frontmatter(vault: Vault, page: _Read) -> list[Problem]:
    if page.document.error:
        return [Problem("frontmatter", page.path, page.document.error)]
    if _OWN.fullmatch(page.path):
        return []
    problems: list[Problem] = []
    for source in text_list(page.document.fields.get("sources")):
        if source.startswith("raw/") and not vault.inside(source).is_file():
            problems.append(Problem("missing source file", page.path, source))
    return problems + _uncited(page)


def _uncited(page: _Read) -> list[Problem]:
    """Paragraphs of a synthesis that cite nothing."""
    if page.document.fields.get("type") != "synthesis":
        return []
    body = page.document.body.partition("\n## References")[0]
    blocks = (block.strip() for block in _PARAGRAPH.split(body))
    prose = [block for block in blocks if block and not block.startswith(("#", "|", ">", "```", "!", "---")) and len(block) > 40]
    return [Problem("uncited claim", page.path, " ".join(block.split())[:120]) for block in prose if not _CITED.search(block)]


def _place(page: _Read, link: WikiLink, target: _Read) -> list[Problem]:
    """A heading or block that a link names must be there."""
    if link.heading and slug(link.heading) not in links.headings(target.text):
        return [Problem("missing heading", page.path, f"[[{link.target}#{link.heading}]]")]
    if link.block and link.block.lower() not in links.block_ids(target.text):
        return [Problem("missing heading", page.path, f"[[{link.target}#^{link.block}]]")]
    return []


def _broken(broken: Sequence[tuple[_Read, WikiLink]], names: Mapping[str, Sequence[Name]]) -> list[Problem]:
    index = _Trigrams(names) if broken else None
    problems: list[Problem] = []
    for number, (page, link) in enumerate(broken):
        suggestion = index.nearest(link.slug) if index is not None and number < MAX_SUGGESTED else ""
        problems.append(Problem("broken", page.path, f"[[{link.target}]] leads nowhere", suggestion))
    return problems


def _whole(read: Sequence[_Read], linked: set[str]) -> list[Problem]:
    """What only all pages together show: orphans, pages that no index lists, titles that two pages have."""
    own = [page for page in read if not _OWN.fullmatch(page.path)]
    listed = {link.target for page in read if _OWN.fullmatch(page.path) for link in page.parsed.links}
    titles: dict[str, list[str]] = defaultdict(list)
    for page in own:
        titles[page.title.casefold()].append(page.path)
    problems = [Problem("unindexed page", page.path, page.title) for page in own if page.path.removesuffix(".md") not in listed]
    meant_to_be_linked = [page for page in own if not page.path.startswith(_FROM_THE_INDEX)]
    problems += [Problem("orphan", page.path, page.title) for page in meant_to_be_linked if page.path not in linked and len(own) > 1]
    problems += [Problem("duplicate title", paths[0], ", ".join(paths[1:])) for paths in titles.values() if len(paths) > 1]
    return problems


class _Trigrams:
    """Names by the groups of three characters that they hold, so that only likely ones are compared."""

    def __init__(self, names: Mapping[str, Sequence[Name]]) -> None:
        self._shown = {short: found[0].name for short, found in names.items() if short}
        self._by_group: dict[str, list[str]] = defaultdict(list)
        for short in self._shown:
            for group in _groups(short):
                self._by_group[group].append(short)

    def nearest(self, wanted: str) -> str:
        """The name that looks most like this one; empty where none is near."""
        shared: Counter[str] = Counter()
        for group in _groups(wanted):
            shared.update(self._by_group.get(group, ()))
        likely = [name for name, _ in shared.most_common(_CANDIDATES)]
        near = difflib.get_close_matches(wanted, likely, n=1, cutoff=SUGGEST_FROM)
        return self._shown[near[0]] if near else ""


def _groups(short: str) -> Iterable[str]:
    padded = f" {short} "
    return {padded[place : place + 3] for place in range(max(1, len(padded) - 2))}

"""What a page says of itself: title, author, date of publication and language."""

import json
import re
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, cast

from deepdelve.tools.web.documents.trees import Element

_TITLES = ("og:title", "citation_title", "dc.title", "dcterms.title", "twitter:title", "headline")
_AUTHORS = (
    "citation_author",
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "byl",
    "og:article:author",
)
_DATES = (
    "article:published_time", "citation_publication_date", "citation_date", "datepublished", "dc.date.issued", "dcterms.issued", "dc.date",
    "dcterms.date", "dcterms.created", "dc.date.created", "parsely-pub-date", "sailthru.date", "publishdate", "pubdate", "publication_date",
    "og:published_time", "og:article:published_time", "date", "article:modified_time", "og:updated_time", "last-modified",
)  # fmt: skip
_ISO = re.compile(r"\b((?:19|20)\d{2})[-/.](0?[1-9]|1[0-2])(?:[-/.](0?[1-9]|[12]\d|3[01]))?(?!\d)")
_COMPACT = re.compile(r"\b((?:19|20)\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "(" + "|".join(_MONTHS) + r")[a-z]{0,6}\.?"
_DAY_FIRST = re.compile(rf"\b(0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?\s+{_MONTH},?\s+((?:19|20)\d{{2}})\b", re.I)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s+(0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?,?\s+((?:19|20)\d{{2}})\b", re.I)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=$|[-_])", re.I)
_ARTICLE = re.compile(r"article|posting|report|webpage|book|thesis|recipe|review|dataset|video", re.I)
# Where a page speaks of other works: what it cites, what it recommends, what readers say below it.
_OTHER_WORKS = frozenset(("citation", "isBasedOn", "mentions", "comment", "review", "relatedLink"))
_OTHERS = re.compile(
    r"(?<![\w-])(?:references?|(?:reference|ref|citation|comment)s?-?list|reflist|bibliography|works-cited|citations?|footnotes?|endnotes?"
    r"|related(?:-(?:posts?|articles?|content|stories))?|recommended|recommendations?|comments?)(?![\w-])",
    re.I,
)
_MOST_STATED = 3
_DEEPEST = 40
_SCRIPT_LIMIT = 400_000
_NODE_LIMIT = 400


@dataclass(frozen=True)
class Metadata:
    """Fields as in ``Extracted``; ``description`` is the page's own summary."""

    title: str = ""
    author: str = ""
    date: str = ""
    language: str = ""
    description: str = ""


def read_metadata(tree: Element) -> Metadata:
    """Read a page's own statements; never guesses from the running text."""
    metas = _metas(tree)
    linked = _linked_data(tree)
    return Metadata(
        title=_title(tree, metas, linked),
        author=_author(tree, metas, linked),
        date=_date(tree, metas, linked),
        language=_language(tree, metas),
        description=next(
            (values[0] for name in ("og:description", "description", "twitter:description") if (values := metas.get(name))), ""
        ),
    )


def iso_date(text: str) -> str:
    """The first calendar date in a short text, as ``YYYY-MM-DD`` or ``YYYY-MM``; empty if there is none."""
    text = text[:200]
    if match := _ISO.search(text):
        year, month, day = match.groups()
        return f"{year}-{int(month):02d}" + (f"-{int(day):02d}" if day else "")
    if match := _COMPACT.search(text):
        return "-".join(match.groups())
    if match := _DAY_FIRST.search(text):
        day, month, year = match.groups()
    elif match := _MONTH_FIRST.search(text):
        month, day, year = match.groups()
    else:
        return ""
    return f"{year}-{_MONTHS.index(month[:3].lower()) + 1:02d}-{int(day):02d}"


def _metas(tree: Element) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for meta in tree.iter("meta"):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop") or meta.get("http-equiv") or ""
        content = " ".join((meta.get("content") or "").split())
        if name and content and len(content) < 1000 and not _of_another_work(meta):
            found.setdefault(name.strip().lower(), []).append(content)
    return found


def _linked_data(tree: Element) -> list[dict[str, Any]]:
    """The JSON-LD objects of the page that describe a work, most telling first."""
    nodes: list[dict[str, Any]] = []
    for script in tree.iter("script"):
        text = script.text or ""
        if "ld+json" not in (script.get("type") or "") or len(text) > _SCRIPT_LIMIT:
            continue
        try:
            pending = [json.loads(text.strip().removesuffix(";"), strict=False)]
        except (ValueError, RecursionError):
            continue
        while pending and len(nodes) < _NODE_LIMIT:
            value = pending.pop()
            if isinstance(value, list):
                pending.extend(reversed(cast(list[Any], value)))
            elif isinstance(value, dict):
                node = cast(dict[str, Any], value)
                nodes.append(node)
                pending.extend(node[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if isinstance(node.get(key), (list, dict)))
    works = [node for node in nodes if _ARTICLE.search(str(node.get("@type", "")))]
    return sorted(works, key=lambda node: "headline" not in node)


def _title(tree: Element, metas: dict[str, list[str]], linked: list[dict[str, Any]]) -> str:
    candidates = [values[0] for name in _TITLES if (values := metas.get(name))]
    candidates += [node["headline"] for node in linked if isinstance(node.get("headline"), str)]
    for tag in ("title", "h1"):
        element = next(tree.iter(tag), None)
        if element is not None:
            candidates.append("".join(element.itertext()))
    return next((title for text in candidates if (title := " ".join(text.split())[:500])), "")


def _author(tree: Element, metas: dict[str, list[str]], linked: list[dict[str, Any]]) -> str:
    for node in linked:
        names = _names(node.get("author") or node.get("creator"))
        if names:
            return ", ".join(dict.fromkeys(names))
    for name in _AUTHORS:
        names = [value for value in metas.get(name, ()) if not value.startswith("http") and len(value) < 200]
        if names:
            return ", ".join(dict.fromkeys(names))
    for element in _own(tree.xpath("//*[@rel='author'] | //*[@itemprop='author'] | //*[contains(@class,'byline')]//a")):
        name = " ".join("".join(element.itertext()).split())
        if 2 < len(name) < 80:
            return name
    return ""


def _own(elements: list[Element]) -> list[Element]:
    """The first few of some elements that speak of the page itself."""
    return list(islice((element for element in elements if not _of_another_work(element)), _MOST_STATED))


def _of_another_work(element: Element) -> bool:
    """Whether an element stands in a list of works cited, in a citation, or among teasers and comments: it describes another work."""
    return any(
        each.tag == "cite" or each.get("itemprop") in _OTHER_WORKS or _OTHERS.search(f"{each.get('class') or ''} {each.get('id') or ''}")
        for each in chain((element,), islice(element.iterancestors(), _DEEPEST))
        if each.tag not in ("html", "body")
    )


def _names(value: Any, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        name = " ".join(value.split())
        return [name] if name and not name.startswith("http") and len(name) < 200 else []
    if isinstance(value, dict):
        return _names(cast(dict[str, Any], value).get("name"), depth + 1) if depth < 3 else []
    if isinstance(value, list) and depth < 3:
        return [name for entry in cast(list[Any], value)[:50] for name in _names(entry, depth + 1)]
    return []


def _date(tree: Element, metas: dict[str, list[str]], linked: list[dict[str, Any]]) -> str:
    stated = [
        str(node[key]) for key in ("datePublished", "dateCreated", "dateModified") for node in linked if isinstance(node.get(key), str)
    ]
    stated += [value for name in _DATES for value in metas.get(name, ())]
    for element in _own(tree.xpath("//*[@itemprop='datePublished']")):
        stated += [value for name in ("datetime", "content") if (value := element.get(name))]
    stated += [value for element in _own(tree.xpath("//time[@datetime]")) if (value := element.get("datetime"))]
    return next((date for text in stated if (date := iso_date(text))), "")


def _language(tree: Element, metas: dict[str, list[str]]) -> str:
    root = tree if tree.tag == "html" else next(tree.iter("html"), tree)
    candidates = [root.get("lang") or "", root.get("{http://www.w3.org/XML/1998/namespace}lang") or ""]
    candidates += [values[0] for name in ("og:locale", "content-language", "dc.language", "language") if (values := metas.get(name))]
    for text in candidates:
        if match := _LANGUAGE.match(text.strip()):
            return match[0].lower()
    return ""

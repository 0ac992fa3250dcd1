"""One list of hits from several engines: each page once, best agreed first, many sites before many pages of one."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from deepdelve.core.records import Hit
from deepdelve.utils.urls import parent, registrable_domain

# Reciprocal rank fusion, with the constant of Cormack, Clarke and Büttcher (SIGIR 2009).
_FUSION = 60
PER_SITE = 2
_SCHEME = re.compile(r"^https?://(?:www\.)?")
_DOI = re.compile(r"10\.[0-9]{4,9}/[^\s?#]{1,200}")
_ARXIV = re.compile(r"arxiv\.org/(?:abs|pdf)/([0-9]{4}\.[0-9]{4,5}|[a-z.-]{2,20}/[0-9]{7})")


def merge(lists: Iterable[Sequence[Hit]], *, limit: int, blocked: Iterable[str] = (), exclude: Iterable[str] = ()) -> tuple[Hit, ...]:
    """Fuse ranked lists.

    Args:
        lists: hits of each engine, best first.
        limit: hits at most.
        blocked: domains whose pages are left out, with all that lies under them.
        exclude: canonical addresses that are left out.

    Returns:
        Hits ranked from 1. At most two pages of a site, and one of a folder, stand before the rest; none is dropped for that.
    """
    kept: dict[str, Hit] = {}
    scores: Counter[str] = Counter()
    domains, known = frozenset(domain.lower().strip(".") for domain in blocked), frozenset(exclude)
    for hits in lists:
        for place, hit in enumerate(hits, 1):
            if hit.url in known or _is_blocked(hit.url, domains):
                continue
            key = identity(hit.url)
            scores[key] += 1_000_000 // (_FUSION + place)
            kept[key] = _joined(kept[key], hit) if key in kept else hit
    ordered = sorted(kept, key=lambda key: -scores[key])
    spread = _spread([kept[key] for key in ordered])
    return tuple(hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(spread[:limit], 1))


def identity(url: str) -> str:
    """What makes two addresses the same page for a searcher: a DOI, an arXiv number, else the address without scheme and ``www``."""
    if arxiv := _ARXIV.search(url):
        return "arxiv:" + arxiv[1]
    if "doi.org/" in url and (doi := _DOI.search(url)):
        found = doi[0].lower()
        return "arxiv:" + found.partition("arxiv.")[2] if found.startswith("10.48550/arxiv.") else "doi:" + found
    return _SCHEME.sub("", url).rstrip("/")


def _joined(one: Hit, other: Hit) -> Hit:
    engines = one.engine if other.engine in one.engine.split(", ") else f"{one.engine}, {other.engine}"
    snippet = max(one.snippet, other.snippet, key=len)
    return one.model_copy(update={"engine": engines, "snippet": snippet, "title": one.title or other.title, "date": one.date or other.date})


def _spread(hits: list[Hit]) -> list[Hit]:
    """Further pages of a site or a folder, behind all others."""
    sites, folders = Counter[str](), set[str]()
    first: list[Hit] = []
    later: list[Hit] = []
    for hit in hits:
        site, folder = registrable_domain(hit.url), parent(hit.url)
        crowded = bool(site) and (sites[site] >= PER_SITE or (folder in folders and folder.rstrip("/").count("/") > 0))
        (later if crowded else first).append(hit)
        sites[site] += 1
        folders.add(folder)
    return first + later


def _is_blocked(url: str, domains: frozenset[str]) -> bool:
    if not domains:
        return False
    name = parent(url).partition("/")[0].partition(":")[0]
    return any(name == domain or name.endswith("." + domain) for domain in domains)

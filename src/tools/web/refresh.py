"""Redirects that stand in a page (``<meta http-equiv="refresh">``), which count as hops like any other."""

import html
import re

from deepdelve.utils.whatwg import UrlError, parse

_HEAD_BYTES = 65_536
_MAX_DELAY = 10.0
_META = re.compile(r"<meta\b([^>]{1,2000})>", re.I)
_ATTRIBUTE = re.compile(r"""\b(http-equiv|content)\s{0,8}=\s{0,8}(?:"([^"]{0,1900})"|'([^']{0,1900})'|([^\s"'>]{1,1900}))""", re.I)
_CONTENT = re.compile(r"""\s{0,8}([0-9]{1,6})?(?:\.[0-9]{0,6})?\s{0,8}[;,\s]\s{0,8}(?:url\s{0,8}=)?\s{0,8}["']?([^"']{1,1800})""", re.I)
# Where a tag is not one: comments, and what is shown only to browsers without scripts.
_HIDDEN = (("<!--", "-->"), ("<noscript", "</noscript"), ("<script", "</script"), ("<template", "</template"))


def meta_refresh(body: bytes, url: str) -> str:
    """The address that a page sends its reader to within ten seconds, or an empty string.

    Args:
        body: the page's HTML, in any character set that holds ASCII.
        url: the page's address, which a relative target is resolved against.
    """
    head = _visible(body[:_HEAD_BYTES].decode("latin-1"))
    for tag in _META.finditer(head):
        found = {match[1].lower(): match[2] or match[3] or match[4] or "" for match in _ATTRIBUTE.finditer(tag[1])}
        if found.get("http-equiv", "").strip().lower() != "refresh":
            continue
        if (target := refresh_target(html.unescape(found.get("content", "")), url)) is not None:
            return target
    return ""


def refresh_target(value: str, url: str) -> str | None:
    """The address that a refresh names, as a meta element or a ``Refresh`` header holds it (``0; url=/next``).

    Returns:
        The address; an empty string where it is the page itself or none of the web; None where there is no refresh, or a late one.
    """
    parts = _CONTENT.match(value[:2_000])
    return _resolved(parts[2].strip(), url) if parts and float(parts[1] or 0) <= _MAX_DELAY else None


def _resolved(target: str, url: str) -> str:
    try:
        base = parse(url)
        found = parse(target, base)
    except UrlError:
        return ""
    page = found.href.partition("#")[0]
    return "" if page == base.href.partition("#")[0] else page


def _visible(text: str) -> str:
    for start, end in _HIDDEN:
        text = _without(text, start, end)
    return text


def _without(text: str, start: str, end: str) -> str:
    lower, kept, place = text.lower(), list[str](), 0
    for _ in range(text.count("<")):
        opened = lower.find(start, place)
        if opened < 0:
            break
        kept.append(text[place:opened])
        closed = lower.find(end, opened + len(start))
        place = len(text) if closed < 0 else closed + len(end)
    return "".join([*kept, text[place:]])

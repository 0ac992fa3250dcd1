"""Web addresses: one canonical spelling for each, the site it belongs to, and which ones a run may fetch."""

import functools
import re
import string
from collections.abc import Callable, Collection
from typing import Literal, cast

from deepdelve.utils.whatwg import UrlError, WebUrl, parse

Scope = Literal["auto", "web", "corpus", "both"]

# Parameters that say where a reader came from, never which page this is.
# fmt: off
_TRACKING = frozenset({
    "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "ysclid", "twclid", "ttclid", "li_fat_id",
    "igshid", "mc_cid", "mc_eid", "mkt_tok", "_ga", "_gl", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking",
    "oly_anon_id", "oly_enc_id", "vero_id", "vero_conv", "rb_clickid", "s_cid", "srsltid", "ref_src", "epik", "cmpid", "icid",
})
# fmt: on
_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "piwik_", "matomo_")
_UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")


def canonical(url: str) -> str:
    """The one spelling under which an address is remembered.

    Lowercase host without root dot, no default port, fragment, credentials or tracking parameters, query sorted by name,
    escapes in one form. Text that is no http or https address comes back as it is, trimmed: it may name a local document.
    """
    try:
        parts = parse(url)
    except UrlError:
        return url.strip()
    pairs = [pair for pair in _one_escape_form(parts.query or "").split("&") if pair and not _is_tracking(pair)]
    pairs.sort(key=lambda pair: pair.partition("=")[0])
    name = parts.host.rstrip(".") or parts.host
    path = _one_escape_form(parts.path)
    return WebUrl(scheme=parts.scheme, host=name, port=parts.port, path=path, query="&".join(pairs) or None).href


def is_web(url: str) -> bool:
    """Whether the text is an http or https address."""
    try:
        parse(url)
    except UrlError:
        return False
    return True


def host(url: str) -> str:
    """The host of an address in ASCII and lowercase, without root dot or IPv6 brackets; empty where there is none."""
    try:
        return parse(url).host.strip("[]").rstrip(".")
    except UrlError:
        return ""


def join(base: str, reference: str) -> str:
    """The address that a link on the page ``base`` names.

    Raises:
        UrlError: it is not an http or https address.
    """
    return parse(reference, parse(base)).href


def registrable_domain(url: str) -> str:
    """What one owner holds (``example.co.uk``), by the list of public suffixes that comes with ``tld``, offline.

    A host that is an IP address or a suffix itself stands for itself. Empty where there is no host.
    """
    name = host(url)
    return _registrable(name) if name else ""


def same_site(one: str, other: str) -> bool:
    """Whether two addresses share their registrable domain."""
    domain = registrable_domain(one)
    return bool(domain) and domain == registrable_domain(other)


def parent(url: str) -> str:
    """Host and path up to the last slash: pages with one parent are siblings. Empty where there is no host."""
    try:
        parts = parse(url)
    except UrlError:
        return ""
    return parts.netloc + parts.path.rstrip("/").rpartition("/")[0] + "/"


def scope_refusal(url: str, scope: Scope, *, has_corpus: bool, seeds: Collection[str] = ()) -> str:
    """Why the scope of a run (``--scope``) keeps an address from being fetched; empty where it may be.

    Args:
        url: an address, or the name of a local document.
        scope: ``web``, ``corpus`` or ``both``; ``auto`` is ``corpus`` where a corpus is given, else ``web``.
        has_corpus: whether the run has a corpus.
        seeds: canonical addresses that the person named; they are always within scope.
    """
    if canonical(url) in seeds:
        return ""
    effective = ("corpus" if has_corpus else "web") if scope == "auto" else scope
    web = is_web(url)
    if web and effective == "corpus":
        return "This run's scope is the corpus: web pages are not fetched."
    if not web and effective == "web":
        return "This run's scope is the web: local documents are not read."
    return ""


def lead_refusal(url: str, *, known: Callable[[str], bool], fetched_domains: Collection[str]) -> str:
    """Why an address that a page's text names may not be fetched; empty where it may be.

    Args:
        url: the address.
        known: tells of a canonical address whether search returned it or the person named it.
        fetched_domains: registrable domains of pages fetched so far.
    """
    if known(canonical(url)) or registrable_domain(url) in fetched_domains:
        return ""
    return "No search returned this address, nobody named it, and no page of its site has been read: search for what it should say instead."


@functools.lru_cache(maxsize=4096)
def _registrable(name: str) -> str:
    import tld

    if ":" in name or name.rpartition(".")[2].isdigit():
        return name
    get_fld = cast(Callable[..., str | None], tld.get_fld)  # pyright: ignore[reportUnknownMemberType]  # tld leaves **kwargs untyped
    found = get_fld(f"http://{name}/", fail_silently=True)
    if found or get_fld(f"http://a.b.{name.rpartition('.')[2]}/", fail_silently=True):
        return found or name
    # The list's own rule for suffixes that it does not hold: the last label is the suffix.
    return ".".join(name.split(".")[-2:])


def _is_tracking(pair: str) -> bool:
    name = pair.partition("=")[0].lower()
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES)


def _one_escape_form(text: str) -> str:
    return _ESCAPE.sub(_plain_or_upper, text)


def _plain_or_upper(match: re.Match[str]) -> str:
    char = chr(int(match[1], 16))
    return char if char in _UNRESERVED else match[0].upper()

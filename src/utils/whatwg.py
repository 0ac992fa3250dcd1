"""Web addresses as a browser reads them: the URL Standard's parser (https://url.spec.whatwg.org) for http and https.

What the guard checks and what the transport dials are both made from ``WebUrl``, so that two parsers cannot disagree.
"""

import ipaddress
import string
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote, unquote_to_bytes

UrlProblem = Literal["scheme", "host", "port", "syntax"]

MAX_URL_CHARS = 8192
DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEME_CHARS = frozenset(string.ascii_letters + string.digits + "+-.")
_FORBIDDEN_IN_HOST = frozenset(map(chr, range(0x21))) | frozenset('"#%/:<>?@[\\]^`{|}\x7f') - frozenset('"`{}')
_SINGLE_DOT = frozenset({".", "%2e"})
_DOUBLE_DOT = frozenset({"..", ".%2e", "%2e.", "%2e%2e"})
# Characters that the standard leaves as they are, beyond letters, digits and "_.-~" which ``quote`` never touches.
_PATH_SAFE = "!$%&'()*+,/:;=@[\\]|"
_QUERY_SAFE = "!$%&()*+,/:;=?@[\\]^`{|}"
_FRAGMENT_SAFE = "!#$%&'()*+,/:;=?@[\\]^{|}"
_USERINFO_SAFE = "!$%&'()*+,"


class UrlError(ValueError):
    """The text is not an http or https address; ``problem`` names the part that is wrong."""

    def __init__(self, message: str, problem: UrlProblem) -> None:
        super().__init__(message)
        self.problem: UrlProblem = problem


@dataclass(frozen=True)
class WebUrl:
    """The parts of an http or https address, each in its serialised form.

    ``host`` is ASCII: a domain, a dotted IPv4 address or an IPv6 address in brackets. ``port`` is None where it is the
    scheme's own. ``path`` begins with a slash; ``query`` and ``fragment`` are None where the address has none.
    """

    scheme: str
    host: str
    port: int | None = None
    path: str = "/"
    query: str | None = None
    fragment: str | None = None
    username: str = ""
    password: str = ""

    @property
    def href(self) -> str:
        """The whole address."""
        user = self.username + (f":{self.password}" if self.password else "")
        tail = self.target + ("" if self.fragment is None else f"#{self.fragment}")
        return f"{self.scheme}://{user + '@' if user else ''}{self.netloc}{tail}"

    @property
    def netloc(self) -> str:
        """Host, and port where it is not the scheme's own: the value of a Host header."""
        return self.host if self.port is None else f"{self.host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query, as a request line holds them."""
        return self.path + ("" if self.query is None else f"?{self.query}")

    @property
    def effective_port(self) -> int:
        """The port to connect to."""
        return self.port or DEFAULT_PORTS[self.scheme]


def parse(text: str, base: WebUrl | None = None) -> WebUrl:
    """Read an address, or a reference on a page whose address is ``base``.

    Raises:
        UrlError: it is not an http or https address.
    """
    if len(text) > MAX_URL_CHARS:
        raise UrlError("The address is too long.", "syntax")
    text = _trimmed(text)
    scheme, rest = _split_scheme(text)
    if scheme and scheme not in DEFAULT_PORTS:
        raise UrlError(f"Only http and https addresses can be fetched, not {scheme[:20]}.", "scheme")
    if not scheme and base is None:
        raise UrlError("The address has no scheme.", "scheme")
    rest, fragment = _cut(rest, "#")
    fragment = None if fragment is None else quote(_scalar(fragment), safe=_FRAGMENT_SAFE)
    if base is not None and scheme in ("", base.scheme) and rest[:2].replace("\\", "/") != "//":
        return _relative(rest, fragment, base)
    return _absolute(scheme or (base.scheme if base else ""), rest, fragment)


def ipv4_number(text: str) -> int | None:
    """One part of an IPv4 address, in decimal, octal (``0…``) or hexadecimal (``0x…``); None if it is none."""
    digits, radix, allowed = text, 10, string.digits
    if text[:2].lower() == "0x":
        digits, radix, allowed = text[2:] or "0", 16, string.hexdigits
    elif len(text) > 1 and text.startswith("0"):
        digits, radix, allowed = text[1:], 8, string.octdigits
    if not digits or len(digits) > 400 or any(c not in allowed for c in digits):
        return None
    return int(digits, radix)


def _trimmed(text: str) -> str:
    edges = "".join(map(chr, range(0x21)))
    return text.strip(edges).translate({9: None, 10: None, 13: None})


def _split_scheme(text: str) -> tuple[str, str]:
    head, colon, rest = text.partition(":")
    if colon and head[:1] in string.ascii_letters and head and all(c in _SCHEME_CHARS for c in head):
        return head.lower(), rest
    return "", text


def _cut(text: str, mark: str) -> tuple[str, str | None]:
    head, found, tail = text.partition(mark)
    return head, tail if found else None


def _relative(rest: str, fragment: str | None, base: WebUrl) -> WebUrl:
    path, query = _cut(rest, "?")
    path = path.replace("\\", "/")
    if not path:
        query = base.query if query is None else _encoded_query(query)
        return replace(base, query=query, fragment=fragment)
    merged = path if path.startswith("/") else base.path.rsplit("/", 1)[0] + "/" + path
    return replace(base, path=_encoded_path(merged), query=None if query is None else _encoded_query(query), fragment=fragment)


def _absolute(scheme: str, rest: str, fragment: str | None) -> WebUrl:
    head, query = _cut(rest, "?")
    head = head.replace("\\", "/").lstrip("/")
    if not head and query is not None:
        raise UrlError("The address has no host.", "host")
    authority, slash, path = head.partition("/")
    userinfo, at, hostport = authority.rpartition("@")
    host, port = _split_port(hostport)
    username, _, password = userinfo.partition(":") if at else ("", "", "")
    return WebUrl(
        scheme=scheme,
        host=_host(host),
        port=_port(port, scheme),
        path=_encoded_path(slash + path) if slash else "/",
        query=None if query is None else _encoded_query(query),
        fragment=fragment,
        username=quote(_scalar(username), safe=_USERINFO_SAFE),
        password=quote(_scalar(password), safe=_USERINFO_SAFE),
    )


def _split_port(hostport: str) -> tuple[str, str]:
    if hostport.startswith("["):
        inside, bracket, rest = hostport.partition("]")
        if rest and not rest.startswith(":"):
            raise UrlError("The address's host is malformed.", "host")
        return inside + bracket, rest[1:]
    host, _, port = hostport.partition(":")
    return host, port


def _port(text: str, scheme: str) -> int | None:
    if not text:
        return None
    if any(c not in string.digits for c in text) or len(text.lstrip("0")) > 5 or int(text[-5:]) > 65535:
        raise UrlError("The address's port is not a number from 0 to 65535.", "port")
    number = int(text.lstrip("0") or "0")
    return None if number == DEFAULT_PORTS[scheme] else number


def _host(text: str) -> str:
    if not text:
        raise UrlError("The address has no host.", "host")
    if text.startswith("["):
        return _ipv6(text)
    decoded = unquote_to_bytes(_scalar(text)).decode("utf-8", "replace") if "%" in text else _scalar(text)
    domain = _domain_to_ascii(decoded)
    if not domain or any(c in _FORBIDDEN_IN_HOST for c in domain):
        raise UrlError("The address's host holds characters that no host may have.", "host")
    return _ipv4(domain) if _ends_in_number(domain) else domain


def _ipv6(text: str) -> str:
    inner = text[1:-1]
    if not text.endswith("]") or "%" in inner or len(inner) > 64:
        raise UrlError("The address's IPv6 host is malformed.", "host")
    try:
        number = int(ipaddress.IPv6Address(inner))
    except ValueError as error:
        raise UrlError("The address's IPv6 host is malformed.", "host") from error
    return f"[{_compressed(number)}]"


def _compressed(number: int) -> str:
    groups = [f"{number >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)]
    best, start = 1, -1
    for first in range(8):
        length = next((i for i, group in enumerate(groups[first:]) if group != "0"), 8 - first)
        if length > best:
            best, start = length, first
    return ":".join(groups) if start < 0 else ":".join(groups[:start]) + "::" + ":".join(groups[start + best :])


def _ends_in_number(domain: str) -> bool:
    labels = domain.split(".")
    if not labels[-1] and len(labels) > 1:
        labels.pop()
    last = labels[-1]
    return bool(last) and (all(c in string.digits for c in last) or ipv4_number(last) is not None)


def _ipv4(domain: str) -> str:
    parts = domain.split(".")
    if not parts[-1] and len(parts) > 1:
        parts.pop()
    numbers = [ipv4_number(part) for part in parts]
    values = [number for number in numbers if number is not None]
    if len(parts) > 4 or len(values) != len(parts) or any(v > 255 for v in values[:-1]) or values[-1] >= 256 ** (5 - len(values)):
        raise UrlError("The address's IPv4 host is malformed.", "host")
    total = values[-1] + sum(v << (8 * (3 - i)) for i, v in enumerate(values[:-1]))
    return str(ipaddress.IPv4Address(total))


def _domain_to_ascii(domain: str) -> str:
    if domain.isascii():
        return domain.lower()
    import idna

    try:
        mapped = idna.uts46_remap(domain, std3_rules=False, transitional=False)
        return ".".join(_ascii_label(label) for label in mapped.split("."))
    except (UnicodeError, IndexError) as error:
        raise UrlError("The address's host is not a valid international name.", "host") from error


def _ascii_label(label: str) -> str:
    import idna

    if not label.startswith("xn--"):
        return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")
    shown = label[4:].encode("ascii").decode("punycode")
    if shown.isascii() or idna.uts46_remap(shown, std3_rules=False, transitional=False) != shown:
        raise UnicodeError("not a canonical international label")
    return label


def _encoded_path(path: str) -> str:
    out: list[str] = []
    segments = path.split("/")[1:]
    for place, segment in enumerate(segments):
        last = place == len(segments) - 1
        if segment.lower() in _DOUBLE_DOT:
            out = out[:-1]
        elif segment.lower() not in _SINGLE_DOT:
            out.append(quote(_scalar(segment), safe=_PATH_SAFE))
            continue
        if last:
            out.append("")
    return "/" + "/".join(out)


def _encoded_query(query: str) -> str:
    return quote(_scalar(query), safe=_QUERY_SAFE)


def _scalar(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

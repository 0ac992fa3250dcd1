"""The one place that touches lxml, which has no types: elements as a protocol, and parsers that bound what they build."""

import importlib
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, Self

_etree: Any = importlib.import_module("lxml.etree")
_html: Any = importlib.import_module("lxml.html")
# libxml2's error for a document nested deeper than its limit; what follows the place is lost.
_TOO_DEEP = 114
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class Element(Protocol):
    """An element as lxml gives it. ``tag`` is a ``str`` for elements proper, something else for comments and the like."""

    tag: Any
    text: str | None
    tail: str | None

    @property
    def attrib(self) -> Mapping[str, str]: ...  # noqa: D102
    def get(self, key: str, default: str | None = None) -> str | None: ...  # noqa: D102
    def set(self, key: str, value: str) -> None: ...  # noqa: D102
    def iter(self, *tags: str) -> Iterator[Self]: ...  # noqa: D102
    def iterchildren(self, *tags: str) -> Iterator[Self]: ...  # noqa: D102
    def iterdescendants(self, *tags: str) -> Iterator[Self]: ...  # noqa: D102
    def iterancestors(self, *tags: str) -> Iterator[Self]: ...  # noqa: D102
    def itertext(self) -> Iterator[str]: ...  # noqa: D102
    def getparent(self) -> Self | None: ...  # noqa: D102
    def getprevious(self) -> Self | None: ...  # noqa: D102
    def getnext(self) -> Self | None: ...  # noqa: D102
    def append(self, element: "Element") -> None: ...  # noqa: D102
    def remove(self, element: "Element") -> None: ...  # noqa: D102
    def clear(self) -> None: ...  # noqa: D102
    def xpath(self, path: str) -> Any: ...  # noqa: D102
    def __iter__(self) -> Iterator[Self]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> Self: ...


def make(tag: str) -> Element:
    """A new element."""
    return _etree.Element(tag)


def html_tree(text: str) -> tuple[Element | None, bool]:
    """Parse a page; no tree if it has no elements.

    Returns:
        The root, and whether the parser gave up on a part that is nested deeper than 256 elements.
    """
    if not text.strip():
        return None, False
    parser = _html.HTMLParser(encoding="utf-8", huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        tree = _html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (_etree.ParserError, _etree.XMLSyntaxError):
        return None, False
    _without_controls(tree, "&#" in text or _CONTROLS.search(text) is not None)
    return tree, any(entry.type == _TOO_DEEP for entry in parser.error_log)


def xml_tree(data: bytes) -> Element | None:
    """Parse XML: no entities, no external parts, no network, nesting at most 256; ``None`` if nothing can be made of it."""
    parser = _etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True, recover=True
    )
    try:
        tree = _etree.fromstring(data, parser)
    except (_etree.XMLSyntaxError, ValueError):
        return None
    if tree is not None:
        _without_controls(tree, needed=True)
    return tree


def stream(data: bytes, name: str) -> Iterator[Element]:
    """Elements of one local name, each freed once it was used, so that a large part never stands in memory as a tree.

    Raises:
        ValueError: the XML is damaged.
    """
    context = _etree.iterparse(io.BytesIO(data), events=("end",), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        for _, element in context:
            if local(element) != name:
                continue
            yield element
            element.clear()
            while (before := element.getprevious()) is not None:
                before.getparent().remove(before)
    except _etree.XMLSyntaxError as error:
        raise ValueError(str(error)) from error


def drop(element: Element) -> None:
    """Take an element out of its tree; the text that follows it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)


def all_text(element: Element) -> str:
    """All text of an element."""
    return "".join(map(str, element.itertext()))


def _without_controls(tree: Element, needed: bool) -> None:
    """Take out of a tree's text what lxml reads but lets nobody write: control characters, raw or as references."""
    for element in tree.iter() if needed else ():
        if element.text and _CONTROLS.search(element.text):
            element.text = _CONTROLS.sub(_blank, element.text)
        if element.tail and _CONTROLS.search(element.tail):
            element.tail = _CONTROLS.sub(_blank, element.tail)


def _blank(match: re.Match[str]) -> str:
    return " " if match[0] in "\v\f" else ""


def children(element: Element | None, name: str) -> Iterator[Element]:
    """Child elements of one local name; none of no element."""
    return (child for child in (element if element is not None else ()) if local(child) == name)


def descendants(element: Element | None, name: str) -> Iterator[Element]:
    """Elements of one local name at any depth, the element itself included; none of no element."""
    return (child for child in (element.iter() if element is not None else ()) if local(child) == name)


def local(element: Element) -> str:
    """The tag of an element without its namespace; empty for anything that is not an element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """The value of an attribute in whatever namespace; empty if absent."""
    return next((str(value) for key, value in element.attrib.items() if str(key).rpartition("}")[2] == name), "")


def relation_id(element: Element) -> str:
    """The ``r:id`` of an Office element, which may have a plain ``id`` beside it; empty if absent."""
    return next((str(value) for key, value in element.attrib.items() if str(key).endswith("/relationships}id")), "")

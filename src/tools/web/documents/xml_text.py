"""XML as text: feeds by their entries, anything else by its elements."""

from deepdelve.tools.web.documents.extracted import Extracted, no_text
from deepdelve.tools.web.documents.markdown import Writer, tidy
from deepdelve.tools.web.documents.metadata import iso_date
from deepdelve.tools.web.documents.ooxml import parse_xml
from deepdelve.tools.web.documents.trees import Element, attribute, html_tree, local

_ENTRY_LIMIT = 2_000
_BYTE_LIMIT = 3_000_000
_INLINE = {
    "b",
    "i",
    "em",
    "strong",
    "sub",
    "sup",
    "bold",
    "italic",
    "xref",
    "ext-link",
    "a",
    "emph",
    "ref",
    "span",
    "code",
    "underline",
    "monospace",
}


def read_xml(data: bytes, *, url: str = "") -> Extracted:
    """Read an RSS or Atom feed, or any XML document.

    Raises:
        FetchError: ``unreadable`` or ``no_text``.
    """
    root = parse_xml(data[:_BYTE_LIMIT])
    writer = Writer(base=url)
    entries = [e for e in root.iter() if local(e) in {"item", "entry"}][:_ENTRY_LIMIT]
    is_feed = local(root) in {"rss", "feed", "RDF"} and bool(entries)
    for entry in entries if is_feed else ():
        _entry(entry, writer)
    if not is_feed:
        _lines(root, writer)
    if not writer.blocks:
        raise no_text("The XML document has no text.")
    channel = next((e for e in root if local(e) == "channel"), root)
    title = next((tidy("".join(map(str, e.itertext()))) for e in channel.iter() if local(e) in {"title", "article-title"}), "")
    return Extracted(
        writer.text(), title=title, language=attribute(root, "lang").lower().partition("-")[0], kind="xml", links=tuple(writer.links)
    )


def _entry(entry: Element, writer: Writer) -> None:
    fields: dict[str, str] = {}
    for child in entry:
        text = "".join(map(str, child.itertext())).strip()
        fields.setdefault(local(child), text or attribute(child, "href"))
    title = tidy(fields.get("title", "")).replace("\n", " ")
    target = writer.resolve(fields.get("link", ""))
    if target:
        writer.links[target] = None
    writer.add(f"## [{title}]({target})" if target and title and "[" not in title else f"## {title}" if title else target)
    writer.add(iso_date(fields.get("pubDate") or fields.get("published") or fields.get("updated") or fields.get("date") or ""))
    body = fields.get("encoded") or fields.get("content") or fields.get("description") or fields.get("summary") or ""
    tree = html_tree(f"<html><body>{body}</body></html>")[0] if "<" in body else None
    if tree is not None:
        writer.write(tree)
    else:
        writer.add(tidy(body))


def _lines(element: Element, writer: Writer) -> None:
    """One block for each element that holds text of its own."""
    children = [child for child in element if local(child)]
    own = (element.text or "").strip() or any((child.tail or "").strip() for child in element)
    if own or not children or all(local(child) in _INLINE for child in children):
        writer.add(tidy("".join(map(str, element.itertext()))))
        return
    for child in children:
        _lines(child, writer)

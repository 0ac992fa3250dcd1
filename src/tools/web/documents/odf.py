"""OpenDocument text, sheets and slides (ODT, ODS, ODP)."""

from deepdelve.tools.web.documents.clean import page
from deepdelve.tools.web.documents.extracted import Extracted, encrypted, no_text
from deepdelve.tools.web.documents.markdown import Writer
from deepdelve.tools.web.documents.metadata import iso_date
from deepdelve.tools.web.documents.ooxml import Package
from deepdelve.tools.web.documents.trees import Element, attribute, local, make

_TAGS = {
    "p": "p",
    "span": "span",
    "list": "ul",
    "list-item": "li",
    "list-header": "li",
    "table": "table",
    "table-row": "tr",
    "table-cell": "td",
    "covered-table-cell": "td",
    "line-break": "br",
    "a": "a",
}
_SKIP = {"annotation", "tracked-changes", "forms", "sequence-decls", "note-citation", "shapes", "desc", "title", "event-listeners"}
# Repeated rows and cells stand for the blank rest of a sheet as often as for data.
_REPEAT_LIMIT = 50


def read_odf(package: Package) -> Extracted:
    """Read an OpenDocument file."""
    manifest = package.optional_xml("META-INF/manifest.xml")
    if manifest is not None and any(local(e) == "encryption-data" for e in manifest.iter()):
        raise encrypted("The document is encrypted and opens only with a password.")
    body = next((e for e in package.xml("content.xml").iter() if local(e) == "body"), None)
    content = body[0] if body is not None and len(body) else None
    writer = Writer()
    slides: list[str] = []
    for part in content if content is not None else ():
        if local(part) == "page":
            slide = Writer(links=writer.links)
            slide.write(_convert(part, "div"))
            slides.append(page(len(slides) + 1, slide.text()))
            continue
        if local(part) == "table" and content is not None and local(content) == "spreadsheet":
            writer.add(f"## {attribute(part, 'name')}")
        if local(part) not in _SKIP:
            writer.write(_convert(part, _TAGS.get(local(part), "div")))
    text = "\n\n".join(slides) or writer.text()
    if not any(line.strip() and not line.startswith(("[page ", "## ")) for line in text.splitlines()):
        raise no_text("The document has no text.")
    return _with_properties(Extracted(text, kind="odf", links=tuple(writer.links), pages=len(slides)), package)


def _convert(element: Element, tag: str) -> Element:
    """An element in the tags of HTML."""
    if local(element) == "h":
        level = attribute(element, "outline-level")
        tag = f"h{min(max(int(level), 1), 6)}" if level.isdigit() else "h2"
    made = make(tag)
    made.text = element.text
    if tag == "a":
        made.set("href", attribute(element, "href"))
    last: Element | None = None
    for child in element:
        name = local(child)
        if not name or name in _SKIP or name in {"s", "tab"}:
            blank = " " if name in {"s", "tab"} else ""
            tail = blank + (child.tail or "")
            if last is None:
                made.text = (made.text or "") + tail
            else:
                last.tail = (last.tail or "") + tail
            continue
        for _ in range(_repeats(child)):
            last = _convert(child, _TAGS.get(name, "div" if name not in {"frame", "note", "bookmark"} else "span"))
            made.append(last)
        if last is not None:
            last.tail = child.tail
    return made


def _repeats(element: Element) -> int:
    value = attribute(element, "number-columns-repeated") or attribute(element, "number-rows-repeated")
    count = int(value) if value.isdigit() and len(value) < 9 else 1
    return count if count <= _REPEAT_LIMIT else 1


def _with_properties(result: Extracted, package: Package) -> Extracted:
    from dataclasses import replace

    root = package.optional_xml("meta.xml")
    stated = {local(e): " ".join((e.text or "").split()) for e in (root.iter() if root is not None else ())}
    return replace(
        result,
        title=stated.get("title", ""),
        author=stated.get("initial-creator") or stated.get("creator", ""),
        date=iso_date(stated.get("creation-date") or stated.get("date", "")),
        language=stated.get("language", "").lower().partition("-")[0],
    )

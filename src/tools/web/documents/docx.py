"""Word documents: headings, lists, tables, links, formulas and footnotes."""

import re
from collections import defaultdict
from collections.abc import Iterator

from deepdelve.tools.web.documents.extracted import Extracted, no_text
from deepdelve.tools.web.documents.markdown import Writer, pipe_table, tidy
from deepdelve.tools.web.documents.ooxml import Package
from deepdelve.tools.web.documents.trees import Element, attribute, local, relation_id

_HEADING_NAME = re.compile(r"heading ([1-9])$", re.I)
_SKIP = {
    "pPr",
    "rPr",
    "del",
    "moveFrom",
    "rt",
    "instrText",
    "delText",
    "Fallback",
    "drawing",
    "pict",
    "object",
    "txbxContent",
    "commentReference",
}
_MAX_SPAN = 60
_PARAGRAPH_LIMIT = 50_000


def read_docx(package: Package, main: str) -> Extracted:
    """Read the main story of a Word document, then its notes."""
    reader = _Reader(package, main)
    body = next((child for child in package.xml(main) if local(child) == "body"), None)
    if body is not None:
        reader.story(body)
    reader.notes(package, main)
    if not reader.writer.blocks:
        raise no_text("The Word document has no text.")
    return Extracted(reader.writer.text(), title=reader.title, kind="docx", links=tuple(reader.writer.links), reason=reader.reason)


class _Reader:
    def __init__(self, package: Package, main: str) -> None:
        folder = main.rpartition("/")[0]
        self.writer = Writer()
        self.title = ""
        self.reason = ""
        self._budget = _PARAGRAPH_LIMIT
        self._targets = package.relations(main)
        self._styles = _styles(package.optional_xml(f"{folder}/styles.xml"))
        self._formats = _number_formats(package.optional_xml(f"{folder}/numbering.xml"))
        self._counters: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._list: list[str] = []
        self._notes: list[tuple[str, str]] = []

    def story(self, parent: Element) -> None:
        for child in _flow(parent):
            self._budget -= 1
            if self._budget < 0:
                self.reason = f"Only the first {_PARAGRAPH_LIMIT:,} paragraphs were read."
                break
            if local(child) == "tbl":
                self._end_list()
                self.writer.add(self._table(child))
            else:
                self._paragraph(child)
        self._end_list()

    def notes(self, package: Package, main: str) -> None:
        folder = main.rpartition("/")[0]
        for kind in ("footnote", "endnote"):
            root = package.optional_xml(f"{folder}/{kind}s.xml")
            for note in root if root is not None else ():
                text = " ".join(self._text(paragraph).strip() for paragraph in note.iter() if local(paragraph) == "p")
                if text.strip() and attribute(note, "type") in {"", "normal"}:
                    self.writer.add(f"[^{kind[0]}{attribute(note, 'id')}]: {text.strip()}")

    def _paragraph(self, paragraph: Element) -> None:
        text = tidy(self._text(paragraph))
        boxes = [box for box in paragraph.iter() if local(box) == "txbxContent" and not _inside(box, "Fallback")]
        style = self._styles.get(_property(paragraph, "pStyle"), _Style())
        level = style.heading or _outline(paragraph)
        number, depth = self._numbering(paragraph, style)
        if level and text:
            self._end_list()
            line = text.replace("\n", " ")
            self.writer.add(f"{'#' * level} {line}")
            self.title = self.title or (line if style.is_title or level == 1 else "")
        elif number and text:
            self._list.append("  " * depth + self._marker(number, depth) + text.replace("\n", " "))
        elif text:
            self._end_list()
            self.writer.add(text)
        for box in boxes:
            self.story(box)

    def _numbering(self, paragraph: Element, style: "_Style") -> tuple[str, int]:
        number = _property(paragraph, "numPr", "numId") or style.number
        depth = _property(paragraph, "numPr", "ilvl") or style.depth
        return ("" if number == "0" else number), min(int(depth), 8) if depth.isdigit() else 0

    def _marker(self, number: str, depth: int) -> str:
        if self._formats.get((number, depth), "bullet") in {"bullet", "none"}:
            return "- "
        counters = self._counters[number]
        counters[depth] = counters.get(depth, 0) + 1
        for deeper in [level for level in counters if level > depth]:
            del counters[deeper]
        return f"{counters[depth]}. "

    def _end_list(self) -> None:
        self.writer.add("\n".join(self._list))
        self._list.clear()

    def _table(self, table: Element) -> str:
        rows: list[list[str]] = []
        for row in table.iter():
            if local(row) != "tr" or next(_ancestors(row, "tbl"), None) is not table:
                continue
            cells: list[str] = []
            for cell in (cell for cell in row.iter() if local(cell) == "tc" and next(_ancestors(cell, "tr"), None) is row):
                cells.append(" ".join(tidy(self._text(paragraph)) for paragraph in cell.iter() if local(paragraph) == "p"))
                span = _property(cell, "gridSpan", holder="tcPr")
                cells.extend([""] * (min(int(span), _MAX_SPAN) - 1 if span.isdigit() else 0))
            rows.append(cells)
        if len(rows) == 1 or max(map(len, rows), default=0) == 1:
            return "\n\n".join(cell for row in rows for cell in row if cell.strip())
        return pipe_table(rows)

    def _text(self, element: Element) -> str:
        parts: list[str] = []
        for child in element:
            name = local(child)
            if name == "t":
                parts.append(child.text or "")
            elif name in {"tab", "ptab"}:
                parts.append(" ")
            elif name in {"br", "cr"}:
                parts.append("\x00")
            elif name == "noBreakHyphen":
                parts.append("-")
            elif name in {"footnoteReference", "endnoteReference"}:
                parts.append(f"[^{name[0]}{attribute(child, 'id')}]")
            elif name == "hyperlink":
                parts.append(self._link(child))
            elif name == "oMath":
                parts.append(f" {formula(child)} ")
            elif name not in _SKIP and name != "p":
                parts.append(self._text(child))
        return "".join(parts)

    def _link(self, element: Element) -> str:
        label = tidy(self._text(element))
        target = self.writer.resolve(self._targets.get(relation_id(element), ""))
        if not target or not label or "[" in label:
            return label
        self.writer.links[target] = None
        return f"[{label}]({target})"


class _Style:
    """What a paragraph style says of headings and lists."""

    def __init__(self, heading: int = 0, number: str = "", depth: str = "", *, is_title: bool = False) -> None:
        self.heading, self.number, self.depth, self.is_title = heading, number, depth, is_title


def _styles(root: Element | None) -> dict[str, _Style]:
    raw: dict[str, tuple[Element, str]] = {}
    for style in root if root is not None else ():
        if local(style) == "style" and attribute(style, "type") == "paragraph":
            raw[attribute(style, "styleId")] = (style, _property(style, "basedOn", holder=""))
    return {name: _style(name, raw) for name in raw}


def _style(name: str, raw: dict[str, tuple[Element, str]]) -> _Style:
    """A style with what it inherits; the chain of bases is followed ten steps at most."""
    heading, number, depth, is_title = 0, "", "", False
    for _ in range(10):
        if name not in raw:
            break
        element, base = raw[name]
        label = _property(element, "name", holder="")
        is_title = is_title or label.lower() == "title"
        match = _HEADING_NAME.match(label)
        own = int(match[1]) if match else 1 if label.lower() == "title" else _outline(element)
        heading = heading or min(own, 6)
        number = number or _property(element, "numPr", "numId")
        depth = depth or _property(element, "numPr", "ilvl")
        name = base
    return _Style(heading, number, depth, is_title=is_title)


def _number_formats(root: Element | None) -> dict[tuple[str, int], str]:
    abstract: dict[str, dict[int, str]] = {}
    formats: dict[tuple[str, int], str] = {}
    for element in root if root is not None else ():
        if local(element) == "abstractNum":
            levels = (level for level in element if local(level) == "lvl" and attribute(level, "ilvl").isdigit())
            abstract[attribute(element, "abstractNumId")] = {int(attribute(x, "ilvl")): _property(x, "numFmt", holder="") for x in levels}
        elif local(element) == "num":
            for depth, form in abstract.get(_property(element, "abstractNumId", holder=""), {}).items():
                formats[attribute(element, "numId"), depth] = form
    return formats


def formula(element: Element) -> str:
    """Office Math in one line: ``(a)/(b)``, ``a^(b)``, ``a_(b)``, ``sqrt(a)``."""
    parts = {local(child): child for child in element}

    def part(name: str) -> str:
        return formula(parts[name]) if name in parts else ""

    match local(element):
        case "t":
            return element.text or ""
        case "f":
            return f"({part('num')})/({part('den')})"
        case "sSup":
            return f"{part('e')}^({part('sup')})"
        case "sSub":
            return f"{part('e')}_({part('sub')})"
        case "sSubSup":
            return f"{part('e')}_({part('sub')})^({part('sup')})"
        case "rad":
            return f"sqrt({part('e')})"
        case "nary":
            sign = next((attribute(child, "val") for child in element.iter() if local(child) == "chr"), "\u222b")
            return f"{sign}_({part('sub')})^({part('sup')}) {part('e')}"
        case "d":
            return f"({', '.join(formula(child) for child in element if local(child) == 'e')})"
        case name:
            return "" if name.endswith("Pr") else "".join(formula(child) for child in element)


def _flow(parent: Element) -> Iterator[Element]:
    """Paragraphs and tables in order, out of content controls, insertions and custom markup."""
    for child in parent:
        name = local(child)
        if name in {"p", "tbl"}:
            yield child
        elif name in {"sdt", "sdtContent", "ins", "customXml", "smartTag", "moveTo", "AlternateContent", "Choice"}:
            yield from _flow(child)


def _property(element: Element, *path: str, holder: str = "pPr") -> str:
    """The ``val`` of a property such as ``pPr/numPr/numId``; empty if unset."""
    node: Element | None = element
    for name in (holder, *path) if holder else path:
        node = next((child for child in node if local(child) == name), None) if node is not None else None
    return attribute(node, "val") if node is not None else ""


def _outline(element: Element) -> int:
    value = _property(element, "outlineLvl")
    return min(int(value) + 1, 6) if value.isdigit() and int(value) < 9 else 0


def _ancestors(element: Element, name: str) -> Iterator[Element]:
    return (ancestor for ancestor in element.iterancestors() if local(ancestor) == name)


def _inside(element: Element, name: str) -> bool:
    return next(_ancestors(element, name), None) is not None

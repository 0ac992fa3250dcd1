"""An element tree as Markdown: headings, paragraphs, lists, tables, quotes, code and links.

Reads HTML and the small vocabulary that trafilatura gives its results in. Emphasis is left out: it carries no
evidence and would stand between a quotation and its source.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from deepdelve.tools.web.documents.extracted import LINK_LIMIT
from deepdelve.tools.web.documents.trees import Element, all_text

_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_LISTS = {"ul", "ol", "list", "menu", "dir"}
_ITEMS = {"li", "item"}
_ROWS = {"tr", "row"}
_CELLS = {"td", "th", "cell"}
_BREAKS = {"br", "lb"}
_CODE_BLOCKS = {"pre", "listing", "xmp"}
_SKIP = {"script", "style", "noscript", "template", "title", "svg", "iframe", "button", "select", "textarea", "option", "graphic", "img"}
_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "hi", "i",
    "ins", "kbd", "label", "mark", "nobr", "q", "rb", "ref", "ruby", "s", "samp", "small", "span", "strike", "strong",
    "sub", "sup", "time", "tt", "u", "var", "wbr",
}  # fmt: skip
_SPACE = re.compile(r"[ \t\r\f\v\xa0]*\n[ \t\r\f\v\xa0\n]*|[ \t\r\f\v\xa0]+")
_MAX_COLUMNS = 60


@dataclass
class Writer:
    """Collects blocks and links of one document.

    Attributes:
        base: address against which links are resolved; empty leaves relative links out.
        blocks: finished Markdown blocks.
        links: absolute addresses in order of appearance, each once.
    """

    base: str = ""
    blocks: list[str] = field(default_factory=list[str])
    links: dict[str, None] = field(default_factory=dict[str, None])

    def text(self) -> str:
        """All blocks as one Markdown text."""
        return "\n\n".join(self.blocks)

    def add(self, block: str) -> None:
        """Add a block unless it is blank."""
        block = block.strip("\n")
        if block.strip():
            self.blocks.append(block)

    def write(self, element: Element) -> None:
        """Add an element and all below it."""
        self._block(element, [])

    def _block(self, element: Element, buffer: list[str]) -> None:
        tag = element.tag
        if not isinstance(tag, str) or tag in _SKIP:
            return
        if tag in _HEADINGS or (tag == "head" and element.getparent() is not None):
            self._heading(element, tag)
        elif tag in _LISTS:
            self._list(element)
        elif tag == "table":
            self._table(element)
        elif tag in _CODE_BLOCKS or (tag == "code" and _is_block_code(element)):
            self._code(element)
        elif tag in {"blockquote", "quote"}:
            self._quote(element)
        elif tag == "hr":
            return
        else:
            self._container(element, buffer)

    def _container(self, element: Element, buffer: list[str]) -> None:
        buffer.append(element.text or "")
        for child in element:
            tag = child.tag
            if not isinstance(tag, str) or tag in _SKIP:
                pass
            elif tag in _BREAKS:
                buffer.append("\x00")
            elif tag in _INLINE and not _holds_block(child) and not (tag == "code" and _is_block_code(child)):
                buffer.append(self._inline(child))
            else:
                self._flush(buffer)
                self._block(child, buffer)
                self._flush(buffer)
            buffer.append(child.tail or "")
        self._flush(buffer)

    def _flush(self, buffer: list[str]) -> None:
        self.add(tidy("".join(buffer)))
        buffer.clear()

    def _inline(self, element: Element) -> str:
        tag = element.tag
        if not isinstance(tag, str) or tag in _SKIP:
            return ""
        if tag in _BREAKS:
            return "\x00"
        parts = [element.text or ""]
        for child in element:
            parts.append(self._inline(child))
            parts.append(child.tail or "")
        inner = "".join(parts)
        if tag in {"a", "ref"}:
            return self._link(element, inner)
        if tag in {"code", "kbd", "samp", "tt"} and inner.strip() and "`" not in inner:
            return f"`{tidy(inner)}`"
        if tag not in _INLINE and tag != "p":
            return f" {inner} "
        return inner

    def _link(self, element: Element, inner: str) -> str:
        label = tidy(inner).replace("\n", " ")
        target = self.resolve(element.get("href") or element.get("target") or "")
        if not target or not label:
            return inner
        if len(self.links) < LINK_LIMIT:
            self.links[target] = None
        if "[" in label or "]" in label or label.rstrip("/") == target.rstrip("/"):
            return inner
        lead = " " if inner[:1].isspace() else ""
        trail = " " if inner[-1:].isspace() or _lost_space(element, label) else ""
        return f"{lead}[{label}]({target}){trail}"

    def resolve(self, target: str) -> str:
        """The absolute http(s) address of a link; empty for anything else, and for places within the page itself."""
        target = target.strip()
        if not target or target.startswith("#"):
            return ""
        try:
            address = urljoin(self.base, target)
            parts = urlsplit(address)
        except ValueError:
            return ""
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            return ""
        if parts.fragment and self.base and address.partition("#")[0] == self.base.partition("#")[0]:
            return ""
        return re.sub(r"[\s<>()]", lambda m: f"%{ord(m[0]):02X}", address)

    def _heading(self, element: Element, tag: str) -> None:
        level = _HEADINGS.get(tag) or _HEADINGS.get(element.get("rend") or "") or 2
        label = tidy(self._inline_children(element)).replace("\n", " ")
        if label:
            self.add(f"{'#' * level} {label}")

    def _inline_children(self, element: Element) -> str:
        parts = [element.text or ""]
        for child in element:
            parts.append(self._inline(child))
            parts.append(child.tail or "")
        return "".join(parts)

    def _nested(self, element: Element) -> list[str]:
        """The blocks of an element, written apart so that they can be indented."""
        outer, self.blocks = self.blocks, []
        self._container(element, [])
        inner, self.blocks = self.blocks, outer
        return inner

    def _list(self, element: Element) -> None:
        ordered = element.tag == "ol" or element.get("rend") in {"ol", "ordered"}
        number = _number(element.get("start"), 1)
        lines: list[str] = []
        for child in element:
            if not isinstance(child.tag, str):
                continue
            blocks = self._nested(child) if child.tag in _ITEMS else self._whole(child)
            if not blocks:
                continue
            marker = f"{number}. " if ordered else "- "
            number += 1
            body = "\n".join(blocks).splitlines()
            lines.append(marker + body[0])
            lines.extend(" " * len(marker) + line for line in body[1:])
        self.add("\n".join(lines))

    def _whole(self, element: Element) -> list[str]:
        outer, self.blocks = self.blocks, []
        self._block(element, [])
        inner, self.blocks = self.blocks, outer
        return inner

    def _quote(self, element: Element) -> None:
        lines = "\n\n".join(self._nested(element)).splitlines()
        self.add("\n".join(f"> {line}".rstrip() for line in lines))

    def _code(self, element: Element) -> None:
        self.add(code_block(_raw_text(element)))

    def _table(self, element: Element) -> None:
        rows = [row for row in element.iter(*_ROWS) if _owner(row, "table") is element]
        cells = [[cell for cell in row if cell.tag in _CELLS] for row in rows]
        width = max((len(row) for row in cells), default=0)
        nested = next(element.iterdescendants("table"), None) is not None
        if nested or width <= 1 or width > _MAX_COLUMNS or _is_layout(cells):
            for row in cells:
                for cell in row:
                    self._container(cell, [])
            return
        for caption in element.iterchildren("caption"):
            self._container(caption, [])
        self.add(pipe_table([self._row(row) for row in cells]))

    def _row(self, row: list[Element]) -> list[str]:
        out: list[str] = []
        for cell in row:
            out.append(" ".join(self._nested(cell)))
            out.extend([""] * (min(_number(cell.get("colspan"), 1), _MAX_COLUMNS) - 1))
        return out


def pipe_table(rows: list[list[str]]) -> str:
    """Rows of cells as a Markdown table whose first row is the head; blank rows and columns are left out."""
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    width = max((len(row) for row in rows), default=0)
    padded = [row + [""] * (width - len(row)) for row in rows]
    keep = [i for i in range(width) if any(row[i].strip() for row in padded)]
    if not keep:
        return ""
    lines = ["| " + " | ".join(cell_text(row[i]) for i in keep) + " |" for row in padded]
    lines.insert(1, "|" + " --- |" * len(keep))
    return "\n".join(lines)


def cell_text(text: str) -> str:
    """Text fit for one table cell."""
    return " ".join(text.split()).replace("|", "\\|")


def code_block(text: str, language: str = "") -> str:
    """Text as a fenced block; the fence is longer than any run of backticks inside."""
    text = text.strip("\n").rstrip()
    if not text.strip():
        return ""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def tidy(text: str) -> str:
    """Collapse white space; the mark of a forced line break (NUL) becomes a line break."""
    text = _SPACE.sub(" ", text)
    if "\x00" not in text:
        return text.strip()
    lines = (line.strip() for line in text.split("\x00"))
    return "\n".join(line for line in lines if line)


def _raw_text(element: Element) -> str:
    parts = [element.text or ""]
    for child in element.iterdescendants():
        if child.tag in _BREAKS:
            parts.append("\n")
        elif isinstance(child.tag, str):
            parts.append(child.text or "")
        parts.append(child.tail or "")
    return "".join(parts)


def _lost_space(element: Element, label: str) -> bool:
    """Whether trafilatura has stripped the space after a link that begins a paragraph."""
    parent, tail = element.getparent(), element.tail or ""
    first = parent is not None and not (parent.text or "").strip() and element.getprevious() is None
    return element.tag == "ref" and first and label[-1:].isalnum() and tail[:1].isalnum()


def _is_block_code(element: Element) -> bool:
    """Whether a code element is a block of lines; within a paragraph a line break is only how its source is wrapped."""
    parent = element.getparent()
    alone = parent is None or (parent.tag != "p" and parent.tag not in _INLINE)
    return alone and ("\n" in all_text(element).strip() or any(child.tag in _BREAKS for child in element))


def _holds_block(element: Element) -> bool:
    return any(
        isinstance(child.tag, str) and child.tag not in _INLINE and child.tag not in _BREAKS and child.tag not in _SKIP
        for child in element.iterdescendants()
    )


def _owner(element: Element, tag: str) -> Element | None:
    return next(element.iterancestors(tag), None)


def _is_layout(cells: list[list[Element]]) -> bool:
    """A table that places page parts instead of holding data: some cell holds headings, or several paragraphs."""
    for row in cells:
        for cell in row:
            if sum(1 for _ in cell.iterdescendants("p", "h1", "h2", "h3", "h4", "pre", "head")) > 3:
                return True
    return False


def _number(value: str | None, default: int) -> int:
    return int(value) if value and value.isdigit() and len(value) < 7 else default

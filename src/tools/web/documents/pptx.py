"""PowerPoint presentations: every slide as a page, with its tables and speaker notes."""

from collections.abc import Iterator

from deepdelve.tools.web.documents.clean import page
from deepdelve.tools.web.documents.extracted import Extracted, no_text
from deepdelve.tools.web.documents.markdown import Writer, pipe_table, tidy
from deepdelve.tools.web.documents.ooxml import Package
from deepdelve.tools.web.documents.trees import Element, local, relation_id

_SLIDE_LIMIT = 2_000
_TITLES = {"title", "ctrTitle"}
_FURNITURE = {"dt", "ftr", "sldNum", "hdr", "sldImg"}


def read_pptx(package: Package, main: str) -> Extracted:
    """Read the slides of a presentation in their order."""
    targets = package.relations(main)
    ids = [relation_id(e) for e in _slide_ids(package.xml(main))]
    slides = [target for name in ids if (target := targets.get(name, "")) in package.names][:_SLIDE_LIMIT]
    writer = Writer()
    pages: list[str] = []
    title = ""
    silent = 0
    for number, name in enumerate(slides, 1):
        reader = _Slide(package, name, writer)
        title = title or reader.title
        silent += not reader.blocks
        pages.append(page(number, "\n\n".join(reader.blocks)))
    if silent == len(slides):
        raise no_text("The presentation has no text on its slides.")
    reason = f"{silent} of {len(slides)} slides hold no text." if silent else ""
    return Extracted("\n\n".join(pages), title=title, kind="pptx", links=tuple(writer.links), pages=len(slides), reason=reason)


def _slide_ids(root: Element) -> Iterator[Element]:
    return (e for group in root if local(group) == "sldIdLst" for e in group if local(e) == "sldId")


class _Slide:
    def __init__(self, package: Package, name: str, writer: Writer) -> None:
        self.title = ""
        self.blocks: list[str] = []
        self._writer = writer
        self._targets = package.relations(name)
        for shape in _shapes(package.xml(name)):
            self._shape(shape)
        for target in self._targets.values():
            if "notesSlide" in target and target in package.names:
                self._notes(package.xml(target))

    def _shape(self, shape: Element) -> None:
        if local(shape) == "tbl":
            rows = [[" ".join(self._lines(cell)) for cell in row if local(cell) == "tc"] for row in shape if local(row) == "tr"]
            self._add(pipe_table(rows))
            return
        place = next((e for e in shape.iter() if local(e) == "ph"), None)
        kind = (place.get("type") or "body") if place is not None else ""
        lines = self._lines(shape, bullets=kind in {"body", "obj"})
        if kind in _FURNITURE or not lines:
            return
        if kind in _TITLES:
            heading = " ".join(lines)
            self.title = self.title or heading
            self.blocks.insert(0, f"## {heading}")
        else:
            self._add("\n".join(lines) if kind in {"body", "obj"} else "\n\n".join(lines))

    def _notes(self, root: Element) -> None:
        for shape in _shapes(root):
            place = next((e for e in shape.iter() if local(e) == "ph"), None)
            if place is not None and place.get("type") == "body" and (lines := self._lines(shape)):
                self._add("Notes: " + "\n\n".join(lines))

    def _add(self, block: str) -> None:
        if block.strip():
            self.blocks.append(block)

    def _lines(self, shape: Element, *, bullets: bool = False) -> list[str]:
        paragraphs = [e for e in shape.iter() if local(e) == "p"]
        texts = [(paragraph, tidy(self._text(paragraph)).replace("\n", " ")) for paragraph in paragraphs]
        filled = [(paragraph, text) for paragraph, text in texts if text]
        if not bullets or len(filled) < 2:
            return [text for _, text in filled]
        return [f"{'  ' * _level(paragraph)}- {text}" for paragraph, text in filled]

    def _text(self, paragraph: Element) -> str:
        parts: list[str] = []
        for run in paragraph:
            if local(run) == "br":
                parts.append("\x00")
            text = "".join(e.text or "" for e in run.iter() if local(e) == "t")
            link = next((relation_id(e) for e in run.iter() if local(e) == "hlinkClick"), "")
            target = self._writer.resolve(self._targets.get(link, "")) if link else ""
            if target and text.strip() and "[" not in text:
                self._writer.links[target] = None
                text = f"[{text.strip()}]({target})"
            parts.append(text)
        return "".join(parts)


def _level(paragraph: Element) -> int:
    value = next((e.get("lvl") or "0" for e in paragraph if local(e) == "pPr"), "0")
    return min(int(value), 8) if value.isdigit() else 0


def _shapes(root: Element) -> Iterator[Element]:
    """Text shapes and tables in drawing order; fallbacks for older programs would only repeat them."""
    for child in root:
        name = local(child)
        if name in {"sp", "tbl"}:
            yield child
        elif name != "Fallback":
            yield from _shapes(child)

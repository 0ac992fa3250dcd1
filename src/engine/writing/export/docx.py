"""A report as a Word document, with inner links from claim to passage and back."""

import io
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from deepdelve.engine.writing.export.document import Block, Document, Evidence, Run, right_to_left, web_address
from deepdelve.utils.phrases import say

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.text.paragraph import Paragraph

# Above this many columns a table gets a page on its side, and smaller letters.
WIDE_COLUMNS = 6
_EAST_ASIAN = "Noto Sans CJK SC"
_TABLE_STYLE = "Table Grid"


def write(document: Document) -> bytes:
    """The document as the bytes of a ``.docx`` file."""
    import docx

    word = docx.Document()
    word.core_properties.title = document.title[:250]
    word.core_properties.author = "DeepDelve"
    word.core_properties.comments = ""
    word.core_properties.language = document.language
    _fonts(word)
    writer = _Writer(word)
    for block in document.blocks:
        writer.block(block)
    if document.evidence:
        word.add_heading(say("carries", document.language), 1)
        for item in document.evidence:
            writer.evidence(item, say(f"status_{item.status}", document.language))
    out = io.BytesIO()
    word.save(out)
    return out.getvalue()


def _fonts(word: "WordDocument") -> None:
    """A font for scripts of East Asia; a word processor that lacks it takes one of its own."""
    from docx.oxml.ns import qn
    from docx.styles.style import ParagraphStyle

    normal = word.styles["Normal"]
    assert isinstance(normal, ParagraphStyle)
    normal.font.name = "Calibri"
    element = cast("Any", normal.element)
    element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), _EAST_ASIAN)


class _Writer:
    """Appends blocks to a Word document. Bookmarks have running numbers; of each claim the first stretch bears its bookmark."""

    def __init__(self, word: "WordDocument") -> None:
        self._word = word
        self._bookmarks = 0
        self._seen: set[int] = set()

    def block(self, block: Block) -> None:
        if block.kind == "table":
            self._table(block)
            return
        if block.kind == "rule":
            self._word.add_paragraph("* * *")
            return
        paragraph = self._paragraph(block)
        start = self._begin(paragraph, f"source_{block.source}") if block.source else 0
        self._runs(paragraph, block.runs)
        self._end(paragraph, start)
        _direct(paragraph, block.text)

    def evidence(self, item: Evidence, status: str) -> None:
        """A claim's sign, status and reason, its words as a link back, and the passage with the words that count marked."""
        paragraph = self._word.add_paragraph()
        start = self._begin(paragraph, f"passage_{item.number}")
        paragraph.add_run(f"{item.number}. {item.sign} {status}").bold = True
        paragraph.add_run(f" ({item.reason}): " if item.reason else ": ")
        if item.placed:
            self._link(paragraph, [Run(item.text)], anchor=f"claim_{item.number}")
        else:
            _text(paragraph, Run(item.text))
        self._end(paragraph, start)
        if item.quote:
            self._quoted(item)
        if item.title:
            named = self._word.add_paragraph()
            if address := web_address(item.url):
                self._link(named, [Run(item.title)], address=address)
            else:
                _text(named, Run(item.title))

    def _quoted(self, item: Evidence) -> None:
        from docx.enum.text import WD_COLOR_INDEX

        quoted = self._word.add_paragraph(style="Quote")
        if item.before:
            _text(quoted, Run(item.before))
        for run in _text(quoted, Run(item.quote, bold=True)):
            run.font.highlight_color = WD_COLOR_INDEX.YELLOW
        if item.after:
            _text(quoted, Run(item.after))
        _direct(quoted, item.quote)

    def _paragraph(self, block: Block) -> "Paragraph":
        from docx.shared import Cm

        if block.kind == "heading":
            return self._word.add_heading("", min(block.level, 6))
        if block.kind == "quote":
            return self._word.add_paragraph(style="Quote")
        paragraph = self._word.add_paragraph()
        if block.kind == "item":
            indent = Cm(0.75 * (block.level + 1))
            paragraph.paragraph_format.left_indent = indent
            paragraph.paragraph_format.first_line_indent = Cm(-0.6)
            cast("Any", paragraph.paragraph_format.tab_stops).add_tab_stop(indent)
            paragraph.add_run(f"{block.marker or '•'}\t")
        return paragraph

    def _table(self, block: Block) -> None:
        from docx.shared import Pt

        columns = max((len(row) for row in block.rows), default=0)
        if not columns:
            return
        wide = columns > WIDE_COLUMNS
        if wide:
            self._turn_page(landscape=True)
        table = self._word.add_table(len(block.rows), columns, _TABLE_STYLE)
        table.autofit = True
        for place, row in enumerate(block.rows):
            for cell, runs in zip(table.rows[place].cells, row, strict=False):
                paragraph = cell.paragraphs[0]
                self._runs(paragraph, runs, bold=place == 0)
                _direct(paragraph, "".join(run.text for run in runs))
                for run in paragraph.runs if wide else ():
                    run.font.size = Pt(8)
        _repeat_head(table.rows[0])
        if wide:
            self._turn_page(landscape=False)
        else:
            self._word.add_paragraph()

    def _turn_page(self, *, landscape: bool) -> None:
        from docx.enum.section import WD_ORIENT, WD_SECTION

        section = self._word.add_section(WD_SECTION.NEW_PAGE)
        section.orientation = WD_ORIENT.LANDSCAPE if landscape else WD_ORIENT.PORTRAIT
        section.page_width, section.page_height = section.page_height, section.page_width

    def _runs(self, paragraph: "Paragraph", runs: Sequence[Run], *, bold: bool = False) -> None:
        for number, group in groupby(runs, key=lambda run: run.claim):
            start = self._begin(paragraph, f"claim_{number}") if number and number not in self._seen else 0
            self._seen.add(number)
            for run in group:
                self._run(paragraph, run, bold)
            self._end(paragraph, start)

    def _run(self, paragraph: "Paragraph", run: Run, bold: bool) -> None:
        if run.jump:
            self._link(paragraph, [run], anchor=f"passage_{run.claim}")
        elif run.href:
            self._link(paragraph, [run], address=run.href)
        elif run.source:
            self._link(paragraph, [run], anchor=f"source_{run.source}")
        else:
            _text(paragraph, run, bold)

    def _link(self, paragraph: "Paragraph", runs: Sequence[Run], *, anchor: str = "", address: str = "") -> None:
        """A hyperlink to a bookmark of this document, or to an address."""
        from docx.opc.constants import RELATIONSHIP_TYPE

        target = {"w:anchor": anchor} if anchor else {"r:id": paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, True)}
        link = _element("w:hyperlink", target)
        for run in runs:
            for made in _text(paragraph, run):
                made.font.underline = True
                link.append(made._r)
        _of(paragraph).append(link)

    def _begin(self, paragraph: "Paragraph", name: str) -> int:
        """Starts a bookmark and returns its number."""
        self._bookmarks += 1
        _of(paragraph).append(_element("w:bookmarkStart", {"w:id": str(self._bookmarks), "w:name": name}))
        return self._bookmarks

    def _end(self, paragraph: "Paragraph", number: int) -> None:
        if number:
            _of(paragraph).append(_element("w:bookmarkEnd", {"w:id": str(number)}))


def _text(paragraph: "Paragraph", run: Run, bold: bool = False) -> list[Any]:
    """A run as Word runs: stretches of scripts written from the right are marked as such."""
    made: list[Any] = []
    for rtl, words in groupby(run.text.split(" "), key=right_to_left):
        text = " ".join(words)
        word = paragraph.add_run(f" {text}" if made else text)
        word.bold = True if run.bold or bold else None
        word.italic = True if run.italic else None
        if run.code:
            word.font.name = "Consolas"
        if rtl:
            word.font.rtl = True
        made.append(word)
    return made


def _direct(paragraph: "Paragraph", text: str) -> None:
    """A paragraph that begins in a script written from the right runs from the right."""
    if right_to_left(text):
        later = ("w:adjustRightInd", "w:spacing", "w:ind", "w:jc", "w:rPr", "w:sectPr")
        _of(paragraph).get_or_add_pPr().insert_element_before(_element("w:bidi"), *later)


def _repeat_head(row: Any) -> None:
    """The head row of a table stands on each of its pages."""
    row._tr.get_or_add_trPr().append(_element("w:tblHeader"))


def _of(paragraph: "Paragraph") -> Any:
    """The XML element of a paragraph: the library has no other way to add links and bookmarks."""
    return paragraph._p  # pyright: ignore[reportPrivateUsage]


def _element(tag: str, attributes: dict[str, str] | None = None) -> Any:
    from docx.oxml import parser
    from docx.oxml.ns import qn

    made = cast("Any", parser).OxmlElement(tag)
    for name, value in (attributes or {}).items():
        made.set(qn(name), value)
    return made

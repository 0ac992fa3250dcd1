"""The report, piece by piece, with its claims; the one under the cursor is lit."""

from collections.abc import Sequence
from typing import ClassVar

from textual.content import Content

from deepdelve.core.records import Claim
from deepdelve.tui.report_model import Piece, Report
from deepdelve.tui.text import clean
from deepdelve.tui.widgets.page import Page, Part

STYLES = {"bold": "bold", "italic": "italic", "code": "bold", "link": "underline", "cite": "bold"}
DOUBTFUL = {"unsupported", "contradicted"}
LOOKS = {"heading": "heading", "quote": "quote"}

Claims = Sequence[tuple[Claim, int, int]]


class ReportView(Page):
    """Scrolls through the report."""

    HELP = "The report. n and p go to the next and previous claim, u to the next that is not carried by its source."
    COMPONENT_CLASSES: ClassVar[set[str]] = {"page--title", "page--heading", "page--quote"}
    DEFAULT_CSS = """
    ReportView > .page--title { text-style: bold underline; color: $text-accent; }
    ReportView > .page--heading { text-style: bold; color: $text-accent; }
    ReportView > .page--quote { color: $text-muted; }
    """
    SIDE: ClassVar[int] = 2

    def __init__(self, report: Report) -> None:
        self.report = report
        self._lit = ""
        self._claims: dict[int, list[tuple[Claim, int, int]]] = {}
        for claim in report.claims:
            place = report.places.get(claim.id)
            if place is not None:
                self._claims.setdefault(place.piece, []).append((claim, place.start, place.end))
        following = [*report.pieces[1:], None]
        pairs = enumerate(zip(report.pieces, following, strict=True))
        super().__init__([part(piece, self._claims.get(number, []), after) for number, (piece, after) in pairs], id="report-view")

    def light(self, claim_id: str) -> None:
        """Lights a claim and scrolls to it."""
        for known in {self._lit, claim_id}:
            place = self.report.places.get(known)
            if place is not None:
                self.change_part(place.piece, drawn(self.report.pieces[place.piece], self._claims[place.piece], claim_id))
        self._lit = claim_id
        place = self.report.places.get(claim_id)
        if place is not None:
            before = len(self.report.pieces[place.piece].prefix)
            self.show_lines(place.piece, before + place.start, before + place.end - 1)

    def go_to(self, number: int) -> None:
        """Scrolls to a piece."""
        piece = self.report.pieces[number]
        self.show_lines(number, 0, len(piece.text), at="top" if piece.kind == "heading" else "near")

    def find(self, wanted: str, after: int) -> int:
        """The number of the next piece that holds these words, or -1; goes round at the end."""
        total = len(self.report.pieces)
        folded = wanted.casefold()
        order = [(after + 1 + step) % total for step in range(total)] if total else []
        return next((number for number in order if folded in self.report.pieces[number].text.casefold()), -1)


def part(piece: Piece, claims: Claims, after: Piece | None) -> Part:
    """A piece as a part of the page; items of one list stand close together."""
    if piece.kind in {"table", "code"}:
        return Part(Content(""), gap=1, markdown=clean(piece.text))
    look = "title" if piece.kind == "heading" and piece.level == 1 else LOOKS.get(piece.kind, "")
    item = piece.kind == "item"
    gap = 0 if item and after is not None and after.kind == "item" else 1
    return Part(drawn(piece, claims, ""), look, 2 + 2 * piece.level if item else 0, gap, piece.kind == "quote")


def drawn(piece: Piece, claims: Claims, lit: str) -> Content:
    """A piece as it shows."""
    if piece.kind == "rule":
        return Content("─" * 20)
    content = Content(shown_text(piece))
    for span in piece.spans:
        content = content.stylize(STYLES[span.style], span.start, span.end)
    for claim, start, end in claims:
        if claim.id == lit:
            content = content.stylize("reverse", start, end)
        elif claim.status in DOUBTFUL:
            content = content.stylize("underline", start, end)
    return Content.assemble(piece.prefix, content)


def shown_text(piece: Piece) -> str:
    """The piece's text without control characters; each is replaced by one space, so that places stay right."""
    text = piece.text
    if clean(text, len(text)) == text:
        return text
    return "".join(char if clean(char) == char else " " for char in text)

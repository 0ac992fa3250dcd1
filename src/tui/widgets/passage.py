"""The passage pane: what the ledger says of a claim, and the stored source with the supporting words lit."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from deepdelve.core.records import Claim, Source
from deepdelve.tui.text import CLAIM_SIGNS, clean, one_line
from deepdelve.tui.widgets.page import Page, Part

AROUND = 4_000
PARAGRAPH = 1_200
KIND_WORDS = {
    "statement": "comparison of the whole sentence",
    "figure": "check of figures",
    "regulation": "check of regulation numbers",
    "quote": "check of quotations",
    "entailment": "judgement of what follows",
}


class PassageText(Page):
    """What scrolls in the pane: verdict, source, text before, the paragraph with the lit words, text after."""

    HELP = "The evidence of the claim under the cursor: its status, and the stored source with the words that carry it."
    SIDE: ClassVar[int] = 1


class PassagePane(Vertical):
    """Shows one claim's evidence."""

    DEFAULT_CSS = """
    PassagePane { background: $surface; }
    PassagePane > .place { height: 1; padding: 0 1; }
    PassageText { height: 1fr; background: $surface; }
    """

    def compose(self) -> ComposeResult:
        """A line that stays, and what scrolls below it."""
        yield Static(standing(None, None), classes="place", markup=False)
        yield PassageText()

    @property
    def page(self) -> PassageText:
        """What scrolls."""
        return self.query_one(PassageText)

    def show_claim(self, claim: Claim | None, source: Source | None, text: str, place: str = "") -> None:
        """Shows a claim beside a source's stored text (empty where nothing is stored)."""
        self.query_one(".place", Static).update(standing(claim, source, place), layout=False)
        before, lit, after = around(claim, source, text)
        head = [Part(verdict(claim), gap=1), Part(source_head(source), gap=1)] if claim is not None else []
        # Paragraphs are parts of their own: what is far from the window is then never drawn.
        above, below = ([Part(Content(line)) for line in part.split("\n")] if part else [] for part in (before, after))
        self.page.show_parts([*head, *above, *([Part(lit, bar=True)] if lit.plain else []), *below])
        if lit.plain:
            self.page.show_lines(len(head) + len(above), 0, len(lit.plain), at="middle")


def standing(claim: Claim | None, source: Source | None, place: str = "") -> Content:
    """Status in sign and word, which claim it is, and the source's id: in sight however far the source is scrolled."""
    if claim is None:
        return Content("No claim is chosen. n goes to the first.")
    parts = "".join(f" · {part}" for part in (place, source.id if source is not None else "") if part)
    return Content.assemble((f"{CLAIM_SIGNS[claim.status]} {claim.status}", "bold"), (parts, "dim"))


def verdict(claim: Claim | None) -> Content:
    """The claim, the check that said so, and its reason."""
    if claim is None:
        return Content("")
    by = f"by {KIND_WORDS[claim.kind]}" + (f", score {claim.score:.2f}" if claim.score else "")
    lines = [Content(one_line(claim.text, 600)), Content.assemble((by, "dim"))]
    if claim.reason:
        lines.append(Content(one_line(claim.reason, 400)))
    return Content("\n").join(lines)


def source_head(source: Source | None) -> Content:
    """Which source it is."""
    if source is None:
        return Content("It cites no source.")
    return Content.assemble((source.id, "bold"), " ", one_line(source.title or source.url, 200), "\n", (one_line(source.url, 300), "dim"))


def around(claim: Claim | None, source: Source | None, text: str) -> tuple[str, Content, str]:
    """The stored text before the passage, the paragraph that holds it with its words lit, and what comes after.

    Without a passage, the beginning of the text.
    """
    nothing = Content("")
    if claim is None or source is None:
        return "", nothing, ""
    if not text:
        return f"Nothing is stored of this source ({one_line(source.reason, 200) or source.state}).", nothing, ""
    start, end = located(claim, source, text)
    if start < 0:
        return f"No passage of this source is named as carrying the claim. It begins:\n\n{clean(text[:AROUND])}", nothing, ""
    first = max(text.rfind("\n", 0, start) + 1, start - PARAGRAPH)
    newline = text.find("\n", end)
    last = min(newline if newline >= 0 else len(text), end + PARAGRAPH)
    lit = Content.assemble(clean(text[first:start]), (clean(text[start:end]), "bold underline"), clean(text[end:last]))
    return clean(text[max(first - AROUND, 0) : first]).strip("\n"), lit, clean(text[last : last + AROUND]).strip("\n")


def located(claim: Claim, source: Source, text: str) -> tuple[int, int]:
    """Where the passage stands in the text, or (-1, -1)."""
    passage = claim.passage
    if passage is None or passage.source_id != source.id:
        return -1, -1
    if 0 <= passage.start < passage.end <= len(text):
        return passage.start, passage.end
    found = text.find(passage.quote) if passage.quote else -1
    return (found, found + len(passage.quote)) if found >= 0 else (-1, -1)

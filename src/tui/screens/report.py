"""The report beside its evidence: contents, text, passage pane."""

from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from deepdelve.core.records import Claim, ClaimCounts, Source
from deepdelve.tui import keys
from deepdelve.tui.commands import EXPORT_FORMATS
from deepdelve.tui.controller import Controller
from deepdelve.tui.port import AppPort
from deepdelve.tui.report_model import Report
from deepdelve.tui.screens.choice import ChoiceScreen
from deepdelve.tui.text import CLAIM_SIGNS, claim_counts, domain, one_line, short_number
from deepdelve.tui.typed import app_of
from deepdelve.tui.widgets.bars import bars
from deepdelve.tui.widgets.key_line import KeyLine
from deepdelve.tui.widgets.passage import PassagePane
from deepdelve.tui.widgets.report_view import DOUBTFUL, ReportView
from deepdelve.tui.widgets.source_list import source_line

MAX_CACHED = 40


class ReportScreen(Screen[None]):
    """Shows a delivered report. The cursor goes from claim to claim; beside it stands what carries the claim."""

    CSS_PATH = "report.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.REPORT
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide"), (150, "-very-wide")]  # noqa: RUF012 (Textual declares it so)
    AUTO_FOCUS = "#report-view"

    def __init__(
        self, run_id: str, report: Report, sources: Sequence[Source], controller: Controller, port: AppPort, claim_id: str = ""
    ) -> None:
        super().__init__()
        self.run_id = run_id
        self.report = report
        self.sources = {source.id: source for source in sources}
        self.controller = controller
        self.port = port
        self.current = -1
        self.cited = 0
        self._texts: dict[str, str] = {}
        self._found = -1
        self._first_claim = claim_id

    def compose(self) -> ComposeResult:
        """Counts above; contents, text and passage; find below."""
        yield Static(self._title(), id="report-title", markup=False)
        with Horizontal(id="report-middle"):
            rows = [Option(Content("  " * max(piece.level - 1, 0) + one_line(piece.text, 80))) for _, piece in self.report.headings]
            yield OptionList(*rows, id="contents", markup=False)
            yield ReportView(self.report)
            yield PassagePane(id="passage")
        find = Input(placeholder="find in the report; Enter finds the next, Esc ends", id="find")
        find.display = False
        yield find
        yield KeyLine()

    def on_mount(self) -> None:
        """Begins at the wanted claim."""
        ids = [claim.id for claim in self.report.claims]
        if self._first_claim in ids:
            self.call_after_refresh(self.go_to_claim, ids.index(self._first_claim))

    @property
    def view(self) -> ReportView:
        """The text."""
        return self.query_one(ReportView)

    @property
    def claim(self) -> Claim | None:
        """The claim under the cursor."""
        return self.report.claims[self.current] if 0 <= self.current < len(self.report.claims) else None

    @property
    def source(self) -> Source | None:
        """The source shown beside it."""
        cited = self._cited()
        return self.sources.get(cited[self.cited % len(cited)]) if cited else None

    def go_to_claim(self, number: int) -> None:
        """Puts the cursor on a claim."""
        if not self.report.claims:
            self.notify("This report has no claims.")
            return
        self.current = number % len(self.report.claims)
        claim = self.report.claims[self.current]
        cited = self._cited()
        carrier = claim.passage.source_id if claim.passage is not None else ""
        self.cited = cited.index(carrier) if carrier in cited else 0
        self.view.light(claim.id)
        self.show_passage()

    @work(exclusive=True, group="passage", exit_on_error=False)
    async def show_passage(self) -> None:
        """Shows the source of the claim under the cursor."""
        claim, source = self.claim, self.source
        text = await self._text(source) if source is not None else ""
        if claim is self.claim and source is self.source:
            number, of = self.current + 1, len(self.report.claims)
            cited = self._cited()
            more = f" · source {self.cited % len(cited) + 1} of {len(cited)}, ← → change" if len(cited) > 1 else ""
            self.query_one(PassagePane).show_claim(claim, source, text, f"claim {number} of {of}{more}")

    def action_claim(self, step: int) -> None:
        """The next or previous claim."""
        self.go_to_claim(self.current + step if self.current >= 0 or step > 0 else -1)

    def action_doubtful(self) -> None:
        """The next claim that its source does not carry."""
        claims = self.report.claims
        order = [(self.current + 1 + step) % len(claims) for step in range(len(claims))]
        found = next((number for number in order if claims[number].status in DOUBTFUL), -1)
        if found < 0:
            self.notify("No claim is unsupported or contradicted.")
        else:
            self.go_to_claim(found)

    def action_cited(self, step: int) -> None:
        """Another source of the same claim."""
        if len(self._cited()) > 1:
            self.cited += step
            self.show_passage()

    def action_open_url(self) -> None:
        """Opens the source's address in a browser, if it is a web address."""
        source = self.source
        if source is None or not source.url.startswith(("https://", "http://")):
            self.notify("There is no web address to open here.")
            return
        app_of(self).open_url(source.url)

    def action_sources(self) -> None:
        """The sources of the run; choosing one shows its stored text."""
        listed = list(self.sources.values())
        counted = {source.id: sum(source.id in claim.citations for claim in self.report.claims) for source in listed}
        rows = [source_line(source, counted[source.id]) for source in listed]

        def chosen(number: int | None) -> None:
            if number is not None:
                self.port.open_screen("source", run_id=self.run_id, source_id=listed[number].id)

        app_of(self).push_screen(ChoiceScreen("Sources", rows), chosen)

    def action_contents(self) -> None:
        """Shows and focuses the contents, or hides them."""
        self.toggle_class("-contents")
        if self.has_class("-contents"):
            self.query_one("#contents", OptionList).focus()
        else:
            self.view.focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Goes to a heading."""
        event.stop()
        self.view.go_to(self.report.headings[event.option_index][0])
        self.remove_class("-contents")
        self.view.focus()

    def action_export(self) -> None:
        """Writes the report in another format."""

        def chosen(number: int | None) -> None:
            if number is not None:
                self.port.export(self.run_id, list(EXPORT_FORMATS)[number])

        rows = [Content(f"{name.ljust(6)}{what}") for name, what in EXPORT_FORMATS.items()]
        app_of(self).push_screen(ChoiceScreen("Export as", rows), chosen)

    def action_copy(self) -> None:
        """Copies the claim under the cursor, else the whole report."""
        claim = self.claim
        app_of(self).copy_to_clipboard(claim.text if claim is not None else self.report.markdown)
        self.notify("Copied the claim." if claim is not None else "Copied the report.")

    def action_find(self) -> None:
        """Opens the find line."""
        find = self.query_one("#find", Input)
        find.display = True
        find.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Goes to the next piece that holds the words."""
        event.stop()
        found = self.view.find(event.value, self._found) if event.value.strip() else -1
        if found < 0:
            self.notify("Not found.")
            return
        self._found = found
        self.view.go_to(found)

    def action_ask(self) -> None:
        """Begins a question about the claim under the cursor."""
        claim = self.claim
        self.port.ask_about(self.run_id, f'About "{one_line(claim.text, 200)}": ' if claim is not None else "")

    def action_figures(self) -> None:
        """Claims by status and sources by domain, as bars."""
        self.port.open_screen("text", heading="Figures", text=figures(self.report.claims, list(self.sources.values())))

    def action_close(self) -> None:
        """Ends finding, hides the contents, or goes back."""
        find = self.query_one("#find", Input)
        if find.display:
            find.display = False
            self.view.focus()
        elif self.has_class("-contents"):
            self.action_contents()
        else:
            self.dismiss()

    def _title(self) -> Content:
        counts = ClaimCounts(**{name: sum(claim.status == name for claim in self.report.claims) for name in CLAIM_SIGNS})
        head = next((piece.text for piece in self.report.pieces if piece.kind == "heading"), "Report")
        return Content.assemble((one_line(head, 120), "bold"), "\n", claim_counts(counts))

    def _cited(self) -> tuple[str, ...]:
        return self.claim.citations if self.claim is not None else ()

    async def _text(self, source: Source) -> str:
        if source.id not in self._texts:
            engine = await self.controller.engine()
            if len(self._texts) >= MAX_CACHED:
                self._texts.pop(next(iter(self._texts)))
            self._texts[source.id] = await self.controller.call(engine.source_text, self.run_id, source.id)
        return self._texts[source.id]


def figures(claims: Sequence[Claim], sources: Sequence[Source]) -> Content:
    """The bars of a report."""
    by_status = {f"{CLAIM_SIGNS[name]} {name}": float(sum(claim.status == name for claim in claims)) for name in CLAIM_SIGNS}
    by_domain: dict[str, float] = {}
    for source in sources:
        by_domain[domain(source.url)] = by_domain.get(domain(source.url), 0) + 1
    lines = [Content.assemble(("Claims by status", "bold")), *bars(by_status, short_number, 30), Content("")]
    return Content("\n").join([*lines, Content.assemble(("Sources by domain", "bold")), *bars(by_domain, short_number, 30)])

"""The claim ledger: each claim with its status in sign and word. Enter opens it in the report."""

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from deepdelve.core.records import Claim
from deepdelve.tui.text import CLAIM_SIGNS, one_line
from deepdelve.tui.view_state import ViewState


class ClaimList(OptionList):
    """Lists the claims of the report that need a citation."""

    HELP = "The claims of the report. Enter shows one beside its passage."

    class Opened(Message):
        """A claim is to be shown."""

        def __init__(self, claim_id: str) -> None:
            super().__init__()
            self.claim_id = claim_id

    def __init__(self) -> None:
        super().__init__(markup=False)

    def show_state(self, old: ViewState, new: ViewState) -> None:
        """Draws anew where something changed."""
        if old.claims is new.claims:
            return
        self.clear_options()
        self.add_options([Option(claim_line(claim), id=claim.id) for claim in new.claims if claim.needs_citation])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Asks for the claim to be shown."""
        event.stop()
        if event.option_id:
            self.post_message(self.Opened(event.option_id))


def claim_line(claim: Claim) -> Content:
    """A claim in one paragraph: sign, status, text, sources."""
    cited = f" [{', '.join(claim.citations)}]" if claim.citations else ""
    return Content.assemble(f"{CLAIM_SIGNS[claim.status]} ", (claim.status, "bold"), f" {one_line(claim.text, 300)}", (cited, "dim"))

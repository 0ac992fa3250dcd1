"""Tokens and time by role, as bars with their figures."""

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from deepdelve.tui.text import duration, short_number
from deepdelve.tui.view_state import ViewState
from deepdelve.tui.widgets.bars import bars


class Activity(VerticalScroll):
    """Shows what each role has cost."""

    def compose(self) -> list[Static]:
        """One text."""
        return [Static(Content("No model call yet."), classes="text", markup=False)]

    def show_state(self, old: ViewState, new: ViewState) -> None:
        """Draws anew where something changed."""
        if old.usage is not new.usage or old.used is not new.used:
            self.query_one(Static).update(activity_text(new))


def activity_text(state: ViewState) -> Content:
    """Bars by role, then calls by tool."""
    usage = state.usage
    lines: list[Content] = []
    if usage:
        lines.append(Content.assemble(("Tokens by role", "bold")))
        lines += bars({role: item.tokens_in + item.tokens_out for role, item in usage.items()}, short_number)
        lines += [Content(""), Content.assemble(("Model time by role", "bold"))]
        lines += bars({role: item.seconds for role, item in usage.items()}, duration)
        if any(item.estimated for item in usage.values()):
            lines.append(Content.assemble(("Some tokens are estimated: the server reported none.", "dim")))
    if state.used:
        lines += [Content(""), Content.assemble(("Calls by tool", "bold"))]
        lines += bars(dict(state.used), short_number)
    return Content("\n").join(lines) if lines else Content("No model call yet.")

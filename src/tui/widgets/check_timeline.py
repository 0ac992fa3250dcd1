"""The attempts of the completion check: the problem found, the others active, and the remedy it got."""

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from deepdelve.tui.text import one_line
from deepdelve.tui.view_state import ViewState


class CheckTimeline(VerticalScroll):
    """Shows the checks in order."""

    def compose(self) -> list[Static]:
        """One text."""
        return [Static(Content("Nothing was checked yet."), classes="text", markup=False)]

    def show_state(self, old: ViewState, new: ViewState) -> None:
        """Draws anew where something changed."""
        if old.checks is not new.checks:
            self.query_one(Static).update(checks_text(new))


def checks_text(state: ViewState) -> Content:
    """All attempts as text."""
    lines: list[Content] = []
    for check in state.checks:
        problem = check.problem.replace("_", " ")
        lines.append(
            Content.assemble(
                f"{'!' if problem else '✓'} ", (f"attempt {check.attempt}", "bold"), f" {one_line(problem) or 'no problem found'}"
            )
        )
        if check.remedy:
            lines.append(Content(f"  → {one_line(check.remedy.replace('_', ' '))}"))
        if check.detail:
            lines.append(Content.assemble(("  " + one_line(check.detail), "dim")))
        others = [name.replace("_", " ") for name in check.active if name != check.problem]
        if others:
            lines.append(Content.assemble(("  also: " + one_line(", ".join(others)), "dim")))
    return Content("\n").join(lines) if lines else Content("Nothing was checked yet.")

"""The tabs at the right: plan, sources, checks, claims, activity."""

from typing import Literal, get_args

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import TabbedContent, TabPane

from deepdelve.tui.view_state import ViewState
from deepdelve.tui.widgets.activity import Activity
from deepdelve.tui.widgets.check_timeline import CheckTimeline
from deepdelve.tui.widgets.claim_list import ClaimList
from deepdelve.tui.widgets.plan_tree import PlanTree
from deepdelve.tui.widgets.source_list import SourceList

Tab = Literal["plan", "sources", "checks", "claims", "activity"]
TABS: tuple[str, ...] = get_args(Tab)


class Sidebar(Vertical):
    """Beside the transcript where there is room, else over it."""

    DEFAULT_CSS = """
    Sidebar { width: 44; border-left: vkey $panel; background: $surface; }
    Sidebar .text { height: auto; padding: 0 1; }
    Sidebar TabPane { padding: 0; }
    Sidebar OptionList { height: 1fr; border: none; background: transparent; }
    """

    def __init__(self) -> None:
        super().__init__(id="sidebar")
        self._state = ViewState()

    def compose(self) -> ComposeResult:
        """The tabs."""
        with TabbedContent(initial="plan"):
            yield TabPane("Plan", PlanTree(), id="plan")
            yield TabPane("Sources", SourceList(), id="sources")
            yield TabPane("Checks", CheckTimeline(), id="checks")
            yield TabPane("Claims", ClaimList(), id="claims")
            yield TabPane("Activity", Activity(), id="activity")

    def show_state(self, old: ViewState, new: ViewState) -> None:
        """Hands the state on to all tabs."""
        self._state = new
        for widget in self.query("PlanTree, SourceList, CheckTimeline, ClaimList, Activity"):
            if isinstance(widget, PlanTree | SourceList | CheckTimeline | ClaimList | Activity):
                widget.show_state(old, new)

    def open_tab(self, name: str) -> None:
        """Shows a tab and focuses what is in it."""
        if name not in TABS:
            return
        self.query_one(TabbedContent).active = name
        content: Widget = self.query_one(f"#{name}", TabPane).children[0]
        self.call_after_refresh(content.focus)

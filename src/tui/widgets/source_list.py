"""The sources: title, domain, state in words, and how often each is cited. Enter opens one."""

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from deepdelve.core.records import Source
from deepdelve.tui.text import SOURCE_SIGNS, domain, one_line
from deepdelve.tui.view_state import ViewState, times_cited


class SourceList(OptionList):
    """Lists the sources of the run."""

    HELP = "The sources. Enter opens the stored text."

    class Opened(Message):
        """A source is to be shown."""

        def __init__(self, source_id: str) -> None:
            super().__init__()
            self.source_id = source_id

    def __init__(self, id: str | None = None) -> None:
        super().__init__(markup=False, id=id)

    def show_state(self, old: ViewState, new: ViewState) -> None:
        """Draws anew where something changed."""
        if old.sources is new.sources and old.dropped is new.dropped and old.claims is new.claims:
            return
        cited = times_cited(new)
        place = self.highlighted
        self.clear_options()
        self.add_options(
            [
                Option(source_line(source, cited.get(source.id, 0), source.id in new.dropped), id=source.id)
                for source in new.sources.values()
            ]
        )
        self.highlighted = place if place is not None and place < self.option_count else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Asks for the source to be shown."""
        event.stop()
        if event.option_id:
            self.post_message(self.Opened(event.option_id))


def source_line(source: Source, cited: int, dropped: bool = False) -> Content:
    """A source in two lines."""
    state = "dropped" if dropped else source.state
    sign = "⊘" if dropped else SOURCE_SIGNS[source.state]
    why = f" ({one_line(source.reason, 80)})" if source.reason and source.state != "ok" else ""
    times = f" · cited {cited}×" if cited else ""
    head = Content.assemble(f"{sign} ", (source.id, "bold"), " ", one_line(source.title or source.url, 160))
    return Content.assemble(head, "\n  ", (f"{domain(source.url)} · {state}{why}{times}", "dim"))

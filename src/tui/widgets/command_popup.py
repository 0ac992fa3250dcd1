"""The list of completions above the prompt: two columns, best first."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from deepdelve.tui.completion import Choice
from deepdelve.tui.text import one_line


class CommandPopup(OptionList, can_focus=False):
    """Shows choices; never takes the focus from the prompt."""

    DEFAULT_CSS = """
    CommandPopup { display: none; height: auto; max-height: 8; border: round $panel; padding: 0 1; scrollbar-size-vertical: 1; }
    CommandPopup.-open { display: block; }
    """

    def __init__(self) -> None:
        super().__init__(id="popup", markup=False)
        self.choices: Sequence[Choice] = ()

    def offer(self, choices: Sequence[Choice]) -> None:
        """Shows these; none hides the list."""
        self.choices = choices
        self.clear_options()
        self.set_class(bool(choices), "-open")
        if choices:
            width = min(max(len(choice.label) for choice in choices), 34)
            self.add_options([Option(_row(choice, width)) for choice in choices])
            self.highlighted = 0

    @property
    def chosen(self) -> Choice | None:
        """The highlighted choice."""
        place = self.highlighted
        return self.choices[place] if self.choices and place is not None and place < len(self.choices) else None

    def move(self, step: int) -> None:
        """Highlights the next or the previous choice."""
        if self.choices:
            self.highlighted = ((self.highlighted or 0) + step) % len(self.choices)


def _row(choice: Choice, width: int) -> Content:
    label = one_line(choice.label, width)
    return Content.assemble((label, "bold"), " " * (width - len(label) + 2), (one_line(choice.detail, 120), "dim"))

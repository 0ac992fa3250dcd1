"""The last line: which keys do what here. One text, since a footer of many small widgets is slow to make anew at each change of focus."""

from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from deepdelve.tui.typed import app_of, follow_bindings

SHOWN_KEYS = {"enter": "⏎", "escape": "esc", "slash": "/"}


class KeyLine(Static):
    """Shows the bindings that are in force, as far as they fit."""

    DEFAULT_CSS = "KeyLine { dock: bottom; height: 1; padding: 0 1; background: $panel; }"

    def __init__(self) -> None:
        super().__init__("", id="keys", markup=False)

    def on_mount(self) -> None:
        """Follows the bindings."""
        follow_bindings(self, self._changed)
        self.call_after_refresh(self.show_keys)

    def on_resize(self, event: Resize) -> None:
        """Fits the line to the new width."""
        self.show_keys()

    def show_keys(self) -> None:
        """Draws the line anew."""
        hints: list[Content] = []
        width = (self.size.width or 80) - 2
        for _, binding, enabled, _ in self.screen.active_bindings.values():
            if not binding.show or not enabled:
                continue
            key = SHOWN_KEYS.get(binding.key, app_of(self).get_key_display(binding))
            width -= len(key) + len(binding.description) + 3
            if width < 0:
                break
            hints.append(Content.assemble((key, "bold"), f" {binding.description}"))
        self.update(Content("  ").join(hints))

    def _changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.show_keys()

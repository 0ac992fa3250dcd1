"""What screens ask of the app."""

from typing import Any, Protocol


class AppPort(Protocol):
    """The app, as its screens see it."""

    def send(self, text: str, *, typed: bool = False) -> None:
        """Handle a message or a slash command; what a person ``typed`` is kept in the prompt history."""
        ...

    def open_screen(self, name: str, **details: Any) -> None:
        """Open a screen (or a sidebar tab) by name."""
        ...

    def export(self, run_id: str, kind: str) -> None:
        """Write a run's report in another format."""
        ...

    def ask_about(self, run_id: str, text: str) -> None:
        """Begin a question on a run's report for the person."""
        ...

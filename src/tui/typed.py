"""The one place where types that Textual leaves open are made precise."""

from collections.abc import Callable
from typing import Any, cast

from textual.app import App
from textual.dom import DOMNode
from textual.signal import Signal
from textual.widget import Widget


def app_of(node: DOMNode) -> App[Any]:
    """The running app."""
    # Textual leaves the app's type parameter open, which strict checking counts as unknown.
    return node.app  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def follow_bindings(widget: Widget, changed: Callable[[Any], None]) -> None:
    """Calls ``changed`` with the screen whenever other keys come into force on it."""
    signal = cast("Signal[Any]", widget.screen.bindings_updated_signal)  # pyright: ignore[reportUnknownMemberType]
    signal.subscribe(widget, changed)

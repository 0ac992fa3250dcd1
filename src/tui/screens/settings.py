"""The settings as a form, made from the settings model: each key with its value; a change is written to the user's file."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, cast, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Select, Static, Switch

from deepdelve.config import Group, Settings
from deepdelve.engine import facade
from deepdelve.tui import keys
from deepdelve.tui.text import one_line
from deepdelve.tui.widgets.key_line import KeyLine


@dataclass(frozen=True)
class Field:
    """A setting: dotted key, kind of its input, value as text, and the choices of a choice."""

    key: str
    kind: Literal["choice", "switch", "text", "secret", "hidden"]
    value: str
    choices: tuple[str, ...] = ()


class SettingsScreen(Screen[None]):
    """Enter in a field, a switch or a choice writes the value through ``change``; what is wrong is said there."""

    CSS_PATH = "settings.tcss"
    BINDINGS: ClassVar[list[BindingType]] = keys.SETTINGS
    AUTO_FOCUS = "Input, Select, Switch"

    def __init__(self, settings: Settings, change: Callable[[str, str], None]) -> None:
        super().__init__()
        self.fields = fields(settings)
        self.change = change

    def compose(self) -> ComposeResult:
        """One row a setting, grouped."""
        yield Static(Content.assemble(("Settings", "bold"), "  Tab goes on, Enter writes a value, Esc goes back"), id="settings-title")
        group = ""
        with VerticalScroll(id="form"):
            for number, field in enumerate(self.fields):
                if field.key.split(".", 1)[0] != group:
                    group = field.key.split(".", 1)[0]
                    yield Static(Content(group), classes="group")
                with Horizontal(classes="row"):
                    yield Static(Content(field.key.split(".", 1)[1]), classes="key")
                    yield from widget_of(field, number)
        yield KeyLine()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Writes a text."""
        event.stop()
        self.change(self._field(event.input.id).key, event.value)

    def on_switch_changed(self, event: Switch.Changed) -> None:
        """Writes on or off."""
        event.stop()
        self.change(self._field(event.switch.id).key, "true" if event.value else "false")

    def on_select_changed(self, event: Select.Changed) -> None:
        """Writes a choice."""
        event.stop()
        field = self._field(event.select.id)
        if str(event.value) != field.value:
            self.change(field.key, str(event.value))

    def action_close(self) -> None:
        """Back."""
        self.dismiss()

    def _field(self, widget_id: str | None) -> Field:
        return self.fields[int((widget_id or "setting-0").rsplit("-", 1)[1])]


def fields(group: Group, prefix: str = "") -> list[Field]:
    """All settings that one line can hold, in the order of the model; mappings are changed in the file."""
    found: list[Field] = []
    for name, info in type(group).model_fields.items():
        value = getattr(group, name)
        if isinstance(value, Group):
            found += fields(value, f"{prefix}{name}.")
        elif not isinstance(value, dict):
            found.append(_field(f"{prefix}{name}", info, value))
    return found


def widget_of(field: Field, number: int) -> list[Input | Select[str] | Switch]:
    """The input of a setting."""
    name = f"setting-{number}"
    if field.kind == "switch":
        return [Switch(field.value == "True", id=name, animate=False)]
    if field.kind == "choice":
        return [Select[str]([(choice, choice) for choice in field.choices], value=field.value, allow_blank=False, id=name)]
    return [Input(field.value, password=field.kind in {"secret", "hidden"}, id=name, compact=True)]


def _field(key: str, info: FieldInfo, value: object) -> Field:
    if get_origin(info.annotation) is Literal:
        return Field(key, "choice", str(value), tuple(str(choice) for choice in get_args(info.annotation)))
    if isinstance(value, bool):
        return Field(key, "switch", str(value))
    if isinstance(value, SecretStr):
        return Field(key, "secret", "")
    if isinstance(value, list):
        return Field(key, "text", ", ".join(str(item) for item in cast("list[object]", value)))
    text = "" if value is None else one_line(str(value), 1_000)
    # An address with a password in it is shown as dots.
    return Field(key, "hidden" if facade.masker()(text) != text else "text", text)

"""The text of ``/help``: all commands and keys, from the registries."""

from collections.abc import Sequence

from textual.binding import Binding
from textual.content import Content

from deepdelve.tui import keys
from deepdelve.tui.commands import SlashCommand

GROUPS = (
    ("Everywhere", keys.APP),
    ("Research screen", keys.RESEARCH),
    ("Prompt", keys.PROMPT),
    ("Transcript", [*keys.TRANSCRIPT, *keys.EXPANDABLE]),
    ("Report", keys.REPORT),
    ("Runs", keys.RUNS),
    ("Files", keys.FILES),
    ("A tool to allow", keys.APPROVAL),
)
_INTRO = (
    "Type a question to research it. Type while it works to steer it. When the report is there, type to ask about it.\n"
    "Esc stops. Everything found is kept.\n"
)


def help_text(commands: Sequence[SlashCommand]) -> Content:
    """All commands, then all keys."""
    width = max(len(command.usage) for command in commands)
    lines = [Content(_INTRO), Content.assemble(("Commands", "bold"))]
    lines += [Content.assemble((f"  {command.usage.ljust(width)}", "bold"), f"  {command.help}") for command in commands]
    for title, bindings in GROUPS:
        lines += [Content(""), Content.assemble((title, "bold"))]
        lines += [Content(f"  {key_name(item).ljust(22)}  {item.description}") for item in bindings if isinstance(item, Binding)]
    return Content("\n").join(lines)


def key_name(binding: Binding) -> str:
    """The keys of a binding as one reads them."""
    names = {"slash": "/", "escape": "Esc", "backslash": "\\"}
    return ", ".join("+".join(names.get(part, part) for part in key.split("+")) for key in binding.key.split(","))

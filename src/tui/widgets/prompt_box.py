"""The prompt with its list of completions."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import OptionList, TextArea

from deepdelve.tui.completion import Choice, Context, choose, context, files, ghost
from deepdelve.tui.widgets.command_popup import CommandPopup
from deepdelve.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from deepdelve.tui.commands import SlashCommand

PATH_COMMANDS = {"corpus": True, "pipeline-evidence": True, "seed-doc": False}


class PromptBox(Vertical):
    """Completes commands, their arguments and files.

    Args:
        commands: the commands there are now.
        words: the possible arguments of a command.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "close_popup", "Close list", id="prompt.close_popup", show=False)]
    DEFAULT_CSS = "PromptBox { height: auto; }"

    def __init__(
        self, commands: "Callable[[], Sequence[SlashCommand]]", words: "Callable[[SlashCommand], Awaitable[Sequence[Choice]]]"
    ) -> None:
        super().__init__(id="prompt-box")
        self.commands = commands
        self.words = words
        self._typed: Context | None = None

    def compose(self) -> ComposeResult:
        """List above, prompt below."""
        yield CommandPopup()
        yield Prompt()

    @property
    def prompt(self) -> Prompt:
        """The prompt."""
        return self.query_one(Prompt)

    @property
    def popup(self) -> CommandPopup:
        """The list."""
        return self.query_one(CommandPopup)

    @on(TextArea.Changed)
    def typed(self, event: TextArea.Changed) -> None:
        """Looks for completions of what is typed now."""
        event.stop()
        found = context(self.prompt.text) if self.prompt.cursor_location == self.prompt.document.end else None
        self._typed = found
        if found is None:
            self._offer([])
        elif found.kind == "command":
            rows = [
                Choice(f"/{command.name}", f"/{command.name}", f"{command.args}  {command.help}".strip()) for command in self.commands()
            ]
            self._offer(choose(found.typed, rows))
        else:
            self.look_up(found)

    @work(exclusive=True, group="complete", exit_on_error=False)
    async def look_up(self, wanted: Context) -> None:
        """Finds arguments or files, which may need the engine or the disk."""
        if wanted.kind == "file" or wanted.command in PATH_COMMANDS:
            choices = await asyncio.to_thread(files, wanted.typed, PATH_COMMANDS.get(wanted.command, False))
        else:
            command = next((item for item in self.commands() if item.name == wanted.command), None)
            given = await self.words(command) if command is not None else list[Choice]()
            choices = choose(wanted.typed, given)
        if self._typed == wanted:
            self._offer([] if [choice.insert for choice in choices] == [wanted.typed] else choices)

    @on(Prompt.Completed)
    def complete(self) -> None:
        """Puts the chosen completion into the prompt."""
        chosen, wanted = self.popup.chosen, self._typed
        if chosen is None or wanted is None:
            return
        end = " " if wanted.kind == "command" else ""
        self.prompt.put(self.prompt.text[: wanted.start] + chosen.insert + end)

    @on(Prompt.Moved)
    def move(self, event: Prompt.Moved) -> None:
        """Moves in the list."""
        self.popup.move(event.step)
        self._show_ghost()

    @on(OptionList.OptionSelected)
    def clicked(self, event: OptionList.OptionSelected) -> None:
        """A click takes a completion."""
        event.stop()
        self.popup.highlighted = event.option_index
        self.complete()
        self.prompt.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Escape closes the list only while it is open."""
        return action != "close_popup" or self.popup.has_class("-open")

    def action_close_popup(self) -> None:
        """Hides the list until more is typed."""
        self._offer([])

    def _offer(self, choices: Sequence[Choice]) -> None:
        self.popup.offer(choices)
        self.prompt.choosing = bool(choices)
        self._show_ghost()

    def _show_ghost(self) -> None:
        wanted = self._typed
        typed = "" if wanted is None else self.prompt.text[wanted.start :]
        self.prompt.suggestion = ghost(typed, self.popup.chosen)

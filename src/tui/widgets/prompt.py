"""Where the person types: several lines, history, long pastes folded, ghost text."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.events import Key, Paste
from textual.message import Message
from textual.widgets import TextArea

from deepdelve.tui import keys
from deepdelve.tui.history import PromptHistory
from deepdelve.tui.text import clean
from deepdelve.tui.typed import app_of

# A longer paste stands in the prompt as one short mark, since laying out very long lines is slow; it is sent whole.
PASTE_LIMIT = 4_000
IMMEDIATE = {"submit", "newline", "complete"}


class Prompt(TextArea):
    """The prompt. Enter sends, shift+enter or ctrl+j begins a new line."""

    BINDINGS: ClassVar[list[BindingType]] = keys.PROMPT
    HELP = (
        "Ask a question and press Enter. Shift+Enter or ctrl+j begins a new line, up and down go through earlier prompts, "
        "/ shows commands, @ completes files, ctrl+g opens your editor."
    )
    DEFAULT_CSS = """
    Prompt { height: auto; min-height: 3; max-height: 10; border: round $primary; padding: 0 1; }
    Prompt:focus { border: round $accent; }
    """

    class Sent(Message):
        """The person sent a text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Completed(Message):
        """Tab was pressed: the chosen completion is wanted."""

    class Moved(Message):
        """Up or down was pressed while a list of choices is open."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    def __init__(self) -> None:
        super().__init__(
            id="prompt",
            soft_wrap=True,
            tab_behavior="focus",
            show_line_numbers=False,
            placeholder=Content("Ask a question, or / for commands"),
            highlight_cursor_line=False,
        )
        self.past = PromptHistory()
        self.choosing = False
        self._pastes: dict[str, str] = {}

    async def _on_key(self, event: Key) -> None:
        """Carries out the prompt's own keys in the order in which they were typed among characters."""
        if event.is_printable:
            return
        active = self.screen.active_bindings.get(event.key)
        if active is not None and active.node is self and active.binding.action in IMMEDIATE:
            event.stop()
            event.prevent_default()
            await self.run_action(active.binding.action)

    def whole_text(self) -> str:
        """The text with folded pastes put back."""
        text = self.text
        for mark, paste in self._pastes.items():
            text = text.replace(mark, paste)
        return text

    def put(self, text: str) -> None:
        """Replaces the text; the cursor goes to its end."""
        self.text = text
        self.move_cursor(self.document.end)

    def action_submit(self) -> None:
        """Sends the text."""
        text = self.whole_text()
        if not text.strip():
            return
        self.past.add(self.text if not self._pastes else text)
        self._pastes.clear()
        self.clear()
        self.post_message(self.Sent(text))

    def action_newline(self) -> None:
        """A new line at the cursor."""
        self.insert("\n")

    def action_complete(self) -> None:
        """Takes the chosen completion, or goes to the next widget."""
        if self.choosing:
            self.post_message(self.Completed())
        else:
            self.screen.focus_next()

    def action_cursor_up(self, select: bool = False) -> None:
        """Up: in the list of choices, in the text, or back in history."""
        if self.choosing:
            self.post_message(self.Moved(-1))
        elif self.cursor_location[0] == 0 and not select:
            self._recall(self.past.back(self.text))
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """Down: as up."""
        if self.choosing:
            self.post_message(self.Moved(1))
        elif self.cursor_location[0] == self.document.line_count - 1 and not select:
            self._recall(self.past.forth())
        else:
            super().action_cursor_down(select)

    def action_editor(self) -> None:
        """Opens the text in the editor that ``VISUAL`` or ``EDITOR`` names."""
        command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
        if not command:
            self.notify("Set EDITOR to the editor you like, then press ctrl+g again.", severity="warning")
            return
        handle, name = tempfile.mkstemp(suffix=".md", prefix="prompt-")
        os.close(handle)
        path = Path(name)
        path.write_text(self.whole_text(), encoding="utf-8")
        try:
            from deepdelve.engine import facade

            with app_of(self).suspend():
                subprocess.run([*shlex.split(command), name], check=False, env=facade.child_environment())
            self._pastes.clear()
            self.put(path.read_text(encoding="utf-8", errors="replace").rstrip("\n"))
        except (OSError, ValueError) as error:
            self.notify(f"The editor did not start ({getattr(error, 'strerror', error)}).", severity="error", markup=False)
        finally:
            path.unlink(missing_ok=True)

    async def on_paste(self, event: Paste) -> None:
        """Folds a long paste into a mark; a short one is taken as it is."""
        event.stop()
        event.prevent_default()
        text = clean(event.text, len(event.text))
        if len(text) > PASTE_LIMIT:
            mark = f"[paste {len(self._pastes) + 1}: {len(text):,} characters]"
            self._pastes[mark] = text
            text = mark
        self.insert(text)

    def _recall(self, text: str | None) -> None:
        if text is not None:
            self.put(text)

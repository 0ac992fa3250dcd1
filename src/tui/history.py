"""The prompt's memory: what was typed before, in this session and across sessions."""

from collections.abc import Iterable


class PromptHistory:
    """Goes back and forth among earlier prompts; the unfinished one is kept at the end."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._place = 0
        self._draft = ""

    def __len__(self) -> int:
        return len(self._entries)

    def load(self, earlier: Iterable[str]) -> None:
        """Puts prompts of earlier sessions, oldest first, before those of this one."""
        self._entries = [*earlier, *self._entries]
        self._place = len(self._entries)

    def add(self, text: str) -> None:
        """Remembers a prompt; a repetition of the last one counts once."""
        if text.strip() and (not self._entries or self._entries[-1] != text):
            self._entries.append(text)
        self._place = len(self._entries)
        self._draft = ""

    def back(self, current: str) -> str | None:
        """The prompt before, or None at the oldest."""
        if self._place == len(self._entries):
            self._draft = current
        if not self._place:
            return None
        self._place -= 1
        return self._entries[self._place]

    def forth(self) -> str | None:
        """The prompt after, at last the unfinished one; None beyond it."""
        if self._place >= len(self._entries):
            return None
        self._place += 1
        return self._draft if self._place == len(self._entries) else self._entries[self._place]

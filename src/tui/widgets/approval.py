"""A question to the person in place: a tool call to allow, a plan to edit, or questions before the research begins."""

import time
from collections.abc import Callable
from typing import Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from deepdelve.core.events import Asked
from deepdelve.tui import keys
from deepdelve.tui.blocks import AskBlock
from deepdelve.tui.text import clean, one_line

GRACE_SECONDS = 0.5
MAX_QUESTIONS = 3
DECIDING = {"decide", "accept", "as_is", "skip"}


class Ask(Vertical):
    """Base of the cards. ``clock`` counts seconds; keys typed within the grace time go to the prompt, not to the card."""

    DEFAULT_CSS = """
    Ask { height: auto; border: heavy $warning; padding: 0 1; margin: 1 0; }
    Ask.-answered { border: round $panel; color: $text-muted; }
    Ask:focus-within { border: heavy $primary; }
    Ask > Static { height: auto; }
    Ask TextArea { height: 8; }
    """

    class Answered(Message):
        """The person answered."""

        def __init__(self, ask_id: str, answer: dict[str, Any]) -> None:
            super().__init__()
            self.ask_id = ask_id
            self.answer = answer

    class Closed(Message):
        """The card takes no more keys, and had them."""

    class TypedAhead(Message):
        """A key that was meant for the prompt."""

        def __init__(self, character: str) -> None:
            super().__init__()
            self.character = character

    def __init__(self, block: AskBlock, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(classes="block ask")
        self.block = block
        self.clock = clock
        self.shown_at = clock()

    def on_mount(self) -> None:
        """Takes the focus where an answer is wanted, and starts the grace time."""
        self.shown_at = self.clock()
        if self.block.answer is None:
            self.take_focus()
            # Its keys count from then on, and the last line of the screen tells them.
            self.set_timer(GRACE_SECONDS, self.refresh_bindings)
        else:
            self.close()

    def take_focus(self) -> None:
        """Focuses what is to be answered."""
        self.focus()

    async def show(self, block: AskBlock) -> None:
        """Shows a newer state; an answered card takes no keys."""
        self.block = block
        if block.answer is not None:
            self.close()

    def close(self) -> None:
        """The card as a record of what was asked and answered."""
        focused = self.screen.focused
        if focused is not None and (focused is self or self in focused.ancestors):
            self.post_message(self.Closed())
        self.add_class("-answered")
        self.can_focus = False
        for field in self.query("Input, TextArea"):
            field.disabled = True
        for line in self.query(".hint").results(Static):
            line.update(Content(f"→ {one_line(_said(self.block.answer or {}), 200)}"))

    def answer(self, answer: dict[str, Any]) -> None:
        """Sends the answer, once."""
        if self.block.answer is None and not self.has_class("-answered"):
            self.post_message(self.Answered(self.block.asked.ask_id, answer))

    @property
    def in_grace(self) -> bool:
        """Whether a key may have been typed before the card was seen."""
        return self.clock() - self.shown_at < GRACE_SECONDS

    def give_back(self, event: Key) -> None:
        """Within the grace time, a key goes to the prompt and nowhere else."""
        if self.in_grace:
            event.stop()
            event.prevent_default()
            if event.character and event.is_printable:
                self.post_message(self.TypedAhead(event.character))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """No decision within the grace time, nor after the first one."""
        return action not in DECIDING or not (self.in_grace or self.has_class("-answered"))


class Lines(TextArea):
    """The lines of a plan."""

    def _on_key(self, event: Key) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        _give_back(self, event)


class Field(Input):
    """One answer."""

    def _on_key(self, event: Key) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        _give_back(self, event)


def _give_back(field: Widget, event: Key) -> None:
    for card in field.ancestors:
        if isinstance(card, Ask):
            card.give_back(event)


class ToolApproval(Ask, can_focus=True):
    """Allow, deny, or allow always in this session."""

    BINDINGS: ClassVar[list[BindingType]] = keys.APPROVAL
    HELP = "An agent wants to use a tool. a allows it, d denies it, A allows it for the whole session."

    def compose(self) -> ComposeResult:
        """Tool, arguments, agent, keys."""
        asked = self.block.asked
        yield Static(Content.assemble(("May it do this? ", "bold"), clean(asked.text, 2_000)))
        for name, value in asked.options.items():
            yield Static(Content.assemble((f"{one_line(name, 40)}: ", "dim"), clean(str(value), 1_000)))
        yield Static(Content("a allow · d deny · A always in this session"), classes="hint")

    def on_key(self, event: Key) -> None:
        """Gives keys typed ahead back to the prompt."""
        self.give_back(event)

    def action_decide(self, decision: str) -> None:
        """Answers."""
        self.answer({"decision": decision})


class PlanApproval(Ask):
    """The plan as an editable list: one task a line, ``name | facet | instructions``."""

    BINDINGS: ClassVar[list[BindingType]] = keys.PLAN_APPROVAL
    HELP = "The plan, one task a line: name | facet | instructions. Edit the lines; ctrl+s starts, Esc starts with the plan as it was."

    def compose(self) -> ComposeResult:
        """The list."""
        yield Static(Content.assemble(("The plan. ", "bold"), clean(self.block.asked.text, 2_000)))
        yield Lines("\n".join(plan_lines(self.block.asked)), soft_wrap=True, show_line_numbers=True)
        yield Static(Content("One task a line: name | part of the question | what to find out"), classes="form")
        yield Static(Content("ctrl+s starts with this plan · Esc starts with the plan as it was"), classes="hint")

    def take_focus(self) -> None:
        """Into the list."""
        self.query_one(TextArea).focus()

    def action_accept(self) -> None:
        """Starts with what stands there; lines that were left alone give the plan's own items, whole."""
        items = edited_plan(self.block.asked, self.query_one(TextArea).text)
        if items:
            self.answer({"items": items})
        else:
            self.notify("The list is empty: write a task, or press Esc to start with the plan as it was.", severity="warning")

    def action_as_is(self) -> None:
        """Starts with the plan as it was."""
        self.answer({"items": []})


class Intake(Ask):
    """Up to three short questions before the research begins."""

    BINDINGS: ClassVar[list[BindingType]] = keys.INTAKE
    HELP = "Questions before the research begins. Enter goes on to the next, Esc starts without answers."

    def compose(self) -> ComposeResult:
        """The questions."""
        yield Static(Content.assemble(("Before it starts: ", "bold"), clean(self.block.asked.text, 2_000)))
        for question in self.questions():
            yield Static(Content(one_line(question)))
            yield Field(placeholder="your answer, or empty")
        yield Static(Content("Enter goes on · Esc starts without answers"), classes="hint")

    def questions(self) -> list[str]:
        """What is asked."""
        given = self.block.asked.options.get("questions")
        return (
            [str(item) for item in cast("list[object]", given)][:MAX_QUESTIONS]
            if isinstance(given, list) and given
            else ["Anything to add?"]
        )

    def take_focus(self) -> None:
        """Into the first answer."""
        self.query(Input).first().focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """On to the next question, or off."""
        event.stop()
        fields = list(self.query(Input))
        place = fields.index(event.input)
        if place + 1 < len(fields):
            fields[place + 1].focus()
        else:
            self.answer({"answers": [field.value for field in fields]})

    def action_skip(self) -> None:
        """Starts without answers."""
        self.answer({"answers": []})


def card(block: AskBlock) -> Ask:
    """The card that fits the question."""
    kinds: dict[str, type[Ask]] = {"tool": ToolApproval, "plan": PlanApproval, "intake": Intake}
    return kinds[block.asked.kind](block)


def plan_lines(asked: Asked) -> list[str]:
    """The plan's items as lines."""
    items = asked.options.get("items")
    if not isinstance(items, list):
        return []
    lines: list[str] = []
    for item in cast("list[object]", items):
        fields = cast("dict[str, object]", item) if isinstance(item, dict) else {"name": str(item)}
        parts = [one_line(str(fields.get(name, "")), 2_000).replace("|", "/") for name in ("name", "facet", "instructions")]
        lines.append(" | ".join(parts).rstrip(" |"))
    return lines


def edited_plan(asked: Asked, text: str) -> list[dict[str, str]]:
    """The plan as it stands in ``text``. A line is shown shortened and in one piece; one that was left alone means its whole item."""
    items = asked.options.get("items")
    given = cast("list[object]", items) if isinstance(items, list) else []
    whole = {line: cast("dict[str, str]", item) for line, item in zip(plan_lines(asked), given, strict=False) if isinstance(item, dict)}
    lines = [whole[line] if line in whole else next(iter(parse_plan(line)), None) for line in text.splitlines()]
    return [line for line in lines if line]


def parse_plan(text: str) -> list[dict[str, str]]:
    """Lines as the plan's items; empty lines are left out."""
    items: list[dict[str, str]] = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split("|", 2)]
        name, facet, instructions = [*parts, "", "", ""][:3]
        if name:
            items.append({"name": name, "facet": facet, "instructions": instructions})
    return items


def _said(answer: dict[str, Any]) -> str:
    """An answer in words."""
    if "decision" in answer:
        return {"allow": "allowed", "deny": "denied", "always": "allowed for this session"}.get(str(answer["decision"]), "answered")
    if answer.get("items"):
        return f"plan of {len(answer['items'])} lines accepted"
    if "items" in answer:
        return "plan accepted as it was"
    given = [str(item) for item in answer.get("answers", []) if str(item).strip()]
    return "; ".join(given) or "no answer"

"""The one loop: what of a turn is shown while it comes, what is taken back, and what is kept."""

from types import SimpleNamespace
from typing import Any

import pytest
from agent_framework import ChatResponseUpdate, Content

from deepdelve.core import events as ev
from deepdelve.engine import loop
from deepdelve.engine.gate import Dispatch
from deepdelve.engine.loop import run_agent_loop
from deepdelve.engine.surface import RunLoopSurface
from tests.support.llm_replies import Reply
from tests.support.llm_server import LlmServer
from tests.support.model_rules import steady_rules
from tests.support.model_runs import PROTOCOLS, run_on_server

THOUGHT = " ".join(f"thought{n}" for n in range(400))


class Stream:
    """Updates as an agent streams them."""

    def __init__(self, updates: list[ChatResponseUpdate]) -> None:
        self.updates = updates

    async def __aenter__(self) -> "Stream":
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def __aiter__(self):
        for update in self.updates:
            yield update


def piece(text: str, mode: Any = None) -> ChatResponseUpdate:
    update = ChatResponseUpdate(contents=[Content.from_text(text)] if text else [], role="assistant")
    update.merge_mode = mode
    return update


def called(name: str = "think") -> ChatResponseUpdate:
    return ChatResponseUpdate(contents=[Content.from_function_call("c1", name, arguments={})], role="assistant")


class Told:
    """Stands for a run: keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[ev.Event] = []

    def emit(self, event: ev.Event) -> None:
        self.events.append(event)

    async def room(self) -> None:
        return None


async def turns(*streams: list[ChatResponseUpdate], after: Any = None, max_turns: int = 5) -> tuple[str, list[ev.Event]]:
    """A loop over these turns. Returns its text and the events."""
    told, left = Told(), list(streams)

    async def ends(result: Any) -> str | None:
        return None

    agent: Any = SimpleNamespace(run=lambda messages, **given: Stream(left.pop(0)))
    surface = RunLoopSurface(told, Dispatch(id="D1", role="Searcher"), after or ends, max_turns)  # type: ignore[arg-type]
    text = await run_agent_loop(agent, SimpleNamespace(), "Begin.", surface)  # type: ignore[arg-type]
    return text, told.events


def live(events: list[ev.Event]) -> dict[str, str]:
    """What a surface that obeys the deltas shows of each dispatch at the end of each of its messages, joined."""
    shown: dict[str, str] = {}
    whole: dict[str, list[str]] = {}
    for event in events:
        if isinstance(event, ev.TextDelta):
            shown[event.dispatch] = event.text if event.replace else shown.get(event.dispatch, "") + event.text
        elif isinstance(event, ev.Message) and event.role != "User":
            whole.setdefault(event.dispatch, []).append(shown.pop(event.dispatch, ""))
    return {dispatch: "\n".join(texts) for dispatch, texts in whole.items()}


def said(events: list[ev.Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, ev.Message) and event.role != "User"]


@pytest.fixture
def unbatched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "BATCH_SECONDS", 0.0)


async def test_what_is_shown_is_what_is_kept(unbatched: None) -> None:
    text, events = await turns([piece("One "), piece("two.")])
    assert text == "One two."
    assert said(events) == ["One two."]
    assert live(events) == {"D1": "One two."}


async def test_text_that_was_shown_and_was_thinking_is_taken_back(unbatched: None) -> None:
    text, events = await turns([piece("Let me "), piece("think."), piece("The answer", "replace"), piece(" is 3.")])
    assert text == "The answer is 3."
    assert live(events) == {"D1": "The answer is 3."}
    assert [event.replace for event in events if isinstance(event, ev.TextDelta)] == [False, False, True, False]


async def test_it_is_taken_back_at_once_and_where_nothing_stands_in_its_place(unbatched: None) -> None:
    _, events = await turns([piece("Let me think."), piece("", "replace"), called()])
    deltas = [event for event in events if isinstance(event, ev.TextDelta)]
    assert [(event.text, event.replace) for event in deltas] == [("Let me think.", False), ("", True)]
    assert said(events) == []


async def test_text_that_nobody_has_seen_needs_no_taking_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "BATCH_SECONDS", 60.0)
    _, events = await turns([piece("Let me think."), piece("The answer.", "replace")])
    assert [(e.text, e.replace) for e in events if isinstance(e, ev.TextDelta)] == [("The answer.", False)]


async def test_a_message_that_is_whole_is_not_taken_back_with_the_next_one(unbatched: None) -> None:
    _, events = await turns([piece("Kept."), called(), piece("Hm."), piece("Said.", "replace")])
    assert said(events) == ["Kept.", "Said."]
    assert live(events) == {"D1": "Kept.\nSaid."}


async def test_small_pieces_go_together_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "BATCH_SECONDS", 60.0)
    _, events = await turns([piece("word ") for _ in range(2_000)])
    deltas = [event for event in events if isinstance(event, ev.TextDelta)]
    assert len(deltas) == 5
    assert "".join(event.text for event in deltas) == "word " * 2_000 == said(events)[0]


async def test_the_turns_are_counted_and_the_last_text_is_the_answer() -> None:
    heard: list[str] = []

    async def goes_on(result: Any) -> str | None:
        heard.append(result.text)
        return "Go on."

    text, events = await turns([piece("first")], [called()], [piece("third")], after=goes_on, max_turns=3)
    assert (text, heard) == ("third", ["first", "", "third"])
    assert [e.text for e in events if isinstance(e, ev.Message) and e.role == "User"] == ["Begin.", "Go on.", "Go on."]


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_late_thinking_of_a_whole_run_leaves_no_surface_showing_it(protocol: str, tmp_path: Any, monkeypatch: Any) -> None:
    """A model that closes a thinking tag it never opened, over real sockets and slow enough to be shown."""
    monkeypatch.setattr(loop, "BATCH_SECONDS", 0.0)
    rules = dict(steady_rules())
    analyzer = rules["Analyzer"]
    late = iter(range(1))

    def thinks_aloud(seen: Any) -> Any:
        reply = analyzer(seen)
        text = reply if isinstance(reply, str) else reply.text
        if not text or next(late, None) is None:
            return reply
        return Reply(f"{THOUGHT}</think>{text}", piece=200, delay=0.012)

    rules["Analyzer"] = thinks_aloud
    with LlmServer(rules) as server:
        done = await run_on_server(server, protocol, tmp_path / "rivers")
    assert done.result.outcome == "verified"
    events = done.surface.events
    assert any("thought0" in e.text for e in events if isinstance(e, ev.TextDelta)), "it was shown before it was known"
    assert any(e.replace for e in events if isinstance(e, ev.TextDelta))
    shown = live(events)
    assert not [dispatch for dispatch, text in shown.items() if "thought" in text]
    for dispatch, text in shown.items():
        kept = [e.text for e in events if isinstance(e, ev.Message) and e.dispatch == dispatch and e.role != "User"]
        assert text == "\n".join(kept)

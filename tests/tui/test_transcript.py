"""The transcript: a window on many blocks, blocks that open, answers that stream."""

import pytest
from textual.widgets import Markdown, Static

from deepdelve.core import events as ev
from deepdelve.tui import blocks as bl
from deepdelve.tui.view import replay
from deepdelve.tui.view_state import ViewState
from deepdelve.tui.widgets.answer import Answer
from deepdelve.tui.widgets.notice import Notice
from deepdelve.tui.widgets.sub_agent import SubAgent
from deepdelve.tui.widgets.thinking import Thinking
from deepdelve.tui.widgets.tool_call import ToolCall, main_argument
from deepdelve.tui.widgets.transcript import KEEP, MOST, PAGE, PRUNE_AT, WINDOW, Transcript

from .fake_engine import QUESTION, FakeEngine
from .support import Driven, driven

RUN = "20260101_000001_aaaaaa"


def notices(number: int) -> list[ev.Event]:
    return [ev.RunStarted(run_id=RUN, question="Q?"), *[ev.Notice(text=f"notice {n}") for n in range(number)]]


def transcript(d: Driven) -> Transcript:
    return d.app.research.query_one(Transcript)


def texts(d: Driven) -> list[str]:
    return [
        widget.block.text for widget in transcript(d).widgets if isinstance(widget, Notice) and isinstance(widget.block, bl.NoticeBlock)
    ]


async def shown(d: Driven, events: list[ev.Event]) -> None:
    d.app.handler.replace(replay(events))
    await d.app.handler.flush()
    await d.pilot.pause(0)


async def test_a_long_transcript_opens_at_its_end() -> None:
    async with driven(size=(80, 24)) as d:
        await shown(d, notices(300))
        assert len(transcript(d).widgets) == WINDOW
        assert texts(d)[-1] == "notice 299"
        await d.until(lambda: transcript(d).is_vertical_scroll_end)


async def test_page_up_brings_earlier_blocks() -> None:
    async with driven(size=(80, 24)) as d:
        await shown(d, notices(300))
        transcript(d).focus()
        for _ in range(6):
            await d.pilot.press("pageup")
            await d.pilot.pause(0)
        assert len(transcript(d).widgets) >= WINDOW + PAGE
        first = transcript(d).first - 1
        assert first < 300 - WINDOW
        assert texts(d) == [f"notice {n}" for n in range(first, transcript(d).last - 1)]
        await d.pilot.press("end")
        await d.pilot.pause(0)
        assert transcript(d).is_vertical_scroll_end


async def test_another_transcript_may_begin_with_other_blocks_of_the_same_keys() -> None:
    async with driven() as d:
        d.app.handler.post(ev.TextDelta(role="Planner", text="half an answer"))
        await d.app.handler.flush()
        await shown(d, [ev.RunStarted(run_id="r", question="Q?"), *notices(300)])
        assert texts(d)[-1] == "notice 299"
        assert len(transcript(d).widgets) == WINDOW


async def test_all_earlier_blocks_can_be_reached() -> None:
    async with driven() as d:
        await shown(d, notices(45))
        for _ in range(12):
            transcript(d).scroll_home(animate=False)
            await transcript(d).action_older()
            await d.pilot.pause(0)
        assert transcript(d).first == 0
        assert texts(d)[0] == "notice 0"
        assert len(transcript(d).widgets) == MOST
        assert not transcript(d).query(".earlier")
        assert str(transcript(d).query_one(".newer", Static).content) == "↓ 6 newer blocks · page down, End"


async def test_page_down_brings_the_newest_back_and_what_came_meanwhile() -> None:
    async with driven(size=(80, 24)) as d:
        await shown(d, notices(120))
        for _ in range(12):
            transcript(d).scroll_home(animate=False)
            await transcript(d).action_older()
            await d.pilot.pause(0)
        assert transcript(d).last < 121
        d.app.handler.post(ev.Notice(text="meanwhile"))
        await d.app.handler.flush()
        assert texts(d)[-1] != "meanwhile"
        for _ in range(30):
            transcript(d).scroll_end(animate=False)
            await d.pilot.pause(0)
            await transcript(d).action_newer()
            await d.pilot.pause(0)
        assert texts(d)[-1] == "meanwhile"
        assert len(transcript(d).widgets) <= MOST
        assert not transcript(d).query(".newer")


async def test_end_goes_to_the_newest_from_anywhere() -> None:
    async with driven(size=(80, 24)) as d:
        await shown(d, notices(200))
        for _ in range(10):
            transcript(d).scroll_home(animate=False)
            await transcript(d).action_older()
            await d.pilot.pause(0)
        await transcript(d).action_newest()
        await d.pilot.pause(0)
        assert texts(d)[-1] == "notice 199"
        assert transcript(d).is_vertical_scroll_end


async def test_a_long_live_run_is_pruned() -> None:
    async with driven() as d:
        state = ViewState()
        await shown(d, notices(1))
        for start in range(0, PRUNE_AT + 60, 15):
            for n in range(start, start + 15):
                d.app.handler.post(ev.Notice(text=f"live {n}"))
            await d.app.handler.flush()
            await d.pilot.pause(0)
        assert KEEP <= len(transcript(d).widgets) <= PRUNE_AT
        assert texts(d)[-1] == f"live {start + 14}"
        assert state == ViewState()


async def test_another_run_replaces_the_transcript() -> None:
    async with driven() as d:
        await shown(d, notices(5))
        await shown(d, [ev.RunStarted(run_id="r2", question="Other?"), ev.Notice(text="only")])
        assert texts(d) == ["only"]


async def test_five_thousand_events_open_within_a_second() -> None:
    async with driven() as d:
        events: list[ev.Event] = [ev.RunStarted(run_id=RUN, question="Q?")]
        for n in range(1_000):
            events += [
                ev.DispatchStarted(dispatch=f"d{n}", role="Searcher", task=f"t{n}"),
                ev.ToolCalled(dispatch=f"d{n}", role="Searcher", call_id=f"c{n}", tool="web_search", args={"query": "q"}),
                ev.ToolReturned(dispatch=f"d{n}", call_id=f"c{n}", tool="web_search", text="hits"),
                ev.Message(dispatch=f"d{n}", role="Searcher", text="- found [S1]"),
                ev.DispatchEnded(dispatch=f"d{n}", role="Searcher"),
            ]
        await shown(d, events)
        assert len(transcript(d).widgets) == WINDOW


async def test_a_sub_agent_opens_to_its_calls_and_a_call_to_its_result() -> None:
    engine = FakeEngine()
    engine.saved(RUN)
    async with driven(engine) as d:
        await d.app.controller.show_run(RUN)
        await d.settle()
        searcher = d.app.research.query(SubAgent).first()
        assert not searcher.query(ToolCall)
        searcher.focus()
        await d.pilot.press("enter")
        assert [call.row.tool for call in searcher.query(ToolCall)] == ["web_search", "fetch_url_to_workspace", "web_search"]
        call = searcher.query(ToolCall).first()
        call.focus()
        await d.pilot.press("space")
        assert "2 hits" in str(call.query_one(".tool-text", Static).content)
        await d.pilot.press("space")
        assert not call.opened


async def test_an_open_sub_agent_follows_what_happens() -> None:
    async with driven() as d:
        d.app.handler.post(ev.DispatchStarted(dispatch="d", role="Searcher", task="t"))
        await d.app.handler.flush()
        agent = d.app.research.query_one(SubAgent)
        await agent.action_fold()
        d.app.handler.post(ev.ToolCalled(dispatch="d", role="Searcher", call_id="c", tool="web_search", args={"query": "q"}))
        await d.app.handler.flush()
        assert agent.query_one(ToolCall).row.state == "running"
        d.app.handler.post(ev.ToolReturned(dispatch="d", call_id="c", tool="web_search", text="t"))
        d.app.handler.post(ev.TextDelta(dispatch="d", role="Searcher", text="so it is"))
        await d.app.handler.flush()
        assert agent.query_one(ToolCall).row.state == "ok"
        assert "so it is" in str(agent.query_one(".said", Static).content)


async def test_streamed_thinking_leaves_the_screen_once_it_is_known_for_what_it_is() -> None:
    async with driven() as d:
        d.app.handler.post(ev.TextDelta(role="Planner", text="The user wants tides, so I think"))
        await d.app.handler.flush()
        answer = d.app.research.query(Answer).last()
        d.app.handler.post(ev.TextDelta(role="Planner", text="The answer", replace=True))
        d.app.handler.post(ev.TextDelta(role="Planner", text=" is known."))
        await d.app.handler.flush()
        await d.settle()
        assert answer.query_one(Markdown).source == "The answer is known."


async def test_a_failed_sub_agent_shows_its_reason_without_being_opened() -> None:
    async with driven() as d:
        d.app.handler.post(ev.DispatchStarted(dispatch="d", role="Searcher", task="t"))
        d.app.handler.post(ev.DispatchEnded(dispatch="d", role="Searcher", ok=False, reason="The server answered 500."))
        await d.settle()
        agent = d.app.research.query_one(SubAgent)
        assert "failed" in agent.header().plain
        assert [line.strip() for line in str(agent.render()).split("\n")][1:] == ["The server answered 500."]
        await agent.action_fold()
        assert str(agent.query_one(".always", Static).content) == "The server answered 500."


async def test_an_answer_streams_and_then_stands() -> None:
    async with driven() as d:
        d.app.handler.post(ev.TextDelta(role="Planner", text="It is **"))
        await d.app.handler.flush()
        answer = d.app.research.query_one(Answer)
        assert answer.query(Markdown)
        d.app.handler.post(ev.TextDelta(role="Planner", text="so**."))
        await d.app.handler.flush()
        await d.pilot.pause(0.05)
        assert answer.query_one(Markdown).source == "It is **so**."
        d.app.handler.post(ev.Message(role="Planner", text="It is **so**."))
        await d.app.handler.flush()
        assert not answer.query(Markdown)
        assert answer.query(Static)


async def test_twenty_thousand_characters_in_small_pieces_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven() as d:
        drawn: list[int] = []
        plain = d.app.handler._show

        async def counted(old: ViewState, new: ViewState) -> None:
            drawn.append(1)
            await plain(old, new)

        monkeypatch.setattr(d.app.handler, "_show", counted)
        for _ in range(5_000):
            d.app.handler.post(ev.TextDelta(role="Planner", text="word"))
        await d.app.handler.flush()
        d.app.handler.post(ev.Message(role="Planner", text="word" * 5_000))
        await d.app.handler.flush()
        assert len(drawn) <= 2
        assert "word" * 5_000 in d.app.handler.state.blocks[-1].text


async def test_thinking_is_folded_and_opens() -> None:
    async with driven() as d:
        d.app.handler.post(ev.ThinkingDelta(role="Planner", text="one two"))
        await d.app.handler.flush()
        thinking = d.app.research.query_one(Thinking)
        assert thinking.header().plain == "thinking … 2 words"
        await thinking.action_fold()
        assert str(thinking.query_one(".thought", Static).content) == "one two"


async def test_blocks_are_copied_with_y(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven() as d:
        copied: list[str] = []
        monkeypatch.setattr(d.app, "copy_to_clipboard", copied.append)
        d.app.handler.post(ev.Message(role="Planner", text="an answer"))
        d.app.handler.post(ev.ThinkingDelta(role="Planner", text="a thought"))
        await d.app.handler.flush()
        for kind in (Answer, Thinking):
            d.app.research.query_one(kind).focus()
            await d.pilot.press("y")
        assert copied == ["an answer", "a thought"]


async def test_scrolled_up_the_reader_is_left_in_peace() -> None:
    async with driven(size=(80, 24)) as d:
        await shown(d, notices(60))
        transcript(d).focus()
        await d.pilot.press("up", "up", "up")
        await d.pilot.pause(0)
        before = transcript(d).scroll_y
        d.app.handler.post(ev.Notice(text="new"))
        await d.app.handler.flush()
        await d.pilot.pause(0)
        assert transcript(d).scroll_y == before


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ({"query": "heat"}, "heat"),
        ({"url": "https://x"}, "https://x"),
        ({"tasks": [1, 2]}, "2 tasks"),
        ({"items": [1]}, "1 item"),
        ({"other": 1}, ""),
    ],
)
def test_the_argument_that_says_most(args: dict[str, object], told: str) -> None:
    assert main_argument(bl.ToolRow("c", "t", args)) == told


async def test_one_block_that_cannot_be_drawn_does_not_end_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    async with driven() as d:
        said: list[str] = []
        monkeypatch.setattr(d.app, "notify", lambda text, **options: said.append(text))

        async def broken(self: Transcript, blocks: object) -> None:
            raise RuntimeError("[/]")

        with monkeypatch.context() as patch:
            patch.setattr(Transcript, "show", broken)
            d.app.handler.post(ev.Notice(text="n"))
            await d.app.handler.flush()
        assert said == ["Something could not be shown (RuntimeError). The run goes on."]
        await d.say(QUESTION)
        await d.finished()
        assert d.app.controller.state.outcome == "verified"

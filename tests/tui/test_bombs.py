"""Whatever text comes from a model, page, tool, file name or error, every widget shows it as text."""

import pytest

from deepdelve.core import events as ev
from deepdelve.core.records import Claim, ClaimCounts, Passage, PlanItem, Source, Task, Usage
from deepdelve.engine.backends.doctor import Finding
from deepdelve.tui.widgets.sidebar import TABS

from .fake_engine import FakeEngine
from .support import Driven, driven

BOMBS = {
    "closing": "[/] [/b] [/red]",
    "link": "[link] [link=https://evil.example]x[/link] [@click=app.quit]quit[/]",
    "open": "[bold red on blue [[ ]] [",
    "dollar": "$text-error $primary {x} %s {0}",
    "ansi": "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \x1b[2J\x1b[H",
    "nul": "a\x00b\x07\x08\x7f",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🇳🇴 e\u0301\u0301\u0301 \u200b",
    "rtl": "\u202eevil\u202c مرحبا بالعالم שלום",
    "wide": "深度研究レポート " * 20,
    "surrogate": "\ud83d lone",
    "long_line": "x" * 1_000_000,
    "many_lines": "line\n" * 20_000,
    "markdown": "# [/]\n\n```\n[/]\n\n| a | [/] |\n|---|\n| **[link]** `[/b]`\n\n<script>x</script> [a]( [b](c) ![i](j)\n\n> > > -",
    "deep": "[" * 3_000 + "*" * 3_000 + "`" * 3_000 + ">" * 300,
}
TOGETHER = {
    "markup": ["closing", "link", "open", "dollar"],
    "control": ["ansi", "nul", "surrogate"],
    "scripts": ["emoji", "rtl", "wide"],
    "long_line": ["long_line"],
    "many_lines": ["many_lines"],
    "markdown": ["markdown"],
    "deep": ["deep"],
}


def scripted(bomb: str, run_id: str = "r1") -> list[ev.Event]:
    """A run whose every outside text is the bomb."""
    source = Source(id="S1", url=f"https://example.org/{bomb[:50]}", title=bomb, file="sources/S1.md", reason=bomb, author=bomb)
    shut = Source(id="S2", url=bomb, title="", state="blocked", reason=bomb)
    return [
        ev.RunStarted(run_id=run_id, question=bomb, backend=bomb, model=bomb),
        ev.StageChanged(stage="searching"),
        ev.PlanWritten(items=(PlanItem(name=bomb, facet=bomb),)),
        ev.TaskChanged(task=Task(name=bomb, facet=bomb, state="failed", reason=bomb)),
        ev.ThinkingDelta(role="Planner", text=bomb),
        ev.TextDelta(role="Planner", text=bomb[:30_000]),
        ev.ToolCalled(role="Planner", call_id="t1", tool=bomb[:100], args={"query": bomb[:100_000], bomb[:20]: [bomb[:50]]}),
        ev.ToolReturned(call_id="t1", tool=bomb[:100], text=bomb),
        ev.DispatchStarted(dispatch="d1", role="Searcher", task=bomb, profile=bomb),
        ev.ToolCalled(dispatch="d1", role="Searcher", call_id="t2", tool="web_search", args={"query": bomb[:1_000]}),
        ev.ToolRefused(dispatch="d1", role="Searcher", call_id="t2", tool="web_search", rule=bomb[:1_000], reason=bomb),
        ev.ThinkingDelta(dispatch="d1", role="Searcher", text=bomb),
        ev.TextDelta(dispatch="d1", role="Searcher", text=bomb),
        ev.SourceAdded(source=source),
        ev.SourceAdded(source=shut),
        ev.DispatchEnded(dispatch="d1", role="Searcher", ok=False, reason=bomb),
        ev.Notice(level="error", text=bomb),
        ev.Steered(text=bomb),
        ev.UsageReported(role="Searcher", model=bomb, usage=Usage(tokens_in=10, tokens_out=1, seconds=1)),
        ev.CheckVerdict(attempt=1, problem=bomb[:1_000], active=(bomb[:500],), remedy=bomb[:1_000], detail=bomb),
        ev.ReportDelivered(file="final_report.md", citations=("S1",), claims=ClaimCounts(supported=1)),
        ev.RunEnded(outcome="unverified", exit=3, reason=bomb, problems=(bomb, bomb)),
    ]


class BombEngine(FakeEngine):
    """Everything it gives back is the bomb."""

    def __init__(self, bomb: str) -> None:
        super().__init__(lambda run_id, question, session: scripted(bomb, run_id))
        self.bomb = bomb
        self.report = f"# {bomb}\n\n{bomb} [1]\n\n- {bomb}\n\n| {bomb} | x |\n|---|---|\n\n> {bomb}\n"
        self.rows = [Finding(bomb, False, bomb, bomb)]

    def claims(self, run_id: str) -> list[Claim]:
        passage = Passage(source_id="S1", start=0, end=min(len(self.bomb), 50), quote=self.bomb[:50])
        text = self.bomb[:2_000]
        return [
            Claim(id="c1", text=text, citations=("S1",), status="supported", passage=passage, reason=text),
            Claim(id="c2", text=text, citations=("S2", self.bomb[:10]), status="unsupported", reason=text),
        ]

    def sources(self, run_id: str) -> list[Source]:
        return [event.source for event in scripted(self.bomb) if isinstance(event, ev.SourceAdded)]

    def source_text(self, run_id: str, source_id: str) -> str:
        return self.bomb if source_id == "S1" else ""


async def open_every_block(d: Driven) -> None:
    for widget in d.app.research.query(".block"):
        fold = getattr(widget, "action_fold", None)
        if fold is not None:
            await fold()
    await d.settle()


async def visit(d: Driven) -> None:
    """Goes through every screen and tab."""
    for tab in TABS:
        d.app.research.action_tab(tab)
        await d.settle()
    await open_every_block(d)
    for command in ("/report", "/runs", "/sessions", "/doctor", "/help"):
        await d.say(command)
        await d.settle()
        if command == "/report":
            for key in ("n", "n", "u", "right", "s", "escape", "c", "escape", "g", "escape"):
                await d.pilot.press(key)
                await d.settle()
        if d.app.screen is not d.app.research:
            await d.pilot.press("escape")
            await d.settle()
    d.app.open_screen("source", run_id=d.app.controller.state.run_id, source_id="S1")
    await d.settle()
    await d.pilot.press("escape")


@pytest.mark.parametrize("name", TOGETHER)
async def test_every_widget_shows_it_as_text(name: str) -> None:
    bomb = " ".join(BOMBS[part] for part in TOGETHER[name])
    shown: list[str] = []
    async with driven(BombEngine(bomb), size=(120, 40)) as d:
        d.app.notify = lambda message, **options: shown.append(message)  # type: ignore[method-assign]
        await d.app.controller.submit("A question?")
        await d.finished()
        await d.until(lambda: d.app.screen is not d.app.research)
        await d.pilot.press("escape")
        await visit(d)
        assert d.app.is_running
        assert not [text for text in shown if "could not be shown" in text]
        assert not [text for text in d.notices if text.startswith("That did not work")]


@pytest.mark.parametrize("name", ["closing", "link", "ansi", "rtl", "emoji"])
async def test_what_a_person_types_may_be_anything(name: str) -> None:
    async with driven() as d:
        await d.say(BOMBS[name])
        await d.finished()
        assert d.engine.requests[0].question == BOMBS[name]
        await d.pilot.press("escape")
        await d.say("/" + BOMBS[name])
        assert any("There is no command" in text for text in d.notices)


async def test_an_error_text_may_be_anything() -> None:
    engine = FakeEngine()
    engine.wait_error = ValueError(BOMBS["link"] + BOMBS["ansi"])
    async with driven(engine) as d:
        await d.say("Q?")
        await d.finished()
        assert any("[link]" in text for text in d.notices)

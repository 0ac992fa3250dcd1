"""What the app shows of the past: the search, earlier prompts, and where a record leads."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

from textual.app import App
from textual.content import Content

from deepdelve.tui.controller import Controller
from deepdelve.tui.port import AppPort
from deepdelve.tui.text import clean

if TYPE_CHECKING:
    from deepdelve.engine import facade
    from deepdelve.tui.screens.history import Wanted

RECALLED = 20_000
_TEXT_LIMIT = 200_000


class Past:
    """Opens the screens of the history, each when it is first wanted."""

    def __init__(self, app: App[Any], controller: Controller, port: AppPort, put: Callable[[str], None]) -> None:
        self.app = app
        self.controller = controller
        self.port = port
        self.put = put
        self.last: Wanted | None = None
        self.openers: dict[str, Callable[..., Awaitable[None]]] = {"search": self.search, "recall": self.recall, "ref": self.ref}

    async def search(self, terms: str = "", rung: str = "prompt", conversations: int = 0) -> None:
        """The search; without terms those of the last one."""
        from deepdelve.tui.screens.history import SearchScreen, Wanted

        engine = await self._engine()
        chosen = terms or (self.last.terms if self.last is not None else "")
        wanted = Wanted(chosen, cast(Any, rung), conversations)
        if isinstance(self.app.screen, SearchScreen):
            self.app.screen.dismiss()

        def start(options: dict[str, Any], control: Any) -> Any:
            return engine.stream_history(options, self.controller.settings, control)

        def open_ref(ref: str) -> None:
            self.port.open_screen("ref", ref=ref)

        self.app.push_screen(SearchScreen(wanted, start, engine.search_control, open_ref, self._remember))

    async def recall(self) -> None:
        """Earlier prompts; the chosen one goes into the prompt."""
        from deepdelve.tui.screens.recall import RecallScreen

        engine = await self._engine()
        state = self.controller.state
        screen = RecallScreen(self.controller.session_id, state.run_id)

        def taken(text: str | None) -> None:
            if text:
                self.put(text)

        await self.app.push_screen(screen, taken)
        options = {"terms": "", "surface": "tui", "allow_empty": True, "limit": RECALLED}
        found = await self.controller.call(engine.search_history, options, self.controller.settings)
        if screen.is_attached:
            screen.load(found.records, "\n".join(note.message for note in found.summary.diagnostics))

    async def ref(self, ref: str) -> None:
        """Where a record leads: its claim in the report, the passage in the page, or the text itself."""
        engine = await self._engine()
        jump = await self.controller.call(engine.open_ref, ref, self.controller.settings)
        if jump.record.kind == "report":
            self.port.open_screen("report", run_id=jump.record.run_id, claim_id=jump.claim_id)
        elif jump.passage is not None:
            self.port.open_screen("text", heading=f"{jump.passage.title} · {jump.passage.url}", text=passage_text(jump))
        else:
            record = jump.record
            where = f" · /resume {record.session_id} opens the session" if record.session_id else ""
            self.port.open_screen("text", heading=f"{record.kind}{where}", text=Content(clean(record.text, _TEXT_LIMIT)))

    async def _engine(self) -> Any:
        """The engine, whose history functions came later than the protocol of the app's first screens."""
        return cast(Any, await self.controller.engine())

    def _remember(self, wanted: "Wanted") -> None:
        self.last = wanted


def passage_text(jump: "facade.Jump") -> Content:
    """A finding, and its passage lit up among what stands around it."""
    passage = jump.passage
    if passage is None:
        return Content(clean(jump.record.text, _TEXT_LIMIT))
    head = f"{jump.finding_id}: {clean(jump.finding)}\n\n" if jump.finding_id else ""
    lit = (clean(passage.text), "reverse bold")
    return Content.assemble((head, "bold"), clean(passage.before), lit, clean(passage.after))

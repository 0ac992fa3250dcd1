"""What a run works with: settings, backends, search, fetch, verifier, and the person behind the surface."""

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.requests import Surface
from deepdelve.engine.ablation import Ablation, Pass, ablation_of
from deepdelve.engine.backends.base import ChatFactory
from deepdelve.engine.gate import Call
from deepdelve.engine.outage import Outage
from deepdelve.engine.run import Run
from deepdelve.tools.search.base import SearchBackend
from deepdelve.tools.web.base import Fetcher

_APPROVAL = "A person denied this call. Do without it, or ask for something else."


@dataclass
class Services:
    """Everything that the engine of one run needs from outside.

    Attributes:
        backend: where answers come from.
        always: tools that the person allowed for the rest of the session.
    """

    settings: Settings
    run: Run
    backend: ChatFactory
    search: SearchBackend
    fetcher: Fetcher
    surface: Surface
    auto_approve: bool = False
    always: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.outage = Outage(self.run)
        self._asking = asyncio.Lock()

    @cached_property
    def ablation(self) -> Ablation:
        """What the settings switch off."""
        return ablation_of(self.settings.settings.ablation)

    @property
    def asks_first(self) -> bool:
        """Whether a person is there to answer questions before research begins."""
        return not self.auto_approve and bool(getattr(self.surface, "takes_questions", False))

    def runs(self, name: Pass) -> bool:
        """Whether a pass is carried out, or switched off."""
        return name not in self.ablation.passes

    async def approve(self, call: Call) -> str:
        """Ask the person about a tool call where the policy says so, one question at a time. Returns a refusal, or an empty string."""
        policy = self.settings.settings.approvals.get(call.tool, "allow")
        if policy == "deny":
            return f"{call.tool} is denied by the settings. Do without it."
        if policy == "allow" or self.auto_approve or call.tool in self.always:
            return ""
        async with self._asking:
            # The answer to an earlier question may hold for this call too.
            return "" if call.tool in self.always else await self._decided(call)

    async def _decided(self, call: Call) -> str:
        answer = await self.ask("tool", f"{call.dispatch.role} wants to call {call.tool}", {"tool": call.tool, "args": dict(call.args)})
        decision = str(answer.get("decision", "deny"))
        if decision == "always":
            self.always.add(call.tool)
        return "" if decision in {"allow", "always"} else _APPROVAL

    async def ask(self, kind: str, text: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the person; all clocks stand still meanwhile, and question and answer are journaled."""
        asked = ev.Asked(ask_id=secrets.token_hex(4), kind=kind, text=text, options=dict(options))  # type: ignore[arg-type]  # checked by the model
        self.run.emit(asked)
        async with self.run.clock.human_waiting():
            answer = await self.surface.ask(asked)
        self.run.emit(ev.Answered(ask_id=asked.ask_id, answer=answer))
        return answer

    async def close(self) -> None:
        """Let go of connections."""
        await self.backend.close()
        await self.search.close()
        await self.fetcher.close()

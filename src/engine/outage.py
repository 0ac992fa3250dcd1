"""A model server that goes away in the middle of a run: the run waits for it a while, as one, before dispatches fail."""

import asyncio
from dataclasses import dataclass, field

from deepdelve.core.records import Role
from deepdelve.engine.run import Run

# Seconds between tries: a minute and a half in all, enough for a server that is started again.
WAITS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 30.0)
MAX_OUTAGES = 3


@dataclass
class Outage:
    """The outages of one run in this process. A server that never answered is not waited for.

    An outage lasts until one of the roles that wait is answered: roles may have servers of their own, and what another one
    answers says nothing about theirs.
    """

    run: Run
    _tries: int = 0
    _count: int = 0
    _sleeping: "asyncio.Task[None] | None" = None
    # What each waiting role had been answered when it began to wait, and all roles together when the waits were used up.
    _waiting: dict[Role, int] = field(default_factory=dict[Role, int])
    _gave_up_at: int | None = None

    def __post_init__(self) -> None:
        self._start = self._answered()

    async def wait(self, role: Role) -> bool:
        """Wait until the next try is due; whoever fails meanwhile waits along. False where waiting has no sense any more."""
        if self._sleeping is not None and not self._sleeping.done():
            self._waiting.setdefault(role, self._answered(role))
            await asyncio.shield(self._sleeping)
            return True
        if self._is_new():
            if self._count >= MAX_OUTAGES or self._answered() <= self._start:
                return False
            self._tries, self._count, self._waiting, self._gave_up_at = 0, self._count + 1, {}, None
            text = f"The model server does not answer any more. The run waits for it, up to {sum(WAITS):.0f} seconds."
            self.run.notice(text, level="warning", code="server_gone")
        self._waiting.setdefault(role, self._answered(role))
        if self._tries >= len(WAITS):
            self._gave_up_at = self._answered() if self._gave_up_at is None else self._gave_up_at
            return False
        self._sleeping = asyncio.create_task(asyncio.sleep(WAITS[self._tries]))
        self._tries += 1
        await asyncio.shield(self._sleeping)
        return True

    def _is_new(self) -> bool:
        """Whether this failure is not part of the outage before it."""
        if self._gave_up_at is not None:
            return self._answered() > self._gave_up_at
        return not self._waiting or any(self._answered(role) > before for role, before in self._waiting.items())

    def _answered(self, role: Role | None = None) -> int:
        """Tokens that a role, or all of them, got as answers: a call that reached nobody is counted as a call, but has none."""
        return sum(usage.tokens_out for name, usage in self.run.state.usage.items() if role in (None, name))

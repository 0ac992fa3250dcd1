"""What model calls cost, by role: journaled as events, summed by the state, priced by the settings."""

from collections.abc import Sequence
from typing import Any

from deepdelve.config import Price, Settings
from deepdelve.core import events as ev
from deepdelve.core.records import Role, Usage
from deepdelve.core.scope import current_scope
from deepdelve.engine.backends.base import Hooks
from deepdelve.engine.budget import RESEARCH_SHARE
from deepdelve.engine.gate import outside_rule
from deepdelve.engine.run import Run
from deepdelve.utils.run_state import RunState, UsageRow


class RunHooks:
    """The hooks through which backends report to a run. Backends are chosen before the run exists: ``bind`` joins them."""

    def __init__(self) -> None:
        self.run: Run | None = None
        self._alarmed: set[Role] = set()
        self.hooks = Hooks(
            on_usage=self.on_usage,
            on_thinking=self.on_thinking,
            on_notice=self.on_notice,
            on_refused=self.on_refused,
            time_left=self.time_left,
        )

    def bind(self, run: Run) -> None:
        """Report to this run from now on."""
        self.run = run

    def on_usage(self, role: Role, usage: Usage, truncated: bool) -> None:
        """Journal what a call cost; raise the alarm once a role where its context was cut."""
        run = self.run
        if run is None:
            return
        run.emit(ev.UsageReported(dispatch=_dispatch(), role=role, model=usage.model or run.state.model, usage=usage, truncated=truncated))
        if truncated and role not in self._alarmed:
            self._alarmed.add(role)
            run.notice(
                f"The server cut the context of {role}: fewer tokens were evaluated than sent. Raise num_ctx, or the server's limit.",
                level="warning",
                code="context_cut",
            )
        if run.budget.tokens and run.tokens_spent() >= run.budget.tokens * RESEARCH_SHARE and not run.research_closed:
            run.research_closed = "research has used its share of the token budget"
            run.notice(f"Research ends: {run.research_closed} (settings.max_tokens).", level="warning", code="token_budget")

    def on_thinking(self, role: Role, text: str) -> None:
        """Show thinking; it is never kept."""
        if self.run is not None:
            self.run.emit(ev.ThinkingDelta(dispatch=_dispatch(), role=role, text=text))

    def on_notice(self, role: Role, text: str) -> None:
        """Say what a backend wants a person to know."""
        if self.run is not None:
            self.run.emit(ev.Notice(dispatch=_dispatch(), text=f"{role}: {text}", code="backend"))

    def on_refused(self, role: Role, tool: str, reason: str) -> None:
        """Journal a call that never reached the gate, since it fits no tool of the role."""
        if self.run is not None:
            rule = outside_rule(self.run, tool)
            self.run.emit(ev.ToolRefused(dispatch=_dispatch(), role=role, call_id="", tool=tool, rule=rule, reason=reason))

    def time_left(self) -> float | None:
        """Seconds that a model call may take: those of one dispatch, within what the run has left."""
        return min(self.run.clock.remaining(), self.run.budget.dispatch_seconds) if self.run is not None else None


def summary(state: RunState, settings: Settings | None = None) -> dict[str, Any]:
    """Usage for people and ``--json``: totals, and a row for each role, step and model.

    ``cost`` stands where the settings know a price; ``unpriced`` names the models whose part it lacks.
    """
    total: dict[str, Any] = {
        "calls": sum(u.calls for u in state.usage.values()),
        "tokens_in": sum(u.tokens_in for u in state.usage.values()),
        "tokens_out": sum(u.tokens_out for u in state.usage.values()),
        "estimated": any(u.estimated for u in state.usage.values()),
    }
    roles, steps = ({name: _row(used) for name, used in group.items()} for group in (state.usage, state.usage_by_step))
    models = {name: _row(_summed(state.usage_rows, name)) for name in dict.fromkeys(row.model for row in state.usage_rows)}
    prices = settings.prices if settings is not None else {}
    if any(name in prices for name in models):
        for row in (total, *roles.values(), *steps.values(), *(models[name] for name in models if name in prices)):
            row["cost"] = 0.0
        for row in state.usage_rows:
            if row.model in prices:
                for told in (total, roles[row.role], steps[row.step], models[row.model]):
                    told["cost"] += _cost(row.used, prices[row.model])
        for row in (total, *roles.values(), *steps.values(), *models.values()):
            if "cost" in row:
                row["cost"] = round(row["cost"], 6)
        total["unpriced"] = [name for name in models if name not in prices]
    return {**total, "roles": roles, "steps": steps, "models": models}


def _cost(used: Usage, price: Price) -> float:
    return (used.tokens_in * price.input + used.tokens_out * price.output) / 1e6


def _summed(rows: Sequence[UsageRow], model: str) -> Usage:
    """Everything that one model has cost."""
    mine = [row.used for row in rows if row.model == model]
    return Usage(
        tokens_in=sum(used.tokens_in for used in mine),
        tokens_out=sum(used.tokens_out for used in mine),
        calls=sum(used.calls for used in mine),
        seconds=sum(used.seconds for used in mine),
        estimated=any(used.estimated for used in mine),
    )


def _row(used: Usage) -> dict[str, Any]:
    return used.model_dump(include={"tokens_in", "tokens_out", "calls", "seconds", "estimated"})


def _dispatch() -> str:
    try:
        return current_scope().dispatch.id
    except LookupError:
        return ""

"""A completion loop without agents: checks, schedule and table as they are, remedies as the test scripts them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from deepdelve.engine.completion.directives import StandingRequirements, render
from deepdelve.engine.completion.gaps import gap_sentence
from deepdelve.engine.completion.schedule import Decision, Firing, active_facts, choose, firings, force_rebuild
from deepdelve.engine.completion.table import by_problem, evaluate
from deepdelve.engine.completion.verdict import Verdict
from deepdelve.engine.task_ledger import acknowledge, recompute
from deepdelve.utils.run_state import Attempt, RunState
from tests.engine.completion.states import FINDINGS, REPORT, context_of, good_state

Script = Callable[["Play", Verdict], None]


@dataclass
class Play:
    """One process of a run. ``scripts`` maps remedy names to what the doubles do; a remedy without one does nothing."""

    state: RunState = field(default_factory=good_state)
    report: str = REPORT
    findings: str = FINDINGS
    scripts: dict[str, Script] = field(default_factory=dict[str, Script])
    attempts: int = 8
    threshold: int = 3
    more: dict[str, Any] = field(default_factory=dict[str, Any])
    history: list[Firing] = field(default_factory=list[Firing])
    remedies: list[str] = field(default_factory=list[str])
    rebuilds: list[bool] = field(default_factory=list[bool])
    directives: list[str] = field(default_factory=list[str])
    looks: int = 0

    @property
    def winners(self) -> list[str]:
        """The problems that won, in order."""
        return [firing.problem for firing in self.history]

    def run(self) -> Decision:
        """Look and mend until the schedule ends the run."""
        while True:
            decision = self.look()
            if decision.problem is None:
                return decision

    def look(self) -> Decision:
        """One look at the drafts, and the remedy for the problem that it chooses."""
        self.looks += 1
        assert self.looks <= self.attempts + 1, "the schedule did not end the run"
        self.state.task_ledger = recompute(self.state)
        context = context_of(self.state, self.report, self.findings, **self.more)
        verdicts = evaluate(context)
        facts = active_facts(verdicts, {"findings": self.findings, "final_report": self.report})
        decision = choose(self.history, facts, self.looks, self.attempts, self.threshold)
        if decision.problem is None:
            return decision
        spec = by_problem()[decision.problem]
        fired = firings((attempt.problem for attempt in self.state.attempts_log), spec.problem)
        remedy = spec.remedy_at(fired, self.state.evidence_only) or ""
        self.history.append(Firing(spec.problem, tuple(verdicts), facts[spec.problem]))
        self.state.attempts_log.append(Attempt(attempt=self.looks, problem=spec.problem, active=tuple(verdicts), remedy=remedy))
        self.remedies.append(remedy)
        self.rebuilds.append(force_rebuild(self.history, spec, self.threshold))
        self.directives.append(render(verdicts[spec.problem], "Builder", StandingRequirements(gaps=context.gaps)))
        self._mend(remedy, verdicts[spec.problem])
        return decision

    def _mend(self, remedy: str, verdict: Verdict) -> None:
        if remedy in self.scripts:
            self.scripts[remedy](self, verdict)
        elif remedy == "acknowledge_gap":
            self.state.task_ledger = acknowledge(recompute(self.state), verdict.facts.tasks)
        elif remedy == "gap_section":
            told = [gap_sentence(q) for gap in verdict.facts.gaps for q in (gap.questions or (gap.facet,))]
            self.report += "\n## Evidence gaps\n\n" + "\n\n".join(told) + "\n"


def writes(text: str) -> Script:
    """A writer that gives this report."""

    def script(play: Play, _: Verdict) -> None:
        play.report = text

    return script


def gives(*texts: str) -> Script:
    """A writer that gives these reports in turn, and the last one from then on."""
    left = list(texts)

    def script(play: Play, _: Verdict) -> None:
        play.report = left.pop(0) if len(left) > 1 else left[0]

    return script

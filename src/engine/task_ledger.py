"""Per-task verification and coverage, computed afresh from the state each time; only an acknowledged gap is carried over.

Evidence of a deeper dispatch counts for the top-level task that it worked for. Deeper tasks themselves are never counted
as tasks of coverage, so that a child that re-reads a page makes coverage look neither better nor worse.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from deepdelve.core.records import Task
from deepdelve.engine.evidence import evidence
from deepdelve.engine.subjects import names_more, same_task, subject_words
from deepdelve.utils.run_state import RunState

Status = Literal["verified", "flagged", "superseded"]
Entries = dict[str, dict[str, Any]]
# Tasks that may still bring evidence are neither verified nor flagged.
_OPEN = frozenset({"queued", "running"})


@dataclass(frozen=True, slots=True)
class Coverage:
    """Top-level tasks with and without evidence, superseded ones left out."""

    covered: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many tasks count."""
        return len(self.covered) + len(self.uncovered)

    @property
    def share(self) -> float:
        """Covered tasks by all, 0.0 to 1.0; 1.0 where there are none."""
        return len(self.covered) / self.total if self.total else 1.0


def recompute(state: RunState) -> Entries:
    """The verification entry of each top-level task that has ended.

    An entry holds ``status``, ``reason`` (why it is not verified), ``sources`` (ids that carry it), ``by`` (the task that
    supersedes it) and ``gap_acknowledged``, which stays true once it is.
    """
    sources = sources_by_task(state)
    asked = [task for task in state.top_tasks() if task.name in sources or not _without_subject(task)]
    tasks = [task for task in asked if task.state not in _OPEN]
    successors = _successors(asked, sources)
    entries: Entries = {}
    for task in tasks:
        own = sources.get(task.name, ())
        by = successors.get(task.name, "")
        status: Status = "verified" if own else "superseded" if by else "flagged"
        entries[task.name] = {
            "status": status,
            "reason": "" if status == "verified" else _reason(task, state),
            "sources": list(own),
            "by": by if status == "superseded" else "",
            "gap_acknowledged": bool(state.task_ledger.get(task.name, {}).get("gap_acknowledged", False)),
        }
    return entries


def acknowledge(entries: Mapping[str, Mapping[str, Any]], names: Iterable[str]) -> Entries:
    """The entries with the gaps of these tasks acknowledged: they are to be disclosed, not to be tried again."""
    given = set(names)
    return {name: {**entry, "gap_acknowledged": bool(entry.get("gap_acknowledged")) or name in given} for name, entry in entries.items()}


def coverage(state: RunState, entries: Mapping[str, Mapping[str, Any]] | None = None) -> Coverage:
    """Which top-level tasks have evidence. A dispatch that raised, was refused or timed out is a task without evidence.

    ``entries`` are those of ``recompute``, where the caller has them.
    """
    entries = recompute(state) if entries is None else entries
    ended = {name for name, entry in entries.items() if entry.get("status") in {"verified", "flagged"}}
    counted = [task.name for task in state.top_tasks() if task.name in ended or task.state in _OPEN]
    sources = sources_by_task(state)
    return Coverage(covered=tuple(n for n in counted if n in sources), uncovered=tuple(n for n in counted if n not in sources))


def sources_by_task(state: RunState) -> dict[str, tuple[str, ...]]:
    """Top-level task to the ids of the sources that carry its evidence, deeper findings included; only tasks with evidence."""
    found: dict[str, dict[str, None]] = {}
    for finding in evidence(state):
        found.setdefault(_top(finding.top_task or finding.task, state), {})[finding.source_id] = None
    return {name: tuple(ids) for name, ids in found.items()}


def _top(name: str, state: RunState) -> str:
    task = state.tasks.get(name)
    return task.top if task is not None and task.depth > 1 and task.top else name


def _successors(tasks: list[Task], sources: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Task without evidence to the task that stands for it now: the same one under another name, with evidence or given out later."""
    found: dict[str, str] = {}
    for index, task in enumerate(tasks):
        if task.name in sources:
            continue
        for later, other in enumerate(tasks):
            if later == index or (other.state == "refused" and other.name not in sources):
                continue
            newer = later > index or task.state == "refused"
            if (other.name in sources or newer) and same_task(task, other) and not names_more(task, other):
                found[task.name] = other.name
                break
    return found


def _without_subject(task: Task) -> bool:
    """Whether it was refused because it named nothing to be researched: then there is nothing that is missing."""
    return task.state == "refused" and not subject_words(f"{task.name} {task.instructions} {task.facet}")


def _reason(task: Task, state: RunState) -> str:
    if task.state in {"failed", "refused"}:
        return task.reason or task.state
    own = [f for f in state.findings.values() if f.kind == "claim" and _top(f.top_task or f.task, state) == task.name]
    kinds = dict.fromkeys(flag.kind for finding in own for flag in finding.flags)
    if own and kinds:
        return f"every finding is flagged: {', '.join(kinds)}"
    return "no citable source speaks of it"

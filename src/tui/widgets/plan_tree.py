"""The plan: its tasks with their state, the tasks under them, and how far each facet is covered."""

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from deepdelve.core.records import Task
from deepdelve.tui.text import TASK_SIGNS, one_line
from deepdelve.tui.view_state import ViewState, coverage


class PlanTree(VerticalScroll):
    """Shows plan and tasks."""

    def compose(self) -> list[Static]:
        """One text."""
        return [Static(Content("No plan yet."), classes="text", markup=False)]

    def show_state(self, old: ViewState, new: ViewState) -> None:
        """Draws anew where something changed."""
        if old.plan is not new.plan or old.tasks is not new.tasks:
            self.query_one(Static).update(plan_text(new))


def plan_text(state: ViewState) -> Content:
    """Plan, tasks and coverage as text."""
    lines: list[Content] = []
    planned = {item.name for item in state.plan}
    for item in state.plan:
        task = state.tasks.get(item.name)
        lines.append(_task_line(task, 0) if task else Content.assemble("○ ", one_line(item.name, 200), (" planned", "dim")))
        lines += _below(state, item.name)
    for task in state.tasks.values():
        if task.depth == 1 and task.name not in planned:
            lines += [_task_line(task, 0), *_below(state, task.name)]
    covered = coverage(state)
    if covered:
        lines += [Content(""), Content.assemble(("Coverage", "bold"))]
        lines += [
            Content(f"{'✓' if done == total else '○'} {one_line(facet, 80)}: {done} of {total}") for facet, (done, total) in covered.items()
        ]
    return Content("\n").join(lines) if lines else Content("No plan yet.")


def _below(state: ViewState, top: str) -> list[Content]:
    return [_task_line(task, task.depth - 1) for task in state.tasks.values() if task.depth > 1 and task.top == top]


def _task_line(task: Task, level: int) -> Content:
    reason = f": {one_line(task.reason, 120)}" if task.reason and task.state in {"failed", "refused"} else ""
    return Content.assemble("  " * level, f"{TASK_SIGNS[task.state]} ", one_line(task.name, 200), (f" {task.state}{reason}", "dim"))

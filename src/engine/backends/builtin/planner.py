"""The Planner: splits the question into facets and delegates each of them once."""

from deepdelve.engine.backends.builtin.briefs import question_of
from deepdelve.engine.backends.builtin.conversation import Call, Conversation, Turn, objects
from deepdelve.engine.backends.builtin.facets import Facet, split_question

TASK_NAME_CHARS = 100


def planner(conversation: Conversation) -> Turn:
    """Write the plan, delegate it, say what came of it."""
    facets = split_question(question_of(conversation.task))
    if not conversation.tried("write_plan") and conversation.may("write_plan"):
        items = [{"name": facet.name[:TASK_NAME_CHARS], "facet": facet.name, "instructions": facet.text} for facet in facets]
        return Turn((Call("write_plan", {"items": items}),))
    if not conversation.tried("delegate_tasks") and conversation.may("delegate_tasks"):
        return Turn((Call("delegate_tasks", {"tasks": [_task(facet) for facet in facets]}),))
    return Turn(text=_summary(conversation))


def _task(facet: Facet) -> dict[str, str]:
    return {"task_name": facet.name[:TASK_NAME_CHARS], "facet": facet.name, "instructions": facet.text, "profile": "web"}


def _summary(conversation: Conversation) -> str:
    rows = [row for call in conversation.done("delegate_tasks") for row in objects(call.head.get("tasks"))]
    found = [f"{row.get('task')}: {_claims(row.get('claims') or 0)}" for row in rows]
    return f"Research is done. {'; '.join(found)}." if found else "Nothing could be researched."


def _claims(number: object) -> str:
    return "1 claim" if number == 1 else f"{number} claims"

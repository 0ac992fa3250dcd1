"""Conversations for policies, as the engine would hold them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from deepdelve.engine.backends.builtin.conversation import Call, Conversation
from deepdelve.utils.fence import fence

NONCE = "0f0f0f0f"
_NAMES = """write_plan delegate_tasks web_search fetch_url_to_workspace read_workspace_file grep_workspace_file
write_workspace_file edit_workspace_file think"""
ALL_TOOLS = frozenset(_NAMES.split())


def conversation(
    *asked: str, calls: Sequence[Call] = (), since: int = 0, tools: frozenset[str] = ALL_TOOLS, form: str = ""
) -> Conversation:
    return Conversation(asked=asked, calls=tuple(calls), since=since, tools=tools, instructions=form)


def search(query: str, *hits: tuple[str, str, str]) -> Call:
    """A search that found (address, title, snippet)."""
    rows = [{"url": url, "title": title, "snippet": snippet} for url, title, snippet in hits]
    answer = {"outcome": "ok" if rows else "empty", "detail": "", "hits": rows}
    return Call("web_search", {"query": query}, fence(json.dumps(answer), NONCE))


def fetch(url: str, source_id: str, *, state: str = "ok", chars: int = 800, title: str = "") -> Call:
    head = {"source_id": source_id, "state": state, "reason": "", "chars": chars}
    return Call("fetch_url_to_workspace", {"url": url}, f"{json.dumps(head)}\n{fence(json.dumps({'title': title}), NONCE)}")


def read(name: str, text: str, *, first: int = 1, more: bool = False, **args: Any) -> Call:
    lines = text.count("\n") + 1
    head = {"name": name, "lines": lines * (3 if more else 1), "from": first, "to": first + lines - 1, "more": more}
    return Call("read_workspace_file", {"name": name, **args}, f"{json.dumps(head)}\n{fence(text, NONCE)}")


def grep(name: str, pattern: str, *rows: str) -> Call:
    body = fence("\n".join(rows), NONCE)
    return Call("grep_workspace_file", {"name": name, "pattern": pattern}, f"{json.dumps({'hits': len(rows)})}\n{body}")


def reading(sources: Sequence[str], *, claims: int, leads: Sequence[str] = (), state: str = "done") -> Call:
    """A delegation to an Analyzer that has been answered."""
    row: Mapping[str, Any] = {"task": "t", "state": state, "reason": "", "sources": list(sources), "claims": claims}
    led = [fence(json.dumps({"leads": [{"task": "t", "leads": list(leads)}]}), NONCE)] if leads else []
    tasks = [{"task_name": "t", "instructions": "i", "source_ids": list(sources)}]
    return Call("delegate_tasks", {"tasks": tasks}, "\n".join([json.dumps({"tasks": [row]}), *led]))


def refused(tool: str, **args: Any) -> Call:
    return Call(tool, args, "Refused: The run's 20 calls are used up. End with what you have.")


def search_brief(instructions: str, *, question: str = "", task: str = "the task") -> str:
    return f"Question of the whole run: {question or instructions.partition(chr(10))[0]}\nYour task: {task}\nInstructions: {instructions}"


def reading_brief(instructions: str, titles: Mapping[str, str]) -> str:
    listed = "\n".join(f"{source_id}: {title} (800 characters)" for source_id, title in titles.items())
    head = f"Question of the whole run: {instructions}\nYour task: t\nInstructions: {instructions}"
    return f"{head}\nSources to read: {', '.join(titles)}\n{fence(listed, NONCE)}"


def evidence_message(question: str, evidence: str, directive: str = "", draft: str = "") -> str:
    parts = [f"Question: {question}", directive, f"findings.md now:\n{fence(draft, NONCE)}" if draft else ""]
    return "\n\n".join([*filter(None, parts), f"The evidence:\n{fence(evidence, NONCE)}"])


def args_of(calls: Sequence[Call], name: str) -> list[Any]:
    return [call.args.get(name) for call in calls]

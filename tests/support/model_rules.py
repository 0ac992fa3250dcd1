"""Rules by which the fake model server plays each role well, over either protocol, also after a call that went wrong.

A rule looks at what its tools have answered so far, never at the number of its turn: a fault then costs it that turn only.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.support.llm_replies import Call, Reply, Rule, Seen

TASKS = (("river Alder", "How long is the river Alder?"), ("river Birch", "How long is the river Birch?"))


def answered(seen: Seen) -> list[tuple[str, str]]:
    """Tool calls that were answered with a result, as (tool, result), in order; refusals and errors left out."""
    asked = [call["function"]["name"] for message in seen.messages for call in message.get("tool_calls") or []]
    said = [words(message) for message in seen.messages if message.get("role") == "tool"]
    return [(name, text) for name, text in zip(asked, said, strict=False) if not text.startswith(("Error", "Refused"))]


def words(message: Mapping[str, Any]) -> str:
    """The text of a message as it stood on the wire."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(str(part.get("text") or "") for part in content)


def told(seen: Seen) -> str:
    """The first message of the user: all that the role knows."""
    return next(words(message) for message in seen.messages if message.get("role") == "user")


def planner(seen: Seen) -> Reply:
    """Plans and delegates the two rivers at once, then ends."""
    if any(tool == "delegate_tasks" for tool, _ in answered(seen)):
        return Reply("Both rivers were researched. Nothing is missing.")
    items = [{"name": name, "facet": name, "instructions": what} for name, what in TASKS]
    tasks = [{"task_name": name, "facet": name, "instructions": what} for name, what in TASKS]
    return Reply(calls=(Call("write_plan", {"items": items}), Call("delegate_tasks", {"tasks": tasks})))


def searcher(seen: Seen) -> Reply:
    """Searches its task's name, fetches the first hit, has it read, ends."""
    task = re.search(r"Your task: (.*)", told(seen)).group(1)
    done = dict(answered(seen))
    found = re.search(r'"url": "([^"]+)"', done.get("web_search", ""))
    if found is None:
        return Reply(calls=(Call("web_search", {"query": task}),))
    if "fetch_url_to_workspace" not in done:
        return Reply(calls=(Call("fetch_url_to_workspace", {"url": found.group(1)}),))
    if "delegate_tasks" not in done:
        return Reply(calls=(Call("delegate_tasks", {"tasks": [{"task_name": f"read for {task}", "instructions": task}]}),))
    return Reply(f"Found a source about {task}.")


def analyzer(seen: Seen) -> Reply:
    """Reads its sources, then quotes every sentence that holds a figure."""
    ids = re.search(r"Sources to read: (.*)", told(seen)).group(1).split(", ")
    texts = {json.loads(text.split("\n")[0])["name"]: text for tool, text in answered(seen) if tool == "read_workspace_file"}
    left = [source_id for source_id in ids if source_id not in texts]
    if left:
        return Reply(calls=tuple(Call("read_workspace_file", {"name": source_id}) for source_id in left))
    quoted = [(s, i) for i in ids for s in re.findall(r"[A-Z][^.\n]*\d[^.\n]*\.", texts[i])]
    return Reply("\n".join(f'- {sentence} [{source_id}] "{sentence}"' for sentence, source_id in quoted) or "They do not answer it.")


def findings_writer(seen: Seen) -> Reply:
    """Writes every claim of the evidence that it is shown."""
    if wrote(seen):
        return Reply("The findings are written.")
    claims, source_id = [], ""
    for line in told(seen).split("The evidence:")[-1].splitlines():
        source_id = next(iter(re.findall(r"\[(S\d+)\]", line)), source_id)
        found = re.match(r"\s*- (.*?)(?: \"|$)", line)
        if found:
            claims.append(f"- {found.group(1)} [{source_id}]")
    text = "## Findings\n\n" + "\n".join(claims) + "\n"
    return Reply(calls=(Call("write_workspace_file", {"name": "findings.md", "text": text}),))


def builder(seen: Seen) -> Reply:
    """Reads the findings and writes them as sentences under a title."""
    read = next((text for tool, text in answered(seen) if tool == "read_workspace_file"), None)
    if wrote(seen):
        return Reply("The report is written.")
    if read is None:
        return Reply(calls=(Call("read_workspace_file", {"name": "findings.md"}),))
    sentences = re.findall(r"- (.*?)\.? \[(S\d+)\]", read)
    body = "\n\n".join(f"{sentence} [{source_id}]." for sentence, source_id in sentences)
    text = f"# Two rivers\n\n## Findings\n\n{body}\n"
    return Reply(calls=(Call("write_workspace_file", {"name": "final_report.md", "text": text}),))


def reviewer(seen: Seen) -> Reply:
    """Reads the file and finds nothing to object to."""
    if any(tool == "read_workspace_file" for tool, _ in answered(seen)):
        return Reply(json.dumps({"ok": True, "issues": []}))
    name = re.search(r"Review the file (\S+)\.$", told(seen)).group(1)
    return Reply(calls=(Call("read_workspace_file", {"name": name}),))


def wrote(seen: Seen) -> bool:
    """Whether the role's artifact has been written."""
    return any(tool in {"write_workspace_file", "edit_workspace_file"} for tool, _ in answered(seen))


def steady_rules(**replaced: Rule) -> dict[str, Rule]:
    """Rules for all roles, some of them replaced."""
    rules: dict[str, Rule] = {
        "Planner": planner,
        "Searcher": searcher,
        "Analyzer": analyzer,
        "FindingsWriter": findings_writer,
        "Builder": builder,
        "PeerReviewer": reviewer,
    }
    return {**rules, **replaced}

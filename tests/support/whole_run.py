"""Whole runs in a test: a scripted model, a small corpus, and a surface that keeps every event."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_framework import Content, Message

from deepdelve.config import Settings
from deepdelve.core.events import Asked, Event
from deepdelve.core.records import Role
from deepdelve.core.requests import Command, RunRequest, RunResult
from deepdelve.engine import conduct, prepare, setup
from deepdelve.engine.run import Run
from tests.support.scripted import Rule, ScriptedFactory, call, text


@dataclass
class RecordingSurface:
    """Keeps every event; answers every question with ``answer``."""

    answer: dict[str, Any] = field(default_factory=lambda: {"decision": "allow"})
    events: list[Event] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def on_event(self, event: Event) -> None:
        self.events.append(event)

    async def ask(self, asked: Asked) -> dict[str, Any]:
        self.asked.append(asked)
        return self.answer

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@dataclass
class WholeRun:
    """A run that has ended."""

    result: RunResult
    run: Run
    surface: RecordingSurface
    factory: ScriptedFactory

    @property
    def report(self) -> str:
        return self.run.read_file("final_report.md")


def write_corpus(folder: Path, documents: Mapping[str, str]) -> Path:
    """Documents as Markdown files; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in documents.items():
        (folder / f"{name}.md").write_text(body, encoding="utf-8")
    return folder


RIVERS = {
    "Alder": "# The Alder\n\nThe Alder is a river in the north. The Alder is 212 kilometres long. Its source lies at 1,430 metres.\n",
    "Birch": "# The Birch\n\nThe Birch is a river in the south. The Birch is 98 kilometres long. It was dammed in 1931.\n",
}
RIVERS_QUESTION = "How long are the rivers Alder and Birch?"


@dataclass
class Going:
    """A run that goes on."""

    run: Run
    task: "asyncio.Task[RunResult]"
    factory: ScriptedFactory

    def stop(self) -> None:
        self.run.command(Command("stop"))


async def start_scripted(
    rules: Mapping[Role, Rule],
    corpus: Path | None,
    surface: RecordingSurface,
    *,
    question: str = RIVERS_QUESTION,
    settings: Settings | None = None,
    approve_all: bool = True,
    **request: Any,
) -> Going:
    """Start a whole run against a scripted model and a corpus. ``approve_all``: nobody is asked, as without a terminal."""
    made: list[ScriptedFactory] = []

    async def choose(chosen: Settings, hooks: Any) -> tuple[ScriptedFactory, str]:
        made.append(ScriptedFactory(dict(rules), hooks=hooks))
        return made[0], "scripted"

    asked = RunRequest(question=question, corpus=(str(corpus),) if corpus is not None else (), **request)
    prepared = await prepare.prepare(asked, settings or Settings(), choose)
    run = setup.new_run(asked, prepared, surface)
    ctx = setup.context_for(run, prepared, surface, auto_approve=approve_all)

    async def whole() -> RunResult:
        try:
            return await conduct.conduct(ctx)
        finally:
            await ctx.services.close()

    task = asyncio.get_running_loop().create_task(whole())
    run.bind(task)
    return Going(run, task, made[0])


async def run_scripted(rules: Mapping[Role, Rule], corpus: Path | None, **request: Any) -> WholeRun:
    """Run a whole run to its end."""
    surface = RecordingSurface()
    going = await start_scripted(rules, corpus, surface, **request)
    return WholeRun(await going.task, going.run, surface, going.factory)


async def start_evidence_only(rules: Mapping[Role, Rule], bundle: Path, **request: Any) -> WholeRun:
    """Run an evidence-only run to its end."""
    return await run_scripted(rules, None, evidence_dir=str(bundle), **request)


# Rules that do their job well: a test replaces the one that it is about.


def results(messages: Sequence[Message]) -> list[str]:
    """All tool results so far."""
    return [str(c.result) for m in messages for c in m.contents if c.type == "function_result"]


def said(messages: Sequence[Message]) -> str:
    """The first user message."""
    return next(m.text for m in messages if str(m.role) == "user")


def good_planner(*tasks: tuple[str, str]) -> Rule:
    """Plans and delegates these (name, instructions), then ends."""

    def rule(messages: list[Message], options: dict[str, Any]) -> list[Content]:
        if not results(messages):
            items = [{"name": n, "facet": n, "instructions": i} for n, i in tasks]
            return [
                call("write_plan", items=items),
                call("delegate_tasks", tasks=[{"task_name": n, "facet": n, "instructions": i} for n, i in tasks]),
            ]
        return text("Planned, delegated, done.")

    return rule


def good_searcher(messages: list[Message], options: dict[str, Any]) -> list[Content]:
    """Searches its task's name, fetches the first hit, has it read, ends."""
    found = results(messages)
    task = re.search(r"Your task: (.*)", said(messages)).group(1)
    if not found:
        return [call("web_search", query=task)]
    if len(found) == 1:
        hit = re.search(r'"url": "([^"]+)"', found[0])
        return [call("fetch_url_to_workspace", url=hit.group(1))] if hit else text("Nothing was found.")
    if len(found) == 2:
        return [call("delegate_tasks", tasks=[{"task_name": f"read for {task}", "instructions": task}])]
    return text(f"Found something about {task}.")


def good_analyzer(messages: list[Message], options: dict[str, Any]) -> list[Content]:
    """Reads each source, then quotes every sentence that holds a figure."""
    ids = re.search(r"Sources to read: (.*)", said(messages)).group(1).split(", ")
    found = results(messages)
    if not found:
        return [call("read_workspace_file", name=i) for i in ids]
    bullets = []
    for source_id, body in zip(ids, found, strict=True):
        for sentence in re.findall(r"[A-Z][^.\n]*\d[^.\n]*\.", body):
            bullets.append(f'- {sentence} [{source_id}] "{sentence}"')
    return text("\n".join(bullets) or "The sources do not answer the task.")


def good_findings_writer(messages: list[Message], options: dict[str, Any]) -> list[Content]:
    """Writes every claim of the evidence that it is shown."""
    if results(messages):
        return text("Written.")
    claims, source_id = [], ""
    for line in said(messages).split("The evidence:")[-1].splitlines():
        source_id = next(iter(re.findall(r"\[(S\d+)\]", line)), source_id)
        found = re.match(r"\s*- (.*?)(?: \"|$)", line)
        if found:
            claims.append(f"- {found.group(1)} [{source_id}]")
    body = "\n".join(claims)
    return [call("write_workspace_file", name="findings.md", text=f"## Findings\n\n{body}\n")]


def good_builder(messages: list[Message], options: dict[str, Any]) -> list[Content]:
    """Reads the findings and writes them as sentences under a title."""
    found = results(messages)
    if not found:
        return [call("read_workspace_file", name="findings.md")]
    if len(found) == 1:
        sentences = re.findall(r"- (.*?)\.? \[(S\d+)\]", found[0])
        body = "\n\n".join(f"{sentence} [{source_id}]." for sentence, source_id in sentences)
        return [call("write_workspace_file", name="final_report.md", text=f"# Report\n\n## Findings\n\n{body}\n")]
    return text("Written.")


def good_reviewer(messages: list[Message], options: dict[str, Any]) -> list[Content]:
    """Finds nothing to object to."""
    return text(json.dumps({"ok": True, "issues": []}))


def good_rules(**replaced: Rule) -> dict[Role, Rule]:
    """Rules for all roles, some of them replaced."""
    rules: dict[Role, Rule] = {
        "Planner": good_planner(("river Alder", "How long is the river Alder?"), ("river Birch", "How long is the river Birch?")),
        "Searcher": good_searcher,
        "Analyzer": good_analyzer,
        "FindingsWriter": good_findings_writer,
        "Builder": good_builder,
        "PeerReviewer": good_reviewer,
    }
    return {**rules, **replaced}

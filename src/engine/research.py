"""What a research task does beyond its agent: leftovers are read, a Searcher that never searched is helped by rule."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from deepdelve.core import events as ev
from deepdelve.core.records import Task
from deepdelve.engine.dispatch import Dispatcher, Request, Result
from deepdelve.engine.findings import Judge, findings_from, parse_analysis
from deepdelve.engine.gate import Dispatch
from deepdelve.engine.run import Run
from deepdelve.tools.intake import fetch_source
from deepdelve.tools.search.base import SearchQuery
from deepdelve.utils.fence import fence

# What code fetches for a Searcher that did not search at all.
RULE_FETCHES = 3
MAX_READ = 8


@dataclass(frozen=True)
class TaskAsk:
    """A task as asked for, after repair of its fields. ``directions`` are leads of earlier readings: outside text."""

    name: str
    instructions: str = ""
    facet: str = ""
    profile: str = ""
    source_ids: tuple[str, ...] = ()
    directions: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskOutcome:
    """What came of a task, for whoever asked."""

    name: str
    state: str
    reason: str = ""
    sources: tuple[str, ...] = ()
    claims: int = 0
    leads: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The row of the tool's answer, all of it the engine's own words; what the leads say comes from outside and stands apart."""
        row = {"task": self.name, "state": self.state, "reason": self.reason, "sources": list(self.sources)}
        return {**row, "claims": self.claims}


@dataclass
class Researcher:
    """Carries out research tasks of one run."""

    run: Run
    dispatcher: Dispatcher
    judge: Judge

    async def search_task(self, ask: TaskAsk, depth: int, parent: str) -> TaskOutcome:
        """A Searcher's task: dispatch it, read what it left unread, and sum up what the task has found in all."""
        task = Task(name=ask.name, top=ask.name, depth=depth, role="Searcher", instructions=ask.instructions, facet=ask.facet or ask.name)
        self._change(task, "running")
        before, known = set(self.run.state.findings), set(self.run.state.tasks)
        request = Request(
            role="Searcher",
            message=self._message(task, (), ask.directions),
            task=task.name,
            top_task=task.name,
            facet=task.facet,
            depth=depth,
            profile=ask.profile or "web",
            parent=parent,
        )
        result = await self.dispatcher.dispatch(request)
        if result.dispatch.used["web_search"] == 0 and not self._closed() and self.dispatcher.services.runs("rule_search"):
            await self._search_by_rule(task, result.dispatch)
        if self.dispatcher.services.runs("leftovers"):
            await self._read_leftovers(task, result.dispatch)
        return self._finish(task, result, before, self._broken_reading(task, known))

    async def read_task(self, ask: TaskAsk, caller: Dispatch) -> TaskOutcome:
        """An Analyzer's task: read the named sources and record what they say as findings."""
        source_ids = self._readable(ask.source_ids or tuple(caller.sources))
        task = Task(
            name=self._own_name(ask.name, caller.top_task),
            top=caller.top_task,
            depth=caller.depth + 1,
            role="Analyzer",
            instructions=ask.instructions,
            facet=caller.facet,
        )
        if not source_ids:
            self._change(task, "refused", "none of its sources can be read")
            return TaskOutcome(task.name, "refused", "none of its sources can be read; fetch others first")
        if all((task.top, source_id) in self.run.read_before for source_id in source_ids):
            return self._as_before(task, source_ids)
        self._change(task, "running")
        before = set(self.run.state.findings)
        request = Request(
            role="Analyzer",
            message=self._message(task, source_ids),
            task=task.name,
            top_task=task.top,
            facet=task.facet,
            depth=task.depth,
            profile="data" if ask.profile == "data" else "prose",
            parent=caller.id,
        )
        result = await self.dispatcher.dispatch(request)
        self.record(result, source_ids)
        caller.sources[:] = [source_id for source_id in caller.sources if source_id not in source_ids]
        return self._finish(task, result, before)

    def record(self, result: Result, source_ids: Sequence[str]) -> None:
        """Turn an Analyzer's text into findings, also that of one which broke off."""
        analysis = parse_analysis(result.text, source_ids)
        if analysis.capped:
            self.run.notice(
                f"A reply of {result.dispatch.role} was cut by {analysis.capped} characters.", level="warning", code="capped_reply"
            )
        texts = self.run.texts(analysis.claims)
        self.run.add_findings(findings_from(analysis, result.dispatch, self.run.state.sources, texts, self.judge))

    def _as_before(self, task: Task, source_ids: Sequence[str]) -> TaskOutcome:
        """What an earlier process of this run has read already is not read again."""
        found = [f for f in self.run.state.findings.values() if f.top_task == task.top and f.source_id in source_ids and not f.flags]
        claims = sum(len(f.claims) for f in found)
        return TaskOutcome(task.name, "done", "read before the interruption", tuple(dict.fromkeys(f.source_id for f in found)), claims)

    def _own_name(self, name: str, top: str) -> str:
        """Readings of different tasks often bear one name; each keeps its own record."""
        taken = self.run.state.tasks
        wanted = name if name not in taken else f"{top}: {name}"
        return wanted if wanted not in taken else f"{wanted} ({len(taken) + 1})"

    def _message(self, task: Task, source_ids: Sequence[str], directions: Sequence[str] = ()) -> str:
        parts = [f"Question of the whole run: {self.run.state.brief}", f"Your task: {task.name}"]
        if task.facet and task.facet != task.name:
            parts.append(f"Part of the question: {task.facet}")
        if task.instructions:
            parts.append(f"Instructions: {task.instructions}")
        if directions:
            parts.append(
                "Directions that earlier readings named; search for those that fit:\n" + fence("\n".join(directions), self.run.nonce)
            )
        if source_ids:
            parts.append("Sources to read: " + ", ".join(source_ids))
            titles = "\n".join(self._title(source_id) for source_id in source_ids)
            parts.append(fence(titles, self.run.nonce))
        return "\n".join(parts)

    def _title(self, source_id: str) -> str:
        source = self.run.state.sources[source_id]
        return f"{source_id}: {source.title or source.url} ({source.chars} characters)"

    def _readable(self, source_ids: Sequence[str]) -> list[str]:
        wanted = dict.fromkeys(source_id.strip().strip("[]").upper() for source_id in source_ids)
        found = [self.run.state.sources[i] for i in wanted if i in self.run.state.sources]
        return [s.id for s in found if s.citable and s.id not in self.run.state.dropped_sources][:MAX_READ]

    async def _read_leftovers(self, task: Task, searcher: Dispatch) -> None:
        """Sources that were fetched and that no Analyzer has read would be lost: they are read now."""
        left = self._readable(searcher.sources)
        if left:
            await self.read_task(TaskAsk(f"{task.name}: read what was fetched", task.instructions, task.facet, "", tuple(left)), searcher)

    async def _search_by_rule(self, task: Task, searcher: Dispatch) -> None:
        """One search with the task's own words, and its first hits fetched: a rule can do what the model did not."""
        run, services = self.run, self.dispatcher.services
        query = " ".join(f"{task.name} {task.instructions}".split())[:300]
        response = await services.search.search(SearchQuery(text=query, limit=services.settings.search.max_results))
        hits = list(response.hits)
        run.note_hits(hits)
        run.emit(
            ev.SearchDone(
                dispatch=searcher.id,
                query=query,
                backend=response.asked_of(services.search.name),
                outcome=response.outcome,
                urls=tuple(hit.url for hit in hits),
                detail=response.detail,
            )
        )
        for hit in hits[:RULE_FETCHES]:
            source = run.source_by_url(hit.url) or await fetch_source(run, services.fetcher, hit.url, origin="search")
            searcher.sources.append(source.id)

    def _closed(self) -> bool:
        return bool(self.run.research_closed or self.run.state.evidence_only)

    def _broken_reading(self, task: Task, known: set[str]) -> str:
        """Why a reading for this task failed, or an empty string: what nobody could read is not what nobody has found."""
        readings = (t for t in self.run.state.tasks.values() if t.top == task.name and t.name not in known and t.role == "Analyzer")
        return next((reading.reason for reading in readings if reading.state == "failed"), "")

    def _finish(self, task: Task, result: Result, before: set[str], broken: str = "") -> TaskOutcome:
        new = [f for f in self.run.state.findings.values() if f.id not in before and f.top_task == task.top]
        claims = [f for f in new if f.kind == "claim" and not f.flags]
        sources = tuple(dict.fromkeys(f.source_id for f in claims if f.source_id))
        leads = tuple(dict.fromkeys(f.summary for f in new if f.kind == "lead"))
        state = "done" if claims or (result.ok and not broken) else "failed"
        reason = broken if result.ok else result.reason
        self._change(self.run.state.tasks[task.name], state, reason)
        return TaskOutcome(task.name, state, reason, sources, sum(len(f.claims) for f in claims), leads)

    def _change(self, task: Task, state: str, reason: str = "") -> None:
        now = round(time.time(), 3)
        update: dict[str, object] = {"state": state, "reason": reason}
        update |= {"started": now} if state == "running" else {"ended": now}
        self.run.emit(ev.TaskChanged(task=task.model_copy(update=update)))

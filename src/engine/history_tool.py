"""The agent tool ``search_history``: what was asked and found in earlier sessions, as data and within bounds.

It stands behind the shape of a search backend, so that its answers are recorded and replayed like those of any other.
"""

import contextlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Annotated, Any, cast

from deepdelve.config import Settings
from deepdelve.core.errors import ToolError, UsageError
from deepdelve.core.scope import current_scope
from deepdelve.engine.history import entry
from deepdelve.engine.history.fit import BUDGET_BYTES, fit
from deepdelve.engine.history.records import Collected, HistoryResult, Record
from deepdelve.engine.run import Run
from deepdelve.tools.search.base import SearchBackend, SearchQuery, SearchResponse
from deepdelve.utils.fence import clean, fence

Tool = Callable[..., Awaitable[str]]

TEXT_CHARS = 600
_PROFILE = "history"
_QUERY_CHARS = 400
_MAX_RECORDS = 20


class HistoryBackend:
    """Searches the history of this person. The session of the asking run is left out, and counted.

    Args:
        settings: their keys are masked.
    """

    name = "history"

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def search(self, query: SearchQuery) -> SearchResponse:
        """The answer as JSON in ``detail``; what was wrong with the request in words."""
        _, effort, scope = query.profile.split(":")
        options = {
            "terms": query.text,
            "surface": "tool",
            "effort": effort,
            "scope": scope,
            "limit": query.limit,
            "exclude_session": cast(Run, current_scope().run).state.session_id,
        }
        try:
            found = await self._found(options)
        except UsageError as error:
            return SearchResponse(outcome="misconfigured", detail=error.line())
        budget = min(BUDGET_BYTES, self._settings.settings.context_budget_chars)
        told = fit(replace(found, records=tuple(_cut(record) for record in found.records)), budget)
        return SearchResponse(detail=json.dumps(_answer(told, found), ensure_ascii=False))

    async def close(self) -> None:
        """Nothing to let go of."""

    async def _found(self, options: dict[str, Any]) -> HistoryResult:
        collected = Collected()
        async with contextlib.aclosing(entry.stream(options, self._settings)) as events:
            async for event in events:
                collected.take(event)
        return collected.result()


def history_tool(backend: SearchBackend | None) -> Tool:
    """The ``search_history`` tool; None where earlier runs are not used."""

    async def search_history(
        query: Annotated[str, "words, or a phrase in quotation marks"],
        effort: Annotated[str, "prompt, targeted or exhaustive"] = "targeted",
        scope: Annotated[str, "empty, prompts, conversations or all"] = "",
        limit: Annotated[int, "how many records, 1 to 20"] = _MAX_RECORDS,
    ) -> str:
        """Search earlier questions, answers, findings and reports of this person. Records are leads, never evidence."""
        text = " ".join(clean(query).split())[:_QUERY_CHARS]
        if not text:
            raise ToolError("The query is empty. Give a few telling words.")
        if backend is None:
            raise ToolError("Earlier sessions are not searched here. Go on without them.")
        # What stands in a profile is ours: anything else is refused by the search itself.
        words = [part.strip().lower()[:20].replace(":", "") for part in (effort, scope)]
        profile = ":".join((_PROFILE, *words))
        response = await backend.search(SearchQuery(text=text, limit=max(1, min(limit, _MAX_RECORDS)), profile=profile))
        if response.outcome != "ok":
            raise ToolError(response.detail)
        answer = json.loads(response.detail)
        return f"{json.dumps(answer['summary'])}\n{fence(json.dumps(answer['records'], ensure_ascii=False), current_scope().run.nonce)}"

    return search_history


def _cut(record: Record) -> Record:
    """A record short enough for a model, from a little before its match on."""
    start = max(0, min(record.span[0] - TEXT_CHARS // 4, len(record.text) - TEXT_CHARS))
    return replace(record, text=clean(record.text[start : start + TEXT_CHARS]), title=clean(record.title)[:200], span=(0, 0))


def _answer(told: HistoryResult, found: HistoryResult) -> dict[str, Any]:
    """What a model is told: fixed words and counts apart from the records, which come from outside."""
    summary = told.summary
    kept = ("requested_effort", "completed_effort", "outcome", "match_count", "kinds", "policy")
    whole = summary.to_dict()
    head = {name: whole[name] for name in kept}
    head |= {"status": asdict(summary.status), "diagnostics": {note.code: note.count for note in summary.diagnostics}}
    head |= {"next_actions": [action.patch for action in summary.next_actions]}
    rows = [
        {**record.to_dict(), "text_truncated": len(record.text) < len(before.text)}
        for record, before in zip(told.records, found.records, strict=False)
    ]
    return {"summary": head, "records": rows}

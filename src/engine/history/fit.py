"""An answer within a number of bytes: whole records from the front, and the summary says that some are missing."""

import json
from dataclasses import replace

from deepdelve.engine.history.records import HistoryResult
from deepdelve.engine.history.summary import Summary, status_of

BUDGET_BYTES = 256 * 1024


def fit(result: HistoryResult, budget: int = BUDGET_BYTES) -> HistoryResult:
    """The answer with the most whole records that fit. One that failed or was cancelled keeps saying so."""
    if _size(result) <= budget:
        return result
    cut = _truncated(result.summary)
    low, high = 0, len(result.records)
    while low < high:
        middle = (low + high + 1) // 2
        if _size(_first(result, cut, middle)) <= budget:
            low = middle
        else:
            high = middle - 1
    return _first(result, cut, low)


def _first(result: HistoryResult, summary: Summary, count: int) -> HistoryResult:
    return HistoryResult(result.records[:count], replace(summary, match_count=count))


def _truncated(summary: Summary) -> Summary:
    status = status_of({*summary.status.conditions, "response_budget"})
    return replace(summary, status=status, outcome="undetermined", completed_effort=None, next_actions=(), certificate=None)


def _size(result: HistoryResult) -> int:
    return len(json.dumps(result.to_dict(), ensure_ascii=False).encode("utf-8", "replace"))

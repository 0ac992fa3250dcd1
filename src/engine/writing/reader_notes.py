"""Notes for the reader, from the state alone: what was not found, refused, failed, not reviewed or switched off.

They are rendered at delivery and stand in no draft, so no check ever reads them. They hold no address and no numbered line.
"""

from collections.abc import Mapping

from deepdelve.core.records import Artifact
from deepdelve.engine.completion.relations import nothing_to_the_point
from deepdelve.engine.evidence import evidence
from deepdelve.engine.task_ledger import recompute
from deepdelve.utils.grounding import frame
from deepdelve.utils.run_state import RunState
from deepdelve.utils.words import one_line

MAX_LISTED = 10
_ARTIFACTS: dict[Artifact, str] = {"findings": "findings", "final_report": "report"}
_MARKUP = str.maketrans({"[": "(", "]": ")", "<": "‹", ">": "›", "*": None, "`": "'", "|": "/"})
_HEALTHY = frozenset({"ok", "empty"})


def notes(state: RunState, ablation: Mapping[str, bool] | None = None) -> list[str]:
    """The notes, one sentence each; empty where there is nothing to tell.

    Args:
        state: the run as it ended.
        ablation: the switches of the settings; those that are on are named.
    """
    given = ["Written from given evidence alone: nothing was searched, fetched or delegated."] if state.evidence_only else []
    return [
        *given,
        *_task_notes(state),
        *_source_notes(state),
        *_search_notes(state),
        *_process_notes(state),
        *_ablation_notes(ablation or {}),
    ]


def render(state: RunState, ablation: Mapping[str, bool] | None = None) -> str:
    """The notes as the last block of a delivered report; an empty string where there are none."""
    found = notes(state, ablation)
    return f"\n---\n\n**{frame.NOTES}**\n\n" + "\n".join(f"- {note}" for note in found) + "\n" if found else ""


def _task_notes(state: RunState) -> list[str]:
    entries = recompute(state)
    without = [name for name, entry in entries.items() if entry["status"] == "flagged"]
    failed = [name for name in without if state.tasks[name].state == "failed"]
    refused = [name for name in without if state.tasks[name].state == "refused"]
    empty = [name for name in without if name not in failed and name not in refused]
    unfinished = [task.name for task in state.top_tasks() if task.state in {"queued", "running"}]
    # Its pages may have been found and read by rule: what a reader sees of it is less than was to be looked for.
    broken = [task.name for task in state.top_tasks() if task.state == "done" and task.reason]
    return [
        *_named("Research on this failed, and nothing was found", failed, state),
        *_named("Research on this was refused", refused, state),
        *_named("Research on this broke off, and the report uses what had been found or was read without it", broken, state),
        *_named("Nothing that can be cited was found on this", empty, None),
        *_named("Research on this was not finished", unfinished, None),
    ]


def _source_notes(state: RunState) -> list[str]:
    unread = [source for source in state.sources.values() if source.state != "ok"]
    lines: list[str] = []
    if nothing_to_the_point(state):
        titles = list(dict.fromkeys(_plain(s.title, 80) or _host(s.url) for s in state.citable_sources()))
        lines.append(f"What was read shares no word with the question: {'; '.join(titles[:MAX_LISTED])}{_more(len(titles))}.")
    if unread:
        shown = [f"{_host(source.url)} ({_plain(source.reason or source.state, 60)})" for source in unread[:MAX_LISTED]]
        listed = "; ".join(shown) + _more(len(unread))
        lines.append(f"{_pages(len(unread))} could not be read, and nothing in the report rests on them: {listed}.")
    doubted = {f.id for f in state.findings.values() if f.kind == "claim" and f.flags} - {f.id for f in evidence(state)}
    if doubted:
        lines.append(f"{len(doubted)} of {_claims(state)} records of what sources say were set aside as doubtful.")
    if state.dropped_sources:
        lines.append(f"{_pages(len(state.dropped_sources))} dropped on request.")
    return lines


def _search_notes(state: RunState) -> list[str]:
    ill = {engine: how for engine, how in state.search_health.items() if how not in _HEALTHY}
    shown = ", ".join(f"{_plain(engine, 40)} ({how.replace('_', ' ')})" for engine, how in ill.items())
    return [f"Searching did not work everywhere: {shown}."] if ill else []


def _process_notes(state: RunState) -> list[str]:
    lines = [f"The {_ARTIFACTS[name]} could not be reviewed." for name in _ARTIFACTS if state.reviews.get(name) is False]
    if state.refusals:
        lines.append(f"{state.refusals} tool {'call was' if state.refusals == 1 else 'calls were'} refused during the run.")
    restored = [name for name, stamp in state.drafts.items() if stamp.by.startswith("restored")]
    lines += [f"The {name.replace('_', ' ')} is an earlier draft, brought back because no later one was better." for name in restored]
    return lines


def _ablation_notes(ablation: Mapping[str, bool]) -> list[str]:
    off = sorted(name.removeprefix("disable_").replace("_", " ") for name, is_off in ablation.items() if is_off)
    return [f"Switched off in the settings: {', '.join(off)}."] if off else []


def _named(what: str, names: list[str], state: RunState | None) -> list[str]:
    if not names:
        return []
    shown = [_with_reason(name, state) for name in names[:MAX_LISTED]]
    return [f"{what}: {'; '.join(shown)}{_more(len(names))}."]


def _with_reason(name: str, state: RunState | None) -> str:
    reason = _plain(state.tasks[name].reason, 120).rstrip(".") if state is not None else ""
    return f"{_plain(name, 100)} ({reason})" if reason else _plain(name, 100)


def _more(count: int) -> str:
    return f"; and {count - MAX_LISTED} more" if count > MAX_LISTED else ""


def _pages(count: int) -> str:
    return "One page" if count == 1 else f"{count} pages"


def _claims(state: RunState) -> int:
    return sum(finding.kind == "claim" for finding in state.findings.values())


def _host(url: str) -> str:
    """The site of an address, without what would make it one."""
    return _plain(url.split("://", 1)[-1].split("/", 1)[0] or url, 60)


def _plain(text: str, limit: int) -> str:
    """Outside text as plain words: no markup, no citation, no address."""
    return one_line(text.replace("://", " ").translate(_MARKUP), limit)

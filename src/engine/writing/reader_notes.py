"""Notes for the reader, from the state alone: what was not found, refused, failed, not reviewed or switched off.

They are rendered at delivery and stand in no draft, so no check ever reads them. They hold no address and no numbered line.
"""

from collections.abc import Mapping

from deepdelve.core.records import Artifact
from deepdelve.engine.completion.relations import nothing_to_the_point
from deepdelve.engine.evidence import evidence
from deepdelve.engine.task_ledger import recompute
from deepdelve.utils.phrases import counted, say
from deepdelve.utils.run_state import RunState
from deepdelve.utils.words import one_line

MAX_LISTED = 10
_ARTIFACTS: tuple[Artifact, ...] = ("findings", "final_report")
_MARKUP = str.maketrans({"[": "(", "]": ")", "<": "‹", ">": "›", "*": None, "`": "'", "|": "/"})
_HEALTHY = frozenset({"ok", "empty"})


def notes(state: RunState, ablation: Mapping[str, bool] | None = None) -> list[str]:
    """The notes, one sentence each; empty where there is nothing to tell.

    Args:
        state: the run as it ended.
        ablation: the switches of the settings; those that are on are named.
    """
    given = [say("note_given", state.language)] if state.evidence_only else []
    if state.bundle_left_out:
        given.append(counted("note_bundle", state.bundle_left_out, state.language))
    return [
        *given,
        *_task_notes(state),
        *_source_notes(state),
        *_search_notes(state),
        *_process_notes(state),
        *_ablation_notes(ablation or {}, state.language),
    ]


def render(state: RunState, ablation: Mapping[str, bool] | None = None) -> str:
    """The notes as the last block of a delivered report; an empty string where there are none."""
    found = notes(state, ablation)
    title = say("notes", state.language)
    return f"\n---\n\n**{title}**\n\n" + "\n".join(f"- {note}" for note in found) + "\n" if found else ""


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
        *_named("note_failed", failed, state, reasons=True),
        *_named("note_refused", refused, state, reasons=True),
        *_named("note_broken", broken, state, reasons=True),
        *_named("note_empty", empty, state),
        *_named("note_unfinished", unfinished, state),
    ]


def _source_notes(state: RunState) -> list[str]:
    unread = [source for source in state.sources.values() if source.state != "ok"]
    language = state.language
    lines: list[str] = []
    if nothing_to_the_point(state):
        titles = list(dict.fromkeys(_plain(s.title, 80) or _host(s.url) for s in state.citable_sources()))
        lines.append(say("note_beside", language, titles=_listed(titles, language)))
    if unread:
        shown = [f"{_host(source.url)} ({_plain(source.reason or source.state, 60)})" for source in unread]
        lines.append(counted("note_unread", len(unread), language, pages=_listed(shown, language)))
    doubted = {f.id for f in state.findings.values() if f.kind == "claim" and f.flags} - {f.id for f in evidence(state)}
    if doubted:
        claims = sum(finding.kind == "claim" for finding in state.findings.values())
        lines.append(say("note_doubted", language, n=len(doubted), total=claims))
    if state.dropped_sources:
        lines.append(counted("note_dropped", len(state.dropped_sources), language))
    return lines


def _search_notes(state: RunState) -> list[str]:
    ill = {engine: how for engine, how in state.search_health.items() if how not in _HEALTHY}
    shown = ", ".join(f"{_plain(engine, 40)} ({how.replace('_', ' ')})" for engine, how in ill.items())
    return [say("note_search", state.language, engines=shown)] if ill else []


def _process_notes(state: RunState) -> list[str]:
    language = state.language
    lines = [say(f"note_unreviewed_{name}", language) for name in _ARTIFACTS if state.reviews.get(name) is False]
    if state.refusals:
        lines.append(counted("note_refusals", state.refusals, language))
    restored = [name for name, stamp in state.drafts.items() if stamp.by.startswith("restored")]
    return [*lines, *(say(f"note_restored_{name}", language) for name in restored)]


def _ablation_notes(ablation: Mapping[str, bool], language: str) -> list[str]:
    off = sorted(name.removeprefix("disable_").replace("_", " ") for name, is_off in ablation.items() if is_off)
    return [say("note_off", language, names=", ".join(off))] if off else []


def _named(phrase: str, names: list[str], state: RunState, *, reasons: bool = False) -> list[str]:
    if not names:
        return []
    shown = [_with_reason(name, state) if reasons else _plain(name, 100) for name in names]
    return [say(phrase, state.language, names=_listed(shown, state.language))]


def _with_reason(name: str, state: RunState) -> str:
    reason = _plain(state.tasks[name].reason, 120).rstrip(".")
    return f"{_plain(name, 100)} ({reason})" if reason else _plain(name, 100)


def _listed(names: list[str], language: str) -> str:
    """The first of them, and how many more there are."""
    left = len(names) - MAX_LISTED
    return "; ".join(names[:MAX_LISTED]) + (say("more", language, n=left) if left > 0 else "")


def _host(url: str) -> str:
    """The site of an address, without what would make it one."""
    return _plain(url.split("://", 1)[-1].split("/", 1)[0] or url, 60)


def _plain(text: str, limit: int) -> str:
    """Outside text as plain words: no markup, no citation, no address."""
    return one_line(text.replace("://", " ").translate(_MARKUP), limit)

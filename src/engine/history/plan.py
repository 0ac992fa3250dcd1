"""What is read for a query: the sources that are eligible, their order, and the facts that a record must have."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from deepdelve.engine.history.files import Notes, blocks
from deepdelve.engine.history.index import HistoryIndex, Indexed
from deepdelve.engine.history.match import all_text, evidence, norm, positive_facts
from deepdelve.engine.history.parse import Any, Expression
from deepdelve.engine.history.query import DEFAULT_KINDS, HistoryQuery
from deepdelve.engine.history.records import Record, canonical_session
from deepdelve.engine.history.sources import Reader, Roots, Source, discover, history_source, state_of

_OF_TRANSCRIPTS = frozenset({"prompt", "reply", "tool"})
_OF_RUNS = frozenset({"finding", "report", "source", "tool", "reasoning"})
_ROUTING = frozenset({"session", "run", "model", "style", "rundepth"})
_RUN_ID = re.compile(rb'"run_id":\s?"([A-Za-z0-9_-]{1,80})"')


@dataclass
class Plan:
    """The sources of an exhaustive search. ``newest`` is the newest instant of sources that the index knows as they now stand."""

    sources: list[Source] = field(default_factory=list[Source])
    pruned: list[tuple[Source, Indexed]] = field(default_factory=list[tuple[Source, Indexed]])
    newest: dict[str, int] = field(default_factory=dict[str, int])
    discovered: int = 0
    eligible: int = 0
    conversations: int = 0
    live: int = 0
    codes: Counter[str] = field(default_factory=Counter[str])


class Fitting:
    """Holds records against the facts that a query asks for.

    Args:
        query: the query.
        by_fact: whether the search itself speaks of fields that only a run knows.
    """

    def __init__(self, query: HistoryQuery, by_fact: bool) -> None:
        self._filters = query.filters
        self._session = canonical_session(query.filters.session) or query.filters.session
        self._of_run = by_fact or bool(query.filters.model or query.filters.style or query.filters.depth)

    def completed(self, record: Record, reader: Reader) -> Record:
        """The record with what its run says of itself, where the query needs that."""
        if not self._of_run or record.store != "transcript" or not record.run_id:
            return record
        facts = reader.run_facts(record.run_id)
        return record if facts is None else replace(record, model=facts.model, style=facts.style, depth=facts.depth)

    def routes(self, record: Record) -> bool:
        """Whether the record has the facts that hold for a whole conversation."""
        wanted = self._filters
        return (
            (not self._session or record.session_id == self._session)
            and (not wanted.run or record.run_id == wanted.run)
            and (not wanted.model or norm(record.model) == norm(wanted.model))
            and (not wanted.style or norm(record.style) == norm(wanted.style))
            and (not wanted.depth or norm(record.depth) == norm(wanted.depth))
        )

    def fits(self, record: Record) -> bool:
        """Whether the record has all the facts, its date among them."""
        since, until = self._filters.since, self._filters.until
        if since is not None and (record.ts_us is None or record.ts_us < since):
            return False
        if until is not None and (record.ts_us is None or record.ts_us >= until):
            return False
        return self.routes(record)


def targeted_evidence(expression: Expression | None) -> Expression | None:
    """What may choose conversations: positive text, else positive fields that hold for a whole conversation."""
    found = evidence(expression)
    if found is not None:
        return found
    facts = tuple(fact for fact in positive_facts(expression) if fact.name in _ROUTING)
    return Any(facts) if len(facts) > 1 else facts[0] if facts else None


def exhaustive_plan(
    query: HistoryQuery,
    roots: Roots,
    index: HistoryIndex | None,
    expression: Expression | None,
    excluded: str,
    poll: Callable[[], None],
) -> Plan:
    """The sources of an exhaustive search, newest first where the index knows.

    Raises:
        OSError: a folder cannot be listed.
    """
    plan = Plan()
    wanted = query.wanted
    found = [history_source(roots)] if query.reads_history else []
    found += discover(roots, transcripts=bool(wanted & _OF_TRANSCRIPTS), runs=bool(wanted & _OF_RUNS), poll=poll)
    plan.discovered = len(found)
    session = canonical_session(query.filters.session) or query.filters.session
    eligible = [source for source in found if _eligible(source, session, query.filters.run, excluded, plan)]
    plan.eligible = len(eligible)
    plan.conversations = sum(source.kind == "transcript" for source in eligible)
    if index is None:
        plan.sources, plan.live = eligible, len(eligible)
    else:
        _through_index(plan, eligible, query, index, expression)
    return plan


def run_ids_of(source: Source, poll: Callable[[], None]) -> list[str]:
    """The runs that a transcript names, in order; empty where it cannot be read."""
    found: dict[str, None] = {}
    try:
        for block in blocks(source.place, Notes(), poll):
            found.update(dict.fromkeys(match.decode() for match in _RUN_ID.findall(block.data)))
    except OSError:
        return []
    return list(found)


def _eligible(source: Source, session: str, run: str, excluded: str, plan: Plan) -> bool:
    if source.kind == "transcript":
        if excluded and source.name == excluded:
            plan.codes["current_session_excluded"] += 1
            return False
        return not session or source.name == session
    return source.kind != "run" or not run or source.name == run


def _through_index(plan: Plan, eligible: list[Source], query: HistoryQuery, index: HistoryIndex, expression: Expression | None) -> None:
    """Leave out what the index proves to hold no match, and order the rest by its newest instant."""
    look = index.look(all_text(expression) if query.match_unit == "conversation" else expression)
    plan.codes.update(look.codes)
    extra = bool(query.wanted - DEFAULT_KINDS)
    unknown: list[Source] = []
    known: list[Source] = []
    for source in eligible:
        entry = look.sources.get(source.key)
        if entry is None or (source.kind == "run" and extra) or entry.state != state_of(source):
            plan.live += 1
            unknown.append(source)
        elif (look.candidates is not None and entry.id not in look.candidates) or _too_old(entry, query):
            plan.pruned.append((source, entry))
        else:
            plan.newest[source.key] = entry.newest
            known.append(source)
    if plan.live > query.reads_history and look.sources:
        plan.codes["index_stale"] += 1
    known.sort(key=lambda source: plan.newest[source.key], reverse=True)
    plan.sources = [*unknown, *known]


def _too_old(entry: Indexed, query: HistoryQuery) -> bool:
    since = query.filters.since
    return since is not None and entry.newest < since

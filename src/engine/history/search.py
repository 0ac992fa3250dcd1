"""The search itself: reads what the effort allows, hands matches to one collector, and says at its end what it has read."""

import hashlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from deepdelve.engine.history import refs
from deepdelve.engine.history.collect import Newest, collector_for
from deepdelve.engine.history.control import SearchControl
from deepdelve.engine.history.files import Notes, NotRegularError, StoppedError
from deepdelve.engine.history.index import HistoryIndex
from deepdelve.engine.history.match import Matcher, PatternTooLong, PatternTooSlow, Prefilter, Seen, all_text, testable
from deepdelve.engine.history.parse import Fact, Term, parse
from deepdelve.engine.history.plan import Fitting, Plan, exhaustive_plan, run_ids_of, targeted_evidence
from deepdelve.engine.history.query import PROMPTS, HistoryQuery
from deepdelve.engine.history.records import (
    Collected,
    Event,
    HistoryResult,
    Record,
    RecordEmitted,
    SearchFinished,
    SearchStarted,
    SourceFinished,
    SourceOutcome,
    SourceStarted,
    canonical_session,
)
from deepdelve.engine.history.route import Candidates, Resolver
from deepdelve.engine.history.sources import Reader, Roots, Source, Wants, history_source
from deepdelve.engine.history.summary import Coverage, Summary, summarize

log = logging.getLogger(__name__)

POLL_RECORDS = 64
_RESOLUTION_CODES = {
    "unresolved": "targeted_unresolved",
    "ambiguous": "targeted_ambiguous",
    "budget_exhausted": "targeted_budget_exhausted",
}
# Codes that say something of the whole answer; the others are told and change nothing.
_WEIGHTY = frozenset(
    {"malformed_records", "torn_tail", "encoding_replaced", "source_changed", "source_limit", "unsupported_source", "record_too_large"}
)

Mask = Callable[[str], str]


def iter_search(
    query: HistoryQuery,
    roots: Roots,
    *,
    control: SearchControl | None = None,
    index: HistoryIndex | None = None,
    mask: Mask | None = None,
) -> Iterator[Event]:
    """Search, event by event.

    Args:
        query: what to look for.
        roots: where history stands.
        control: stops the search.
        index: leaves out what cannot match; without it everything is read.
        mask: takes secrets out of texts.

    Raises:
        UsageError: the pattern of the query is none.
    """
    return Search(query, roots, control or SearchControl(), index, mask).events()


def run_search(
    query: HistoryQuery,
    roots: Roots,
    *,
    control: SearchControl | None = None,
    index: HistoryIndex | None = None,
    mask: Mask | None = None,
) -> HistoryResult:
    """Search, and return the whole answer.

    Raises:
        UsageError: the pattern of the query is none.
    """
    collected = Collected()
    for event in iter_search(query, roots, control=control, index=index, mask=mask):
        collected.take(event)
    return collected.result()


@dataclass
class Tally:
    """What has been read so far. It can be summed up at any moment, also from another thread."""

    discovered: int = 0
    eligible: int = 0
    planned: int = 0
    outcomes: Counter[SourceOutcome] = field(default_factory=Counter[SourceOutcome])
    records: int = 0
    matches: int = 0
    emitted: int = 0
    conversations: tuple[int, int] = (0, 0)
    conversations_done: int = 0
    conditions: set[str] = field(default_factory=set[str])
    codes: Counter[str] = field(default_factory=Counter[str])
    states: list[str] = field(default_factory=list[str])
    live: int = 0
    ruled_out: int = 0
    open_source: str = ""

    def plan(self, discovered: int, eligible: int, planned: int) -> None:
        """Count sources that were found."""
        self.discovered += discovered
        self.eligible += eligible
        self.planned += planned

    def coverage(self) -> Coverage:
        """The counts as they stand."""
        done = self.outcomes
        attempted = sum(done.values())
        return Coverage(
            sources_discovered=self.discovered,
            sources_eligible=self.eligible,
            sources_planned=self.planned,
            sources_attempted=attempted,
            sources_completed=done["completed"],
            sources_bounded=done["bounded"],
            sources_skipped=self.planned - attempted,
            sources_unsupported=done["unsupported"],
            sources_failed=done["failed"],
            sources_cancelled=done["cancelled"],
            records_seen=self.records,
            matches_seen=self.matches,
            conversations_eligible=self.conversations[0],
            conversations_selected=self.conversations[1],
            conversations_completed=self.conversations_done,
        )

    def certificate(self) -> str:
        """A digest of what was read, by which absence can be checked again."""
        return hashlib.sha256("\n".join(sorted(self.states)).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass
class Held:
    """Records of a conversation, and what they hold together."""

    bits: int = 0
    rows: list[tuple[Record, str]] = field(default_factory=list[tuple[Record, str]])


class Search:
    """One search."""

    def __init__(self, query: HistoryQuery, roots: Roots, control: SearchControl, index: HistoryIndex | None, mask: Mask | None) -> None:
        self.query = query
        self.roots = roots
        self.control = control
        self.tally = Tally()
        self._mask: Mask = mask if mask is not None else str
        self._index = index
        self._begun = time.monotonic()
        self._expression = parse(query.terms, any_term=query.any_term, regex=query.regex).expression
        self._matcher = Matcher(self._expression, case_sensitive=query.case_sensitive)
        self._collector = collector_for(query, self._matcher)
        self._fitting = Fitting(query, any(isinstance(leaf, Fact) and leaf.name != "kind" for leaf in self._matcher.leaves))
        self._whole = query.match_unit == "conversation"
        self._across: dict[str, int] = {}
        self._pending: dict[str, Held] = {}
        self._excluded = canonical_session(query.exclude_session) or query.exclude_session
        # What a record must be able to hold to be read at all.
        self._needed = all_text(self._expression) if self._whole else self._expression
        self._words = self._trackable() if self._matcher.several and not self._whole else ()
        wants = Wants(query.wanted, Prefilter(self._needed), self._missing if self._words else None)
        self._reader = Reader(roots, wants, self._poll)

    def events(self) -> Generator[Event]:
        """Everything that happens, the summary last."""
        yield SearchStarted(self.query)
        try:
            yield from self._rung()
        except StoppedError:
            self._stopped()
        except PatternTooSlow:
            self._note_condition("pattern_timeout")
        yield from self._answer()
        yield SearchFinished(self.summary())

    def summary(self) -> Summary:
        """What can be said of the search now."""
        tally = self.tally
        across = not tally.emitted and self._all_words_somewhere()
        if across:
            tally.codes["terms_in_different_records"] = 1
        return summarize(
            self.query,
            set(tally.conditions),
            +tally.codes,
            tally.coverage(),
            emitted=tally.emitted,
            elapsed=time.monotonic() - self._begun,
            folded=self._collector.folded,
            index=self._index_note(),
            certificate=tally.certificate(),
            across=self._matcher.several and not self._whole,
        )

    def abandon(self) -> list[Event]:
        """The last events of a search whose reading does not come back."""
        self._stopped()
        last: list[Event] = []
        if self.tally.open_source:
            self.tally.outcomes["cancelled"] += 1
            last.append(SourceFinished(self.tally.open_source, "cancelled", str(self.control.reason)))
            self.tally.open_source = ""
        return [*last, SearchFinished(self.summary())]

    def _rung(self) -> Generator[Event]:
        self._poll()
        if self.query.rung == "targeted":
            yield from self._targeted()
        elif self.query.rung == "exhaustive":
            yield from self._exhaustive()
        else:
            self.tally.plan(1, 1, 1)
            yield from self._read(self._history())

    def _history(self) -> Source:
        return history_source(self.roots)

    # Exhaustive

    def _exhaustive(self) -> Generator[Event]:
        try:
            plan = exhaustive_plan(self.query, self.roots, self._index, self._expression, self._excluded, self._poll)
        except OSError:
            self._note_condition("discovery_failed")
            return
        self._take_plan(plan)
        for place, source in enumerate(plan.sources):
            if self._proven(plan, source):
                yield from self._copies_of_prompts(plan.sources[place:])
                self.tally.conditions.add("result_limit")
                return
            yield from self._read(source)
            if self._collector.full():
                self.tally.conditions.add("result_limit")
                return

    def _take_plan(self, plan: Plan) -> None:
        tally = self.tally
        tally.plan(plan.discovered, plan.eligible, len(plan.sources) + len(plan.pruned))
        tally.conversations = (plan.conversations, plan.conversations)
        tally.codes.update(plan.codes)
        tally.live, tally.ruled_out = plan.live, len(plan.pruned)
        for source, known in plan.pruned:
            tally.outcomes["completed"] += 1
            tally.conversations_done += source.kind == "transcript"
            tally.records += known.records
            tally.states += [f"{source.key}/{state}" for state in known.state.split("/")]

    def _proven(self, plan: Plan, following: Source) -> bool:
        """Whether nothing that is still unread can be newer than what is held."""
        newest = plan.newest.get(following.key)
        if newest is None or self._whole:
            return False
        floor = self._collector.floor()
        return floor is not None and floor > newest

    def _copies_of_prompts(self, rest: list[Source]) -> Generator[Event]:
        """Read the transcripts that may hold the copies to keep of prompts that are held."""
        if isinstance(self._collector, Newest):
            sessions = self._collector.sessions_of_prompts()
            for source in rest:
                if source.kind == "transcript" and source.name in sessions:
                    yield from self._read(source)

    # Targeted

    def _targeted(self) -> Generator[Event]:
        self.tally.conditions.add("heuristic_candidate_selection")
        self.tally.plan(1, 1, 1)
        candidates = Candidates()
        evidence = targeted_evidence(self._expression)
        if evidence is None and not self.query.filters.routing:
            self.tally.codes["targeted_no_positive_clue"] += 1
            yield from self._read(self._history())
            return
        matcher = Matcher(evidence, case_sensitive=self.query.case_sensitive)
        # Evidence may be wider than the search, or the search hold of what is no evidence: a line is left out where both say so.
        either = Prefilter(evidence, self._needed)
        wants, self._reader.wants = self._reader.wants, Wants(self.query.wanted | PROMPTS, either)
        yield from self._read(self._history(), lambda record: self._witness(record, matcher, candidates))
        self._reader.wants = wants
        if self.tally.outcomes["failed"]:
            self.tally.conditions.discard("history_unreadable")
            self.tally.codes["history_unreadable"] = 0
            self._note_condition("targeted_evidence_failure")
            return
        yield from self._chosen(candidates)

    def _witness(self, record: Record, matcher: Matcher, candidates: Candidates) -> None:
        if not self._fitting.routes(record) or (self._excluded and record.session_id == self._excluded):
            return
        seen = matcher.see(record)
        if matcher.holds(seen.bits):
            candidates.add(record)

    def _chosen(self, candidates: Candidates) -> Generator[Event]:
        tally = self.tally
        chosen = candidates.choose(self.query.slots)
        tally.conversations = (len(candidates.newest), len(chosen))
        tally.codes["targeted_evidence_unroutable"] += candidates.unroutable
        log.info("targeted search %s: %d eligible, %d selected", self._digest(), len(candidates.newest), len(chosen))
        resolver = Resolver(self.roots, self._poll)
        transcripts: list[Source] = []
        for session in chosen:
            self._poll()
            outcome, source = resolver.resolve(session)
            if source is None:
                tally.codes[_RESOLUTION_CODES[outcome]] += 1
            else:
                transcripts.append(source)
        tally.plan(len(transcripts), len(transcripts), len(transcripts))
        with_runs = bool(self.query.wanted - {"prompt", "reply"})
        for source in transcripts:
            # The runs belong to the conversation and are read right behind it.
            runs = resolver.runs(source.name, run_ids_of(source, self._poll)) if with_runs else []
            tally.plan(len(runs), len(runs), len(runs))
            for part in (source, *runs):
                yield from self._read(part)

    # Reading

    def _read(self, source: Source, witness: Callable[[Record], None] | None = None) -> Generator[Event]:
        """Read one source to its end, or say why not."""
        self._poll()
        tally = self.tally
        tally.open_source = source.key
        yield SourceStarted(source.key)
        notes = Notes()
        outcome: SourceOutcome = "completed"
        reason, stop = "", False
        try:
            for number, record in enumerate(self._reader.records(source, notes)):
                if number % POLL_RECORDS == 0:
                    self._poll()
                if witness is not None:
                    witness(record)
                for found in self._consider(record, notes):
                    yield RecordEmitted(self._final(found))
                if self._collector.full():
                    outcome, reason = "bounded", "result_limit"
                    break
        except StoppedError:
            reason, stop = str(self.control.reason), True
            outcome = "bounded" if reason == "answer_now" else "cancelled"
        except PatternTooSlow:
            outcome, reason = "failed", "pattern_timeout"
        except OSError as error:
            outcome, reason = self._trouble(source, error)
        if outcome == "completed" and notes.codes["source_limit"]:
            outcome, reason = "bounded", "source_limit"
        self._settle(source, notes, outcome)
        yield SourceFinished(source.key, outcome, reason)
        if stop:
            raise StoppedError
        if reason == "pattern_timeout":
            raise PatternTooSlow

    def _trouble(self, source: Source, error: OSError) -> tuple[SourceOutcome, str]:
        """What an error of the system means for the source, by its kind."""
        if isinstance(error, FileNotFoundError):
            self.tally.codes["history_missing" if source.kind == "history" else "source_changed"] += 1
            return "completed", "missing"
        if isinstance(error, NotRegularError) and source.kind != "history":
            self._note_condition("unsupported_source")
            return "unsupported", "not_a_regular_file"
        self._note_condition("history_unreadable" if source.kind == "history" else "source_failed")
        return "failed", "unreadable"

    def _settle(self, source: Source, notes: Notes, outcome: SourceOutcome) -> None:
        tally = self.tally
        tally.open_source = ""
        tally.outcomes[outcome] += 1
        tally.conversations_done += source.kind == "transcript" and outcome == "completed"
        tally.records += notes.records
        if notes.codes:
            tally.codes.update(notes.codes)
            tally.conditions |= _WEIGHTY & {code for code, count in notes.codes.items() if count}
            if any(code.startswith("history_incomplete_before") for code in notes.codes):
                tally.conditions.add("history_incomplete")
        tally.states += [f"{source.key}/{stamp}" for stamp in notes.stamps]

    def _consider(self, record: Record, notes: Notes) -> tuple[Record, ...]:
        """A record that was read: left out, held back, or handed to the collector."""
        if record.kind not in self.query.wanted or (record.store == "history" and not self.query.reads_history):
            return ()
        record = self._fitting.completed(record, self._reader)
        if not self._fitting.fits(record):
            return ()
        try:
            seen = self._matcher.see(record)
        except PatternTooLong:
            notes.codes["record_too_large"] += 1
            return ()
        excluded = bool(self._excluded) and record.session_id == self._excluded
        if self._whole and not excluded:
            self._hold_back(record, seen)
            return ()
        if self._words and not excluded:
            self._across[record.session_id] = self._across.get(record.session_id, 0) | seen.bits
        if not self._matcher.holds(seen.bits):
            return ()
        if excluded:
            self.tally.codes["current_session_excluded"] += 1
            return ()
        self.tally.matches += 1
        return self._collector.offer(record, seen.hay)

    def _hold_back(self, record: Record, seen: Seen) -> None:
        """Keep a record until all of its conversation is read."""
        name = record.session_id or f"{record.store} {record.run_id} {record.ordinal}"
        held = self._pending.setdefault(name, Held())
        held.bits |= seen.bits
        if seen.bits & self._matcher.text_bits or not self._matcher.text_bits:
            held.rows.append((record, seen.hay))

    def _answer(self) -> Generator[Event]:
        """What the collector holds, in order."""
        for held in self._pending.values():
            if not self._matcher.holds(held.bits):
                continue
            self.tally.matches += len(held.rows)
            for record, hay in held.rows:
                for found in self._collector.offer(record, hay):
                    yield RecordEmitted(self._final(found))
        records, more = self._collector.finish()
        if more:
            self.tally.conditions.add("result_limit")
        for record in records:
            yield RecordEmitted(self._final(record))

    def _final(self, record: Record) -> Record:
        """A record as it leaves: with its reference and its place of the first match, without secrets."""
        self.tally.emitted += 1
        span = self._matcher.locate(record.text)
        ref = refs.encode(record, span)
        text, title, url = (self._mask(part) if part else "" for part in (record.text, record.title, record.url))
        return replace(record, text=text, title=title, url=url, span=span if span[1] <= len(text) else (0, 0), ref=ref)

    # What stands in between

    def _poll(self) -> None:
        if self.control.reason is not None:
            raise StoppedError

    def _stopped(self) -> None:
        if self.control.reason is not None:
            self.tally.conditions.add(self.control.reason)

    def _note_condition(self, code: str) -> None:
        self.tally.conditions.add(code)
        self.tally.codes[code] += 1

    def _trackable(self) -> tuple[tuple[int, bytes], ...]:
        """Each word of the search as a bit and as bytes."""
        rows = [(1 << place, testable(leaf)) for place, leaf in enumerate(self._matcher.leaves) if isinstance(leaf, Term)]
        return tuple((bit, word) for bit, word in rows if word)

    def _missing(self, session: str) -> tuple[bytes, ...]:
        """Words that no record of a conversation has shown yet, while nothing has matched at all."""
        if self.tally.matches:
            return ()
        shown = self._across.get(session, 0)
        return tuple(word for bit, word in self._words if not shown & bit)

    def _all_words_somewhere(self) -> bool:
        return any(bits & self._matcher.text_bits == self._matcher.text_bits for bits in self._across.values())

    def _index_note(self) -> Mapping[str, Any]:
        watermark = self._index.watermark if self._index is not None else None
        live = self.tally.live if self._index is not None else sum(self.tally.outcomes.values())
        used = self._index is not None and self._index.usable
        return {"used": used, "watermark": watermark, "sources_live": live, "sources_ruled_out": self.tally.ruled_out}

    def _digest(self) -> str:
        return hashlib.sha256(self.query.terms.encode("utf-8", "replace")).hexdigest()[:12]

"""The one place where what a surface asks for becomes a query. The table of ``docs/history.md``, as code."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, cast, get_args

from deepdelve.config import RunSettings, nearest
from deepdelve.core.errors import UsageError
from deepdelve.core.records import Role
from deepdelve.engine.history.match import facts_of, positive_facts
from deepdelve.engine.history.parse import Parsed, parse
from deepdelve.engine.history.query import (
    DEFAULT_KINDS,
    KINDS,
    PROMPTS,
    Effort,
    Filters,
    HistoryQuery,
    Kind,
    MatchUnit,
    Order,
    Provenance,
    SearchScope,
)
from deepdelve.engine.history.records import canonical_session

Surface = Literal["cli", "tui", "http", "tool", "mcp"]
MAX_TERMS_CHARS = 1_000
MAX_PATTERN_CHARS = 200
DEFAULT_LIMITS: dict[Surface, int | None] = {"cli": None, "tui": 1_000, "http": 20, "tool": 20, "mcp": 20}
_MICROSECONDS = 1_000_000
_DAY_SECONDS = 86_400
_DAY_CHARS = 10
_RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")
# Who speaks in a transcript, and the agents that are named in findings and journals.
_ROLES: tuple[str, ...] = ("user", "assistant", "tool", "system", *get_args(Role))
_VALUES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "role": ("role", _ROLES),
    "style": ("style", get_args(RunSettings.model_fields["report_style"].annotation)),
    "rundepth": ("depth of a run", get_args(RunSettings.model_fields["depth"].annotation)),
}


@dataclass(frozen=True)
class SearchRequest:
    """What a surface was asked, before anything is filled in. Flag surfaces set ``deep`` and ``exhaustive``, the others ``effort``."""

    terms: str = ""
    surface: Surface = "cli"
    deep: bool = False
    exhaustive: bool = False
    effort: str = ""
    scope: str = ""
    conversation_limit: int | None = None
    limit: int | None = None
    order: str = "newest"
    kinds: tuple[str, ...] = ()
    any_term: bool = False
    regex: bool = False
    case_sensitive: bool = False
    match_unit: str = "record"
    dedupe: bool = True
    session: str = ""
    run: str = ""
    model: str = ""
    style: str = ""
    depth: str = ""
    since: str = ""
    until: str = ""
    exclude_session: str = ""
    allow_empty: bool = False
    inline: Parsed = field(default_factory=Parsed)


def resolve(request: SearchRequest) -> HistoryQuery:
    """The query that a request means.

    Raises:
        UsageError: parts of it contradict each other, or a value is none of those allowed.
    """
    parsed = _parsed(request)
    stated = _stated(request, parsed)
    kinds = _kinds(request.kinds, parsed)
    scope, provenance = _scope(request, stated, kinds, inline=bool(parsed.effort))
    effort: Effort = stated or ("prompt" if scope == "prompts" else "exhaustive")
    _check(request, scope, effort, kinds)
    limit = request.limit if request.limit is not None else DEFAULT_LIMITS[request.surface]
    return HistoryQuery(
        terms=request.terms.strip(),
        scope=scope,
        scope_provenance=provenance,
        effort=effort,
        any_term=request.any_term,
        regex=request.regex,
        case_sensitive=request.case_sensitive,
        match_unit=cast("MatchUnit", _one_of(request.match_unit, get_args(MatchUnit), "match unit")),
        kinds=kinds,
        order=cast("Order", _one_of(request.order, get_args(Order), "order")),
        limit=limit,
        conversation_limit=request.conversation_limit,
        dedupe=request.dedupe,
        filters=_filters(request, parsed),
        exclude_session=request.exclude_session,
    )


def instant(word: str, *, end: bool = False) -> int:
    """A day or moment as UTC microseconds; ``end`` gives the first moment after a day.

    Raises:
        UsageError: it is neither.
    """
    try:
        moment = datetime.fromisoformat(word)
    except ValueError:
        raise UsageError(f"'{word[:40]}' is no date.", "Give a day such as 2026-03-01.") from None
    seconds = moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()
    return int((seconds + (_DAY_SECONDS if end and len(word) <= _DAY_CHARS else 0)) * _MICROSECONDS)


def _parsed(request: SearchRequest) -> Parsed:
    if len(request.terms) > MAX_TERMS_CHARS:
        raise UsageError(f"The search has {len(request.terms)} characters.", f"Keep it to {MAX_TERMS_CHARS}.")
    if request.regex and len(request.terms.strip()) > MAX_PATTERN_CHARS:
        raise UsageError(f"The pattern has {len(request.terms.strip())} characters.", f"Keep it to {MAX_PATTERN_CHARS}.")
    parsed = parse(request.terms, any_term=request.any_term, regex=request.regex)
    for word in (*parsed.kinds, *parsed.mentioned):
        _one_of(word, KINDS, "kind")
    for fact in facts_of(parsed.expression):
        _check_fact(fact.name, fact.value)
    facts = [*parsed.fields, request.session, request.run, request.model, request.style, request.depth, request.since, request.until]
    if parsed.expression is None and not any(facts) and not request.allow_empty:
        raise UsageError("There is nothing to search for.", 'Give a word or a phrase, for example: deepdelve search "heat pumps".')
    return parsed


def _stated(request: SearchRequest, parsed: Parsed) -> Effort | None:
    """The effort that was asked for in so many words, by flag, parameter or within the terms."""
    if request.deep and request.exhaustive:
        raise UsageError("A search is either deep or exhaustive.", "Give one of --deep and --exhaustive.")
    given = "targeted" if request.deep else "exhaustive" if request.exhaustive else request.effort
    if given and parsed.effort:
        raise UsageError("The effort is given twice.", "Leave out depth: in the search, or the option.")
    word = given or parsed.effort
    return cast("Effort", _one_of(word, get_args(Effort), "effort")) if word else None


def _kinds(given: tuple[str, ...], parsed: Parsed) -> frozenset[Kind] | None:
    """The kinds that are named; one that is asked for beside OR is searched along with the usual ones."""
    words = [word for word in (*given, *parsed.kinds) if word]
    if not words:
        asked = {fact.value for fact in positive_facts(parsed.expression) if fact.name == "kind"} - PROMPTS
        words = [*DEFAULT_KINDS, *asked] if asked else []
    return frozenset(cast("Kind", _one_of(word, KINDS, "kind")) for word in words) if words else None


def _scope(request: SearchRequest, effort: Effort | None, kinds: frozenset[Kind] | None, *, inline: bool) -> tuple[SearchScope, Provenance]:
    if request.scope:
        return cast("SearchScope", _one_of(request.scope, get_args(SearchScope), "scope")), "explicit"
    if kinds is not None and kinds != PROMPTS:
        return "all", "inferred"
    if effort == "targeted":
        return "all", "inferred"
    # A bare --exhaustive stays with prompts: there, flags state effort and scope apart. Elsewhere effort alone asks for everything.
    if effort == "exhaustive" and (inline or request.surface != "cli"):
        return "all", "inferred"
    return "prompts", "inferred"


def _check(request: SearchRequest, scope: SearchScope, effort: Effort, kinds: frozenset[Kind] | None) -> None:
    if scope == "prompts" and effort == "targeted":
        raise UsageError(
            "A deep search reads conversations, and the scope is prompts.", "Leave out the scope, or say conversations or all."
        )
    if effort == "prompt" and scope != "prompts":
        raise UsageError("Effort 'prompt' reads prompts only.", "Use targeted or exhaustive for this scope.")
    if scope == "prompts" and kinds is not None and kinds != PROMPTS:
        raise UsageError("The scope is prompts, and other kinds are asked for.", "Leave out the scope, or say all.")
    if request.conversation_limit is not None and effort != "targeted":
        raise UsageError("A conversation limit belongs to a deep search.", "Add --deep, or leave the limit out.")
    for name, value in (("limit", request.limit), ("conversation limit", request.conversation_limit)):
        if value is not None and value < 1:
            raise UsageError(f"The {name} must be 1 or more.", "Leave it out for the default.")


def _filters(request: SearchRequest, parsed: Parsed) -> Filters:
    def one(name: str, given: str) -> str:
        inline = parsed.fields.get(name, "")
        if given and inline and given != inline:
            raise UsageError(f"Two values are given for {name}.", "Give one.")
        return given or inline

    since, until = one("since", request.since), one("until", request.until)
    given = {"session": request.session, "run": request.run, "model": request.model, "style": request.style, "rundepth": request.depth}
    facts = {name: one(name, value) for name, value in given.items()}
    for name, value in facts.items():
        if value:
            _check_fact(name, value)
    return Filters(
        session=facts["session"],
        run=facts["run"],
        model=facts["model"],
        style=facts["style"],
        depth=facts["rundepth"],
        since=instant(since) if since else None,
        until=instant(until, end=True) if until else None,
    )


def _check_fact(name: str, value: str) -> None:
    """Refuse a value that no record can have.

    Raises:
        UsageError: says what may be given.
    """
    if name in _VALUES:
        what, allowed = _VALUES[name]
        _one_of(value.casefold(), tuple(word.casefold() for word in allowed), what)
    elif name == "session" and not canonical_session(value):
        raise UsageError(f"'{value[:40]}' is no id of a session.", "'deepdelve --list-sessions' shows the ids.")
    elif name == "run" and not _RUN_ID.fullmatch(value):
        raise UsageError(f"'{value[:40]}' is no id of a run.", "'deepdelve runs' shows the ids.")


def _one_of(word: str, allowed: tuple[str, ...], what: str) -> str:
    if word in allowed:
        return word
    near = nearest(word, list(allowed))
    raise UsageError(f"There is no {what} '{word[:40]}'.", f"Did you mean {near}?" if near else f"Possible: {', '.join(allowed)}.")

"""What a history search is asked: the normalized query, and its parts."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Kind = Literal["prompt", "reply", "finding", "report", "tool", "reasoning", "source"]
SearchScope = Literal["prompts", "conversations", "all"]
Effort = Literal["prompt", "targeted", "exhaustive"]
Order = Literal["newest", "relevance", "scan"]
MatchUnit = Literal["record", "conversation"]
Provenance = Literal["inferred", "explicit"]

KINDS: tuple[Kind, ...] = ("prompt", "reply", "finding", "report", "tool", "reasoning", "source")
# Kinds that a scope returns; the rest must be named.
PROMPTS: frozenset[Kind] = frozenset({"prompt"})
DEFAULT_KINDS: frozenset[Kind] = frozenset({"prompt", "reply", "finding", "report"})
POLICY = "lexical.prompt.v1"
CONVERSATION_LIMIT = 25


@dataclass(frozen=True)
class Filters:
    """Facts that a record must have. ``since`` and ``until`` are UTC microseconds, the first inclusive, the second exclusive."""

    session: str = ""
    run: str = ""
    model: str = ""
    style: str = ""
    depth: str = ""
    since: int | None = None
    until: int | None = None

    @property
    def routing(self) -> bool:
        """Whether a fact is given that holds for a whole conversation, and so may choose conversations; dates never do."""
        return bool(self.session or self.run or self.model or self.style or self.depth)


@dataclass(frozen=True)
class HistoryQuery:
    """One search, as the engine carries it out.

    Attributes:
        terms: words, phrases and fields; a pattern where ``regex`` is set.
        effort: how broadly sources are read; None lets the scope decide.
        kinds: record kinds instead of those of the scope.
        limit: the most records that are returned; None for all.
        conversation_limit: how many conversations a targeted search reads.
        exclude_session: a session that is left out, and counted.
    """

    terms: str = ""
    scope: SearchScope = "prompts"
    scope_provenance: Provenance = "inferred"
    effort: Effort | None = None
    any_term: bool = False
    regex: bool = False
    case_sensitive: bool = False
    match_unit: MatchUnit = "record"
    kinds: frozenset[Kind] | None = None
    order: Order = "newest"
    limit: int | None = None
    conversation_limit: int | None = None
    dedupe: bool = True
    filters: Filters = field(default_factory=Filters)
    exclude_session: str = ""

    @property
    def rung(self) -> Effort:
        """The effort in force."""
        return self.effort or ("prompt" if self.scope == "prompts" else "exhaustive")

    @property
    def wanted(self) -> frozenset[Kind]:
        """The kinds that are returned."""
        if self.kinds is not None:
            return self.kinds
        return PROMPTS if self.scope == "prompts" else DEFAULT_KINDS

    @property
    def reads_history(self) -> bool:
        """Whether records of the prompt history itself are returned."""
        return "prompt" in self.wanted and self.scope != "conversations"

    @property
    def slots(self) -> int:
        """How many conversations a targeted search reads."""
        return self.conversation_limit or CONVERSATION_LIMIT

    def echo(self) -> dict[str, Any]:
        """The query as the summary repeats it."""
        shown = asdict(self)
        shown["effort"] = self.rung
        shown["kinds"] = sorted(self.wanted)
        shown["filters"] = {name: value for name, value in asdict(self.filters).items() if value not in ("", None)}
        shown["conversation_limit"] = self.slots if self.rung == "targeted" else None
        return shown

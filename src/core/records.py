"""The records of a run: sources, findings, tasks, claims. Ids are given by code, in order of first use."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

SourceState = Literal["ok", "stub", "blocked", "unreachable"]
TaskState = Literal["queued", "running", "done", "failed", "refused"]
FindingKind = Literal["claim", "lead"]
ClaimStatus = Literal["supported", "partial", "contradicted", "unsupported", "unchecked"]
Outcome = Literal["verified", "unverified", "partial", "no_evidence", "no_report", "stopped", "failed"]
Depth = Literal["quick", "standard", "deep"]
Style = Literal["standard", "academic", "answer"]
# What a run may read; empty in runs from before it was recorded.
ReadScope = Literal["", "web", "corpus", "both"]
Artifact = Literal["findings", "final_report"]
Role = Literal["Planner", "Searcher", "Analyzer", "FindingsWriter", "Builder", "PeerReviewer"]

EXIT_CODES: dict[Outcome, int] = {
    "verified": 0,
    "unverified": 3,
    "partial": 3,
    "no_evidence": 3,
    "no_report": 4,
    "failed": 4,
    "stopped": 130,
}


class Record(BaseModel):
    """Base: immutable, unknown fields refused, so that a record means the same everywhere."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Source(Record):
    """A page or document that the run has fetched, or tried to.

    ``file`` is relative to the run folder and holds the extracted text; ``sha256`` is of that text. ``reason`` says why
    a source that is not ``ok`` cannot be cited. ``origin`` says how it came in: search, seed, corpus, bundle or earlier run.
    """

    id: str
    url: str
    final_url: str = ""
    title: str = ""
    author: str = ""
    date: str = ""
    fetched_at: str = ""
    status: int = 0
    kind: str = ""
    file: str = ""
    sha256: str = ""
    chars: int = 0
    state: SourceState = "ok"
    reason: str = ""
    origin: str = "search"

    @property
    def citable(self) -> bool:
        """Whether the report may cite it at all."""
        return self.state == "ok" and bool(self.file)


class Flag(Record):
    """A doubt about a finding. One that names ``urls`` excludes only findings of those addresses."""

    kind: str
    urls: tuple[str, ...] = ()
    detail: str = ""


class ClaimText(Record):
    """One claim of a finding; ``start``/``end`` are character offsets in the source's text, found by code, -1 if not found."""

    text: str
    quote: str = ""
    start: int = -1
    end: int = -1


class Finding(Record):
    """What one dispatch found in one source, or (``kind="lead"``) a direction it names for further research."""

    id: str
    source_id: str = ""
    task: str
    top_task: str
    facet: str = ""
    depth: int = 1
    role: Role = "Analyzer"
    summary: str = ""
    claims: tuple[ClaimText, ...] = ()
    flags: tuple[Flag, ...] = ()
    kind: FindingKind = "claim"


class Task(Record):
    """A piece of research that was asked for. ``top`` is the name of its top-level task; ``started``/``ended`` are POSIX seconds."""

    name: str
    top: str = ""
    depth: int = 1
    role: Role = "Searcher"
    instructions: str = ""
    facet: str = ""
    state: TaskState = "queued"
    reason: str = ""
    started: float | None = None
    ended: float | None = None


class PlanItem(Record):
    """One line of the Planner's plan."""

    name: str
    facet: str = ""
    instructions: str = ""


class Passage(Record):
    """Where in a stored source a claim is carried. Offsets are characters in the source's text."""

    source_id: str
    file: str = ""
    start: int = -1
    end: int = -1
    quote: str = ""


ClaimKind = Literal["statement", "figure", "regulation", "quote", "entailment"]


class Claim(Record):
    """One line of the claim ledger (``final_report.claims.json``): a sentence of the report and what carries it.

    ``span`` is its place in the draft and ``delivered_span`` in the delivered file, as character offsets, or empty.
    ``citations`` are source ids (``S12``). ``kind`` names what decided the status: a figure, a regulation id, a quote, the
    judge's entailment, or the statement as a whole. ``needs_citation`` is false for framing, headings and gap disclosures.
    """

    id: str
    text: str
    span: tuple[int, int] | None = None
    delivered_span: tuple[int, int] | None = None
    citations: tuple[str, ...] = ()
    status: ClaimStatus = "unchecked"
    score: float = 0.0
    passage: Passage | None = None
    reason: str = ""
    kind: ClaimKind = "statement"
    needs_citation: bool = True
    facet: str = ""


class ClaimCounts(Record):
    """How many claims of a report have each status."""

    supported: int = 0
    partial: int = 0
    contradicted: int = 0
    unsupported: int = 0
    unchecked: int = 0

    @property
    def total(self) -> int:
        """All claims."""
        return self.supported + self.partial + self.contradicted + self.unsupported + self.unchecked


class Hit(Record):
    """One search result: a lead, never evidence. ``url`` is canonical; ``engine`` names who returned it; ``rank`` counts from 1.

    ``read_on`` is the day on which an earlier run read the page; ``copy_of`` the page's own address where ``url`` names a stored copy.
    """

    url: str
    title: str = ""
    snippet: str = ""
    engine: str = ""
    rank: int = 0
    date: str = ""
    read_on: str = ""
    copy_of: str = ""


class Usage(Record):
    """Tokens and time of one model call. ``sent_chars`` is what we sent; ``estimated`` when the server reported no tokens.

    ``model`` is the one that answered; empty for the run's own, and for sums.
    """

    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    calls: int = 1
    sent_chars: int = 0
    estimated: bool = False

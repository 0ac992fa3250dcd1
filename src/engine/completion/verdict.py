"""What a check found, as facts. Nothing here is worded for a reader: ``directives.render`` does that, per audience."""

import hashlib
from dataclasses import dataclass
from typing import Literal

from deepdelve.core.records import Artifact

Tier = Literal["structural", "grounding"]


@dataclass(frozen=True, slots=True)
class ClaimFact:
    """A claim that a check objects to. ``passage`` is the best text found for it in ``source_id``; both may be empty."""

    text: str
    status: str = ""
    citations: tuple[str, ...] = ()
    reason: str = ""
    source_id: str = ""
    passage: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something asked that the evidence does not answer: a facet, and the questions left open in it."""

    facet: str
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What a check found. A check fills the fields that concern it and leaves the others empty.

    ``count`` of ``wanted`` is a number that falls short; ``quotes`` are pieces of the draft; ``detail`` is a short term
    that tells variants of a problem apart, never a sentence.
    """

    count: int = 0
    wanted: int = 0
    facets: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    claims: tuple[ClaimFact, ...] = ()
    gaps: tuple[Gap, ...] = ()
    detail: str = ""

    def fingerprint(self) -> str:
        """A hash that changes when, and only when, the facts do."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A problem of the table that is active, with its facts. ``artifact`` is the draft it speaks of, empty for none."""

    problem: str
    facts: Facts
    tier: Tier = "structural"
    artifact: Artifact | Literal[""] = "final_report"

"""Verdicts in words, for one audience at a time. A writer is never told to do what it has no tool for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from deepdelve.engine.completion.gaps import gap_sentence
from deepdelve.engine.completion.verdict import ClaimFact, Facts, Gap, Verdict
from deepdelve.engine.completion.wordings import WORDINGS, Wording
from deepdelve.utils.fence import fence
from deepdelve.utils.words import one_line

Audience = Literal["Planner", "FindingsWriter", "Builder", "person"]
MAX_SHOWN = 12
_QUOTE_CHARS = 300


@dataclass(frozen=True, slots=True)
class StandingRequirements:
    """What holds for every writing, whatever it mends.

    ``gaps`` are to be disclosed, ``steering`` are instructions of the person that came after research ended, ``language``
    is a language's English name. Passages of sources are shown only where the run's ``nonce`` is given to fence them.
    """

    gaps: tuple[Gap, ...] = ()
    steering: tuple[str, ...] = ()
    language: str = ""
    nonce: str = ""


def render(verdict: Verdict, audience: Audience, standing: StandingRequirements | None = None) -> str:
    """A verdict as what its audience needs to be told.

    A person gets one sentence. A role gets what to do with the tools it has, then the pieces concerned; Builder and
    FindingsWriter also get the standing requirements, since a rewrite for one problem would else undo another's mending.
    """
    wording = WORDINGS.get(verdict.problem, Wording(f"The completion check reports {verdict.problem}."))
    facts = verdict.facts
    if audience == "person":
        return _filled(wording.person, facts)
    needs = standing or StandingRequirements()
    said = _filled(_order(wording, audience), facts)
    parts = [said, *_pieces(facts), *(_standing(needs, audience) if audience != "Planner" else ())]
    if facts.claims and audience != "Planner":
        parts += _passages(facts.claims, needs.nonce)
    return "\n\n".join(part for part in parts if part)


def standing_text(standing: StandingRequirements, audience: Audience) -> str:
    """The standing requirements alone, for a first writing, which mends nothing."""
    return "\n\n".join(_standing(standing, audience))


def known_problems() -> frozenset[str]:
    """The problems that have a wording of their own."""
    return frozenset(WORDINGS)


def _order(wording: Wording, audience: Audience) -> str:
    own = {"Builder": wording.builder, "FindingsWriter": wording.findings, "Planner": wording.planner}.get(audience, "")
    if own:
        return own
    how = "Mend this with the tools you have." if audience == "Planner" else "Mend this in your file, from what it and findings.md hold."
    return f"{wording.person} {how}"


def _filled(template: str, facts: Facts) -> str:
    return template.format(
        count=facts.count,
        wanted=facts.wanted,
        facets=_listed(facts.facets),
        tasks=_listed(facts.tasks),
        sources=_listed(facts.source_ids),
        sections=_listed(facts.sections),
        gaps=_listed(gap.facet for gap in facts.gaps),
        detail=one_line(facts.detail, 80) or "items",
    )


def _listed(items: Iterable[str]) -> str:
    shown = [one_line(item, 100) for item in items]
    more = f" and {len(shown) - MAX_SHOWN} more" if len(shown) > MAX_SHOWN else ""
    return ", ".join(shown[:MAX_SHOWN]) + more if shown else "none"


def _pieces(facts: Facts) -> list[str]:
    lines = [f'- "{one_line(quote, _QUOTE_CHARS)}"' for quote in facts.quotes[:MAX_SHOWN]]
    lines += [_claim_line(claim) for claim in facts.claims[:MAX_SHOWN]]
    return ["\n".join(lines)] if lines else []


def _claim_line(claim: ClaimFact) -> str:
    cited = " ".join(f"[{i}]" for i in claim.citations)
    why = f" ({one_line(claim.reason, 160)})" if claim.reason else ""
    return f'- "{one_line(claim.text, _QUOTE_CHARS)}" {cited}{why}'.rstrip()


def _standing(standing: StandingRequirements, audience: Audience) -> list[str]:
    rules = ["Cite with source ids alone, as in [S3]; write no list of sources and no addresses."]
    if standing.language:
        rules.append(f"Write in {one_line(standing.language, 40)}, headings included.")
    if audience == "Builder":
        asked = [question for gap in standing.gaps for question in (gap.questions or (gap.facet,))]
        sentences = [gap_sentence(one_line(question, 200), standing.language) for question in dict.fromkeys(asked)]
        rules += ["\n".join(["Keep these sentences, or add them, word for word.", *(f"  {s}" for s in sentences)])] if sentences else []
        rules += [f"The person asked in addition: {one_line(text, 500)}" for text in standing.steering]
    return ["Whatever you change, this holds:\n" + "\n".join(f"- {rule}" for rule in rules)]


def _passages(claims: tuple[ClaimFact, ...], nonce: str) -> list[str]:
    """The best passages found for the claims, fenced: they are text from outside."""
    found = dict.fromkeys(f"{c.source_id}: {one_line(c.passage, _QUOTE_CHARS)}" for c in claims[:MAX_SHOWN] if c.passage and c.source_id)
    if not found or not nonce:
        return []
    return ["What the sources say, nearest to these statements:\n" + fence("\n".join(found), nonce)]

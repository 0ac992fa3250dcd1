"""Which active problem an attempt is spent on. Pure: the same history gives the same choice, and nobody starves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from deepdelve.engine.completion.table import TABLE, WRITER_REMEDIES, CheckSpec, by_problem, tier_problems
from deepdelve.engine.completion.verdict import Tier, Verdict

Ending = Literal["continue", "verified", "unverified"]


@dataclass(frozen=True, slots=True)
class ActiveFacts:
    """Fingerprints of an active problem: of its facts, and of the draft that its writer changes."""

    facts: str = ""
    artifact: str = ""


@dataclass(frozen=True, slots=True)
class Firing:
    """One attempt of this process: the problem that won, all that were active, and the winner's fingerprints then."""

    problem: str
    active: tuple[str, ...] = ()
    facts: ActiveFacts = ActiveFacts()


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do. ``named`` are all active problems that count, for the record or the label; in table order."""

    problem: str | None
    outcome: Ending
    named: tuple[str, ...] = ()


def choose(
    history: Sequence[Firing],
    active: Mapping[str, ActiveFacts],
    attempt: int,
    attempts: int,
    threshold: int = 3,
    table: Sequence[CheckSpec] = TABLE,
) -> Decision:
    """Decide on one look at the drafts.

    Args:
        history: the earlier attempts of this process, oldest first.
        active: the problems that are active now.
        attempt: which attempt this is, from 1. ``attempts`` is the last that may spend a remedy; the look after it
            (``attempts + 1``) only ends the run.
        attempts: how many attempts there are.
        threshold: T, how often in a row a problem may win.
        table: the rows in force.

    Returns:
        A problem to be mended (``continue``), or the end of the run.
    """
    rows = by_problem(table)
    last = attempt >= attempts
    counting = [spec for spec in table if spec.problem in active and (spec.blocks or not last)]
    named = tuple(spec.problem for spec in counting)
    if not counting:
        return Decision(None, "verified", tuple(p for p in rows if p in active))
    blocked: Ending = "unverified" if any(spec.blocks for spec in counting) else "verified"
    if attempt > attempts:
        return Decision(None, blocked, named)
    eligible = [spec for spec in counting if _eligible(spec, history, active, threshold)]
    if not eligible:
        return Decision(None, blocked, named)
    return Decision(_pick(eligible, history, threshold, rows).problem, "continue", named)


def streak(history: Sequence[Firing], problem: str, symptoms: frozenset[str] = frozenset()) -> int:
    """How many times in a row the problem won up to now, wins of its symptoms between not counted."""
    count = 0
    for firing in reversed(history):
        if firing.problem == problem:
            count += 1
        elif firing.problem not in symptoms:
            break
    return count


def firings(problems: Iterable[str], problem: str) -> int:
    """How many times the problem won in the whole run, earlier processes included."""
    return sum(name == problem for name in problems)


def force_rebuild(history: Sequence[Firing], spec: CheckSpec, threshold: int = 3) -> bool:
    """Whether the remedy now due should write the whole draft anew: mending in place failed often enough in a row.

    ``history`` ends with the firing that the remedy is for.
    """
    return "builder" in spec.remedy and streak(history, spec.problem, spec.symptoms) >= threshold


def active_facts(verdicts: Mapping[str, Verdict], hashes: Mapping[str, str]) -> dict[str, ActiveFacts]:
    """The fingerprints of verdicts. ``hashes`` gives the hash of each draft by artifact name."""
    return {p: ActiveFacts(facts=v.facts.fingerprint(), artifact=hashes.get(v.artifact, "")) for p, v in verdicts.items()}


def _eligible(spec: CheckSpec, history: Sequence[Firing], active: Mapping[str, ActiveFacts], threshold: int) -> bool:
    won = streak(history, spec.problem, spec.symptoms)
    if won < threshold:
        return True
    return won < 2 * threshold and bool(set(spec.remedy) & WRITER_REMEDIES) and _moved(spec.problem, history, active[spec.problem])


def _moved(problem: str, history: Sequence[Firing], now: ActiveFacts) -> bool:
    """Whether the last remedy for the problem changed both the draft and what is wrong with it."""
    last = next((firing.facts for firing in reversed(history) if firing.problem == problem), None)
    return last is not None and last.facts != now.facts and last.artifact != now.artifact


def _pick(eligible: list[CheckSpec], history: Sequence[Firing], threshold: int, rows: Mapping[str, CheckSpec]) -> CheckSpec:
    starved = _starved_tier(history, threshold, rows)
    waiting = [spec for spec in eligible if spec.tier == starved and spec.tier_member]
    if waiting:
        return _first(waiting, history, threshold, rows)
    first = _first([spec for spec in eligible if spec.tier == eligible[0].tier], history, threshold, rows)
    sibling = next((spec for spec in eligible if spec.problem == first.sibling), None)
    return sibling if sibling is not None and sum(firing.problem == first.problem for firing in history) >= 2 else first


def _starved_tier(history: Sequence[Firing], threshold: int, rows: Mapping[str, CheckSpec]) -> Tier | None:
    """The tier that had no turn in the last T attempts because the other one had them all."""
    recent = [firing.problem for firing in history[-threshold:]]
    if len(recent) < threshold:
        return None
    table = tuple(rows.values())
    if all(problem in tier_problems("structural", table) for problem in recent):
        return "grounding"
    return "structural" if all(problem in tier_problems("grounding", table) for problem in recent) else None


def _first(tier: list[CheckSpec], history: Sequence[Firing], threshold: int, rows: Mapping[str, CheckSpec]) -> CheckSpec:
    """The first of the tier in table order, but one that waited T + 1 of the tier's attempts goes before it, the longest first."""
    waits = {spec.problem: _waited(spec, history, rows) for spec in tier}
    longest = max(tier, key=lambda spec: waits[spec.problem])
    return longest if waits[longest.problem] > threshold else tier[0]


def _waited(spec: CheckSpec, history: Sequence[Firing], rows: Mapping[str, CheckSpec]) -> int:
    """How many attempts of its tier in a row the problem was active and another one won."""
    count = 0
    for firing in reversed(history):
        winner = rows.get(firing.problem)
        if winner is None or winner.tier != spec.tier:
            continue
        if firing.problem == spec.problem or spec.problem not in firing.active:
            break
        count += 1
    return count

"""The FindingsWriter: chooses the sources that together say most on the question, and lists their claims by facet."""

from collections.abc import Mapping, Sequence

from deepdelve.engine.backends.builtin.briefs import Evidence, directive_of, objected_ids, question_of, read_evidence
from deepdelve.engine.backends.builtin.conversation import Call, Conversation, Turn
from deepdelve.engine.backends.builtin.facets import split_question
from deepdelve.engine.backends.builtin.passages import defines, weigh_sources
from deepdelve.engine.backends.builtin.relevance import Ranked, SourceText, rank, weigh
from deepdelve.utils.text import terms

MAX_SOURCES = 8
# Every facet keeps its best sources, however the others compare.
EACH_FACET = 2
KEPT_SHARE = 0.4
# How much it counts that a source speaks of what the chosen ones do not.
NEW_PART = 1.0
# How much it counts that a source's claims speak of the question throughout.
DIRECT = 0.3
_DONE = "findings.md is written."


def findings_writer(conversation: Conversation) -> Turn:
    """Write findings.md once, from the evidence in the message."""
    message = conversation.latest
    if any(call.tool in {"write_workspace_file", "edit_workspace_file"} for call in conversation.recent):
        return Turn(text=_DONE)
    evidence = read_evidence(message)
    if not evidence or not conversation.may("write_workspace_file"):
        return Turn(text="There is no evidence to write from." if not evidence else _DONE)
    told = directive_of(message)
    question = question_of(message)
    chosen = choose(question, _without(evidence, told))
    text = render(question, chosen)
    return (
        Turn((Call("write_workspace_file", {"name": "findings.md", "text": text}),)) if chosen else Turn(text="No claim is left to write.")
    )


def choose(question: str, evidence: Sequence[Evidence], limit: int = MAX_SOURCES) -> list[Evidence]:
    """At most ``limit`` sources, the best for the question first; each facet is heard. One entry for each source."""
    entries = _merged(evidence)
    sources = [SourceText(entry.source_id, entry.title, "\n".join(entry.claims)) for entry in entries.values()]
    ranked = [entry for entry in rank(question, sources) if entry.score > 0]
    if not ranked:
        return list(entries.values())[:limit]
    kept_at_all = [entry for entry in ranked if entry.score >= KEPT_SHARE * ranked[0].score]
    order = _complementary(question, kept_at_all, _directness(question, entries))
    weighed = weigh(question, [])
    # What says what the thing is that is asked for stands first.
    order.sort(key=lambda source_id: not any(defines(weighed, claim) for claim in entries[source_id].claims))
    facets = dict.fromkeys(entries[source_id].facet for source_id in order)
    heard = [source_id for facet in facets for source_id in [s for s in order if entries[s].facet == facet][:EACH_FACET]]
    kept = set(list(dict.fromkeys([*heard, *order]))[:limit])
    return [entries[source_id] for source_id in order if source_id in kept]


def _directness(question: str, entries: Mapping[str, Evidence]) -> dict[str, float]:
    """How much of the question a source's claims hold on the average, 0 to 1, and 1 more where one says what the thing asked for is."""
    weighed = weigh_sources(question, [SourceText(key, entry.title, "\n".join(entry.claims)) for key, entry in entries.items()])
    return {
        key: sum(weighed.coverage(terms(claim)) for claim in entry.claims) / len(entry.claims)
        + any(defines(weighed, c) for c in entry.claims)
        for key, entry in entries.items()
    }


def _complementary(question: str, ranked: Sequence[Ranked], direct: Mapping[str, float]) -> list[str]:
    """Source ids from best to worst, where a source that speaks of a part of the question still open is worth more."""
    present = {entry.source.id: frozenset(terms(f"{entry.source.title} {entry.source.text}")) for entry in ranked}
    weighed = weigh(question, list(present.values()))
    left = {entry.source.id: entry.score + DIRECT * direct[entry.source.id] for entry in ranked}
    covered: frozenset[str] = frozenset()
    order: list[str] = []
    while left:
        gain = {key: score + NEW_PART * weighed.coverage(present[key] - covered) for key, score in left.items()}
        best = max(gain, key=lambda key: gain[key])
        order.append(best)
        covered |= present[best]
        del left[best]
    return order


def render(question: str, chosen: Sequence[Evidence]) -> str:
    """``findings.md``: facets in the question's order, a bullet for each claim with the sources that say so."""
    wanted = [facet.name for facet in split_question(question)]
    groups: dict[str, list[str]] = {facet: [] for facet in wanted}
    said: dict[str, list[str]] = {}
    for entry in chosen:
        for claim in entry.claims:
            if claim not in said:
                groups.setdefault(_facet_of(claim, entry, wanted), []).append(claim)
            said.setdefault(claim, []).append(entry.source_id)
    return "\n\n".join(_section(facet, claims, said) for facet, claims in groups.items() if claims) + "\n"


def _section(facet: str, claims: Sequence[str], said: Mapping[str, Sequence[str]]) -> str:
    """A heading and its claims, each with all the sources that say it in these words."""
    return f"## {facet}\n\n" + "\n".join(f"- {claim} [{', '.join(said[claim])}]" for claim in claims)


def _facet_of(claim: str, entry: Evidence, wanted: Sequence[str]) -> str:
    """The facet that a claim speaks of most; its source's own where no other is nearer."""
    said = frozenset(terms(claim))
    own = _spoken(entry.facet, said.union(terms(entry.title)))
    return max([entry.facet, *wanted], key=lambda facet: own if facet == entry.facet else _spoken(facet, said))


def _spoken(facet: str, said: frozenset[str]) -> float:
    asked = frozenset(terms(facet))
    return len(asked & said) / len(asked) if asked else 0.0


def _merged(evidence: Sequence[Evidence]) -> dict[str, Evidence]:
    """One entry for each source, under the facet that it speaks of most."""
    merged: dict[str, Evidence] = {}
    for entry in evidence:
        known = merged.get(entry.source_id)
        if known is None:
            merged[entry.source_id] = entry
            continue
        claims = tuple(dict.fromkeys([*known.claims, *entry.claims]))
        facet = max((known.facet, entry.facet), key=lambda name: _shared(name, entry.title, claims))
        merged[entry.source_id] = Evidence(entry.source_id, entry.title, facet, claims)
    return merged


def _shared(facet: str, title: str, claims: Sequence[str]) -> int:
    return len(set(terms(facet)) & set(terms(" ".join([title, title, *claims]))))


def _without(evidence: Sequence[Evidence], told: str) -> list[Evidence]:
    """The evidence without sources and claims that a directive objects to."""
    out = objected_ids(told)
    kept = [
        Evidence(entry.source_id, entry.title, entry.facet, tuple(claim for claim in entry.claims if claim not in told))
        for entry in evidence
        if entry.source_id not in out
    ]
    return [entry for entry in kept if entry.claims]

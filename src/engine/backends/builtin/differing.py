"""Sources that give different figures for one thing: the report sets them side by side, each in its own words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepdelve.engine.completion.relations import Measured, differing

WORDINGS = {
    "german": "Die Quellen widersprechen sich: ",
    "french": "Les sources divergent : ",
    "spanish": "Las fuentes difieren: ",
    "chinese": "各来源说法不一：",
}
ENGLISH = "Sources differ: "
MAX_SIDES = 4
_ENDS = " .!?。！？"


@dataclass(frozen=True)
class Difference:
    """``text`` is the sentence, with its citations; ``said`` the claims (ids and text) that it stands for."""

    text: str
    said: frozenset[tuple[str, str]]


def differences(claims: Sequence[tuple[str, str]], language: str = "") -> list[Difference]:
    """One sentence for each thing on which claims, given as ids ("S1" or "S1, S4") and text, differ; in the order of the claims."""
    return [_told(group, WORDINGS.get(language.casefold(), ENGLISH)) for group in _groups(differing(claims), claims)]


def _groups(pairs: Sequence[tuple[Measured, Measured]], claims: Sequence[tuple[str, str]]) -> Iterator[list[Measured]]:
    """The claims that differ, those on one thing together."""
    linked: dict[tuple[str, str], set[tuple[str, str]]] = {}
    known: dict[tuple[str, str], Measured] = {}
    for one, other in pairs:
        for a, b in ((one, other), (other, one)):
            linked.setdefault((a.source_id, a.text), set()).add((b.source_id, b.text))
            known[a.source_id, a.text] = a
    place = {claim: number for number, claim in reversed(list(enumerate(claims)))}
    seen: set[tuple[str, str]] = set()
    for first in sorted(known, key=lambda key: place.get(key, 0)):
        reach = [] if first in seen else [first]
        seen.add(first)
        for key in reach:
            reach += sorted(linked[key] - seen, key=lambda other: place.get(other, 0))
            seen |= linked[key]
        if reach:
            yield [known[key] for key in reach]


def _told(group: Sequence[Measured], start: str) -> Difference:
    """Each figure once, in the words of the first source that gives it, with all that give it."""
    sides: dict[str, tuple[str, list[str]]] = {}
    for measured in group:
        ids = sides.setdefault(f"{measured.quantity.value:g} {measured.quantity.unit}", (measured.text, []))[1]
        ids += [one for one in measured.source_id.split(", ") if one not in ids]
    told = "; ".join(f"{_quoted(text)} [{', '.join(ids)}]" for text, ids in list(sides.values())[:MAX_SIDES])
    return Difference(f"{start}{told}.", frozenset((measured.source_id, measured.text) for measured in group))


def _quoted(text: str) -> str:
    bare = text.rstrip(_ENDS)
    return bare if '"' in bare else f'"{bare}"'

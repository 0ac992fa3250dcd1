"""Citations typed in another form become source ids where the meaning is plain; ids that no source has are dropped."""

import re
from collections.abc import Mapping

from deepdelve.core.records import Source
from deepdelve.engine.completion.raised import without_raised_notes
from deepdelve.utils.grounding import citations
from deepdelve.utils.urls import canonical

_ID = re.compile(r"S\d+")


def mend_citations(draft: str, sources: Mapping[str, Source]) -> str:
    """The draft with every citation as ``[S12]``.

    A marker that points at no source, or at one named just before it, is taken out, and so are notes with raised figures.
    """
    parsed = citations.parse(draft, known=set(sources))
    by_url = {canonical(url): source.id for source in sources.values() for url in (source.url, source.final_url) if url}
    pieces: list[str] = []
    at = 0
    named: set[str] = set()
    for marker in sorted(parsed.markers, key=lambda m: m.start):
        between = draft[at : marker.start]
        # Markers with nothing but space between them stand at one place, where each source is named once.
        if between.strip() or "\n" in between:
            named = set()
        wanted = [_resolve(target, sources, by_url, parsed) for target in marker.targets]
        ids = [source_id for source_id in dict.fromkeys(wanted) if source_id and source_id not in named]
        named |= set(ids)
        written = draft[marker.start : marker.end]
        pieces.append(between if ids else between.rstrip(" "))
        pieces.append(written if ids and _ID.findall(written) == ids else "".join(f"[{source_id}]" for source_id in ids))
        at = marker.end
    return without_raised_notes("".join([*pieces, draft[at:]]))


def _resolve(target: str, sources: Mapping[str, Source], by_url: Mapping[str, str], parsed: citations.ParsedReport) -> str:
    """The id that a citation means, or an empty string. A bare number means what the draft's own list says it means, nothing else."""
    if target in sources:
        return target
    if target.upper() in sources:
        return target.upper()
    reference = parsed.references.get(target)
    url = reference.url if reference is not None else target
    return by_url.get(canonical(url), "") if url.startswith(("http://", "https://", "corpus://")) else ""

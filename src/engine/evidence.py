"""Which findings of a run count as evidence, and for which facet. Whether a flag excludes a finding is decided here alone."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from deepdelve.core.records import Finding, Flag, Source
from deepdelve.utils.run_state import RunState

# These doubts concern the words of the record itself, whatever addresses they name.
_WHOLE_RECORD = ("quote", "regulation")


def same_address(first: str, second: str) -> bool:
    """Whether two addresses differ at most in case of the host, scheme, fragment, or a closing slash."""
    return bool(first) and _address_key(first) == _address_key(second)


def excludes(flag: Flag, source: Source) -> bool:
    """Whether a flag of a finding makes that finding unfit to be cited.

    A flag that names addresses excludes findings of those addresses only. Quote and regulation flags exclude the
    record. A reconstructed address is a doubt about the address that was typed, never about the one that was fetched.
    """
    if flag.kind.startswith("reconstructed"):
        return False
    if flag.kind.startswith(_WHOLE_RECORD) or not flag.urls:
        return True
    return any(same_address(url, own) for url in flag.urls for own in (source.url, source.final_url))


def is_evidence(finding: Finding, state: RunState) -> bool:
    """Whether the finding says something about a citable source and no flag excludes it; a lead never is."""
    source = state.sources.get(finding.source_id)
    if finding.kind == "lead" or source is None or not source.citable or source.id in state.dropped_sources:
        return False
    if not (finding.claims or finding.summary.strip()):
        return False
    return not any(excludes(flag, source) for flag in finding.flags)


def evidence(state: RunState) -> list[Finding]:
    """The findings that may be cited, in order of their recording."""
    return [finding for finding in state.findings.values() if is_evidence(finding, state)]


def facet_of(finding: Finding, state: RunState) -> str:
    """The facet of a finding: its own, else that of its top-level task, else that task's name."""
    task = state.tasks.get(finding.top_task)
    return finding.facet or (task.facet if task is not None else "") or finding.top_task


def sources_by_facet(state: RunState) -> dict[str, tuple[str, ...]]:
    """Facet to the ids of the sources that speak of it, in order; only facets with evidence."""
    found: dict[str, dict[str, None]] = {}
    for finding in evidence(state):
        found.setdefault(facet_of(finding, state), {})[finding.source_id] = None
    return {facet: tuple(ids) for facet, ids in found.items()}


def source_order(ids: Iterable[str]) -> list[str]:
    """Source ids by their number: ``S2`` before ``S10``."""
    return sorted(ids, key=lambda i: (int(i[1:]) if i[1:].isdigit() else 0, i))


def _address_key(url: str) -> tuple[str, str, str]:
    try:
        parts = urlsplit(url.strip())
        return (parts.netloc.casefold().removeprefix("www."), parts.path.rstrip("/"), parts.query)
    except ValueError:
        return ("", url.strip(), "")

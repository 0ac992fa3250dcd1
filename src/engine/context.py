"""Everything that belongs to one run in this process, in one place."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from deepdelve.core.events import FollowUp
from deepdelve.core.records import Artifact, Claim
from deepdelve.engine.dispatch import Dispatcher
from deepdelve.engine.evidence_bundle import Bundle
from deepdelve.engine.research import Researcher
from deepdelve.engine.run import Run
from deepdelve.engine.services import Services
from deepdelve.utils.grounding.index import SourceIndex
from deepdelve.utils.grounding.support import Verifier
from deepdelve.utils.run_state import artifact_file


@dataclass
class RunContext:
    """A run with what works on it.

    ``late_instructions`` are steering words that came after research had ended; ``stage_note`` tells a resumed Planner how
    far the run has come; ``earlier`` are the questions that were put to a finished run before;
    ``bundle`` is the evidence that is still to be recorded; ``silent`` counts the passes of a writer that has written nothing
    yet, and ``has_written`` names the drafts whose writer has.
    """

    run: Run
    services: Services
    dispatcher: Dispatcher
    researcher: Researcher
    verifier: Verifier
    checked_by: str = ""
    stage_note: str = ""
    earlier: list[FollowUp] = field(default_factory=list[FollowUp])
    bundle: Bundle | None = None
    late_instructions: list[str] = field(default_factory=list[str])
    silent: Counter[Artifact] = field(default_factory=Counter[Artifact])
    has_written: set[Artifact] = field(default_factory=set[Artifact])
    ledger: list[Claim] = field(default_factory=list[Claim])
    _indexes: dict[str, tuple[str, SourceIndex]] = field(default_factory=dict[str, tuple[str, SourceIndex]])

    def draft(self, artifact: Artifact) -> str:
        """The text of a draft; empty where there is none."""
        return self.run.read_file(artifact_file(artifact))

    def indexes(self) -> Mapping[str, SourceIndex]:
        """One index for each source with text, built once per text."""
        found: dict[str, SourceIndex] = {}
        for source in self.run.state.citable_sources():
            known = self._indexes.get(source.id)
            if known is None or known[0] != source.sha256:
                known = (source.sha256, SourceIndex(source.id, self.run.read_source(source.id)))
                self._indexes[source.id] = known
            found[source.id] = known[1]
        return found

"""Which policy answers as which role. A policy is a pure function: a conversation in, the next turn out."""

from collections.abc import Callable, Mapping

from deepdelve.core.records import Role
from deepdelve.engine.backends.builtin.analyzer import analyzer
from deepdelve.engine.backends.builtin.builder import builder
from deepdelve.engine.backends.builtin.conversation import Conversation, Turn
from deepdelve.engine.backends.builtin.findings_writer import findings_writer
from deepdelve.engine.backends.builtin.peer_reviewer import peer_reviewer
from deepdelve.engine.backends.builtin.planner import planner
from deepdelve.engine.backends.builtin.searcher import searcher

Policy = Callable[[Conversation], Turn]

_POLICIES: Mapping[Role, Policy] = {
    "Planner": planner,
    "Searcher": searcher,
    "Analyzer": analyzer,
    "FindingsWriter": findings_writer,
    "Builder": builder,
    "PeerReviewer": peer_reviewer,
}


def policy_for(role: Role) -> Policy:
    """The policy of a role."""
    return _POLICIES[role]

"""The roles as data: who may call what, delegate to whom, and within which caps. Prompts are rendered from here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from deepdelve.config import nearest
from deepdelve.core.errors import ConfigError
from deepdelve.core.records import Role
from deepdelve.utils.words import one_line

if TYPE_CHECKING:
    from jinja2 import Template

RESEARCH_TOOLS = frozenset({"delegate_tasks", "web_search", "fetch_url_to_workspace", "search_verified_findings", "search_history"})
# Tools that act on the world or on others. No role that reads raw pages holds one (a test holds this).
ACTING_TOOLS = RESEARCH_TOOLS
READING_TOOLS = frozenset({"read_workspace_file", "grep_workspace_file", "extract_structured_data"})

Compaction = Literal["window", "none"]


@dataclass(frozen=True)
class RoleSpec:
    """One role.

    Attributes:
        tools: names of its tools.
        delegates_to: the role that its ``delegate_tasks`` dispatches.
        caps: calls by tool within one dispatch; a tool without a cap is held by the run's quota alone.
        max_iterations: model calls within one turn.
        compaction: ``none`` where the first message is the whole evidence, which compaction would delete at once.
        writer_gate: must write or edit before it may read.
        research: is nudged to write up when it ends with tool calls and no text.
    """

    name: Role
    tools: tuple[str, ...]
    delegates_to: Role | None = None
    caps: dict[str, int] = field(default_factory=dict[str, int])
    max_iterations: int = 16
    compaction: Compaction = "window"
    writer_gate: bool = False
    research: bool = False


_READ = ("read_workspace_file", "grep_workspace_file")
_WRITE = ("write_workspace_file", "edit_workspace_file")

ROLES: dict[Role, RoleSpec] = {
    spec.name: spec
    for spec in (
        RoleSpec(
            "Planner",
            ("write_plan", "delegate_tasks", "search_history", "think"),
            delegates_to="Searcher",
            caps={"think": 20, "search_history": 4},
        ),
        RoleSpec(
            "Searcher",
            ("web_search", "fetch_url_to_workspace", "search_verified_findings", "delegate_tasks", "think"),
            delegates_to="Analyzer",
            caps={"web_search": 8, "fetch_url_to_workspace": 12, "search_verified_findings": 3, "delegate_tasks": 4, "think": 8},
            max_iterations=24,
            research=True,
        ),
        RoleSpec(
            "Analyzer",
            (*_READ, "extract_structured_data", "think"),
            caps={"read_workspace_file": 24, "grep_workspace_file": 16, "extract_structured_data": 6, "think": 6},
            max_iterations=24,
            research=True,
        ),
        RoleSpec("FindingsWriter", (*_READ, *_WRITE, "think"), caps={"think": 4}, compaction="none", writer_gate=True),
        RoleSpec("Builder", (*_READ, *_WRITE, "think"), caps={"think": 4}, compaction="none"),
        RoleSpec("PeerReviewer", (*_READ, "think"), caps={"think": 4}, compaction="none"),
    )
}


def tools_of(role: Role, profile: str = "") -> tuple[str, ...]:
    """The tools of a role; a prose Analyzer does without the table tool."""
    tools = ROLES[role].tools
    if role == "Analyzer" and profile != "data":
        return tuple(name for name in tools if name != "extract_structured_data")
    return tools


def check_approvals(approvals: Mapping[str, str]) -> None:
    """Hold the settings' ``approvals`` against the tools that there are: a rule about no tool would protect nobody.

    Raises:
        ConfigError: one names no tool; it gives the nearest one.
    """
    known = sorted({tool for spec in ROLES.values() for tool in spec.tools})
    for name in approvals:
        if name not in known:
            near = nearest(name, known)
            hint = f"Did you mean {near}?" if near else f"The tools are {', '.join(known)}."
            raise ConfigError(f"settings.approvals names no tool: {one_line(name, 60)}.", hint)


def instructions(role: Role, *, date: str, language: str, profile: str = "", style: str = "standard") -> str:
    """A role's system prompt.

    Raises:
        jinja2.UndefinedError: the prompt names something that is not given (a test renders each).
    """
    return _template(role).render(
        role=role,
        date=date,
        language=language,
        profile=profile,
        style=style,
        tools=tools_of(role, profile),
        delegates_to=ROLES[role].delegates_to,
    )


@cache
def _template(role: Role) -> "Template":
    from jinja2 import Environment, StrictUndefined

    source = files("deepdelve.engine.prompts").joinpath(f"{role.lower()}.md").read_text("utf-8")
    return Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False).from_string(source)

"""What can be switched off by settings to see what it is worth: checks, remedies, passes. The one list of their names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from deepdelve.config import Settings
from deepdelve.engine.completion.table import disabled_checks, disabled_remedies, listing, remedy_names

Pass = Literal[
    "review",
    "leftovers",
    "rule_search",
    "question_as_task",
    "no_progress",
    "standing_gaps",
    "rebuild",
    "narrated",
    "restore",
    "hold_parts",
    "findings_by_code",
    "report_by_code",
]

PASSES: dict[Pass, str] = {
    "review": "a fresh reviewer reads each draft, and the writer mends what it objects to",
    "leftovers": "pages that were fetched and handed to no Analyzer are read all the same",
    "rule_search": "a Searcher that never searched is helped by one search by rule",
    "question_as_task": "where the Planner delegates nothing, the question itself is the one task",
    "no_progress": "rounds that bring nothing new end research",
    "standing_gaps": "the first writing of the report is told which gaps to disclose",
    "rebuild": "a report that mending has failed on is written anew",
    "narrated": "a report given as a reply instead of a file is kept",
    "restore": "where no draft stands, the best rejected one is brought back",
    "hold_parts": "a pass that was to mend one part and lost others is undone",
    "findings_by_code": "findings that no writer wrote are taken from the records",
    "report_by_code": "a report that no writer wrote is put together from the findings",
}


@dataclass(frozen=True, slots=True)
class Ablation:
    """What is switched off: problems whose check is, remedies, passes."""

    checks: frozenset[str] = frozenset()
    remedies: frozenset[str] = frozenset()
    passes: frozenset[str] = frozenset()


def ablation_of(switches: Mapping[str, bool]) -> Ablation:
    """The switches of the settings' ``ablation`` group.

    Raises:
        ConfigError: one has a name that nothing bears; it gives the nearest one.
    """
    names = {pass_switch(name): name for name in get_args(Pass)}
    checks = disabled_checks(switches, names)
    return Ablation(checks, disabled_remedies(switches), frozenset(name for switch, name in names.items() if switches.get(switch)))


def pass_switch(name: str) -> str:
    """The settings key that switches a pass off."""
    return f"disable_pass_{name}"


def overview(settings: Settings) -> dict[str, list[dict[str, Any]]]:
    """What the settings can switch off, and whether they do: ``checks`` in their order, ``remedies``, ``passes``.

    Raises:
        ConfigError: the settings switch off something that is not there.
    """
    off = ablation_of(settings.settings.ablation)
    passes = [{"pass": name, "what": what, "enabled": name not in off.passes} for name, what in PASSES.items()]
    remedies = [{"remedy": name, "enabled": name not in off.remedies} for name in remedy_names()]
    return {"checks": [dict(row) for row in listing(off.checks)], "remedies": remedies, "passes": passes}

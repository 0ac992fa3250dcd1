"""The page on the completion check says what the table says."""

import re
from pathlib import Path

import pytest

from deepdelve.engine.completion.table import TABLE, CheckSpec

PAGE = Path(__file__).parents[3] / "docs" / "completion.md"
REMEDIES = {
    "planner_nudge": "Planner nudge",
    "plan_note": "plan note",
    "deepening": "deepening",
    "acknowledge_gap": "acknowledged gap",
    "findings_writer": "FindingsWriter",
    "findings_entries": "its entries by code",
    "report_by_code": "report by code",
    "findings_facets": "FindingsWriter, facet by facet",
    "builder": "Builder",
    "builder_facets": "Builder, facet by facet",
    "gap_section": "gap section by code",
    "citation_repair": "repair by code",
}


def rows() -> dict[str, list[str]]:
    """Problem to its cells on the page; one line may hold several problems."""
    found: dict[str, list[str]] = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4:
            found |= dict.fromkeys(re.findall(r"`([a-z_]+)`", cells[1]), cells)
    return found


def test_the_page_lists_every_problem_in_the_tables_order() -> None:
    assert list(rows()) == [spec.problem for spec in TABLE]


@pytest.mark.parametrize("spec", TABLE, ids=lambda spec: spec.problem)
def test_its_remedies_are_those_of_the_table(spec: CheckSpec) -> None:
    told = rows()[spec.problem][3]
    wanted = ", ".join(REMEDIES[remedy] for remedy in spec.remedy)
    assert told == wanted + (", draft set aside" if spec.quarantine else "")


@pytest.mark.parametrize("spec", TABLE, ids=lambda spec: spec.problem)
def test_what_does_not_block_is_in_italics(spec: CheckSpec) -> None:
    assert (f"*`{spec.problem}`*" in rows()[spec.problem][1]) is not spec.blocks

"""The diagrams that are kept are those of the code."""

from pathlib import Path

import pytest

from deepdelve.engine.bounded import diagrams

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize(("kept", "made"), [("er/schema.mmd", diagrams.er_text), ("sequences/deep-research.mmd", diagrams.sequence_text)])
def test_the_kept_diagram_is_that_of_the_code(kept: str, made: object) -> None:
    assert (DOCS / kept).read_text() == made(), "run: make er"  # type: ignore[operator]


def test_the_tables_and_their_relations_are_drawn() -> None:
    text = diagrams.er_text()
    assert "deep_research_runs ||--o{ deep_research_sources : run_id" in text
    assert "pages |o--o{ deep_research_runs : synthesis_page_id" in text


def test_the_round_stands_in_the_order_of_the_loop() -> None:
    text = diagrams.sequence_text()
    places = [
        text.index(name) for name in ("_search_searxng", "_fetch_and_extract", "_assess_sufficiency", "_synthesize", "_ingest_synthesis")
    ]
    assert places == sorted(places)
    assert "concurrency=3" in text
    assert "bounded by max_iter" in text

"""Whole runs without a model: from a question and documents to a delivered report, through the real engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.local_questions import measure
from deepdelve.config import Settings
from deepdelve.core import events as ev
from deepdelve.core.requests import RunRequest, RunResult
from deepdelve.engine import facade
from tests.support.whole_run import RIVERS, RIVERS_QUESTION, RecordingSurface, write_corpus

TOWNS = {
    **RIVERS,
    "Elm": "# Elm\n\nElm is a town on the Alder with 4,000 inhabitants. Its mayor is Ada Quill.\n",
    "Quill": "# Ada Quill\n\nAda Quill is a politician. She was born in 1961 in Oakham.\n",
    "Cows": "# Cows\n\nCows graze on meadows. They eat grass all day.\n",
    "Trains": "# Trains\n\nTrains run on rails. Most of them are electric now.\n",
    "Bread": "# Bread\n\nBread is baked from flour and water. It keeps for days.\n",
}


async def run(folder: Path, question: str, **request: Any) -> tuple[RunResult, str, RecordingSurface]:
    surface = RecordingSurface()
    asked = RunRequest(question=question, corpus=(str(folder),), backend="builtin", **request)
    handle = await facade.start(asked, Settings(), surface)
    result = await handle.wait()
    return result, (handle.dir / "final_report.md").read_text("utf-8"), surface


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "docs", TOWNS)


async def test_a_question_becomes_a_verified_report_that_says_what_it_is(corpus: Path) -> None:
    result, report, _ = await run(corpus, RIVERS_QUESTION)
    assert (result.outcome, result.exit, result.problems) == ("verified", 0, ())
    assert "without a language model" in report.splitlines()[0]
    assert "The Alder is 212 kilometres long." in report
    assert "The Birch is 98 kilometres long." in report
    assert {citation.title for citation in result.citations} >= {"The Alder", "The Birch"}


async def test_every_cited_sentence_stands_in_a_source_of_the_run(corpus: Path) -> None:
    result, _, _ = await run(corpus, RIVERS_QUESTION)
    claims = facade.claims(result.run_id)
    assert claims
    for claim in claims:
        assert claim.status == "supported"
        assert claim.passage is not None
        text = facade.source_text(result.run_id, claim.passage.source_id)
        assert claim.passage.quote in text


async def test_it_follows_a_name_to_the_document_that_answers(corpus: Path) -> None:
    result, report, surface = await run(corpus, "In which year was the mayor of Elm born?")
    assert "1961" in report
    assert "Ada Quill" in {citation.title for citation in result.citations}
    assert any("Ada Quill" in event.query for event in surface.of(ev.SearchDone))


async def test_real_tools_are_called_by_every_role(corpus: Path) -> None:
    _, _, surface = await run(corpus, RIVERS_QUESTION)
    called = {(event.role, event.tool) for event in surface.of(ev.ToolCalled)}
    assert called >= {
        ("Planner", "write_plan"),
        ("Planner", "delegate_tasks"),
        ("Searcher", "web_search"),
        ("Searcher", "fetch_url_to_workspace"),
        ("Searcher", "delegate_tasks"),
        ("Analyzer", "read_workspace_file"),
        ("FindingsWriter", "write_workspace_file"),
        ("PeerReviewer", "read_workspace_file"),
        ("Builder", "write_workspace_file"),
    }
    assert surface.of(ev.ToolRefused) == []


@pytest.mark.parametrize(
    "question", ["What is the boiling point of tungsten?", "Who is the mayor of Reykjavik?", "東京の人口は何人ですか?"]
)
async def test_what_the_documents_do_not_answer_is_said_and_nothing_is_cited(corpus: Path, question: str) -> None:
    result, report, _ = await run(corpus, question)
    assert (result.outcome, result.exit, result.citations) == ("no_evidence", 3, ())
    assert "[1]" not in report
    assert question.rstrip("?") in report


async def test_a_half_answered_comparison_names_its_gap(corpus: Path) -> None:
    _, report, _ = await run(corpus, "Which is longer, the Alder or the Zambezi?")
    assert "212 kilometres" in report
    assert "No source in the available evidence directly states: Zambezi" in report


@pytest.mark.parametrize("style", ["answer", "academic"])
async def test_other_styles_are_delivered_too(corpus: Path, style: Any) -> None:
    result, report, _ = await run(corpus, RIVERS_QUESTION, style=style)
    assert result.outcome == "verified"
    assert "212 kilometres" in report
    if style == "answer":
        assert len(report.partition("## Sources")[0].split()) <= 300


@pytest.mark.parametrize("depth", ["quick", "deep"])
async def test_other_depths_keep_within_their_quotas(corpus: Path, depth: Any) -> None:
    result, _, surface = await run(corpus, "How do Alder, Birch and Elm compare, and is Alder or Birch longer?", depth=depth)
    assert result.outcome == "verified"
    assert len(surface.of(ev.ToolRefused)) < 6


async def test_a_long_document_is_searched_beyond_its_first_pages(tmp_path: Path) -> None:
    filler = "\n\n".join(f"Paragraph {n} tells of cows that graze on a meadow by the sea." for n in range(900))
    text = f"# Chronicle\n\n{filler}\n\n## Lighthouse\n\nThe lighthouse keeper of Elm was Ida Brook until 1904.\n\n{filler}\n"
    folder = write_corpus(tmp_path / "docs", {"chronicle": text, "cows": TOWNS["Cows"]})
    result, report, _ = await run(folder, "Who was the lighthouse keeper of Elm?")
    assert result.outcome == "verified"
    assert "Ida Brook" in report


async def test_a_follow_up_is_answered_from_the_report(corpus: Path) -> None:
    result, _, surface = await run(corpus, RIVERS_QUESTION)
    settings = Settings()
    settings.api.backend = "builtin"
    known = await (await facade.ask(result.run_id, "When was the Birch dammed?", settings, surface)).wait()
    assert "It was dammed in 1931" in known.answer
    unknown = await (await facade.ask(result.run_id, "What is the boiling point of tungsten?", settings, surface)).wait()
    assert "No source in the available evidence directly states" in unknown.answer


# The benchmark


async def test_the_benchmark_counts_cited_gold_titles(tmp_path: Path, isolated: Path) -> None:
    passages, questions = tmp_path / "p.jsonl", tmp_path / "q.jsonl"
    rows = [{"title": text.split("\n")[0].lstrip("# "), "text": text.split("\n\n")[1]} for text in TOWNS.values()]
    passages.write_text("\n".join(map(json.dumps, rows)))
    asked = [
        {"id": "1", "question": "How long is the Alder?", "gold": ["The Alder"]},
        {"id": "2", "question": "How long is the Alder?", "gold": ["The Alder", "Bread"]},
        {"id": "3", "question": "What is tungsten?", "gold": ["Cows"]},
        {"id": "4", "question": "never asked", "gold": []},
    ]
    questions.write_text("\n".join(map(json.dumps, asked)))
    found = await measure(passages, questions, 3, "standard", False)
    assert (found.questions, found.all_gold, found.any_gold) == (3, 1, 2)
    assert 1 <= found.max_cited <= 8
    assert found.cpu_seconds > 0


async def test_a_date_that_is_said_of_it_reaches_the_report(tmp_path: Path) -> None:
    bridge = {"Tay": "The Tay Bridge opened in 1878. It fell in a storm on 28 December 1879.\n"}
    _, report, _ = await run(write_corpus(tmp_path, bridge), "When did the Tay Bridge fall?")
    assert "The Tay Bridge opened in 1878. [1] It fell in a storm on 28 December 1879. [1]" in report

"""Evidence that does not speak of what was asked: the run says so at once, and writes nothing from it."""

import json

import pytest

from deepdelve.core import events as ev
from tests.support.faults import BREAD
from tests.support.incidents import dispatches, finds_nothing_about, winners
from tests.support.whole_run import RIVERS, good_planner, good_rules, run_scripted, start_evidence_only, write_corpus

ASKED = "How expensive are heat pumps in Denmark?"
ALDER = "The Alder is a river in the north. Salmon live in the Alder. The Alder is 212 kilometres long."
PUMPS = "In Denmark an air-to-water heat pump costs 90,000 DKK with its installation."
WRITERS = {"FindingsWriter", "Builder", "PeerReviewer"}


def bundle(folder, *rows):
    folder.mkdir(parents=True)
    lines = [{"source_url": f"https://{name}.example/", "title": name, "text": text, **more} for name, text, more in rows]
    (folder / "evidence.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    return folder


def roles(run):
    return {event.role for event in run.surface.of(ev.DispatchStarted)}


@pytest.mark.parametrize("facet", [{}, {"facet": "river Alder"}, {"summary": ALDER}], ids=["no facet", "a facet of its own", "a summary"])
async def test_a_bundle_that_is_all_beside_the_question_costs_no_writer_and_ends_as_no_evidence(tmp_path, facet):
    run = await start_evidence_only(good_rules(), bundle(tmp_path / "b", ("Alder", ALDER, facet)), question=ASKED)
    assert (run.result.outcome, run.result.exit) == ("no_evidence", 3)
    assert (run.factory.calls, winners(run)) == ([], [])
    assert run.result.citations == ()
    body, notes = run.report.split("**Notes on this report**")
    assert "directly states: How expensive are heat pumps in Denmark?" in body
    assert "212" not in body
    assert "What was read shares no word with the question: Alder." in notes


async def test_one_line_to_the_point_is_enough(tmp_path):
    rows = (("Alder", ALDER, {"facet": "river Alder"}), ("Pumps", PUMPS, {"facet": "price"}))
    run = await start_evidence_only(good_rules(), bundle(tmp_path / "b", *rows), question=ASKED)
    assert roles(run) == WRITERS
    assert "90,000 DKK" in run.report
    assert "shares no word" not in run.report


@pytest.mark.parametrize(
    ("question", "text", "facet"),
    [
        ("How long is the river Alder and where does it rise?", "El Alder es un río del norte y tiene 212 kilómetros de largo.", "río"),
        ("Which waters of the north are longest?", ALDER, "the longest waters"),
        ("Alder?", "Salmon live in that river, which is 212 kilometres long.", "a river"),
    ],
    ids=["another language", "a facet in the words of the question", "one word asked for"],
)
async def test_what_words_cannot_tell_is_left_to_the_writers(tmp_path, question, text, facet):
    run = await start_evidence_only(good_rules(), bundle(tmp_path / "b", ("page", text, {"facet": facet})), question=question)
    assert roles(run) == WRITERS


async def test_research_that_found_only_pages_on_something_else_ends_as_no_evidence_as_well(tmp_path):
    documents = {"Sourdough": f"{BREAD}\nThe third part is eaten warm.\n"}
    rules = good_rules(Planner=good_planner(("third part", "third part")))
    run = await run_scripted(rules, write_corpus(tmp_path / "c", documents), question="How expensive are heat pumps in Denmark?")
    assert run.run.state.findings
    assert (run.result.outcome, run.result.citations) == ("no_evidence", ())
    assert not dispatches(run, "Builder")


async def test_a_seed_that_says_nothing_on_the_question_does_not_stand_for_its_research(tmp_path):
    """The reading of a seed has the question for its words: the Planner's own task was refused as the same under another name."""
    corpus = write_corpus(tmp_path / "c", {"Birch": RIVERS["Birch"]})
    seed = write_corpus(tmp_path / "s", {"Alder": RIVERS["Alder"]}) / "Alder.md"
    rules = good_rules(
        Planner=good_planner(("How long is the river Birch", "How long is the river Birch?")),
        Analyzer=finds_nothing_about("What the given"),
    )
    run = await run_scripted(rules, corpus, question="How long is the river Birch?", seed_docs=(str(seed),))
    assert not run.surface.of(ev.ToolRefused)
    assert run.run.state.tasks["How long is the river Birch"].state == "done"
    assert "98 kilometres" in run.report
    assert run.result.outcome == "verified"

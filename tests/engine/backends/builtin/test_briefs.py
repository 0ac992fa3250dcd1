"""The engine's first messages, taken apart."""

import pytest

from deepdelve.engine.backends.builtin.briefs import Evidence, directive_of, question_of, read_brief, read_evidence
from tests.engine.backends.builtin.build import evidence_message, reading_brief, search_brief
from tests.support.patience import in_proportion

EVIDENCE = """## Alder

[S1] The Alder, 2020-01-02
- The Alder is 212 km long. "The Alder is 212 km long"
- It is called "the long one" by many. "It is called "the long one" by many"

[S2] Rivers
- Rivers flow.

## Birch

[S3] The Birch
- The Birch is short. "The Birch is short.[4]"
"""


def test_a_message_without_labels_is_the_question() -> None:
    assert read_brief("How long is the Alder?").question == "How long is the Alder?"
    assert read_brief("Line one\n\nline two: three").question == "Line one line two: three"
    assert read_brief("").focus == ""


def test_a_searchers_brief_names_its_task_and_leads() -> None:
    brief = read_brief(search_brief("Alder length\nDirections worth following: Elm; Ada Quill", question="Rivers?"))
    assert brief.question == "Rivers?"
    assert brief.focus == brief.instructions == "Alder length"
    assert brief.leads == ("Elm", "Ada Quill")


def test_a_brief_without_instructions_falls_back_on_the_task() -> None:
    brief = read_brief("Answer from the sources.\nQuestion of the whole run: Rivers?\nYour task: How long?\nSources to read: S1, S12")
    assert brief.question == "Rivers?"
    assert brief.focus == "How long?"
    assert brief.sources == ("S1", "S12")
    assert not brief.on_report
    assert read_brief("Your task: t\nThe report:\n<<<untrusted a>>>\n# x\n<<<end a>>>").on_report


def test_titles_come_from_the_fence_and_ids_do_not() -> None:
    brief = read_brief(reading_brief("What?", {"S1": "Alder: a river (north)", "S2": "S9: odd title"}))
    assert brief.sources == ("S1", "S2")
    assert brief.titles == {"S1": "Alder: a river (north)", "S2": "S9: odd title"}


def test_labels_inside_a_fence_are_text() -> None:
    brief = read_brief(reading_brief("What?", {"S1": "x\nSources to read: S77\nInstructions: obey"}))
    assert brief.sources == ("S1",)
    assert brief.instructions == "What?"


def test_evidence_is_read_with_its_facets_and_without_its_quotes() -> None:
    assert read_evidence(evidence_message("Q?", EVIDENCE)) == [
        Evidence("S1", "The Alder, 2020-01-02", "Alder", ("The Alder is 212 km long.", 'It is called "the long one" by many.')),
        Evidence("S2", "Rivers", "Alder", ("Rivers flow.",)),
        Evidence("S3", "The Birch", "Birch", ("The Birch is short.",)),
    ]


def test_a_claim_that_ends_with_a_quotation_of_its_own_keeps_it() -> None:
    (entry,) = read_evidence(evidence_message("Q?", '## F\n\n[S1] T\n- They called it "the long one"'))
    assert entry.claims == ('They called it "the long one"',)


def test_a_quote_that_was_cut_within_a_word_is_still_taken_off() -> None:
    claim = "The Alder is a river in the north of the country, " * 8 + "and it is long"
    (entry,) = read_evidence(evidence_message("Q?", f'## F\n\n[S1] T\n- {claim} "{claim[:400]}"'))
    assert entry.claims == (claim,)


def test_there_is_no_evidence_without_its_label() -> None:
    assert read_evidence("Question: Q?\n\n<<<untrusted a>>>\n## F\n\n[S1] T\n- c\n<<<end a>>>") == []
    assert read_evidence(evidence_message("Q?", "")) == []


def test_a_directive_is_what_stands_outside_the_fences() -> None:
    message = evidence_message("Q?", EVIDENCE, "Mend this: the claim.", draft="## Old\n\n- stale [S1]")
    told = directive_of(message)
    assert "Mend this: the claim." in told
    assert "stale" not in told
    assert "212" not in told


def test_the_question_of_a_writer_ends_before_the_directive() -> None:
    assert question_of(evidence_message("How long is it?", EVIDENCE, "Mend this.")) == "How long is it?"


@pytest.mark.parametrize(
    "message",
    [
        "Your last pass left final_report.md unchanged.\n\nQuestion: How long is it?\n\nParts of the question: a; b",
        "A reviewer objects.\n- x\n\nThe file now:\n<<<untrusted a>>>\nQuestion: Other?\n<<<end a>>>\n\n"
        "The task as it was given:\nQuestion: How long is it?",
        "Question: How long\nis it?\n\nThis run was interrupted and goes on now.",
        "Question: How long is it?\nParts of the question: a; b",
    ],
)
def test_the_question_is_found_wherever_its_label_stands(message: str) -> None:
    assert question_of(message) == "How long is it?"


def test_time_grows_no_faster_than_the_message() -> None:
    rows = [*['- "a" "b" "c" "d"\n'] * 1_000]
    in_proportion(lambda rows: read_evidence(evidence_message("Q?", "## F\n\n[S1] T\n" + "".join(rows))), rows)
    in_proportion(lambda marks: read_evidence(evidence_message("Q?", "## F\n\n[S1] T\n- x" + marks + '"')), ' "y' * 2_000)
    in_proportion(lambda fences: directive_of("".join(fences)), ["text\n<<<untrusted a>>>\nx\n<<<end a>>>\n"] * 500)

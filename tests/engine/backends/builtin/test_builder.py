"""The Builder: an extractive report in the form that is asked for."""

import pytest

from deepdelve.engine.backends.builtin.builder import builder, read_findings, report
from deepdelve.engine.backends.builtin.conversation import Call, Conversation
from deepdelve.engine.completion.gaps import gap_question
from deepdelve.engine.completion.wordings import WORDINGS
from tests.engine.backends.builtin.build import ALL_TOOLS, conversation, read

QUESTION = "Which river is longer, the Alder or the Birch?"
TASK = f"Question: {QUESTION}"
FINDINGS = """## Alder

- The Alder is a river 212 km long. [S1]
- Cows graze on its banks. [S1]
- Its longer arm is dry. [S4]

## Birch

- The Birch is a river 98 km long. [S3, S5]
No source in the available evidence directly states: the depth of the Birch.
"""
ANSWER = "Form: the answer first, at most 250 words in all, no headings but one title."
ACADEMIC = "Form: # title, ## Abstract, ## Background, ## Findings, ## Discussion, ## Limitations"


def written(findings: str = FINDINGS, *asked: str, form: str = "") -> str:
    (call,) = builder(conversation(*(asked or (TASK,)), calls=[read("findings.md", findings)], form=form)).calls
    assert (call.tool, call.args["name"]) == ("write_workspace_file", "final_report.md")
    return str(call.args["text"])


def test_it_reads_the_findings_to_their_end_first() -> None:
    (call,) = builder(conversation(TASK)).calls
    assert call.args == {"name": "findings.md", "start_line": 1}
    (call,) = builder(conversation(TASK, calls=[read("findings.md", "## A\n\n- a [S1]", more=True)])).calls
    assert call.args == {"name": "findings.md", "start_line": 4}


def test_both_parts_of_long_findings_are_used() -> None:
    parts = [
        read("findings.md", "## Alder\n\n- The Alder is long. [S1]", more=True),
        read("findings.md", "- The Alder is deep. [S2]", first=4),
    ]
    (call,) = builder(conversation(TASK, calls=parts)).calls
    assert "The Alder is deep. [S2]" in call.args["text"]


def test_the_report_has_a_title_and_a_section_a_facet_of_cited_sentences() -> None:
    text = written()
    assert text.startswith(f"# {QUESTION}\n\n## Alder\n\nThe Alder is a river 212 km long. [S1]")
    assert "## Birch\n\nThe Birch is a river 98 km long. [S3, S5]" in text


def test_every_sentence_of_the_report_stands_in_the_findings() -> None:
    lines = [line for line in written().split("\n") if line and not line.startswith("#") and not gap_question(line)]
    for sentence in [part.strip() for line in lines for part in line.replace("]", "]\n").split("\n") if part.strip()]:
        assert f"- {sentence}" in FINDINGS


def test_a_question_of_one_facet_needs_no_heading_for_it() -> None:
    text = written("## How long is the Alder\n\n- It is 212 km long. [S1]\n", "Question: How long is the Alder?")
    assert text == "# How long is the Alder?\n\nIt is 212 km long. [S1]\n"


def test_gaps_are_named() -> None:
    assert "No source in the available evidence directly states: the depth of the Birch." in written()
    without = written("## Alder\n\n- The Alder is a river 212 km long. [S1]\n")
    assert "No source in the available evidence directly states: Birch." in without


def test_a_part_that_a_sentence_under_another_heading_speaks_of_is_no_gap() -> None:
    text = written("## Alder\n\n- The Alder is longer than the Birch by far. [S1]\n")
    assert "directly states" not in text


def test_a_sentence_without_a_word_of_the_question_stands_only_where_its_source_has_no_other() -> None:
    findings = "## Which plant is tall\n\n- Questions follow. [S1]\n- The plant is tall. [S1]\n- It was born in 1961. [S2]\n"
    text = written(findings, "Question: Which plant is tall?")
    assert "Questions follow" not in text
    assert "The plant is tall. [S1]" in text
    assert "It was born in 1961. [S2]" in text


def test_the_second_sentence_of_a_source_says_what_is_not_said_yet() -> None:
    claims = [*(f"- Pumps and valves number {n} drive it. [S1]" for n in range(6)), "- A turbine is there. [S1]"]
    others = [f"- Pump {n} and valve. [S{n + 2}]" for n in range(5)]
    text = written("\n".join(["## F", "", *claims, *others]), "Question: Which pumps, valves and turbine?")
    assert "A turbine is there. [S1]" in text
    assert text.count("[S1]") == 2


def test_a_sentence_that_leads_to_such_a_source_stays() -> None:
    findings = "## F\n\n- Elm is a town. [S1]\n- Its mayor is Ada Quill. [S1]\n- Ada Quill was born in 1961. [S2]\n"
    text = written(findings, "Question: Which town is Elm?")
    assert "Its mayor is Ada Quill. [S1]" in text
    assert "Ada Quill was born in 1961. [S2]" in text


@pytest.mark.parametrize("problem", ["off_topic_source", "stub_source", "unresolved_citation", "no_urls"])
def test_nothing_rests_on_sources_that_a_directive_takes_out(problem: str) -> None:
    told = WORDINGS[problem].builder.format(sources="S4, S1")
    text = written(FINDINGS, f"{TASK}\n\n{told}")
    assert "[S1]" not in text
    assert "[S4]" not in text
    assert "98 km long. [S3, S5]" in text


def test_a_gap_that_a_directive_asks_for_is_named() -> None:
    told = f"{TASK}\n\nDisclose. No source in the available evidence directly states: the width of the Alder."
    assert "directly states: the width of the Alder." in written(FINDINGS, told)


def test_a_question_of_which_the_sentences_hold_next_to_nothing_is_a_gap() -> None:
    told = "Question: Which court decided the first quarrel about the Alder bridge tolls?"
    text = written("## F\n\n- The Alder is a river of 212 km. [S1]\n- Mills stand on its banks. [S2]\n", told)
    assert "No source in the available evidence directly states: Which court decided" in text
    assert "212 km" in text, "what there is stands all the same"


def test_a_source_far_from_the_question_is_not_heard() -> None:
    near = "- The county court decided the quarrel about the bridge tolls. [S1]\n- It sat for three days, the court said. [S1]\n"
    asked = "Question: Which court decided the quarrel about the bridge tolls of the county?"
    text = written(f"## F\n\n{near}- Trains pass a bridge. [S2]\n", asked)
    assert text.count("[S1]") == 2
    assert "[S2]" not in text


def test_gaps_are_named_in_the_language_of_the_report() -> None:
    assert "Keine Quelle" in written("## Alder\n\n- Die Erle ist lang. [S1]\n", form="Write in German, headings included.")


def test_a_sentence_that_a_directive_objects_to_is_left_out() -> None:
    told = f'{TASK}\n\nThe cited sources do not carry this: "Cows graze on its banks."'
    assert "Cows" not in written(FINDINGS, told)


def test_a_source_that_a_directive_wants_out_is_left_out() -> None:
    told = "These sources do not speak of what they are cited for: S4. Rest the statements on other ids of findings.md, or take them out."
    text = written(FINDINGS, f"{TASK}\n\n{told}\n\n- Cite with source ids alone, as in [S3].")
    assert "[S4]" not in text
    assert "[S1]" in text
    assert "[S3, S5]" in text


def test_a_source_that_a_directive_wants_in_is_no_objection() -> None:
    told = "The report cites 1 of 3 sources of findings.md. Add what the others carry, with their ids: S4."
    assert "[S4]" in written(FINDINGS, f"{TASK}\n\n{told}")


@pytest.mark.parametrize(
    "before", ["Your last pass left final_report.md unchanged, to the letter.", "A reviewer objects.\n- twice\n\nThe task:"]
)
def test_what_stands_before_the_question_is_not_the_title(before: str) -> None:
    assert written(FINDINGS, f"{before}\n\n{TASK}\n\nMend it.").startswith(f"# {QUESTION}\n")


def test_an_answer_is_short_and_has_no_headings_but_its_title() -> None:
    long = "## Alder\n\n" + "\n".join(f"- The Alder is a river of {n} km and {'word ' * 40}ends. [S{n}]" for n in range(1, 20))
    text = written(long, form=ANSWER)
    assert text.count("#") == 1
    assert len(text.split()) <= 250
    assert "[S1]" in text


def test_an_academic_report_has_its_headings() -> None:
    text = written(form=ACADEMIC)
    for heading in ("## Abstract", "## Background", "## Findings", "## Limitations"):
        assert heading in text
    assert "### Birch" in text


def test_the_best_sentence_of_each_source_comes_before_a_second_of_any() -> None:
    many = "## Alder\n\n" + "\n".join(f"- The Alder has part {n} of {k}. [S{n}]" for n in range(1, 9) for k in range(4))
    text = report(QUESTION, read_findings(many)[0], [], "")
    assert all(f"[S{n}]" in text for n in range(1, 9))
    assert text.count("[S1]") == 2


def test_one_source_alone_may_say_more() -> None:
    many = "## Alder\n\n" + "\n".join(f"- The Alder has part {n}. [S1]" for n in range(20))
    assert report(QUESTION, read_findings(many)[0], [], "").count("[S1]") == 10


def test_it_writes_once_and_ends() -> None:
    calls = (read("findings.md", FINDINGS), Call("write_workspace_file", {"name": "final_report.md", "text": "x"}, '{"written": "x"}'))
    assert builder(Conversation((TASK,), calls, 0, ALL_TOOLS)).text == "final_report.md is written."


@pytest.mark.parametrize("findings", ["", "## Alder\n\nno bullet here", "- no id", "- [S1]"])
def test_findings_without_claims_give_no_report(findings: str) -> None:
    turn = builder(conversation(TASK, calls=[read("findings.md", findings)]))
    assert turn.calls == ()
    assert turn.text


def test_it_does_not_read_for_ever() -> None:
    endless = [read("findings.md", "## A\n\n- a b c [S1]", more=True) for _ in range(16)]
    assert builder(conversation(TASK, calls=endless)).calls[0].tool == "write_workspace_file"


DIFFERING = """## Alder

- The Alder river is 212 km long. [S1]
- Its water is cold. [S1]
- The Alder river is 212 km long by now. [S4]
- The Alder river is 250 km long. [S2]
- The Birch river is 98 km long. [S2]
"""


def test_sources_that_differ_on_a_figure_are_set_side_by_side_in_one_sentence() -> None:
    text = written(DIFFERING, "Question: How long is the Alder river?")
    assert 'Sources differ: "The Alder river is 212 km long" [S1, S4]; "The Alder river is 250 km long" [S2].' in text
    assert text.count("212 km") == text.count("250 km") == 1


def test_they_are_named_where_only_one_of_them_would_have_room() -> None:
    text = written(DIFFERING, "Question: How long is the Alder river?", form="Form: at most 40 words")
    assert "212 km" in text
    assert "250 km" in text


def test_they_are_named_in_the_language_of_the_report() -> None:
    assert "Die Quellen widersprechen sich: " in written(DIFFERING, "Question: How long is the Alder river?", form="Write in German")


def test_figures_of_different_things_are_no_difference() -> None:
    assert "differ" not in written("## A\n\n- The Alder river is 212 km long. [S1]\n- The Birch river is 98 km long. [S2]\n")


def test_every_facet_is_heard_where_one_source_speaks_of_all() -> None:
    findings = "".join(
        f"## {name}\n\n" + "".join(f"- The {name} has {n} fish. [S1]\n" for n in range(6)) + "\n" for name in ("Alder", "Birch")
    )
    text = written(findings, "Question: Compare the Alder and the Birch: how many fish?")
    assert "## Alder" in text
    assert "## Birch" in text


DATED = """## Directive

- The government must go on with directive 19-02 on vulnerabilities, as it has begun. [S1]
- Since 2015 critical vulnerabilities were open for 30 days or more in some agencies of the government. [S1]
- Critical vulnerabilities must be mended within 15 days. [S1]
- This directive does not replace BOD 19-02 on critical vulnerabilities. [S2]
- Within 60 days agencies shall write a plan. [S2]
"""


def test_a_sentence_with_the_span_that_is_asked_for_is_in_the_report_whatever_names_the_others_hold() -> None:
    text = written(DATED, "Question: How quickly must critical vulnerabilities be mended under BOD 19-02?")
    assert "within 15 days. [S1]" in text


def test_where_no_time_or_number_is_asked_for_none_is_preferred() -> None:
    asked = "Question: What does BOD 19-02 say on critical vulnerabilities?"
    assert "does not replace BOD 19-02" in written(DATED, asked)


def test_what_the_question_leaves_out_is_not_told() -> None:
    text = written(FINDINGS, "Question: How long are the Alder and the Birch, excluding cows?")
    assert "Cows graze" not in text
    assert "212 km" in text

"""The FindingsWriter: the best sources, every facet heard, each claim once."""

from deepdelve.engine.backends.builtin.briefs import Evidence
from deepdelve.engine.backends.builtin.conversation import Conversation
from deepdelve.engine.backends.builtin.findings_writer import MAX_SOURCES, choose, findings_writer, render
from tests.engine.backends.builtin.build import ALL_TOOLS, conversation, evidence_message

QUESTION = "Which river is longer, the Alder or the Birch?"
EVIDENCE = """## Alder

[S1] The Alder
- The Alder is a river 212 km long. "The Alder is a river 212 km long"

[S2] Cows
- Cows graze. "Cows graze"

## Birch

[S3] The Birch
- The Birch is a river 98 km long. "The Birch is a river 98 km long"
"""


def written(message: str) -> str:
    (call,) = findings_writer(conversation(message)).calls
    assert (call.tool, call.args["name"]) == ("write_workspace_file", "findings.md")
    return str(call.args["text"])


def entry(number: int, *claims: str, facet: str = "F", title: str = "") -> Evidence:
    return Evidence(f"S{number}", title or f"T{number}", facet, claims)


def chosen(question: str, *evidence: Evidence, limit: int = MAX_SOURCES) -> list[str]:
    return [found.source_id for found in choose(question, evidence, limit)]


def test_findings_are_sections_of_cited_claims_in_the_questions_order() -> None:
    text = written(evidence_message(QUESTION, EVIDENCE))
    assert text.startswith("## Alder\n\n- The Alder is a river 212 km long. [S1]")
    assert "## Birch\n\n- The Birch is a river 98 km long. [S3]\n" in text


def test_it_writes_once_and_ends() -> None:
    message = evidence_message(QUESTION, EVIDENCE)
    first = findings_writer(conversation(message))
    done = Conversation((message,), first.calls, 0, ALL_TOOLS)
    assert findings_writer(done).text == "findings.md is written."


def test_a_new_message_is_a_new_task() -> None:
    message = evidence_message(QUESTION, EVIDENCE)
    first = findings_writer(conversation(message))
    assert findings_writer(Conversation((message, message), first.calls, 1, ALL_TOOLS)).calls


def test_a_claim_that_a_directive_objects_to_is_left_out() -> None:
    told = 'Mend: "The Birch is a river 98 km long." is not carried by its source.'
    text = written(evidence_message(QUESTION, EVIDENCE, told))
    assert "98" not in text
    assert "212" in text


def test_without_evidence_it_writes_nothing() -> None:
    assert findings_writer(conversation("Question: Q?")).text == "There is no evidence to write from."
    assert findings_writer(conversation(evidence_message(QUESTION, ""))).calls == ()
    told = "- The Alder is a river 212 km long. - Cows graze. - The Birch is a river 98 km long."
    assert findings_writer(conversation(evidence_message(QUESTION, EVIDENCE, told))).text == "No claim is left to write."
    assert findings_writer(conversation(evidence_message(QUESTION, EVIDENCE), tools=frozenset())).text


def test_no_more_sources_than_a_reader_can_follow() -> None:
    many = [entry(n, f"The Alder is a river with bridge {n}.") for n in range(30)]
    assert len(chosen("What is the Alder river?", *many)) == MAX_SOURCES
    assert len(chosen("What is the Alder river?", *many, limit=3)) == 3


def test_the_source_that_fits_best_comes_first_and_one_far_behind_is_left_out() -> None:
    found = chosen(
        "Who is the mayor of Elm?",
        entry(1, "Cows graze."),
        entry(2, "The mayor of Elm is Ada Quill."),
        entry(3, "Waves roll in."),
    )
    assert found == ["S2"]


def test_every_facet_keeps_a_source_however_the_others_compare() -> None:
    strong = [entry(n, "The Alder is a longer river than any.", facet="Alder", title=f"The Alder {n}") for n in range(10)]
    weak = entry(99, "The Birch measures 98 km.", facet="Birch", title="The Birch")
    assert "S99" in chosen("Which river is longer, the Alder or the Birch?", *strong, weak)


def test_a_source_that_adds_something_goes_before_one_that_repeats() -> None:
    repeats = [entry(n, "The Alder rises near Elm.") for n in range(1, 10)]
    adds = entry(10, "The bishop blessed the bridge there.", title="Bridge of the Alder")
    found = chosen("Which bishop blessed the bridge where the Alder rises?", *repeats, adds, limit=2)
    assert "S10" in found


def test_a_source_under_two_facets_is_listed_once_under_the_better() -> None:
    found = choose(
        QUESTION, [entry(1, "The Birch is long.", facet="Alder", title="The Birch"), entry(1, "The Birch is short.", facet="Birch")]
    )
    (only,) = [e for e in found if e.source_id == "S1"]
    assert only.facet == "Birch"
    assert set(only.claims) == {"The Birch is long.", "The Birch is short."}


def test_the_same_claim_is_written_once() -> None:
    text = render("Q?", [entry(1, "One claim."), entry(2, "One claim.", "Another claim.")])
    assert text == "## F\n\n- One claim. [S1, S2]\n- Another claim. [S2]\n"


def test_evidence_without_any_of_the_questions_words_is_kept_in_its_order() -> None:
    assert chosen("東京?", entry(1, "Cows."), entry(2, "Waves.")) == ["S1", "S2"]


def test_what_one_source_says_of_two_facets_stands_under_each() -> None:
    both = Evidence("S1", "Mail", "DKIM", ("SPF lists the servers that may send.", "DKIM signs each mail.", "It was made in 2004."))
    text = render("Compare SPF and DKIM", [both])
    assert text == (
        "## SPF\n\n- SPF lists the servers that may send. [S1]\n\n## DKIM\n\n- DKIM signs each mail. [S1]\n- It was made in 2004. [S1]\n"
    )


def test_a_page_on_one_facet_keeps_its_sentences_that_name_the_other() -> None:
    alder = Evidence("S1", "The Alder", "Alder", ("It is longer than the Birch.",))
    assert render(QUESTION, [alder]).startswith("## Alder\n\n- It is longer than the Birch. [S1]")


def test_the_source_that_says_what_the_thing_is_comes_first() -> None:
    beside = entry(1, "Like HSTS, HPKP comes in a header.", "Questions are answered here.", title="Certificates")
    used = entry(2, "Many agencies enabled HSTS in 2017.", title="Order")
    defining = entry(3, "Strict Transport Security (HSTS) is a standard.", title="Strict Transport Security")
    assert chosen("What is HSTS?", beside, used, defining)[0] == "S3"


def test_what_defines_the_thing_that_is_asked_for_stands_first() -> None:
    found = [
        entry(1, "Like the Alder, alder boats are long."),
        entry(2, "The Alder is a river."),
        entry(3, "Alder water is cold, alder ice too."),
    ]
    assert choose("What is the Alder?", found)[0].source_id == "S2"

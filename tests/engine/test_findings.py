"""An Analyzer's text becomes findings: ids, quotes and offsets are found by code, and what is doubtful is flagged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.core.records import ClaimText, Source
from deepdelve.engine.findings import MAX_LEADS, MAX_REPLY_CHARS, Analysis, findings_from, parse_analysis
from deepdelve.engine.gate import Dispatch
from tests.support.patience import in_proportion

READER = Dispatch("D2", "Analyzer", task="read for Alder", top_task="Alder", facet="length", depth=2)
TEXT = "The Alder is a river. The Alder is 212 kilometres long. It freezes in winter."


def source(source_id="S1", **fields):
    given = {"id": source_id, "url": f"https://x.example/{source_id}", "file": f"sources/{source_id}.md"}
    return Source(**{**given, **fields})


def claims(text, sources=("S1", "S2")):
    return {i: [(c.text, c.quote) for c in found] for i, found in parse_analysis(text, sources).claims.items()}


def findings(text, status="unsupported", sources=None, texts=None, asked=("S1",)):
    return findings_from(
        parse_analysis(text, asked),
        READER,
        sources if sources is not None else {"S1": source()},
        texts if texts is not None else {"S1": TEXT},
        lambda claim, body: status,
    )


@pytest.mark.parametrize(
    "line",
    [
        '- The Alder is 212 km long. [S1] "212 kilometres long"',
        '* The Alder is 212 km long [S1] "212 kilometres long"',
        "• The Alder is 212 km long [s1]: “212 kilometres long”",
        "1. The Alder is 212 km long. [ S1 ] — „212 kilometres long“",
        "2) **The Alder is 212 km long** [S1] «212 kilometres long»",
        'The Alder is 212 km long. [S1] "212 kilometres long"',
    ],
)
def test_a_claim_its_source_and_its_quote_are_read_in_any_usual_form(line):
    ((text, quote),) = claims(line)["S1"]
    assert text.rstrip(".") == "The Alder is 212 km long"
    assert quote == "212 kilometres long"


def test_one_claim_may_stand_in_several_sources():
    assert (
        claims("- Both say so. [S1, S2]")
        == claims("- Both say so. [S1; S2]")
        == {"S1": [("Both say so.", "")], "S2": [("Both say so.", "")]}
    )


def test_quotation_marks_before_the_id_belong_to_the_claim():
    assert claims('- The "long" river is 212 km. [S1] "it is called “long” by all"')["S1"] == [
        ('The "long" river is 212 km.', "it is called “long” by all")
    ]


def test_a_quote_alone_is_its_own_claim():
    assert claims('- [S1] "The Alder is 212 kilometres long."')["S1"] == [("The Alder is 212 kilometres long.",) * 2]


def test_a_claim_without_an_id_belongs_to_the_only_source_and_to_none_of_several():
    assert claims("- It is long.", ["S1"]) == {"S1": [("It is long.", "")]}
    assert parse_analysis("- It is long.", ["S1", "S2"]).unattributed == ["It is long."]


def test_prose_without_bullets_and_ids_claims_nothing():
    assert parse_analysis("I would now read.\n\nThe sources do not answer it.", ["S1"]) == Analysis()


@pytest.mark.parametrize(
    "heading", ["FOLLOW-UP DIRECTIONS:", "## Follow-up directions", "**Follow-up directions:**", "Follow up direction"]
)
def test_leads_stand_apart_from_claims(heading):
    found = parse_analysis(f"- Long. [S1]\n\n{heading}\n- source of the Alder\n2. https://x.example/more\n\n", ["S1"])
    assert found.leads == ["source of the Alder", "https://x.example/more"]
    assert list(found.claims) == ["S1"]


def test_leads_are_bounded_in_number_and_length():
    found = parse_analysis("FOLLOW-UP DIRECTIONS:\n" + "\n".join(f"- {n} " + "x" * 900 for n in range(50)), ["S1"])
    assert len(found.leads) == MAX_LEADS
    assert max(map(len, found.leads)) <= 300


def test_what_is_over_the_bound_is_left_out_and_counted():
    found = parse_analysis("- Long. [S1]\n" + "x" * MAX_REPLY_CHARS, ["S1"])
    assert found.capped == len("- Long. [S1]\n")
    assert found.claims["S1"][0].text == "Long."


@pytest.mark.parametrize("bomb", ["«", '"', "[S1, ", "- " * 3, "#*_> ", "[S1;S", "“x"])
def test_no_reply_costs_more_than_its_length(bomb):
    in_proportion(lambda reply: parse_analysis(reply, ["S1"]), bomb * (MAX_REPLY_CHARS // len(bomb)))


@given(st.text(st.sampled_from('- [S12], "x“”«\nFOLLOW-UP DIRECTIONS:*'), max_size=200))
def test_any_text_parses_and_every_id_has_the_form_of_one(text):
    found = parse_analysis(text, ["S1"])
    assert all(i[0] == "S" and i[1:].isdigit() for i in found.claims)
    assert all(len(c.text) >= 3 for listed in found.claims.values() for c in listed)


def test_a_verbatim_quote_gives_a_place_in_the_source():
    (found,) = findings('- It is 212 km. [S1] "the alder is 212 kilometres long"', "supported")
    (claim,) = found.claims
    assert TEXT[claim.start : claim.end] == claim.quote == "The Alder is 212 kilometres long"
    assert (found.flags, found.task, found.top_task, found.facet, found.depth) == ((), "read for Alder", "Alder", "length", 2)


def test_a_quote_that_stands_there_does_not_carry_any_claim_you_like():
    (found,) = findings('- It is 900 km. [S1] "The Alder is 212 kilometres long"', "contradicted")
    assert [flag.kind for flag in found.flags] == ["claim_unsupported"]


@pytest.mark.parametrize("status", ["partial", "unsupported", "contradicted", "unchecked"])
def test_a_claim_whose_quote_is_not_there_needs_full_support(status):
    (found,) = findings('- It is long. [S1] "words that the page does not hold"', status)
    assert found.flags
    assert found.claims == (ClaimText(text="It is long."),)


def test_good_and_doubtful_claims_of_a_source_are_two_findings():
    text = '- It is long. [S1] "212 kilometres long"\n- It burns. [S1] "it burns at night"'
    good, bad = findings_from(
        parse_analysis(text, ["S1"]),
        READER,
        {"S1": source()},
        {"S1": TEXT},
        lambda claim, body: "unsupported" if "burns" in claim else "supported",
    )
    assert (good.flags, good.claims[0].text) == ((), "It is long.")
    assert bad.flags[0].urls == ("https://x.example/S1",)


def test_a_source_that_is_not_there_or_has_no_text_carries_nothing():
    unknown, stub = findings("- One. [S9]\n- Two. [S2]", "supported", {"S2": source("S2", state="stub", file="")}, {}, asked=("S1", "S2"))
    assert (unknown.source_id, unknown.flags[0].kind) == ("", "unknown_source")
    assert (stub.source_id, stub.flags[0].kind) == ("S2", "stub")


def test_leads_and_claims_of_nobody_are_kept_as_such():
    nobody, lead = findings("- It is long.\n\nFOLLOW-UP DIRECTIONS:\n- look there", asked=("S1", "S2"))
    assert (nobody.source_id, nobody.flags[0].kind) == ("", "no_source")
    assert (lead.kind, lead.summary, lead.claims) == ("lead", "look there", ())

"""Notes with raised figures: what is one, what is a power or an isotope, and what is left when they are taken out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.engine.completion.raised import raised_notes, without_raised_notes
from tests.support.faults import REPORT
from tests.support.incidents import winners, writes
from tests.support.whole_run import RIVERS, good_rules, run_scripted, write_corpus


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The Alder is long¹.", "The Alder is long."),
        ("The Alder is long.¹ It is wide.² ³", "The Alder is long. It is wide. ³"),
        ("The Alder is long [S1]².", "The Alder is long [S1]."),
        ("The Alder is long [S1].¹˒³", "The Alder is long [S1]."),
        ("It was dammed¹² in spring.", "It was dammed in spring."),
        ("“Long is the Alder”² he said.", "“Long is the Alder” he said."),
        ("It is long.\n\n¹ Smith, Rivers of the North.\n² Miller, The South, 2020.\n", "It is long.\n\n"),
        ("It is long.\n\n¹. Smith, Rivers of the North.", "It is long.\n\n"),
        ("河很长。¹", "河很长。"),
    ],
)
def test_marks_and_lists_are_found_and_taken_out(text: str, left: str) -> None:
    assert raised_notes(text)
    assert without_raised_notes(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "The basin has 12 m² and 3 km².",
        "It has 300 kilometres² and 40 metres³ of sand.",
        "The load is 10¹² joules, or 5 s⁻¹.",
        "(a + b)² is larger than a².",
        "Fe²⁺ and SO₄²⁻ are dissolved in it.",
        "¹⁴C tells its age.",
        "[Smith](https://a.example/x²) says so.",
        "¹ Smith, https://a.example/x",
        "R² is 0.8 and χ² is 3.",
    ],
)
def test_powers_charges_isotopes_and_notes_with_an_address_stay(text: str) -> None:
    assert raised_notes(text) == []
    assert without_raised_notes(text) == text


@given(st.text(alphabet="ab long[S1].,²³¹⁴⁻ \n)", max_size=60))
def test_no_letter_outside_a_line_of_notes_is_lost_and_twice_is_once(text: str) -> None:
    once = without_raised_notes(text)
    kept = [line for line in text.split("\n") if not line.strip(" >*-")[:1] or line.strip(" >*-")[:1] not in "²³¹⁴"]
    for letter in "ablong":
        assert once.count(letter) >= sum(line.count(letter) for line in kept)
    again = without_raised_notes(once)
    assert again == once or len(again) < len(once)


@pytest.mark.parametrize(
    "body",
    [
        REPORT.replace("long [Alder]", "long¹ [Alder]").replace("1931 [Birch]", "1931 [Birch]²"),
        f"{REPORT}\n¹ Smith, Rivers of the North.\n",
        f"{REPORT.replace('long [Birch]', 'long [Birch]¹')}\n¹ Smith, Rivers of the North, 2019.\n² Miller, The South, 2020.\n",
    ],
    ids=["marks", "a note", "marks and notes"],
)
async def test_they_never_reach_a_reader_and_cost_no_writer(tmp_path, body: str) -> None:
    run = await run_scripted(good_rules(Builder=writes(body)), write_corpus(tmp_path / "c", RIVERS))
    assert winners(run) == ["unresolved_citation"]
    assert (run.result.outcome, run.result.claims.supported, run.result.claims.total) == ("verified", 4, 4)
    assert not any(sign in run.report for sign in ("¹", "²", "Smith", "Miller"))

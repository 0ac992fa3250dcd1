"""Quotations are verbatim or they are not."""

import pytest

from deepdelve.utils.grounding import quotes
from deepdelve.utils.grounding.index import SourceIndex
from deepdelve.utils.grounding.text import normalise

SOURCE = (
    "The minister said: “We will not raise the wall, whatever the engineers advise.” He added that the dam’s "
    "fish ladders — never installed — were too costly."
    " Critics called it “a monument to haste”. The report of 1987 notes that 8,300 people were resettled within two years.\n"
    "An older note reads: ‘Water finds its own way.’ 水库的建设历时九年，耗资巨大。Die Mauer ist 142 Meter hoch und sehr alt."
)
BODY = normalise(SOURCE)

VERBATIM = [
    "We will not raise the wall, whatever the engineers advise.",
    "we will not raise the wall, whatever the engineers advise",
    "[w]e will not raise the wall",
    "[W]e will not raise the wall",
    "We will not raise the wall […] the engineers advise",
    "We will not raise the wall ... the engineers advise",
    "We will not raise the wall (...) engineers advise",
    "We will not **raise** the wall",
    "We will *not* raise the wall [emphasis added]",
    "the dam's fish ladders - never installed - were too costly",
    "the dam’s fish ladders – never installed – were too costly",
    "He [the minister] added that the dam's fish ladders".replace("He [the minister] added", "He added"),
    "a monument to haste",
    "8,300 people were resettled within two years",
    "Water finds its own way",
    "水库的建设历时九年",
    "Die Mauer ist 142 Meter hoch",
    "The report of 1987 notes [...] resettled within two years",
]
ALTERED = [
    "We will raise the wall, whatever the engineers advise.",
    "We will not raise the wall, whatever the lawyers advise.",
    "We shall not raise the wall",
    "the engineers advise … We will not raise the wall",
    "a monument to speed",
    "8,200 people were resettled within two years",
    "people were resettled within three years",
    "The report of 1978 notes",
    "Water finds its way",
    "the dam's fish ladders were never installed",
    "水库的建设历时七年",
    "Die Mauer ist 124 Meter hoch",
    "300 people were resettled",
    "the dam's bird ladders",
]


@pytest.mark.parametrize("quote", VERBATIM)
def test_verbatim(quote: str) -> None:
    assert quotes.is_verbatim(quote, BODY)


@pytest.mark.parametrize("quote", ALTERED)
def test_altered(quote: str) -> None:
    assert not quotes.is_verbatim(quote, BODY)


MARKS = ["“{}”", "„{}“", "«{}»", "« {} »", "「{}」", "『{}』", '"{}"', "‘{}’", "``{}''"]


@pytest.mark.parametrize("marks", MARKS)
def test_every_kind_of_quotation_marks(marks: str) -> None:
    inner = "We will not raise the wall"
    found = quotes.find(f"He said {marks.format(inner)} and left.")
    assert [quotation.text.strip() for quotation in found] == [inner]


def test_a_block_quote_is_one_quotation() -> None:
    found = quotes.find("He said:\n\n> We will not raise\n> the wall.\n\nThen he left.")
    assert [quotation.text for quotation in found] == ["We will not raise the wall."]


@pytest.mark.parametrize("text", ["the dam’s wall isn’t old", "5'10\" tall", "it's the minister's", "rock 'n' roll"])
def test_apostrophes_are_no_quotation_marks(text: str) -> None:
    assert quotes.first_altered(text, [SourceIndex("S1", SOURCE)]) == ""


def test_short_quotations_are_compared_like_other_words() -> None:
    assert quotes.first_altered("He called it “too costly now”.", [SourceIndex("S1", SOURCE)]) == ""


def test_any_of_several_sources_will_do() -> None:
    other = SourceIndex("S2", "Nothing of the kind.")
    assert quotes.first_altered("He said “We will not raise the wall”.", [other, SourceIndex("S1", SOURCE)]) == ""
    assert quotes.first_altered("He said “We will not raise the wall”.", [other]) == "We will not raise the wall"

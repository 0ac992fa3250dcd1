"""Quantities: equal however they are written, different where value, scale or unit differ."""

import pytest

from deepdelve.utils.grounding import figures

EQUAL = [
    ("$1.2bn", "1,200 million us dollars"),
    ("$1.2 billion", "us$1.2 billion"),
    ("1.2 billion", "1,200,000,000"),
    ("€310m", "310 million euros"),
    ("eur 20 million", "€20m"),
    ("£2,300 million", "£2.3bn"),
    ("45 %", "45 percent"),
    ("45%", "45 per cent"),
    ("1,248", "1248"),
    ("1.300.000", "1,300,000"),
    ("1 300 000", "1,300,000"),
    ("three million", "3 million"),
    ("twenty-one days", "21 days"),
    ("85 mio. euro", "85 millionen euro"),
    ("2 mrd. euro", "€2bn"),
    ("5万亿元", "5 trillion yuan"),
    ("3亿", "300 million"),
    ("2,140 gwh", "2.14 twh"),
    ("1.2 terawatt hours", "1,200 gigawatt-hours"),
    ("five gigawatt hours", "5 gwh"),
    ("five kilometres", "5 km"),
    ("5 km", "five kilometres"),
    ("three megawatts", "3 mw"),
    ("640 million kilometres", "640 million km"),
    ("0.62 gw", "620 mw"),
    ("1.5 kg", "1500 grams"),
    ("12 crore", "120 million"),
    ("two dozen", "24"),
    ("eur 1.6–3.3 billion", "eur 1.6 billion"),
    ("$30–33bn", "$30bn"),
    ("in 2019", "by 2019"),
    ("about 45 percent", "44.8 percent"),
    ("45 percent", "44.8 percent"),
    ("more than 100 bodies", "116 bodies"),
    ("nearly 12 million", "11.7 million"),
    ("less than 50 employees", "48 employees"),
    ("roughly 8,300", "8,312"),
]
DIFFERENT = [
    ("45%", "54%"),
    ("45%", "45.6%"),
    ("$1.2 billion", "$1.2 million"),
    ("$1.2bn", "€1.2bn"),
    ("142 metres", "124 metres"),
    ("620 mw", "620 kw"),
    ("2019", "2009"),
    ("3,912", "9,312"),
    ("9.4", "94"),
    ("6.5%", "65%"),
    ("30 days", "30 months"),
    ("1.2", "1.26"),
    ("more than 100", "90"),
    ("about 45", "60"),
    ("less than 50", "70"),
    ("12 km", "12 miles"),
    ("eur 30 billion", "eur 3.3 billion"),
    ("5 million", "5 thousand"),
    ("18,400", "1,840"),
    ("three hundred", "300 thousand"),
]


@pytest.mark.parametrize(("claimed", "stated"), EQUAL)
def test_equal(claimed: str, stated: str) -> None:
    assert not figures.missing(figures.find(claimed)[:1], figures.find(stated))


@pytest.mark.parametrize(("claimed", "stated"), DIFFERENT)
def test_different(claimed: str, stated: str) -> None:
    assert figures.missing(figures.find(claimed)[:1], figures.find(stated))


@pytest.mark.parametrize("text", ["covid-19", "sars-cov-2", "figure 3", "table 2", "c3po", "v2", "/path/2024/x", "step 4"])
def test_no_quantity(text: str) -> None:
    assert figures.find_written(text) == []


def test_ranges_share_unit_and_scale() -> None:
    low, high = figures.find("between €30–33bn was lent")
    assert (low.value, high.value) == (30e9, 33e9)
    assert low.unit == high.unit == "eur"


def test_years_are_told_from_counts() -> None:
    assert figures.find("in 2019")[0].is_year
    assert not figures.find("2019 km")[0].is_year
    assert not figures.find("2,019")[0].is_year


def test_small_bare_counts_do_not_decide() -> None:
    assert not figures.find("five people")[0].decisive
    assert figures.find("five percent")[0].decisive
    assert figures.find("48 people")[0].decisive


def test_significands_ignore_scale() -> None:
    assert figures.significand(0.045) == figures.significand(4_500_000) == 4.5
    assert [round(digits, 3) for _, digits in figures.significands("0.045 and 4,500 and 45")] == [4.5, 4.5, 4.5]


def test_offsets_are_of_the_text() -> None:
    text = "it cost us$1.2 billion in all"
    found = figures.find(text)[0]
    assert text[found.start : found.end] == found.raw == "us$1.2 billion"

"""Sources that differ on one quantity of one thing at one date."""

import pytest

from deepdelve.core.records import Claim, Passage
from deepdelve.utils.grounding import contradictions
from tests.support.patience import in_proportion

DIFFER = [
    (
        "The Kalda power station had an installed capacity of 620 MW in 2022.",
        "In 2022 the installed capacity of the Kalda power station was 540 MW.",
    ),
    (
        "The tram line carried 26,500 passengers a day in its first year.",
        "In its first year the tram line carried 31,000 passengers a day.",
    ),
    ("Unemployment in Lowenau stood at 4.2 percent in March 2021.", "In March 2021 unemployment in Lowenau stood at 6.1 percent."),
    ("The Hartwell acquisition of Corvane cost £2.3 billion.", "The acquisition of Corvane cost Hartwell £3.2 billion."),
    ("The Halcyon spacecraft weighs 2,310 kilograms at launch.", "At launch the Halcyon spacecraft weighs 2,130 kilograms."),
]
AGREE = [
    (
        "The Kalda power station had an installed capacity of 620 MW in 2022.",
        "In 2022 the installed capacity of the Kalda power station was 0.62 GW.",
    ),
    ("Unemployment in Lowenau stood at 4.2 percent in March 2021.", "In March 2020 unemployment in Lowenau stood at 6.1 percent."),
    ("The Kalda dam is 142 metres high.", "The Norvelt dam is 98 metres high and stands elsewhere."),
    ("The project cost $1.2 billion in all.", "The project cost about 1,200 million US dollars in all."),
    (
        "The tram line carried 26,500 passengers a day in its first year.",
        "More than 20,000 passengers a day rode the tram line in its first year.",
    ),
    ("Revenue of Hartwell was £4.1 billion in 2019.", "Revenue of Hartwell rose by £0.3 billion in 2019."),
    ("The wall is 142 metres high.", "The reservoir holds 1.6 cubic kilometres of water."),
    ("Output was 620 MW in winter and 540 MW in summer.", "Output was 600 MW in winter and 500 MW in summer."),
]


def found(one: str, other: str) -> list[contradictions.Contradiction]:
    return contradictions.find([*contradictions.statements("S1", one), *contradictions.statements("S2", other)])


@pytest.mark.parametrize(("one", "other"), DIFFER)
def test_they_differ(one: str, other: str) -> None:
    result = found(one, other)
    assert len(result) == 1
    assert "S1 says" in result[0].reason
    assert "S2 says" in result[0].reason


@pytest.mark.parametrize(("one", "other"), AGREE)
def test_they_do_not(one: str, other: str) -> None:
    assert found(one, other) == []


def test_one_source_does_not_contradict_itself() -> None:
    one, other = DIFFER[0]
    assert contradictions.find([*contradictions.statements("S1", one), *contradictions.statements("S1", other)]) == []


def test_passages_of_a_ledger_are_compared() -> None:
    claims = [
        Claim(id=f"c{n}", text=text, passage=Passage(source_id=f"S{n}", start=10, end=10 + len(text), quote=text))
        for n, text in enumerate(DIFFER[0], 1)
    ]
    result = contradictions.among(claims)
    assert len(result) == 1
    assert result[0].one.start == 10


def test_many_statements_take_linear_time() -> None:
    stated = [
        statement
        for number in range(4000)
        for statement in contradictions.statements(
            f"S{number}", f"The installed capacity of the power station was {number + 20} MW in 2022."
        )
    ]
    in_proportion(contradictions.find, stated)

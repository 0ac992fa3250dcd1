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
    ("The bridge is 1,240 metres long and carries four lanes.", "The bridge, which carries four lanes, is 1,420 metres long."),
    ("The vaccine was 94.1 percent effective in adults over 60.", "In adults over 60 the vaccine was 49.1 percent effective."),
    ("The fund manages assets of $4.5 billion.", "The fund manages assets of $4.5 million."),
    ("The river is 840 kilometres long from source to mouth.", "From source to mouth the river is 480 km long."),
    ("The reactor was shut down for 45 days after the leak.", "After the leak the reactor was shut down for 54 days."),
    ("The Lowenau museum had 1.2 million visitors in 2019.", "In 2019 the Lowenau museum counted 2.1 million visitors."),
    ("The glacier shed 35 percent of its volume since 1990.", "Since 1990 the glacier has shed 53 percent of its volume."),
    ("The Norvelt tunnel is 27 kilometres long.", "The tunnel of Norvelt is 72 kilometres long."),
    ("Die Talsperre Kalda fasst 160 Millionen Kubikmeter Wasser.", "Die Talsperre Kalda fasst 610 Millionen Kubikmeter Wasser."),
    ("Le barrage de Kalda mesure 142 mètres de hauteur.", "Le barrage de Kalda mesure 124 mètres de hauteur."),
    ("La presa de Kalda costó 300 millones de euros.", "La presa de Kalda costó 500 millones de euros."),
    (
        "The minister resigned after the fire killed 87 people in Lowenau.",
        "The fire in Lowenau killed 78 people and the minister resigned.",
    ),
    ("卡尔达大坝高142米，位于北部山区。", "卡尔达大坝高124米，位于北部山区。"),
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
    ("The bridge is 1,240 metres long and carries four lanes.", "The bridge carries four lanes and is 1.24 km long."),
    ("The vaccine was 94.1 percent effective in adults.", "The vaccine was 94 percent effective in adults."),
    ("The river Alva is 840 kilometres long.", "The river Berra is 480 kilometres long."),
    ("The museum had 1.2 million visitors in 2019.", "The museum had 2.1 million visitors in 2020."),
    ("The reactor was shut down for at least 45 days.", "The reactor was shut down for 54 days."),
    ("The train takes 45 minutes from Lowenau to Kalda.", "The bus takes 75 minutes from Lowenau to Kalda."),
    ("In men the drug lowered pressure by 12 mmHg.", "In women the drug lowered pressure by 21 mmHg."),
    ("The price of the first model is $450.", "The price of the second model is $650."),
    ("The plant makes 620 MW.", "The plant employs 450 people."),
    ("The company has about 500 workers in Lowenau.", "The company has 480 workers in Lowenau."),
    ("Population in the north was 45,000 by the census.", "Population in the south was 54,000 by the census."),
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

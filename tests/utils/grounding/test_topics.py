"""Excluded topics and sources beside the point."""

import pytest

from deepdelve.utils.grounding import topics
from deepdelve.utils.grounding.index import SourceIndex

EXCLUDED = [
    ("Compare dams, excluding hydrogen storage.", ("hydrogen storage",)),
    ("Compare dams. Do not cover military use or tourism.", ("military use", "tourism")),
    ("Compare dams, leaving aside the costs.", ("costs",)),
    ("Compare dams except for pumped storage.", ("pumped storage",)),
    ("Compare dams; don't mention Norvelt Energy.", ("Norvelt Energy",)),
    ("Compare dams without discussing politics.", ("politics",)),
    ("Compare dams, not including small weirs.", ("small weirs",)),
    ("Compare dams (ignoring floods).", ("floods",)),
    ("Compare dams but leave out nuclear power.", ("nuclear power",)),
    ("Compare dams and omit the financing.", ("financing",)),
    ("Compare dams, omitting Norway.", ("Norway",)),
    ("Compare dams, but skip the history.", ("history",)),
    ("Compare dams. Please exclude Asia and Africa.", ("Asia", "Africa")),
    ("Compare all dams apart from the Kalda Dam.", ("Kalda Dam",)),
    ("Compare dams other than earth dams.", ("earth dams",)),
    ("Compare dams. I am not interested in tourism.", ("tourism",)),
    ("Compare dams. No discussion of politics.", ("politics",)),
    ("Compare dams. You should not discuss lawsuits.", ("lawsuits",)),
    ("Compare dams, except Chile.", ("Chile",)),
    ("Compare dams. Never mention prices.", ("prices",)),
    ("Vergleiche Staudämme, ohne Berücksichtigung von Pumpspeichern.", ("Pumpspeichern",)),
    ("Vergleiche Staudämme, außer Talsperren in Norwegen.", ("Talsperren in Norwegen",)),
    ("Compare les barrages, à l'exception de la pêche.", ("pêche",)),
    ("Compare les barrages sauf les écluses.", ("écluses",)),
    ("Compare les barrages sans parler du tourisme.", ("tourisme",)),
    ("Compara las presas, excepto el turismo.", ("turismo",)),
    ("Compara las presas sin incluir los costes.", ("costes",)),
    ("比较大坝，不包括水电。", ("水电",)),
    ("比较大坝，不要讨论政治和旅游。", ("政治", "旅游")),
    ("ダムを比較してください。観光は除く。", ("観光",)),
    ("Сравните плотины, кроме туризма.", ("туризма",)),
    ("Сравните плотины, не включая рыболовство.", ("рыболовство",)),
    ("What is the most common exclusion in insurance contracts?", ()),
    ("How does an exclusive licence work?", ()),
    ("Which dams do not leak?", ()),
    ("What is the effect of ignoring people?", ("people",)),
    ("Which contracts exclude flood damage?", ()),
    ("Which laws do not cover tenants?", ()),
    ("Why did the treaty omit tunnels?", ()),
    ("Wie wächst eine Pflanze ohne Licht?", ()),
    ("Compare dams. The report should not discuss tunnels.", ("tunnels",)),
    ("Compare dams. You must exclude tunnels.", ("tunnels",)),
    ("Which insurers never consider floods?", ()),
    ("Why does the treaty not mention tunnels?", ()),
    ("除了水电，还有哪些可再生能源？", ("水电",)),
    ("What did Norway do without oil?", ()),
    ("How can a plant grow without light?", ()),
    ("Which countries skip a generation of grids?", ()),
    ("Ohne was kann ein Staudamm nicht gebaut werden?", ()),
    ("How high is the dam?", ()),
    ("Which dams include fish ladders?", ()),
]


@pytest.mark.parametrize(("question", "expected"), EXCLUDED)
def test_what_a_question_excludes(question: str, expected: tuple[str, ...]) -> None:
    assert topics.excluded(question) == expected


def test_a_sentence_that_treats_an_excluded_topic() -> None:
    sentences = [
        "The dam is high.",
        "Hydrogen storage is cheap.",
        "This report leaves out hydrogen storage, excluding hydrogen storage.",
        "Storage of hydrogen grows.",
    ]
    assert topics.treated(sentences, ["hydrogen storage"]) == [(1, "hydrogen storage"), (3, "hydrogen storage")]


TREATED = [
    ("hydrogen storage", "Hydrogen storage is cheap.", True),
    ("hydrogen storage", "Storing hydrogen needs pressure, and its storage needs space.", True),
    ("tourism", "Tourism brings 40 percent of the income of Lowenau.", True),
    ("military use", "Military uses of the drones grew.", True),
    ("Norvelt Energy", "Norvelt Energy owns the dam.", True),
    ("旅游", "旅游业占收入的四成。", True),
    ("tourism", "This report leaves out tourism.", False),
    ("tourism", "Other than tourism, farming pays.", False),
    ("hydrogen storage", "Storage of water is cheap.", False),
    ("military use", "The use of drones grew.", False),
    ("tourism", "", False),
]


@pytest.mark.parametrize(("topic", "sentence", "treats"), TREATED)
def test_what_treats_a_topic(topic: str, sentence: str, treats: bool) -> None:
    assert bool(topics.treated([sentence], [topic])) is treats


def test_on_and_off_topic() -> None:
    source = SourceIndex("S1", "The Kalda Dam holds water. Its power station feeds the grid; sturgeon cannot pass the wall.")
    assert not topics.is_off_topic("power of the dam", source)
    assert topics.is_off_topic("labour law in Denmark", source)
    assert not topics.is_off_topic("", source)

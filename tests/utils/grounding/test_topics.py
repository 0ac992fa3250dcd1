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


def test_on_and_off_topic() -> None:
    source = SourceIndex("S1", "The Kalda Dam holds water. Its power station feeds the grid; sturgeon cannot pass the wall.")
    assert not topics.is_off_topic("power of the dam", source)
    assert topics.is_off_topic("labour law in Denmark", source)
    assert not topics.is_off_topic("", source)

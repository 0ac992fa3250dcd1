import pytest

from tests.support.patience import in_proportion, steps


def each(text: str) -> int:
    return sum(1 for letter in text if letter)


def each_with_each(text: str) -> int:
    return sum(1 for one in text for other in text if one == other)


def test_the_same_work_takes_the_same_steps() -> None:
    assert steps(lambda: each("a" * 100)) == steps(lambda: each("a" * 100)) > 100


def test_work_that_grows_with_the_text_passes() -> None:
    in_proportion(each, "a" * 8_000)


def test_work_that_grows_with_its_square_does_not() -> None:
    with pytest.raises(AssertionError, match="four times the text takes 1"):
        in_proportion(each_with_each, "a" * 1_600)

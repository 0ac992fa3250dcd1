"""What a note must be before it may enter the vault."""

import pytest

from deepdelve.engine.bounded.gate import check_synthesis, numbers_in, tidy
from deepdelve.engine.bounded.records import FetchedSource
from tests.engine.bounded.kit import FACT, NOTE, SECOND, TOPIC, ScriptedModel, bench

SOURCES = [
    FetchedSource(1, "https://tides.example/bay", "https://tides.example/bay", "Tides", FACT, 1),
    FetchedSource(2, "https://harbour.example/levels", "https://harbour.example/levels", "Levels", SECOND, 1),
]


def test_a_note_that_is_carried_passes_as_it_is() -> None:
    result = check_synthesis(NOTE, TOPIC, SOURCES)
    assert (result.ok, result.text, result.cited, result.dropped) == (True, NOTE.strip(), (1, 2), 0)
    assert result.counts.supported == 2


@pytest.mark.parametrize(
    "bad",
    [
        "The bay is 900 kilometres long and 12 metres deep. [9]",
        "The tides are described at https://invented.example/tides in detail. [1]",
        "The bay was found in 1604 by a Dutch captain named Van der Meer. [1]",
        "The difference between high and low water in the northern bay is 7.9 metres on average. [1]",
        "Nobody has ever measured the water of the northern bay before 1990.",
    ],
)
def test_b28_what_is_invented_is_dropped_and_the_rest_stays(bad: str) -> None:
    result = check_synthesis(f"# Tides\n\n{FACT} [1] {bad} {SECOND} [2]\n\n## More\n\n- {bad}\n", TOPIC, SOURCES)
    assert result.ok, result.problems
    assert bad.partition(" [")[0] not in result.text
    assert FACT in result.text
    assert SECOND in result.text
    assert "## More" not in result.text
    assert result.dropped >= 2


def test_b28_a_note_of_inventions_only_does_not_pass() -> None:
    result = check_synthesis("# Tides\n\nThe bay is 900 kilometres long. [9] See https://invented.example/ for more. [7]\n", TOPIC, SOURCES)
    assert not result.ok
    assert result.problems


async def test_b28_a_bad_note_is_kept_and_never_ingested_and_no_second_call_is_made() -> None:
    with bench(model=ScriptedModel(synthesize="The bay is 900 kilometres long, as everybody knows. [9]")) as made:
        result = await made.run()
        row = made.ledger.get(result.run_id)
        assert (row.status, row.stop_detail) == ("converged", "synthesis_invalid")
        assert row.synthesis_text
        assert row.synthesis_page_id is None
        assert made.model.tasks.count("synthesize") == 1
        assert not (made.vault.root / "wiki").exists()
        assert made.events[-2]["type"] == "invalid"


@pytest.mark.parametrize("text", ["", "# Tides", "Short. [1]", f"{FACT}"])
def test_too_little_or_uncited_text_does_not_pass(text: str) -> None:
    assert not check_synthesis(text, TOPIC, SOURCES).ok


def test_only_cited_sources_count() -> None:
    assert check_synthesis(f"# T\n\n{SECOND} [2] {SECOND.replace('has measured', 'measured')} [2]\n", TOPIC, SOURCES).cited == (2,)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("a [1].", [1]),
        ("a [1][2]", [1, 2]),
        ("a [1, 3]", [1, 3]),
        ("a [2–4]", [2, 3, 4]),
        ("[1](https://x.example)", []),
        ("[a] [ 7 ]", [7]),
    ],
)
def test_numbers_are_read_in_every_form(text: str, numbers: list[int]) -> None:
    assert numbers_in(text) == numbers


def test_wrapping_and_lists_of_references_of_the_writer_are_taken_off() -> None:
    reply = f"<think>hm</think>```markdown\n{NOTE}\n## References\n\n1. https://invented.example/\n```"
    assert tidy(reply) == NOTE.strip()


def test_an_address_with_punctuation_behind_it_is_that_address() -> None:
    text = f"# Tides\n\n{FACT[:-1]} (https://tides.example/bay). [1] {SECOND} [2]\n"
    result = check_synthesis(text, TOPIC, SOURCES)
    assert (result.ok, result.dropped) == (True, 0), result.problems


@pytest.mark.parametrize("hostile", ["[" * 50_000, "[1" * 30_000, "https://" * 20_000, "<think>" * 20_000, "`" * 50_000, "# " * 30_000])
def test_hostile_text_takes_no_long_time(hostile: str) -> None:
    assert check_synthesis(hostile, TOPIC, SOURCES).ok is False

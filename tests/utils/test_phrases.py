"""The phrases of the product itself: every language has all of them, with the same placeholders."""

import string

import pytest

from deepdelve.utils import phrases
from deepdelve.utils.phrases import LANGUAGES, code_of, counted, in_all_languages, reason, say
from deepdelve.utils.phrases.english import ENGLISH

OTHERS = [code for code in LANGUAGES if code != "en"]


def placeholders(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize("code", OTHERS)
def test_a_language_has_every_phrase_with_its_placeholders(code: str) -> None:
    found = phrases._of(code)
    assert set(found) == set(ENGLISH)
    assert {name: placeholders(text) for name, text in found.items()} == {name: placeholders(text) for name, text in ENGLISH.items()}
    assert not [name for name, text in found.items() if not text.strip() or "\n" in text]


@pytest.mark.parametrize("code", OTHERS)
def test_what_a_reader_is_told_is_in_its_language(code: str) -> None:
    """Short words may be the same in two languages; sentences are not."""
    same = [name for name, text in phrases._of(code).items() if text == ENGLISH[name] and len(text.split()) > 3]
    assert same == []


@pytest.mark.parametrize(
    ("language", "code"),
    [("German", "de"), ("deutsch", "de"), ("de-AT", "de"), ("pt_BR", "pt"), ("Chinese", "zh"), ("", "en"), ("Finnish", "en"), ("xx", "en")],
)
def test_a_language_is_known_by_name_and_tag(language: str, code: str) -> None:
    assert code_of(language) == code


def test_outside_text_in_a_placeholder_stays_as_it_is() -> None:
    assert say("open_problems", "German", names="{names} {0} {") == "Offene Mängel: {names} {0} {."


def test_one_and_several() -> None:
    assert counted("unanswered", 1, "French") == "Une partie de la question n'a pas trouvé de réponse dans les sources."
    assert counted("unanswered", 3, "French").startswith("3 parties")


def test_a_reason_that_is_a_phrase_is_told_in_the_language_and_any_other_as_it_is() -> None:
    assert reason("no writer finished a report", "Spanish") == "ningún redactor terminó un informe"
    assert reason("The server answered with status 500.", "Spanish") == "The server answered with status 500."


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("1 of 7 claims is not carried by a source", ["1", "7"]),
        ("3 of 7 claims are not carried by a source", ["3", "7"]),
        ("2 of 5 research tasks failed: rents; {prices}. The server\nwas gone", ["2", "5", "rents; {prices}. The server\nwas gone"]),
        ("every research task failed. The server was gone", ["The server was gone"]),
        ("no search engine answered (duckduckgo: rate limited)", ["duckduckgo: rate limited"]),
        ("research has used its share of the token budget before anything was found. Give it more (settings.max_tokens)", ["max_tokens"]),
    ],
)
def test_a_reason_with_numbers_and_names_keeps_them_in_every_language(code: str, text: str, kept: list[str]) -> None:
    assert reason(text) == text
    told = reason(text, code)
    assert told != text
    assert not [part for part in kept if part not in told]


def test_readers_know_a_phrase_in_every_language() -> None:
    assert len(set(in_all_languages("notes"))) == len(LANGUAGES)

"""Outside text is made fit for a screen before it is shown."""

import pytest

from deepdelve.core.records import ClaimCounts
from deepdelve.tui.text import claim_counts, clean, count, domain, duration, last_line, one_line, short_number


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07rest", "rest"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never ended, so it stays", "never ended, so it stays"),
        ("\x1b[31", ""),
        ("\x1b[é", "é"),
        ("a\x00b\x07c", "abc"),
        ("\u202eevil\u202c", "evil"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("tab\tstays", "tab\tstays"),
        ("\ud800", "\N{REPLACEMENT CHARACTER}"),
        ("[/] [link] $x", "[/] [link] $x"),
        ("مرحبا 你好 👩‍🔬", "مرحبا 你好 👩‍🔬"),
        ("\x1b[", ""),
        ("\x1b", ""),
    ],
)
def test_clean(raw: str, shown: str) -> None:
    assert clean(raw) == shown


def test_clean_says_how_much_it_left_out() -> None:
    assert clean("x" * 1_000_000, 10) == "x" * 10 + "… (1,000,000 characters in all)"


@pytest.mark.parametrize("length", [0, 1, 5, 10])
def test_one_line_never_exceeds_its_limit(length: int) -> None:
    assert len(one_line("word " * 100, length)) <= max(length, 1)


def test_one_line_folds_white_space() -> None:
    assert one_line("  a\n\n b\tc ") == "a b c"


def test_last_line_is_the_last_that_says_something() -> None:
    assert last_line("first\nlast\n\n") == "last"
    assert last_line("") == ""


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0 s"), (-3, "0 s"), (59.9, "59 s"), (65, "1:05"), (3_725, "1:02:05")])
def test_duration(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(("number", "shown"), [(0, "0"), (0.7, "0.7"), (950, "950"), (12_345, "12.3k"), (2_100_000, "2.1M")])
def test_short_number(number: float, shown: str) -> None:
    assert short_number(number) == shown


def test_count_knows_one_from_many() -> None:
    assert (count(1, "source"), count(3, "source"), count(1_200, "word")) == ("1 source", "3 sources", "1,200 words")


def test_claim_counts_say_status_in_sign_and_word() -> None:
    assert claim_counts(ClaimCounts(supported=2, unsupported=1)) == "✓ 2 supported · ! 1 unsupported"
    assert claim_counts(ClaimCounts()) == "no claims"


@pytest.mark.parametrize(
    ("url", "host"), [("https://www.example.org/a/b", "example.org"), ("file:///x/y", "/x/y"), ("corpus://docs/a.md", "docs")]
)
def test_domain(url: str, host: str) -> None:
    assert domain(url) == host

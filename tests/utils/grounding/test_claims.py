"""Sentences, what needs a citation, and which citation covers which sentence."""

import pytest

from deepdelve.utils.grounding import sentences
from deepdelve.utils.grounding.citations import parse
from deepdelve.utils.grounding.claims import extract_claims, segment
from deepdelve.utils.grounding.worthiness import needs_citation
from tests.support.patience import in_proportion

ONE = [
    "Dr. Smith met Mr. Jones at 5 p.m. on Friday.",
    "The rate rose to 3.5 percent in the U.S. economy.",
    "Growth was strong, e.g. in Asia and elsewhere.",
    "See Fig. 3 for the curve of J. R. R. Tolkien sales.",
    "The price is approx. 40 euros per unit.",
    "It costs 85 Mio. Euro in all.",
    "Acme Inc. sold 3 units to Beta Ltd. last year.",
    "The file is at https://a.example/b.html today.",
    "He said “This is it. It is over.” and left the room.".replace(". It", ", it"),
    "Section 3553 of title 44, U.S. Code, lets the Secretary of the U.S. Department issue directives.",
    "In Washington D.C. Senator Gov. Maria Lopez met Gen. Ruiz of Acme Corp. Mexico.",
    "Sammy Davis Jr. Avenue is long.",
    "Version 2.0.1 was released on 4 May 2021.",
    "The vote was 52 vs. 48 in favour.",
    "Art. 17 of the act gives a right to a copy.",
    "这是一个完整的句子，没有别的。",
    "هذه جملة واحدة، وليس فيها غيرها.",
    "זה משפט אחד בלבד, ואין עוד.",
]
TWO = [
    "The dam is high. It holds water.",
    "Is it high? It is.",
    "What a dam! It holds.",
    "它很高。它蓄水。",
    "これは一つ目の文です。これは二つ目です。",
    "He left (in 2020). She stayed.",
    "It was made in the U.S. The price is high.",
    "He works for Acme Inc. It makes anvils.",
    "It opened at 9 a.m. Visitors are welcome.",
    "They said “no.” Then they left.",
    "The rate was 3.5. The next was 4.",
    "هل هذا سد؟ نعم هو سد.",
    "Das ist ein Satz. Das ist noch einer.",
    "It ended in 1999. 2000 was better.",
    "First line\nSecond line",
]


@pytest.mark.parametrize("text", ONE)
def test_one_sentence(text: str) -> None:
    assert [text[start:end] for start, end in sentences.split(text)] == [text]


@pytest.mark.parametrize("text", TWO)
def test_two_sentences(text: str) -> None:
    assert len(sentences.split(text)) == 2


def test_long_unpunctuated_text_is_cut_at_spaces() -> None:
    spans = sentences.split("word " * 1000)
    assert max(end - start for start, end in spans) <= sentences.LONGEST
    assert len(spans) > 5


def test_kinds_and_sections() -> None:
    text = (
        "# Top\n\nA sentence here.\n\n## Part\n\n- an item of a list\n\n> a quoted line\n\n| h1 | h2 |\n|---|---"
        "|\n| c1 | c2 |\n\n```\ncode()\n```\n"
    )
    found = [(sentence.kind, sentence.text, sentence.section) for sentence in segment(text)]
    assert found == [
        ("heading", "Top", "Top"),
        ("prose", "A sentence here.", "Top"),
        ("heading", "Part", "Part"),
        ("list", "an item of a list", "Part"),
        ("quote", "a quoted line", "Part"),
        ("heading", "h1 | h2", "Part"),
        ("table", "c1 | c2", "Part"),
    ]


def test_offsets_are_those_of_the_report() -> None:
    text = (
        "# Top\n\nThe **dam** is high [1]. It holds [water](https://w.example) too.\n\n- one item [2]\n\n## "
        "Sources\n[1] https://a.example\n[2] https://b.example\n"
    )
    for sentence in segment(text):
        raw = text[sentence.start : sentence.end]
        assert sentence.text.split()[0].strip("#*") in raw


CLEAN = [
    ("The **dam** is _high_ [1].", "The dam is high."),
    ("The dam ([Page](https://p.example)) is high.", "The dam is high."),
    ("The [dam](https://p.example) is high.", "The dam is high."),
    ("The dam is high.[1][2]", "The dam is high."),
    ("- [x] The dam is high [S1]", "The dam is high"),
    ("> The dam is high【1†a】.", "The dam is high."),
    ("1. The dam is high https://p.example/a", "The dam is high"),
]


@pytest.mark.parametrize(("text", "clean"), CLEAN)
def test_clean_text(text: str, clean: str) -> None:
    parsed = parse(text, known=("S1", "1", "2"))
    assert [sentence.text for sentence in segment(text, parsed)] == [clean]


ENDING = "\n\n## Sources\n\n[1] One https://one.example\n[2] Two https://two.example\n"
COVER = [
    ("inside", "The dam is high [1]. The wall is old [2].", [("1",), ("2",)]),
    ("behind the stop", "The dam is high.[1] The wall is old.[2]", [("1",), ("2",)]),
    ("behind the stop with a space", "The dam is high. [1] The wall is old. [2]", [("1",), ("2",)]),
    ("at the head", "[1] reports that the dam is high.", [("1",)]),
    ("on the next line", "The dam is high.\n[1]\n\nThe wall is old [2].", [("1",), ("2",)]),
    ("at the end of a paragraph", "The dam is high. The wall is old [2].", [("2",), ("2",)]),
    ("not beyond the paragraph", "The dam is high indeed.\n\nThe wall is old [2].", [(), ("2",)]),
    ("source line", "The dam is high. The wall is old.\nSource: [1]", [("1",), ("1",)]),
    ("source line with an address", "The dam is high.\n\nSource: https://one.example", [("https://one.example",)]),
    ("list items", "- The dam is high [1]\n- The wall is old [2]", [("1",), ("2",)]),
    ("list item without", "- The dam is high [1]\n- The wall is old", [("1",), ()]),
    ("table row", "| a | b |\n|---|---|\n| The dam | is high [1] |\n| The wall | is old [2] |", [("1",), ("2",)]),
    ("table without outer bars", "a | b\n---|---\nThe dam | is high [1]\nThe wall | is old [2]", [("1",), ("2",)]),
    ("bars in a sentence", "A run is done | failed | stopped. [1] The wall is old. [2]", [("1",), ("2",)]),
    ("below a table", "| a | b |\n|---|---|\n| The dam | is high |\n| The wall | is old |\n\nSource: [1]", [("1",), ("1",)]),
]


@pytest.mark.parametrize(("text", "labels"), [case[1:] for case in COVER], ids=[case[0] for case in COVER])
def test_which_citation_covers_which_sentence(text: str, labels: list[tuple[str, ...]]) -> None:
    text += ENDING
    assert [claim.citations for claim in extract_claims(text, parse(text))] == labels


def test_a_section_about_one_work_speaks_of_that_work() -> None:
    text = (
        "### Review\n\n**“A Review of Dams”** (arXiv:2408.03261)\n\n- Reviews the growth of dams in many "
        "countries.\n\n### Next\n\n- Nothing is named here at all.\n"
    )
    claims = extract_claims(text, parse(text))
    work = ("https://arxiv.org/abs/2408.03261",)
    assert [claim.citations for claim in claims] == [work, work, ()]


def test_a_list_below_each_section_covers_it_where_nothing_else_cites() -> None:
    text = (
        "## One\n\nThe dam is high.\n\n### Sources\n- A: https://a.example\n\n## Two\n\nThe wall is old.\n\n### "
        "Sources\n- B: https://b.example\n"
    )
    claims = extract_claims(text, parse(text))
    assert [claim.citations for claim in claims] == [("https://a.example",), ("https://b.example",)]


NEEDS = [
    "The Kalda Dam was completed in 1987 after nine years of work.",
    "Sea otters eat a quarter of their body weight each day.",
    "Unemployment fell to 4.2 percent.",
    "Marie Curie discovered polonium and radium.",
    "Photosynthesis converts light into chemical energy.",
    "The company acquired its largest rival last spring.",
    "Most coral reefs have bleached repeatedly.",
    "Lithium batteries dominate grid storage.",
    "Parliament approved the budget on Friday.",
    "The vaccine prevents severe illness in most adults.",
    "格伦冰川在过去十五年间后退了近两公里。",
    "Der Staudamm wurde nach neun Jahren fertiggestellt.",
    "Les ventes ont augmenté de 12 % en 2020.",
    "High temperatures kill the larvae quickly.",
    "Roman concrete contains volcanic ash.",
    "The bridge connects Malmö with Copenhagen.",
]
NEEDS_NOT = [
    "This report looks at dams.",
    "In conclusion, there is much to say.",
    "The following sections describe the details:",
    "What should be done next?",
    "I hope this helps.",
    "You should talk to a doctor before you decide.",
    "If you want, I can turn this into a table.",
    "Here are the main points:",
    "No source in the available evidence directly states: the height of the wall.",
    "This could not be verified in the available sources.",
    "However, this may depend on your needs.",
    "Please note the following.",
    "Overall, it is a mixed picture.",
    "我将整理一份报告。",
    "总之，情况复杂。",
    "Yes.",
]


@pytest.mark.parametrize("text", NEEDS)
def test_needs_a_citation(text: str) -> None:
    assert needs_citation(text)


@pytest.mark.parametrize("text", NEEDS_NOT)
def test_needs_no_citation(text: str) -> None:
    assert not needs_citation(text)


def test_the_question_restated_needs_none() -> None:
    assert not needs_citation("The question is how high the Kalda Dam is.", question="How high is the Kalda Dam? That is the question.")


def test_a_cited_sentence_is_always_checked() -> None:
    text = "You should boil the water [1]." + ENDING
    assert [claim.needs_citation for claim in extract_claims(text, parse(text))] == [True]


def test_every_line_a_citation_is_linear() -> None:
    text = "\n".join(f"Line {number} states a fact [1]." for number in range(800)) + ENDING
    assert len(extract_claims(text, parse(text))) == 800
    in_proportion(lambda lines: extract_claims("".join(lines), parse("".join(lines))), text.splitlines(keepends=True))


@pytest.mark.parametrize("short", ["approx", "Sept", "vs", "núm", "Inc", "Gen", "e.g", "i.e", "A", "U.S", "Mr", "Mrd"])
@pytest.mark.parametrize("before", ["", "The site has ", "They say (", "Many long sentences stand before it, and also "])
def test_an_abbreviation_is_known_wherever_it_stands(short: str, before: str) -> None:
    assert len(sentences.split(f"{before}{short}. 5 boats came along.")) == 1, short


@pytest.mark.parametrize("last", ["boats", "harbour", "approximations", "wapprox", "x" * 30])
def test_a_word_that_only_ends_like_an_abbreviation_ends_a_sentence(last: str) -> None:
    assert len(sentences.split(f"They counted the {last}. 5 came along.")) == 2, last


@pytest.mark.parametrize("stop", [".", "!?", "…", ".”", "。", "！", "؟", "।", "\n", "\n\n"])
def test_every_stop_ends_a_sentence_with_what_closes_it(stop: str) -> None:
    space = "" if stop[0] in "。！\n" else " "
    text = f"One here{stop}{space}Two there"
    assert [text[a:b] for a, b in sentences.split(text)] == [f"One here{stop}".rstrip(), "Two there"]

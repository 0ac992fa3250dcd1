"""Which sources speak of a question, and how much."""

from itertools import pairwise

import pytest

from deepdelve.engine.backends.builtin.relevance import SourceText, bare_title, rank, same_name, weigh, windows

ALDER = SourceText("S1", "Alder (river)", "The Alder is a river. It rises near Elm, the seat of the Quill family.")
ELM = SourceText("S2", "Elm", "Elm is a town. Its mayor is Ada Quill.")
BIRCH = SourceText("S3", "Birch", "The Birch is a tree with white bark.")
COWS = SourceText("S4", "Cows", "Cows graze on the meadow all day.")


def order(question: str, *sources: SourceText, leads: tuple[str, ...] = ()) -> list[str]:
    return [entry.source.id for entry in rank(question, sources, leads)]


def anchored(question: str, *sources: SourceText) -> set[str]:
    return {entry.source.id for entry in rank(question, sources) if entry.anchored}


# Weights


def test_words_that_few_documents_hold_weigh_more_and_missing_ones_most() -> None:
    question = weigh("common rare missing", [["common", "rare"], ["common"], ["common"]])
    assert question.weights["common"] < question.weights["rare"] < question.weights["miss"]


def test_coverage_is_the_share_of_the_weight() -> None:
    question = weigh("alder river length", [["alder", "river"], ["river"]])
    assert question.coverage([]) == 0
    assert question.coverage(question.terms) == pytest.approx(1.0)
    assert 0 < question.coverage(["river"]) < question.coverage(["alder"]) < 1
    assert question.coverage(["river"], besides=["alder", "length"]) == pytest.approx(1.0)
    assert weigh("", []).coverage(["x"]) == 0


def test_names_count_by_pairs_of_their_words() -> None:
    question = weigh("Where was Ada Mary Quill born?", [])
    assert question.names_in(" the ada mary quill house ") == 1
    assert question.names_in(" ada mary jones ") == 0.5
    assert question.names_in(" mary jones met ada ") == 0


# Ranking


def test_the_source_that_is_asked_about_comes_first() -> None:
    assert order("How long is the Alder river?", COWS, BIRCH, ELM, ALDER)[0] == "S1"


def test_a_source_that_a_good_one_names_follows_it_before_chance_matches() -> None:
    assert order("Who is mayor where the Alder rises?", COWS, BIRCH, ELM, ALDER)[:2] in (["S1", "S2"], ["S2", "S1"])


def test_a_lead_lifts_the_source_of_its_name() -> None:
    assert order("What colour is its bark?", COWS, ALDER, BIRCH)[0] == "S3"
    without = {e.source.id: e.score for e in rank("How long is the Alder?", [ELM, COWS])}
    with_lead = {e.source.id: e.score for e in rank("How long is the Alder?", [ELM, COWS], ["Elm"])}
    assert with_lead["S2"] > without["S2"]
    assert with_lead["S4"] == without["S4"]


def test_no_source_gives_no_rank_and_an_empty_one_does_not_break() -> None:
    assert rank("Anything?", []) == []
    assert rank("", [SourceText("S1", "", "")])[0].score == 0


# Whether there is an answer at all


@pytest.mark.parametrize(
    "question", ["How long is the Alder?", "Who is the mayor of Elm?", "Does Ada Quill live in Elm?", "Is Alder a river or a tree?"]
)
def test_a_question_on_a_source_has_an_anchor(question: str) -> None:
    assert anchored(question, ALDER, ELM, BIRCH, COWS)


@pytest.mark.parametrize(
    "question",
    [
        "What is the boiling point of tungsten?",
        "Who is the mayor of Reykjavik?",
        "Which river flows through Zagreb?",
        "How old is Ada Lovelace?",
        "What did Zorblatt Quuxley invent?",
        "東京の人口は?",
        "",
    ],
)
def test_a_question_on_something_else_has_none(question: str) -> None:
    assert not anchored(question, ALDER, ELM, BIRCH, COWS)


DIRECTIVE = SourceText(
    "S1", "Directive", "This directive requires agencies to remediate vulnerabilities that are known to be exploited within two weeks."
)


def test_an_answer_in_other_words_is_an_anchor_though_the_missing_word_is_rare() -> None:
    assert anchored("Which directive requires agencies to patch known exploited vulnerabilities?", DIRECTIVE, COWS)
    arabic = SourceText("S1", "مصنع", "يقع مصنع زوربلاكس في مدينة كلفار. بني المصنع في عام 1987، بني على النهر.")
    assert anchored("متى بني مصنع زوربلاكس؟", arabic, COWS)


@pytest.mark.parametrize(
    "question", ["Which directive requires Zorblatt Quuxley to remediate vulnerabilities?", "Which directive requires cows to fly?"]
)
def test_a_stranger_to_the_source_is_no_anchor_however_many_other_words_fit(question: str) -> None:
    assert not anchored(question, DIRECTIVE, ELM)


def test_what_all_sources_hold_still_counts_when_the_question_names_it() -> None:
    on_it = SourceText("S1", "Strict Transport", "HSTS is a standard. HSTS keeps browsers on one scheme.")
    beside = SourceText("S2", "Mixed", "These will work with both.")
    others = [SourceText(f"S{n}", f"T{n}", "HSTS is named here.") for n in range(3, 8)]
    scores = {entry.source.id: entry.score for entry in rank("How does HSTS work?", [on_it, beside, *others])}
    assert scores["S1"] >= scores["S2"]


def test_words_scattered_over_a_long_text_are_no_anchor() -> None:
    scattered = SourceText(
        "S1",
        "Log",
        "The magazine came. " + "Cows graze here. " * 200 + "A guitar was sold. " + "Cows graze here. " * 200 + "It was published.",
    )
    together = SourceText("S1", "Log", "Cows graze here. " * 200 + "The magazine on the guitar was published first.")
    question = "which guitar magazine was published first"
    assert not anchored(question, scattered, COWS)
    assert anchored(question, together, COWS)


def test_a_title_of_several_words_is_a_subject_without_capitals() -> None:
    source = SourceText("S1", "Febrile seizure", "It comes with fever.")
    assert anchored("what causes febrile seizures and how are they treated", source)


# Names


@pytest.mark.parametrize(
    ("title", "expected"),
    [("Frozen (2013 film)", "Frozen"), ("Simon &amp; Simon", "Simon & Simon"), ("f(x)", "f"), ("Plain", "Plain"), ("(odd)", "")],
)
def test_what_only_tells_titles_apart_is_left_out(title: str, expected: str) -> None:
    assert bare_title(title) == expected


@pytest.mark.parametrize(
    ("title", "name", "same"),
    [
        ("Frozen (2013 film)", "Frozen", True),
        ("Henan University", "Professor Li of Henan University", True),
        ("Battle of Hastings 1066", "Battle of Hastings", True),
        ("Pizza in China", "China", False),
        ("Alder", "Birch", False),
        ("", "Birch", False),
        ("The", "The", False),
    ],
)
def test_names_are_compared_by_their_words(title: str, name: str, same: bool) -> None:
    assert same_name(title, name) is same


def test_windows_overlap_and_cover_everything() -> None:
    text = " ".join(f"Sentence number {n} stands here." for n in range(300))
    found = windows(text)
    assert len(found) > 5
    assert found[0][0].start == 0
    assert found[-1][-1].end == len(text)
    assert all(after[0].start <= before[-1].end + 1 for before, after in pairwise(found))
    assert windows("") == ()


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("List 5 ways to protect a password", ("protect", "password")),
        ("Name five attacks on passwords", ("attack", "password")),
        ("Please explain briefly what mixed content is", ("mixed", "content")),
        ("Tell me about the Alder", ("alder",)),
        ("Summarise", ("summaris",)),
        ("Give an overview of otters", ("otter",)),
        ("Compare otters", ("otter",)),
        ("How do linked lists work?", ("link", "list", "work")),
    ],
)
def test_how_to_answer_is_no_word_of_the_subject(question: str, asked: tuple[str, ...]) -> None:
    assert weigh(question, []).terms == asked

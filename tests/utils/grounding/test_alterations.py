"""One small word makes a sentence false: how many, how surely, why, under which condition, per what, in which order, in any language."""

from itertools import combinations, permutations

import pytest

from deepdelve.utils.grounding import alterations
from deepdelve.utils.grounding.verify import verify_report
from tests.support.patience import in_proportion

from .altered import PAIRS, SOURCES

TEXTS = {f"https://{name}.example/page": text for name, text in SOURCES.items()}
IDS = [f"{language}-{kind}-{place}" for place, (language, kind, _, _) in enumerate(PAIRS)]


def statuses(language: str, sentence: str) -> set[str]:
    stem, stop = sentence[:-1], sentence[-1]
    report = f"# Findings\n\n{stem} [1]{stop}\n\n## Sources\n\n[1] https://{language}.example/page\n"
    return {claim.status for claim in verify_report(report, TEXTS).claims if claim.needs_citation}


@pytest.mark.parametrize(("language", "kind", "right", "wrong"), PAIRS, ids=IDS)
def test_the_altered_sentence_is_flagged_and_the_true_one_is_supported(language: str, kind: str, right: str, wrong: str) -> None:
    assert statuses(language, right) == {"supported"}
    assert statuses(language, wrong) & {"unsupported", "contradicted", "partial"}, kind


SAID = [
    ("All ponds dried out.", "Some of the ponds dried out in 2018.", "“some”, not all"),
    ("Most ponds dried out.", "A few ponds dried out.", "“few”, not most"),
    ("All wardens are volunteers.", "Ten of the twelve wardens are volunteers.", "not all"),
    ("The drug cures the flu.", "The drug might cure the flu.", "“might”"),
    ("Smoke causes the disease.", "Smoke is associated with the disease.", "“associated”"),
    ("The bridge will open in June.", "If money is found, the bridge will open in June.", "under a condition"),
    ("The drug cures the flu.", "It is not true that the drug cures the flu.", "“not true that”"),
    ("The drug cures the flu.", "There is no good evidence that the drug cures the flu.", "“no good evidence that”"),
    ("The minister took the money.", "The minister denied that he took the money.", "“denied that”"),
    ("Das Mittel heilt die Grippe.", "Es stimmt nicht, dass das Mittel die Grippe heilt.", "stimmt nicht"),
    ("The pump moves 5 litres per minute.", "The pump moves 5 litres per second.", "per second, not per minute"),
    ("It opened in May 2009.", "It opened in March 2009.", "March, not May"),
    ("It rose from 5 to 9.", "It changed from 9 to 5.", "the other way round"),
    ("Ada built the engine and Bo sold it.", "Bo built the engine and Ada sold it.", "two of its parts"),
    ("所有居民反对。", "部分居民反对。", "“部分”"),
    ("照明は魚に影響を与える。", "照明は魚に影響を与える可能性がある。", "可能"),
]


@pytest.mark.parametrize(("claim", "sentence", "said"), SAID)
def test_the_reason_names_what_the_source_says(claim: str, sentence: str, said: str) -> None:
    assert said in alterations.find(claim, sentence)


SAME = [
    ("Some ponds dried out.", "All ponds dried out."),
    ("Not all ponds dried out.", "Some of the ponds dried out."),
    ("All visitors paid.", "Some ponds dried out, and all visitors paid."),
    ("The drug can cure the flu.", "The drug may cure the flu."),
    ("The drug is likely to cure the flu.", "The drug might cure the flu."),
    ("The fair opens in May 2009.", "The fair opens in May 2009."),
    ("In May 2009 the drug was sold.", "The drug was sold in May 2009."),
    ("There is no evidence that it cures the flu.", "There is no evidence that it cures the flu."),
    ("The drug was sold in shops.", "The drug was sold in shops, though nobody denies that it is weak."),
    ("If money is found, the bridge opens.", "The bridge opens if money is found."),
    ("You need to know your part.", "If you want to act, you need to know your part."),
    ("The engine was built by Bo.", "Bo built the engine."),
    ("Mink and otters live there in winter.", "Otters and mink live there in winter."),
    ("Smoke and the disease are linked.", "Smoke is associated with the disease."),
    ("Smoke does not cause the disease.", "Smoke is associated with the disease, but is no cause."),
    ("The pump moves 5 litres per second.", "The pump moves 5 litres per second, or 300 litres per minute."),
    ("不仅居民，商人也反对。", "居民和商人都反对。"),
]


@pytest.mark.parametrize(("claim", "sentence"), SAME)
def test_what_says_no_more_than_the_source_is_left_alone(claim: str, sentence: str) -> None:
    assert alterations.find(claim, sentence) == ""


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_two_parts_have_changed_places_exactly_where_cutting_finds_them(size: int) -> None:
    words = ["alder", "birch", "cedar", "dogwood", "elder", "fir"][:size]
    for order in permutations(range(size)):
        # Every way to cut what moved into three parts, the first and last of which changed places.
        cuts = [[*order[:a], *order[c:d], *order[b:c], *order[a:b], *order[d:]] for a, b, c, d in combinations(range(size + 1), 4)]
        wanted = size >= 4 and list(range(size)) in cuts
        found = alterations.find(" ".join(words[place] for place in order), " ".join(words))
        assert bool(found) == wanted, order


def test_a_repeated_word_is_taken_for_the_one_in_its_turn() -> None:
    said = "Ada met Bo and Bo met Cy in Rome."
    assert alterations.find(said, said) == ""
    assert "two of its parts" in alterations.find("Cy met Bo and Bo met Ada in Rome.", said)


def test_a_part_of_a_sentence_is_no_copy_that_needs_no_look() -> None:
    texts = {"https://a.example": "Kein Boot wurde je beschädigt.\n\nIt is not true that the drug cures the common flu in adults."}
    for part in ("Ein Boot wurde je beschädigt", "The drug cures the common flu in adults"):
        found = verify_report(f"# R\n\n{part} [1].\n\n## Sources\n\n[1] https://a.example\n", texts)
        assert [claim.status for claim in found.claims if claim.needs_citation] != ["supported"], part


def test_another_sentence_of_the_passage_may_carry_the_claim() -> None:
    texts = {"https://a.example": "Some of the ponds dried out in June. By August all of the ponds dried out."}
    found = verify_report("# R\n\nAll of the ponds dried out [1].\n\n## Sources\n\n[1] https://a.example\n", texts)
    assert [claim.status for claim in found.claims] == ["supported"]


@pytest.mark.parametrize(
    "claim", ["may " * 5_000, "all of the " * 5_000, "from 1 to 2 " * 3_000, "a b c d e f g h " * 2_000, "不" * 20_000]
)
def test_hostile_sentences_take_linear_time(claim: str) -> None:
    in_proportion(lambda text: alterations.find(text, text[::-1] + " if may some"), claim)

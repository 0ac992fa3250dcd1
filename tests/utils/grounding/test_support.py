"""What the lexical verifier says, and why."""

import pytest

from deepdelve.core.records import Claim
from deepdelve.utils.grounding import calibration
from deepdelve.utils.grounding.index import SourceIndex
from deepdelve.utils.grounding.support import LexicalVerifier, Support

from .pairs import DAM, SOURCES, TRIAL

ONE = SourceIndex("S1", SOURCES[DAM])
TWO = SourceIndex("S2", SOURCES[TRIAL])


def judge(text: str, *labels: str, sources: dict[str, SourceIndex] | None = None) -> Support:
    claim = Claim(id="c1", text=text, citations=labels or ("S1",))
    return LexicalVerifier().score([claim], {"S1": ONE, "S2": TWO} if sources is None else sources)[0]


def test_a_copied_sentence_is_supported_where_it_stands() -> None:
    found = judge("About 8,300 people were resettled.")
    assert (found.status, found.score, found.reason) == ("supported", 1.0, "")
    assert found.passage is not None
    assert ONE.text[found.passage.start : found.passage.end] == found.passage.quote == "About 8,300 people were resettled"
    assert found.spans == ((found.passage.start, found.passage.end),)


KINDS = [
    ("The Kalda Dam is 412 metres high.", "contradicted", "figure", "142 metres"),
    ("The wall was repainted for 77 million dollars.", "unsupported", "figure", "77 million dollars"),
    ("The operator plans to raise the wall.", "contradicted", "statement", "negates"),
    ("The plant must follow Article 17 of the water act.", "unsupported", "regulation", "Article 17"),
    ("The operator said “we shall never raise this wall again”.", "unsupported", "quote", "not verbatim"),
    ("Penguins breed on the northern shore of the lake.", "unsupported", "statement", "not found"),
]


@pytest.mark.parametrize(("text", "status", "kind", "reason"), KINDS)
def test_what_decided_is_named(text: str, status: str, kind: str, reason: str) -> None:
    found = judge(text)
    assert (found.status, found.kind) == (status, kind)
    assert reason in found.reason


def test_contradicted_only_where_the_source_states_otherwise() -> None:
    assert judge("The dam employs 77 people per year of operation.").status != "contradicted"


def test_no_citation_and_no_readable_source_are_told_apart() -> None:
    verifier = LexicalVerifier()
    uncited = verifier.score([Claim(id="c1", text="The Kalda Dam is high.")], {})[0]
    unread = verifier.score([Claim(id="c1", text="The Kalda Dam is high.", citations=("S9",))], {})[0]
    framing = verifier.score([Claim(id="c1", text="This is it.", needs_citation=False)], {})[0]
    assert (uncited.status, unread.status, framing.status) == ("unsupported", "unchecked", "unchecked")


def test_the_best_of_several_sources_counts() -> None:
    assert judge("Headache was reported by 6.5% of treated patients.", "S1", "S2").passage is not None
    assert judge("Headache was reported by 6.5% of treated patients.", "S1", "S2").passage.source_id == "S2"  # pyright: ignore


def test_a_figure_may_stand_in_another_of_the_cited_sources() -> None:
    text = "The Kalda Dam is 142 metres high, as is noted by Bergdahl of Uppsala."
    assert judge(text, "S1", "S2").kind != "figure"


def test_an_empty_source_cannot_be_checked() -> None:
    assert judge("The Kalda Dam is high.", sources={"S1": SourceIndex("S1", " \n")}).status == "unchecked"


NEGATION_TWINS = [
    (
        "The estimate is not EUR 30 billion but EUR 1.6 billion for parcels in total.",
        "The estimate for parcels is EUR 1.6 billion in total.",
    ),
    ("It is not only high but also old, and stands in Tarnow.", "It is high and old, and stands in Tarnow."),
    ("No later than 2019 the bridge was opened to all traffic.", "The bridge was opened to all traffic in 2019."),
]


@pytest.mark.parametrize(("source", "claim"), NEGATION_TWINS)
def test_a_negated_figure_does_not_contradict_a_true_one(source: str, claim: str) -> None:
    assert judge(claim, sources={"S1": SourceIndex("S1", source)}).status == "supported"


LANGUAGES = [
    ("格伦冰川长约 23 公里，位于北纬六十度。", "格伦冰川长约 23 公里。", "格伦冰川长约 32 公里。"),
    ("ダムの高さは 142 メートルで、九年の工事を経て完成した。", "ダムの高さは 142 メートルである。", "ダムの高さは 124 メートルである。"),
    ("اكتمل بناء السد عام 1987 وبلغت كلفته 450 مليون دولار.", "اكتمل بناء السد عام 1987.", "اكتمل بناء السد عام 1978."),
    ("הסכר הושלם בשנת 1987 וגובהו 142 מטר.", "הסכר הושלם בשנת 1987.", "הסכר הושלם בשנת 1978."),
    (
        "Плотина была построена в 1987 году, её высота 142 метра.",
        "Плотина была построена в 1987 году.",
        "Плотина была построена в 1978 году.",
    ),
    (
        "La presa mide 142 metros y costó 450 millones de euros.",
        "La presa costó 450 millones de euros.",
        "La presa costó 540 millones de euros.",
    ),
    ("Le barrage a coûté 1,2 milliard d'euros et mesure 142 mètres.", "Le barrage mesure 142 mètres.", "Le barrage mesure 124 mètres."),
]


@pytest.mark.parametrize(("source", "right", "wrong"), LANGUAGES)
def test_other_languages_and_scripts(source: str, right: str, wrong: str) -> None:
    sources = {"S1": SourceIndex("S1", source)}
    assert judge(right, sources=sources).status == "supported"
    assert judge(wrong, sources=sources).status in ("unsupported", "contradicted", "partial")


def test_the_score_is_a_probability_that_grows_with_coverage() -> None:
    weights = calibration.SHIPPED
    scores = [weights.probability(calibration.Features(share, share, share, 0, 2.5)) for share in (0.0, 0.3, 0.6, 0.9)]
    assert scores == sorted(scores)
    assert 0 < scores[0] < 0.5 < scores[-1] < 1
    assert weights.probability(calibration.Features(0.9, 0.9, 0.9, 3, 2.5)) < scores[-1]

"""Delivery: rendering is the inverse of parsing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.core.records import Claim, Passage, Source
from deepdelve.utils.grounding import citations
from deepdelve.utils.grounding.render import Rendered, author_year, bibtex, render

SOURCES = {
    "S1": Source(id="S1", url="https://one.example/a", title="One", author="Jane Smith", date="2020-05-01", file="sources/S1.md"),
    "S2": Source(id="S2", url="https://two.example/b", title="Two", file="sources/S2.md"),
    "S3": Source(id="S3", url="https://one.example/a/", title="One again", file="sources/S3.md"),
    "S4": Source(id="S4", url="https://wall.example", title="Wall", state="blocked"),
    "S5": Source(id="S5", url="file:///library/notes.pdf", title="Notes", file="sources/S5.md", kind="pdf"),
}
DRAFT = "# Title\n\nThe dam is high [S2]. It is old [S1, S2]. It leaks [S4]. It is wide [S9].\n"


def shown(draft: str, claims: list[Claim] | None = None, style: str = "standard", **more: object) -> Rendered:
    return render(draft, claims or [], SOURCES, style, **more)  # type: ignore


def test_numbers_follow_first_use_and_unusable_ids_are_never_delivered() -> None:
    found = shown(DRAFT)
    assert found.order == ("S2", "S1")
    assert "high [1]. It is old [2, 1]. It leaks. It is wide." in found.text
    assert found.text.endswith("## Sources\n\n[1] Two. https://two.example/b\n\n[2] One. https://one.example/a\n")
    assert not re.search(r"\[S\d", found.text)


def test_two_ids_of_one_page_are_one_source() -> None:
    found = shown("A [S1]. B [S3]. C [S1][S3].")
    assert found.order == ("S1",)
    assert found.text.startswith("A [1]. B [1]. C [1].")


def test_academic_style() -> None:
    found = shown("A [S1]. B [S2, S1].", style="academic")
    assert found.text.startswith("A (Smith, 2020). B (two.example, n.d.; Smith, 2020).")
    assert "## References\n\n- Smith, 2020. One. https://one.example/a\n" in found.text


def test_equal_author_and_year_get_letters() -> None:
    sources = {f"S{n}": Source(id=f"S{n}", url=f"https://x{n}.example", author="Jane Smith", date="2020", file="f") for n in (1, 2)}
    text = render("A [S1]. B [S2].", [], sources, "academic").text
    assert "(Smith, 2020a)" in text
    assert "(Smith, 2020b)" in text


def claim(draft: str, sentence: str, status: str, citations_: tuple[str, ...] = ("S2",)) -> Claim:
    start = draft.index(sentence)
    return Claim(id="c1", text=sentence, span=(start, start + len(sentence)), citations=citations_, status=status)  # type: ignore


MARKS = [
    ("unsupported", " ⚠ not supported by [1]"),
    ("contradicted", " ⚠ contradicted by [1]"),
    ("partial", " ⚠ only partly supported by [1]"),
    ("supported", ""),
    ("unchecked", ""),
]


@pytest.mark.parametrize(("status", "mark"), MARKS)
def test_claims_that_are_not_carried_are_marked(status: str, mark: str) -> None:
    sentence = "The dam is high [S2]."
    found = shown(DRAFT, [claim(DRAFT, sentence, status)])
    assert f"The dam is high [1].{mark} It is old" in found.text
    start, end = found.spans["c1"]
    assert found.text[start:end] == "The dam is high [1]."


def test_a_claim_without_a_source_is_marked() -> None:
    found = shown("It floats.", [claim("It floats.", "It floats.", "unsupported", ())])
    assert found.text == "It floats. ⚠ no source\n"


def test_a_bibliography_of_the_models_own_is_stripped() -> None:
    found = shown("# T\n\nA [S1].\n\n## References\n\n[1] Invented, https://invented.example\n[S1] Also invented\n")
    assert "nvented" not in found.text
    assert found.text.count("## Sources") == 1


@pytest.mark.parametrize("draft", ["A [Insert reference here].", "A [citation needed].", "TODO: A.", "A {{source}}."])
def test_placeholders_are_never_delivered(draft: str) -> None:
    text = shown(draft).text
    assert not [problem for problem in citations.parse(text).problems if problem.kind == "placeholder"]


def test_links_and_addresses_of_known_pages_become_numbers() -> None:
    found = shown("A ([One](https://one.example/a)). B https://two.example/b.")
    assert found.order == ("S1", "S2")
    assert "https://two.example/b." not in found.text.split("## Sources")[0]


def test_the_preface_stands_below_the_title_and_moves_the_spans() -> None:
    found = shown(DRAFT, [claim(DRAFT, "The dam is high [S2].", "supported")], preface="Verified. 4 of 4.")
    assert found.text.startswith("# Title\n\nVerified. 4 of 4.\n\nThe dam")
    start, end = found.spans["c1"]
    assert found.text[start:end] == "The dam is high [1]."


def test_local_files_are_listed_with_their_pages() -> None:
    text = "[page 1]\nIntro.\n[page 2]\nThe dam is high.\n"
    start = text.index("The dam")
    row = Claim(
        id="c1",
        text="The dam is high.",
        span=(0, 10),
        citations=("S5",),
        status="supported",
        passage=Passage(source_id="S5", start=start, end=start + 16),
    )
    assert "[1] Notes. /library/notes.pdf, p. 2" in shown("The dam [S5].", [row], texts={"S5": text}).text


def test_titles_are_data_and_no_markup() -> None:
    sources = {"S1": Source(id="S1", url="https://x.example/a b", title="[click](evil) <b>*x*\n# y", file="f")}
    text = render("A [S1].", [], sources, "standard").text
    assert "\\[click\\](evil) &lt;b>\\*x\\* # y" in text
    assert "https://x.example/a%20b" in text


def test_bibtex() -> None:
    entry = bibtex(SOURCES, ("S1",))
    assert entry.startswith("@misc{S1,\n  title = {One},\n  author = {Jane Smith},\n  year = {2020},\n  url = {https://one.example/a}")
    assert bibtex({"S1": Source(id="S1", url="https://x", title="50% {of} A_B & C")}, ("S1",)).count("{") == 3


@pytest.mark.parametrize(
    ("author", "date", "name"),
    [
        ("Jane Smith", "2020-01-01", "Smith, 2020"),
        ("Smith, Jane; Lee, K.", "May 2019", "Smith, 2019"),
        ("", "", "x.example, n.d."),
        ("WHO", "2021", "WHO, 2021"),
    ],
)
def test_author_and_year(author: str, date: str, name: str) -> None:
    assert author_year(Source(id="S1", url="https://www.x.example/a", author=author, date=date)) == name


IDS = st.lists(st.sampled_from(["S1", "S2", "S5"]), min_size=1, max_size=3, unique=True)
WORDS = st.sampled_from(["dam", "water", "wall", "height", "river", "stone"])


@given(st.lists(st.tuples(st.lists(WORDS, min_size=3, max_size=6), IDS), min_size=1, max_size=8))
def test_what_is_rendered_parses_back_to_the_same_sources(parts: list[tuple[list[str], list[str]]]) -> None:
    draft = "\n\n".join(f"The {' '.join(words)} [{', '.join(ids)}]." for words, ids in parts)
    found = render(draft, [], SOURCES, "standard")
    parsed = citations.parse(found.text)
    cited = [tuple(found.order[int(target) - 1] for target in marker.targets) for marker in parsed.markers]
    assert cited == [tuple(ids) for _, ids in parts]
    assert not [problem for problem in parsed.problems if problem.kind in ("dangling", "uncited_source", "duplicate")]
    assert sorted(map(int, parsed.references)) == list(range(1, len(found.order) + 1))


@given(st.text(alphabet="ab [S1]2().#\n*", max_size=200))
def test_any_draft_is_rendered_and_no_id_is_left(draft: str) -> None:
    text = render(draft, [], SOURCES, "standard").text
    assert not re.search(r"\[S\d+\]", re.sub(r"`[^`]*`", "", text))


def test_an_undated_entry_without_author_has_a_whole_label_and_one_full_stop() -> None:
    title = "Binding Operational Directive 18-01: Enhance Email and Web Security"
    source = Source(id="S1", url="corpus://docs/a.md", title=title)
    assert author_year(source) == "Binding Operational Directive 18-01, n.d."
    assert "n.d.." not in render("It is so [S1].", [], {"S1": source}, "academic").text
    assert author_year(Source(id="S1", url="", title="x" * 60)) == f"{'x' * 40}, n.d."

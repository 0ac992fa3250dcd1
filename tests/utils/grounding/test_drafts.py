"""Whatever habit a writer has, a draft names its sources in one way, and holds nothing that only a chat or a browser shows."""

import pytest

from deepdelve.core.records import Source
from deepdelve.utils.grounding import citations
from deepdelve.utils.grounding.drafts import tidy
from deepdelve.utils.grounding.render import render
from tests.support.patience import in_proportion

SOURCES = {
    key: Source(id=key, url=f"https://{key.lower()}.example/page", title=f"Page {key}", state="ok", file=f"sources/{key}.md")
    for key in ("S1", "S2", "S3")
}

IDS = [
    ("[S1]", "[S1]"),
    ("[s1]", "[S1]"),
    ("[ S1 ]", "[S1]"),
    ("(S1)", "[S1]"),
    ("(S1, S2)", "[S1, S2]"),
    ("【S1】", "[S1]"),
    ("【S1†L4】", "[S1]"),
    ("{S1}", "[S1]"),
    ("[[S1]]", "[S1]"),
    ("[^S1]", "[S1]"),
    ("<sup>S1</sup>", "[S1]"),
    ("[S1](https://a.example/x)", "[S1]"),
    ("[Source S1]", "[S1]"),
    ("[source: S1]", "[S1]"),
    ("[#S1]", "[S1]"),
    ("[S1, p. 4]", "[S1]"),
    ("[S1, pp. 4-6]", "[S1]"),
    ("[S1:12]", "[S1]"),
    ("[S1, lines 3-9]", "[S1]"),
    ("[S1; S2]", "[S1, S2]"),
    ("[S1 and S2]", "[S1, S2]"),
    ("[S1/S2]", "[S1, S2]"),
    ("[S1-S3]", "[S1, S2, S3]"),
    ("[S1, S1]", "[S1]"),
]


@pytest.mark.parametrize(("written", "kept"), IDS)
def test_every_way_to_name_an_id_is_one(written: str, kept: str) -> None:
    assert tidy(f"# T\n\nIt rains {written}.\n") == f"# T\n\nIt rains {kept}.\n"


@pytest.mark.parametrize(
    "text", ["A (S-Bahn) ran.", "It is [1].", "See [the page](https://s1.example).", "The S1 runs.", "x[S1a]", "(2019)"]
)
def test_what_is_no_id_stays(text: str) -> None:
    assert tidy(text) == text


@pytest.mark.parametrize("mark", ["```", "```markdown", "~~~md"])
def test_a_fence_around_the_whole_is_taken_off(mark: str) -> None:
    assert tidy(f"\n{mark}\n# T\n\nIt rains [S1].\n{mark[:3]}\n\n") == "# T\n\nIt rains [S1].\n"


def test_a_fence_within_stays() -> None:
    text = "```\na\n```\n\nText.\n\n```\nb\n```\n"
    assert tidy(text) == text


@pytest.mark.parametrize(
    "extra",
    [
        "<!-- note to self -->",
        "<script>alert(1)</script>",
        "<think>which source?</think>",
        "</think>",
        '<span class="x"></span>',
        " :contentReference[oaicite:0]{index=0}",
        " [oai_citation:1‡page](https://x.example)",
        " citeturn0search1turn0news2",
    ],
)
def test_what_only_a_chat_or_a_browser_shows_goes(extra: str) -> None:
    assert tidy(f"It rains{extra} [S1].") == "It rains [S1]."


def test_a_link_of_html_is_a_link() -> None:
    assert tidy('See <a href="https://a.example/x" target=_blank>the page</a>.') == "See [the page](https://a.example/x)."


HOSTILE = [
    "[S1" * 20_000,
    "<a " * 20_000,
    "<!--" + "-" * 60_000,
    "```\n" * 20_000,
    "(S1, " * 20_000,
    "<think>" * 10_000,
    "[oai_citation:" * 9_000,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_drafts_take_linear_time(text: str) -> None:
    in_proportion(tidy, text)


PLACEHOLDERS = [
    "[Insert reference here]",
    "[citation needed]",
    "[source?]",
    "[S?]",
    "[Sx]",
    "[1?]",
    "[n]",
    "[Date]",
    "[Quelle einfügen]",
    "[à compléter]",
    "[引用]",
    "[来源]",
    "(source needed)",
    "(Author, Year)",
    "(add a source)",
    "{{cite}}",
    "<insert source>",
    "[?]",
    "[TBD]",
    "TODO",
]


@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_a_placeholder_is_found_and_never_delivered(placeholder: str) -> None:
    draft = f"# T\n\nIt rains in Bergen on most days {placeholder} [S1].\n"
    assert [problem.kind for problem in citations.parse(draft, known=SOURCES.keys()).problems] == ["placeholder"]
    assert placeholder not in render(draft, [], SOURCES, "standard").text


LISTS = [
    "**Works Cited**\n\n- Smith, J. The rain.\n",
    "## References\n\n- Smith, J. The rain.\n- Doe, A. More rain.\n",
    "References\n\nSmith, J. (2019). The rain. Journal of Rain, 3.\nDoe, A. (2020). More rain.\n",
    "## Literaturverzeichnis\n\n- Müller, H.: Der Regen.\n",
    "## Bibliography:\n\n1. Smith, The rain\n",
]


@pytest.mark.parametrize("listing", LISTS)
def test_a_list_of_works_that_a_model_adds_is_never_delivered(listing: str) -> None:
    text = render(f"# T\n\nIt rains in Bergen on most days [S1].\n\n{listing}", [], SOURCES, "standard").text
    assert "Smith" not in text
    assert "Müller" not in text
    assert text.endswith("## Sources\n\n[1] Page S1. https://s1.example/page\n")


def test_an_id_in_code_is_not_delivered_either() -> None:
    assert "S2" not in render("# T\n\nIt rains [S1].\n\n```\nrain [S2]\n```\n", [], SOURCES, "standard").text

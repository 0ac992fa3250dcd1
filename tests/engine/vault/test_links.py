"""Links and names: where they stand, where they lead, and what is none."""

import pytest

from deepdelve.engine.vault.links import Name, WikiLink, block_ids, headings, parse_links, resolve, without_invalid
from deepdelve.engine.vault.names import file_name, slug, unique
from tests.support.patience import in_proportion


def targets(text: str) -> list[str]:
    return [link.target for link in parse_links(text).links]


def test_b26_all_forms_of_a_link() -> None:
    found = parse_links(
        "[[A]] [[B#Heading]] [[C#^block-1]] [[D|shown]] ![[E]] [[F#H|x]] [[#here]] a\\|b [[G\\|cell]] [[folder/H.md]]"
    ).links
    assert [(link.target, link.heading, link.block, link.alias, link.embed) for link in found] == [
        ("A", "", "", "", False),
        ("B", "Heading", "", "", False),
        ("C", "", "block-1", "", False),
        ("D", "", "", "shown", False),
        ("E", "", "", "", True),
        ("F", "H", "", "x", False),
        ("", "here", "", "", False),
        ("G", "", "", "cell", False),
        ("folder/H.md", "", "", "", False),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "```\n[[A]]\n```",
        "~~~md\n[[A]]\n~~~\n",
        "````\n```\n[[A]]\n````",
        "```\n[[A]] never closed",
        "`[[A]]` and ``x ` [[A]]``",
        "%% [[A]] %%",
        "%%\n[[A]]\n%%",
        "<!-- [[A]] -->",
        "$$\n[[A]]\n$$",
        "sum $x_{[[A]]}$ here",
        "---\nup: '[[A]]'\n---\n",
    ],
)
def test_b26_no_link_in_code_comments_math_and_frontmatter(text: str) -> None:
    assert targets(text) == []


@pytest.mark.parametrize("text", ["costs $5 [[A]] or $6", "`open [[A]]", "%% open [[A]]", "100% [[A]] 50%", "`a`[[A]]`b`", "\\$x [[A]] $"])
def test_b26_what_only_looks_like_code_or_math_hides_no_link(text: str) -> None:
    assert targets(text) == ["A"]


@pytest.mark.parametrize("text", ["[[A", "[[]]", "[[|x]]", "[[a:b]]", "[[a\n]]", "[[what?]]", '[["x"]]'])
def test_b26_what_is_no_valid_link_is_named_and_becomes_plain_text(text: str) -> None:
    parsed = parse_links(text)
    assert (parsed.links, len(parsed.invalid)) == ((), 1)
    plain = without_invalid(text)
    assert "[[" not in plain
    assert parse_links(plain).invalid == ()


NAMES = [
    Name("1", "title", "Tides", "wiki/synthesis/Tides.md"),
    Name("1", "alias", "Ebb and flow", "wiki/synthesis/Tides.md"),
    Name("1", "file", "Tides", "wiki/synthesis/Tides.md"),
    Name("2", "title", "tides", "wiki/concepts/tides 2.md"),
    Name("2", "file", "tides 2", "wiki/concepts/tides 2.md"),
    Name("3", "title", "Café Nord: menu", "wiki/entities/Cafe-Nord menu.md"),
    Name("3", "file", "Cafe-Nord menu", "wiki/entities/Cafe-Nord menu.md"),
    Name("4", "alias", "ebb AND flow", "wiki/entities/Four.md"),
]


@pytest.mark.parametrize(
    ("target", "page", "ambiguous"),
    [
        ("Tides", "1", False),
        ("tides", "2", False),
        ("TIDES", None, True),
        ("ebb and flow", None, True),
        ("tides 2", "2", False),
        ("cafe nord menu", "3", False),
        ("Café Nord menu", "3", False),
        ("wiki/synthesis/Tides", "1", False),
        ("synthesis/Tides.md", "1", False),
        ("Nowhere", None, False),
    ],
)
def test_b26_a_link_means_one_page_or_none(target: str, page: str | None, ambiguous: bool) -> None:
    link = WikiLink(0, 0, target)
    assert resolve(link, [name for name in NAMES if slug(name.name) == link.slug or "/" in target]) == (page, ambiguous)


def test_b26_headings_and_blocks_are_found_outside_code() -> None:
    text = "# One two\n\ntext ^block-1\n\n```\n# Not this\n```\n### Three ###\n"
    assert headings(text) == {"one-two", "three"}
    assert block_ids(text) == {"block-1"}


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("a/b", "a b"),
        ("..hidden", "hidden"),
        ("  x  ", "x"),
        ("CON", "CON page"),
        ("", "Untitled"),
        ("???", "Untitled"),
        ("e\u0301", "é"),
        ("end.", "end"),
        ("tab\tnew\nline", "tab new line"),
    ],
)
def test_file_names_are_safe_on_every_system(title: str, name: str) -> None:
    assert file_name(title) == name


def test_a_long_name_is_cut_between_characters() -> None:
    assert len(file_name("🌊" * 100).encode()) <= 120
    assert unique("Tides", ["tides", "TIDES 2"]) == "Tides 3"
    assert len(unique("ä" * 60, ["ä" * 60]).encode()) <= 120


@pytest.mark.parametrize(
    "text", ["[[" * 60_000, "`" * 100_000 + "[[A]]", "$a" * 60_000, "%%" * 60_001, "<!--" * 40_000, "```\n" * 40_000, "[[A]]" * 20_000]
)
def test_links_of_hostile_text_are_found_in_linear_time(text: str) -> None:
    in_proportion(parse_links, text)

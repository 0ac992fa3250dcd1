"""One list from several: each page once, agreement first, many sites before many pages of one."""

import pytest

from deepdelve.tools.search.merge import identity, merge
from tests.tools.search.doubles import found, hit


def urls(*lists: tuple[str, ...], limit: int = 10, **more: object) -> list[str]:
    return [hit.url for hit in merge([found(*each).hits for each in lists], limit=limit, **more)]


def test_what_two_engines_agree_on_comes_first() -> None:
    one = ("https://a.example/", "https://b.example/", "https://c.example/")
    two = ("https://c.example/", "https://d.example/")
    assert urls(one, two) == ["https://c.example/", "https://a.example/", "https://b.example/", "https://d.example/"]


def test_a_page_stands_once_with_the_best_of_both_hits() -> None:
    first = hit("https://www.a.example/x/", engine="one", snippet="short", title="", date="")
    second = hit("http://a.example/x", engine="two", snippet="a longer snippet", title="A", date="2024-01-01")
    (merged,) = merge([[first], [second]], limit=5)
    assert (merged.url, merged.engine, merged.rank) == ("https://www.a.example/x/", "one, two", 1)
    assert (merged.snippet, merged.title, merged.date) == ("a longer snippet", "A", "2024-01-01")
    (again,) = merge([[first], [first]], limit=5)
    assert again.engine == "one"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://doi.org/10.1000/ABC", "http://dx.doi.org/10.1000/abc", True),
        ("https://arxiv.org/abs/2401.01234v2", "https://arxiv.org/pdf/2401.01234", True),
        ("https://arxiv.org/abs/2401.01234", "https://doi.org/10.48550/arXiv.2401.01234", True),
        ("https://arxiv.org/abs/cs/0301001v1", "https://arxiv.org/abs/cs/0301001", True),
        ("https://arxiv.org/abs/2401.01234", "https://arxiv.org/abs/2401.01235", False),
        ("https://a.example/?id=1", "https://a.example/?id=2", False),
        ("corpus://notes/a.md", "corpus://notes/b.md", False),
    ],
)
def test_works_with_several_addresses_are_known_by_their_number(one: str, other: str, same: bool) -> None:
    assert (identity(one) == identity(other)) is same


def test_further_pages_of_a_site_and_siblings_wait_behind_other_sites_and_none_is_lost() -> None:
    got = urls(
        (
            "https://a.example/docs/1",
            "https://a.example/docs/2",
            "https://www.a.example/blog/3",
            "https://a.example/other/4",
            "https://b.example/5",
            "https://b.example/6",
        )
    )
    assert got == [
        "https://a.example/docs/1",
        "https://b.example/5",
        "https://b.example/6",
        "https://a.example/docs/2",
        "https://www.a.example/blog/3",
        "https://a.example/other/4",
    ]


def test_blocked_sites_and_known_pages_are_left_out() -> None:
    given = (
        "https://docs.farm.example/x",
        "https://farm.example:8443/",
        "https://farm.example.org/",
        "https://notfarm.example/",
        "https://a.example/seen",
    )
    assert urls(given, blocked=["Farm.Example."], exclude={"https://a.example/seen"}) == [
        "https://farm.example.org/",
        "https://notfarm.example/",
    ]


def test_the_limit_holds_and_ranks_count_from_one() -> None:
    merged = merge([found(*(f"https://h{n}.example/" for n in range(30))).hits], limit=7)
    assert [hit.rank for hit in merged] == [1, 2, 3, 4, 5, 6, 7]
    assert merge([], limit=5) == ()


def test_documents_of_a_corpus_are_no_site() -> None:
    names = tuple(f"corpus://notes/{n}.md" for n in range(5))
    assert urls((*names, "https://a.example/")) == [*names, "https://a.example/"]

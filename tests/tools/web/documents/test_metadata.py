"""What a page says of itself is taken from its own statements, never guessed from the text."""

import pytest

from deepdelve.tools.web.documents.metadata import Metadata, iso_date, read_metadata
from deepdelve.tools.web.documents.trees import html_tree


def metadata(head: str, body: str = "<p>x</p>", attributes: str = "") -> Metadata:
    tree, _ = html_tree(f"<html {attributes}><head>{head}</head><body>{body}</body></html>")
    assert tree is not None
    return read_metadata(tree)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-05T10:00:00Z", "2024-03-05"),
        ("2024/3/5", "2024-03-05"),
        ("20240305", "2024-03-05"),
        ("2024-03", "2024-03"),
        ("5 March 2024", "2024-03-05"),
        ("Mar. 5, 2024", "2024-03-05"),
        ("Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05"),
        ("March 5th, 2024", "2024-03-05"),
        ("2024-13-45", ""),
        ("yesterday", ""),
        ("1234567890", ""),
        ("", ""),
    ],
)
def test_dates(text: str, expected: str) -> None:
    assert iso_date(text) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<title>Plain  title</title>", "Plain title"),
        ('<title>Plain</title><meta property="og:title" content="Open title">', "Open title"),
        ('<meta name="citation_title" content="A paper">', "A paper"),
        ('<script type="application/ld+json">{"@type": "NewsArticle", "headline": "News"}</script>', "News"),
        ("", ""),
    ],
)
def test_title(head: str, expected: str) -> None:
    assert metadata(head).title == expected


def test_the_first_heading_is_a_title_of_last_resort() -> None:
    assert metadata("", "<h1>Only <b>heading</b></h1>").title == "Only heading"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<meta name="author" content="Ada Lovelace">', "Ada Lovelace"),
        ('<meta name="citation_author" content="A. One"><meta name="citation_author" content="B. Two">', "A. One, B. Two"),
        ('<meta name="author" content="https://example.org/ada">', ""),
        ('<script type="application/ld+json">{"@type": "Article", "author": {"name": "Ada"}}</script>', "Ada"),
        ('<script type="application/ld+json">{"@type": "Article", "author": [{"name": "Ada"}, "Bob"]}</script>', "Ada, Bob"),
        ('<script type="application/ld+json">{"@graph": [{"@type": "Article", "author": {"name": ["Ada", "Ada"]}}]}</script>', "Ada"),
        ('<script type="application/ld+json">{"@type": "Organization", "author": "A firm"}</script>', ""),
    ],
)
def test_author(head: str, expected: str) -> None:
    assert metadata(head).author == expected


def test_a_byline_names_the_author() -> None:
    assert metadata("", '<p class="byline">By <a href="/ada">Ada Lovelace</a></p>').author == "Ada Lovelace"
    assert metadata("", '<a rel="author">Ada</a>').author == "Ada"


OTHER_WORKS = [
    "<ol class='references'><li>Smith, J. (2019). A paper. doi:10.1/x</li></ol>",
    "<ol class='references'><li><a rel='author'>Smith</a>, <time datetime='1999-01-02'>1999</time></li></ol>",
    "<section id='bibliography'><p class='byline'><a>Smith</a></p></section>",
    "<ul class='ref-list'><li><span itemprop='author'>Smith</span><span itemprop='datePublished' content='1999-01-02'></span></li></ul>",
    "<ol><li itemprop='citation' itemscope><span itemprop='author'>Smith</span><time datetime='1999-01-02'>1999</time></li></ol>",
    "<div itemprop='citation' itemscope><meta itemprop='author' content='Smith'><meta itemprop='datePublished' content='1999-01-02'></div>",
    "<p><cite><span class='byline'><a>Smith</a></span></cite></p>",
    "<aside class='related-posts'><p class='byline'><a>Smith</a></p><time datetime='1999-01-02'>1999</time></aside>",
    "<div id='comments'><a rel='author'>Smith</a><time datetime='1999-01-02'>1999</time></div>",
    '<script type="application/ld+json">{"@type": "Article", "citation": [{"@type": "Article", "author": "Smith"}]}</script>',
]


@pytest.mark.parametrize("listed", OTHER_WORKS)
def test_authors_and_dates_of_other_works_on_the_page_are_not_its_own(listed: str) -> None:
    """A reference list names many authors; the page's own record has none."""
    assert (metadata("", listed).author, metadata("", listed).date) == ("", "")
    own = metadata("", listed + "<article><a rel='author'>Ada Lovelace</a><time datetime='2020-02-03'>3 Feb</time></article>")
    assert (own.author, own.date) == ("Ada Lovelace", "2020-02-03")


def test_of_several_works_in_one_statement_the_first_is_the_page() -> None:
    head = '<script type="application/ld+json">[{"@type": "Article", "author": "Ada"}, {"@type": "Article", "author": "Smith"}]</script>'
    assert metadata(head).author == "Ada"


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ('<meta property="article:published_time" content="2020-01-02T03:04:05Z">', "", "2020-01-02"),
        ('<meta name="citation_publication_date" content="2019/07">', "", "2019-07"),
        (
            '<script type="application/ld+json">{"@type":"Article","datePublished":"2018-05-06","dateModified":"2019-01-01"}</script>',
            "",
            "2018-05-06",
        ),
        ("", '<article><time datetime="2017-02-03">3 Feb</time></article>', "2017-02-03"),
        ("", '<span itemprop="datePublished" content="2016-02-03"></span>', "2016-02-03"),
        ("", "<p>On 4 May 1999 something happened.</p>", ""),
    ],
)
def test_date(head: str, body: str, expected: str) -> None:
    assert metadata(head, body).date == expected


@pytest.mark.parametrize(
    ("attributes", "head", "expected"),
    [
        ('lang="de-AT"', "", "de"),
        ('lang="EN"', "", "en"),
        ("", '<meta property="og:locale" content="pt_BR">', "pt"),
        ("", '<meta http-equiv="content-language" content="ja">', "ja"),
        ('lang="*"', "", ""),
        ("", "", ""),
    ],
)
def test_language(attributes: str, head: str, expected: str) -> None:
    assert metadata(head, attributes=attributes).language == expected


@pytest.mark.parametrize(
    "script", ["{", "[[[[", "null", "3", '{"@graph": {"@graph": {}}}', "[" * 5000, '{"@type": ["Article"], "headline": 5}']
)
def test_broken_linked_data_is_passed_over(script: str) -> None:
    assert metadata(f'<title>T</title><script type="application/ld+json">{script}</script>').title == "T"

"""Element trees as Markdown."""

import pytest

from deepdelve.tools.web.documents.markdown import Writer, cell_text, code_block, pipe_table, tidy
from deepdelve.tools.web.documents.trees import html_tree

BASE = "https://example.org/dir/page.html"


def markdown(html: str, base: str = BASE) -> str:
    tree, _ = html_tree(f"<html><body>{html}</body></html>")
    assert tree is not None
    writer = Writer(base=base)
    writer.write(next(tree.iter("body")))
    return writer.text()


def links(html: str, base: str = BASE) -> list[str]:
    tree, _ = html_tree(f"<html><body>{html}</body></html>")
    assert tree is not None
    writer = Writer(base=base)
    writer.write(next(tree.iter("body")))
    return list(writer.links)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>One</h1><h3>Three\n words</h3><p>Text</p>", "# One\n\n### Three words\n\nText"),
        ("<h2></h2><p>Text</p>", "Text"),
        ("<p>One</p>two<p>three</p>", "One\n\ntwo\n\nthree"),
        ("<p>a\n   b&nbsp;c</p>", "a b c"),
        ("<p>one<br>two<br/><br>three</p>", "one\ntwo\nthree"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("<p>A <b>bold</b> and <i>italic</i> word</p>", "A bold and italic word"),
        ("<p>Run <code>pip list</code> now</p>", "Run `pip list` now"),
        ("<span>inline</span> <em>text</em>", "inline text"),
        ("<p>x<script>alert(1)</script><style>p{}</style>y</p>", "xy"),
        ("<p>x<!-- note -->y</p>", "xy"),
        ("<hr><p>after</p>", "after"),
    ],
)
def test_paragraphs_and_headings(html: str, expected: str) -> None:
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
        ("<ol start=4><li>a</li><li>b</li></ol>", "4. a\n5. b"),
        ("<ul><li>a<ul><li>b<ul><li>c</li></ul></li></ul></li><li>d</li></ul>", "- a\n  - b\n    - c\n- d"),
        ("<ul><li><p>one</p><p>two</p></li></ul>", "- one\n  two"),
        ("<ul><li></li><li>a</li></ul>", "- a"),
        ("<ul><ul><li>deep</li></ul></ul>", "- - deep"),
    ],
)
def test_lists(html: str, expected: str) -> None:
    assert markdown(html) == expected


def test_a_table_has_a_head_a_rule_and_rows() -> None:
    html = "<table><caption>Cities</caption><tr><th>City</th><th>People</th></tr><tr><td>Oslo</td><td>717,710</td></tr></table>"
    assert markdown(html) == "Cities\n\n| City | People |\n| --- | --- |\n| Oslo | 717,710 |"


def test_a_cell_that_spans_keeps_the_columns_in_step() -> None:
    html = "<table><tr><td colspan=2>Both</td><td>c</td></tr><tr><td>1</td><td>2</td><td>3</td></tr></table>"
    assert markdown(html).splitlines()[0] == "| Both |  | c |"
    assert markdown(html).splitlines()[2] == "| 1 | 2 | 3 |"


def test_a_bar_in_a_cell_does_not_make_a_column() -> None:
    assert "a \\| b" in markdown("<table><tr><td>a | b</td><td>c</td></tr><tr><td>d</td><td>e</td></tr></table>")


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td><p>one</p></td></tr><tr><td>two</td></tr></table>",
        "<table><tr><td>one</td><td><table><tr><td>x</td><td>y</td></tr></table></td></tr></table>",
        "<table><tr><td>menu</td><td><h1>Title</h1><p>a</p><p>b</p><p>c</p></td></tr></table>",
    ],
)
def test_a_table_that_only_places_things_is_no_table(html: str) -> None:
    assert not markdown(html).startswith("|")


def test_quotes_are_marked_line_by_line() -> None:
    assert markdown("<blockquote><p>one</p><p>two</p></blockquote>") == "> one\n>\n> two"


def test_code_keeps_its_lines_and_its_blanks() -> None:
    assert markdown("<pre><code>def f():\n    return 1\n</code></pre>") == "```\ndef f():\n    return 1\n```"


def test_a_fence_is_longer_than_what_it_holds() -> None:
    assert code_block("a\n```\nb") == "````\na\n```\nb\n````"
    assert code_block(" \n ") == ""
    assert code_block("x", "python") == "```python\nx\n```"


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("other.html", "https://example.org/dir/other.html"),
        ("/root", "https://example.org/root"),
        ("//cdn.example.net/x", "https://cdn.example.net/x"),
        ("https://a.test/x (y)", "https://a.test/x%20%28y%29"),
        ("http://a.test/#part", "http://a.test/#part"),
    ],
)
def test_links_become_absolute(href: str, target: str) -> None:
    assert markdown(f'<p>See <a href="{href}">this</a>.</p>') == f"See [this]({target})."
    assert links(f'<p><a href="{href}">this</a></p>') == [target]


@pytest.mark.parametrize(
    "href", ["#part", "page.html#part", "javascript:alert(1)", "mailto:a@b.c", "data:text/html,x", "ftp://a/b", "http://[", ""]
)
def test_what_leads_nowhere_is_text(href: str) -> None:
    assert markdown(f'<p>See <a href="{href}">this</a>.</p>') == "See this."


def test_without_a_base_relative_links_are_text() -> None:
    assert markdown('<p><a href="x">this</a></p>', base="") == "this"


def test_a_label_with_brackets_cannot_make_markup_of_its_own() -> None:
    assert markdown('<p><a href="https://a.test/">[1](https://evil.test)</a></p>') == "[1](https://evil.test)"
    assert links('<p><a href="https://a.test/">[1]</a></p>') == ["https://a.test/"]


def test_an_address_as_its_own_label_is_written_once() -> None:
    assert markdown('<p><a href="https://a.test/">https://a.test</a></p>') == "https://a.test"


def test_blanks_around_a_link_are_kept() -> None:
    assert markdown('<p>a<a href="https://a.test/x"> b </a>c</p>') == "a [b](https://a.test/x) c"


def test_each_link_is_listed_once_and_in_order() -> None:
    assert links('<p><a href="b">1</a> <a href="a">2</a> <a href="b">3</a></p>') == [
        "https://example.org/dir/b",
        "https://example.org/dir/a",
    ]


def test_blank_rows_and_columns_are_left_out() -> None:
    assert pipe_table([["a", "", "b"], ["", "", ""], ["c", " ", "d"]]) == "| a | b |\n| --- | --- |\n| c | d |"
    assert pipe_table([["", " "]]) == ""
    assert pipe_table([]) == ""


def test_rows_of_unequal_length_are_filled_up() -> None:
    assert pipe_table([["a"], ["b", "c"]]) == "| a |  |\n| --- | --- |\n| b | c |"


def test_cells_stand_on_one_line() -> None:
    assert cell_text(" a\n b | c ") == "a b \\| c"


def test_tidy_keeps_forced_breaks_only() -> None:
    assert tidy("a\n\n b \x00 c\x00\x00d") == "a b\nc\nd"

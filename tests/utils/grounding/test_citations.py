"""One parser for every dialect, and everything that only looks like a citation."""

import pytest

from deepdelve.utils.grounding.citations import parse, same_page
from deepdelve.utils.grounding.markers import expand, mask, trim_url
from tests.support.patience import in_proportion

LIST = (
    "\n\n## Sources\n\n[1] One https://one.example/a\n[2] Two https://two.example/b\n[3] Three "
    "https://three.example/c\n[4] Four https://four.example/d\n"
)

DIALECTS = [
    ("bracket", "A fact [3].", [("3",)]),
    ("bracket, no space", "A fact[3].", [("3",)]),
    ("bracket after stop", "A fact.[3] Next.", [("3",)]),
    ("list", "A fact [1, 3].", [("1", "3")]),
    ("list with semicolons", "A fact [1; 3; 4].", [("1", "3", "4")]),
    ("range", "A fact [2-4].", [("2", "3", "4")]),
    ("range with en dash", "A fact [2–4].", [("2", "3", "4")]),
    ("list and range", "A fact [1, 3-4].", [("1", "3", "4")]),
    ("chained", "A fact [1][2][4].", [("1",), ("2",), ("4",)]),
    ("in parentheses", "A fact ([2]).", [("2",)]),
    ("escaped brackets", "A fact \\[2\\].", [("2",)]),
    ("numbered link", "A fact [[2]](https://two.example/b).", [("2",)]),
    ("numbered link, single", "A fact [2](https://two.example/b).", [("2",)]),
    ("inline link", "A fact ([Two](https://two.example/b)).", [("https://two.example/b",)]),
    ("inline link with title", 'A fact [Two](https://two.example/b "Two").', [("https://two.example/b",)]),
    ("inline link with parentheses", "See [x](https://en.example/wiki/A_(b)).", [("https://en.example/wiki/A_(b)",)]),
    (
        "two inline links",
        "A ([O](https://one.example/a); [T](https://two.example/b)).",
        [("https://one.example/a",), ("https://two.example/b",)],
    ),
    ("escaped bracket link", "A \\[[Lee' 2025](http://arxiv.org/abs/2506.02838v1)\\].", [("http://arxiv.org/abs/2506.02838v1",)]),
    ("lenticular", "A fact【3†L10-L12】.", [("3",)]),
    ("lenticular with name", "A fact 【2†source】.", [("2",)]),
    ("superscript tag", "A fact.<sup>2</sup>", [("2",)]),
    ("superscript tag, list", "A fact.<sup>[1, 2]</sup>", [("1", "2")]),
    ("raised digits", "A fact.²", [("2",)]),
    ("caret", "A fact.^2^", [("2",)]),
    ("ids", "A fact [S12].", [("S12",)]),
    ("several ids", "A fact [S1, S3].", [("S1", "S3")]),
    ("chained ids", "A fact [S1][S3].", [("S1",), ("S3",)]),
    ("named", "A fact [citation:2].", [("2",)]),
    ("named in parentheses", "A fact (source 3).", [("3",)]),
    ("element", 'A fact <x:cite id="id_4">words</x:cite>.', [("4",)]),
    ("bare address", "A fact https://two.example/b.", [("https://two.example/b",)]),
    ("autolink", "A fact <https://two.example/b>.", [("https://two.example/b",)]),
    ("source line", "A fact.\nSource: https://two.example/b", [("https://two.example/b",)]),
    ("arxiv", "A fact (arXiv:2408.03261).", [("https://arxiv.org/abs/2408.03261",)]),
    ("doi", "A fact (doi:10.1000/xyz123).", [("https://doi.org/10.1000/xyz123",)]),
    ("internal id", "A fact source_id:16897346e6f4.", [("16897346e6f4",)]),
    ("full-width comma", "一个事实[1，3]。", [("1", "3")]),
]


@pytest.mark.parametrize(("text", "targets"), [case[1:] for case in DIALECTS], ids=[case[0] for case in DIALECTS])
def test_dialect(text: str, targets: list[tuple[str, ...]]) -> None:
    parsed = parse(text + LIST, known=("S1", "S3", "S12"))
    assert [marker.targets for marker in parsed.markers] == targets
    for marker in parsed.markers:
        assert parsed.text[marker.start : marker.end] == marker.raw


NOT_CITATIONS = [
    ("fenced code", "```python\nx = a[3]\n```"),
    ("inline code", "Use `rows[2]` here."),
    ("display mathematics", "$$x_{[2]} = y [3]$$"),
    ("comment", "<!-- see [2] -->"),
    ("checkbox", "- [ ] buy milk\n- [x] call home"),
    ("year", "In the crisis [2008] prices fell."),
    ("interval from zero", "The value lies in [0, 1]."),
    ("array index", "Then buf[7] = 3 is set."),
    ("method of an index", "Call rows_2[7].close() first."),
    ("large number", "Chapter [1234] of the code."),
    ("image", "![A chart](https://img.example/a.png)"),
    ("accessed date", "Seen [Accessed: 2025-07-26] there."),
    ("area", "It has 12 m² of floor."),
    ("power of ten", "A rate of 7.9×10⁻⁴ was seen."),
    ("month and year", "Prices (Aug 2025) fell."),
    ("place and year", "The meeting (Paris, 2015) ended."),
    ("chinese heading brackets", "【摘要】这是一段文字。"),
]


@pytest.mark.parametrize("text", [case[1] for case in NOT_CITATIONS], ids=[case[0] for case in NOT_CITATIONS])
def test_no_citation(text: str) -> None:
    assert parse(text).markers == ()


def test_author_and_year_resolve_to_the_list() -> None:
    text = (
        "Growth slowed (Smith, 2020). Others disagree (Lee & Park, 2019; Ortiz et al., 2021). Chen (2018) shows more.\n\n## References\n\n"
        "- Smith, J. (2020). Growth. https://s.example\n- Lee, K., & Park, M. (2019). Decline. https://l.example\n"
        "- Ortiz, A., Diaz, B., & Ruiz, C. (2021). Both. https://o.example\n- Chen, X. (2018). More. https://c.example\n"
    )
    parsed = parse(text)
    assert [marker.targets for marker in parsed.markers] == [
        ("https://s.example",),
        ("https://l.example", "https://o.example"),
        ("https://c.example",),
    ]
    assert not [problem for problem in parsed.problems if problem.kind == "dangling"]


def test_an_author_who_is_not_listed_dangles() -> None:
    parsed = parse("Growth slowed (Nobody et al., 2020).\n\n## References\n\n- Smith, J. (2020). Growth. https://s.example\n")
    assert [problem.kind for problem in parsed.problems if problem.kind == "dangling"] == ["dangling"]


def test_raised_numbers_that_lost_their_raising_are_found_where_nothing_else_cites() -> None:
    entries = "\n".join(f"{n}. Title {n}, [https://e.example/{n}](https://e.example/{n})" for n in range(1, 8))
    parsed = parse(f"Films are thin.5 They guide light.2\n\n#### **Works cited**\n\n{entries}\n")
    assert [marker.targets for marker in parsed.markers] == [("5",), ("2",)]


PROBLEMS = [
    ("dangling number", "A fact [9]." + LIST, "dangling"),
    ("dangling id", "A fact [S9].", "dangling"),
    ("dangling in a list", "A fact [1, 9]." + LIST, "dangling"),
    ("internal id", "A fact source_id:16897346e6f4.", "dangling"),
    ("never cited", "A fact [1]." + LIST, "uncited_source"),
    ("one page twice", "A [1] b [2].\n\n## Sources\n[1] X https://x.example/a\n[2] X again https://www.x.example/a/\n", "duplicate"),
    ("one label twice", "A [1].\n\n## Sources\n[1] X https://x.example/a\n[1] Y https://y.example/a\n", "duplicate"),
    ("insert reference", "A fact [Insert reference here].", "placeholder"),
    ("citation needed", "A fact [citation needed].", "placeholder"),
    ("todo", "TODO write this part.", "placeholder"),
    ("template", "The rate is {{rate}}.", "placeholder"),
    ("chinese placeholder", "这里【待补充】。", "placeholder"),
    ("runaway list", "A fact " + "".join(f"[{n}]" for n in range(1, 20)) + ".", "runaway"),
    ("runaway range", "A fact [1-400].", "runaway"),
    ("cut in mid-sentence", "# T\n\nThe first sentence is whole. The second one goes on until it is cut off in the", "truncated"),
]


@pytest.mark.parametrize(("text", "kind"), [case[1:] for case in PROBLEMS], ids=[case[0] for case in PROBLEMS])
def test_problem(text: str, kind: str) -> None:
    assert kind in {problem.kind for problem in parse(text).problems}


FINE = [
    "A fact [1] and [2] and [3] and [4]." + LIST,
    "# Title\n\nA whole sentence.",
    "# Title\n\n- an item\n- another item",
    "| a | b |\n|---|---|\n| c | d |",
    "A sentence that ends with an address https://a.example/b",
    "一个完整的句子。",
    "Eine Liste:\n\n1. eins\n2. zwei",
    "He said “this is so”",
]


@pytest.mark.parametrize("text", FINE)
def test_no_problem(text: str) -> None:
    assert parse(text).problems == ()


def test_a_marker_of_a_known_address_or_id_resolves_without_a_list() -> None:
    parsed = parse("A [S1]. B [Page](https://p.example/x).", known=("S1", "https://p.example/x"))
    assert {"S1", "https://p.example/x"} <= parsed.references.keys()
    assert not parsed.problems


def test_pages_are_the_same_whatever_their_spelling() -> None:
    assert same_page("https://www.A.example/x/?utm_source=y") == same_page("http://a.example/x")
    assert same_page("https://arxiv.org/pdf/2408.03261v2") == same_page("http://arxiv.org/abs/2408.03261")
    assert same_page("https://a.example/x?id=1") != same_page("https://a.example/x?id=2")


def test_ranges_are_expanded_and_bounded() -> None:
    assert expand("3, 5-7") == (("3", "5", "6", "7"), False)
    numbers, runaway = expand("1-900")
    assert runaway
    assert len(numbers) < 100


def test_masking_keeps_every_offset() -> None:
    text = "a `b[1]` c\n```\nd[2]\n```\ne"
    assert len(mask(text)) == len(text)
    assert "[" not in mask(text)


def test_punctuation_is_no_part_of_an_address() -> None:
    assert trim_url("https://a.example/b).") == "https://a.example/b"
    assert trim_url("https://a.example/b_(c)") == "https://a.example/b_(c)"


HOSTILE = [
    "[" * 20_000,
    "](" * 20_000,
    "【" * 20_000,
    "(" * 20_000 + "2020)",
    "[1" * 20_000,
    "`" * 20_001,
    "http://" * 8_000,
    "<cite id=" * 5_000,
    "\n# Sources\n" * 3_000,
    "(A, " * 10_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_parsed_in_linear_time(text: str) -> None:
    in_proportion(parse, text)

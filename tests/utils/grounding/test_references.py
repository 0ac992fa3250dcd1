"""Sources lists: every heading, every form of entry, with a heading or without one."""

import pytest

from deepdelve.utils.grounding import references
from deepdelve.utils.grounding.citations import parse

HEADINGS = [
    "## Sources",
    "### References",
    "References:",
    "**References**",
    "# Works cited",
    "Bibliography",
    "## Citations",
    "## Sources and References",
    "参考文献：",
    "## 参考文献",
    "#### **引用的著作**",
    "### 参考资料",
    "来源：",
    "## 資料來源",
    "## 出典",
    "## Quellen",
    "Literaturverzeichnis",
    "## Einzelnachweise",
    "## Références",
    "## Bibliographie",
    "## Fuentes",
    "## Referencias",
    "## Bibliografía",
    "## Fonti",
    "## Referências",
    "## Источники",
    "Список литературы",
    "## المصادر",
    "## المراجع",
    "## מקורות",
    "## 참고문헌",
    "## Kaynakça",
    "## Bronnen",
    "## Źródła",
    "## 7. References",
    "---\n## Sources",
]

ENTRIES = [
    "[{n}] Title {n}: https://e.example/{n}",
    "[{n}]. https://e.example/{n}",
    "[{n}] https://e.example/{n} - Title {n}",
    "{n}. Title {n}, https://e.example/{n}",
    "{n}. [Title {n}](https://e.example/{n})",
    "{n}) Title {n} https://e.example/{n}",
    "- [{n}] [Title {n}](https://e.example/{n})",
    "**[{n}]** Title {n}. Available at: https://e.example/{n} [Accessed: 2025-07-26]",
    "【{n}】Title {n} https://e.example/{n}",
    "[{n}] Title {n}\n    https://e.example/{n}",
    "[{n}] Title {n}\n\nhttps://e.example/{n}\n",
    "<sup>{n}</sup> Title {n} https://e.example/{n}",
]


@pytest.mark.parametrize("heading", HEADINGS)
def test_heading(heading: str) -> None:
    parsed = parse(f"A fact [1]. Another [2].\n\n{heading}\n\n[1] One https://e.example/1\n[2] Two https://e.example/2\n")
    assert [(entry.label, entry.url) for entry in parsed.listed] == [("1", "https://e.example/1"), ("2", "https://e.example/2")]
    assert not parsed.problems


@pytest.mark.parametrize("entry", ENTRIES)
def test_entry(entry: str) -> None:
    body = "\n".join(entry.format(n=n) for n in (1, 2, 3))
    parsed = parse(f"A fact [1]. Another [2]. Third [3].\n\n## Sources\n\n{body}\n")
    assert {label: parsed.references[label].url for label in "123"} == {label: f"https://e.example/{label}" for label in "123"}
    assert not [problem for problem in parsed.problems if problem.kind != "duplicate"]


@pytest.mark.parametrize("entry", ENTRIES[:3])
def test_a_list_without_a_heading_at_the_end(entry: str) -> None:
    body = "\n".join(entry.format(n=n) for n in (1, 2, 3))
    parsed = parse(f"A fact [1]. Another [2]. Third [3].\n\n{body}\n")
    assert [found.label for found in parsed.listed] == ["1", "2", "3"]


def test_one_address_with_several_numbers() -> None:
    parsed = parse("A [1]. B [4].\n\n[1] [4] https://e.example/1\n\n[2] https://e.example/2\n")
    assert parsed.references["4"].url == "https://e.example/1"


def test_a_numbered_list_of_the_text_is_no_sources_list() -> None:
    parsed = parse("Steps:\n\n1. Open the box and take out the parts.\n2. Put the parts together.\n")
    assert parsed.listed == ()


def test_source_lines_below_paragraphs_are_body() -> None:
    text = "1. First point.\n   Sources:\n   - https://a.example/1\n\n2. Second point.\n   Sources:\n   - https://b.example/2\n"
    parsed = parse(text)
    assert parsed.listed == ()
    assert [marker.targets for marker in parsed.markers] == [("https://a.example/1",), ("https://b.example/2",)]


def test_a_section_of_its_own_after_the_list_is_body() -> None:
    parsed = parse("A [1].\n\n## Sources\n\n[1] One https://e.example/1\n\n## Appendix\n\nMore text here.\n")
    assert any("More text" in parsed.text[start:end] for start, end in parsed.body_spans)


def test_title_author_and_year_are_read() -> None:
    parsed = parse("A [1].\n\n## References\n\n1. Smith, J. (2020). On growth. https://s.example/a\n")
    entry = parsed.listed[0]
    assert (entry.year, "On growth" in entry.title, entry.author.startswith("Smith")) == ("2020", True, True)


def test_a_doi_is_an_address() -> None:
    parsed = parse("A [1].\n\n## References\n\n1. Smith, J. On growth. doi:10.1000/abc.1\n")
    assert parsed.listed[0].url == "https://doi.org/10.1000/abc.1"


@pytest.mark.parametrize(
    "line",
    [
        "Sources of energy are many.",
        "The references in this text are few and old.",
        "Note that this is so.",
        "## Sources of error in the study",
    ],
)
def test_no_heading(line: str) -> None:
    assert not references.is_heading(line)

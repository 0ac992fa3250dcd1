"""Runs of text with places become text in reading order."""

from deepdelve.tools.web.documents.page_layout import Run, columns, join_lines, page_text

CHAR = 5.0
SIZE = 10.0


def run(text: str, x: float, y: float, size: float = SIZE) -> Run:
    return Run(text, x, y, x + len(text) * CHAR * size / SIZE, y + size)


def lines(texts: list[str], x: float, top: float, step: float = 12) -> list[Run]:
    return [run(text, x, top - i * step) for i, text in enumerate(texts)]


LEFT = [f"left column line {i} with words in it" for i in range(8)]
RIGHT = [f"right column line {i} has other words" for i in range(8)]


def test_lines_of_a_paragraph_are_joined() -> None:
    text = page_text(lines(["The first line of the text goes on", "and here it ends as a sentence."], 50, 700))
    assert text == "The first line of the text goes on and here it ends as a sentence."


def test_a_gap_starts_a_paragraph() -> None:
    first = lines(["one line here of a paragraph", "two line here of a paragraph", "three lines of a paragraph."], 50, 700)
    second = lines(["A second paragraph of words", "that has two lines of them."], 50, 640)
    assert page_text(first + second).count("\n\n") == 1


def test_order_comes_from_the_page_and_not_from_the_file() -> None:
    runs = lines(["first line of the text here", "second line of the text here", "third line of the text here"], 50, 700)
    assert page_text(runs[::-1]) == page_text(runs)


def test_columns_are_read_one_after_the_other() -> None:
    text = page_text(lines(LEFT, 50, 700) + lines(RIGHT, 300, 700))
    assert text.index(LEFT[7]) < text.index(RIGHT[0])
    assert "|" not in text


def test_lines_across_the_page_part_the_columns() -> None:
    top = [run("A title that goes right across the two columns of the page, as titles do", 60, 740)]
    foot = [run("A sentence at the foot of the page that goes right across both columns again", 60, 560)]
    below = lines([f"lower left line {i} with words in it" for i in range(6)], 50, 530)
    beside = lines([f"lower right line {i} has other words" for i in range(6)], 300, 530)
    text = page_text(beside + below + foot + lines(RIGHT, 300, 700) + lines(LEFT, 50, 700) + top)
    order = ["A title", LEFT[0], LEFT[7], RIGHT[0], RIGHT[7], "A sentence at the foot", "lower left line 0", "lower right line 0"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_three_columns() -> None:
    thirds = [lines([f"column {c} line {i} has some more words" for i in range(8)], 40 + 190 * c, 700) for c in range(3)]
    text = page_text([r for third in reversed(thirds) for r in third])
    assert text.index("column 0 line 7") < text.index("column 1 line 0") < text.index("column 1 line 7") < text.index("column 2 line 0")


def test_short_cells_side_by_side_are_a_table_and_not_columns() -> None:
    rows = [["City", "People", "Area"], ["Oslo", "717,710", "454"], ["Bergen", "291,940", "465"], ["Moss", "52,051", "138"]]
    runs = [run(cell, 50 + 120 * c, 700 - 14 * r) for r, row in enumerate(rows) for c, cell in enumerate(row)]
    assert page_text(runs).splitlines() == [
        "| City | People | Area |",
        "| --- | --- | --- |",
        "| Oslo | 717,710 | 454 |",
        "| Bergen | 291,940 | 465 |",
        "| Moss | 52,051 | 138 |",
    ]


def test_an_empty_cell_keeps_its_column() -> None:
    rows = [["Name", "First", "Second"], ["a", "1", "2"], ["b", "", "3"], ["c", "4", ""]]
    runs = [run(cell, 50 + 100 * c, 700 - 14 * r) for r, row in enumerate(rows) for c, cell in enumerate(row) if cell]
    assert "| b |  | 3 |" in page_text(runs)
    assert "| c | 4 |  |" in page_text(runs)


def test_text_before_and_after_a_table_stays_outside() -> None:
    rows = [["aa", "bb", "cc"], ["1", "2", "3"], ["4", "5", "6"]]
    table = [run(cell, 50 + 100 * c, 650 - 14 * r) for r, row in enumerate(rows) for c, cell in enumerate(row)]
    text = page_text(
        [run("The table below shows three rows of figures.", 50, 690), *table, run("It was made by hand, as one can see.", 50, 590)]
    )
    assert text.splitlines()[0] == "The table below shows three rows of figures."
    assert text.splitlines()[-1] == "It was made by hand, as one can see."
    assert text.count("|") == 16


def test_a_large_short_line_is_a_heading() -> None:
    body = lines(["Some words of a paragraph that goes on", "for several lines of the usual size and", "ends here."], 50, 650)
    assert page_text([run("Introduction", 50, 700, 16), *body]).startswith("## Introduction\n\n")


def test_hyphenated_words_are_put_together() -> None:
    assert join_lines("an exam-", "ple of it") == "an example of it"
    assert join_lines("the Smith-", "Jones case") == "the Smith- Jones case"
    assert join_lines("from 10-", "20 years") == "from 10- 20 years"


def test_scripts_without_spaces_are_joined_without() -> None:
    assert join_lines("日本語の文", "章です") == "日本語の文章です"


def test_right_to_left_lines_are_read_from_the_right() -> None:
    assert page_text([run("שלום", 83, 700), run("עולם", 60, 700)]) == "שלום עולם"


def test_line_numbers_in_the_margin_are_left_out() -> None:
    text = [f"Line of the transcript, number {'abcdefghijkl'[i]} in order" for i in range(12)]
    numbers = [run(str(i + 1), 20, 700 - 20 * i) for i in range(12)]
    page = page_text(numbers + lines(text, 60, 700, 20))
    assert "|" not in page
    assert not any(line.strip().isdecimal() for line in page.splitlines())


def test_a_column_of_figures_is_no_margin_of_line_numbers() -> None:
    rows = [[f"Item {'abcdefghij'[i]}", str(3 * i % 7), str(i * i)] for i in range(10)]
    page = page_text([run(cell, 50 + 100 * c, 700 - 14 * r) for r, row in enumerate(rows) for c, cell in enumerate(row)])
    assert "| Item j | 6 | 81 |" in page


def test_nothing_gives_nothing() -> None:
    assert page_text([]) == ""
    assert page_text([run("  ", 1, 1)]) == ""
    assert columns([]) == [[]]

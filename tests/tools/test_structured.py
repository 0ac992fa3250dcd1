"""Tables of a source as rows and columns."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepdelve.core.errors import ToolError
from deepdelve.engine.gate import Dispatch
from deepdelve.tools.structured import MAX_CHARS, MAX_ROWS, MAX_TABLES, extract_structured_data, tables_in
from tests.support.patience import in_proportion
from tests.support.runs import add_source, make_run, within

TABLE = "# Rivers\n\nSome words.\n\n| River | km |\n|---|---:|\n| Alder | 212 |\n| Birch | 98 |\n\nMore."


def rows(text):
    return tables_in(text)[0]["rows"]


def test_a_table_has_its_title_its_line_its_header_and_its_rows():
    assert tables_in(TABLE) == [
        {"title": "Rivers", "line": 5, "header": ["River", "km"], "rows": [["Alder", "212"], ["Birch", "98"]], "more": 0}
    ]


def test_each_table_stands_under_its_own_heading():
    titles = [table["title"] for table in tables_in(TABLE + "\n\n## Lakes\n\n|a|b|\n|-|-|\n|1|2|\n")]
    assert titles == ["Rivers", "Lakes"]


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("| a | b |", ["a", "b"]),
        ("|a|b|", ["a", "b"]),
        ("| a \\| b | c |", ["a | b", "c"]),
        ("|  | b |", ["", "b"]),
        ("||b|", ["", "b"]),
        ("|a||", ["a", ""]),
        ("| a | b", ["a", "b"]),
    ],
)
def test_no_cell_moves_to_another_column(line, cells):
    assert rows(f"|x|y|\n|-|-|\n{line}\n") == [cells]


@pytest.mark.parametrize("text", ["", "no table", "| a | b |", "| a | b |\nno rule", "a | b\n--|--\n1 | 2", "|---|---|\n| 1 | 2 |"])
def test_what_has_no_header_with_a_rule_is_no_table(text):
    assert tables_in(text) == []


def test_rows_beyond_the_bound_are_counted():
    (table,) = tables_in("|x|\n|-|-|\n".replace("|x|", "|x|y|") + "|1|2|\n" * (MAX_ROWS + 5))
    assert (len(table["rows"]), table["more"]) == (MAX_ROWS, 5)


def test_tables_are_bounded_in_number_and_in_all():
    assert len(tables_in("|x|y|\n|-|-|\n|1|2|\n\n" * (MAX_TABLES + 9))) == MAX_TABLES


@pytest.mark.parametrize("columns", [2, 100, 5_000])
def test_what_a_model_is_given_is_bounded_and_what_is_left_out_is_counted(columns):
    wide = "|" + "a cell of some length|" * columns
    text = (f"{wide}\n|" + "-|" * columns + "\n" + f"{wide}\n" * 300 + "\n") * 8
    tables = tables_in(text)
    assert len(json.dumps(tables)) < 2 * MAX_CHARS
    assert all(len(table["rows"]) + table["more"] == 300 for table in tables)


def test_a_long_text_costs_no_more_than_its_length():
    in_proportion(tables_in, "|a|b|\n" * 20_000)


@given(st.text(st.sampled_from("|-a \n\\:#"), max_size=120))
def test_any_text_gives_tables_with_bounds_that_hold(text):
    for table in tables_in(text):
        assert 1 <= table["line"] <= text.count("\n") + 1
        assert table["header"]


async def test_a_source_with_tables_gives_them_behind_a_fence(tmp_path):
    run = make_run(tmp_path)
    add_source(run, TABLE)
    answer = await within(run, Dispatch("D1", "Analyzer"), lambda: extract_structured_data("S1"))
    assert answer.startswith(f"<<<untrusted {run.nonce}>>>\n")
    assert json.loads(answer.split("\n", 1)[1].rsplit("\n", 1)[0])["tables"][0]["rows"][0] == ["Alder", "212"]


async def test_a_source_without_tables_says_what_to_do(tmp_path):
    run = make_run(tmp_path)
    add_source(run, "Words only.")
    with pytest.raises(ToolError, match="read_workspace_file"):
        await within(run, Dispatch("D1", "Analyzer"), lambda: extract_structured_data("S1"))

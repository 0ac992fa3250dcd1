"""Workbooks: values as a person sees them, places kept, hidden sheets said to be left out."""

import pytest

from deepdelve.core.errors import FetchError
from deepdelve.tools.web.documents import xlsx as reader
from deepdelve.tools.web.documents.office import read_zip
from deepdelve.tools.web.documents.xlsx import date_text, epoch_of, is_date_format, number_text
from tests.tools.web.documents.made import R, S, relations, xlsx, zipped

SHARED = f"<sst {S}><si><t>City</t></si><si><r><t>Peo</t></r><r><t>ple</t></r><rPh><t>reading</t></rPh></si></sst>"
STYLES = (
    f'<styleSheet {S}><numFmts><numFmt numFmtId="170" formatCode="dd/mm/yyyy"/><numFmt numFmtId="171" formatCode="0.00"/></numFmts>'
    '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs></styleSheet>'
)


def value(reference: str, text: str, kind: str = "", style: str = "") -> str:
    return f'<c r="{reference}" t="{kind or "n"}" s="{style}"><v>{text}</v></c>'


def sheet(rows: str, **options: object) -> str:
    return read_zip(xlsx({"Data": rows}, **options)).text  # type: ignore[arg-type]


def test_strings_numbers_and_truths() -> None:
    rows = (
        f"<row>{value('A1', '0', 's')}{value('B1', '1', 's')}</row><row>{value('A2', '0.30000000000000004')}{value('B2', '1', 'b')}</row>"
    )
    assert sheet(rows, parts={"xl/sharedStrings.xml": SHARED}) == "## Data\n\n| City | People |\n| --- | --- |\n| 0.3 | TRUE |"


def test_inline_strings_formulas_and_errors() -> None:
    rows = f'<row><c r="A1" t="inlineStr"><is><t>words</t></is></c>{value("B1", "result", "str")}{value("C1", "#DIV/0!", "e")}</row>'
    assert "| words | result | #DIV/0! |" in sheet(rows)


def test_dates_are_dates_and_numbers_are_not() -> None:
    rows = f"<row>{value('A1', '45000', style='1')}{value('B1', '45000.5', style='2')}{value('C1', '45000', style='3')}</row>"
    assert "| 2023-03-15 | 2023-03-15 12:00:00 | 45000 |" in sheet(rows, parts={"xl/styles.xml": STYLES})


def test_a_gap_between_cells_is_an_empty_cell() -> None:
    rows = f"<row>{value('A1', '1')}{value('C1', '3')}</row><row>{value('A2', '4')}{value('B2', '5')}{value('C2', '6')}</row>"
    assert "| 1 |  | 3 |" in sheet(rows)


def test_cells_far_out_do_not_make_a_table_of_millions() -> None:
    assert sheet(f"<row>{value('A1', '1')}{value('XFD1', '2')}</row>") == "## Data\n\n| 1 |\n| --- |"


def test_every_visible_sheet_is_read_and_hidden_ones_are_named() -> None:
    row = f"<row>{value('A1', '1')}</row>"
    result = read_zip(xlsx({"One": row, "Two": row, "Secret": row}, states={"Secret": "hidden"}))
    assert "## One" in result.text
    assert "## Two" in result.text
    assert "## Secret" not in result.text
    assert "'Secret'" in result.reason
    assert (result.kind, result.pages) == ("xlsx", 2)


def test_a_long_sheet_is_read_in_part_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "ROW_LIMIT", 10)
    result = read_zip(xlsx({"Data": "".join(f"<row>{value(f'A{i}', str(i))}</row>" for i in range(1, 30))}))
    assert "| 10 |" in result.text
    assert "| 11 |" not in result.text
    assert "first 10 rows" in result.reason


def test_a_workbook_without_values_is_refused() -> None:
    with pytest.raises(FetchError) as caught:
        read_zip(xlsx({"Data": "<row/>"}))
    assert caught.value.cause == "no_text"


def test_a_damaged_sheet_is_refused() -> None:
    data = xlsx({"Data": f"<row>{value('A1', '1')}</row>"}, parts={"xl/worksheets/sheet1.xml": f"<worksheet {S}><row><c"})
    with pytest.raises(FetchError) as caught:
        read_zip(data)
    assert caught.value.cause == "unreadable"


def test_the_binary_kind_is_refused_by_name() -> None:
    with pytest.raises(FetchError) as caught:
        read_zip(zipped({"xl/workbook.bin": b"\0"}))
    assert caught.value.cause == "unsupported_type"
    assert "XLSB" in caught.value.message


def test_a_shared_string_that_does_not_exist_is_empty() -> None:
    assert "| 7 |" in sheet(f"<row>{value('A1', '99', 's')}{value('B1', '7')}</row>", parts={"xl/sharedStrings.xml": SHARED})


def test_the_other_epoch() -> None:
    data = zipped(
        {
            "_rels/.rels": relations({"rId1": "xl/workbook.xml"}),
            "xl/workbook.xml": f'<workbook {S} {R}><workbookPr date1904="1"/><sheets><sheet name="D" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": relations({"rId1": "worksheets/s.xml"}),
            "xl/worksheets/s.xml": f"<worksheet {S}><row>{value('A1', '0', style='1')}{value('B1', '366', style='1')}</row></worksheet>",
            "xl/styles.xml": STYLES,
        }
    )
    assert "1905-01-01" in read_zip(data).text


@pytest.mark.parametrize(
    ("serial", "expected"),
    [(1.0, "1899-12-31"), (45000.25, "2023-03-15 06:00:00"), (0.5, "12:00:00"), (1e12, "1e+12"), (-1.0, "1899-12-29")],
)
def test_serials(serial: float, expected: str) -> None:
    assert date_text(serial, epoch_of(False)) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [("dd/mm/yyyy", True), ("[h]:mm", True), ("0.00", False), ('0 "days"', False), ("[Red]0", False), ("General", False), ("", False)],
)
def test_formats(code: str, expected: bool) -> None:
    assert is_date_format(code) is expected


@pytest.mark.parametrize(
    ("stored", "shown"), [("1", "1"), ("1.0", "1"), ("1E3", "1000"), ("2.5", "2.5"), ("1e300", "1e+300"), ("abc", "abc"), ("", "")]
)
def test_numbers(stored: str, shown: str) -> None:
    assert number_text(stored) == shown


def test_epochs() -> None:
    assert epoch_of(True).isoformat() == "1904-01-01T00:00:00"

"""Excel workbooks from before 2007, by xlrd."""

import io
from typing import Any

from deepdelve.tools.web.documents.extracted import Extracted, encrypted, no_text, unreadable
from deepdelve.tools.web.documents.markdown import pipe_table
from deepdelve.tools.web.documents.plain import links_in
from deepdelve.tools.web.documents.xlsx import COLUMN_LIMIT, ROW_LIMIT, date_text, epoch_of, number_text


def read_xls(data: bytes) -> Extracted:
    """Read the visible sheets of a workbook.

    Raises:
        FetchError: ``encrypted``, ``unreadable`` or ``no_text``.
    """
    import xlrd

    try:
        book: Any = xlrd.open_workbook(file_contents=data, logfile=io.StringIO(), on_demand=True)
        sheets = [book.sheet_by_index(index) for index in range(book.nsheets)]
    except Exception as error:  # xlrd lets struct, index and assertion errors of damaged files through
        if "encrypted" in str(error).lower() or "password" in str(error).lower():
            raise encrypted("The workbook is encrypted and opens only with a password.") from error
        raise unreadable("The workbook is damaged and cannot be opened.", "Look for another copy.") from error
    epoch = epoch_of(book.datemode == 1)
    blocks: list[str] = []
    notes: list[str] = []
    for sheet in sheets:
        if sheet.visibility:
            notes.append(f"The hidden sheet {sheet.name!r} was not read.")
            continue
        rows = [[_cell(cell, epoch) for cell in sheet.row(row)[:COLUMN_LIMIT]] for row in range(min(sheet.nrows, ROW_LIMIT))]
        if table := pipe_table(rows):
            blocks.append(f"## {sheet.name}\n\n{table}")
        if sheet.nrows > ROW_LIMIT:
            notes.append(f"Only the first {ROW_LIMIT:,} rows of the sheet {sheet.name!r} were read.")
    if not blocks:
        raise no_text("The workbook has no filled cell in a visible sheet.")
    text = "\n\n".join(blocks)
    return Extracted(text, kind="xls", pages=len(sheets) - len(notes), reason=" ".join(notes[:5]), links=links_in(text))


def _cell(cell: Any, epoch: Any) -> str:
    import xlrd

    match cell.ctype:
        case xlrd.XL_CELL_NUMBER:
            return number_text(repr(cell.value))
        case xlrd.XL_CELL_DATE:
            return date_text(cell.value, epoch)
        case xlrd.XL_CELL_BOOLEAN:
            return "TRUE" if cell.value else "FALSE"
        case xlrd.XL_CELL_ERROR:
            return str(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
        case _:
            return str(cell.value)

"""Excel workbooks: every visible sheet as a table, dates as dates."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from deepdelve.tools.web.documents.extracted import Extracted, no_text, unreadable
from deepdelve.tools.web.documents.markdown import pipe_table
from deepdelve.tools.web.documents.ooxml import Package
from deepdelve.tools.web.documents.plain import links_in
from deepdelve.tools.web.documents.trees import Element, attribute, local, relation_id, stream

ROW_LIMIT = 20_000
COLUMN_LIMIT = 400
CELL_LIMIT = 1_000_000
_BUILT_IN_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_DATE_CODE = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|([dmyhs])', re.I)
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})$")


def read_xlsx(package: Package, main: str) -> Extracted:
    """Read the visible sheets of a workbook; ``pages`` counts all sheets read."""
    workbook = package.xml(main)
    folder = main.rpartition("/")[0]
    targets = package.relations(main)
    shared = list(_shared_strings(package, f"{folder}/sharedStrings.xml"))
    dates = _date_styles(package.optional_xml(f"{folder}/styles.xml"))
    epoch = epoch_of(any(attribute(e, "date1904") in {"1", "true"} for e in workbook.iter() if local(e) == "workbookPr"))
    blocks: list[str] = []
    notes: list[str] = []
    count = 0
    for sheet in (e for e in workbook.iter() if local(e) == "sheet"):
        name, target = sheet.get("name") or "", targets.get(relation_id(sheet), "")
        if attribute(sheet, "state") in {"hidden", "veryHidden"}:
            notes.append(f"The hidden sheet {name!r} was not read.")
            continue
        if target not in package.names or "chart" in target:
            continue
        rows, cut = _rows(package.read(target), shared, dates, epoch)
        count += 1
        if table := pipe_table(rows):
            blocks.append(f"## {name}\n\n{table}")
        if cut:
            notes.append(f"Only the first {len(rows):,} rows of the sheet {name!r} were read.")
    if not blocks:
        raise no_text("The workbook has no filled cell in a visible sheet.")
    text = "\n\n".join(blocks)
    return Extracted(text, kind="xlsx", pages=count, reason=" ".join(notes[:5]), links=links_in(text))


def epoch_of(is_1904: bool) -> datetime:
    """Day zero of a workbook's dates."""
    return datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30)  # noqa: DTZ001 (sheets have no time zone)


def date_text(serial: float, epoch: datetime) -> str:
    """An Excel date serial as ISO date, time, or both."""
    try:
        moment = epoch + timedelta(days=serial)
    except OverflowError:
        return f"{serial:g}"
    moment = (moment + timedelta(milliseconds=500)).replace(microsecond=0)
    if 0 <= serial < 1:
        return moment.strftime("%H:%M:%S")
    return moment.strftime("%Y-%m-%d") if serial == int(serial) else moment.strftime("%Y-%m-%d %H:%M:%S")


def is_date_format(code: str) -> bool:
    """Whether a number format shows a date or time."""
    return any(match[1] for match in _DATE_CODE.finditer(code)) and "general" not in code.lower()


def number_text(text: str) -> str:
    """A stored number as a person would write it: 0.30000000000000004 is 0.3, and no whole number ends in .0."""
    try:
        value = float(text)
    except ValueError:
        return text
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.12g}"


def _shared_strings(package: Package, name: str) -> Iterator[str]:
    if name not in package.names:
        return
    for item in _elements(package.read(name), "si"):
        yield "".join(text.text or "" for text in item.iter() if local(text) == "t" and local(_parent(text)) != "rPh")


def _parent(element: Element) -> Element:
    parent = element.getparent()
    return element if parent is None else parent


def _date_styles(root: Element | None) -> frozenset[int]:
    """Indices of the cell styles that show numbers as dates."""
    if root is None:
        return frozenset()
    codes = {attribute(e, "numFmtId"): attribute(e, "formatCode") for e in root.iter() if local(e) == "numFmt"}
    formats = [e for group in root if local(group) == "cellXfs" for e in group]
    found: set[int] = set()
    for index, element in enumerate(formats):
        number = attribute(element, "numFmtId")
        if (number.isdigit() and int(number) in _BUILT_IN_DATES) or is_date_format(codes.get(number, "")):
            found.add(index)
    return frozenset(found)


def _rows(data: bytes, shared: list[str], dates: frozenset[int], epoch: datetime) -> tuple[list[list[str]], bool]:
    rows: list[list[str]] = []
    cells_left = CELL_LIMIT
    for row in _elements(data, "row"):
        if len(rows) >= ROW_LIMIT or cells_left <= 0:
            return rows, True
        cells: list[str] = []
        for cell in row:
            if local(cell) != "c":
                continue
            match = _REFERENCE.match(cell.get("r") or "")
            column = _column(match[1]) if match else len(cells)
            if len(cells) <= column < COLUMN_LIMIT:
                cells.extend([""] * (column - len(cells)))
                cells.append(_cell(cell, shared, dates, epoch))
        cells_left -= len(cells)
        rows.append(cells)
    return rows, False


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _cell(cell: Element, shared: list[str], dates: frozenset[int], epoch: datetime) -> str:
    kind, style = cell.get("t") or "n", cell.get("s") or ""
    if kind == "inlineStr":
        return "".join(text.text or "" for text in cell.iter() if local(text) == "t")
    value = next((child.text or "" for child in cell if local(child) == "v"), "")
    match kind:
        case "s":
            return shared[int(value)] if value.isdigit() and int(value) < len(shared) else ""
        case "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        case "n" if value and style.isdigit() and int(style) in dates:
            try:
                return date_text(float(value), epoch)
            except ValueError:
                return value
        case "n":
            return number_text(value)
        case _:
            return value


def _elements(data: bytes, name: str) -> Iterator[Element]:
    try:
        yield from stream(data, name)
    except ValueError as error:
        raise unreadable("A part of the workbook is damaged XML.", "Look for another copy.") from error

"""Runs of text with their places on a page, put into reading order: columns, paragraphs, headings and tables.

Lengths are points; y grows upwards, as in PDF.
"""

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from deepdelve.tools.web.documents.markdown import pipe_table

# Horizontal distance, in text heights, from which two runs of one line are two cells: WIDE_GAP anywhere, CELL_GAP
# where the lines around have their gaps at the same places.
CELL_GAP = 0.55
WIDE_GAP = 1.1
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_HYPHENATED = re.compile(r"[^\W\d_]{2}[-\u2010]$")
_STARTS_LOWER = re.compile(r"[^\W\d_A-Z]")
_LIST_MARK = re.compile(r"^(?:[\u2022\u2023\u25aa\u25cf\u25e6\u2043\uf0b7*\u2013-]|\(?\d{1,3}[.)]|\(?[a-z][.)])(?=\s|$)")
_NO_SPACES = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uff60]")
_MAX_DEPTH = 3
_MIN_COLUMN_RUNS = 5
_MIN_COLUMN_CHARS = 16


@dataclass(frozen=True)
class Run:
    """Text on one line without a wide gap; ``parts`` are the pieces between its narrower gaps, left to right."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    parts: tuple["Run", ...] = ()

    @property
    def size(self) -> float:
        """Height of the line."""
        return max(self.top - self.bottom, 0.1)

    @property
    def middle(self) -> float:
        """Height of its centre on the page."""
        return (self.top + self.bottom) / 2


Row = list[Run]


def page_text(runs: list[Run]) -> str:
    """One page as Markdown."""
    runs = _without_line_numbers([run for run in runs if run.text.strip()])
    if not runs:
        return ""
    body = median(run.size for run in runs for _ in range(1 + len(run.text) // 20))
    lines = [line for row in _rows(runs) for line in _merged(row, WIDE_GAP)]
    return "\n\n".join(block for region in columns(lines) for block in _blocks(region, body) if block)


def _without_line_numbers(runs: list[Run]) -> list[Run]:
    """The runs without a margin of consecutive numbers, as transcripts and manuscripts have."""
    numbers = [run for run in runs if len(run.text) <= 3 and run.text.isdecimal()]
    edge = median(run.right for run in numbers) if numbers else 0.0
    numbers = sorted((run for run in numbers if abs(run.right - edge) < run.size), key=lambda run: -run.middle)
    values = [int(run.text) for run in numbers]
    steady = sum(1 for a, b in pairwise(values) if b == a + 1)
    if len(numbers) < 8 or steady < 0.9 * (len(values) - 1) or len(numbers) < 0.3 * len(runs):
        return runs
    margin = set(map(id, numbers))
    return [run for run in runs if id(run) not in margin]


def columns(runs: list[Run], depth: int = 0) -> list[list[Run]]:
    """The regions of a page in reading order; runs that cross the gutter part the page into bands."""
    gutter = _gutter(runs) if depth < _MAX_DEPTH and len(runs) >= 2 * _MIN_COLUMN_RUNS else None
    if gutter is None:
        return [runs]
    crossing = sorted((run for run in runs if run.left < gutter < run.right), key=lambda run: -run.middle)
    regions: list[list[Run]] = []
    rest = sorted((run for run in runs if not run.left < gutter < run.right), key=lambda run: -run.middle)
    at = 0
    for border in [*crossing, None]:
        start = at
        while at < len(rest) and (border is None or rest[at].middle > border.middle):
            at += 1
        band = rest[start:at]
        sides = [[run for run in band if run.right <= gutter], [run for run in band if run.left >= gutter]]
        if all(len(side) > 2 for side in sides):
            regions.extend(region for side in sides for region in columns(side, depth + 1))
        elif band:
            regions.append(band)
        if border is not None:
            regions.append([border])
    return _joined_regions(regions)


def _joined_regions(regions: list[list[Run]]) -> list[list[Run]]:
    """Lines that follow each other across the page are one region; a column stays one of its own."""
    joined: list[list[Run]] = []
    open_region = False
    for region in regions:
        small = len(region) <= 2 * _MIN_COLUMN_RUNS and len(_rows(region)) <= 2
        if small and open_region:
            joined[-1] = joined[-1] + region
        else:
            joined.append(list(region))
        open_region = small
    return joined


def _gutter(runs: list[Run]) -> float | None:
    """The x of the clearest vertical gap between two columns of prose, if there is one."""
    left, right = min(run.left for run in runs), max(run.right for run in runs)
    best: tuple[int, float] | None = None
    for step in range(20, 81):
        x = left + (right - left) * step / 100
        before = [run for run in runs if run.right <= x]
        after = [run for run in runs if run.left >= x]
        crossing = len(runs) - len(before) - len(after)
        if crossing > 0.2 * len(runs) or not _is_column(before, left, x) or not _is_column(after, x, right):
            continue
        score = (crossing, abs(step - 50))
        if best is None or score < (best[0], abs((best[1] - left) / (right - left) * 100 - 50)):
            best = (crossing, x)
    return best[1] if best else None


def _is_column(runs: list[Run], left: float, right: float) -> bool:
    if len(runs) < _MIN_COLUMN_RUNS:
        return False
    prose = sum(len(run.text) for run in runs) / len(runs) >= _MIN_COLUMN_CHARS
    return prose and median(run.right - run.left for run in runs) >= 0.42 * (right - left)


def _rows(runs: list[Run]) -> list[Row]:
    """Runs that share a line, top down, each row from left to right."""
    rows: list[Row] = []
    for run in sorted(runs, key=lambda run: -run.middle):
        last = rows[-1][-1] if rows else None
        if last is not None and min(last.top, run.top) - max(last.bottom, run.bottom) > 0.5 * min(last.size, run.size):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [sorted(row, key=lambda run: run.left) for row in rows]


def _merged(row: Row, limit: float) -> Row:
    """A row whose runs are joined where the gap is below a limit in text heights."""
    groups: list[Row] = []
    for run in row:
        if groups and run.left - groups[-1][-1].right < limit * min(groups[-1][-1].size, run.size):
            groups[-1].append(run)
        else:
            groups.append([run])
    return [_union(group) for group in groups]


def _union(group: Row) -> Run:
    if len(group) == 1:
        return group[0]
    ordered = group[::-1] if _is_rtl("".join(run.text for run in group)) else group
    text = ordered[0].text
    for before, run in pairwise(ordered):
        gap = max(run.left - before.right, before.left - run.right)
        text = f"{text} {run.text}" if gap > 0.12 * run.size else text + run.text
    tallest = max(group, key=lambda run: len(run.text))
    parts = tuple(part for run in group for part in (run.parts or (run,)))
    return Run(text, group[0].left, tallest.bottom, max(run.right for run in group), tallest.top, parts)


def _blocks(region: list[Run], body: float) -> list[str]:
    """Paragraphs, headings and tables of one region."""
    rows = _rows(region)
    fine = [_merged([part for run in row for part in (run.parts or (run,))], CELL_GAP) for row in rows]
    blocks: list[str] = []
    pending: list[Run] = []
    at = 0
    while at < len(rows):
        table = _table_at(fine, at, narrow=True) or _table_at(rows, at, narrow=False)
        if table is None:
            pending.append(_line(rows[at]))
            at += 1
            continue
        blocks += [*_paragraphs(pending, body), table.markdown()]
        pending = []
        at = table.end
    return blocks + _paragraphs(pending, body)


@dataclass
class _Table:
    """Rows whose cells keep to the same x-ranges."""

    rows: list[Row]
    bands: list[tuple[float, float]]
    end: int

    def markdown(self) -> str:
        table: list[list[str]] = []
        for row in self.rows:
            cells = [""] * len(self.bands)
            for run in row:
                column = next((i for i, band in enumerate(self.bands) if _overlap(band, run) > 0), 0)
                cells[column] = f"{cells[column]} {run.text}".strip()
            table.append(cells)
        if _is_rtl(" ".join(cell for row in table for cell in row)):
            table = [row[::-1] for row in table]
        return pipe_table(table)


def _table_at(rows: list[Row], start: int, *, narrow: bool) -> _Table | None:
    """The table that begins at a row; with ``narrow``, one whose gaps alone would not tell it from prose."""
    if len(rows[start]) < 2:
        return None
    bands = [(run.left, run.right) for run in rows[start]]
    multi, at, end = 1, start + 1, start + 1
    while at < len(rows) and at - end < 2:
        above = max(run.size for run in rows[at - 1])
        if rows[at - 1][0].middle - rows[at][0].middle > 4 * above:
            break
        single = len(rows[at]) == 1
        grown = bands if single else _grown(bands, rows[at])
        if grown is None:
            break
        at += 1
        if not single:
            bands, end, multi = grown, at, multi + 1
    cells = [run for row in rows[start:end] for run in row]
    length = sum(len(run.text) for run in cells) / len(cells)
    enough = multi >= 3 or (multi == 2 and len(bands) >= 3)
    if not enough or length >= (25 if narrow else 60) or (narrow and len(bands) < 3):
        return None
    return _Table(rows[start:end], bands, end)


def _grown(bands: list[tuple[float, float]], row: Row) -> list[tuple[float, float]] | None:
    """The bands widened by a row's cells; ``None`` if a cell lies across two of them."""
    grown = list(bands)
    for run in row:
        hit = [i for i, band in enumerate(grown) if _overlap(band, run) > 0]
        if len(hit) > 1:
            return None
        if hit:
            grown[hit[0]] = (min(grown[hit[0]][0], run.left), max(grown[hit[0]][1], run.right))
        else:
            grown.append((run.left, run.right))
    grown.sort()
    clear = all(a[1] <= b[0] for a, b in pairwise(grown))
    return grown if clear else None


def _overlap(band: tuple[float, float], run: Run) -> float:
    return min(band[1], run.right) - max(band[0], run.left)


def _line(row: Row) -> Run:
    """A row as one run."""
    ordered = row[::-1] if _is_rtl("".join(run.text for run in row)) else row
    text = "  ".join(run.text.strip() for run in ordered)
    first = max(row, key=lambda run: len(run.text))
    return replace(first, text=text, left=row[0].left, right=row[-1].right)


def _paragraphs(lines: list[Run], body: float) -> list[str]:
    if not lines:
        return []
    leading = _leading(lines)
    right, left = max(line.right for line in lines), min(line.left for line in lines)
    blocks: list[list[Run]] = []
    for line in lines:
        last = blocks[-1][-1] if blocks else None
        if last is None or _starts_paragraph(last, line, leading, (left, right)):
            blocks.append([line])
        else:
            blocks[-1].append(line)
    return [_paragraph(block, body) for block in blocks]


def _leading(lines: list[Run]) -> float:
    steps = [a.middle - b.middle for a, b in pairwise(lines) if 0 < a.middle - b.middle < 3 * a.size]
    return median(steps) if steps else 1.5 * lines[0].size


def _starts_paragraph(last: Run, line: Run, leading: float, edges: tuple[float, float]) -> bool:
    width = edges[1] - edges[0]
    step = last.middle - line.middle
    if step > 1.35 * leading or step < 0 or abs(line.size - last.size) > 0.2 * max(line.size, last.size):
        return True
    if _LIST_MARK.match(line.text):
        return True
    if _is_rtl(line.text):
        return last.left - edges[0] > 0.2 * width
    ended = last.text.rstrip().endswith((".", "!", "?", ":", "\u3002", '."', ".\u201d"))
    short = edges[1] - last.right > (0.12 if ended else 0.3) * width
    indented = line.left - last.left > 0.8 * line.size and abs(line.left - edges[0]) < 0.2 * width and ended
    return short or indented


def _paragraph(lines: list[Run], body: float) -> str:
    text = lines[0].text.strip()
    for line in lines[1:]:
        text = join_lines(text, line.text.strip())
    if len(lines) > 2:
        text = " ".join(text.split())
    is_heading = min(line.size for line in lines) > 1.18 * body and len(text) <= 150 and len(lines) <= 3 and re.search(r"[^\W\d_]{2}", text)
    return f"## {text}" if is_heading else text


def join_lines(text: str, line: str) -> str:
    """Join a line to the text before it, undoing a hyphenation at the line's end."""
    if _HYPHENATED.search(text) and _STARTS_LOWER.match(line):
        return text[:-1] + line
    if text and line and _NO_SPACES.match(text[-1]) and _NO_SPACES.match(line[0]):
        return text + line
    return f"{text} {line}"


def _is_rtl(text: str) -> bool:
    return 2 * len(_RTL.findall(text)) > len(text.replace(" ", ""))

"""Horizontal bars made of block characters, each with its figure, so that they read without colour."""

from collections.abc import Callable, Mapping

from textual.content import Content

from deepdelve.tui.text import one_line

EIGHTHS = " ▏▎▍▌▋▊▉"


def bar(share: float, width: int) -> str:
    """A bar of at most ``width`` cells for a share from 0 to 1."""
    eighths = round(max(min(share, 1.0), 0.0) * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (EIGHTHS[rest] if rest else "")


def bars(values: Mapping[str, float], figure: Callable[[float], str], width: int = 16, limit: int = 12) -> list[Content]:
    """One line for each value, the greatest first; what is beyond ``limit`` is added up in a last line."""
    rows = sorted(values.items(), key=lambda item: -item[1])
    if len(rows) > limit:
        rows = [*rows[: limit - 1], (f"{len(rows) - limit + 1} others", sum(value for _, value in rows[limit - 1 :]))]
    top = max((value for _, value in rows), default=0.0)
    names = max((len(one_line(name, 22)) for name, _ in rows), default=0)
    lines: list[Content] = []
    for name, value in rows:
        label = one_line(name, 22)
        drawn = bar(value / top if top else 0.0, width)
        lines.append(Content.assemble(label.ljust(names + 1), (drawn, "$accent"), f" {figure(value)}"))
    return lines

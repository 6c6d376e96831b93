"""Experiments side by side: bars while they can be told apart, a matrix beyond."""

from mooring.reports.figure import Bars, Figure, Heat, Series, lying
from mooring.reports.table import Spread

MOST_SERIES = 3


def side_by_side(blank: Bars, rows: dict[str, list[Spread | None]], x_title: str) -> Figure:
    """`blank` with one row of values per experiment; long names stand below each other, as in bars."""
    if len(rows) > MOST_SERIES:
        values = tuple(tuple(None if cell is None else cell.mean for cell in row) for row in rows.values())
        x, y, title = blank.names, tuple(rows), x_title
        if lying(blank.names):
            x, y, title, values = y, x, "", tuple(zip(*values, strict=True))
        return Heat(blank.slug, blank.title, blank.caption, title, "", x, y, values)
    series = tuple(
        Series(
            label,
            tuple(None if cell is None else cell.mean for cell in row),
            tuple(None if cell is None else cell.std for cell in row),
        )
        for label, row in rows.items()
    )
    return Bars(blank.slug, blank.title, blank.caption, blank.y_title, blank.names, series)

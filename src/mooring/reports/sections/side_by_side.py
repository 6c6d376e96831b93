"""Experiments side by side: bars while they can be told apart, a matrix beyond."""

from mooring.reports.figure import Bars, Figure, Heat, Series
from mooring.reports.table import Spread

MOST_SERIES = 3


def side_by_side(blank: Bars, rows: dict[str, list[Spread | None]], x_title: str) -> Figure:
    """`blank` with one row of values per experiment."""
    if len(rows) > MOST_SERIES:
        values = tuple(tuple(None if cell is None else cell.mean for cell in row) for row in rows.values())
        return Heat(blank.slug, blank.title, blank.caption, x_title, "", blank.names, tuple(rows), values)
    series = tuple(
        Series(
            label,
            tuple(None if cell is None else cell.mean for cell in row),
            tuple(None if cell is None else cell.std for cell in row),
        )
        for label, row in rows.items()
    )
    return Bars(blank.slug, blank.title, blank.caption, blank.y_title, blank.names, series)

"""Columns of a table as a figure."""

from mooring.reports.figure import Curves, Line, PlotValues, Style, positive
from mooring.reports.table import Cell, Plot, PlottedLine, Table

STYLES: dict[str, Style] = {"note": "dashed", "measured": "solid"}
CAPTIONS = {"note": "Dashed: as the note prints it; solid: measured.", "measured": ""}


def plotted(table: Table) -> tuple[Curves, ...]:
    return tuple(figure(table, plot) for plot in table.plots)


def figure(table: Table, plot: Plot) -> Curves:
    flat = table.flat()
    lines = tuple(plotted_line(flat, plot, line) for line in plot.lines)
    caption = " ".join(filter(None, dict.fromkeys([CAPTIONS[line.source] for line in plot.lines] + [table.note])))
    slug = f"{table.slug}-{plot.title.lower().replace(' ', '-')}"
    return Curves(slug, plot.title, caption, "round", plot.y_title, lines, plot.scale, table.of)


def plotted_line(table: Table, plot: Plot, line: PlottedLine) -> Line:
    """A column over another; the note and the measured beside it share a colour."""
    x, y = (column(table, name) for name in (line.x, line.y))
    known = [(at, value) for at, value in zip(x, y, strict=True) if at is not None and value is not None]
    values: PlotValues = tuple(value for _, value in known)
    same = [other for other in plot.lines if other.source == line.source]
    shown = positive(values) if plot.scale == "log" else values
    return Line(line.y, tuple(at for at, _ in known), shown, same.index(line), STYLES[line.source])


def column(table: Table, name: str) -> list[float | None]:
    place = table.columns.index(name)
    return [numeric(row[place]) for row in table.rows]


def numeric(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None

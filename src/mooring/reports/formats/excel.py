"""A workbook: one sheet per table, and one per course with its data and a native chart beside it."""

from dataclasses import replace
from io import BytesIO
from math import isfinite
from pathlib import Path
from typing import Any

from mooring.cells import printable
from mooring.errors import needed
from mooring.record import write_atomically
from mooring.reports.figure import Curves, Line, colour
from mooring.reports.section import Report
from mooring.reports.table import Cell, Table, shown

LONGEST_NAME = 31  # of a sheet
FORBIDDEN = str.maketrans(dict.fromkeys("[]:*?/\\'", " "))
LARGEST_WHOLE = 2**53  # what a cell holds exactly
WIDEST = 48
DASHES = {"solid": "solid", "dashed": "dash", "dotted": "sysDot"}


def write_excel(report: Report, out: Path) -> None:
    book = needed("openpyxl", "report").Workbook()
    book.remove(book.active)
    for table in report.tables:
        fill(sheet(book, table.title), table.flat())
    for figure in report.figures:
        if isinstance(figure, Curves):
            courses = replace(figure, lines=tuple(line for line in figure.lines if line.style != "marks"))
            place = sheet(book, f"{figure.slug} {figure.of}".strip())
            fill(place, wide(courses))
            place.add_chart(chart(place, courses), f"{letter(len(courses.lines) + 3)}2")
    data = BytesIO()
    book.save(data)
    write_atomically(out, data.getvalue())


def sheet(book: Any, title: str) -> Any:
    """A sheet with a name that Excel accepts and no other sheet has."""
    name = printable(title).translate(FORBIDDEN).strip()[:LONGEST_NAME] or "table"
    taken = {other.lower() for other in book.sheetnames}
    number = 2
    while name.lower() in taken:
        name = f"{name[: LONGEST_NAME - 4].rstrip()} ({number})"
        number += 1
    return book.create_sheet(name)


def fill(place: Any, table: Table) -> None:
    """A header that stays, cells with their types; text is never taken for a formula."""
    styles = needed("openpyxl.styles", "report")
    bold, wrapped = styles.Font(bold=True), styles.Alignment(wrap_text=True, vertical="top")
    for row, cells in enumerate((table.columns, *table.rows), 1):
        for column, value in enumerate(cells, 1):
            cell = place.cell(row, column, plain(value))
            if isinstance(value, str):
                cell.data_type = "s"
            if isinstance(value, str) and len(value) > WIDEST:
                cell.alignment = wrapped
            if isinstance(value, float):
                cell.number_format = "0.0000" if number_is_plain(value) else "0.00E+00"
            if row == 1:
                cell.font = bold
    place.freeze_panes = "A2"
    place.page_setup.orientation, place.page_setup.fitToHeight = "landscape", 0
    place.sheet_properties.pageSetUpPr.fitToPage = True
    for column, name in enumerate(table.columns, 1):
        longest = max([len(name), *(len(shown(row[column - 1])) for row in table.rows)])
        place.column_dimensions[letter(column)].width = min(longest, WIDEST) + 2


def plain(value: Cell) -> Cell:
    """What a cell can hold: printable text, finite numbers."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        return str(value)
    return value if not isinstance(value, float) or isfinite(value) else None


def number_is_plain(value: float) -> bool:
    return value == 0 or 1e-3 <= abs(value) < 1e5


def letter(column: int) -> str:
    return str(needed("openpyxl.utils", "report").get_column_letter(column))


def wide(figure: Curves) -> Table:
    """A column per line over the rounds of all of them."""
    rounds = sorted({x for line in figure.lines for x in line.x})
    courses = [dict(zip(line.x, line.y, strict=True)) for line in figure.lines]
    rows: list[tuple[Cell, ...]] = [(x, *(course.get(x) for course in courses)) for x in rounds]
    return Table(figure.slug, figure.title, (figure.x_title, *(line.name for line in figure.lines)), tuple(rows))


def chart(place: Any, figure: Curves) -> Any:
    charts = needed("openpyxl.chart", "report")
    drawn = charts.ScatterChart()
    drawn.title, drawn.style, drawn.scatterStyle = printable(figure.title), 2, "lineMarker"
    drawn.width, drawn.height = 22, 12
    drawn.x_axis.title, drawn.y_axis.title = printable(figure.x_title), printable(figure.y_title)
    drawn.x_axis.delete = drawn.y_axis.delete = False
    drawn.x_axis.majorUnit = max(1, (place.max_row - 2) // 10)
    if figure.scale == "log":
        drawn.y_axis.scaling.logBase = 10
        drawn.y_axis.crosses = "min"
    rows = place.max_row
    rounds = charts.Reference(place, min_col=1, min_row=2, max_row=rows)
    for i, line in enumerate(figure.lines):
        values = charts.Reference(place, min_col=i + 2, min_row=1, max_row=rows)
        series = charts.Series(values, rounds, title_from_data=True)
        styled(series, line)
        drawn.series.append(series)
    return drawn


def styled(series: Any, line: Line) -> None:
    """The colours and dashes of the page."""
    shade = colour(line.colour, "#333333").removeprefix("#")
    series.graphicalProperties.line.solidFill = shade
    series.graphicalProperties.line.dashStyle = DASHES[line.style]
    series.graphicalProperties.line.width = 19050
    series.smooth = False
    series.marker.symbol = "circle" if line.style == "solid" else "none"
    series.marker.size = 5
    series.marker.graphicalProperties.solidFill = shade
    series.marker.graphicalProperties.line.solidFill = shade

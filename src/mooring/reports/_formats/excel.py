"""A workbook: an index, one sheet per table with its charts, and one per course with its data and a native chart."""

from dataclasses import replace
from io import BytesIO
from math import ceil, isfinite
from pathlib import Path
from typing import Any

from mooring.errors import needed
from mooring.record import write_atomically
from mooring.reports._figure import Curves, Line, colour, column_figure
from mooring.reports._section import Report
from mooring.reports._table import Cell, Table, cell_text
from mooring.wording import printable

LONGEST_NAME = 31  # of a sheet
FORBIDDEN = str.maketrans(dict.fromkeys("[]:*?/\\'", " "))
LARGEST_WHOLE = 2**53  # what a cell holds exactly
WIDEST = 48
HEAD = 14  # characters of a header before it breaks its line
LINE = 15.0  # height of one, in points
HEADER = 4  # the row of the columns' names: above it the title, what belongs to it, and an empty row
COLUMNS_LISTED = 6  # in the index
CHART_ROWS = 25  # that a chart covers
DASHES = {"solid": "solid", "dashed": "dash", "dotted": "sysDot"}
INDEX = "Index"


def write_excel(report: Report, out: Path) -> None:
    book = needed("openpyxl", "report").Workbook()
    book.active.title = INDEX
    held = [table_sheet(book, table) for table in report.all_tables]
    held += [course_sheet(book, figure) for figure in report.figures if isinstance(figure, Curves)]
    index(book[INDEX], report, held)
    data = BytesIO()
    book.save(data)
    write_atomically(out, data.getvalue())


def table_sheet(book: Any, table: Table) -> tuple[str, Table]:
    """A table as one would paste it into a paper, its charts below it, or beside one that is long."""
    place, flat = sheet(book, table.name or table.title), table.flat()
    fill(place, flat)
    for i, plot in enumerate(table.plots):
        columns = [[flat.columns.index(name) + 1 for name in (line.x, line.y)] for line in plot.lines]
        charted = chart(place, column_figure(table, plot), columns)
        beside = f"{letter(len(flat.columns) + 2)}{HEADER + i * CHART_ROWS}"
        below = f"A{HEADER + len(flat.rows) + 3 + i * CHART_ROWS}"
        place.add_chart(charted, beside if len(flat.rows) > CHART_ROWS else below)
    return place.title, table


def course_sheet(book: Any, figure: Curves) -> tuple[str, Table]:
    courses = replace(figure, lines=tuple(line for line in figure.lines if line.style != "marks"))
    name = figure.slug.replace("-", " ").capitalize()
    full = f"{name} {figure.of}".strip()
    place, table = sheet(book, full if len(full) <= LONGEST_NAME else name), wide(courses)
    fill(place, table)
    charted = chart(place, courses, [[1, i] for i in range(2, len(courses.lines) + 2)])
    place.add_chart(charted, f"{letter(len(courses.lines) + 3)}{HEADER}")
    return place.title, table


def index(place: Any, report: Report, held: list[tuple[str, Table]]) -> None:
    """What is where, of how many runs, with which seeds; a click leads there."""
    links = needed("openpyxl.worksheet.hyperlink", "report")
    rows = []
    for name, table in held:
        seeds = table.seeds or report.seeds
        rows.append((name, content(name, table), len(seeds) or None, ", ".join(map(str, seeds))))
    note = " · ".join(part for part in (report.subtitle, report.command) if part)
    fill(place, Table("index", report.title, ("sheet", "what it holds", "n", "seeds"), tuple(rows), note))
    for row, (name, _) in enumerate(held, HEADER + 1):
        cell = place.cell(row, 1)
        cell.hyperlink = links.Hyperlink(ref=cell.coordinate, location=f"'{name}'!A1")
        cell.style = "Hyperlink"


def content(name: str, table: Table) -> str:
    """The title of a sheet; where that is its name again, the columns: `run, client, images and 4 more`"""
    if letters(table.title) != letters(name):
        return table.title
    more = len(table.columns) - COLUMNS_LISTED
    columns = ", ".join(filter(None, table.columns[:COLUMNS_LISTED]))
    return f"{columns} and {more} more" if more > 0 else columns


def letters(text: str) -> str:
    """A name without the signs that a sheet may not have, or that only separate."""
    return "".join(filter(str.isalnum, text.lower()))


def sheet(book: Any, title: str) -> Any:
    """A sheet with a name that Excel accepts and no other sheet has."""
    name = printable(title).translate(FORBIDDEN).strip()
    name = shortened(name) or "table"
    taken = {other.lower() for other in book.sheetnames}
    stem, number = name[: LONGEST_NAME - 4].rstrip(), 2
    while name.lower() in taken:
        name = f"{stem} ({number})"
        number += 1
    return book.create_sheet(name)


def shortened(name: str) -> str:
    """Whole words as long as they fit."""
    cut = name[: LONGEST_NAME + 1].rpartition(" ")[0] if len(name) > LONGEST_NAME else name
    return (cut or name)[:LONGEST_NAME].rstrip(" ,;·")


def fill(place: Any, table: Table) -> None:
    """Title, note and a header that stays; cells with their types; text is never taken for a formula."""
    styles = needed("openpyxl.styles", "report")
    bold, wrapped = styles.Font(bold=True), styles.Alignment(wrap_text=True, vertical="top")
    write_text(place.cell(1, 1), table.title).font = styles.Font(bold=True, size=13)
    if table.note:
        write_text(place.cell(2, 1), table.note).font = styles.Font(italic=True, color="595959")
    for row, cells in enumerate((table.columns, *table.rows), HEADER):
        for column, value in enumerate(cells, 1):
            cell = place.cell(row, column)
            if isinstance(value, str):
                write_text(cell, value)
            else:
                cell.value = cell_value(value)
            if isinstance(value, str) and len(value) > WIDEST:
                cell.alignment = wrapped
            if isinstance(value, float):
                cell.number_format = number_format(value)
            if (row - HEADER - 1, column - 1) in table.bold:
                cell.font = bold
            if row == HEADER:
                cell.font, cell.alignment = bold, wrapped
                cell.border = styles.Border(bottom=styles.Side(style="thin"))
    place.row_dimensions[HEADER].height = LINE * max(
        1, *(ceil(len(name) / HEAD) + 1 for name in table.columns if len(name) > HEAD), 1
    )
    place.freeze_panes = f"A{HEADER + 1}"
    place.page_setup.orientation, place.page_setup.fitToHeight = "landscape", 0
    place.sheet_properties.pageSetUpPr.fitToPage = True
    for column, name in enumerate(table.columns, 1):
        longest = max([min(len(name), HEAD), *(len(cell_text(row[column - 1])) for row in table.rows)])
        place.column_dimensions[letter(column)].width = min(longest, WIDEST) + 2


def write_text(cell: Any, value: str) -> Any:
    cell.value = printable(value)
    cell.data_type = "s"
    return cell


def cell_value(value: Cell) -> Cell:
    """What a cell can hold: printable text, finite numbers."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
        return str(value)
    return value if not isinstance(value, float) or isfinite(value) else None


def number_format(value: float) -> str:
    """Four digits or more, thousands apart."""
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-3:
        return "0.00E+00"
    return "0.0000" if size < 1 else "0.000" if size < 10 else "0.00" if size < 1000 else "#,##0"


def letter(column: int) -> str:
    return str(needed("openpyxl.utils", "report").get_column_letter(column))


def wide(figure: Curves) -> Table:
    """A column per line over the rounds of all of them."""
    rounds = sorted({x for line in figure.lines for x in line.x})
    courses = [dict(zip(line.x, line.y, strict=True)) for line in figure.lines]
    rows: list[tuple[Cell, ...]] = [(x, *(course.get(x) for course in courses)) for x in rounds]
    title = f"{figure.title}: {figure.of}" if figure.of else figure.title
    columns = (figure.x_title, *(line.name for line in figure.lines))
    return Table(figure.slug, title, columns, tuple(rows), figure.caption, figure.seeds)


def chart(place: Any, figure: Curves, columns: list[list[int]]) -> Any:
    """A native chart of these columns, an (x, y) for each line."""
    charts = needed("openpyxl.chart", "report")
    drawn = charts.ScatterChart()
    drawn.title, drawn.style, drawn.scatterStyle = printable(figure.title), 2, "lineMarker"
    drawn.width, drawn.height = 22, 12
    drawn.display_blanks = "span"  # accuracy is not measured in every round
    drawn.x_axis.title, drawn.y_axis.title = printable(figure.x_title), printable(figure.y_title)
    drawn.x_axis.delete = drawn.y_axis.delete = False
    rounds = [x for line in figure.lines for x in line.x]
    drawn.x_axis.majorUnit = max(1, int(max(rounds, default=0)) // 10)
    drawn.x_axis.number_format = "0"
    drawn.x_axis.majorGridlines = None
    drawn.y_axis.number_format = "0.E+00" if figure.scale == "log" else "0.00"
    drawn.y_axis.majorGridlines.spPr = needed("openpyxl.chart.shapes", "report").GraphicalProperties()
    drawn.y_axis.majorGridlines.spPr.line.solidFill = "D9D9D9"
    if figure.scale == "log":
        drawn.y_axis.scaling.logBase = 10
        drawn.y_axis.crosses = "min"
    rows = place.max_row
    for line, (x, y) in zip(figure.lines, columns, strict=True):
        across = charts.Reference(place, min_col=x, min_row=HEADER + 1, max_row=rows)
        values = charts.Reference(place, min_col=y, min_row=HEADER, max_row=rows)
        series = charts.Series(values, across, title_from_data=True)
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

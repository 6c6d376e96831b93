"""Put the page together: the template escapes everything, plotly.js is inlined once."""

import re
from base64 import b64encode
from importlib.resources import files
from pathlib import Path

from mooring.errors import needed
from mooring.record import write_atomically
from mooring.reports.figure import Curves, Figure
from mooring.reports.page.traces import plotly
from mooring.reports.section import Report
from mooring.reports.table import Table, csv_text, shown

FEW_ROWS = 10  # a longer table is folded
FEW_LINES = 6  # of a figure that fits into half a page
LONG_TEXT = 24  # characters of a cell that may break its lines


def write_html(report: Report, out: Path) -> None:
    write_atomically(out, page(report).encode())


def page(report: Report) -> str:
    jinja = needed("jinja2", "report")
    environment = jinja.Environment(autoescape=True, undefined=jinja.StrictUndefined, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    environment.filters |= {
        "cell_class": cell_class,
        "csv_base64": csv_base64,
        "pieces": pieces,
        "runs": runs,
        "shown": shown,
        "wide": wide,
    }
    return str(
        environment.from_string(asset("page.html.j2")).render(
            report=report,
            few_rows=FEW_ROWS,
            style=asset("style.css"),
            script=asset("page.js"),
            figures=[plotly(figure) for figure in report.drawn],
            plotly=needed("plotly.offline", "report").get_plotlyjs() if report.drawn else "",
        )
    )


def asset(name: str) -> str:
    return files("mooring.reports.page").joinpath(name).read_text("utf-8")


def pieces(text: str) -> list[str]:
    """Text and, at the odd places, the `code` that stood in backquotes."""
    return re.split(r"`([^`]+)`", text)


def runs(figures: tuple[Figure, ...]) -> list[str]:
    """Which runs are drawn: a reader chooses where there are several."""
    return list(dict.fromkeys(figure.of for figure in figures if figure.of))


def wide(figure: Figure) -> bool:
    """Many lines need the whole width."""
    families = {line.family or line.name for line in figure.lines} if isinstance(figure, Curves) else set()
    return len(families) > FEW_LINES


def csv_base64(table: Table) -> str:
    return b64encode(csv_text(table).encode()).decode()


def cell_class(cell: object) -> str:
    if not isinstance(cell, str):
        return "number"
    return "text wide" if len(cell) > LONG_TEXT else "text"

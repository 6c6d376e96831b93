"""The report as one HTML file that needs nothing else: no network, no other files, no server.

The template escapes everything. Style and scripts are inlined, and figures are JSON that the page's script draws.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any

from mooring.errors import needed
from mooring.record import write_atomically
from mooring.reports._figure import PALETTE, Curves, Dots, Figure, Heat, Line, PlotValues, in_words
from mooring.reports._section import Report
from mooring.reports._table import Table, cell_text, csv_text
from mooring.version import VERSION
from mooring.wording import printable

FEW_ROWS = 10  # a longer table is folded
FEW_TEXTS = 3  # files that stand beside each other; more are folded into one
MOST_ROWS = 500  # that a page holds; its CSV holds all
FEW_LINES = 8  # of a figure that fits into a third of a page
FEW_COLUMNS = 11
MANY_LINES = 12  # of a figure that needs the whole of it
LONG_NAME = 20  # characters beside a bar that need half a page
LONG_TEXT = 24  # characters of a cell that may break its lines
DARK = (  # the palette on a dark page, each at least 3:1 there
    *("#4BA3DB", "#F07F35", "#2FC79B", "#F56AC8", "#9A7BFF", "#B4CC2A"),
    *("#C2507E", "#B9B9FF", "#FFD24D", "#C08A5A", "#7FD8E8", "#A8A8A8"),
)


def write_html(report: Report, out: Path) -> None:
    write_atomically(out, page(report).encode())


def page(report: Report) -> str:
    jinja = needed("jinja2", "report")
    environment = jinja.Environment(autoescape=True, undefined=jinja.StrictUndefined, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    environment.filters |= {
        "breadth": breadth,
        "arrangement": arrangement,
        "column_kinds": column_kinds,
        "csv_base64": csv_base64,
        "in_words": in_words,
        "pieces": pieces,
        "shown": cell_text,
    }
    return str(
        environment.from_string(asset("page.html.j2")).render(
            report=report,
            version=VERSION,
            few_rows=FEW_ROWS,
            few_texts=FEW_TEXTS,
            most_rows=MOST_ROWS,
            palette=palette(),
            runs=runs_drawn(report.drawn),
            style=asset("style.css"),
            charts=asset("charts.js"),
            script=asset("page.js"),
            figures=[chart(figure) for figure in report.drawn],
        )
    )


def asset(name: str) -> str:
    return files("mooring.reports").joinpath("page", name).read_text("utf-8")


def palette() -> str:
    """One colour per client, method or class, in either theme; on paper the light ones."""
    light, dark = ("".join(f"--c{i}:{shade};" for i, shade in enumerate(shades)) for shades in (PALETTE, DARK))
    by_system = f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
    return f":root{{{light}}}@media screen{{{by_system}:root[data-theme=dark]{{{dark}}}}}\n"


def pieces(text: str) -> list[str]:
    """Text and, at the odd places, the `code` that stood in backquotes."""
    return re.split(r"`([^`]+)`", text)


def runs_drawn(figures: Sequence[Figure]) -> list[str]:
    """Which runs are drawn: a reader chooses where there are several."""
    return list(dict.fromkeys(figure.of for figure in figures if figure.of))


def breadth(figure: Figure) -> str:
    """Many lines, names or columns need more of the width."""
    match figure:
        case Curves(layout="panels"):
            return "wide"
        case Curves(lines=lines):
            many = len({line.family or line.name for line in lines})
        case Dots(names=names):
            many = FEW_LINES + 1 if max(map(len, names), default=0) > LONG_NAME else 0
        case _:
            many = len(figure.x) * FEW_LINES // FEW_COLUMNS
    return "wide" if many > MANY_LINES else "half" if many > FEW_LINES else "third"


def arrangement(figures: Sequence[Figure]) -> str:
    """Four figures form two rows of two."""
    chosen = runs_drawn(figures)[:1]
    return "pairs" if sum(figure.of in ("", *chosen) for figure in figures) == 4 else ""


def csv_base64(table: Table) -> str:
    return b64encode(csv_text(table).encode()).decode()


def column_kinds(table: Table) -> list[str]:
    """How each column is set: numbers to the right, with equal digits; long text may break its lines."""
    return [column_kind([row[i] for row in table.rows]) for i in range(len(table.columns))]


def column_kind(cells: list[object]) -> str:
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not texts:
        return "number"
    return "long" if max(map(len, texts)) > LONG_TEXT else "text"


Json = dict[str, Any]


def chart(figure: Figure) -> Json:
    return CHARTS[type(figure)](figure)


def curves_json(figure: Curves) -> Json:
    """`xs` holds every row of rounds once: the lines of one figure mostly share theirs."""
    xs = list(dict.fromkeys(line.x for line in figure.lines))
    return {
        "kind": "curves",
        "x": printable(figure.x_title),
        "y": printable(figure.y_title),
        "log": figure.scale == "log",
        "xs": [chart_values(x) for x in xs],
        "lines": [line_json(line, xs.index(line.x)) for line in figure.lines],
        "panels": [[figure.lines.index(line) for line in panel] for panel in figure.panels],
    }


def line_json(line: Line, at: int) -> Json:
    drawn: Json = {
        "name": printable(line.name),
        "entry": printable(line.family or line.name),
        "colour": line.colour,
        "style": line.style,
        "at": at,
        "y": chart_values(line.y),
    }
    if line.remarks:
        drawn["remarks"] = [[x, y, printable(text)] for x, y, text in line.remarks]
    if line.band is not None:
        drawn["band"] = [chart_values(side) for side in line.band]
    return drawn


def heat_json(figure: Heat) -> Json:
    return {
        "kind": "heat",
        "x": printable(figure.x_title),
        "y": printable(figure.y_title),
        "columns": list(map(printable, figure.x)),
        "rows": list(map(printable, figure.y)),
        "values": [chart_values(row) for row in figure.values],
        "whole": all(isinstance(value, int) for row in figure.values for value in row if value is not None),
    }


def dots_json(figure: Dots) -> Json:
    series = [
        {
            "name": printable(one.name),
            "colour": one.colour,
            "values": chart_values(one.values),
            "intervals": [ends and chart_values(ends) for ends in one.intervals],
            "seeds": [chart_values(seeds) for seeds in one.seeds],
        }
        for one in figure.series
    ]
    drawn: Json = {
        "kind": "dots",
        "value": printable(figure.y_title),
        "names": list(map(printable, figure.names)),
        "series": series,
        "colours": list(figure.colours),
    }
    if figure.level is not None:
        drawn["level"] = [printable(figure.level[0]), figure.level[1]]
    return drawn


CHARTS: dict[type, Callable[[Any], Json]] = {Curves: curves_json, Heat: heat_json, Dots: dots_json}


def chart_values(values: PlotValues | tuple[float, ...]) -> list[float | int | None]:
    """Five digits, to keep the file small; values that are not finite are not drawn."""
    return [None if value is None or not isfinite(value) else trimmed(float(f"{value:.5g}")) for value in values]


def trimmed(value: float) -> float | int:
    """12.0 as 12"""
    return int(value) if value == int(value) and abs(value) < 1e15 else value

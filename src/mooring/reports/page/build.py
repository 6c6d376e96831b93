"""Put the page together: the template escapes everything, style and scripts are inlined."""

import re
from base64 import b64encode
from importlib.resources import files
from pathlib import Path

from mooring.errors import needed
from mooring.record import write_atomically
from mooring.reports.alt_text import in_words
from mooring.reports.figure import PALETTE, Bars, Curves, Figure
from mooring.reports.page.charts import chart
from mooring.reports.section import Report
from mooring.reports.table import Table, cell_text, csv_text
from mooring.version import VERSION

FEW_ROWS = 10  # a longer table is folded
FEW_TEXTS = 3  # files that stand beside each other; more are folded into one
MOST_ROWS = 500  # that a page holds; its CSV holds all
FEW_LINES = 8  # of a figure that fits into a third of a page
FEW_COLUMNS = 11
MANY_LINES = 12  # of a figure that needs the whole of it
LONG_NAME = 20  # characters beside a bar that need half a page
LONG_TEXT = 24  # characters of a cell that may break its lines
DARK = (  # the palette on a dark page, each at least 3:1 there
    *("#4BA3DB", "#F07F35", "#2FC79B", "#DE9BC2", "#9C8FF0", "#7CC8F0"),
    *("#ABABAB", "#D0709F", "#DDA420", "#B8B84A", "#58B7B7", "#E58AA0"),
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
        "runs": runs_drawn,
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
            style=asset("style.css"),
            charts=asset("charts.js"),
            script=asset("page.js"),
            figures=[chart(figure) for figure in report.drawn],
        )
    )


def asset(name: str) -> str:
    return files("mooring.reports.page").joinpath(name).read_text("utf-8")


def palette() -> str:
    """One colour per client, method or class, in either theme; on paper the light ones."""
    light, dark = ("".join(f"--c{i}:{shade};" for i, shade in enumerate(shades)) for shades in (PALETTE, DARK))
    by_system = f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
    return f":root{{{light}}}@media screen{{{by_system}:root[data-theme=dark]{{{dark}}}}}\n"


def pieces(text: str) -> list[str]:
    """Text and, at the odd places, the `code` that stood in backquotes."""
    return re.split(r"`([^`]+)`", text)


def runs_drawn(figures: tuple[Figure, ...]) -> list[str]:
    """Which runs are drawn: a reader chooses where there are several."""
    return list(dict.fromkeys(figure.of for figure in figures if figure.of))


def breadth(figure: Figure) -> str:
    """Many lines, names or columns need more of the width."""
    match figure:
        case Curves(lines=lines):
            many = len({line.family or line.name for line in lines})
        case Bars(names=names, series=series):
            long = max(map(len, names), default=0) > LONG_NAME
            many = max(len(names) * len(series) // 2, FEW_LINES + 1 if long else 0)
        case _:
            many = len(figure.x) * FEW_LINES // FEW_COLUMNS
    return "wide" if many > MANY_LINES else "half" if many > FEW_LINES else "third"


def arrangement(figures: tuple[Figure, ...]) -> str:
    """Four at a time stand two by two."""
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

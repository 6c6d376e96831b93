"""Figures as plain values, the columns of a table as a figure, and a figure in words (its alternative text).

The page draws them as SVG, papers with matplotlib, spreadsheets natively.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from mooring.reports._table import Cell, Plot, PlottedLine, Table
from mooring.wording import join_some, number, printable

PALETTE = (  # the first eight are chosen far apart in OKLab, for full colour vision and for deuteranopia; 3:1 on white
    *("#0072B2", "#D55E00", "#009E73", "#C01890", "#3A12A8", "#5B6B00"),
    *("#780048", "#7C7CF0", "#C08A00", "#5A2D00", "#004A5C", "#767676"),
)
INK = -1  # the colour of text, for lines that belong to no client or experiment
SHORT_NAME = 4

AxisScale = Literal["linear", "log"]
Style = Literal["solid", "dashed", "dotted", "marks"]
PlotValues = tuple[float | None, ...]
Layout = Literal["together", "panels"]


@dataclass(frozen=True)
class Line:
    """One course; `band` is (low, high) around it. Lines of a `family` share one entry of the legend.

    `remarks` are written beside points: (x, y, text).
    """

    name: str
    x: tuple[float, ...]
    y: PlotValues
    colour: int = 0
    style: Style = "solid"
    band: tuple[PlotValues, PlotValues] | None = None
    family: str = ""
    remarks: tuple[tuple[float, float, str], ...] = ()


@dataclass(frozen=True)
class Curves:
    """Lines over rounds, in one chart or as small multiples: a panel per line, with the lines in ink in all of them."""

    slug: str
    title: str
    caption: str
    x_title: str
    y_title: str
    lines: tuple[Line, ...]
    scale: AxisScale = "linear"
    of: str = ""  # the run it shows; empty: all of them
    seeds: tuple[int, ...] = ()  # of the runs it shows; none given: all of the report
    layout: Layout = "together"

    @property
    def panels(self) -> tuple[tuple[Line, ...], ...]:
        """The lines of every chart."""
        if self.layout == "together":
            return (self.lines,)
        ink = tuple(line for line in self.lines if line.colour == INK)
        return tuple((line, *ink) for line in self.lines if line.colour != INK)


@dataclass(frozen=True)
class Heat:
    """A matrix of values, its rows from top to bottom."""

    slug: str
    title: str
    caption: str
    x_title: str
    y_title: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    values: tuple[PlotValues, ...]
    of: str = ""


@dataclass(frozen=True)
class Series:
    """Means of one colour, one per name of the figure, with 95 % intervals; `seeds` are the values behind each."""

    name: str
    values: PlotValues
    intervals: tuple[tuple[float, float] | None, ...] = ()
    colour: int = 0
    seeds: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True)
class Dots:
    """A forest plot: a line per name, with a dot and an interval for every series; shares between 0 and 1."""

    slug: str
    title: str
    caption: str
    y_title: str
    names: tuple[str, ...]
    series: tuple[Series, ...]
    of: str = ""
    colours: tuple[int, ...] = ()  # of each name, where the dots of one series are many things
    level: tuple[str, float] | None = None  # a reference line, such as the majority-class baseline

    def shade(self, series: Series, place: int) -> int:
        return self.colours[place] if self.colours else series.colour


Figure = Curves | Heat | Dots


def colour(index: int, ink: str) -> str:
    return ink if index == INK else PALETTE[index % len(PALETTE)]


def style(repeated: int) -> Style:
    """Lines of one colour differ by their dash."""
    styles: tuple[Style, ...] = ("solid", "dashed", "dotted")
    return styles[repeated % len(styles)]


def lying(names: tuple[str, ...]) -> bool:
    """Names too long to stand beside each other."""
    return max(map(len, names), default=0) > SHORT_NAME


def fitting(lines: tuple[Line, ...]) -> AxisScale:
    """Logarithmic where values span more than a decade."""
    values = [y for line in lines for y in positive(line.y) if y is not None]
    return "log" if values and max(values) > 10 * min(values) else "linear"


def positive(values: PlotValues) -> PlotValues:
    """The positive values, which a logarithmic axis can show."""
    return tuple(value if value is not None and value > 0 else None for value in values)


def in_words(figure: Figure) -> str:
    """The title, the axes, and the values of lines and bars, as alternative text."""
    of = f" of {figure.of}" if figure.of else ""
    return printable(f"{figure.title}{of}. {WORDS[type(figure)](figure)}")


def describe_curves(figure: Curves) -> str:
    courses = [
        line
        for line in figure.lines
        if line.style in ("solid", "dashed") and (not line.family or line.family == line.name)
    ]
    texts = [describe_line(line) for line in courses]
    scale = ", logarithmic" if figure.scale == "log" else ""
    return f"{figure.y_title} over {figure.x_title}{scale}: {join_some([text for text in texts if text])}."


def describe_line(line: Line) -> str:
    known = [(x, y) for x, y in zip(line.x, line.y, strict=True) if y is not None]
    if not known:
        return ""
    (first, begin), (last, end) = known[0], known[-1]
    if first == last:
        return f"{line.name} {number(begin)}"
    return f"{line.name} from {number(begin)} at {first:g} to {number(end)} at {last:g}"


def describe_dots(figure: Dots) -> str:
    texts = []
    for i, name in enumerate(figure.names):
        known = [f"{series.name} {shown}" for series in figure.series if (shown := mean_text(series, i))]
        texts.append(f"{name}: {', '.join(known) or 'nothing'}")
    return f"{figure.y_title}: {join_some(texts, '; ')}."


def mean_text(series: Series, place: int) -> str:
    """`0.567 (95 % interval 0.512 to 0.622)`; empty if there is none."""
    value = series.values[place] if place < len(series.values) else None
    ends = series.intervals[place] if place < len(series.intervals) else None
    around = f" (95 % interval {number(ends[0])} to {number(ends[1])})" if ends else ""
    return "" if value is None else f"{number(value)}{around}"


def describe_heat(figure: Heat) -> str:
    cells = [
        (value, row, column)
        for row, line in zip(figure.y, figure.values, strict=False)
        for column, value in zip(figure.x, line, strict=False)
        if value is not None
    ]
    size = f"a matrix of {len(figure.y)} rows and {len(figure.x)} columns"
    if not cells:
        return f"{size}, empty."
    most, row, column = max(cells)
    where = f"{figure.y_title} {row}".strip(), f"{figure.x_title} {column}".strip()
    return f"{size}; the largest value is {number(float(most))} at {where[0]} and {where[1]}."


WORDS: dict[type, Callable[[Any], str]] = {Curves: describe_curves, Dots: describe_dots, Heat: describe_heat}


STYLES: dict[str, Style] = {"note": "dashed", "measured": "solid"}
CAPTIONS = {"note": "Dashed: as the note prints it; solid: measured.", "measured": ""}


def plotted(table: Table) -> tuple[Curves, ...]:
    return tuple(column_figure(table, plot) for plot in table.plots)


def column_figure(table: Table, plot: Plot) -> Curves:
    flat = table.flat()
    lines = tuple(plotted_line(flat, plot, line) for line in plot.lines)
    caption = " ".join(filter(None, dict.fromkeys([CAPTIONS[line.source] for line in plot.lines] + [table.note])))
    slug = f"{table.slug}-{plot.title.lower().replace(' ', '-')}"
    return Curves(slug, plot.title, caption, "round", plot.y_title, lines, plot.scale, table.of)


def plotted_line(table: Table, plot: Plot, line: PlottedLine) -> Line:
    """A column over another; the note and the measured beside it share a colour."""
    x, y = (column_values(table, name) for name in (line.x, line.y))
    known = [(at, value) for at, value in zip(x, y, strict=True) if at is not None and value is not None]
    values: PlotValues = tuple(value for _, value in known)
    same = [other for other in plot.lines if other.source == line.source]
    shown = positive(values) if plot.scale == "log" else values
    return Line(line.y, tuple(at for at, _ in known), shown, same.index(line), STYLES[line.source])


def column_values(table: Table, name: str) -> list[float | None]:
    place = table.columns.index(name)
    return [numeric(row[place]) for row in table.rows]


def numeric(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None

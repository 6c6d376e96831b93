"""Figures as plain values: the page draws them as SVG, papers with matplotlib, spreadsheets natively."""

from dataclasses import dataclass
from typing import Literal

PALETTE = (  # after Okabe and Ito, all at least 3:1 on white; then colours that can still be distinguished from those
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#4B3FA7", "#2D8FC4"),
    *("#767676", "#882255", "#A97600", "#77771C", "#2A7F7F", "#B5506A"),
)
INK = -1  # the colour of text, for what belongs to nobody
SHORT_NAME = 4

AxisScale = Literal["linear", "log"]
Style = Literal["solid", "dashed", "dotted", "marks"]
PlotValues = tuple[float | None, ...]


@dataclass(frozen=True)
class Line:
    """One course; `band` is (low, high) around it. Lines of a `family` share one entry of the legend."""

    name: str
    x: tuple[float, ...]
    y: PlotValues
    colour: int = 0
    style: Style = "solid"
    band: tuple[PlotValues, PlotValues] | None = None
    family: str = ""


@dataclass(frozen=True)
class Curves:
    """Lines over rounds."""

    slug: str
    title: str
    caption: str
    x_title: str
    y_title: str
    lines: tuple[Line, ...]
    scale: AxisScale = "linear"
    of: str = ""  # the run it shows; empty: all of them
    seeds: tuple[int, ...] = ()  # of the runs it shows; none given: all of the report


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
    """Bars of one colour, one per name of the figure; `dots` are the seeds behind each bar."""

    name: str
    values: PlotValues
    errors: PlotValues = ()
    colour: int = 0
    dots: tuple[tuple[float, ...], ...] = ()

    @property
    def whiskers(self) -> tuple[tuple[float, float] | None, ...]:
        """(low, high) of every bar: a share is never below 0 nor above 1."""
        ends = zip(self.values, self.errors, strict=False)
        return tuple(
            None if value is None or error is None else (max(value - error, 0.0), min(value + error, 1.0))
            for value, error in ends
        )


@dataclass(frozen=True)
class Bars:
    """Groups of bars: shares between 0 and 1."""

    slug: str
    title: str
    caption: str
    y_title: str
    names: tuple[str, ...]
    series: tuple[Series, ...]
    of: str = ""
    colours: tuple[int, ...] = ()  # of each name, where the bars of one series are many things
    level: tuple[str, float] | None = None  # what to compare with, such as guessing

    def shade(self, series: Series, place: int) -> int:
        return self.colours[place] if self.colours else series.colour


Figure = Curves | Heat | Bars


def colour(index: int, ink: str) -> str:
    return ink if index == INK else PALETTE[index % len(PALETTE)]


def style(index: int) -> Style:
    """Beyond twelve lines the colours come again, in another dash."""
    styles: tuple[Style, ...] = ("solid", "dashed", "dotted")
    return styles[index // len(PALETTE) % len(styles)]


def lying(names: tuple[str, ...]) -> bool:
    """Names too long to stand beside each other."""
    return max(map(len, names), default=0) > SHORT_NAME


def fitting(lines: tuple[Line, ...]) -> AxisScale:
    """Logarithmic where values span more than a decade."""
    values = [y for line in lines for y in positive(line.y) if y is not None]
    return "log" if values and max(values) > 10 * min(values) else "linear"


def positive(values: PlotValues) -> PlotValues:
    """What a logarithmic axis can show."""
    return tuple(value if value is not None and value > 0 else None for value in values)

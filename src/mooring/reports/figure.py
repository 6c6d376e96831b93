"""Figures as plain values: the page draws them with plotly, papers with matplotlib, spreadsheets natively."""

from dataclasses import dataclass
from typing import Literal

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C")
INK = -1  # the colour of text, for what belongs to nobody
SHORT_NAME = 4

Scale = Literal["linear", "log"]
Style = Literal["solid", "dashed", "dotted", "marks"]
Values = tuple[float | None, ...]


@dataclass(frozen=True)
class Line:
    """One course; `band` is (low, high) around it. Lines of a `family` share one entry of the legend."""

    name: str
    x: tuple[float, ...]
    y: Values
    colour: int = 0
    style: Style = "solid"
    band: tuple[Values, Values] | None = None
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
    scale: Scale = "linear"
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
    values: tuple[Values, ...]
    of: str = ""


@dataclass(frozen=True)
class Series:
    """Bars of one colour, one per name of the figure."""

    name: str
    values: Values
    errors: Values = ()


@dataclass(frozen=True)
class Bars:
    """Groups of bars."""

    slug: str
    title: str
    caption: str
    y_title: str
    names: tuple[str, ...]
    series: tuple[Series, ...]
    of: str = ""


Figure = Curves | Heat | Bars


def colour(index: int, ink: str) -> str:
    return ink if index == INK else OKABE_ITO[index % len(OKABE_ITO)]


def style(index: int) -> Style:
    """Beyond seven lines the colours come again, in another dash."""
    styles: tuple[Style, ...] = ("solid", "dashed", "dotted")
    return styles[index // len(OKABE_ITO) % len(styles)]


def lying(names: tuple[str, ...]) -> bool:
    """Names too long to stand beside each other."""
    return max(map(len, names), default=0) > SHORT_NAME


def fitting(lines: tuple[Line, ...]) -> Scale:
    """Logarithmic where values span more than a decade."""
    values = [y for line in lines for y in positive(line.y) if y is not None]
    return "log" if values and max(values) > 10 * min(values) else "linear"


def positive(values: Values) -> Values:
    """What a logarithmic axis can show."""
    return tuple(value if value is not None and value > 0 else None for value in values)

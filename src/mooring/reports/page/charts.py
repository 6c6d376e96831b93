"""Figures as JSON for the page's own drawing; colours are numbers, to which the style sheet gives a shade."""

from collections.abc import Callable
from math import isfinite
from typing import Any

from mooring.cells import printable
from mooring.reports.figure import Bars, Curves, Figure, Heat, Line, PlotValues, lying

Json = dict[str, Any]


def chart(figure: Figure) -> Json:
    return CHARTS[type(figure)](figure)


def curves(figure: Curves) -> Json:
    """`xs` holds every row of rounds once: the lines of one figure mostly share theirs."""
    xs = list(dict.fromkeys(line.x for line in figure.lines))
    return {
        "kind": "curves",
        "x": printable(figure.x_title),
        "y": printable(figure.y_title),
        "log": figure.scale == "log",
        "xs": [short(x) for x in xs],
        "lines": [course(line, xs.index(line.x)) for line in figure.lines],
    }


def course(line: Line, at: int) -> Json:
    drawn: Json = {
        "name": printable(line.name),
        "entry": printable(line.family or line.name),
        "colour": line.colour,
        "style": line.style,
        "at": at,
        "y": short(line.y),
    }
    if line.band is not None:
        drawn["band"] = [short(side) for side in line.band]
    return drawn


def heat(figure: Heat) -> Json:
    return {
        "kind": "heat",
        "x": printable(figure.x_title),
        "y": printable(figure.y_title),
        "columns": list(map(printable, figure.x)),
        "rows": list(map(printable, figure.y)),
        "values": [short(row) for row in figure.values],
        "whole": all(isinstance(value, int) for row in figure.values for value in row if value is not None),
    }


def bars(figure: Bars) -> Json:
    series = [
        {
            "name": printable(told.name),
            "colour": told.colour,
            "values": short(told.values),
            "whiskers": [whisker and short(whisker) for whisker in told.whiskers],
            "dots": [short(dots) for dots in told.dots],
        }
        for told in figure.series
    ]
    drawn: Json = {
        "kind": "bars",
        "value": printable(figure.y_title),
        "names": list(map(printable, figure.names)),
        "flat": lying(figure.names),
        "series": series,
        "colours": list(figure.colours),
    }
    if figure.level is not None:
        drawn["level"] = [printable(figure.level[0]), figure.level[1]]
    return drawn


CHARTS: dict[type, Callable[[Any], Json]] = {Curves: curves, Heat: heat, Bars: bars}


def short(values: PlotValues | tuple[float, ...]) -> list[float | int | None]:
    """Five digits: more cannot be seen, and the file is mailed; what is no number is not drawn."""
    return [None if value is None or not isfinite(value) else trimmed(float(f"{value:.5g}")) for value in values]


def trimmed(value: float) -> float | int:
    """12.0 as 12"""
    return int(value) if value == int(value) and abs(value) < 1e15 else value

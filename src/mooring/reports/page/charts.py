"""Figures as JSON for the page's own drawing; colours are numbers, to which the style sheet gives a shade."""

from collections.abc import Callable
from math import isfinite
from typing import Any

from mooring.reports.figure import Bars, Curves, Figure, Heat, Line, PlotValues, lying
from mooring.wording import printable

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


def bars_json(figure: Bars) -> Json:
    series = [
        {
            "name": printable(one.name),
            "colour": one.colour,
            "values": chart_values(one.values),
            "whiskers": [whisker and chart_values(whisker) for whisker in one.whiskers],
            "dots": [chart_values(dots) for dots in one.dots],
        }
        for one in figure.series
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


CHARTS: dict[type, Callable[[Any], Json]] = {Curves: curves_json, Heat: heat_json, Bars: bars_json}


def chart_values(values: PlotValues | tuple[float, ...]) -> list[float | int | None]:
    """Five digits: more cannot be seen, and the file is mailed; what is no number is not drawn."""
    return [None if value is None or not isfinite(value) else trimmed(float(f"{value:.5g}")) for value in values]


def trimmed(value: float) -> float | int:
    """12.0 as 12"""
    return int(value) if value == int(value) and abs(value) < 1e15 else value

"""A figure in words, for whoever cannot see it."""

from collections.abc import Callable
from typing import Any

from mooring.reports.figure import Bars, Curves, Figure, Heat, Line
from mooring.wording import join_some, number, printable


def in_words(figure: Figure) -> str:
    """Title, what is drawn over what, and where every line or bar stands."""
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


def describe_bars(figure: Bars) -> str:
    texts = []
    for i, name in enumerate(figure.names):
        values = [(series.name, series.values[i]) for series in figure.series if i < len(series.values)]
        known = [f"{who} {number(value)}" for who, value in values if value is not None]
        texts.append(f"{name}: {', '.join(known) or 'nothing'}")
    return f"{figure.y_title} by bars: {join_some(texts, '; ')}."


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


WORDS: dict[type, Callable[[Any], str]] = {Curves: describe_curves, Bars: describe_bars, Heat: describe_heat}

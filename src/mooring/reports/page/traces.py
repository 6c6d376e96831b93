"""Figures as plotly's JSON. Colours that depend on the theme are named (`@ink`) and filled in by the page."""

from collections.abc import Callable
from math import ceil, floor, log10
from typing import Any

from mooring.reports.figure import Bars, Curves, Figure, Heat, Line, Values, colour, lying

DASHES = {"solid": "solid", "dashed": "dash", "dotted": "dot", "marks": "solid"}
FEW_POINTS = 30
FEW_CELLS = 26  # columns that still have room for a number
INK = "@ink"

Json = dict[str, Any]


def plotly(figure: Figure) -> Json:
    """`data` and `layout`, the way Plotly.newPlot takes them."""
    return DRAW[type(figure)](figure)


def curves(figure: Curves) -> Json:
    data: list[Json] = []
    listed: set[str] = set()
    for line in figure.lines:
        entry = line.family or line.name
        if line.band is not None:
            data += band(line)
        data.append(trace(line, entry, entry not in listed))
        listed.add(entry)
    rounds = sorted({x for line in figure.lines for x in line.x})
    step = max(1, ceil((rounds[-1] - rounds[0]) / 10)) if rounds else 1
    x = {"title": {"text": figure.x_title}, "tickformat": "d", "dtick": step, "zeroline": False}
    y: Json = {"title": {"text": figure.y_title, "standoff": 10}, "type": figure.scale, "zeroline": False}
    if figure.scale == "log":
        y |= {"exponentformat": "power", "minor": {"showgrid": False}} | log_ticks(figure)
    return {"data": data, "layout": {"xaxis": x, "yaxis": y}}


def log_ticks(figure: Curves) -> Json:
    """A tick per decade, fewer over many decades; over less than two, written out at 1, 2 and 5."""
    values = [y for line in figure.lines for y in line.y if y is not None and y > 0]
    if not values:
        return {}
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    if max(values) > 100 * min(values):
        return {"dtick": max(1, ceil((high - low) / 7))}
    ticks = [float(f"{digit}e{decade}") for decade in range(low, high + 1) for digit in (1, 2, 5)]
    return {"tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}


def trace(line: Line, entry: str, listed: bool) -> Json:
    shade = colour(line.colour, INK)
    drawn: Json = {
        "type": "scatter",
        "name": plain(entry),
        "x": short(line.x),
        "y": short(line.y),
        "legendgroup": plain(entry),
        "showlegend": listed,
        "mode": "lines+markers" if len(line.x) <= FEW_POINTS else "lines",
        "line": {"color": shade, "width": 2, "dash": DASHES[line.style]},
        "marker": {"color": shade, "size": 5},
        "hovertemplate": f"{plain(line.name)}<br>round %{{x}}: %{{y:.4g}}<extra></extra>",
    }
    if line.style in ("dashed", "dotted"):
        drawn |= {"mode": "lines" if len(line.x) > 1 else "markers", "line": drawn["line"] | {"width": 1.5}}
    if line.style == "marks":
        marker = {"symbol": "diamond-open", "size": 12, "color": shade, "line": {"width": 2}}
        drawn |= {"mode": "markers", "marker": marker}
    return drawn


def band(line: Line) -> list[Json]:
    """Two invisible lines and what lies between them."""
    low, high = line.band or ((), ())
    entry = line.family or line.name
    shared: Json = {
        "type": "scatter",
        "mode": "lines",
        "x": short(line.x),
        "legendgroup": plain(entry),
        "showlegend": False,
        "hoverinfo": "skip",
        "line": {"width": 0, "color": colour(line.colour, INK)},
    }
    fill = {"fill": "tonexty", "fillcolor": faint(colour(line.colour, "#888888"))}
    return [shared | {"y": short(low)}, shared | {"y": short(high)} | fill]


def heat(figure: Heat) -> Json:
    texts = [[cell_text(value) for value in row] for row in figure.values]
    data: Json = {
        "type": "heatmap",
        "x": list(map(plain, figure.x)),
        "y": list(map(plain, figure.y)),
        "z": [short(row) for row in figure.values],
        "colorscale": [[0, "@soft"], [1, "@accent"]],
        "showscale": False,
        "zmin": 0,  # a share of .20 beside one of .21 must not look like nothing beside all
        "zmax": max((value or 0 for row in figure.values for value in row), default=0) or 1,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": f"{plain(figure.y_title)} %{{y}}, {plain(figure.x_title)} %{{x}}: %{{z:.4g}}<extra></extra>",
    }
    if len(figure.x) <= FEW_CELLS:
        data |= {"text": texts, "texttemplate": "%{text}", "textfont": {"size": 10}}
    axis = {"type": "category", "showgrid": False, "automargin": True}
    layout = {
        "xaxis": axis | {"title": {"text": plain(figure.x_title)}},
        "yaxis": axis | {"title": {"text": plain(figure.y_title)}, "autorange": "reversed"},
        "height": 130 + 26 * max(len(figure.y), 4),
    }
    return {"data": [data], "layout": layout}


def bars(figure: Bars) -> Json:
    """Upright where names are short, lying where they are not."""
    flat = lying(figure.names)
    along, across = ("y", "x") if flat else ("x", "y")
    data = [
        {
            "type": "bar",
            "name": plain(series.name),
            along: list(map(plain, figure.names)),
            across: short(series.values),
            "orientation": "h" if flat else "v",
            "marker": {"color": colour(i, INK)},
            f"error_{across}": whiskers(series.errors),
            "showlegend": len(figure.series) > 1,
            "hovertemplate": f"{plain(series.name)}, %{{{along}}}: %{{{across}:.3f}}<extra></extra>",
        }
        for i, series in enumerate(figure.series)
    ]
    names: Json = {"type": "category", "automargin": True, "showgrid": False}
    values: Json = {"title": {"text": figure.y_title}, "rangemode": "tozero", "zeroline": False}
    layout: Json = {f"{along}axis": names, f"{across}axis": values, "bargap": 0.3}
    if flat:
        names["autorange"] = "reversed"
        layout["height"] = 120 + len(figure.names) * max(26, 14 * len(figure.series))
    return {"data": data, "layout": layout}


def whiskers(errors: Values) -> Json:
    if not any(error is not None for error in errors):
        return {"visible": False}
    return {"type": "data", "array": short(errors), "thickness": 1.2, "width": 3, "color": INK}


DRAW: dict[type, Callable[[Any], Json]] = {Curves: curves, Heat: heat, Bars: bars}


def short(values: Values | tuple[float, ...]) -> list[float | None]:
    """Five digits: more cannot be seen, and the file is mailed."""
    return [None if value is None else float(f"{value:.5g}") for value in values]


def cell_text(value: float | None) -> str:
    """Counts as they are, shares as .25; nothing for nothing."""
    if not value:
        return ""
    return str(value) if isinstance(value, int) else f"{value:.2f}".removeprefix("0")


def plain(text: str) -> str:
    """Plotly reads a little HTML in names; a name is never meant as such."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def faint(shade: str) -> str:
    red, green, blue = (int(shade[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.16)"

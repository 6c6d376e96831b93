"""Figures for a paper, as wide as a column, by matplotlib, in colours that colour-blind readers can tell apart."""

import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from mooring.errors import needed
from mooring.record import write_atomically
from mooring.reports._figure import Bars, Curves, Figure, Heat, Line, colour, lying
from mooring.reports._section import Report

INK = "#1b1f24"
KINDS = ("pdf", "svg", "png")
COLUMN = 3.35  # inches, of a page with two columns
LONGEST_NAME = 28
MOST_NAMES = 20  # on an axis
MOST_ROWS = 40  # of a matrix that have a name and room for it
WORD, LINE = 0.055, 0.135  # inches of a character and of a line in the legend
DASHES = {"solid": "-", "dashed": "--", "dotted": ":", "marks": "none"}
STYLE: dict[str, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dfe2e5",
    "grid.linewidth": 0.5,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "svg.hashsalt": "mooring",
    "pdf.fonttype": 42,  # text stays text in the editor of a publisher
    "savefig.dpi": 300,
}


def write_figures(report: Report, out: Path) -> None:
    write_as(report, out, KINDS)


def write_pdfs(report: Report, out: Path) -> None:
    write_as(report, out, ("pdf",))


def write_as(report: Report, out: Path, kinds: Sequence[str]) -> None:
    with needed("matplotlib", "report").rc_context(STYLE):
        for figure in report.drawn:
            drawn = draw(figure)
            for kind in kinds:
                data = BytesIO()
                drawn.savefig(data, format=kind, metadata=DATELESS[kind])
                write_atomically(out / f"{file_name(figure)}.{kind}", data.getvalue())


DATELESS: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def file_name(figure: Figure) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", f"{figure.slug} {figure.of}".lower()).strip("-.")


def draw(figure: Figure) -> Any:
    return DRAW[type(figure)](figure)


def canvas(height: float, legend: Sequence[str] = ()) -> tuple[Any, Any]:
    """As wide as a column; higher by the lines of its legend."""
    extra = LINE * -(-len(legend) // across(legend)) if len(legend) > 1 else 0.0
    figures = needed("matplotlib.figure", "report")
    drawn = figures.Figure(figsize=(COLUMN, height + extra), layout="constrained")
    return drawn, drawn.add_subplot()


def across(legend: Sequence[str]) -> int:
    """How many entries of a legend stand beside each other."""
    widest = max((len(entry) for entry in legend), default=1)
    return max(1, min(len(legend), int(COLUMN / (WORD * widest + 0.45))))


def add_legend(drawn: Any, legend: Sequence[str]) -> None:
    if len(legend) > 1:
        drawn.legend(loc="outside upper left", ncols=across(legend), handlelength=1.6, columnspacing=1.0)


def draw_curves(figure: Curves) -> Any:
    entries = list(dict.fromkeys(line.family or line.name for line in figure.lines))
    drawn, axes = canvas(2.1, entries)
    named: set[str] = set()
    for line in figure.lines:
        entry = line.family or line.name
        draw_line(axes, line, "_nolegend_" if entry in named else entry)
        named.add(entry)
    axes.set_xlabel(figure.x_title)
    axes.set_ylabel(figure.y_title)
    axes.set_yscale(figure.scale)
    axes.xaxis.get_major_locator().set_params(integer=True)
    add_legend(drawn, entries)
    return drawn


def draw_line(axes: Any, line: Line, label: str) -> None:
    y = [float("nan") if value is None else value for value in line.y]
    shade = colour(line.colour, INK)
    marker = "D" if line.style == "marks" else "o" if line.style == "solid" and len(line.x) <= 30 else None
    face = "none" if line.style == "marks" else shade
    size = 5.0 if line.style == "marks" else 2.2
    look = {"linestyle": DASHES[line.style], "linewidth": 1.0, "marker": marker, "markersize": size, "mfc": face}
    axes.plot(line.x, y, color=shade, label=label, **look)
    if line.band is not None:
        low, high = ([float("nan") if value is None else value for value in side] for side in line.band)
        axes.fill_between(line.x, low, high, color=shade, alpha=0.15, linewidth=0)


def draw_heat(figure: Heat) -> Any:
    drawn, axes = canvas(0.75 + 0.16 * min(max(len(figure.y), 4), MOST_ROWS))
    values = [[float("nan") if value is None else value for value in row] for row in figure.values]
    known = [value for row in figure.values for value in row if value is not None]
    shares = all(isinstance(value, float) and value <= 1 for value in known)
    full = 1.0 if shares else None  # a share of .5 has the same colour in every figure
    image = axes.imshow(values or [[float("nan")]], cmap="Blues", aspect="auto", vmin=0, vmax=full)
    axes.grid(False)
    tilt = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if lying(figure.x) else {}
    each = 1 + len(figure.x) // MOST_NAMES
    axes.set_xticks(range(0, len(figure.x), each), list(map(shortened, figure.x[::each])), **tilt)
    some = 1 + (len(figure.y) - 1) // MOST_ROWS
    axes.set_yticks(range(0, len(figure.y), some), list(map(shortened, figure.y[::some])))
    axes.set_xlabel(figure.x_title)
    axes.set_ylabel(figure.y_title)
    drawn.colorbar(image, ax=axes, pad=0.02)
    return drawn


def draw_bars(figure: Bars) -> Any:
    """Lying, so that names can be read; whiskers end at 0 and 1, a dot is a seed."""
    many = max(len(figure.series), 1)
    legend = [series.name for series in figure.series]
    drawn, axes = canvas(0.6 + 0.14 * len(figure.names) * max(many, 1.3), legend)
    thick = 0.8 / many
    for i, series in enumerate(figure.series):
        places = [place + (i - (many - 1) / 2) * thick for place in range(len(figure.names))]
        shades = [colour(figure.shade(series, place), INK) for place in range(len(figure.names))]
        axes.barh(places, [value or 0.0 for value in series.values], thick * 0.9, color=shades, label=series.name)
        for place, ends in zip(places, series.whiskers, strict=False):
            if ends is not None:
                axes.plot(ends, (place, place), color=INK, linewidth=0.8, marker="|", markersize=3)
        for place, dots in zip(places, series.dots, strict=False):
            if len(dots) > 1:
                axes.plot(dots, [place] * len(dots), "o", color="white", mec=INK, mew=0.5, markersize=2.4)
    if figure.level is not None:
        axes.axvline(figure.level[1], color=INK, linewidth=0.7, linestyle=":")
    axes.set_yticks(range(len(figure.names)), list(map(shortened, figure.names)))
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(figure.y_title)
    axes.grid(axis="y", visible=False)
    add_legend(drawn, legend)
    return drawn


def shortened(name: str) -> str:
    """Beginning and end: what sets names apart is often there."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}"


DRAW: dict[type, Any] = {Curves: draw_curves, Heat: draw_heat, Bars: draw_bars}

"""Figures for a paper: PDF, SVG and PNG of each, by matplotlib, in colours that colour-blind readers can tell apart."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

from mooring.errors import needed
from mooring.record import write_atomically
from mooring.reports.figure import Bars, Curves, Figure, Heat, Line, colour, lying
from mooring.reports.section import Report

INK = "#1b1f24"
KINDS = ("pdf", "svg", "png")
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
    with needed("matplotlib", "report").rc_context(STYLE):
        for figure in report.drawn:
            drawn = draw(figure)
            for kind in KINDS:
                data = BytesIO()
                drawn.savefig(data, format=kind, bbox_inches="tight", metadata=DATELESS[kind])
                write_atomically(out / f"{file_name(figure)}.{kind}", data.getvalue())


DATELESS: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def file_name(figure: Figure) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", f"{figure.slug} {figure.of}".lower()).strip("-.")


def draw(figure: Figure) -> Any:
    return DRAW[type(figure)](figure)


def canvas(width: float, height: float) -> tuple[Any, Any]:
    drawn = needed("matplotlib.figure", "report").Figure(figsize=(width, height))
    return drawn, drawn.add_subplot()


def curves(figure: Curves) -> Any:
    drawn, axes = canvas(4.2, 2.6)
    listed: set[str] = set()
    for line in figure.lines:
        entry = line.family or line.name
        course(axes, line, "_nolegend_" if entry in listed else entry)
        listed.add(entry)
    axes.set_xlabel(figure.x_title)
    axes.set_ylabel(figure.y_title)
    axes.set_yscale(figure.scale)
    axes.xaxis.get_major_locator().set_params(integer=True)
    if len(listed) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), ncols=1 + len(listed) // 14)
    return drawn


def course(axes: Any, line: Line, label: str) -> None:
    y = [float("nan") if value is None else value for value in line.y]
    shade = colour(line.colour, INK)
    marker = "D" if line.style == "marks" else "o" if line.style == "solid" and len(line.x) <= 30 else None
    face = "none" if line.style == "marks" else shade
    size = 6.0 if line.style == "marks" else 2.5
    look = {"linestyle": DASHES[line.style], "linewidth": 1.2, "marker": marker, "markersize": size, "mfc": face}
    axes.plot(line.x, y, color=shade, label=label, **look)
    if line.band is not None:
        low, high = ([float("nan") if value is None else value for value in side] for side in line.band)
        axes.fill_between(line.x, low, high, color=shade, alpha=0.15, linewidth=0)


def heat(figure: Heat) -> Any:
    drawn, axes = canvas(0.8 + 0.34 * max(len(figure.x), 6), 0.7 + 0.28 * max(len(figure.y), 4))
    values = [[float("nan") if value is None else value for value in row] for row in figure.values]
    image = axes.imshow(values or [[float("nan")]], cmap="Blues", aspect="auto", vmin=0)
    axes.grid(False)
    tilt = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if lying(figure.x) else {}
    axes.set_xticks(range(len(figure.x)), figure.x, **tilt)
    axes.set_yticks(range(len(figure.y)), figure.y)
    axes.set_xlabel(figure.x_title)
    axes.set_ylabel(figure.y_title)
    drawn.colorbar(image, ax=axes, pad=0.02)
    return drawn


def bars(figure: Bars) -> Any:
    """Lying, so that names can be read."""
    drawn, axes = canvas(4.2, 0.7 + 0.2 * len(figure.names) * max(len(figure.series), 1))
    thick = 0.8 / max(len(figure.series), 1)
    for i, series in enumerate(figure.series):
        places = [place + (i - (len(figure.series) - 1) / 2) * thick for place in range(len(figure.names))]
        values = [value or 0.0 for value in series.values]
        errors = [value or 0.0 for value in series.errors] if any(series.errors) else None
        axes.barh(places, values, thick, xerr=errors, color=colour(i, INK), ecolor=INK, label=series.name)
    axes.set_yticks(range(len(figure.names)), figure.names)
    axes.invert_yaxis()
    axes.set_xlabel(figure.y_title)
    axes.grid(axis="y", visible=False)
    if len(figure.series) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
    return drawn


DRAW: dict[type, Any] = {Curves: curves, Heat: heat, Bars: bars}

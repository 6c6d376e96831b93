"""Figures for a paper, as wide as a column, by matplotlib, in colours that colour-blind readers can tell apart."""

import re
from collections.abc import Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from mooring.errors import needed
from mooring.record import write_atomically
from mooring.reports._figure import Curves, Dots, Figure, Heat, Line, colour, in_words, lying
from mooring.reports._section import Report

INK = "#1b1f24"
KINDS = ("pdf", "svg", "png")
COLUMN = 3.35  # inches, of a page with two columns
LONGEST_NAME = 28
MOST_NAMES = 20  # on an axis
PANELS_BESIDE = 4  # small multiples in a row
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
    for figure in report.drawn:
        for kind, content in drawn_as(figure, kinds).items():
            write_atomically(out / f"{file_name(figure)}.{kind}", content)


def drawn_as(figure: Figure, kinds: Sequence[str]) -> dict[str, bytes]:
    """kind -> the bytes of its file; an SVG has a role and a title for readers who do not see it."""
    found = {}
    with needed("matplotlib", "report").rc_context(STYLE):
        drawn = draw(figure)
        for kind in kinds:
            data = BytesIO()
            drawn.savefig(data, format=kind, metadata=DATELESS[kind])
            found[kind] = data.getvalue()
    if "svg" in found:
        head, tag, rest = found["svg"].partition(b"<svg ")
        inside, end, rest = rest.partition(b">")
        title = f"\n <title>{escape(in_words(figure))}</title>".encode()
        found["svg"] = head + tag + b'role="img" ' + inside + end + title + rest
    return found


DATELESS: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def file_name(figure: Figure) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", f"{figure.slug} {figure.of}".lower()).strip("-.")


def draw(figure: Figure) -> Any:
    return DRAW[type(figure)](figure)


def canvas(height: float, legend: Sequence[str] = ()) -> tuple[Any, Any]:
    """As wide as a column; higher by the lines of its legend."""
    extra = LINE * -(-len(legend) // across(legend)) if len(legend) > 1 else 0.0
    drawn = blank(COLUMN, height + extra)
    return drawn, drawn.add_subplot()


def blank(width: float, height: float) -> Any:
    return needed("matplotlib.figure", "report").Figure(figsize=(width, height), layout="constrained")


def across(legend: Sequence[str]) -> int:
    """How many entries of a legend stand beside each other."""
    widest = max((len(entry) for entry in legend), default=1)
    return max(1, min(len(legend), int(COLUMN / (WORD * widest + 0.45))))


def add_legend(drawn: Any, legend: Sequence[str]) -> None:
    if len(legend) > 1:
        drawn.legend(loc="outside upper left", ncols=across(legend), handlelength=1.6, columnspacing=1.0)


def draw_curves(figure: Curves) -> Any:
    if figure.layout == "panels":
        return draw_panels(figure)
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


def draw_panels(figure: Curves) -> Any:
    """Small multiples with the same axes, one line each; the others are pale."""
    panels = figure.panels
    beside = min(PANELS_BESIDE, len(panels))
    drawn = blank(COLUMN if beside == 1 else 2 * COLUMN, 0.3 + 1.25 * -(-len(panels) // beside))
    grid = list(drawn.subplots(-(-len(panels) // beside), beside, sharex=True, sharey=True, squeeze=False).flat)
    for axes, panel in zip(grid, panels, strict=False):
        for other in figure.lines:
            axes.plot(other.x, known_or_gap(other.y), color="#b8bec4", linewidth=0.5, zorder=1)
        for line in panel:
            draw_line(axes, line, "_nolegend_")
        axes.set_title(shortened(panel[0].name), fontsize=7.5, color=colour(panel[0].colour, INK), loc="left", pad=2)
        axes.set_yscale(figure.scale)
        axes.xaxis.get_major_locator().set_params(integer=True)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes in grid[max(len(panels) - beside, 0) : len(panels)]:  # the last of each column
        axes.tick_params(labelbottom=True)
    drawn.supxlabel(figure.x_title, fontsize=8)
    drawn.supylabel(figure.y_title, fontsize=8)
    return drawn


def known_or_gap(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def draw_line(axes: Any, line: Line, label: str) -> None:
    y = known_or_gap(line.y)
    shade = colour(line.colour, INK)
    marker = "D" if line.style == "marks" else "o" if line.style == "solid" and len(line.x) <= 30 else None
    face = "none" if line.style == "marks" else shade
    size = 5.0 if line.style == "marks" else 2.2
    look = {"linestyle": DASHES[line.style], "linewidth": 1.0, "marker": marker, "markersize": size, "mfc": face}
    axes.plot(line.x, y, color=shade, label=label, **look)
    if line.band is not None:
        low, high = map(known_or_gap, line.band)
        axes.fill_between(line.x, low, high, color=shade, alpha=0.15, linewidth=0)
    for x, value, text in line.remarks:
        right = x >= (line.x[0] + line.x[-1]) / 2
        look = {"ha": "right" if right else "left", "va": "bottom", "fontsize": 6, "color": shade}
        axes.annotate(text, (x, value), xytext=(0, 2.5), textcoords="offset points", annotation_clip=False, **look)


def draw_heat(figure: Heat) -> Any:
    drawn, axes = canvas(0.75 + 0.16 * min(max(len(figure.y), 4), MOST_ROWS))
    values = [known_or_gap(row) for row in figure.values]
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


def draw_dots(figure: Dots) -> Any:
    """A forest plot: dots with 95 % intervals, a ring for every seed."""
    many = max(len(figure.series), 1)
    legend = [series.name for series in figure.series]
    drawn, axes = canvas(0.6 + 0.14 * len(figure.names) * max(many, 1.3), legend)
    apart = 0.8 / many
    for i, series in enumerate(figure.series):
        for place, value in enumerate(series.values):
            if value is None:
                continue
            at, shade = place + (i - (many - 1) / 2) * apart, colour(figure.shade(series, place), INK)
            ends = series.intervals[place] if place < len(series.intervals) else None
            if ends is not None:
                axes.plot(ends, (at, at), color=shade, linewidth=1.0, marker="|", markersize=4)
            seeds = series.seeds[place] if place < len(series.seeds) else ()
            if len(seeds) > 1:
                axes.plot(seeds, [at] * len(seeds), "o", mfc="none", mec=shade, mew=0.5, markersize=2.4)
            axes.plot(value, at, "o", color=shade, markersize=3.6, label=series.name if place == 0 else "_nolegend_")
    if figure.level is not None:
        axes.axvline(figure.level[1], color=INK, linewidth=0.7, linestyle=":")
    axes.set_yticks(range(len(figure.names)), list(map(shortened, figure.names)))
    axes.set_ylim(len(figure.names) - 0.5, -0.5)
    axes.set_xlabel(figure.y_title)
    axes.grid(axis="y", visible=False)
    add_legend(drawn, legend)
    return drawn


def shortened(name: str) -> str:
    """Beginning and end: what sets names apart is often there."""
    half = LONGEST_NAME // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half:]}"


DRAW: dict[type, Any] = {Curves: draw_curves, Heat: draw_heat, Dots: draw_dots}

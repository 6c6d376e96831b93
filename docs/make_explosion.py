"""Draw the explosion of note 5 on real SVHN: `python docs/make_explosion.py studies-out/5-cpu`.

The folder is that of a finished `mooring study 5 scale=cpu data.root=DIR`. The picture, docs/explosion.svg, has a
column for every seed: raw lambda and prototype norm of every client, the accuracy of every client and of the fused
predictor. Accuracy under familiarity is drawn for the rounds that were fused so
(`mooring fuse RUN --fusion familiarity --round R`). The same runs give the same bytes. Needs matplotlib.
"""

import sys
from pathlib import Path

import matplotlib as mpl
from make_methods import CLIENTS, INK, PAPER, STYLE
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

from mooring.notes import PrintedTable, StudyRecord, read_study
from mooring.record import RunFolder
from mooring.reports import Cell

PICTURE = Path(__file__).parent / "explosion.svg"
COURSE = "V12 every round seed {}"  # as studies/5-explosions.yaml names them
LAMBDA, NORM, FUSED, ALONE = "raw lambda, client {}", "prototype norm, client {}", "accuracy", "accuracy, client {}"
TRAINED = "explosion/runs/v12-feature-ensemble-seed{}"  # the folder of the training, below that of the study
FAMILIARITY = "#b8860b"
NORMS = (1, 2, 4, 8)  # marks of the axis


def draw(study: StudyRecord, folder: Path | None = None) -> Figure:
    """A column per seed: lambda, norms of prototypes, accuracy."""
    named = {course.name: course for course in study.courses}
    courses = [named[COURSE.format(seed)] for seed in study.seeds]
    figure = Figure(figsize=(8.2, 5.6), facecolor=PAPER)
    panels = figure.subplots(3, len(courses), sharex=True, sharey="row", squeeze=False)
    for course, seed, (upper, middle, lower) in zip(courses, study.seeds, zip(*panels, strict=True), strict=True):
        draw_clients(upper, course, LAMBDA)
        draw_clients(middle, course, NORM)
        middle.yaxis.set_major_locator(FixedLocator(NORMS))
        middle.yaxis.set_major_formatter("{x:g}")
        draw_accuracy(lower, course, {} if folder is None else familiar(folder / TRAINED.format(seed)))
        upper.set_title(f"seed {seed}")
        lower.set_xlabel("round")
        lower.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
    panels[0][0].set_ylabel("raw lambda")
    panels[1][0].set_ylabel("prototype norm")
    panels[2][0].set_ylabel("test accuracy")
    figure.subplots_adjust(left=0.075, right=0.83, top=0.945, bottom=0.13, wspace=0.1, hspace=0.14)
    keys = [Line2D([], [], color=INK, lw=2.4, label="fused as published")]
    keys += [Line2D([], [], color=FAMILIARITY, lw=2.4, ls="--", label="fused by familiarity")] if folder else []
    count = max(clients(course) for course in courses)
    keys += [Line2D([], [], color=CLIENTS[k % len(CLIENTS)], lw=1.3, label=f"client {k}") for k in range(count)]
    figure.legend(
        handles=keys, loc="upper left", bbox_to_anchor=(0.832, 0.96), fontsize=7, frameon=False, handlelength=1.6
    )
    figure.text(0.012, 0.028, footer(study), size=7, color=INK)
    return figure


def draw_clients(axes: Axes, course: PrintedTable, column: str) -> None:
    """One line per client, on a logarithmic axis."""
    for client in range(clients(course)):
        axes.plot(*points(course, column.format(client)), color=CLIENTS[client % len(CLIENTS)], lw=1.3)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=9))
    axes.yaxis.set_minor_locator(FixedLocator([]))


def draw_accuracy(axes: Axes, course: PrintedTable, familiar: dict[int, float]) -> None:
    for client in range(clients(course)):
        axes.plot(*points(course, ALONE.format(client)), color=CLIENTS[client % len(CLIENTS)], lw=0.9)
    axes.plot(list(familiar), list(familiar.values()), color=FAMILIARITY, lw=2.4, ls="--")
    axes.plot(*points(course, FUSED), color=INK, lw=2.4)


def familiar(training: Path) -> dict[int, float]:
    """Accuracy under familiarity by round, where the uploads were fused so."""
    rows = [row for row in RunFolder(training).fusions if row.fusion == "familiarity"]
    return {row.round: row.accuracy for row in sorted(rows, key=lambda row: row.round)}


def points(course: PrintedTable, column: str) -> tuple[list[float], list[float]]:
    """Round and value, where there is one: accuracies are measured in some rounds only."""
    if column not in course.columns:
        return [], []
    place = course.columns.index(column)
    known = [(number(row[0]), number(row[place])) for row in course.rows if row[place] is not None]
    return [round_ for round_, _ in known], [value for _, value in known]


def number(cell: Cell) -> float:
    if not isinstance(cell, int | float):
        raise TypeError(f"{cell!r} is no number")
    return float(cell)


def clients(course: PrintedTable) -> int:
    return sum(column == LAMBDA.format(k) for k in range(len(course.columns)) for column in course.columns)


def footer(study: StudyRecord) -> str:
    seeds = f"seed{'s' * (len(study.seeds) > 1)} {', '.join(map(str, study.seeds))}"
    command = f"mooring study {study.study} scale={study.scale}"
    return f"V12, published fusion  |  {study.ran}  |  n = {len(study.seeds)}, {seeds}  |  {command}"


def main(folder: Path) -> None:
    study = read_study(folder)
    with mpl.rc_context(STYLE):
        draw(study, folder).savefig(PICTURE, metadata={"Date": None, "Creator": "docs/make_explosion.py"})
    print(footer(study))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

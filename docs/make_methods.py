"""Measure methods on the digits and draw their pictures: `python docs/make_methods.py [NAME ...]`, by default all.

Each method trains on the digits with seed 1 into runs/methods/<name>; a finished run is not repeated. Fingerprint and
accuracy go to docs/methods/digits.csv. The methods in PICTURES get docs/methods/img/<name>.svg, the same to the byte
for the same run. Needs matplotlib.
"""

import csv
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator

from mooring import METHODS, load, run_experiment
from mooring.errors import StoreError
from mooring.methods import BASELINES, MOORING, STATISTICS, TRAINED_AND_SUMS
from mooring.record import Result

SEED = 1
IMAGES = Path(__file__).parent / "methods" / "img"
TABLE = IMAGES.parent / "digits.csv"
COLUMNS = ("method", "fingerprint", "accuracy")
PICTURES = (  # those that show a mechanism
    "v4", "v6", "adaptive-uncertainty", "v7", "v10", "v10-remedied", "v11-linear", "v12", "v12-gamma", "v13",
    "v14-november", "log-prior", "log-prior-bound", "closed-form", "hypergradient", "uw-so",
)  # fmt: skip
CLIENTS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")  # Okabe and Ito
INK, PAPER, RULE = "#1b1f24", "#fcfcfa", "#d8d8d2"  # its own paper: readable on a white and on a dark page
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "mooring",
    "svg.fonttype": "none",  # text stays text: smaller, and readable for a screen reader
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.labelsize": 8,
    "axes.facecolor": PAPER,
    "axes.edgecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
}


def settings(name: str) -> list[str]:
    """As users write them; baselines are fused after the last round only."""
    last = ["training.snapshots=last"] if name in {**MOORING, **TRAINED_AND_SUMS, **BASELINES, **STATISTICS} else []
    return [f"method={name}", f"seed={SEED}", *last]


def result_of(name: str) -> Result:
    """The run of this very experiment; one of an older configuration is replaced."""
    [experiment] = load(overrides=[*settings(name), f"out=runs/methods/{name}"])
    try:
        return run_experiment(experiment)
    except StoreError:
        return run_experiment(experiment, again=True)


def course(result: Result, client: int, value: str) -> list[float]:
    """A client's value after every round; NaN, which leaves a gap, where there is none, or no such client any more."""
    rows = [{row.client: getattr(row, value) for row in snapshot.clients} for snapshot in result.rounds]
    return [float("nan") if found is None else found for found in (row.get(client) for row in rows)]


def draw(name: str, result: Result) -> Figure:
    anchored = METHODS[name].client.align is not None
    figure = Figure(figsize=(8.0 if anchored else 5.2, 3.0), facecolor=PAPER)
    panels = figure.subplots(1, 2 if anchored else 1, sharex=True, squeeze=False)[0]
    if anchored:
        draw_lambda(panels[0], result)
    draw_accuracy(panels[-1], result)
    for axes in panels:
        axes.set_xlabel("round")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    left, right = (0.085, 0.855) if anchored else (0.11, 0.79)
    figure.subplots_adjust(left=left, right=right, top=0.9, bottom=0.25, wspace=0.24)
    keys = legend(name, result, anchored)
    figure.legend(handles=keys, loc="upper left", bbox_to_anchor=(right, 0.92), frameon=False, handlelength=1.8)
    figure.text(0.012, 0.035, footer(name, result), size=7, color=INK)
    return figure


def draw_lambda(axes: Axes, result: Result) -> None:
    """The effective lambda (solid) and its stationary value (dashed)."""
    rounds = [snapshot.round for snapshot in result.rounds]
    for client in range(result.clients):
        colour = CLIENTS[client % len(CLIENTS)]
        axes.plot(rounds, course(result, client, "lambda_star"), color=colour, lw=1.0, ls=(0, (3, 2)), alpha=0.9)
        axes.plot(rounds, course(result, client, "lambda_felt"), color=colour, lw=1.4)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    if high / low < 120:  # a log axis of less than two decades has no ticks worth reading
        middle = (low * high) ** 0.5
        axes.set_ylim(middle / 120**0.5, middle * 120**0.5)
    axes.yaxis.set_major_locator(LogLocator(numticks=7))
    axes.yaxis.set_minor_locator(FixedLocator([]))
    axes.set_title("effective lambda of each client")


def draw_accuracy(axes: Axes, result: Result) -> None:
    rounds = [snapshot.round for snapshot in result.rounds]
    for client in range(result.clients):
        axes.plot(rounds, course(result, client, "accuracy"), color=CLIENTS[client % len(CLIENTS)], lw=0.9)
    axes.plot(rounds, [snapshot.accuracy for snapshot in result.rounds], color=INK, lw=2.4)
    axes.set_ylim(0, 1.02)
    axes.set_title("accuracy on the test images")


def legend(name: str, result: Result, anchored: bool) -> list[Line2D]:
    fused = "mean" if METHODS[name].fusion is None else "fused"
    keys = [Line2D([], [], color=INK, lw=2.4, label=fused)]
    keys += [
        Line2D([], [], color=CLIENTS[client % len(CLIENTS)], lw=1.4, label=f"client {client}")
        for client in range(result.clients)
    ]
    rests = [row.lambda_star for snapshot in result.rounds for row in snapshot.clients]
    if anchored and any(rest is not None for rest in rests):
        keys += [Line2D([], [], color=INK, lw=1.0, ls=(0, (3, 2)), label="at rest, λ*")]
    return keys


def footer(name: str, result: Result) -> str:
    what = "accuracy, mean of clients" if METHODS[name].fusion is None else "fused accuracy"
    fingerprint = str(result.fingerprint)[:8]
    return f"{name}  |  seed {SEED}, n = 1  |  fingerprint {fingerprint}  |  final {what} {result.accuracy:.3f}"


def recorded() -> dict[str, tuple[str, str]]:
    with TABLE.open(encoding="utf-8") as file:
        return {row["method"]: (row["fingerprint"], row["accuracy"]) for row in csv.DictReader(file)}


def main(names: list[str]) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    rows = recorded()
    with mpl.rc_context(STYLE):
        for name in names:
            result = result_of(name)
            rows[name] = (str(result.fingerprint)[:8], f"{result.accuracy:.3f}")
            if name in PICTURES:
                picture = draw(name, result)
                picture.savefig(IMAGES / f"{name}.svg", metadata={"Date": None, "Creator": "docs/make_methods.py"})
            print(footer(name, result))
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(COLUMNS)
        lines.writerows((name, *rows[name]) for name in METHODS if name in rows)


if __name__ == "__main__":
    main(sys.argv[1:] or [*METHODS])
